"""Planes held to rows, for linear machines with so many examples that walks from model 1 would be long."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError

from fairenum.enumeration.walking import LARGEST
from fairenum.enumeration.witness import Pulls
from fairenum.problem import FloatArray, Solution, SvmProblem
from fairenum.qp.crossing import Crossing
from fairenum.qp.foreign import KernelRows, LinearRows
from fairenum.qp.gram import LinearGram, open_gram

WIDEST = 8  # the square of the number of columns, times the examples: steps become long
NEARLY = 1e-6  # of the loss: closer than anybody asks for, and far above what a search leaves


class HoldPuller:
    """Searches the plane of every row, nearly the best."""

    tight = NEARLY

    def __init__(self, problem: SvmProblem, gram: LinearGram, best: Solution, rows: LinearRows) -> None:
        self._problem, self._gram, self._best, self._rows = problem, gram, best, rows
        self._bias = best.certificate.bias - gram.bias_offset(best.alpha)
        self._crossing: Crossing | None = None

    def pulled(self, pulls: Pulls, most: float) -> tuple[FloatArray, FloatArray]:
        """Return one answer for each pull, of examples alone, and the bias of its plane.

        It is that of model 1, which proves nothing, where rounding forbids another.
        """
        alpha, bias = self._best.alpha, self._bias
        self._crossing = crossing = self._crossing or Crossing(
            self._problem, self._gram, alpha, bias, self._best.certificate.bound
        )
        rows = self._rows.features[pulls.places]
        missing = pulls.sides * (pulls.thresholds - rows @ self._gram.planes(alpha[None])[0] - bias)
        answers, biases = np.tile(alpha, (len(rows), 1)), np.full(len(rows), bias)
        for k in np.flatnonzero(missing > 0.0):
            try:
                answers[k], biases[k] = crossing.held(rows[k], float(pulls.sides[k]), float(pulls.thresholds[k]), most)
            except LinAlgError:
                continue
        return answers, biases


def holders(problem: SvmProblem, best: Solution, rows: LinearRows | KernelRows) -> list[HoldPuller]:
    """Return who can search planes for rows; nobody where walks take less time, or there are too many columns."""
    gram = open_gram(problem)
    if not isinstance(gram, LinearGram) or not isinstance(rows, LinearRows) or gram.ridge:
        return []
    if problem.size <= LARGEST or gram.table.shape[1] ** 2 > WIDEST * problem.size:
        return []
    return [HoldPuller(problem, gram, best, rows)]
