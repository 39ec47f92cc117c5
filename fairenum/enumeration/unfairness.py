"""Unfairness on the rows that guide a search: exact gaps to score models by, and derivatives of smoothed gaps."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit

from fairenum.document.choice import ROUNDING_DIGITS
from fairenum.document.guards import Guard
from fairenum.document.terms import ACCURACY, GAPS, PerformanceMeasure
from fairenum.enumeration.division import EncodedRows
from fairenum.enumeration.influence import GuardSlopes
from fairenum.enumeration.model import Model
from fairenum.metrics import Gap, Rate
from fairenum.metrics.counts import BitArray, Confusion
from fairenum.metrics.guardrails import BALANCED, GroupCounter, Measured, Subject
from fairenum.metrics.operating_point import SIGN, OperatingPoint
from fairenum.metrics.performance import auc, row_divisors
from fairenum.metrics.rates import FRACTIONS, GAP_RATES, decided_performance, share
from fairenum.svm.problem import FloatArray

GRID = 256  # places at which a density of decision values is taken
PENALTY = 4.0  # of performance lost beyond the bound, and of guardrail excess, in units of gap


@dataclass(frozen=True, slots=True, eq=False)
class ScoredModel:
    """A model with its gap, performance and guardrail excess on the rows that guide a search.

    As the search looks for models that are good on these rows, gap and performance are biased in the model's favour.
    ``excess`` is the sum over all guardrails of how far the model is beyond each.
    """

    model: Model
    gap: float
    performance: float
    is_constant: bool
    excess: float = 0.0

    @property
    def is_usable(self) -> bool:
        """Whether the model has a defined gap and does not decide all rows alike."""
        return not self.is_constant and not math.isnan(self.gap)

    @property
    def is_within_guardrails(self) -> bool:
        """Whether the model exceeds no guardrail, up to rounding."""
        return round(self.excess, ROUNDING_DIGITS) <= 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """The rows that guide a search, with the gap, performance measure, operating point and guardrails that apply.

    ``point`` determines the cutoff of every model on these rows; all methods take and return decision values minus this
    cutoff. ``against`` has the measured quantities of the model in use on these rows; None where models are compared
    with model 1.
    """

    rows: EncodedRows
    metric: Gap = "demographic_parity_difference"
    measure: PerformanceMeasure = ACCURACY
    point: OperatingPoint = SIGN
    guards: tuple[Guard, ...] = ()
    against: Measured | None = None
    _tally: GroupCounter = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rows = replace(self.rows, groups=self.rows.groups.folded())
        columns = (rows.groups, *rows.others) if self.guards else (rows.groups,)
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "_tally", GroupCounter(rows.labels, columns, rows.weights))

    def values_of(self, model: Model) -> FloatArray:
        """Return a model's decision values on these rows, minus its cutoff."""
        values = model.decision_function(self.rows.X)
        return self.point.cut(values).centred(values)

    def scored(self, model: Model, values: FloatArray, first: Measured | None) -> ScoredModel:
        """Return a model with its gap, performance and guardrail excess, given its decision values.

        `first` has the measured quantities of model 1, which relative guardrails need; without it, the model itself is
        taken for model 1.
        """
        excess = 0.0
        if self.guards:
            measured = self.measured(values)
            excess = float(measured.excess(self.guards, self.against or first or measured).sum())
        return ScoredModel(model, *self.standing(values), excess)

    def merit(self, found: ScoredModel, root: ScoredModel, drop: float) -> float:
        """Return the gap plus penalties for lost performance and guardrail excess: the quantity that searches minimise.

        `root` is model 1 with its scores, `drop` the performance that may be lost without a penalty.
        """
        start = root.performance
        if self.against is not None:
            start = float(self.against.values[Subject("performance")][0])
        lost = max(0.0, start - drop - found.performance)
        return math.inf if math.isnan(found.gap) else found.gap + PENALTY * (lost + found.excess)

    def standing(self, values: FloatArray) -> tuple[float, float, bool]:
        """Return the gap, the performance, and True if all rows are decided alike, given a model's decision values."""
        decided, counts = values[None] >= 0.0, self._counted(values)
        gap, performs = self._tally.gap(counts, self.metric), self._performance(values, counts)
        return float(gap[0]), float(performs[0]), bool(self._tally.is_constant(decided)[0])

    def measured(self, values: FloatArray) -> Measured:
        """Return every quantity that a guardrail can limit, given a model's decision values."""
        counts = self._counted(values)
        return self._tally.measured(values[None] >= 0.0, self._performance(values, counts), self.metric, counts)

    def compared_with(self, decided: BitArray, values: FloatArray) -> Watched:
        """Return a copy that compares models with the model in use instead of model 1.

        `decided` are the decisions of the model in use about these rows, and `values` its decision values, of which
        only the order counts (AUC).
        """
        counts = self._tally.count(decided[None] > 0)
        found = self._tally.measured(decided[None] > 0, self._performance(values, counts), self.metric, counts)
        return replace(self, against=found)

    def _counted(self, values: FloatArray) -> Confusion:
        return self._tally.count(values[None] >= 0.0)

    def _performance(self, values: FloatArray, counts: Confusion) -> FloatArray:
        if self.measure.name == "auc":
            return auc(values[None], self.rows.labels, self.rows.weights)
        return decided_performance(self._tally.of_column(counts, 0).overall(), self.measure)

    def slope(self, values: FloatArray, softness: float, price: float) -> FloatArray:
        """Return the derivative of ``gap - price * performance`` with respect to each decision value.

        Decisions are smoothed: a row is decided favourably to the degree ``1 / (1 + exp(-value / softness))``. The gap
        is that between the two compared groups that differ most. Where a fixed share of the rows is selected, a rising
        value raises the cutoff, too, so that the sum of the degrees does not change.
        """
        degree = expit(values / softness)
        push = self._gap_slope(self._tally.count(degree[None]), 0, self.metric)
        is_ranked = self.measure.name == "auc"
        if not is_ranked:
            push = push - price * self._rightness_slope(self.measure)
        slope = self._of_values(push, degree, softness)
        return np.asarray(slope - price * _auc_slope(values, self.rows, softness) if is_ranked else slope)

    def limits(self, values: FloatArray, softness: float, first: Measured) -> GuardSlopes:
        """Return for each guardrail limit the derivatives of its quantity by decision values, and the distance to it.

        The derivatives are of the smoothed quantity, and positive towards the limit; a distance is negative beyond its
        limit. `first` has the measured quantities of the model that relative guardrails compare with.
        """
        degree, measured = expit(values / softness), self.measured(values)
        counts = self._tally.count(degree[None])
        slopes, rooms = [], []
        for guard in self.guards:
            for subject in first.subjects(guard):
                value = float(measured.value(guard, subject, first)[0])
                slope = self._subject_slope(subject, counts, values, degree, softness)
                for sign, limit in ((1.0, guard.high), (-1.0, guard.low)):
                    if limit is not None and not np.isnan(value):
                        slopes.append(sign * slope)
                        rooms.append(sign * (limit - value))
        return GuardSlopes(np.array(slopes).reshape(-1, len(values)), np.array(rooms))

    def _subject_slope(
        self, subject: Subject, counts: Confusion, values: FloatArray, degree: FloatArray, softness: float
    ) -> FloatArray:
        """Return the derivative of one quantity under a guardrail, `subject`, with respect to each decision value."""
        if subject.measure == "performance" and self.measure.name == "auc":
            return _auc_slope(values, self.rows, softness)
        if subject.column is not None:
            push = self._group_slope(subject, counts)
        elif subject.measure == "selection_rate":
            push = self.rows.counting / self.rows.counting.sum()
        else:
            measures = {"accuracy": ACCURACY, "balanced_accuracy": BALANCED}
            push = self._rightness_slope(measures.get(subject.measure, self.measure))
        return self._of_values(push, degree, softness)

    def _of_values(self, push: FloatArray, degree: FloatArray, softness: float) -> FloatArray:
        """Turn derivatives by each row's degree of selection, 0 to 1, into derivatives by its decision value."""
        slope = push * degree * (1.0 - degree) / softness
        if self.point.share is None:
            return np.asarray(slope)
        return _at_equal_rate(slope, self.rows.counting * degree * (1.0 - degree))

    def _rightness_slope(self, measure: PerformanceMeasure) -> FloatArray:
        labels = self.rows.labels
        return np.asarray((2.0 * labels - 1.0) / row_divisors(labels, measure, self.rows.weights))

    def _group_slope(self, subject: Subject, counts: Confusion) -> FloatArray:
        """Return the derivative of a gap, or of a group's selection rate, by each row's degree of selection, 0 to 1."""
        number = next(n for n, groups in enumerate(self._tally.columns) if groups.column == subject.column)
        if subject.measure in GAPS:
            return self._gap_slope(counts, number, subject.measure)
        groups, own = self._tally.columns[number], self._tally.of_column(counts, number)
        rates = np.where(groups.compared, share(*FRACTIONS["selection_rate"](own))[0], np.nan)
        code = int(np.nanargmin(rates)) if subject.group is None else groups.names.index(subject.group)
        slopes = _rate_slopes(own, "selection_rate", rates)
        return self._by_row(np.where(np.arange(len(slopes))[:, None] == code, slopes, 0.0), number)

    def _gap_slope(self, counts: Confusion, number: int, metric: Gap) -> FloatArray:
        """Return the derivative of a gap in column `number` with respect to each row's degree of selection."""
        groups, own = self._tally.columns[number], self._tally.of_column(counts, number)
        widest, slope = -1.0, np.zeros(own.selected.shape[1:])
        for rate in GAP_RATES[metric]:
            values = np.where(groups.compared, share(*FRACTIONS[rate](own))[0], np.nan)
            if np.isnan(values).all():
                continue
            high, low = int(np.nanargmax(values)), int(np.nanargmin(values))
            if values[high] - values[low] > widest:
                widest, slopes = float(values[high] - values[low]), _rate_slopes(own, rate, values)
                slope = np.zeros_like(slopes)
                slope[high], slope[low] = slopes[high], -slopes[low]
        return self._by_row(slope, number)

    def _by_row(self, slope: FloatArray, number: int) -> FloatArray:
        return np.asarray(slope[self._tally.columns[number].codes, self.rows.labels] * self.rows.counting)


