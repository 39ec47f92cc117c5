"""Made-up tables on which guardrails stand in the way of the guided search, and what it reaches there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairenum.document.guards import DEFAULT_GUARDS, Guard
from fairenum.document.training import Tolerances
from fairenum.enumeration.division import EncodedRows
from fairenum.enumeration.fairest import guard_excess
from fairenum.enumeration.guided import Bounds, GuidedSearch
from fairenum.enumeration.unfairness import ScoredModel, Watched
from fairenum.metrics import Groups
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import SvmProblem

DROP = 0.02
SOLVES = 100
Make = Callable[[int, int], EncodedRows]


def lenient(n: int, seed: int) -> EncodedRows:
    """Most are favoured, so that favouring nearly everybody closes the gap at little cost."""
    rng = np.random.default_rng(seed)
    codes, skill = rng.integers(0, 2, n), rng.normal(size=n)
    proxy = rng.normal(size=n) + codes
    y = np.where(skill + 0.7 * proxy + 0.8 * rng.normal(size=n) > -0.6, 1.0, -1.0)
    X = np.column_stack([skill, proxy, rng.normal(size=n)]).round(1)
    return EncodedRows(X, y, Groups(codes, ("a", "b"), "sex"))


def crossed(n: int, seed: int) -> EncodedRows:
    """What makes up for one column widens the gap of another."""
    rng = np.random.default_rng(seed)
    sex, town = rng.integers(0, 2, n), (rng.random(n) < 0.5).astype(int)
    skill, proxy = rng.normal(size=n), 0.7 * rng.normal(size=n) + sex
    place = 0.7 * rng.normal(size=n) + town - 0.5 * sex
    y = np.where(skill + 0.7 * proxy + 0.4 * place + 0.8 * rng.normal(size=n) > 0.35, 1.0, -1.0)
    X = np.column_stack([skill, proxy, place]).round(1)
    return EncodedRows(X, y, Groups(sex, ("a", "b"), "sex"), None, (Groups(town, ("u", "v"), "town"),))


def rare(n: int, seed: int) -> EncodedRows:
    """Few are favoured, and one group is small: taking from the other one closes the gap."""
    rng = np.random.default_rng(seed)
    sex = (rng.random(n) < 0.3).astype(int)
    skill, proxy = rng.normal(size=n), rng.normal(size=n) - 0.8 * sex
    y = np.where(skill + 0.7 * proxy + 0.8 * rng.normal(size=n) > 1.1, 1.0, -1.0)
    X = np.column_stack([skill, proxy, rng.normal(size=n)]).round(1)
    return EncodedRows(X, y, Groups(sex, ("a", "b"), "sex"))


def five(n: int, seed: int) -> EncodedRows:
    """Another column has five groups of uneven sizes, with gaps of their own."""
    rng = np.random.default_rng(seed)
    sex, town = rng.integers(0, 2, n), rng.choice(5, n, p=[0.35, 0.25, 0.2, 0.12, 0.08])
    skill, proxy = rng.normal(size=n), 0.7 * rng.normal(size=n) + sex - 0.15 * town
    place = 0.7 * rng.normal(size=n) + 0.4 * town
    y = np.where(skill + 0.7 * proxy + 0.8 * rng.normal(size=n) > 0.1, 1.0, -1.0)
    X = np.column_stack([skill, proxy, place]).round(1)
    return EncodedRows(X, y, Groups(sex, ("a", "b"), "sex"), None, (Groups(town, tuple("pqrst"), "town"),))


KINDS: tuple[tuple[Make, tuple[str, ...]], ...] = (
    (lenient, ("selection_rate=+-0.02",)),
    (lenient, DEFAULT_GUARDS),
    (crossed, ("demographic_parity_difference@town<=+0.02",)),
    (crossed, ("group_selection_rates>=-0.03",)),
    (crossed, DEFAULT_GUARDS),
    (rare, ("group_selection_rates>=-0.02",)),
    (rare, ("balanced_accuracy>=+0",)),
    (five, ("other_gaps<=+0.02",)),
    (five, DEFAULT_GUARDS),
)


@dataclass(frozen=True)
class Reached:
    """The least gap within the guardrails: of a search that knew them, and of one that did not; and the gap of model 1.

    `free` is the least gap whatever the guardrails say.
    """

    steered: float
    filtered: float
    free: float
    first: float


def reached(make: Make, guards: tuple[str, ...], seed: int) -> Reached:
    problem, rows = posed(make, seed)
    tolerances = Tolerances(max_performance_drop=DROP, guards=guards)
    free, steered = (found(problem, rows, some) for some in ((), tolerances.guardrails))
    return Reached(
        least_gap(steered, rows, tolerances),
        least_gap(free, rows, tolerances),
        least_gap(free, rows, Tolerances(max_performance_drop=DROP)),
        free[0].gap,
    )


def posed(make: Make, seed: int) -> tuple[SvmProblem, EncodedRows]:
    """Make rows to train on, and others to watch."""
    train = make(150, seed)
    return SvmProblem(train.X, train.y, 1.0), make(500, 100 + seed)


def found(problem: SvmProblem, rows: EncodedRows, guards: tuple[Guard, ...], **bounds: float) -> list[ScoredModel]:
    limits = Bounds(performance_drop=DROP, solves=SOLVES, **bounds)
    return list(GuidedSearch(open_workspace("path", problem), Watched(rows, guards=guards), limits))


def least_gap(models: list[ScoredModel], rows: EncodedRows, tolerances: Tolerances) -> float:
    """The least gap of models within the tolerances, guardrails among them; model 1 is never ruled out."""
    values = np.array([one.model.decision_function(rows.X) for one in models])
    excess = guard_excess(rows, values, tolerances)
    within = np.ones(len(models), bool) if excess is None else excess <= 1e-12
    within[0] = True
    enough = models[0].performance - DROP - 1e-12
    return min(
        one.gap for one, is_within in zip(models, within, strict=True) if is_within and one.performance >= enough
    )
