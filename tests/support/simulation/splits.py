"""How often a fairer model is confirmed, and what accuracy it costs, by the split of a made table.

A stand-in for an audit that takes milliseconds: linear models (least squares) with a price on the difference of their
scores between two groups, of which the selection split chooses the fairest within the tolerance, and the holdout tests
the choice by paired normal limits. What is true of a model is measured on far more rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import stats

from fairenum.document.options import Sizes
from fairenum.document.split_power import powerful_shares, spelled_sizes

PRICES = np.r_[0.0, np.geomspace(0.02, 20.0, 15)]
TOLERANCE = 0.01
MANY = 40_000
CRITICAL = stats.norm.isf(0.02)  # of the claim: 4 % of error, shared by two sides
FLOOR = stats.norm.isf(0.05)
SHIFT, SHARE = 1.0, 0.35  # of the group that is worse off: by how much, and how large it is


@dataclass(frozen=True)
class Made:
    """A kind of table: rows, columns, and the share of favourable labels."""

    rows: int
    columns: int
    favourable: float = 0.5

    @property
    def rarer(self) -> int:
        return round(self.rows * min(self.favourable, 1.0 - self.favourable))


@dataclass(frozen=True)
class Drawn:
    X: np.ndarray  # with a column of ones
    is_worse_off: np.ndarray
    y: np.ndarray

    def take(self, rows: slice) -> Drawn:
        return Drawn(self.X[rows], self.is_worse_off[rows], self.y[rows])


@dataclass(frozen=True)
class Found:
    """What comes of a split, as shares of runs, and the true accuracy of model 1.

    A truly fairer model is shown to be fairer, and to be as good as well; a model is said to be fairer that is not.
    """

    fairer: float
    as_good: float
    wrong: float
    accuracy: float


def merit(rng: np.random.Generator, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, group and merit; two features carry merit and group, all further ones a little merit."""
    worse = rng.random(rows) < SHARE
    X = rng.standard_normal((rows, columns))
    X[:, 1] -= SHIFT * worse
    X[:, 2] -= 0.3 * SHIFT * worse
    rest = columns - 3
    weights = np.r_[1.0, 0.5, 0.5, np.full(rest, 0.6 / np.sqrt(max(rest, 1)))]
    return X, worse, X @ weights + 1.3 * rng.standard_normal(rows)


@cache
def cut(columns: int, favourable: float) -> float:
    return float(np.quantile(merit(np.random.default_rng(99), 100_000, columns)[2], 1.0 - favourable))


def draw(rng: np.random.Generator, kind: Made, rows: int) -> Drawn:
    X, worse, value = merit(rng, rows, kind.columns)
    return Drawn(np.c_[np.ones(rows), X], worse, value > cut(kind.columns, kind.favourable))


def family(train: Drawn) -> np.ndarray:
    """Return planes of linear models, the first without a price on the difference between groups."""
    X, rows = train.X, len(train.y)
    balance = np.where(train.y, 0.5 / train.y.mean(), 0.5 / (1.0 - train.y.mean()))
    gram = (X.T * balance) @ X + 1e-5 * rows * np.eye(X.shape[1])
    between = X[~train.is_worse_off].mean(0) - X[train.is_worse_off].mean(0)
    target = X.T @ (balance * np.where(train.y, 1.0, -1.0))
    return np.array([np.linalg.solve(gram + price * rows * np.outer(between, between), target) for price in PRICES])


def decided(planes: np.ndarray, rows: Drawn) -> np.ndarray:
    return (rows.X @ planes.T >= 0.0).T


def gaps(decisions: np.ndarray, rows: Drawn) -> np.ndarray:
    return decisions[:, ~rows.is_worse_off].mean(1) - decisions[:, rows.is_worse_off].mean(1)


def accuracy(decisions: np.ndarray, rows: Drawn) -> np.ndarray:
    """Balanced accuracy, as labels are weighted."""
    return (decisions[:, rows.y].mean(1) + (~decisions[:, ~rows.y]).mean(1)) / 2.0


