"""Guardrails: the quantities of a model that they limit, and how far models exceed the limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from fairenum.document.guards import OVERALL, Guard
from fairenum.document.terms import GAPS, RATES, Gap, PerformanceMeasure
from fairenum.metrics.counts import BitArray, BoolArray, Confusion, FloatArray
from fairenum.metrics.intervals import FEW_TRIALS
from fairenum.metrics.rates import FRACTIONS, GAP_RATES, decided_performance, share, spread
from fairenum.tables.groups import Groups

BALANCED = PerformanceMeasure("balanced_accuracy")
WORST = "worst_group_selection_rate"


class Subject(NamedTuple):
    """A quantity that a guardrail can limit: a measure of all rows, between the groups of a column, or of one group."""

    measure: str
    column: str | None = None
    group: str | None = None

    def __str__(self) -> str:
        at = "" if self.column is None else f"@{self.column}"
        return f"{self.measure}{at}" + ("" if self.group is None else f": {self.group}")


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Every quantity that a guardrail can limit, for all models on the same rows.

    Attributes
    ----------
    values
        For each quantity, one value per model; NaN where undefined.
    primary, metric
        The column and the gap that models are selected by.
    is_constant
        Models that decide all rows of the compared groups alike.
    trials
        For each gap, the fewest trials that any of its rates has in a compared group, one number for each model.
    """

    values: Mapping[Subject, FloatArray]
    primary: str | None
    metric: Gap
    is_constant: BoolArray
    trials: Mapping[Subject, FloatArray]

    @property
    def first(self) -> Measured:
        """The quantities of model 1 alone."""
        parts = (self.values, self.trials)
        values, trials = ({subject: all_models[:1] for subject, all_models in part.items()} for part in parts)
        return Measured(values, self.primary, self.metric, self.is_constant[:1], trials)

    def is_coarse(self, subject: Subject) -> bool:
        """Tell whether a gap of model 1 is measured on so few rows that one or two of them could break a guardrail."""
        return subject in self.trials and bool(self.trials[subject][0] < FEW_TRIALS)

    def subjects(self, guard: Guard) -> Iterator[Subject]:
        """Yield the quantities that a guardrail limits.

        `other_gaps` limits all gaps except the one that models are selected by, and except coarse ones
        (:meth:`is_coarse`).
        """
        for subject in self.values:
            if self._is_guarded(subject, guard):
                yield subject

    def _is_guarded(self, subject: Subject, guard: Guard) -> bool:
        match guard.quantity:
            case "other_gaps":
                is_claim = subject[:2] == (self.metric, self.primary)
                is_other = subject.measure in GAPS and not is_claim and not self.is_coarse(subject)
                return is_other and guard.column in (None, subject.column)
            case "group_selection_rates":
                return subject.group is not None and guard.column in (None, subject.column)
            case quantity if quantity in OVERALL:
                return subject == (quantity, None, None)
            case quantity:
                return subject[:2] == (quantity, guard.column or self.primary)

    def beyond(self, guard: Guard, subject: Subject, first: Measured) -> FloatArray:
        """Return how far each model exceeds a guardrail in one quantity; negative within it, NaN if undefined."""
        return beyond(guard, self.value(guard, subject, first))

    def value(self, guard: Guard, subject: Subject, first: Measured) -> FloatArray:
        """Return the value that a guardrail limits: the quantity itself, or its change against model 1.

        The change is NaN if model 1 decides all rows alike, since every useful model must then differ from it.
        """
        if not guard.is_relative:
            return self.values[subject]
        start = np.nan if first.is_constant[0] else first.values[subject][0]
        return np.asarray(self.values[subject] - start)

    def excess(self, guards: Sequence[Guard], first: Measured | None = None) -> FloatArray:
        """Return how far each model exceeds each guardrail in its worst quantity, shape (guards, models); 0 within it.

        A value that is undefined exceeds nothing. Changes are against `first`, or the first of these models if not
        given.
        """
        first, models = first or self.first, len(self.is_constant)
        worst = np.zeros((len(guards), models))
        for row, guard in zip(worst, guards, strict=True):
            for subject in first.subjects(guard):
                np.fmax(row, self.beyond(guard, subject, first), out=row)
        return worst


def trials_behind(fewest: FloatArray, column: str | None) -> dict[Subject, FloatArray]:
    """Return for each gap of a column the fewest trials that any of its rates has in a group, one number per model.

    `fewest` has the same for each rate of `RATES`, shape (rates, models).
    """
    by_rate = dict(zip(RATES, fewest, strict=True))
    return {Subject(gap, column): np.min([by_rate[rate] for rate in rates], axis=0) for gap, rates in GAP_RATES.items()}


def beyond(guard: Guard, value: FloatArray) -> FloatArray:
    """Return how far values exceed the limits of a guardrail; negative within them."""
    above = -np.inf if guard.high is None else value - guard.high
    below = -np.inf if guard.low is None else guard.low - value
    return np.asarray(np.maximum(above, below))


