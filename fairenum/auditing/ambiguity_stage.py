"""Ambiguity of the holdout's decisions, and bounds on the parity gap, over all near-optimal SVMs.

The flip price of a row is the least relative rise of the training loss at which some SVM decides the row differently
from model 1, the best one. From the prices follow the share of rows that some near-optimal SVM decides differently,
overall and by group, and bounds on the demographic parity difference of every near-optimal SVM.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from fairenum.auditing.model_training import Training
from fairenum.auditing.schedule import RANGE_WORK, rows_to_examine
from fairenum.document import flip_facts
from fairenum.document.audit_config import AuditConfig
from fairenum.document.audit_document import AuditDocument
from fairenum.document.feature_facts import EncodedFeature
from fairenum.document.flip_facts import (
    AmbiguityFacts,
    CurvePoint,
    Discrepancy,
    FlippedColumn,
    FlippedShare,
    FlippingModel,
    GroupExtent,
    GroupFlipped,
    MovedExample,
    ParityRange,
    PersonFlipPrice,
    PricedRows,
    PriceEffort,
    RangeLevel,
    ValueRange,
    WeightChange,
)
from fairenum.document.person import Person
from fairenum.enumeration.division import Division
from fairenum.enumeration.model import model_of
from fairenum.errors import SolverError
from fairenum.flips.flip_prices import FlippingPlane, KnownPlanes, flip_prices, flipping_plane, value_ranges
from fairenum.flips.flippable_rows import BoundedShare, flippable_shares, flipped, largest_share
from fairenum.flips.near_optimal import GroupedRows
from fairenum.flips.parity_bounds import ParityBounds, nested, parity_range
from fairenum.metrics import Decisions
from fairenum.metrics.counts import BoolArray
from fairenum.metrics.intervals import plain
from fairenum.metrics.rates import score
from fairenum.runtime.budget import OutOfTime
from fairenum.runtime.random_streams import stream
from fairenum.svm.problem import FloatArray, IntArray, Solution, SvmProblem
from fairenum.tables import Dataset, Groups

if TYPE_CHECKING:
    from fairenum.auditing.run_state import RunState

MOST_WEIGHTS, MOST_EXAMPLES = 10, 20
SAME = 1e-9  # weights that differ by less are equal


def encoded(features: tuple[EncodedFeature, ...], person: Person) -> FloatArray:
    """Return the encoded feature values of a person, shape (1, encoded columns)."""
    cells = (one.encoded(person.values[one.name]) for one in features)
    return np.array([[*chain.from_iterable(cells)]])


def with_flip_price(document: AuditDocument, person: Person, division: Division, training: Training) -> Person:
    """Return a person with the flip price of model 1's decision.

    If the document is redacted, the flip price does not name any training examples.
    """
    row = encoded(division.encoding.described(), person)
    found = flip_price(division, training, row, document.near_optimal, document.first.cut)
    if document.is_redacted:
        found = found.but(model=found.model.redacted)
    return person.but(flip_price=found)


def flip_price(
    division: Division, training: Training, row: FloatArray, eps: float, threshold: float
) -> PersonFlipPrice:
    """Return the least relative loss at which some SVM reverses model 1's decision about a person (flip price).

    The range of the person's decision values over near-optimal SVMs, those up to the relative loss `eps`, is returned
    with it. `row` is the encoded person, shape (1, encoded columns). `threshold` is the decision value from which model
    1 decides favourably; it is applied to every other SVM, too.
    """
    nearest = flipping_plane(training.problem, training.best, row, threshold=threshold)
    model = _flipping(nearest, division, training)
    return PersonFlipPrice(eps, nearest.low, nearest.high, model, _values(training, row, eps, threshold))


def _values(training: Training, row: FloatArray, eps: float, threshold: float) -> ValueRange | None:
    if not eps > 0.0:
        return None
    found = value_ranges(training.problem, training.best, row, eps)
    ends = (found.low_bound, found.low_attained, found.high_attained, found.high_bound)
    values = [float(end[0]) - threshold for end in ends]
    return ValueRange(*values) if np.isfinite(values).all() else None


def _flipping(found: FlippingPlane, division: Division, training: Training) -> FlippingModel:
    return FlippingModel(
        weights=() if found.weights is None else _weights(found.weights, division, training),
        dropped=len(found.left),
        added=len(found.joined),
        examples=_examples(found.left[:MOST_EXAMPLES], division.dataset, training),
    )


def _weights(weights: FloatArray, division: Division, training: Training) -> tuple[WeightChange, ...]:
    """Return the largest differences between the given feature weights and those of model 1, largest first."""
    first = model_of(training.problem, training.best, 1, training.best.certificate.objective).plane
    features = division.encoding.described()
    columns = [
        (one.name, level, one.kind == "numeric" and level is not None) for one in features for level in one.columns
    ]
    order = np.argsort(-np.abs(weights - first), kind="stable")[:MOST_WEIGHTS]
    return tuple(
        WeightChange(
            columns[place][0],
            columns[place][1],
            float(first[place]),
            float(weights[place]),
            is_condition=columns[place][2],
        )
        for place in order
        if abs(weights[place] - first[place]) > SAME
    )


def _examples(examples: IntArray, dataset: Dataset, training: Training) -> tuple[MovedExample, ...]:
    label = dataset.label
    records = [training.records[example] for example in examples]
    return tuple(
        MovedExample(
            int(dataset.numbered(rows).min()), label.favourable if label.y[rows[0]] == 1 else label.unfavourable
        )
        for rows in records
    )


HALVINGS = 50
FARTHEST = 60  # doublings of the first step, the margin; no bias that matters is farther away


def bias_range(problem: SvmProblem, best: Solution, eps: float) -> tuple[float, float]:
    """Return the lowest and the highest bias with which model 1's weight vector has at most the allowed loss.

    The loss is convex in the bias, so every bias between the two is allowed, too. The allowed loss exceeds the least
    one by the share `eps`.
    """
    product, start = problem.product(best.alpha), best.certificate.bias
    quadratic = 0.5 * float(best.alpha @ product)
    most = (1.0 + eps) * best.certificate.objective

    def is_within(bias: float) -> bool:
        slack = np.maximum(problem.linear - product - problem.y * bias, 0.0)
        return quadratic + float(problem.upper @ slack) <= most

    low, high = (_last_within(is_within, start, direction * problem.unit) for direction in (-1.0, 1.0))
    return low, high


def _last_within(is_within: Callable[[float], bool], start: float, step: float) -> float:
    """Return the farthest bias from `start`, in the direction of `step`, for which `is_within` is true."""
    inside, outside = start, start + step
    for _ in range(FARTHEST):
        if not is_within(outside):
            break
        inside, outside = outside, start + 2.0 * (outside - start)
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2.0
        inside, outside = (middle, outside) if is_within(middle) else (inside, middle)
    return inside


CURVE = (0.001, 0.002, 0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1)
BEYOND = 1.001  # prices are searched a little beyond the last tolerance: a price not found is proven to be above it


@dataclass(frozen=True, slots=True, eq=False)
class RowPrices:
    """The examined rows of the holdout, in the order of the holdout, with bounds on their flip prices."""

    places: IntArray  # positions of the rows in the holdout
    # low, high: proven bounds on the flip price of each row
    low: FloatArray
    high: FloatArray
    values: FloatArray  # decision values of the listed models minus the threshold of model 1, shape (models, rows)
    is_within: BoolArray  # the listed models whose loss is within eps
    effort: PriceEffort
    eps: float  # the relative loss up to which models count as near-optimal

    @property
    def changed(self) -> BoolArray:
        """Whether a model of loss within eps decides a row differently from model 1, shape (such models, rows)."""
        decided = self.values >= 0.0
        return np.asarray(decided[self.is_within] != decided[0])


def holdout_prices(state: RunState) -> RowPrices | None:
    """Return the flip prices of rows of the holdout; None if the solver failed.

    All rows are examined or, where that takes too long, a random sample of them. The decision threshold of model 1 is
    applied to all SVMs.
    """
    division, training, listing, config = state.division, state.training, state.listing, state.config
    problem, threshold, everybody = training.problem, listing.cuts[0].value, len(division.holdout)
    rows = rows_to_examine(config.price_rows, problem.size, problem.numbers, everybody)
    order = stream(config.seed, "priced rows").permutation(everybody)[:rows]
    values = listing.uncut("holdout")[:, order] - threshold
    try:
        prices = flip_prices(
            problem,
            training.best,
            division.holdout.X[order],
            threshold=threshold,
            ceiling=BEYOND * max(state.near_optimal, *CURVE),
            listed=KnownPlanes(values + threshold, listing.loss_ratio),
        )
    except SolverError:
        return None
    kept = np.flatnonzero(prices.is_examined)
    if not kept.size:
        raise OutOfTime
    kept = kept[np.argsort(order[kept])]
    # model 1 is near-optimal, whatever rounding says
    is_within = listing.loss_ratio <= max(state.near_optimal, listing.loss_ratio[0])
    return RowPrices(
        order[kept],
        prices.low[kept],
        prices.high[kept],
        values[:, kept],
        is_within,
        prices.effort,
        state.near_optimal,
    )


def ambiguity_facts(state: RunState, found: RowPrices) -> AmbiguityFacts:
    """Return the shares of examined rows that SVMs within the audit's allowed loss decide unlike model 1."""
    division, config = state.division, state.config
    checked = _Counting(division, found, config)
    return AmbiguityFacts(
        eps=found.eps,
        threshold=state.listing.cuts[0].value,
        holdout=len(division.holdout),
        overall=checked.overall(),
        by_column={groups.column: checked.column(groups) for groups in division.columns},
        models=int(found.is_within.sum()),
        curve=checked.curve(),
        discrepancy=_discrepancy(state, found, checked),
        priced=priced(division, found),
        effort=found.effort,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Counting:
    """Counts of the examined rows that some near-optimal SVM decides differently from model 1 (flipped rows)."""

    division: Division
    found: RowPrices
    config: AuditConfig

    def rows(self, groups: Groups | None = None) -> Decisions:
        holdout, places = self.division.holdout, self.found.places
        kept = holdout if len(places) == len(holdout) else holdout.take(places)
        own = Groups.everyone(len(places)) if groups is None else groups.take(self.division.rows["holdout"][places])
        return replace(kept.decisions(self.found.values[:1]), groups=own)

    def overall(self) -> FlippedShare:
        rows = self.rows()
        share_of = flippable_shares(
            rows, self.found.low, self.found.high, [self.found.eps], self.config.confidence
        ).overall
        return FlippedShare(*self._counts(rows)[0], _share(share_of, 0), plain(self._listed(rows)[0]))

    def column(self, groups: Groups) -> FlippedColumn:
        """Return the flipped share of each group of one column, and the largest difference between groups."""
        rows = self.rows(groups)
        measured = flippable_shares(rows, self.found.low, self.found.high, [self.found.eps], self.config.confidence)
        counts, listed = self._counts(rows), self._listed(rows)
        return FlippedColumn(
            tuple(
                GroupFlipped(
                    *counts[code],
                    _share(measured.by_group, (0, code)),
                    plain(listed[code]),
                    group=name,
                    is_compared=bool(groups.compared[code]),
                )
                for code, name in enumerate(groups.names)
            ),
            _share(measured.gap, 0),
        )

    def curve(self) -> tuple[CurvePoint, ...]:
        """Return the flipped shares at several values of eps, overall and by group of the primary column."""
        rows, confidence = self.rows(self.division.primary), self.config.confidence
        measured = flippable_shares(rows, self.found.low, self.found.high, CURVE, confidence)
        shown = np.flatnonzero((rows.groups.sizes > 0) & rows.groups.compared).tolist()
        return tuple(
            CurvePoint(
                eps,
                _share(measured.overall, place),
                tuple(_share(measured.by_group, (place, code)) for code in shown if self.division.primary),
            )
            for place, eps in enumerate(CURVE)
        )

    def _counts(self, rows: Decisions) -> list[tuple[int, int, int]]:
        """Return three numbers for each group: rows, rows proven to be flipped, and rows with nothing proven."""
        codes, names, eps = rows.groups.codes, rows.groups.names, [self.found.eps]
        is_flipped, is_possible = (flipped(prices, eps)[0] for prices in (self.found.high, self.found.low))
        marks = (np.ones(len(codes)), is_flipped, is_possible & ~is_flipped)
        counts = [np.bincount(codes, one, len(names)).astype(int).tolist() for one in marks]
        return list(zip(*counts, strict=True))

    def _listed(self, rows: Decisions) -> FloatArray:
        is_flipped = np.asarray(self.found.changed.any(0, keepdims=True), dtype=np.uint8)
        return np.asarray(score(replace(rows, predictions=is_flipped)).by_group.selection_rate[0])


def _share(found: BoundedShare, place: int | tuple[int, int]) -> flip_facts.BoundedShare:
    parts = (found.least, found.most, found.lower, found.upper)
    return flip_facts.BoundedShare(*(plain(part[place]) for part in parts))


def _discrepancy(state: RunState, found: RowPrices, checked: _Counting) -> Discrepancy:
    """Return the largest share of examined rows that one tried model decides differently from model 1.

    Tried are the listed models within the allowed loss, and model 1 with its lowest and highest allowed bias. An upper
    bound over all near-optimal models is returned with the share.
    """
    eps, first, training = found.eps, found.values[0], state.training
    biases = np.array(bias_range(training.problem, training.best, eps)) - state.listing.models[0].intercept
    shifted = (first + biases[:, None] >= 0.0) != (first >= 0.0)
    ranks = [*(np.flatnonzero(found.is_within) + 1).tolist(), None, None]
    place, attained = largest_share(checked.rows(), np.concatenate([found.changed, shifted]))
    bound = checked.overall().ambiguity.most
    return Discrepancy(attained, ranks[place] if attained else None, 1.0 if bound is None else bound)


def priced(division: Division, found: RowPrices) -> PricedRows:
    """Return the examined rows: row numbers, model 1's decisions, bounds on the flip prices, and groups."""
    rows = division.rows["holdout"][found.places]
    return PricedRows(
        rows=tuple(division.dataset.numbered(rows).tolist()),
        is_favourable=tuple((found.values[0] >= 0.0).tolist()),
        low=tuple(found.low.tolist()),
        high=tuple(price if math.isfinite(price) else None for price in found.high.tolist()),
        groups={groups.column: tuple(groups.codes[rows].tolist()) for groups in division.dataset.sensitive},
    )


LOSSES = (0.001, 0.01)  # beside the loss that the audit allows


def proven_range(state: RunState, found: RowPrices) -> ParityRange | None:
    """Return bounds on the demographic parity difference on the holdout, over all near-optimal SVMs.

    There is one pair of bounds for the loss that the audit allows and, for comparison, one for each of the smaller
    `LOSSES`. None if fewer than two groups are compared, if every model has a decision threshold of its own, or if the
    solver failed.
    """
    division, listing = state.division, state.listing
    groups = division.holdout.groups
    present = np.flatnonzero((groups.sizes > 0) & groups.compared)
    if division.column is None or len(present) < 2 or listing.point.share is not None:
        return None
    codes = np.full(len(groups.names), -1)
    codes[present] = np.arange(len(present))
    codes = codes[groups.codes]
    allowed = state.config.tolerances.eps
    losses = sorted({*(eps for eps in LOSSES if eps < allowed), allowed})
    grouped = GroupedRows.of(division.holdout.X, codes, division.holdout.weights)
    prices = np.zeros(len(codes))
    prices[found.places] = found.low
    levels: list[ParityBounds] = []
    try:
        for eps in losses:
            left = (RANGE_WORK - sum(level.work for level in levels)) / (len(losses) - len(levels))
            levels.append(_level(state, grouped, prices, eps, left))
    except SolverError:
        return None
    examined = np.zeros(len(codes), bool)
    examined[found.places] = True
    names = [(groups.names[code], int(groups.sizes[code])) for code in present]
    return ParityRange(
        column=division.column,
        rows=int((codes >= 0).sum()),
        unexamined=int(((codes >= 0) & ~examined).sum()),
        levels=tuple(_stated(level, names) for level in nested(levels)),
    )


def _level(state: RunState, grouped: GroupedRows, prices: FloatArray, eps: float, work: float) -> ParityBounds:
    listing = state.listing
    return parity_range(
        state.training.problem,
        state.training.best,
        grouped,
        prices,
        eps,
        threshold=listing.point.threshold,
        listed=listing.values["holdout"][listing.loss_ratio <= eps] >= 0.0,
        work=work,
    )


def _stated(found: ParityBounds, groups: list[tuple[str, int]]) -> RangeLevel:
    return RangeLevel(
        eps=found.eps,
        gap=found.gap,
        groups=tuple(GroupExtent(name, rows, rate) for (name, rows), rate in zip(groups, found.rates, strict=True)),
        doubtful=found.doubtful,
        by_rows=found.by_rows,
        by_envelope=found.by_envelope,
        solves=found.solves,
        branches=found.branches,
    )
