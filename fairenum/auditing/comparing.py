"""The comparison of two saved runs about different rows: the change of every gap, with limits that hold together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from fairenum.auditing.group_tables import document_counts, saved_design
from fairenum.document.audit_document import AuditDocument, JudgedDocument
from fairenum.document.comparison_document import (
    CompareConfig,
    ComparedGap,
    ComparedRun,
    ComparisonDocument,
    GapVerdict,
)
from fairenum.document.consequences import ended_with
from fairenum.document.header import environment
from fairenum.document.measure_document import ColumnMeasures, MeasureDocument
from fairenum.document.metric_registry import METRICS
from fairenum.document.terms import Gap
from fairenum.document.value import Estimate
from fairenum.document.words import decisions_title, model_title
from fairenum.errors import ConfigError
from fairenum.metrics import Confusion, Scores, gap_intervals
from fairenum.metrics.changes import (
    Criticals,
    DifferenceLimits,
    bonferroni_criticals,
    change_limits,
    is_single,
    stacked,
    stacked_correlation,
)
from fairenum.metrics.counts import FloatArray
from fairenum.metrics.intervals import (
    Interval,
    difference,
    effective,
    estimate,
    estimates,
    normal_critical,
    pairwise,
    rate_limits,
)
from fairenum.metrics.rates import GAP_RATES, Rate, scored
from fairenum.runtime.hints import quoted
from fairenum.tables import Groups

MAIN_SHARE = 0.8  # of the error is for the main gap


@dataclass(frozen=True, slots=True, eq=False)
class CountedColumn:
    """The counts of one set of decisions, by group and label, in one sensitive column."""

    groups: tuple[str, ...]  # the compared groups that have rows
    counts: Confusion
    has_label: bool


class Claim(NamedTuple):
    """A gap to compare: the old and the new decisions, the sensitive column and the metric."""

    decisions: tuple[str, str]
    column: str
    metric: Gap


Decided = Mapping[str, Mapping[str, CountedColumn]]  # by decisions, then by sensitive column


def compare_runs(
    old: JudgedDocument, new: JudgedDocument, config: CompareConfig, names: tuple[str, str]
) -> ComparisonDocument:
    """Return the comparison of two runs, called by `names`; refuse runs about the same rows."""
    if old.dataset.fingerprint == new.dataset.fingerprint:
        raise ConfigError(
            f"{names[0]!r} and {names[1]!r} are about the same rows, and a comparison needs different ones; compare "
            "decisions about the same rows with: fairenum measure DATA --decision A --decision B; show audits side by "
            "side with: fairenum report OLD NEW"
        )
    before, after = _decided(old), _decided(new)
    pairs = _matched(before, after)
    claims = [
        Claim(pair, column, metric)
        for pair in pairs
        for column in before[pair[0]]
        if column in after[pair[1]]
        for metric in _metrics(before[pair[0]][column], after[pair[1]][column], config)
    ]
    if not claims:
        raise ConfigError(_nothing_common(before, after, config))
    main = Claim(pairs[0], *_main_gap(new, config))
    claims.sort(key=lambda claim: claim != main)
    gaps = tuple(
        _compared(before, after, claim, config, error, is_main=claim == main)
        for claim, error in zip(claims, _errors(claims, main, 1 - config.confidence), strict=True)
    )
    return ComparisonDocument(
        environment=environment(),
        config=config,
        old=_run(old, names[0]),
        new=_run(new, names[1]),
        gaps=gaps,
        left_out=tuple(_left_out(before, after, pairs)),
    )


def _decided(document: JudgedDocument) -> Decided:
    if isinstance(document, AuditDocument):
        return _of_audit(document)
    return {
        decisions_title(decisions, document): {
            column.column: _of_measurement(column, document) for column in decisions.columns
        }
        for decisions in document.decisions
    }


def _of_measurement(column: ColumnMeasures, document: MeasureDocument) -> CountedColumn:
    total, selected = [], []
    for code, (row, own) in enumerate(zip(column.impact.groups, column.groups, strict=True)):
        positives = own.positives or 0
        total.append((row.n - positives, positives))
        selected.append(column.scores.selected_by_label(code) if document.has_label else (row.selected, 0))
    kept = [code for code, row in enumerate(column.impact.groups) if row.is_compared and row.n]
    rows, chosen = (np.array([one], dtype=np.float64) for one in (total, selected))
    counts = Confusion(rows, chosen, design=saved_design([column.scores]))
    names = tuple(column.impact.groups[code].group for code in kept)
    return CountedColumn(names, counts.of_groups(np.array(kept, dtype=np.intp)), document.has_label)


def _of_audit(document: AuditDocument) -> Decided:
    """Return the counts, on the holdout, of the model that an audit selects or keeps; of model 1 if it selects none."""
    rank = ended_with(document)
    rank = 1 if rank is None else rank
    found = document.member(rank).scores.holdout.by_column
    columns = {}
    for column in document.dataset.sensitive:
        counts = document_counts([found[column.column]], column, "holdout", document.dataset.drawn)
        kept = [code for code, group in enumerate(column.groups) if group.is_compared and group.holdout]
        names = tuple(column.groups[code].name for code in kept)
        columns[column.column] = CountedColumn(names, counts.of_groups(np.array(kept, dtype=np.intp)), True)
    return {model_title(document, rank): columns}


def _matched(before: Decided, after: Decided) -> list[tuple[str, str]]:
    """Return the decisions of both runs that are compared: those of the same name, or the only ones of both."""
    if len(before) == len(after) == 1:
        return [(next(iter(before)), next(iter(after)))]
    return [(name, name) for name in before if name in after]


def _metrics(old: CountedColumn, new: CountedColumn, config: CompareConfig) -> Iterator[Gap]:
    """Yield the gaps that both runs have between at least two groups."""
    if len({*old.groups} & {*new.groups}) < 2:
        return
    for metric in METRICS:
        has_label = old.has_label and new.has_label
        if config.metric in (None, metric.key) and (has_label or not metric.needs_label):
            yield metric.key


def _nothing_common(before: Decided, after: Decided, config: CompareConfig) -> str:
    columns = [quoted(dict.fromkeys(column for one in run.values() for column in one)) for run in (before, after)]
    label = f", or lack the label that {config.metric} needs" if config.metric else ""
    return (
        f"the runs have no gap in common: the old one has decisions {quoted(before)} by {columns[0]}, the new one "
        f"{quoted(after)} by {columns[1]}; measure both with the same names of decisions, columns and groups{label}"
    )


def _left_out(before: Decided, after: Decided, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    matched = [{name for name, _ in pairs}, {name for _, name in pairs}]
    for which, run, known in (("old", before, matched[0]), ("new", after, matched[1])):
        if rest := [name for name in run if name not in known]:
            yield f"only the {which} run has decisions {quoted(rest)}"
    for one, other in pairs[:1]:
        for which, own, theirs in (("old", before[one], after[other]), ("new", after[other], before[one])):
            if rest := [column for column in own if column not in theirs]:
                yield f"only the {which} run has the column {quoted(rest)}"
            for column in (name for name in own if name in theirs):
                if lost := [group for group in own[column].groups if group not in theirs[column].groups]:
                    yield f"{column}: only the {which} run compares the group {quoted(lost)}"


def _main_gap(new: JudgedDocument, config: CompareConfig) -> tuple[str, Gap]:
    """Return the column and the metric of the gap that the new run is mainly about."""
    if isinstance(new, AuditDocument):
        return str(new.column), config.metric or new.selection.tolerances.metric
    metric = config.metric or new.config.metric
    needs_label = any(one.needs_label for one in METRICS if one.key == metric)
    return new.dataset.primary.column, metric if new.has_label or not needs_label else "demographic_parity_difference"


def _errors(claims: Sequence[Claim], main: Claim, error: float) -> list[float]:
    """Return the error of each claim: most of it for the main one, if it is among them, and equal parts of the rest."""
    if main not in claims or len(claims) == 1:
        return [error / len(claims)] * len(claims)
    rest = (1 - MAIN_SHARE) * error / (len(claims) - 1)
    return [MAIN_SHARE * error if claim == main else rest for claim in claims]


def _compared(
    before: Decided, after: Decided, claim: Claim, config: CompareConfig, error: float, *, is_main: bool
) -> ComparedGap:
    old, new = before[claim.decisions[0]][claim.column], after[claim.decisions[1]][claim.column]
    names = tuple(name for name in old.groups if name in new.groups)
    first, last = (_scores(side, names) for side in (old, new))
    gaps = [estimates(gap_intervals(one, claim.metric, config.confidence))[0] for one in (first, last)]
    lower, upper = change_of_gap(first.counts, last.counts, claim.metric, 1 - error)
    is_known = gaps[0].value is not None and gaps[1].value is not None
    change = estimate((gaps[1].value or 0.0) - (gaps[0].value or 0.0), lower, upper) if is_known else Estimate()
    return ComparedGap(
        old_decisions=claim.decisions[0],
        new_decisions=claim.decisions[1],
        column=claim.column,
        metric=claim.metric,
        groups=names,
        old=gaps[0],
        new=gaps[1],
        change=change,
        verdict=_verdict(lower, upper, config.same_within) if is_known else "open",
        confidence=1 - error,
        is_main=is_main,
    )


def _scores(side: CountedColumn, names: tuple[str, ...]) -> Scores:
    places = np.array([side.groups.index(name) for name in names], dtype=np.intp)
    return scored(Groups(np.arange(len(names)), names), side.counts.of_groups(places), np.zeros(1, np.bool_))


def change_of_gap(old: Confusion, new: Confusion, metric: Gap, confidence: float) -> tuple[float, float]:
    """Return limits of the change of a gap between independent rows; `fairenum.metrics.changes` derives them."""
    rates = GAP_RATES[metric]
    fractions = [stacked([effective(rate, counts) for rate in rates]) for counts in (old, new)]
    groups = fractions[0][0].shape[-1]
    present = np.ones(groups, np.bool_)
    single = is_single(rates, present)
    critical = normal_critical(confidence)
    levels = Criticals(*[critical] * 5) if single else bonferroni_criticals(confidence, groups, len(rates))

    correlations = [stacked_correlation([_correlation(rate, counts) for rate in rates]) for counts in (old, new)]

    def pairs(place: int, value: float) -> Interval:
        return pairwise(rate_limits(*fractions[place], value), present, correlations[place])

    first, models = pairs(0, levels.level), pairs(1, levels.level)
    first = replace(first, lower=pairs(0, levels.first).lower)
    models = replace(models, lower=pairs(1, levels.least).lower)
    before, after = pairs(0, levels.change), pairs(1, levels.change)
    # the difference from b to a is minus that from a to b
    turned = Interval(*(np.swapaxes(part, -1, -2) for part in (before.estimate, before.lower, before.upper)))
    moved = DifferenceLimits(first[0], models, difference(after, before), difference(after, turned))
    lower, upper = change_limits(moved, present, single=single)
    return float(lower[0]), float(upper[0])


def _correlation(rate: Rate, counts: Confusion) -> FloatArray | None:
    return None if counts.design is None else counts.design.of_rate(rate).correlation


def _verdict(lower: float, upper: float, margin: float) -> GapVerdict:
    if -margin <= lower and upper <= margin:
        return "same"
    if lower > 0.0:
        return "widened"
    return "narrowed" if upper < 0.0 else "open"


def _run(document: JudgedDocument, name: str) -> ComparedRun:
    data, packages = document.dataset, document.environment.packages
    is_audit = isinstance(document, AuditDocument)
    rows = document.dataset.splits.holdout if isinstance(document, AuditDocument) else data.rows
    facts = {
        "data": data.name,
        "fingerprint": data.fingerprint,
        "rows": str(rows),
        **{f"option {option}": str(value) for option, value in document.config.options.items()},
        **{f"version of {package}": version for package, version in packages.items()},
    }
    return ComparedRun(name, "audit" if is_audit else "measurement", rows, facts)