class GroupCounter:
    """Counts rows by group and label, for the groups of several columns at once.

    The first of `columns` is the column that models are selected by.
    """

    def __init__(self, labels: BitArray, columns: Sequence[Groups], weights: FloatArray | None = None) -> None:
        self.columns = tuple(groups.folded() for groups in columns)
        starts = np.cumsum([0, *(len(groups.names) for groups in self.columns)])
        self.places = [slice(*ends) for ends in pairwise(starts)]
        rows, counting = len(labels), np.ones(len(labels)) if weights is None else weights
        codes = [start + groups.codes for start, groups in zip(starts, self.columns, strict=False)]
        self.cells = [2 * one + labels for one in codes]
        entries = (np.tile(counting, len(codes)), (np.concatenate(self.cells), np.tile(np.arange(rows), len(codes))))
        self._sums = sparse.csr_array(entries, shape=(2 * int(starts[-1]), rows))
        self._total = self._shaped(np.ones((rows, 1)))
        self._compared_rows = self.columns[0].compared[self.columns[0].codes]

    def _shaped(self, degrees: FloatArray) -> FloatArray:
        sums = np.asarray(self._sums @ degrees)
        return sums.T.reshape(degrees.shape[1], -1, 2)

    def count(self, degrees: FloatArray | BoolArray) -> Confusion:
        """Count selected rows in all groups, given decisions or degrees of selection (0 to 1), shape (models, rows)."""
        return Confusion(self._total, self._shaped(np.asarray(degrees, dtype=np.float64).T))

    def of_column(self, counts: Confusion, column: int) -> Confusion:
        """Return the counts of the groups of one column, by its index, including groups that are not compared."""
        place = self.places[column]
        return Confusion(counts.total[..., place, :], counts.selected[..., place, :])

    def is_constant(self, decided: BoolArray) -> BoolArray:
        """Return a mask of the models that decide all rows of the compared groups alike."""
        kept = decided[:, self._compared_rows]
        return np.asarray((kept == kept[:, :1]).all(1))

    def gap(self, counts: Confusion, metric: Gap) -> FloatArray:
        """Return the gap of each model between the compared groups of the first column."""
        kept = self.of_column(counts, 0).of_groups(self.columns[0].compared)
        present = int(np.count_nonzero(kept.total.sum(-1)))
        rates = [share(*FRACTIONS[rate](kept)) for rate in GAP_RATES[metric]]
        return np.asarray(np.max([spread(rate, present)[0] for rate in rates], axis=0))

    def measured(self, decided: BoolArray, performance: FloatArray, metric: Gap, counts: Confusion) -> Measured:
        """Return every quantity that a guardrail can limit, given decisions (models, rows), performance and counts."""
        overall = self.of_column(counts, 0).overall()
        values: dict[Subject, FloatArray] = {
            Subject("selection_rate"): share(*FRACTIONS["selection_rate"](overall)),
            Subject("accuracy"): share(*FRACTIONS["accuracy"](overall)),
            Subject("balanced_accuracy"): decided_performance(overall, BALANCED),
            Subject("performance"): performance,
        }
        rates = np.array([share(*FRACTIONS[rate](counts)) for rate in RATES])
        trials = np.array([np.broadcast_to(FRACTIONS[rate](counts)[1], rates.shape[1:]) for rate in RATES])
        behind: dict[Subject, FloatArray] = {}
        for number in range(len(self.columns)):
            values |= self._of_groups(rates, number, counts)
            behind |= self._behind(trials, number, counts)
        return Measured(values, self.columns[0].column, metric, self.is_constant(decided), behind)

    def _behind(self, trials: FloatArray, number: int, counts: Confusion) -> dict[Subject, FloatArray]:
        groups = self.columns[number]
        places = np.flatnonzero(groups.compared) + self.places[number].start
        places = places[counts.total[0, places].sum(-1) > 0.0]
        return trials_behind(trials[..., places].min(-1, initial=np.inf), groups.column)

    def _of_groups(self, rates: FloatArray, number: int, counts: Confusion) -> dict[Subject, FloatArray]:
        """Return the gaps and selection rates of one column, given the rates in all groups of all columns."""
        groups = self.columns[number]
        kept = np.flatnonzero(groups.compared)
        places = kept + self.places[number].start
        present = int(np.count_nonzero(counts.total[0, places].sum(-1)))
        spreads = dict(zip(RATES, spread(rates[..., places], present)[0], strict=True))
        gaps = {Subject(gap, groups.column): np.max([spreads[rate] for rate in GAP_RATES[gap]], axis=0) for gap in GAPS}
        selection = rates[list(RATES).index("selection_rate")][:, places]
        own = {
            Subject("selection_rate", groups.column, groups.names[code]): selection[:, place]
            for place, code in enumerate(kept)
        }
        return {**gaps, **own, Subject(WORST, groups.column): np.fmin.reduce(selection, axis=-1)}