def _at_equal_rate(slope: FloatArray, moves: FloatArray) -> FloatArray:
    """Return derivatives by decision values if the cutoff moves with the values to keep the selection rate.

    `slope` has the derivatives at a fixed cutoff, and `moves` how much each row's weighted degree of selection changes
    with its value.
    """
    total = float(moves.sum())
    return slope - moves * (slope.sum() / total) if total > 0.0 else slope


def _auc_slope(values: FloatArray, rows: EncodedRows, softness: float) -> FloatArray:
    """Return the derivative of the smoothed AUC with respect to each decision value.

    It is proportional to the density, at this value, of the values of rows with the other label, and negative for rows
    with an unfavourable label.
    """
    labels, counting = rows.labels, rows.counting
    slope, signs = np.zeros_like(values), 2.0 * labels - 1.0
    places = np.linspace(values.min(), values.max(), GRID)
    for label in (0, 1):
        own, others = labels == label, values[labels != label]
        if own.any() and others.size:
            shares = None if rows.weights is None else counting[labels != label]
            nearness = expit((places[:, None] - others) / softness)
            density = np.average(nearness * (1.0 - nearness), axis=1, weights=shares) / softness
            slope[own] = signs[own] * np.interp(values[own], places, density) * counting[own] / counting[own].sum()
    return slope


def _rate_slopes(counts: Confusion, rate: Rate, values: FloatArray) -> FloatArray:
    """Return the change of each group's rate if one more row of a label is selected, shape (groups, labels).

    A rate is outcomes / trials. Both are linear in the counts of selected rows, so the slope of each is its value for
    unit counts.
    """
    _, trials = FRACTIONS[rate](counts)
    unit = Confusion(np.zeros((1, 2, 2)), np.eye(2)[None])
    outcome_slope, trial_slope = (np.broadcast_to(part, (1, 2))[0] for part in FRACTIONS[rate](unit))
    with np.errstate(invalid="ignore", divide="ignore"):
        slopes = (outcome_slope - values[:, None] * trial_slope) / np.broadcast_to(trials, (1, len(values)))[0][:, None]
    return np.asarray(np.nan_to_num(slopes, posinf=0.0, neginf=0.0))
