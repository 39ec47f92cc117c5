"""Conformance tests for solver plugins, bundled and third-party alike.

From a test suite::

    @pytest.mark.parametrize("case", conformance_cases(), ids=str)
    def test_conformance(case):
        check_case(MySolver(), case)

or from a shell: ``python -m fairenum.solvers.conformance NAME``. All solvers are held to the same tolerances.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np

from fairenum.errors import FairenumError
from fairenum.solvers.certified import CertifiedWorkspace
from fairenum.solvers.protocol import SolverPlugin, Tolerance
from fairenum.solvers.registry import list_solvers, load_solver, open_workspace
from fairenum.svm.problem import FloatArray, IntArray, Kernel, Solution, SvmProblem
from fairenum.svm.sparse_or_dense import Matrix, as_csr

__all__ = ["Case", "CaseResult", "Report", "check_case", "check_solver", "conformance_cases"]

SIZES = (2, 7, 40, 150, 400)
ORDINARY_COST, ORDINARY_LENGTH = 1.0, 1e6
LINEAR = Kernel("linear")
RBF = Kernel("rbf", gamma=0.5)
POLY = Kernel("poly", gamma=0.3, degree=3, coef0=1.0)
# Every kernel with an ordinary cost; a tiny cost puts all examples at their bounds, a huge one none if possible.
SETTINGS: tuple[tuple[Kernel, float], ...] = (
    (LINEAR, 1.0),
    (RBF, 1.0),
    (LINEAR, 1e-4),
    (LINEAR, 1e4),
    (POLY, 1.0),
    (LINEAR, 1e6),
    (RBF, 1e4),
)
# Discrete columns tie dozens of examples; in larger boxes the rounding of alpha hides which answer is canonical.
HIGHEST_COST = {"duplicates": 1e5, "hypercube": 1e5, "copies": 2e4, "weights": 2e4, "categories": 2e4}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Case:
    """A named test problem, with the seed of the random choices that tests make on it."""

    name: str
    problem: SvmProblem
    seed: int

    def __repr__(self) -> str:
        return self.name

    @property
    def is_ordinary(self) -> bool:
        """Whether cost and kernel values are so small that a solver must reach the optimum rather than give up."""
        problem = self.problem
        lengths = problem.kernel(problem.X, problem.X).diagonal()
        return bool(problem.cost.max() <= ORDINARY_COST and lengths.max() <= ORDINARY_LENGTH)


@lru_cache(maxsize=4)
def conformance_cases(sizes: tuple[int, ...] = SIZES, seed: int = 0, thorough: bool = False) -> tuple[Case, ...]:
    """Return test cases: for each kind of data and size, two pairs of kernel and cost, or all pairs if `thorough`."""
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


# Features, labels, copies, and per example the share (at most 1) of the cost that each copy has.
Drawn = tuple[Matrix, FloatArray, IntArray | None, FloatArray]


def _labels(score: FloatArray) -> FloatArray:
    """Return the signs of a score as labels, with one of them changed if needed so that both labels occur."""
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
    """Return a column of counts beside 0/1 columns; each example stands for several identical records."""
    counts = rng.poisson(3.0, size=n) * rng.integers(1, 5, size=n)
    X = np.column_stack([counts, rng.integers(0, 2, size=(n, 6))]).astype(float)
    copies = rng.integers(1, 13, size=n).astype(np.intp)
    return X, _labels(counts - 6.0 + 4.0 * rng.normal(size=n)), copies, np.ones(n)


def _class_weights(rng: np.random.Generator, n: int) -> Drawn:
    """Return data with a rare class, and costs per class such that both classes have the same total cost."""
    X, y, copies, _ = _imbalanced(rng, n)
    counts = np.array([(y < 0).sum(), (y > 0).sum()])
    return X, y, copies, counts.min() / counts[(y > 0).astype(np.intp)]


def _row_weights(rng: np.random.Generator, n: int) -> Drawn:
    """Return data with many ties, in which each example stands for several records and has a weight, as in a survey."""
    X, y, copies, _ = _counts_and_copies(rng, n)
    return X, y, copies, rng.choice([0.1, 0.25, 0.5, 1.0], size=n)


def _categories(rng: np.random.Generator, n: int) -> Drawn:
    """Return three one-hot encoded categories and one numeric column, as a sparse matrix."""
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
TOLERANCE = Tolerance()
# Two routes to an answer may differ by rounding times the condition of its margin set; supports may not differ.
SAME_ALPHA = 1e-6


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A solver's result on one case: relative duality gap, time, and a text on what failed (empty if nothing did)."""

    case: str
    gap: float
    seconds: float
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The results of one solver on all cases."""

    solver: str
    results: tuple[CaseResult, ...]

    @property
    def failures(self) -> tuple[CaseResult, ...]:
        """The results of the cases that failed."""
        return tuple(result for result in self.results if result.failure)

    def __str__(self) -> str:
        kinds: dict[str, list[CaseResult]] = {}
        for result in self.results:
            kinds.setdefault(result.case.partition("-")[0], []).append(result)
        lines = [f"{self.solver:<12}{'cases':>8}{'failed':>8}{'worst gap':>12}{'seconds':>10}"]
        lines += [_row(kind, results) for kind, results in kinds.items()]
        lines.append(_row("all", list(self.results)))
        return "\n".join(lines + [result.failure for result in self.failures])


def _row(title: str, results: list[CaseResult]) -> str:
    failed = sum(bool(result.failure) for result in results)
    gap = max((result.gap for result in results), default=0.0)
    seconds = sum(result.seconds for result in results)
    return f"{title:<12}{len(results):>8}{failed:>8}{gap:>12.1e}{seconds:>10.1f}"


def check_solver(plugin: SolverPlugin, sizes: tuple[int, ...] = SIZES, seed: int = 0, thorough: bool = False) -> Report:
    """Return the results of a plugin on all cases, going on after failures."""
    return Report(plugin.name, tuple(_examined(plugin, case) for case in conformance_cases(sizes, seed, thorough)))


def check_case(plugin: SolverPlugin, case: Case) -> Solution:
    """Return a plugin's solution of one case; raise an `AssertionError` that says which requirement is violated."""
    examination = Examination(plugin, case)
    for requirement in REQUIREMENTS:
        try:
            requirement(examination)
        except (AssertionError, FairenumError) as error:
            rule = requirement.__name__.strip("_").replace("_", " ")
            raise AssertionError(f"solver {plugin.name!r} on {case}: {rule}: {error}") from error
    return examination.answer


