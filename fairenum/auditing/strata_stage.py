"""Groups compared within strata of legitimate factors, and a search for columns that change a difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from fairenum.document.scores import GroupTable
from fairenum.document.strata_facts import FactorHint, GivenGroup, GivenMeasures, Stratum
from fairenum.document.value import Estimate
from fairenum.errors import ColumnUnusable
from fairenum.metrics import Decisions, gap_intervals, score
from fairenum.metrics.counts import BitArray, FloatArray
from fairenum.metrics.intervals import Interval, estimate, estimates, plain
from fairenum.metrics.strata import StratifiedPair, common_difference, common_odds, divided_difference
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
    bits: BitArray, groups: Groups, strata: Groups, columns: Sequence[str], reference: str, confidence: float
) -> GivenMeasures:
    """Return the comparison of the groups of one sensitive column within strata."""
    rows, selected = _crossed_counts(bits, groups, strata)
    position = groups.names.index(reference)
    compared = np.flatnonzero(groups.compared & rows.any(0)).tolist()
    return GivenMeasures(
        columns=tuple(columns),
        reference=reference,
        strata=tuple(_strata(bits, groups, strata, confidence)),
        groups=tuple(
            _given_group(groups.names[code], _pair(rows, selected, code, position), confidence)
            for code in compared
            if code != position
        ),
    )


def _crossed_counts(bits: BitArray, groups: Groups, strata: Groups) -> tuple[FloatArray, FloatArray]:
    """Return the rows and the selected rows of each stratum and group, shape (strata, groups)."""
    shape = len(strata.names), len(groups.names)
    cells = strata.codes * shape[1] + groups.codes
    found = (np.bincount(cells, weights, minlength=shape[0] * shape[1]) for weights in (None, bits))
    rows, selected = (counts.reshape(shape).astype(np.float64) for counts in found)
    return rows, selected


def _pair(rows: FloatArray, selected: FloatArray, code: int, reference: int) -> StratifiedPair:
    return StratifiedPair(selected[:, code], rows[:, code], selected[:, reference], rows[:, reference])


def _strata(bits: BitArray, groups: Groups, strata: Groups, confidence: float) -> Iterator[Stratum]:
    rows, selected = _crossed_counts(bits, groups, strata)
    order = np.argsort(strata.codes, kind="stable")
    parts = np.split(order, np.cumsum(strata.sizes)[:-1])
    for code, part in enumerate(parts):
        gap = Estimate()
        if np.count_nonzero(rows[code][groups.compared]) > 1:
            here = Decisions(bits[None, part], np.zeros(len(part), np.uint8), groups.take(part))
            gap = estimates(gap_intervals(score(here), "demographic_parity_difference", confidence))[0]
        sizes, chosen = (tuple(one[code].astype(int).tolist()) for one in (rows, selected))
        yield Stratum(strata.names[code], sizes, chosen, gap)


def _given_group(name: str, pair: StratifiedPair, confidence: float) -> GivenGroup:
    odds, parts = common_odds(pair, confidence), divided_difference(pair, confidence)
    return GivenGroup(
        group=name,
        raw=estimates(pair.raw(confidence))[0],
        difference=_single(common_difference(pair, confidence)),
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
        differences=tuple(
            one if shared else Estimate()
            for one, shared in zip(estimates(pair.differences(confidence)), pair.is_shared, strict=True)
        ),
    )


def _single(interval: Interval) -> Estimate:
    found = estimate(float(interval.estimate), float(interval.lower), float(interval.upper))
    return found if found.value is not None else Estimate()


def factor_hints(
    bits: BitArray, groups: Groups, table: GroupTable, factors: Iterable[Groups], confidence: float
) -> tuple[FactorHint, ...]:
    """Return the columns that reverse or remove the difference between the most and the least selected group.

    The difference must be shown to differ from 0. A column is left out if the two groups hardly meet in its strata, or
    if it nearly equals the decisions. The strongest effect comes first.
    """
    known = [row for row in table.groups if row.is_compared and not row.is_small and row.rate.value is not None]
    if len(known) < 2:
        return ()
    low, high = (pick(known, key=lambda row: row.rate.value or 0.0).group for pick in (min, max))
    found = []
    for factor in factors:
        rows, selected = _crossed_counts(bits, groups, factor)
        pair = _pair(rows, selected, groups.names.index(low), groups.names.index(high))
        if _is_informative(pair, rows, selected):
            found.append(_hint(groups.column, factor.column, low, high, pair, confidence))
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


def _hint(
    column: str, factor: str, group: str, reference: str, pair: StratifiedPair, confidence: float
) -> FactorHint | None:
    raw, given = estimates(pair.raw(confidence))[0], _single(common_difference(pair, confidence))
    if raw.value is None or given.value is None or (raw.high or 0.0) >= 0.0:
        return None
    if given.value > 0.0:
        return FactorHint(column, factor, group, reference, raw, given, "reverses")
    is_small = given.value >= raw.value / 2 and (given.high or 0.0) >= 0.0
    return FactorHint(column, factor, group, reference, raw, given, "removes") if is_small else None