def shown(decisions: np.ndarray, rows: Drawn) -> tuple[bool, bool]:
    """Tell whether the second model is shown to be fairer than the first, and its loss to be within the tolerance."""
    first, other = decisions.astype(float)
    change, noise = _contrast(other - first, rows.is_worse_off)
    both, spread = _contrast(other + first, rows.is_worse_off)
    above, below = change - CRITICAL * noise > 0.0, change + CRITICAL * noise < 0.0
    is_fairer = (below and both - CRITICAL * spread > 0.0) or (above and both + CRITICAL * spread < 0.0)
    gain, doubt = _contrast((other - first) / 2.0, ~rows.y)  # of the favourable label minus that of the other
    return is_fairer, gain - FLOOR * doubt >= -TOLERANCE


def _contrast(values: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Return the difference of means between two sets of rows, and its standard error."""
    parts = values[~second], values[second]
    error = np.sqrt(sum(part.var(ddof=1) / len(part) for part in parts))
    return float(parts[0].mean() - parts[1].mean()), float(error)


def simulated(kind: Made, splits: Iterable[Sizes], runs: int, seed: int = 0) -> dict[Sizes, Found]:
    """Return what comes of each split, on the same tables."""
    rng = np.random.default_rng([seed, kind.rows, kind.columns])
    everybody, found = draw(rng, kind, MANY), {sizes: [] for sizes in splits}
    for _ in range(runs):
        table = draw(rng, kind, kind.rows)
        for sizes, outcomes in found.items():
            outcomes.append(_outcome(table, sizes, everybody))
    return {sizes: Found(*np.mean(outcomes, axis=0)) for sizes, outcomes in found.items()}


def _outcome(table: Drawn, sizes: Sizes, everybody: Drawn) -> tuple[bool, bool, bool, float]:
    first, second = (round(share * len(table.y)) for share in (sizes[0], sizes[0] + sizes[1]))
    planes, selection = family(table.take(slice(first))), table.take(slice(first, second))
    decisions = decided(planes, selection)
    scores = accuracy(decisions, selection)
    chosen = int(np.where(scores >= scores[0] - TOLERANCE, np.abs(gaps(decisions, selection)), 9.0).argmin())
    pair = planes[[0, chosen]]
    truth = decided(pair, everybody)
    true_gaps, true_accuracy = np.abs(gaps(truth, everybody)), accuracy(truth, everybody)
    if not chosen:
        return False, False, False, float(true_accuracy[0])
    is_fairer, is_as_good = shown(decided(pair, table.take(slice(second, None))), table.take(slice(second, None)))
    is_true = bool(true_gaps[1] < true_gaps[0])
    return (
        is_fairer and is_true,
        is_fairer and is_as_good and is_true,
        is_fairer and not is_true,
        float(true_accuracy[0]),
    )


FORMER: Sizes = (0.6, 0.2, 0.2)
KINDS = (
    Made(1000, 6),
    Made(1000, 20),
    Made(2000, 6),
    Made(2000, 20),
    Made(2000, 60),
    Made(5000, 20),
    Made(5000, 60),
    Made(2000, 10, 0.15),
    Made(5000, 20, 0.15),
)
RUNS = 300


@cache
def compared(kind: Made) -> tuple[Sizes, Found, Found]:
    """Return the split that the rule gives, and what comes of 0.6,0.2,0.2 and of that split."""
    sizes = powerful_shares(kind.rarer, kind.columns)
    found = simulated(kind, (FORMER, sizes), RUNS)
    return sizes, found[FORMER], found[sizes]


def split_row(kind: Made) -> str:
    """A row of the table in docs/statistics.md: what comes of 0.6,0.2,0.2 and of the split by the rule."""
    sizes, *both = compared(kind)
    cells = [f"{kind.rows}", f"{kind.columns}", f"{kind.favourable:.0%}".replace("%", " %"), spelled_sizes(sizes)]
    cells += [" / ".join(f"{getattr(one, name):.2f}" for one in both) for name in ("fairer", "as_good")]
    cells.append(" / ".join(f"{one.accuracy:.3f}" for one in both))
    return f"| {' | '.join(cells)} |"
