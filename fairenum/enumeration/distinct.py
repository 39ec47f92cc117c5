"""Distinct models: enumerated models that differ in support, in predictions, or in a minimum share of predictions.

The support of a model is its set of support vectors. If many rows lie exactly on the margin, any of them can be left
out, so thousands of supports can belong to one predictor. A list of fifty such models is of no use, so they are merged
and counted. Two numbers explain them: how many examples lie on the margin (`margin_ties`), and how many records must be
left out before the plane moves (`records_to_move`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from fairenum.document.models import MarginTies
from fairenum.document.terms import Distinctness, EnumerationEnd
from fairenum.enumeration.model import Model
from fairenum.enumeration.search import Enumeration
from fairenum.errors import ProblemError
from fairenum.metrics.counts import BitArray
from fairenum.metrics.operating_point import Operating
from fairenum.svm.problem import BLOCK_ROWS, FloatArray, IntArray, SvmProblem
from fairenum.svm.sparse_or_dense import Matrix, beside, dense, scaled_square, squares, turned

ON_MARGIN = 1e-9  # of the largest linear term: examples within it are on the margin
DEPENDENT = 1e-9  # of the norm of all rows: the margin does not pin the plane in directions with smaller components
NO_DIRECTION = 1e-13  # of the largest eigenvalue: in directions with smaller ones no row differs from another
CERTAIN = 1e-6  # by which a number of records is rounded down
LEAST_ROOM = 1e-6  # of its upper bound: how far every alpha on the margin must be from its bounds to pin the plane
PROGRAMMES = 40  # linear programmes to solve at most, for the examples that might move the plane soonest
MOST_ON_MARGIN, MOST_NUMBERS = 2000, 2e7  # examples on the margin, and numbers in all rows: more take too long


def records_to_move(model: Model) -> int:
    """Return a lower bound on how many training records must be left out before the plane of the best model moves.

    It is 1 where nothing is proven: the examples on the margin do not determine the plane, the kernel is not linear, or
    one record may move the plane.
    """
    problem = model.problem
    if problem.kernel.name != "linear" or problem.ridge or model.left_out:
        return 1
    beyond = problem.y * model.decision_function(problem.X) - problem.linear
    close = ON_MARGIN * float(np.abs(problem.linear).max())
    margin, able = np.flatnonzero(np.abs(beyond) <= close), np.flatnonzero(beyond <= close)
    is_small = len(margin) <= MOST_ON_MARGIN and len(able) * problem.X.shape[1] <= MOST_NUMBERS
    if not len(margin) or not is_small:
        return 1
    pinned = _PinnedPlane.of(problem, model.alpha, margin, able)
    return 1 if pinned is None else max(1, math.ceil(pinned.fewest() * (1.0 - CERTAIN) - CERTAIN))


class _PinnedPlane:
    """A plane that the examples on its margin determine uniquely, with all examples whose removal might move it.

    The plane does not move as long as the alphas of the margin examples, within their bounds, can compensate for what
    is left out.
    """

    def __init__(self, margin: FloatArray, box: FloatArray, centre: FloatArray, able: FloatArray, cost: FloatArray):
        self._margin, self._box, self._centre, self._able, self._cost = margin, box, centre, able, cost

    @classmethod
    def of(cls, problem: SvmProblem, alpha: FloatArray, margin: IntArray, able: IntArray) -> _PinnedPlane | None:
        """Return the plane if its margin examples determine it, with alphas strictly within bounds; else None.

        `margin` are the examples on the margin, `able` all examples whose removal might move the plane.
        """
        coordinates = _coordinates(problem, able)
        own = coordinates[np.searchsorted(able, margin)]
        if np.linalg.matrix_rank(own, tol=DEPENDENT * np.linalg.norm(coordinates)) < coordinates.shape[1]:
            return None
        box, sought = problem.upper[margin], alpha[margin] @ own
        centre = _roomiest(own, box, sought)
        return None if centre is None else cls(own, box, centre, coordinates, problem.cost[able])

    def fewest(self) -> float:
        """Return a lower bound on the number of records that must be left out before the plane moves.

        Each example first gets a rough bound; the smallest bounds are then replaced by exact ones until the minimum is
        exact.
        """
        if self._margin.shape[0] == self._margin.shape[1]:
            return float(self._exactly().min())
        needed = self._roughly()
        for _ in range(PROGRAMMES):
            first = int(needed.argmin())
            needed[first] = max(needed[first], self._farthest(self._able[first]) / self._cost[first])
            if int(needed.argmin()) == first:
                break  # all others need more, and this one has its exact bound
        return float(needed.min())

    def _exactly(self) -> FloatArray:
        """Return for each example how many of its records must be left out to move the plane.

        The rows on the margin must be linearly independent, so that their alphas can compensate for a removal in one
        way only.
        """
        inverse = np.linalg.inv(self._margin)
        above, below = self._box - self._centre, self._centre
        farthest = [
            (np.where(moves > 0.0, above, below) / np.maximum(np.abs(moves), 1e-300)).min(axis=1)
            for moves in (rows @ inverse for rows in self._blocks())
        ]
        return np.asarray(np.concatenate(farthest) / self._cost)

    def _roughly(self) -> FloatArray:
        """Return for each example a lower bound on how many of its records must be left out to move the plane.

        Only one way to compensate for a removal is considered: the changes of all alphas on the margin, divided by the
        distance of each alpha from its bounds, have the least sum of squares.
        """
        room = np.minimum(self._centre, self._box - self._centre)
        weighted = self._margin * room[:, None]
        inverse = np.linalg.pinv(weighted, rcond=max(weighted.shape) * np.finfo(float).eps)
        moves = np.concatenate([np.abs(rows @ inverse).max(axis=1) for rows in self._blocks()])
        return np.asarray(1.0 / np.maximum(moves, 1e-300) / self._cost)

    def _blocks(self) -> Iterator[FloatArray]:
        return (self._able[start : start + BLOCK_ROWS] for start in range(0, len(self._able), BLOCK_ROWS))

    def _farthest(self, row: FloatArray) -> float:
        """Return the alpha that the example `row` can lose while margin examples compensate; 0 if none is found."""
        size = len(self._box)
        aim = np.append(np.zeros(size), -1.0)
        equations = np.column_stack([self._margin.T, -row])
        bounds = [(0.0, one) for one in (*self._box.tolist(), math.inf)]
        found = linprog(aim, A_eq=equations, b_eq=self._margin.T @ self._centre, bounds=bounds)
        return 0.0 if found.status or found.x is None else float(found.x[-1])  # 0 proves nothing, if it has no answer


def _coordinates(problem: SvmProblem, able: IntArray) -> FloatArray:
    """Return the examples' rows, with a bias column and times their labels, in coordinates of the space they span."""
    rows = dense(beside(problem.X[able], np.ones(len(able)))) * problem.y[able, None]
    if len(rows) < rows.shape[1]:
        rows = turned(rows)
    values, vectors = np.linalg.eigh(rows.T @ rows)
    return np.asarray(rows @ vectors[:, values > NO_DIRECTION * values[-1]])