def _examined(plugin: SolverPlugin, case: Case) -> CaseResult:
    started = time.perf_counter()
    gap, failure = np.inf, ""
    try:
        gap = check_case(plugin, case).certificate.relative_gap
    except AssertionError as error:
        failure = str(error)
    return CaseResult(case.name, gap, time.perf_counter() - started, failure)


class Examination:
    """One plugin on one case: its workspace, and its solutions for the full upper bounds and for smaller ones."""

    def __init__(self, plugin: SolverPlugin, case: Case) -> None:
        self.plugin, self.case, self.problem = plugin, case, case.problem

    @cached_property
    def workspace(self) -> CertifiedWorkspace:
        """The certified workspace in which the plugin has opened the problem of this case."""
        return open_workspace(self.plugin, self.problem, TOLERANCE)

    @cached_property
    def answer(self) -> Solution:
        """The plugin's solution for the full upper bounds."""
        return self.workspace.solve()

    @cached_property
    def objective(self) -> float:
        """The dual objective at the alpha of `answer`."""
        return self.problem.objective(self.answer.alpha)

    @cached_property
    def smaller(self) -> FloatArray:
        """Upper bounds that are 0 for about a third of the examples and halved for another third."""
        return np.asarray(self.problem.upper * self.rng.choice([0.0, 0.5, 1.0], size=self.problem.size))

    @cached_property
    def smaller_answer(self) -> Solution:
        """The plugin's solution for the smaller upper bounds, from a cold start."""
        return self.workspace.solve(self.smaller)

    @property
    def rng(self) -> np.random.Generator:
        """A new random generator for choices on this case, with the same seed on every access."""
        return np.random.default_rng([self.case.seed, self.problem.size])


def answers_are_proven(exam: Examination) -> None:
    """Check that each alpha is within its bounds, ``y'alpha`` is 0, and the relative gap is within the tolerance."""
    for solution in (exam.answer, exam.smaller_answer):
        alpha = solution.alpha
        assert (alpha >= 0).all(), f"an alpha is negative: {alpha.min():.2g}"
        assert (alpha <= solution.upper).all(), "an alpha is larger than its box"
        imbalance = abs(float(exam.problem.y @ alpha))
        assert imbalance <= TOLERANCE.gap * max(alpha.sum(), 1e-300), f"y'alpha is {imbalance:.2g}, not 0"
        gap = solution.certificate.relative_gap
        assert gap <= TOLERANCE.gap, f"relative gap {gap:.2g}, allowed {TOLERANCE.gap:.2g}"


def ordinary_problems_are_finished(exam: Examination) -> None:
    """Check that, on a case of ordinary cost, the plugin does not stop before the optimum, at a limit of its own."""
    if exam.case.is_ordinary:
        claim = exam.plugin.open(exam.problem, TOLERANCE).solve(exam.problem.upper)
        assert claim.finished, "the plugin gave up with finished=False on a problem of ordinary cost"


def left_out_examples_get_nothing(exam: Examination) -> None:
    """Check that an upper bound of 0 gives an alpha of exactly 0, and that all alpha are 0 if a class is left out."""
    left_out = exam.smaller_answer.alpha[exam.smaller == 0.0]
    assert not left_out.any(), f"an example that is left out has alpha {np.abs(left_out).max():.2g}"
    one_class = np.where(exam.problem.y > 0, exam.problem.upper, 0.0)
    assert not exam.workspace.solve(one_class).alpha.any(), "with one class left an alpha is not 0"


