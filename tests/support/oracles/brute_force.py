"""An independent oracle for small problems: every basic answer, by brute force."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from fairenum.svm.problem import SvmProblem

TINY = 1e-8


def bits(mask: int, n: int) -> np.ndarray:
    return np.array([i for i in range(n) if mask >> i & 1], dtype=int)


def masks(rows: np.ndarray) -> np.ndarray:
    return rows @ (1 << np.arange(rows.shape[1]))


class BruteForce:
    """Every basic answer of a small SVM, and from them the canonical optimum of every subset of the examples.

    A basic answer puts some examples at their bound, some (affinely independent) on the margin, the rest at 0: there
    are at most 3^n. The optimal answers within a subset are the convex hull of its optimal basic ones; the canonical
    one has the least tie weight.
    """

    def __init__(self, problem: SvmProblem, upper: np.ndarray | None = None) -> None:
        self.problem, self.n = problem, problem.size
        self.upper = problem.upper if upper is None else upper
        sign = np.outer(problem.y, problem.y)
        self.Q = problem.kernel(problem.X, problem.X) * sign + problem.ridge * np.eye(self.n)
        parts = [self._basic(margin) for margin in range(1, 1 << self.n)]
        self.alpha = np.vstack([a for a, _, _ in parts])
        self.used = np.concatenate([u for _, u, _ in parts])
        self.wrong = np.concatenate([w for _, _, w in parts])
        self.tie = self.alpha @ problem.tie_weights()

    def _basic(self, margin: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Answers with this margin set: alpha, examples used, and examples that would object."""
        n, y, C, p = self.n, self.problem.y, self.upper, self.problem.linear
        S, rest = bits(margin, n), bits(~margin & ((1 << n) - 1), n)
        nothing = np.empty((0, n)), np.empty(0, int), np.empty(0, int)
        M = np.block([[np.zeros((1, 1)), y[S][None]], [y[S][:, None], self.Q[np.ix_(S, S)]]])
        values = np.linalg.svd(M, compute_uv=False)
        if values.min() < 1e-9 * values.max():
            return nothing
        choices = list(itertools.product((0.0, 1.0), repeat=len(rest)))
        full = np.array(choices).reshape(len(choices), len(rest))
        alpha = np.zeros((len(full), n))
        alpha[:, rest] = full * C[rest]
        right = np.column_stack([-(alpha @ y), p[S] - alpha @ self.Q[:, S]])
        solution = np.linalg.solve(M, right.T).T
        alpha[:, S] = solution[:, 1:]
        inside = ((alpha >= -TINY * C) & (alpha <= (1 + TINY) * C)).all(axis=1)
        alpha, bias, full = alpha[inside], solution[inside, 0], full[inside]
        gradient = alpha @ self.Q + np.outer(bias, y) - p
        at_bound = np.zeros((len(alpha), n), dtype=bool)
        at_bound[:, rest] = full > 0
        keep = ((gradient <= TINY) | ~at_bound).all(axis=1)
        objects = (gradient < -TINY) & ~at_bound
        objects[:, S] = False
        return alpha[keep], masks(at_bound[keep]) | margin, masks(objects[keep])

    def _at_bounds_only(self, subset: int) -> Iterator[np.ndarray]:
        """Optimal answers of a subset with nobody on the margin: one bias must suit everybody."""
        n, y, C, p = self.n, self.problem.y, self.upper, self.problem.linear
        members = bits(subset, n)
        for choice in itertools.product((0, 1), repeat=len(members)):
            alpha = np.zeros(n)
            alpha[members] = np.array(choice) * C[members]
            if not any(choice) or abs(y @ alpha) > TINY * C.max():
                continue
            kinks = y * (p - alpha @ self.Q)
            below = [kinks[i] for i in members if (alpha[i] > 0) == (y[i] < 0)]
            above = [kinks[i] for i in members if (alpha[i] > 0) == (y[i] > 0)]
            if max(below, default=-np.inf) <= min(above, default=np.inf) + TINY:
                yield alpha

    def canonical(self, subset: int) -> np.ndarray:
        weights = self.problem.tie_weights()
        valid = np.flatnonzero(((self.used & ~subset) == 0) & ((self.wrong & subset) == 0))
        answers = [self.alpha[valid[self.tie[valid].argmin()]]] if len(valid) else []
        answers += list(self._at_bounds_only(subset))
        if not answers:
            return np.zeros(self.n)
        best = min(answers, key=lambda alpha: float(weights @ alpha))
        return np.where(best > 1e-7 * self.upper, best, 0.0)

    def objective(self, alpha: np.ndarray) -> float:
        return float(self.problem.linear @ alpha - 0.5 * alpha @ self.Q @ alpha)

    def models(self) -> dict[tuple[int, ...], float]:
        """Objective by support of every distinct canonical answer over all subsets."""
        found = {}
        for subset in range(1, 1 << self.n):
            if len(set(self.problem.y[bits(subset, self.n)])) == 2:
                alpha = self.canonical(subset)
                found[tuple(np.flatnonzero(alpha).tolist())] = self.objective(alpha)
        return found


def models_by_copies(
    problem: SvmProblem, allowed: np.ndarray | None = None, floor: np.ndarray | None = None
) -> dict[tuple[int, ...], float]:
    """Objective by copies used of every distinct canonical answer over all numbers of copies between two boxes."""
    found = {}
    most = problem.copies if allowed is None else allowed
    least = np.zeros_like(most) if floor is None else floor
    for chosen in itertools.product(*(range(low, high + 1) for low, high in zip(least, most, strict=True))):
        counts = np.array(chosen)
        if len(set(problem.y[counts > 0])) < 2:
            continue
        oracle = BruteForce(problem, counts * problem.cost)
        alpha = oracle.canonical(int(masks((counts > 0)[None])[0]))
        found[tuple(np.ceil(alpha / problem.cost - 1e-7).astype(int).tolist())] = oracle.objective(alpha)
    return found
