"""Planes pulled across rows by walks from the plane of model 1: in a hurry, and with care where that is not enough."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np

from fairenum.budget import checkpoint
from fairenum.enumeration.pulling import TIGHT
from fairenum.enumeration.witness import Pulls
from fairenum.problem import FloatArray, Solution, SvmProblem
from fairenum.qp import hurry, kernel
from fairenum.qp.activeset import ActiveSet
from fairenum.qp.foreign import KernelRows, LinearRows
from fairenum.qp.gram import LinearGram, open_gram
from fairenum.qp.hurrying import APART, Hurry
from fairenum.qp.path import PathStuck
from fairenum.qp.polish import optimal_state
from fairenum.qp.raising import Ascent

LARGEST = 6000  # examples; the breakpoints of a walk grow with them, and of more a search takes less time


class Walk(Protocol):
    """Walks from one state across any row."""

    def pulled(self, row: FloatArray, side: float, missing: float, above: float) -> tuple[int, FloatArray, float, int]:
        """Return the status, alpha, the bias, and how many breakpoints there were."""


class WalkPuller:
    """Walks from model 1 to the plane of every row.

    An answer whose walk went astray is that of model 1, which proves nothing.
    """

    tight = TIGHT

    def __init__(self, state: ActiveSet, rows: LinearRows | KernelRows, opened: Callable[[], Walk], lost: int) -> None:
        self._state, self._rows, self._opened, self._lost = state, rows, opened, lost
        self._walk: Walk | None = None

    def pulled(self, pulls: Pulls, most: float) -> tuple[FloatArray, FloatArray]:
        """Return one answer for each pull, of examples alone, and the bias of its plane."""
        self._walk = walk = self._walk or self._opened()
        reached = self._rows.crossed(pulls.places) @ self._state.alpha + self._state.bias
        missing = pulls.sides * (pulls.thresholds - reached)
        answers, biases = np.tile(self._state.alpha, (len(missing), 1)), np.full(len(missing), self._state.bias)
        rows = self._rows.entering(pulls.places)
        for k in np.flatnonzero(missing > 0.0):
            checkpoint()
            status, alpha, bias, _ = walk.pulled(rows[k], float(pulls.sides[k]), float(missing[k]), most)
            if status != self._lost:
                answers[k], biases[k] = alpha, bias
        return answers, biases


def walkers(problem: SvmProblem, best: Solution, rows: LinearRows | KernelRows) -> list[WalkPuller]:
    """Return who can walk from the best answer: those in a hurry, or one with care, for kernels that are not linear.

    It is nobody where a search takes less time, or where the kernel matrix is not held.
    """
    gram, state = open_gram(problem), best.handle
    if gram.anchors is not None or problem.size > LARGEST:
        return []
    if not isinstance(state, ActiveSet) or state.gram is not gram:
        try:
            state = optimal_state(gram, problem, problem.upper, best.alpha)
        except PathStuck:
            return []
    held, value = state, best.certificate.objective
    if isinstance(gram, LinearGram) and not gram.ridge:
        opened = (partial(Hurry, problem, gram, held, value, trifle) for trifle in APART)
        return [WalkPuller(held, rows, one, hurry.LOST) for one in opened]
    return [WalkPuller(held, rows, partial(Ascent, held, value), kernel.STUCK)]
