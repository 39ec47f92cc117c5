"""Guardrails of a document: what its models measure on both splits, and what became of each guardrail.

Limits of a value hold one by one, or for all models together where the choice was made with the holdout in sight. Where
a document does not say how the decisions of two models overlap, a change has no limits, and its status goes by what was
measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fairenum.auditing.field import Field
from fairenum.auditing.scorecard import GAPS
from fairenum.document.choice import GuardCheck, Selection, proposal_of
from fairenum.document.guards import OVERALL, Guard
from fairenum.document.incumbent import Incumbent
from fairenum.document.models import AuditedModel
from fairenum.document.scores import ColumnScores, SplitScores
from fairenum.document.table import GroupSizes, SensitiveColumn
from fairenum.document.terms import Gap, GuardStatus, Part
from fairenum.document.value import Estimate
from fairenum.experiment import PARTS
from fairenum.problem import FloatArray
from fairenum.scoring.estimates import estimate, plain
from fairenum.scoring.guarded import RATES, WORST, Measured, Subject, beyond, trials_behind
from fairenum.scoring.intervals import normal_critical, rate_limits
from fairenum.scoring.paired import Overlap, paired_change

ROUNDING_DIGITS = 12
GRAVITY: tuple[GuardStatus, ...] = ("holds", "open", "broken")


def measured(
    models: Sequence[AuditedModel | Incumbent],
    sensitive: Sequence[SensitiveColumn],
    part: Part,
    primary: str | None,
    metric: Gap,
) -> Measured:
    """Return everything that can be guarded of all models on one split."""
    scores = [model.scores.of(part) for model in models]
    values = {Subject(name): _numbers([one.measure(name) for one in scores]) for name in OVERALL}  # type: ignore[arg-type]
    for column in scores[0].by_column:
        own = [one.by_column[column] for one in scores]
        values |= {Subject(gap, column): _numbers([one.gap(gap) for one in own]) for gap in GAPS}
    for grouping in sensitive:
        rates = {
            Subject("selection_rate", grouping.column, group.name): np.array(
                [_rate(one.by_column[grouping.column], code, group, part) for one in scores]
            )
            for code, group in enumerate(grouping.groups)
            if group.is_compared
        }
        values |= {**rates, Subject(WORST, grouping.column): np.fmin.reduce([*rates.values()])}
    is_constant = np.array([model.is_constant for model in models])
    return Measured(values, primary, metric, is_constant, _trials(scores, sensitive, part))


def _trials(
    scores: Sequence[SplitScores], sensitive: Sequence[SensitiveColumn], part: Part
) -> dict[Subject, FloatArray]:
    """Return the fewest rows behind each gap, one for each model."""
    found: dict[Subject, FloatArray] = {}
    for grouping in sensitive:
        own = [one.by_column[grouping.column] for one in scores]
        groups = [(code, group) for code, group in enumerate(grouping.groups) if group.is_compared and group.rows(part)]
        counts = [[_counts(one, code, group, part) for one in own] for code, group in groups]
        fewest = np.array(counts, dtype=np.float64).reshape(-1, len(own), len(RATES)).min(0, initial=np.inf)
        found |= trials_behind(fewest.T, grouping.column)
    return found


def _counts(scores: ColumnScores, code: int, group: GroupSizes, part: Part) -> tuple[float, ...]:
    """Return the trials of each rate of a group, in the order of `RATES`."""
    weights, totals = scores.weights, group.weights(part)
    if weights is None or totals is None:
        rows, positives = group.rows(part), group.positives(part)
        return rows, positives, rows - positives, scores.selected[code]
    selected = weights.false_positives[code] + weights.true_positives[code]
    return totals.unfavourable + totals.favourable, totals.favourable, totals.unfavourable, selected


def _numbers(estimates: Sequence[Estimate]) -> FloatArray:
    return np.array([one.value for one in estimates], dtype=np.float64)


def _rate(scores: ColumnScores, code: int, group: GroupSizes, part: Part) -> float:
    """Return the share of a group that is selected; NaN without rows."""
    weights, totals = scores.weights, group.weights(part)
    if weights is None:
        return scores.selected[code] / rows if (rows := group.rows(part)) else np.nan
    total = 0.0 if totals is None else totals.unfavourable + totals.favourable
    return (weights.false_positives[code] + weights.true_positives[code]) / total if total else np.nan


def guarded(selection: Selection, field: Field, confidence: float) -> Selection:
    """Add to a choice that was judged what became of every guardrail, and whether the model is proposed."""
    checked = selection.but(guards=guard_checks(field, selection, confidence))
    return checked.but(proposal=proposal_of(checked, is_exploratory=field.is_exploratory))


def guard_checks(field: Field, selection: Selection, confidence: float) -> tuple[GuardCheck, ...]:
    """Say what became of every guardrail; those about changes say nothing of what changes are measured against."""
    if selection.rank is None:
        return ()
    judge, is_other = _Judge(field, selection, confidence), selection.rank != field.reference.rank
    guards = [guard for guard in selection.tolerances.guardrails if is_other or not guard.is_relative]
    return tuple(check for guard in guards if (check := judge.check(guard)) is not None)


class _Case(NamedTuple):
    """One thing that is guarded, with its value on both splits."""

    subject: Subject
    selection: float
    holdout: Estimate
    status: GuardStatus
    beyond: float


class _Judge:
    """Judges the selected model of a document by its guardrails."""

    def __init__(self, field: Field, selection: Selection, confidence: float) -> None:
        shown = [field.reference, field.model(selection.rank or 1)]
        self._first, self._chosen = (one.scores.holdout for one in shown)
        self._sensitive = {column.column: column for column in field.sensitive}
        self._strip = {(cell.metric, cell.column): cell.change for cell in selection.strip}
        self._by_choice, self._by_holdout = (
            measured(shown, field.sensitive, part, selection.column, selection.tolerances.metric) for part in PARTS
        )
        rivals = len(field.models) - (field.incumbent is None)
        others = max(rivals, 1) if selection.is_in_sight else 1
        self._critical = normal_critical(1.0 - (1.0 - confidence) / others)

    def check(self, guard: Guard) -> GuardCheck | None:
        """Return the gravest of what a guardrail guards; None if it guards nothing."""
        cases = list(self._cases(guard))
        if not cases:
            return None
        worst = max(cases, key=lambda case: (GRAVITY.index(case.status), np.nan_to_num(case.beyond, nan=-np.inf)))
        return GuardCheck(
            guard=str(guard),
            subject=str(worst.subject),
            low=guard.low,
            high=guard.high,
            selection=plain(worst.selection),
            holdout=worst.holdout,
            status=worst.status,
        )

    def _cases(self, guard: Guard) -> Iterator[_Case]:
        guarded_by_choice = set(self._by_choice.subjects(guard))
        for subject in (one for one in self._by_holdout.subjects(guard) if one in guarded_by_choice):
            chosen_by, value = (
                float(rows.value(guard, subject, rows.first)[-1]) for rows in (self._by_choice, self._by_holdout)
            )
            limits = self._change(subject) if guard.is_relative else self._own(subject)
            found = estimate(value) if limits is None else Estimate(plain(value), limits.low, limits.high)
            yield _Case(subject, chosen_by, found, status(guard, found), float(beyond(guard, np.array(value))))

    def _own(self, subject: Subject) -> Estimate | None:
        """Return limits of a measure of the selected model; None where they are not known."""
        if subject.column is None:
            return self._chosen.measure(subject.measure)  # type: ignore[arg-type]  # one of its words
        scores = self._chosen.by_column[subject.column]
        if subject.measure in GAPS:
            return scores.gap(subject.measure)
        if subject.group is None or scores.weights is not None:
            return None
        code, group = self._group(subject)
        interval = rate_limits(np.array(float(scores.selected[code])), np.array(float(group.holdout)), self._critical)
        return estimate(float(interval.estimate), float(interval.lower), float(interval.upper))

    def _change(self, subject: Subject) -> Estimate | None:
        """Return limits of a change against model 1; None where they are not known."""
        if subject.measure in GAPS and subject.column is not None:
            own = self._chosen.by_column[subject.column].gap(subject.measure)
            return self._strip.get((subject.measure, subject.column), own.change)
        if subject.measure == "selection_rate":
            return self._rate_change(subject)
        changes = {"accuracy": self._chosen.accuracy.change, "performance": self._chosen.performance.change}
        return changes.get(subject.measure)

    def _rate_change(self, subject: Subject) -> Estimate | None:
        """Bound the change of a selection rate, of one group or of all rows, from how the decisions overlap."""
        column = subject.column or next(iter(self._sensitive), None)
        if column is None:
            return None
        first, chosen = (scores.by_column[column] for scores in (self._first, self._chosen))
        if not chosen.shared or chosen.weights is not None:
            return None
        if subject.group is None:
            counts = (sum(chosen.selected), sum(first.selected), sum(chosen.shared), self._chosen.rows)
        else:
            code, group = self._group(subject)
            counts = (chosen.selected[code], first.selected[code], chosen.shared[code], group.holdout)
        now, before, both, rows = (np.array(float(count)) for count in counts)
        interval = paired_change((now, rows), (before, rows), Overlap(both, rows, now, before), self._critical)
        return estimate(float(interval.estimate), float(interval.lower), float(interval.upper))

    def _group(self, subject: Subject) -> tuple[int, GroupSizes]:
        groups = self._sensitive[str(subject.column)].groups
        return next((code, group) for code, group in enumerate(groups) if group.name == subject.group)


def status(guard: Guard, found: Estimate) -> GuardStatus:
    """Judge an estimate: broken if all that is likely lies beyond a limit, holds if all of it is within.

    Without limits to go by, what was measured holds if it is within, and stays open otherwise.
    """
    if found.value is None:
        return "open"
    ends = [found.value] if found.low is None or found.high is None else [found.low, found.high]
    distances = np.round(beyond(guard, np.array(ends)), ROUNDING_DIGITS)
    if (distances <= 0.0).all():
        return "holds"
    return "broken" if len(ends) == 2 and _is_all_beyond(guard, ends) else "open"


def _is_all_beyond(guard: Guard, ends: Sequence[float]) -> bool:
    """Tell whether everything between two ends lies beyond the same limit."""
    is_above = guard.high is not None and round(min(ends) - guard.high, ROUNDING_DIGITS) > 0.0
    return is_above or (guard.low is not None and round(guard.low - max(ends), ROUNDING_DIGITS) > 0.0)
