"""What counts as another model: another support, other predictions, or clearly other predictions.

On tied data thousands of supports can be one predictor: every correct row sits on the margin, and any of them can be
left out. Printing fifty of them tells a user nothing, so they are collapsed, counted, and explained.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from fairenum.document.models import MarginTies
from fairenum.document.terms import Distinctness, EnumerationEnd
from fairenum.enumeration.model import Model
from fairenum.enumeration.pinning import records_to_move
from fairenum.enumeration.search import Enumeration
from fairenum.errors import ProblemError
from fairenum.matrices import Matrix, beside, scaled_square, squares
from fairenum.problem import IntArray, SvmProblem
from fairenum.scoring.counts import BitArray
from fairenum.scoring.operating import Operating


@dataclass(eq=False)
class DistinctModels:
    """An iterator over the models of an enumeration that differ by the chosen notion.

    Parameters
    ----------
    enumeration
        All models with distinct supports, best first; its own limit on models counts supports.
    notion
        ``support``: every model; ``predictions``: one per class of models that decide all audited rows alike;
        ``diverse``: only models that decide a minimum share of the audited rows otherwise than each one before.
    rows
        The audited rows, not needed for ``support``.
    models
        How many to yield; None for as many as there are.
    share
        The minimum share for ``diverse``.
    patience
        Give up after so many models in a row that are nothing new.
    operating
        Where models are cut; at the sign of their decision values if not given.

    Attributes
    ----------
    sizes
        How many supports each yielded model stands for, so far.
    stopped
        Why the iteration ended; ``alike`` when patience did.
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
        """Return which kept model this one repeats; the number of kept ones if it is new."""
        if self.notion == "support" or self.rows is None:
            return len(self.sizes)
        operating = self.operating
        values = operating.values(model, self.rows) if operating else model.decision_function(self.rows)
        return self._kept.place(values >= 0.0, self.share * len(values) if self.notion == "diverse" else 1.0)

    @property
    def ties(self) -> MarginTies | None:
        """Why many supports turned out to be few predictors; None if they did not."""
        if self._first is None or sum(self.sizes) < 2 * len(self.sizes):
            return None
        return margin_ties(self._first)


class _Patterns:
    """Decisions that were made about the same rows, to be compared with others all at once."""

    def __init__(self) -> None:
        self._bits, self._count = np.empty((0, 0), np.uint8), 0

    def place(self, decisions: npt.NDArray[np.bool_], least: float) -> int:
        """Return the first that differs in fewer rows than the least; if there is none, these become the last."""
        decided = np.packbits(decisions)
        if self._count and (alike := first_alike(self._bits[: self._count], decided, least)) is not None:
            return alike
        if self._count == len(self._bits):
            self._bits = np.resize(self._bits, (2 * self._count + 1, len(decided)))
        self._bits[self._count] = decided
        self._count += 1
        return self._count - 1


def first_alike(patterns: BitArray, decided: BitArray, least: float) -> int | None:
    """Return the first of some patterns of decisions, a bit for each row, that differs in fewer rows than the least."""
    near = np.flatnonzero(np.bitwise_count(patterns ^ decided).sum(axis=1) < least)
    return int(near[0]) if near.size else None


def margin_ties(model: Model) -> MarginTies:
    """Count the allowed examples on the margin, those of them that determine it, and what it takes to move it."""
    problem = model.problem
    reached = problem.y * model.decision_function(problem.X) + problem.ridge * model.alpha
    margin = np.flatnonzero(np.abs(reached - problem.linear) <= 1e-7 * np.abs(problem.linear).max())
    if len(margin) == 0:
        return MarginTies(0, 0)
    return MarginTies(len(margin), _affine_rank(problem, margin), records_to_move(model))


def _affine_rank(problem: SvmProblem, examples: IntArray) -> int:
    """Return how many examples are affinely independent; a linear kernel of many examples tells in d dimensions."""
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
