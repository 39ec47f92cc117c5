"""The machine of the paper, and its C by cross-validation, on exact answers."""

from __future__ import annotations

from functools import cache

import numpy as np

from fairenum.document.machine import Machine
from fairenum.enumeration.search import Enumeration
from fairenum.errors import FairenumError
from fairenum.experiment import FOLDS, GRID, best_cost, pose
from fairenum.matrices import Matrix
from fairenum.problem import FloatArray, IntArray, SvmProblem
from fairenum.solvers.protocol import SolverPlugin
from fairenum.solvers.registry import load_solver, open_workspace


@cache
def path_solver() -> SolverPlugin:
    """Find the solver once: looking it up takes longer than a small fit."""
    return load_solver("path")


def plain_problem(X: Matrix, y: FloatArray, cost: float) -> SvmProblem:
    """Pose the paper's machine: linear, and every row an example of its own."""
    return pose(X, y, Machine(C=cost, rows=True)).problem


def choose_cost(X: Matrix, y: FloatArray, seed: int) -> float:
    """Take the C of the highest accuracy over five folds; a C whose answers cannot be proven is left out.

    Parameters
    ----------
    X, y
        The encoded training rows and their labels.
    seed
        Of the folds.
    """
    from sklearn.model_selection import StratifiedKFold

    folds = tuple(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y))
    accuracy: dict[float, float] = {}
    for cost in GRID:
        try:
            shares = [_accuracy(X, y, learnt, judged, cost) for learnt, judged in folds]
        except FairenumError:
            continue
        accuracy[cost] = float(np.mean(shares))
    return best_cost(accuracy)


def _accuracy(X: Matrix, y: FloatArray, learnt: IntArray, judged: IntArray, cost: float) -> float:
    best = next(Enumeration(open_workspace(path_solver(), plain_problem(X[learnt], y[learnt], cost))))
    return float((best.predict(X[judged]) == y[judged]).mean())
