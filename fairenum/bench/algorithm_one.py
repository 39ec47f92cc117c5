"""Algorithm 1 of the EnumSV paper as printed, on scikit-learn's SVC: what everything else is measured against."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fairenum.document.terms import EnumerationEnd
from fairenum.enumeration.search import Limits
from fairenum.errors import ProblemError
from fairenum.problem import IntArray, SvmProblem

TOL = 1e-3  # scikit-learn's default


@dataclass(frozen=True, slots=True, eq=False)
class PaperModel:
    """What one SVC fit found, and the examples that it was not shown."""

    objective: float
    support: IntArray
    left_out: frozenset[int]


class AlgorithmOne:
    """An iterator over the models of a linear problem, best first as far as SVC's accuracy goes.

    When a model leaves the heap, all its children are solved from scratch. It is spared what no reader of k
    models waits for: the children of the last one.

    Parameters
    ----------
    problem
        A linear problem with one cost for all examples.
    limits
        When to stop; of the limits, `models` and `seconds` count here.
    tol
        SVC's tolerance.

    Attributes
    ----------
    nodes
        Number of fits.
    stopped
        Why it ended.
    """

    def __init__(self, problem: SvmProblem, limits: Limits | None = None, tol: float = TOL) -> None:
        _require_plain(problem)
        self._X, self._y, self._cost = problem.X, problem.y, float(problem.upper[0])
        self._limits, self._tol = limits or Limits(), tol
        self.nodes = 0
        self.stopped: EnumerationEnd | None = None
        self._models = self._search()

    def __iter__(self) -> Iterator[PaperModel]:
        return self

    def __next__(self) -> PaperModel:
        return next(self._models)

    def _search(self) -> Iterator[PaperModel]:
        started, order = time.monotonic(), itertools.count()
        best = self._fit(frozenset())
        heap = [(-best.objective, next(order), best, frozenset[int]())] if best else []
        seen: set[bytes] = set()
        while heap:
            *_, model, kept = heapq.heappop(heap)
            if (mark := model.support.tobytes()) not in seen:
                seen.add(mark)
                yield model
            for example in model.support.tolist():
                if self._limit_reached(len(seen), started):
                    return
                if example in kept:
                    continue
                if child := self._fit(model.left_out | {example}):
                    heapq.heappush(heap, (-child.objective, next(order), child, kept))
                kept |= {example}
        self.stopped = "exhausted"

    def _limit_reached(self, found: int, started: float) -> bool:
        if self._limits.models is not None and found >= self._limits.models:
            self.stopped = "models"
        elif self._limits.seconds is not None and time.monotonic() - started >= self._limits.seconds:
            self.stopped = "time"
        return self.stopped is not None

    def _fit(self, left_out: frozenset[int]) -> PaperModel | None:
        """Train on all other examples; None if only one class is left, which SVC refuses."""
        from sklearn.svm import SVC

        rows = np.delete(np.arange(len(self._y)), list(left_out))
        y = self._y[rows]
        if (y == y[0]).all():
            return None
        self.nodes += 1
        machine = SVC(kernel="linear", C=self._cost, tol=self._tol).fit(self._X[rows], y)
        plane = machine.coef_[0]
        objective = float(np.abs(machine.dual_coef_).sum() - 0.5 * plane @ plane)
        return PaperModel(objective, np.sort(rows[machine.support_]), left_out)


def _require_plain(problem: SvmProblem) -> None:
    if problem.kernel.name != "linear" or problem.ridge or (problem.linear != 1.0).any():
        raise ProblemError("the paper's algorithm is measured on linear SVMs without a ridge only")
    if (problem.upper != problem.upper[0]).any():
        raise ProblemError("the paper's algorithm knows one cost for all examples; do not merge identical rows")
