"""The models that a choice is made from, and the status of every guardrail for the selected model.

A guardrail is a limit on a measured quantity. Confidence intervals of these quantities are pointwise, or simultaneous
over all models if the holdout was seen before the choice. A change between two models has no interval if the document
does not say how many rows both select; its guardrail is then judged by the measured value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairenum.auditing.group_tables import document_counts
from fairenum.auditing.scorecard import RATE_CHANGE
from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import ROUNDING_DIGITS, GuardCheck, Selection, answered
from fairenum.document.guards import OVERALL, Guard
from fairenum.document.models import AuditedModel, Incumbent
from fairenum.document.scores import ColumnScores
from fairenum.document.table_facts import GroupSizes, SensitiveColumn
from fairenum.document.terms import GAPS, RATES, Gap, GuardStatus, Part
from fairenum.document.value import Estimate
from fairenum.enumeration.division import PARTS
from fairenum.metrics.counts import Confusion
from fairenum.metrics.guardrails import WORST, Measured, Subject, beyond, trials_behind
from fairenum.metrics.intervals import Overlap, estimate, normal_critical, paired_change, plain, rate_limits
from fairenum.metrics.rates import FRACTIONS, share
from fairenum.svm.problem import FloatArray


@dataclass(frozen=True, slots=True)
class Candidates:
    """The scored models, the model in use if they are compared with it, and the sensitive columns."""

    models: tuple[AuditedModel, ...]  # model 1 first
    sensitive: tuple[SensitiveColumn, ...] = ()  # if empty, no guardrail on single groups applies
    # the model in use, where models are to take its place; None where models are compared with model 1
    incumbent: Incumbent | None = None
    # whether models are chosen and judged by the same rows, so that nothing confirms a choice
    is_exploratory: bool = False

    @property
    def reference(self) -> AuditedModel | Incumbent:
        """The model that all others are compared with: the model in use, or else model 1."""
        return self.incumbent or self.models[0]

    def model(self, rank: int) -> AuditedModel:
        """Return a model by its rank."""
        return self.models[rank - 1]


def candidates_of(document: AuditDocument) -> Candidates:
    """Return the models of a document that a choice is made from.

    Those of an exploration have no prospects: its page chooses by the selection split alone.
    """
    incumbent = document.incumbent if document.is_against_incumbent else None
    explored = tuple(model.but(prospect=None) for model in document.models)
    return Candidates(
        explored if document.exploration else document.models,
        document.dataset.sensitive,
        incumbent,
        document.is_exploratory,
    )


GRAVITY: tuple[GuardStatus, ...] = ("holds", "open", "broken")


def measured(
    models: Sequence[AuditedModel | Incumbent],
    sensitive: Sequence[SensitiveColumn],
    part: Part,
    primary: str | None,
    metric: Gap,
) -> Measured:
    """Return every quantity that a guardrail can refer to, for all models on one split."""
    scores = [model.scores.of(part) for model in models]
    values = {Subject(name): _numbers([one.measure(name) for one in scores]) for name in OVERALL}
    trials: dict[Subject, FloatArray] = {}
    for column in scores[0].by_column:
        own = [one.by_column[column] for one in scores]
        values |= {Subject(gap, column): _numbers([one.gap(gap) for one in own]) for gap in GAPS}
    for grouping in sensitive:
        own = [one.by_column[grouping.column] for one in scores]
        counts = document_counts(own, grouping, part)
        values |= _selection_rates(own, grouping, counts)
        trials |= _trials(grouping, counts, part)
    is_constant = np.array([model.is_constant for model in models])
    return Measured(values, primary, metric, is_constant, trials)


def _numbers(estimates: Sequence[Estimate]) -> FloatArray:
    return np.array([one.value for one in estimates], dtype=np.float64)


def _selection_rates(
    scores: Sequence[ColumnScores], grouping: SensitiveColumn, counts: Confusion
) -> dict[Subject, FloatArray]:
    """Return the selection rate of each compared group, and the lowest of these rates, one value for each model."""
    found = share(*FRACTIONS["selection_rate"](counts))
    if scores[0].weights is not None and counts.squares is None:  # the document lacks the weights of the split
        found = np.full_like(found, np.nan)
    rates = {
        Subject("selection_rate", grouping.column, group.name): found[:, code]
        for code, group in enumerate(grouping.groups)
        if group.is_compared
    }
    return {**rates, Subject(WORST, grouping.column): np.fmin.reduce([*rates.values()])}


def _trials(grouping: SensitiveColumn, counts: Confusion, part: Part) -> dict[Subject, FloatArray]:
    """Return for each gap the smallest denominator of the rates it compares, one number for each model."""
    kept = [code for code, group in enumerate(grouping.groups) if group.is_compared and group.rows(part)]
    shape = counts.selected.shape[:-1]
    fewest = [np.broadcast_to(FRACTIONS[rate](counts)[1], shape)[:, kept].min(-1, initial=np.inf) for rate in RATES]
    return trials_behind(np.array(fewest), grouping.column)


def with_guards(selection: Selection, candidates: Candidates, confidence: float) -> Selection:
    """Return a judged choice with the status of every guardrail, and with the answer of the audit."""
    checked = selection.but(guards=guard_checks(candidates, selection, confidence))
    return answered(checked, is_exploratory=candidates.is_exploratory)


def guard_checks(candidates: Candidates, selection: Selection, confidence: float) -> tuple[GuardCheck, ...]:
    """Return the status of every guardrail for the selected model.

    If the selected model is the one that changes are measured against, guardrails on changes are left out.
    """
    if selection.rank is None:
        return ()
    judge, is_other = _GuardJudge(candidates, selection, confidence), selection.rank != candidates.reference.rank
    guards = [guard for guard in selection.tolerances.guardrails if is_other or not guard.is_relative]
    return tuple(check for guard in guards if (check := judge.check(guard)) is not None)


class _Case(NamedTuple):
    subject: Subject
    selection: float
    holdout: Estimate
    status: GuardStatus
    beyond: float


class _GuardJudge:
    """Judges the selected model by each guardrail, with its estimates on the holdout."""

    def __init__(self, candidates: Candidates, selection: Selection, confidence: float) -> None:
        shown = [candidates.reference, candidates.model(selection.rank or 1)]
        self._first, self._chosen = (one.scores.holdout for one in shown)
        self._sensitive = {column.column: column for column in candidates.sensitive}
        self._strip = {(cell.metric, cell.column): cell.change for cell in selection.strip if cell.pair is None}
        self._by_choice, self._by_holdout = (
            measured(shown, candidates.sensitive, part, selection.column, selection.tolerances.metric) for part in PARTS
        )
        rivals = len(candidates.models) - (candidates.incumbent is None)
        others = max(rivals, 1) if selection.is_in_sight else 1
        self._critical = normal_critical(1.0 - (1.0 - confidence) / others)

    def check(self, guard: Guard) -> GuardCheck | None:
        """Return the status of a guardrail by its worst quantity; None if no measured quantity is subject to it."""
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
        """Return a quantity of the selected model with its confidence interval; None if the interval is not known."""
        if subject.column is None:
            return self._chosen.measure(subject.measure)
        scores = self._chosen.by_column[subject.column]
        if subject.measure in GAPS:
            return scores.gap(subject.measure)
        if subject.group is None or scores.weights is not None:
            return None
        code, group = self._group(subject)
        inflation = scores.inflation["selection_rate"][code] if scores.inflation else 1.0
        selected, rows = (np.array(float(one) / inflation) for one in (scores.selected[code], group.holdout))
        interval = rate_limits(selected, rows, self._critical)
        return estimate(float(interval.estimate), float(interval.lower), float(interval.upper))

    def _change(self, subject: Subject) -> Estimate | None:
        """Return a quantity's change from the reference, with its interval; None if the interval is not known."""
        if subject.measure in GAPS and subject.column is not None:
            own = self._chosen.by_column[subject.column].gap(subject.measure)
            return self._strip.get((subject.measure, subject.column), own.change)
        if subject.measure == "selection_rate":
            return self._rate_change(subject)
        changes = {"accuracy": self._chosen.accuracy.change, "performance": self._chosen.performance.change}
        return changes.get(subject.measure)

    def _rate_change(self, subject: Subject) -> Estimate | None:
        """Return the change of a selection rate, of one group or of all rows, with its confidence interval.

        None if rows are weighted, or if the document does not say how many rows both models select.
        """
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
        if chosen.inflation:
            factors = chosen.inflation[RATE_CHANGE]
            widest = max(factors) if subject.group is None else factors[self._group(subject)[0]]
            interval = interval.widened(np.sqrt(widest))
        return estimate(float(interval.estimate), float(interval.lower), float(interval.upper))

    def _group(self, subject: Subject) -> tuple[int, GroupSizes]:
        groups = self._sensitive[str(subject.column)].groups
        return next((code, group) for code, group in enumerate(groups) if group.name == subject.group)


def status(guard: Guard, found: Estimate) -> GuardStatus:
    """Return "broken" if the whole interval is beyond one limit, "holds" if it is within the limits, else "open".

    Without an interval, a measured value within the limits gives "holds", and any other gives "open".
    """
    if found.value is None:
        return "open"
    ends = [found.value] if found.low is None or found.high is None else [found.low, found.high]
    distances = np.round(beyond(guard, np.array(ends)), ROUNDING_DIGITS)
    if (distances <= 0.0).all():
        return "holds"
    return "broken" if len(ends) == 2 and _is_all_beyond(guard, ends) else "open"


def _is_all_beyond(guard: Guard, ends: Sequence[float]) -> bool:
    is_above = guard.high is not None and round(min(ends) - guard.high, ROUNDING_DIGITS) > 0.0
    return is_above or (guard.low is not None and round(guard.low - max(ends), ROUNDING_DIGITS) > 0.0)