def same_input_gives_same_bytes(exam: Examination) -> None:
    """Check that alpha is the same, byte by byte, in a second workspace and after solving for other upper bounds."""
    assert exam.smaller_answer is not None  # solved in between
    for workspace in (exam.workspace, open_workspace(exam.plugin, exam.problem, TOLERANCE)):
        again = workspace.solve().alpha
        assert again.tobytes() == exam.answer.alpha.tobytes(), "the same problem gave other bytes"


def warm_start_equals_cold_start(exam: Examination) -> None:
    """Check that starting from another solution gives the same alpha, to rounding, as a cold start."""
    _assert_same(exam.workspace.solve(exam.smaller, exam.answer), exam.smaller_answer, "from a warm start")


def examples_without_weight_can_go(exam: Examination) -> None:
    """Check that alpha stays the same if examples with ``alpha = 0`` are left out.

    This is Assumption 1 of the paper whose enumeration is used here.
    """
    idle = np.flatnonzero(exam.answer.alpha == 0.0)
    for share in (1.0, 0.3):
        upper = exam.problem.upper.copy()
        upper[exam.rng.permutation(idle)[: int(np.ceil(share * len(idle)))]] = 0.0
        _assert_same(exam.workspace.solve(upper, exam.answer), exam.answer, "without idle examples")


def removal_paths_arrive(exam: Examination) -> None:
    """Check that paths which lower an upper bound, if there are any, end where `solve` does and bound the objective."""
    if not exam.workspace.removes:
        return
    slip = TOLERANCE.gap * exam.objective
    for example in exam.rng.permutation(exam.answer.support)[:5]:
        child = exam.workspace.solve(exam.answer.box_with(example, 0.0))
        best = exam.problem.objective(child.alpha)
        removal = exam.workspace.remove(exam.answer, int(example))
        assert removal.bound >= best - slip, "the bound is below the child's objective"
        arrived = removal.tighten(-np.inf)
        assert arrived is not None, "tighten(-inf) gave up"
        assert abs(removal.bound - best) <= slip, "the bound at the end is not the child's objective"
        _assert_same(arrived, child, "along a removal path")


def admitted_examples_come_back(exam: Examination) -> None:
    """Check that leaving an example out and readmitting it, if the plugin can, restores the objective."""
    if not exam.workspace.admits:
        return
    for example in exam.rng.permutation(exam.answer.support)[:5]:
        child = exam.workspace.solve(exam.answer.box_with(example, 0.0))
        back = exam.workspace.admit(child, int(example), float(exam.problem.upper[example]))
        apart = abs(exam.problem.objective(back.alpha) - exam.objective)
        assert apart <= TOLERANCE.gap * exam.objective, "letting an example in again gave another objective"


def all_solvers_agree(exam: Examination) -> None:
    """Check that every other installed solver finds the same support and the same objective."""
    for name in _available() - {exam.plugin.name}:
        if (other := _other_answer(name, exam.case)) is not None:
            _assert_same(exam.answer, other, f"against solver {name!r}")
            mine, theirs = exam.objective, exam.problem.objective(other.alpha)
            apart = abs(mine - theirs)
            assert apart <= TOLERANCE.gap * abs(theirs), f"objective {mine!r}, solver {name!r} finds {theirs!r}"


REQUIREMENTS = (
    answers_are_proven,
    ordinary_problems_are_finished,
    left_out_examples_get_nothing,
    same_input_gives_same_bytes,
    warm_start_equals_cold_start,
    examples_without_weight_can_go,
    removal_paths_arrive,
    admitted_examples_come_back,
    all_solvers_agree,
)


@cache
def _available() -> frozenset[str]:
    return frozenset(info.name for info in list_solvers() if info.is_available)


@cache
def _other_answer(name: str, case: Case) -> Solution | None:
    """Return another solver's solution of a case, or None if that solver fails."""
    try:
        return open_workspace(load_solver(name), case.problem, TOLERANCE).solve()
    except FairenumError:
        return None


def _assert_same(one: Solution, other: Solution, where: str) -> None:
    differing = np.setxor1d(one.support, other.support)
    assert len(differing) == 0, f"another support {where}: examples {differing[:5].tolist()}"
    apart = float(np.abs(one.alpha - other.alpha).max(initial=0.0))
    allowed = SAME_ALPHA * float(other.alpha.max(initial=0.0))
    assert apart <= allowed, f"alpha differs {where} by {apart:.2g}, allowed {allowed:.2g}"


def main(arguments: list[str] | None = None) -> int:
    """Examine one installed solver and print a table of its results; the exit status is 0 if it passed every case."""
    parser = argparse.ArgumentParser(prog="python -m fairenum.solvers.conformance", description=main.__doc__)
    parser.add_argument("name", help="the solver's name, as `fairenum solvers` lists it")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of examples")
    parser.add_argument("--seed", type=int, default=0, help="draw other problems")
    parser.add_argument("--thorough", action="store_true", help="every kernel and cost with every problem")
    options = parser.parse_args(arguments)
    try:
        plugin = load_solver(options.name)
    except FairenumError as error:
        parser.error(str(error))
    report = check_solver(plugin, tuple(options.sizes), options.seed, options.thorough)
    sys.stdout.write(f"{report}\n")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
