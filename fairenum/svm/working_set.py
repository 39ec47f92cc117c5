"""Interior points for a working set: the examples whose bound is in doubt, with all others fixed on a bound.

Of many examples few are near the margin; for the others, a plane near the optimal one shows whether alpha is 0 or
``upper``. An interior point for those few costs a small share of one for all. The plane of this interior point then
checks the others: if more than a few are on the wrong bound, the working set grows.

The first plane is that of a smoothed SVM (`fairenum.svm.smoothing`), started from a given plane if there is one. Where
that would cost too much, it is the given plane itself, or that of a sample of the examples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairenum.errors import SolverOverwhelmed
from fairenum.svm.gram import Gram
from fairenum.svm.interior import TARGET, InteriorPoint, interior_point
from fairenum.svm.problem import FloatArray, IntArray
from fairenum.svm.smoothing import SmoothedSvm

BoolArray = npt.NDArray[np.bool_]

FEW = 512  # examples for which a working set saves no time
# The share of all examples in the first working set: by the plane of a smoothed SVM, or by another one.
SMOOTHED_SHARE, FIRST_SHARE = 1 / 32, 1 / 16
GROWTH = 3.0
LARGEST_SHARE = 0.5  # of all examples, beyond which a working set saves no time
MATRIX_AT_ONCE = 8192  # examples of a kernel matrix: factorised repeatedly, more would take hours
SAMPLE, ROUGHLY = 4096, 1e-3  # examples of the sample that gives a first plane, and its accuracy
FEW_WRONG = 100  # examples on a wrong bound that are added without growing the working set further


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """A given plane, thought to be near the optimal one, from which the solver starts.

    ``gradient`` is the gradient at that plane; ``in_doubt`` marks examples that must join the working set; ``alpha`` is
    that of the plane, or None if the plane belongs to another linear term. With ``is_close``, the sign of the gradient
    shows the bound of every example that is not in doubt.
    """

    gradient: FloatArray
    in_doubt: BoolArray
    alpha: FloatArray | None = None
    is_close: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ApproximateSolution:
    """Alpha and gradient of all examples, and an interior point for those in ``working``; others are on a bound."""

    alpha: FloatArray
    working: IntArray
    point: InteriorPoint
    gradient: FloatArray


class WorkingSetSolver:
    """Solver by working sets for one quadratic programme; `unit` is the scale of its margins."""

    def __init__(self, gram: Gram, y: FloatArray, upper: FloatArray, linear: FloatArray, unit: float) -> None:
        self.gram, self.y, self.upper, self.linear, self.unit = gram, y, upper, linear, unit
        self.allowed = upper > 0.0
        self._count = int(np.count_nonzero(self.allowed))

    def solve(self, start: Start | None = None, accuracy: float = TARGET) -> ApproximateSolution:
        """Return an optimum to a relative `accuracy`, found on growing subsets of the examples or, at last, on all."""
        plan = self._plan(start)
        if plan is not None:
            gradient, works, size = plan
            while np.count_nonzero(works := works | self._nearest(gradient, size)) <= self._largest():
                found = self._on(gradient, works, accuracy)
                if found is None:
                    size = _grown(size)
                    continue
                wrong = self.wrong(found)
                count = int(np.count_nonzero(wrong))
                if count == 0:
                    return found
                if count <= len(found.working):  # with more the plane is worse than the one before
                    gradient, works = found.gradient, works | wrong
                if count > min(FEW_WRONG, len(found.working)):
                    size = _grown(size)
        return self.solve_all(accuracy)

    def _plan(self, start: Start | None) -> tuple[FloatArray, BoolArray, int] | None:
        """Return how to choose the first working set: a gradient, a mask of examples in doubt, and a count.

        That many examples nearest to the margin are added to those in doubt. None means to solve for all at once.
        """
        nobody = np.zeros_like(self.allowed)
        if start is not None and start.is_close:
            return start.gradient, start.in_doubt & self.allowed, 0
        if self._count <= 2 * FEW:
            return None
        if (gradient := self._smoothed(start)) is not None:
            return gradient, nobody, max(FEW, int(SMOOTHED_SHARE * self._count))
        size = max(FEW, int(FIRST_SHARE * self._count))
        if start is not None:
            return start.gradient, start.in_doubt & self.allowed, size
        return (self._by_a_sample(), nobody, size) if self._count > 2 * SAMPLE else None

    def _smoothed(self, start: Start | None) -> FloatArray | None:
        """Return the gradient at the smoothed SVM's plane; None if this SVM does not apply, costs too much or fails."""
        if self.gram.is_matrix or self.gram.ridge or self.gram.table.shape[1] ** 2 > self._count:
            return None
        svm, near = SmoothedSvm(self.gram, self.y, self.upper, self.linear, self.unit), None
        if start is not None and start.alpha is not None:
            near = svm.spanned(start.alpha, start.gradient)
        elif start is not None:
            near = svm.fitted(start.gradient)
        plane = svm.plane(near)
        return None if plane is None else plane.margins - self.linear

    def _largest(self) -> float:
        return min(LARGEST_SHARE * self._count, MATRIX_AT_ONCE if self.gram.is_matrix else np.inf)

    def solve_all(self, accuracy: float = TARGET) -> ApproximateSolution:
        """Return an approximate optimum, solved for all examples at once; refuse too large a kernel matrix."""
        if self.gram.is_matrix and self._count > MATRIX_AT_ONCE:
            raise SolverOverwhelmed(
                f"of {self._count} examples too many are near the margin of an SVM with this kernel (at most "
                f"{MATRIX_AT_ONCE} are solved for at once); train on fewer rows (--split), or use a smaller gamma or a "
                "linear kernel"
            )
        return self._solved(np.zeros_like(self.upper), np.flatnonzero(self.allowed), accuracy)

    def wrong(self, found: ApproximateSolution) -> BoolArray:
        """Return a mask of the examples outside the working set whose gradient shows that their bound is wrong."""
        outside = self.allowed.copy()
        outside[found.working] = False
        return outside & np.where(found.alpha > 0.0, found.gradient > 0.0, found.gradient < 0.0)

    def _nearest(self, gradient: FloatArray, size: int) -> BoolArray:
        """Return a mask of the `size` examples whose bound is least certain.

        They have the smallest absolute gradient relative to their length: the gradient of a long example changes more
        when the plane moves.
        """
        if size == 0:
            return np.zeros_like(self.allowed)
        diagonal = self.gram.diagonal
        distance = np.where(
            self.allowed, np.abs(gradient) / np.sqrt(diagonal + max(float(diagonal.mean()), 1e-300)), np.inf
        )
        place = min(size, len(distance) - 1)
        return np.asarray(distance <= np.partition(distance, place)[place])

    def _on(self, gradient: FloatArray, works: BoolArray, accuracy: float) -> ApproximateSolution | None:
        """Return the solution for the working set `works`; None if no alpha strictly in its box makes ``y'alpha = 0``.

        Every other alpha is fixed at its upper bound if its gradient is negative, else at 0.
        """
        alpha = np.where(gradient < 0.0, self.upper, 0.0)
        total = -float(self.y[~works] @ alpha[~works])
        capacity = self.y[works] * self.upper[works]
        if not float(capacity.clip(max=0.0).sum()) < total < float(capacity.clip(min=0.0).sum()):
            return None
        return self._solved(alpha, np.flatnonzero(works), accuracy)

    def _solved(self, alpha: FloatArray, working: IntArray, accuracy: float) -> ApproximateSolution:
        y, linear, box = self.y, self.linear, self.upper[working]
        alpha[working] = 0.0
        is_whole = len(working) == len(y)
        inner = self.gram.restrict(working)
        fixed = np.zeros_like(alpha) if is_whole else self.gram.product(alpha)
        point = interior_point(inner, y[working], box, (linear - fixed)[working], -float(y @ alpha), accuracy)
        alpha[working] = np.clip(point.alpha, 0.0, box)
        gradient = self.gram.product(alpha) + y * point.bias - linear
        return ApproximateSolution(alpha, working, point, gradient)

    def _by_a_sample(self) -> FloatArray:
        """Return the gradient of all examples at the optimal plane of a sample of them.

        The sample's upper bounds are scaled up so that their sum for each label is that of all examples.
        """
        upper = np.zeros_like(self.upper)
        for label in (-1.0, 1.0):
            own = np.flatnonzero(self.allowed & (self.y == label))
            drawn = _evenly(own, SAMPLE // 2)
            upper[drawn] = self.upper[drawn] * (self.upper[own].sum() / self.upper[drawn].sum())
        return WorkingSetSolver(self.gram, self.y, upper, self.linear, self.unit).solve_all(ROUGHLY).gradient


def _grown(size: int) -> int:
    return int(GROWTH * max(size, FEW))


def _evenly(examples: IntArray, most: int) -> IntArray:
    """Return at most `most` of the examples, evenly spaced."""
    return examples[np.unique(np.linspace(0, len(examples) - 1, min(most, len(examples))).astype(np.intp))]
