"""A lying solver: it claims a feasible answer that ignores the data to be the optimum."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fairenum.solvers.protocol import Tolerance
from fairenum.svm.problem import Claim, FloatArray, Solution, SvmProblem


class LiarSolver:
    """Half of every box, balanced: always feasible, never an optimum."""

    name: ClassVar[str] = "liar"
    requires: ClassVar[tuple[str, ...]] = ()
    install: ClassVar[str] = "pip install fairenum-liar"

    def open(self, problem: SvmProblem, tolerance: Tolerance) -> LiarSolver:
        """Keep the labels, which are all it uses."""
        self._y = problem.y
        return self

    def solve(self, upper: FloatArray, start: Solution | None = None) -> Claim:
        """Spread the same total over both classes."""
        room = {label: max(float(upper[self._y == label].sum()), 1e-300) for label in (-1.0, 1.0)}
        share = min(room.values()) / np.where(self._y > 0, room[1.0], room[-1.0])
        return Claim(0.5 * upper * share)
