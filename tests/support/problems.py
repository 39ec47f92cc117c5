"""Small SVM problems: continuous, tied as real tables are, scenes for attackers, and numbers hard on a solver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from fairenum.attack.scene import Scene
from fairenum.document.training import SvmSettings
from fairenum.enumeration.division import EncodedRows
from fairenum.svm.problem import Kernel, SvmProblem
from fairenum.tables import Groups

# --- problems for hypothesis ---

KINDS = ("continuous", "hypercube", "grid", "rounded")
KERNELS = (Kernel("linear"), Kernel("rbf", 0.5), Kernel("poly", 0.5, 2, 1.0))


def table(kind: str, rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    if kind == "hypercube":
        return rng.integers(0, 2, size=(n, d)).astype(float)
    if kind == "grid":
        return rng.integers(-2, 3, size=(n, d)).astype(float)
    values = rng.normal(size=(n, d))
    return np.round(values, 1) if kind == "rounded" else values


def labels(rng: np.random.Generator, n: int) -> np.ndarray:
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return y


def posed(n: int = 60, d: int = 3, kind: str = "continuous", seed: int = 0, **arguments) -> SvmProblem:
    """One problem with labels that nothing explains."""
    rng = np.random.default_rng(seed)
    return SvmProblem(table(kind, rng, n, d), labels(rng, n), **arguments)


def class_weights(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """A weight per class: simple ratios, so that sums of boxes tie, and steep ones."""
    favourable, unfavourable = rng.choice([0.1, 0.5, 1.0, 3.0, 20.0], size=2)
    return np.where(y > 0, favourable, unfavourable)


def example_weights(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    return rng.choice([0.25, 0.5, 1.0, 2.0, 5.0], size=len(y))


WEIGHTS = (class_weights, example_weights)


@st.composite
def problems(draw, max_size=7, kinds=KINDS, kernels=KERNELS, copies=False, boxes=False):
    """Draw a problem; with `boxes` its cost differs by class or by example."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, max_size)), draw(st.integers(1, 3))
    X, y = table(draw(st.sampled_from(kinds)), rng, n, d), labels(rng, n)
    cost = draw(st.sampled_from((0.01, 0.1, 1.0, 10.0, 100.0)))
    counts = rng.integers(1, 4, size=n) if copies else None
    weights = draw(st.sampled_from(WEIGHTS))(rng, y) if boxes else 1.0
    return SvmProblem(X, y, cost * weights, counts, draw(st.sampled_from(kernels)))


# --- scenes for attackers ---


def scene(seed, n=24, kind="continuous", C=1.0, kernel="linear", direction=0, sees="train", class_weight="none"):
    """Draw rows of two groups whose first feature leans with the group; group 1, "b", is the target."""
    rng = np.random.default_rng(seed)
    train, audited = (encoded_rows(rng, n, kind) for _ in range(2))
    return Scene(
        train=train,
        watched=train if sees == "train" else audited,
        target=1,
        direction=direction,
        metric="demographic_parity_difference",
        svm=SvmSettings(C=C, kernel=kernel, gamma=0.5, class_weight=class_weight),
        seed=seed,
    )


def encoded_rows(rng, n, kind="continuous"):
    """Draw rows of the groups "a" and "b"."""
    codes = rng.integers(0, 2, size=n)
    codes[:2] = 0, 1
    X = table(kind, rng, n, 3)
    X[:, 0] += codes
    y = labels(rng, n)
    return EncodedRows(X, y, Groups(codes, ("a", "b")))


# --- numbers that are hard on a solver: scales, ranks, costs, sizes, labels and kernels ---

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
        """The svm, as the command line takes it."""
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
