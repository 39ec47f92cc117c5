"""The state of an exploration, the scores of its models, and the audit's rule of choice applied to them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

import numpy as np

from fairenum.auditing.choosing import candidate_standing, chosen_place, incomparable, target_of
from fairenum.auditing.model_facts import left_out
from fairenum.auditing.preparing import Prepared
from fairenum.auditing.scorecard import DecidedSplit, column_scores, split_scores
from fairenum.document.choice import GuardValue
from fairenum.document.decision_record import ModelMark, StepEnd
from fairenum.document.exploration_view import ExploredModel, Standpoint
from fairenum.document.guards import Guard
from fairenum.document.models import ChangedRows
from fairenum.document.scores import SplitScores
from fairenum.document.terms import Gap, Origin
from fairenum.document.training import Decide, Tolerances
from fairenum.enumeration.division import operating_point
from fairenum.enumeration.model import Model
from fairenum.errors import ExplorationError
from fairenum.metrics import Decisions
from fairenum.metrics.counts import BoolArray
from fairenum.metrics.guardrails import GroupCounter, Measured, beyond
from fairenum.metrics.intervals import plain
from fairenum.metrics.operating_point import Cut
from fairenum.metrics.performance import performance
from fairenum.svm.problem import FloatArray
from fairenum.tables import Groups


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A model that was looked at, with its scores on the selection split.

    `number` counts models in the order of looking, from 1. `cut` is the decision threshold, `values` are decision
    values minus the threshold, and `decided` packs the decisions into bits. `mark` identifies the model in the record.
    `measured` has the quantities that guardrails refer to, `document` the scores to show.
    """

    number: int
    origin: Origin
    model: Model
    cut: Cut
    values: FloatArray = field(repr=False)
    decided: bytes = field(repr=False)
    mark: ModelMark
    measured: Measured = field(repr=False)
    document: ExploredModel = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """A listed model, with digests of all sets of support vectors that count as this model by the option `distinct`."""

    shown: Shown
    supports: frozenset[bytes]

    @property
    def number(self) -> int:
        """The number of the model, in the order of looking."""
        return self.shown.number

    def with_supports(self, marks: set[bytes]) -> Listed:
        """Return the model with further digests of supports (sets of support vectors)."""
        return self if marks <= self.supports else replace(self, supports=self.supports | marks)


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The state of an exploration after a step.

    `left_out` and `pinned` are row numbers of the input table. `current` is the number of the model that the last step
    showed, and `end` is the reason if that step found no new model, else None. `cursors` has the number of models that
    the enumeration of each `Box` has yielded, by its key; `solves` has the number of SVMs that each guided search has
    solved. Undo returns to `before`, but keeps `looked` (all models ever looked at, by `Scorer.digest`), `opened` (how
    often the holdout was opened) and `judged` (models scored on the holdout).
    """

    left_out: frozenset[int]
    pinned: frozenset[int]
    tolerances: Tolerances
    listed: tuple[Listed, ...] = ()
    current: int = 1
    cursors: Mapping[bytes, int] = field(default_factory=dict)
    solves: Mapping[tuple[bytes, Tolerances], int] = field(default_factory=dict)
    committed: int | None = None
    end: StepEnd | None = None
    looked: Mapping[str, Shown] = field(default_factory=dict)
    opened: int = 0
    judged: tuple[Shown, ...] = ()
    before: State | None = field(default=None, repr=False)

    @property
    def shown(self) -> tuple[Shown, ...]:
        """The listed models, without the digests of their supports."""
        return tuple(one.shown for one in self.listed)

    def model(self, number: int) -> Shown:
        """Return a listed model by number; refuse unknown numbers."""
        for one in self.listed:
            if one.number == number:
                return one.shown
        numbers = ", ".join(str(one.number) for one in self.listed[-12:])
        raise ExplorationError(f"the list has no model {number!r}; the last ones are {numbers}")

    def stepped(self, **changes: object) -> State:
        """Return the state after a step, with the given fields changed and this state as `before`."""
        return replace(self, **{"end": None, "before": self} | changes)  # type: ignore[arg-type]

    def undone(self) -> State:
        """Return the state before the last step; `looked`, `opened` and `judged` stay as they are."""
        if self.before is None:
            raise ExplorationError("there is no step to undo")
        return replace(self.before, end=None, looked=self.looked, opened=self.opened, judged=self.judged)


class Scorer:
    """Scores models on the selection split, one at a time; `point` is the rule that sets decision thresholds."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared, division = prepared, prepared.division
        self.rows = division.selection
        point = operating_point(Decide.of(prepared.config.decide), division.train)
        self.point = replace(point, weights=self.rows.weights)
        self._measure = prepared.config.tolerances.measure
        self._tally = GroupCounter(self.rows.labels, (self.rows.groups, *self.rows.others), self.rows.weights)
        self._columns = tuple(groups.take(division.rows["selection"]) for groups in division.columns)
        self._everyone = Groups.everyone(len(self.rows))
        self._best = prepared.training.best.certificate.objective

    def cut(self, model: Model) -> tuple[Cut, FloatArray]:
        """Return a model's decision threshold, and its decision values on the selection split minus the threshold."""
        values = model.decision_function(self.rows.X)
        cut = self.point.cut(values)
        return cut, cut.centred(values)

    def decided(self, model: Model) -> bytes:
        """Return the decisions of a model on the selection split, packed into bits."""
        return np.packbits(self.cut(model)[1] >= 0.0).tobytes()

    def measured(self, decided: BoolArray, values: FloatArray) -> Measured:
        """Return all quantities that guardrails can refer to, given a model's decisions and decision values."""
        counts, metric = self._tally.count(decided[None]), self._prepared.config.metric
        performs = performance(self._decisions(decided, self._everyone), values[None], self._measure)
        return self._tally.measured(decided[None], performs, metric, counts)

    @staticmethod
    def digest(model: Model) -> str:
        """Return the SHA-256 of a model's dual variables, bias and left-out examples."""
        found = sha256(model.alpha.tobytes())
        found.update(repr((model.intercept, sorted(model.left_out.items()))).encode())
        return found.hexdigest()

    def shown(self, model: Model, number: int, origin: Origin, first: Shown | None) -> Shown:
        """Return a model with its scores and the given number; `first` is model 1, None if this is model 1 itself."""
        cut, values = self.cut(model)
        decided = values >= 0.0
        bits, measured = np.packbits(decided).tobytes(), self.measured(decided, values)
        mark = ModelMark(number, len(model.support), self.digest(model), sha256(bits).hexdigest())
        changed = 0 if first is None else int(np.count_nonzero(decided != (first.values >= 0.0)))
        training, division = self._prepared.training, self._prepared.division
        document = ExploredModel(
            number=number,
            origin=origin,
            objective=model.objective,
            objective_ratio=model.objective / self._best,
            loss_ratio=model.loss_ratio,
            support_size=len(model.support),
            supports=1,
            left_out=left_out(model, division, training),
            bias=model.intercept,
            cut=cut.value,
            tied=cut.tied,
            is_constant=bool(measured.is_constant[0]),
            predictions_changed=ChangedRows(changed, changed / len(decided)),
            scores=self.scores(decided, values, values + cut.value),
        )
        return Shown(number, origin, model, cut, values, bits, mark, measured, document)

    def scores(self, decided: BoolArray, values: FloatArray, uncut: FloatArray | None) -> SplitScores:
        """Return scores overall and between the groups of every sensitive column, with pointwise intervals.

        `uncut` are decision values before the threshold is subtracted; if None, hinge loss and AUC are left out.
        """
        config, everyone = self._prepared.config, self._decisions(decided, self._everyone)
        known = np.full(len(values), np.nan) if uncut is None else uncut
        rows = DecidedSplit(everyone, values[None], known[None], [uncut is not None])
        columns = {groups.column: column_scores(self._decisions(decided, groups), config) for groups in self._columns}
        return split_scores(rows, columns, self._prepared.division.column, config)[0]

    def _decisions(self, decided: BoolArray, groups: Groups) -> Decisions:
        rows = self.rows
        return Decisions(decided[None].astype(np.uint8), rows.labels, groups, rows.weights, rows.drawn, rows.clusters)