def _roomiest(margin: FloatArray, box: FloatArray, sought: FloatArray) -> FloatArray | None:
    """Return alphas of margin examples that give a plane and are farthest from their bounds; None if one is at a bound.

    `margin` has the rows of these examples, `box` the upper bounds of their alphas. The plane is given by `sought`, the
    sum of the rows times their alphas.
    """
    size = len(box)
    aim, equations = np.append(np.zeros(size), -1.0), np.column_stack([margin.T, np.zeros(len(sought))])
    limits = np.vstack([np.column_stack([-np.eye(size), box]), np.column_stack([np.eye(size), box])])
    found = linprog(aim, limits, np.append(np.zeros(size), box), equations, sought, bounds=(None, None))
    if found.status or found.x is None or found.x[-1] <= LEAST_ROOM:
        return None
    return np.asarray(found.x[:-1])


@dataclass(eq=False)
class DistinctModels:
    """An iterator over the models of an enumeration that count as distinct by a chosen criterion.

    Parameters
    ----------
    enumeration
        All models with distinct supports, best first; its own limit on models counts repetitions, too.
    notion
        ``support``: every model; ``predictions``: one per class of models that decide all audited rows alike;
        ``diverse``: only models that decide a minimum share of the audited rows differently from each one before.
    rows
        The audited rows, not needed for ``support``.
    models
        How many distinct models to yield; None for all.
    share
        The minimum share for ``diverse``.
    patience
        The iteration ends after this many models in a row that repeat earlier ones.
    operating
        The thresholds of the models' decision values; 0 for all if not given.

    Attributes
    ----------
    sizes
        How many models each yielded model stands for so far: itself, and those that repeat it.
    stopped
        Why the iteration ended; ``alike`` if by `patience`.
    """

    enumeration: Enumeration
    notion: Distinctness = "support"
    rows: Matrix | None = None
    models: int | None = None
    share: float = 0.01
    patience: int = 1000
    operating: Operating | None = None
    sizes: list[int] = field(default_factory=list)
    stopped: EnumerationEnd | None = None

    def __post_init__(self) -> None:
        if self.notion not in ("support", "predictions", "diverse"):
            raise ProblemError(f"distinct must be support, predictions or diverse, not {self.notion!r}")
        if self.notion != "support" and (self.rows is None or self.rows.shape[0] == 0):
            raise ProblemError(f"distinct={self.notion!r} compares decisions: give the audited rows")
        if not 0.0 < self.share <= 1.0:
            raise ProblemError(f"the minimum share of rows decided otherwise must be in (0, 1], not {self.share!r}")
        self._kept = _Patterns()
        self._first: Model | None = None
        self._stream = self._distinct()

    def __iter__(self) -> Iterator[Model]:
        return self

    def __next__(self) -> Model:
        return next(self._stream)

    def _distinct(self) -> Iterator[Model]:
        idle = 0
        for model in self.enumeration:
            self._first = self._first or model
            place = self._place(model)
            if place < len(self.sizes):
                self.sizes[place] += 1
                idle += 1
            else:
                self.sizes.append(1)
                idle = 0
                yield model
            if self.models is not None and len(self.sizes) >= self.models:
                self.stopped = "models"
                return
            if idle >= self.patience:
                self.stopped = "alike"
                return
        self.stopped = self.enumeration.stopped

    def _place(self, model: Model) -> int:
        """Return the index of the yielded model that this one repeats; the number of yielded models if it is new."""
        if self.notion == "support" or self.rows is None:
            return len(self.sizes)
        operating = self.operating
        values = operating.values(model, self.rows) if operating else model.decision_function(self.rows)
        return self._kept.place(values >= 0.0, self.share * len(values) if self.notion == "diverse" else 1.0)

    @property
    def ties(self) -> MarginTies | None:
        """Counts of examples on the best model's margin; None if less than half of the models found are repetitions."""
        if self._first is None or sum(self.sizes) < 2 * len(self.sizes):
            return None
        return margin_ties(self._first)


