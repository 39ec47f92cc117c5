"""The problems on which solvers are examined: small and realistic, easy and degenerate, made from a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fairenum.matrices import Matrix, as_csr
from fairenum.problem import FloatArray, IntArray, Kernel, SvmProblem

SIZES = (2, 7, 40, 150, 400)
ORDINARY_COST, ORDINARY_LENGTH = 1.0, 1e6

LINEAR = Kernel("linear")
RBF = Kernel("rbf", gamma=0.5)
POLY = Kernel("poly", gamma=0.3, degree=3, coef0=1.0)

# Every kernel with an ordinary cost; a tiny cost puts all examples at their bounds, a huge one none if it can.
SETTINGS: tuple[tuple[Kernel, float], ...] = (
    (LINEAR, 1.0),
    (RBF, 1.0),
    (LINEAR, 1e-4),
    (LINEAR, 1e4),
    (POLY, 1.0),
    (LINEAR, 1e6),
    (RBF, 1e4),
)


# Discrete columns tie examples by the dozen; in larger boxes the rounding of alpha hides which answer is canonical.
HIGHEST_COST = {"duplicates": 1e5, "hypercube": 1e5, "copies": 2e4, "weights": 2e4, "categories": 2e4}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Case:
    """A problem with a name, and the seed from which further choices on it are drawn."""

    name: str
    problem: SvmProblem
    seed: int

    def __repr__(self) -> str:
        return self.name

    @property
    def is_ordinary(self) -> bool:
        """Whether a solver is expected to finish it by itself, without the core's polish."""
        problem = self.problem
        lengths = problem.kernel(problem.X, problem.X).diagonal()
        return bool(problem.cost.max() <= ORDINARY_COST and lengths.max() <= ORDINARY_LENGTH)


@lru_cache(maxsize=4)
def conformance_cases(sizes: tuple[int, ...] = SIZES, seed: int = 0, thorough: bool = False) -> tuple[Case, ...]:
    """Return the cases: two settings of kernel and cost per kind and size in turn, or all of them."""
    return tuple(_cases(sizes, seed, thorough))


def _cases(sizes: tuple[int, ...], seed: int, thorough: bool) -> Iterator[Case]:
    for round_, size in enumerate(sizes):
        for place, (kind, draw) in enumerate(KINDS.items()):
            X, y, copies, shares = draw(np.random.default_rng([seed, size, place]), size)
            first = round_ + 2 * place  # so that no kind meets the same settings at every size
            for number in range(len(SETTINGS)) if thorough else (first, first + 1):
                kernel, cost = SETTINGS[number % len(SETTINGS)]
                cost = min(cost, HIGHEST_COST.get(kind, cost))
                problem = SvmProblem(X, y, cost * shares, copies, kernel)
                yield Case(f"{kind}-{size}-{kernel.name}-{cost:g}", problem, seed)


# Features, labels, copies, and the share of the cost that a copy of each example has: 1 at most.
Drawn = tuple[Matrix, FloatArray, IntArray | None, FloatArray]


def _labels(score: FloatArray) -> FloatArray:
    """Return the signs of a score, with both signs present."""
    y = np.where(score > 0, 1.0, -1.0)
    if abs(y.sum()) == len(y):
        y[np.abs(score).argmin()] *= -1.0
    return y


def _random(rng: np.random.Generator, n: int) -> Drawn:
    X = rng.normal(size=(n, 5))
    return X, _labels(X @ rng.normal(size=5) + rng.normal(size=n)), None, np.ones(n)


def _separable(rng: np.random.Generator, n: int) -> Drawn:
    X = rng.normal(size=(n, 5))
    y = _labels(X[:, 0])
    X[:, 0] += 0.5 * y
    return X, y, None, np.ones(n)


def _duplicates(rng: np.random.Generator, n: int) -> Drawn:
    X = rng.integers(0, 3, size=(n, 3)).astype(float)
    return X, _labels(X[:, 0] - X[:, 1] + rng.normal(size=n)), None, np.ones(n)


def _hypercube(rng: np.random.Generator, n: int) -> Drawn:
    X = rng.integers(0, 2, size=(n, 8)).astype(float)
    return X, _labels(X.sum(axis=1) - 4.0 + rng.normal(size=n)), None, np.ones(n)


def _constant_columns(rng: np.random.Generator, n: int) -> Drawn:
    X = rng.normal(size=(n, 6))
    X[:, 2], X[:, 4] = 3.0, 0.0
    return X, _labels(X[:, 0] + rng.normal(size=n)), None, np.ones(n)


def _imbalanced(rng: np.random.Generator, n: int) -> Drawn:
    X = rng.normal(size=(n, 4))
    score = X[:, 0] + rng.normal(size=n)
    few = max(1, n // 20)
    return X, _labels(score - np.sort(score)[-few] + 1e-9), None, np.ones(n)


def _counts_and_copies(rng: np.random.Generator, n: int) -> Drawn:
    """Raw counts beside 0/1 columns, each example standing for several identical records."""
    counts = rng.poisson(3.0, size=n) * rng.integers(1, 5, size=n)
    X = np.column_stack([counts, rng.integers(0, 2, size=(n, 6))]).astype(float)
    copies = rng.integers(1, 13, size=n).astype(np.intp)
    return X, _labels(counts - 6.0 + 4.0 * rng.normal(size=n)), copies, np.ones(n)


def _class_weights(rng: np.random.Generator, n: int) -> Drawn:
    """A rare label whose few examples cost as much as all others together: a box per class."""
    X, y, copies, _ = _imbalanced(rng, n)
    counts = np.array([(y < 0).sum(), (y > 0).sum()])
    return X, y, copies, counts.min() / counts[(y > 0).astype(np.intp)]


def _row_weights(rng: np.random.Generator, n: int) -> Drawn:
    """Copies of tied records that count differently, as in a survey: a box per example."""
    X, y, copies, _ = _counts_and_copies(rng, n)
    return X, y, copies, rng.choice([0.1, 0.25, 0.5, 1.0], size=n)


def _categories(rng: np.random.Generator, n: int) -> Drawn:
    """Values of categories as columns of 0 and 1, most of it 0 and kept without its zeros, beside a number."""
    codes = np.minimum(rng.geometric(0.3, size=(n, 3)) - 1, 6)
    X = np.column_stack([rng.normal(size=n), *(np.eye(7)[column] for column in codes.T)])
    return as_csr(X), _labels(X @ rng.normal(size=22) + rng.normal(size=n)), None, np.ones(n)


KINDS: dict[str, Callable[[np.random.Generator, int], Drawn]] = {
    "random": _random,
    "separable": _separable,
    "duplicates": _duplicates,
    "hypercube": _hypercube,
    "constant": _constant_columns,
    "imbalanced": _imbalanced,
    "copies": _counts_and_copies,
    "classes": _class_weights,
    "weights": _row_weights,
    "categories": _categories,
}