def standpoint(
    shown: Sequence[Shown], reference: Measured, tolerances: Tolerances, column: str | None, *, is_in_use: bool
) -> Standpoint:
    """Return the candidates, the Pareto front and the chosen model among `shown`, the listed models.

    `column` is the sensitive column whose gap is to be small, if any. `reference` has the measurements of the model
    that others are compared with; `is_in_use` says whether it is the model in use, and not model 1.
    """
    first = _with_metric(reference, tolerances.metric)
    measured = _joint([one.measured for one in shown], tolerances.metric)
    standing = candidate_standing(
        measured,
        first,
        np.array([one.document.loss_ratio for one in shown]),
        tolerances,
        is_in_use=is_in_use,
    )
    numbers, place = [one.number for one in shown], chosen_place(standing, column, tolerances)
    target, candidates = target_of(first), np.flatnonzero(standing.candidates(tolerances))
    others = [place for place in candidates if place or is_in_use]
    is_apart = column is not None and not others
    return Standpoint(
        tolerances=tolerances,
        chosen=None if place is None else numbers[place],
        candidates=tuple(numbers[place] for place in candidates),
        pareto_front=tuple(numbers[place] for place in standing.pareto_front()),
        least_performance=plain(target.performance - tolerances.max_performance_drop),
        gap=plain(target.gap),
        incomparable=incomparable(standing, measured, first, tolerances) if is_apart else (),
    )


def guard_values(model: Measured, reference: Measured, tolerances: Tolerances) -> tuple[GuardValue, ...]:
    """Return, for each guardrail that limits anything in this table, the limited quantity in which a model is worst."""
    own, first = (_with_metric(one, tolerances.metric) for one in (model, reference))
    found = (_guard_value(guard, own, first) for guard in tolerances.guardrails)
    return tuple(one for one in found if one is not None)


def _guard_value(guard: Guard, own: Measured, first: Measured) -> GuardValue | None:
    """Return the quantity under a guardrail in which a model is worst, with its limits; None if there is none."""
    values = {subject: float(own.value(guard, subject, first)[0]) for subject in first.subjects(guard)}
    if not values:
        return None
    distances = {subject: float(beyond(guard, np.array(value))) for subject, value in values.items()}
    worst = max(distances, key=lambda subject: -math.inf if math.isnan(distances[subject]) else distances[subject])
    return GuardValue(str(guard), str(worst), guard.low, guard.high, plain(values[worst]))


def _joint(some: Sequence[Measured], metric: Gap) -> Measured:
    first = some[0]
    values = {subject: np.concatenate([one.values[subject] for one in some]) for subject in first.values}
    trials = {subject: np.concatenate([one.trials[subject] for one in some]) for subject in first.trials}
    return Measured(values, first.primary, metric, np.concatenate([one.is_constant for one in some]), trials)


def _with_metric(one: Measured, metric: Gap) -> Measured:
    return Measured(one.values, one.primary, metric, one.is_constant, one.trials)