class _Patterns:
    """A growing list of decision patterns; a pattern is one model's decisions about all rows, one bit per row."""

    def __init__(self) -> None:
        self._bits, self._count = np.empty((0, 0), np.uint8), 0

    def place(self, decisions: npt.NDArray[np.bool_], least: float) -> int:
        """Return the index of the first pattern that differs in under `least` rows; append `decisions` if none does."""
        decided = np.packbits(decisions)
        if self._count and (alike := first_alike(self._bits[: self._count], decided, least)) is not None:
            return alike
        if self._count == len(self._bits):
            self._bits = np.resize(self._bits, (2 * self._count + 1, len(decided)))
        self._bits[self._count] = decided
        self._count += 1
        return self._count - 1


def first_alike(patterns: BitArray, decided: BitArray, least: float) -> int | None:
    """Return the index of the first pattern that differs from `decided` in fewer than `least` rows, or None."""
    near = np.flatnonzero(np.bitwise_count(patterns ^ decided).sum(axis=1) < least)
    return int(near[0]) if near.size else None


def margin_ties(model: Model) -> MarginTies:
    """Return how many examples lie on a model's margin, how many are affinely independent, and `records_to_move`."""
    problem = model.problem
    reached = problem.y * model.decision_function(problem.X) + problem.ridge * model.alpha
    margin = np.flatnonzero(np.abs(reached - problem.linear) <= 1e-7 * np.abs(problem.linear).max())
    if len(margin) == 0:
        return MarginTies(0, 0)
    return MarginTies(len(margin), _affine_rank(problem, margin), records_to_move(model))


def _affine_rank(problem: SvmProblem, examples: IntArray) -> int:
    """Return how many of the examples are affinely independent in feature space."""
    rows, ridge = problem.X[examples], problem.ridge
    if problem.kernel.name == "linear" and not ridge and rows.shape[1] < len(examples):
        scale = max(float(squares(rows).mean()), np.finfo(float).tiny)
        features = beside(rows, np.full(len(examples), math.sqrt(scale)))
        matrix = scaled_square(features, np.ones(len(examples)))
    else:
        kernel = problem.kernel(rows, rows) + ridge * np.eye(len(examples))
        scale = max(float(kernel.diagonal().mean()), np.finfo(float).tiny)
        matrix = kernel + scale
    return int(np.linalg.matrix_rank(matrix, tol=1e-9 * scale * len(examples), hermitian=True))
