"""Tables whose numbers are hard on a solver, each with a machine: scales, ranks, costs, sizes, labels and kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairenum.problem import Kernel, SvmProblem

LINEAR = Kernel()
COSTS = (1e-6, 1e-3, 1.0, 1e3, 1e6)
SCALES = (1e-8, 1e-4, 1e4, 1e6, 1e8)
Rows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Hard:
    """A family of tables by their number of rows, with a machine for them.

    Attributes
    ----------
    kind, what
        Its place in the list of what is tried, and in a few signs what is special about it.
    draw
        Makes features and labels, given a number of rows.
    rows, audited
        How many rows are solved for at once, and how many are audited.
    """

    kind: str
    what: str
    draw: Callable[[int], Rows]
    cost: float = 1.0
    kernel: Kernel = LINEAR
    rows: int = 60
    audited: int = 240

    @property
    def name(self) -> str:
        return f"{self.kind}: {self.what}"

    def problem(self) -> SvmProblem:
        return SvmProblem(*self.draw(self.rows), self.cost, kernel=self.kernel)

    def frame(self) -> pd.DataFrame:
        """A table for the command line: a label, a group, and the features with all their digits."""
        X, y = self.draw(self.audited)
        group = np.random.default_rng(1).choice(["a", "b"], len(y))
        features = {f"x{place}": column for place, column in enumerate(X.T)}
        return pd.DataFrame({"y": np.where(y > 0, "yes", "no"), "g": group, **features})

    def options(self) -> list[str]:
        """The machine, as the command line takes it."""
        kernel = self.kernel
        own = [] if kernel.name == "linear" else ["--kernel", kernel.name, "--gamma", f"{kernel.gamma:g}"]
        own += ["--degree", str(kernel.degree), "--coef0", f"{kernel.coef0:g}"] if kernel.name == "poly" else []
        return ["--C", f"{self.cost:g}", *own]


def hard_numbers() -> Iterator[Hard]:
    """Yield all that is tried."""
    for scale in SCALES:
        yield Hard("scale", f"{scale:g}", lambda n, by=scale: _scaled(overlapping(n), by))
    yield Hard("scale", "1e-8, 1, 1e4, 1e8 side by side", lambda n: _scaled(overlapping(n), [1e-8, 1.0, 1e4, 1e8]))
    yield Hard("scale", "1e8 from 0", lambda n: _moved(overlapping(n), 1e8))
    for cost in COSTS:
        yield Hard("C", f"{cost:g}", overlapping, cost)
        yield Hard("C, separable", f"{cost:g}", separable, cost)
    for apart in (1e-4, 1e-8, 1e-12):
        for cost in (1.0, 1e6):
            yield Hard("collinear to", f"{apart:g}, C = {cost:g}", lambda n, by=apart: _collinear(n, by), cost)
    yield from _each_cost("rank 4 of 11 columns", _deficient)
    yield from _each_cost("n = 2", lambda _: (np.array([[0.0, 1.0], [1.0, 3.0]]), np.array([-1.0, 1.0])), 2, 2)
    yield from _each_cost("n = 2, equal rows", lambda _: (np.ones((2, 2)), np.array([-1.0, 1.0])), 2, 2)
    yield from _each_cost("one example of a class", lambda n: _rare(n, 1))
    yield from _each_cost("imbalance of 99.9 %", lambda n: _rare(n, n // 1000), 2000, 5000)
    yield from _each_cost("equal rows, both labels", _contradictory)
    yield from _each_cost("all rows equal", lambda n: (np.ones((n, 3)), np.where(np.arange(n) % 5 < 2, 1.0, -1.0)))
    yield from _each_cost("d > n", lambda n: separable(n, 2 * n), 20, 60)
    for scale in (1e-8, 1e8):
        wide = lambda n, by=scale: _scaled(separable(n, 2 * n), by)  # noqa: E731
        yield Hard("d > n", f"scale {scale:g}", wide, rows=20, audited=60)
    for gamma in (1e-12, 1e-6, 1e6, 1e12):
        for cost in (1.0, 1e6):
            yield Hard("rbf", f"gamma = {gamma:g}, C = {cost:g}", overlapping, cost, Kernel("rbf", gamma), audited=100)
    for cost in (1e-6, 1.0, 1e6):
        yield Hard("poly 5", f"C = {cost:g}", overlapping, cost, Kernel("poly", 0.25, 5, 1.0))
    for scale in (1e-8, 1e-2, 1e2, 1e8):
        kernel = Kernel("poly", 0.25, 5, 1.0)
        yield Hard("poly 5", f"scale {scale:g}", lambda n, by=scale: _scaled(overlapping(n), by), 1.0, kernel)


def _each_cost(kind: str, draw: Callable[[int], Rows], rows: int = 60, audited: int = 240) -> Iterator[Hard]:
    for cost in (1e-6, 1.0, 1e6):
        yield Hard(kind, f"C = {cost:g}", draw, cost, LINEAR, rows, audited)


def overlapping(n: int, d: int = 4) -> Rows:
    """Draw labels that depend on the first feature and on chance."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)


def separable(n: int, d: int = 4) -> Rows:
    """Draw labels that the first feature tells."""
    X, _ = overlapping(n, d)
    return X, np.where(X[:, 0] > 0, 1.0, -1.0)


def _scaled(rows: Rows, by: float | list[float]) -> Rows:
    return rows[0] * by, rows[1]


def _moved(rows: Rows, by: float) -> Rows:
    return rows[0] + by, rows[1]


def _collinear(n: int, apart: float) -> Rows:
    X, y = overlapping(n)
    return np.column_stack([X, X[:, 0] + apart * np.random.default_rng(1).normal(size=n)]), y


def _deficient(n: int) -> Rows:
    X, y = overlapping(n)
    return np.column_stack([X, X[:, 0] + X[:, 1], X, np.ones(n), np.zeros(n)]), y


def _rare(n: int, count: int) -> Rows:
    X, _ = overlapping(n)
    y = -np.ones(n)
    y[np.arange(count) * (n // (count + 1)) + 3] = 1.0
    return X, y


def _contradictory(n: int) -> Rows:
    X, _ = overlapping(n // 4)
    return np.repeat(X, 4, axis=0), np.tile([1.0, -1.0], n // 2)
