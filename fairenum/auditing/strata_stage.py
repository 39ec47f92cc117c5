"""Groups compared within strata of legitimate factors, and a search for columns that change a difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from fairenum.document.measure_document import ColumnMeasures
from fairenum.document.scores import GroupTable
from fairenum.document.strata_facts import FactorHint, GivenGroup, GivenMeasures, Stratum
from fairenum.document.value import Estimate
from fairenum.errors import ColumnUnusable
from fairenum.metrics import Decisions, Scores, gap_intervals, score
from fairenum.metrics.clustered_strata import PairRows, strata_inflation
from fairenum.metrics.counts import FloatArray
from fairenum.metrics.inference import signed_differences
from fairenum.metrics.intervals import Interval, estimate, estimates, plain
from fairenum.metrics.strata import StrataInflation, StratifiedPair, common_difference, common_odds, divided_difference
from fairenum.runtime.hints import quoted
from fairenum.tables import Groups
from fairenum.tables.groups import intersect

MOST_STRATA = 500
SHARED_ROWS = 0.8  # least share of the rows of two groups in strata of a factor that both groups are in
EXPLAINED = 0.8  # of the variance of decisions: a column that explains more is made from them
SHOWN_HINTS = 3


def strata_of(given: Sequence[Groups]) -> Groups | None:
    """Return the strata by combinations of all given columns; None without such columns; refuse too many strata."""
    if not given:
        return None
    strata = intersect(given)
    if len(strata.names) > MOST_STRATA:
        raise ColumnUnusable(
            f"the given columns {quoted(one.column for one in given)} (--given) make {len(strata.names)} strata, more "
            f"than {MOST_STRATA}; give fewer, or cut numbers into bands (--band)"
        )
    return strata


def given_measures(
    decisions: Decisions, strata: Groups, columns: Sequence[str], table: GroupTable, confidence: float
) -> GivenMeasures:
    """Return the comparison of the groups of one sensitive column, in one set of decisions, within strata.

    `table` is their adverse-impact table, which has the raw differences to the reference group.
    """
    crossed = _Crossed.of(decisions, strata)
    position = decisions.groups.names.index(table.reference)
    compared = np.flatnonzero(decisions.groups.compared & crossed.rows.any(0)).tolist()
    parts = [*_parts(decisions, strata)]
    return GivenMeasures(
        columns=tuple(columns),
        reference=table.reference,
        strata=tuple(_strata(parts, crossed, strata, confidence)),
        groups=tuple(
            _given_group(table.groups[code].difference, crossed, code, position, strata, confidence).but(
                group=table.groups[code].group,
                differences=tuple(_differences(parts, crossed.pair(code, position), code, position, confidence)),
            )
            for code in compared
            if code != position
        ),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Crossed:
    """Decisions and their strata, with rows and selected rows of each stratum and group, shape (strata, groups)."""

    decisions: Decisions
    strata: Groups
    rows: FloatArray
    selected: FloatArray

    @classmethod
    def of(cls, decisions: Decisions, strata: Groups) -> Self:
        """Return the counts of one set of decisions."""
        shape = len(strata.names), len(decisions.groups.names)
        cells = strata.codes * shape[1] + decisions.groups.codes
        found = (np.bincount(cells, weights, shape[0] * shape[1]) for weights in (None, decisions.predictions[0]))
        rows, selected = (counts.reshape(shape).astype(np.float64) for counts in found)
        return cls(decisions, strata, rows, selected)

    def pair(self, code: int, reference: int) -> StratifiedPair:
        """Return the counts of a group and of its reference group."""
        rows, selected = self.rows, self.selected
        return StratifiedPair(selected[:, code], rows[:, code], selected[:, reference], rows[:, reference])

    def inflation(self, code: int, reference: int) -> StrataInflation | None:
        """Return the inflation of variances by clusters; None if rows are independent."""
        clusters, codes = self.decisions.clusters, self.decisions.groups.codes
        if clusters is None:
            return None
        kept = np.isin(codes, [code, reference])
        bits = self.decisions.predictions[0][kept]
        rows = PairRows(self.strata.codes[kept], codes[kept] == reference, bits, clusters[kept])
        return strata_inflation(self.pair(code, reference), rows)


def _parts(decisions: Decisions, strata: Groups) -> Iterator[Scores | None]:
    """Yield the scores of the rows of each stratum; None for a stratum without rows."""
    order = np.argsort(strata.codes, kind="stable")
    for rows in np.split(order, np.cumsum(strata.sizes)[:-1]):
        clusters = None if decisions.clusters is None else decisions.clusters[rows]
        bits, labels = decisions.predictions[:, rows], np.zeros(len(rows), np.uint8)
        groups = decisions.groups.take(rows)
        yield score(Decisions(bits, labels, groups, clusters=clusters)) if len(rows) else None


def _strata(parts: Sequence[Scores | None], crossed: _Crossed, strata: Groups, confidence: float) -> Iterator[Stratum]:
    compared = crossed.decisions.groups.compared
    for code, part in enumerate(parts):
        gap = Estimate()
        if part is not None and np.count_nonzero(crossed.rows[code][compared]) > 1:
            gap = estimates(gap_intervals(part, "demographic_parity_difference", confidence))[0]
        sizes, chosen = (tuple(one[code].astype(int).tolist()) for one in (crossed.rows, crossed.selected))
        yield Stratum(strata.names[code], sizes, chosen, gap)


def _differences(
    parts: Sequence[Scores | None], pair: StratifiedPair, code: int, reference: int, confidence: float
) -> Iterator[Estimate]:
    """Yield the difference of two groups in each stratum; empty where one of them has no rows."""
    for part, is_shared in zip(parts, pair.is_shared, strict=True):
        if part is None or not is_shared:
            yield Estimate()
            continue
        yield estimates(signed_differences(part, reference=part.groups.names[reference], confidence=confidence)[0])[
            code
        ]


def _given_group(
    raw: Estimate, crossed: _Crossed, code: int, reference: int, strata: Groups, confidence: float
) -> GivenGroup:
    pair, inflation = crossed.pair(code, reference), crossed.inflation(code, reference)
    odds, parts = common_odds(pair, confidence, inflation), divided_difference(pair, confidence, inflation)
    return GivenGroup(
        group="",
        raw=raw,
        difference=_single(common_difference(pair, confidence, inflation)),
        odds_ratio=estimate(odds.ratio, odds.lower, odds.upper),
        log_error=plain(odds.log_error),
        statistic=plain(odds.statistic),
        corrected=plain(odds.corrected),
        p=plain(odds.p),
        homogeneity=plain(odds.homogeneity),
        homogeneity_p=plain(odds.homogeneity_p),
        within=_single(parts.within),
        composition=_single(parts.composition),
        unmatched=plain(parts.unmatched),
        compared_rows=int((pair.rows + pair.reference_rows)[pair.is_shared].sum()),
        differences=(),
        unlike=None if odds.unlike is None else strata.names[odds.unlike],
    )


def _single(interval: Interval) -> Estimate:
    found = estimate(float(interval.estimate), float(interval.lower), float(interval.upper))
    return found if found.value is not None else Estimate()


def factor_hints(
    decisions: Decisions, column: ColumnMeasures, factors: Iterable[Groups], confidence: float
) -> tuple[FactorHint, ...]:
    """Return the columns that reverse or remove the difference between the most and the least selected group.

    The difference must be shown to differ from 0, and so must the gap over all groups, since these two groups were not
    named before. A column is left out if the two groups hardly meet in its strata, or if it nearly equals the
    decisions. The strongest effect comes first.
    """
    table, groups = column.impact, decisions.groups
    known = [row for row in table.groups if row.is_compared and not row.is_small and row.rate.value is not None]
    if len(known) < 2 or not column.scores.demographic_parity_difference.low:
        return ()
    low, high = (pick(known, key=lambda row: row.rate.value or 0.0).group for pick in (min, max))
    place, reference = groups.names.index(low), groups.names.index(high)
    raw = estimates(signed_differences(score(decisions), reference=high, confidence=confidence)[0])[place]
    found = []
    for factor in factors:
        crossed = _Crossed.of(decisions, factor)
        if _is_informative(crossed.pair(place, reference), crossed.rows, crossed.selected):
            inflation = crossed.inflation(place, reference)
            given = _single(common_difference(crossed.pair(place, reference), confidence, inflation))
            found.append(_hint(FactorHint(groups.column, factor.column, low, high, raw, given, "removes")))
    hints = sorted((one for one in found if one), key=lambda one: -(one.given.value or 0.0))
    return tuple(hints[:SHOWN_HINTS])


def _is_informative(pair: StratifiedPair, rows: FloatArray, selected: FloatArray) -> bool:
    """Tell whether both groups are in most strata, and whether the strata leave decisions open."""
    shared = pair.is_shared
    met = (part[shared].sum() / part.sum() for part in (pair.rows, pair.reference_rows))
    is_mixed = min(met) >= SHARED_ROWS
    sizes, chosen = rows.sum(1), selected.sum(1)
    rate = chosen.sum() / sizes.sum()
    spread = sizes.sum() * rate * (1 - rate)
    within = (chosen * (sizes - chosen) / np.maximum(sizes, 1)).sum()
    return bool(is_mixed and spread > 0 and 1 - within / spread < EXPLAINED)


def _hint(found: FactorHint) -> FactorHint | None:
    """Return the hint with its effect; None if a difference is not shown, or remains within strata."""
    raw, given = found.raw, found.given
    if raw.value is None or given.value is None or (raw.high or 0.0) >= 0.0:
        return None
    if (given.low or 0.0) > 0.0:
        return found.but(effect="reverses")
    return found if given.value >= raw.value / 2 and (given.high or 0.0) >= 0.0 else None
