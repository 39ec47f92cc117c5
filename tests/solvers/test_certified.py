"""Certified workspaces: every plugin's answer is checked, polished and proven, or refused with the plugin's name."""

import threading

import numpy as np
import pytest

from fairenum.errors import AnswerRefused, ProblemError, SolverBroken
from fairenum.solvers.certified import CertifiedWorkspace
from fairenum.solvers.conformance import check_case, conformance_cases
from fairenum.solvers.protocol import Tolerance
from fairenum.solvers.registry import load_solver, open_workspace
from fairenum.svm.problem import Claim, Kernel, SvmProblem

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 3))
Y = np.where(X[:, 0] + RNG.normal(size=60) > 0, 1.0, -1.0)
PROBLEM = SvmProblem(X, Y)
BEST = open_workspace("path", PROBLEM).solve()


class Fake:
    """A plugin and its workspace in one; its answer is a function of the true optimum."""

    name, requires, install = "fake", (), ""

    def __init__(self, answer, problem=PROBLEM):
        self.answer, self.truth = answer, load_solver("path").open(problem, Tolerance())

    def open(self, problem, tolerance):
        return self

    def solve(self, upper, start=None):
        answer = self.answer(self.truth.solve(upper).alpha, upper)
        return answer if isinstance(answer, Claim) else Claim(answer)


class FakeWithPaths(Fake):
    """A plugin whose answers are certified without polish, also at the end of its paths."""

    bound = np.inf

    def remove(self, parent, example, upper=0.0):
        self.box = parent.box_with(example, upper)
        return self

    def tighten(self, below):
        return self.solve(self.box)

    def admit(self, parent, example, upper):
        return self.solve(parent.box_with(example, upper))


def solve(answer, plugin=Fake, **tolerance):
    return CertifiedWorkspace(plugin(answer), PROBLEM, Tolerance(**tolerance)).solve()


@pytest.mark.parametrize("plugin", [Fake, FakeWithPaths])
def test_an_honest_answer_is_proven_and_kept_from_changes(plugin):
    solution = solve(lambda alpha, upper: alpha.copy(), plugin)
    assert solution.certificate.relative_gap <= 1e-12
    assert solution.support.tolist() == BEST.support.tolist()
    assert not solution.alpha.flags.writeable


@pytest.mark.parametrize("noise", [1e-8, 1e-4])
def test_a_coarse_answer_is_polished_to_the_canonical_one(noise):
    shaken = solve(lambda alpha, upper: np.clip(alpha + noise * np.sin(np.arange(60)), 0.0, upper))
    assert shaken.support.tolist() == BEST.support.tolist()
    np.testing.assert_allclose(shaken.alpha, BEST.alpha, atol=1e-12)


def optimum_of_half_the_box(alpha, upper):
    return load_solver("path").open(PROBLEM, Tolerance()).solve(upper / 2).alpha


def constant(alpha, upper):
    return 0.1 * upper * np.where(Y > 0, (Y < 0).sum(), (Y > 0).sum()) / len(Y)


@pytest.mark.parametrize("lie", [optimum_of_half_the_box, constant, lambda alpha, upper: 0 * alpha])
def test_a_lie_is_refused_by_name_although_polish_could_mend_it(lie):
    with pytest.raises(
        AnswerRefused, match=r"solver 'fake' claimed an optimum that misses the proven one by \d+\.\d %"
    ):
        solve(lie)


def test_an_answer_that_is_not_called_finished_is_only_a_guess():
    def unfinished(alpha, upper):
        return Claim(constant(alpha, upper), finished=False)

    assert solve(unfinished).support.tolist() == BEST.support.tolist()
    infeasible = solve(lambda alpha, upper: Claim(alpha + 7.0, finished=False))
    assert infeasible.support.tolist() == BEST.support.tolist()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda alpha, upper: np.where(np.arange(60) == 7, np.nan, alpha), "not finite, first for example 7"),
        (lambda alpha, upper: np.full(60, np.inf), "not finite, first for example 0"),
        (lambda alpha, upper: alpha[:-1], r"did not return one number per example \(60\)"),
        (lambda alpha, upper: alpha[:, None], "did not return one number per example"),
        (lambda alpha, upper: alpha.astype(object), "did not return one number per example"),
        (lambda alpha, upper: alpha.tolist(), "did not return one number per example"),
        (lambda alpha, upper: alpha + 0.5, "left the box by 0.5; allowed 0.001"),
        (lambda alpha, upper: alpha - 0.01, "left the box by 0.01"),
        (lambda alpha, upper: np.where(Y > 0, alpha, 0.5 * alpha), "broke y'alpha = 0 by"),
    ],
)
@pytest.mark.parametrize("plugin", [Fake, FakeWithPaths])
def test_what_is_no_answer_is_refused_by_name(answer, words, plugin):
    with pytest.raises(AnswerRefused, match=f"solver 'fake' .*{words}"):
        solve(answer, plugin)


def test_something_that_is_no_claim_is_refused_by_name():
    class Speechless(Fake):
        def solve(self, upper, start=None):
            return "solved"

    with pytest.raises(AnswerRefused, match=r"solver 'fake' did not return one number .* received 'solved'"):
        solve(None, Speechless)


@pytest.mark.parametrize(
    "lie",
    [
        optimum_of_half_the_box,
        lambda alpha, upper: alpha + 1e-5 * (1 + Y * Y.sum() / -60),
        lambda alpha, upper: alpha * (1 - 1e-4),
    ],
    ids=["half the box", "outside the box", "a little less"],
)
def test_a_plugin_with_paths_is_not_believed_either(lie):
    with pytest.raises(AnswerRefused, match="solver 'fake' gave an answer that is not a proven optimum: relative gap"):
        solve(lie, FakeWithPaths)


def test_an_exception_is_reported_by_the_name_of_the_plugin():
    def explode(alpha, upper):
        raise ZeroDivisionError("by zero")

    with pytest.raises(SolverBroken, match="solver 'fake' failed: ZeroDivisionError: by zero") as caught:
        solve(explode)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(SolverBroken, match="solver 'fake' failed: SystemExit"):
        solve(lambda alpha, upper: exit())

    def refuse(alpha, upper):
        raise ProblemError("said by the plugin itself")

    with pytest.raises(ProblemError, match="said by the plugin itself"):
        solve(refuse)


def test_a_slow_plugin_is_stopped_by_name():
    done = threading.Event()
    with pytest.raises(SolverBroken, match=r"solver 'fake' gave no answer within 0.05 s; .* a longer time limit"):
        solve(lambda alpha, upper: done.wait(30), seconds=0.05)
    done.set()


def test_a_plugin_cannot_change_the_box_or_the_problem():
    def greedy(alpha, upper):
        upper *= 2
        return alpha

    with pytest.raises(SolverBroken, match=r"solver 'fake' failed: ValueError: .*read-only"):
        solve(greedy)
    box = PROBLEM.upper.copy()
    CertifiedWorkspace(Fake(lambda alpha, upper: alpha), PROBLEM).solve(box)
    box[0] = 0.5  # still the caller's own


def test_one_class_left_is_nothing_for_every_plugin():
    for plugin in (Fake(lambda alpha, upper: alpha), *map(load_solver, ("libsvm", "osqp", "path", "piqp"))):
        workspace = CertifiedWorkspace(plugin, PROBLEM)
        for upper in (np.where(Y > 0, 1.0, 0.0), np.where(Y < 0, 1.0, 0.0), np.zeros(60)):
            solution = workspace.solve(upper)
            assert not solution.alpha.any()
            assert solution.certificate.relative_gap == 0.0


def test_without_paths_a_child_is_bounded_first_and_solved_only_when_asked():
    workspace, example = CertifiedWorkspace(Fake(lambda alpha, upper: alpha), PROBLEM), int(BEST.support[0])
    assert not workspace.removes
    removal, expected = workspace.remove(BEST, example), workspace.solve(BEST.box_with(example, 0.0))
    lost = PROBLEM.upper[example] * BEST.slack[example]
    assert removal.bound == pytest.approx(BEST.certificate.bound - lost, rel=1e-12)
    assert removal.bound >= expected.certificate.objective
    assert removal.tighten(removal.bound + 1.0) is None
    child = removal.tighten(-np.inf)
    assert child.alpha.tobytes() == expected.alpha.tobytes()
    assert child.upper[example] == 0.0
    assert removal.bound == child.certificate.objective


def test_a_workspace_that_admits_no_examples_says_so():
    workspace = CertifiedWorkspace(Fake(lambda alpha, upper: alpha), PROBLEM)
    assert not workspace.admits
    with pytest.raises(SolverBroken, match=r"solver 'fake' admits no examples; use solve\(\)"):
        workspace.admit(BEST, 0, 1.0)


EXAMPLE = int(BEST.support[0])
PATHS = {
    "remove": lambda workspace: workspace.remove(BEST, EXAMPLE).tighten(-np.inf),
    "admit": lambda workspace: workspace.admit(open_workspace("path", PROBLEM).solve(BEST.box_with(0, 0.0)), 0, 1.0),
}


@pytest.mark.parametrize("follow", PATHS.values(), ids=PATHS)
def test_the_end_of_a_path_is_proven(follow):
    workspace = CertifiedWorkspace(FakeWithPaths(lambda alpha, upper: alpha), PROBLEM)
    assert workspace.removes
    assert workspace.admits
    solution = follow(workspace)
    assert solution.certificate.relative_gap <= 1e-12
    assert solution.alpha.tobytes() == open_workspace("path", PROBLEM).solve(solution.upper).alpha.tobytes()


@pytest.mark.parametrize("follow", PATHS.values(), ids=PATHS)
@pytest.mark.parametrize(
    ("lie", "words"),
    [
        (lambda alpha, upper: alpha * (1 - 1e-4), "gave an answer that is not a proven optimum"),
        (lambda alpha, upper: alpha + 1e-3, "gave an answer that is not a proven optimum"),
        (lambda alpha, upper: np.where(np.arange(60) == 7, np.nan, alpha), "not finite, first for example 7"),
        (lambda alpha, upper: alpha[:-1], r"did not return one number per example \(60\)"),
    ],
)
def test_the_end_of_a_path_is_not_believed(follow, lie, words):
    with pytest.raises(AnswerRefused, match=f"solver 'fake' .*{words}"):
        follow(CertifiedWorkspace(FakeWithPaths(lie), PROBLEM))


@pytest.mark.parametrize("follow", PATHS.values(), ids=PATHS)
def test_an_exception_on_a_path_is_reported_by_the_name_of_the_plugin(follow):
    def explode(alpha, upper):
        raise ZeroDivisionError("by zero")

    with pytest.raises(SolverBroken, match="solver 'fake' failed: ZeroDivisionError: by zero"):
        follow(CertifiedWorkspace(FakeWithPaths(explode), PROBLEM))


def test_tolerances_are_positive():
    for name in ("gap", "claim", "feasibility", "seconds"):
        with pytest.raises(ProblemError, match=f"tolerance {name} must be positive"):
            Tolerance(**{name: 0.0})


@pytest.mark.parametrize("kernel", [Kernel(), Kernel("rbf", gamma=0.5)], ids=["linear", "rbf"])
@pytest.mark.parametrize("cost", [1e4, 1e6])
def test_a_huge_cost_makes_no_gap_of_rounding_errors(cost, kernel):
    columns = np.column_stack([X, np.full(60, 7.0)])
    for y in (Y, np.where(X[:, 0] > 0, 1.0, -1.0)):
        solution = open_workspace("piqp", SvmProblem(columns, y, cost, kernel=kernel)).solve()
        assert solution.certificate.relative_gap <= Tolerance().gap


def test_a_bad_guess_makes_no_bad_answer(monkeypatch):
    import fairenum.solvers.certified as module

    honest, guesses = module.optimal_state, []

    def astray(gram, problem, upper, guess=None):
        guesses.append(guess)
        if guess is not None:
            raise module.PathStuck
        return honest(gram, problem, upper)

    monkeypatch.setattr(module, "optimal_state", astray)
    assert solve(lambda alpha, upper: alpha).support.tolist() == BEST.support.tolist()
    assert [guess is None for guess in guesses] == [False, True]

    def stuck(gram, problem, upper, guess=None):
        raise module.PathStuck

    monkeypatch.setattr(module, "optimal_state", stuck)
    with pytest.raises(AnswerRefused, match="solver 'fake' gave an answer that could not be polished"):
        solve(lambda alpha, upper: alpha)


class Lazy(Fake):
    """Leaves all the work to the core."""

    def solve(self, upper, start=None):
        return Claim(np.zeros(len(upper)), finished=False)


class Forgetful(Fake):
    """Answers each time a little differently."""

    def __init__(self, problem):
        super().__init__(None, problem)
        self.calls = 0

    def solve(self, upper, start=None):
        self.calls += 1
        return Claim(self.truth.solve(upper).alpha * (1 - 1e-12 * self.calls))

    remove = FakeWithPaths.remove  # so that the differences are not polished away


CASE = next(case for case in conformance_cases(sizes=(40,)) if case.name.startswith("random-40-linear-1"))


@pytest.mark.parametrize(
    ("plugin", "words"),
    [
        (Fake(optimum_of_half_the_box), "answers are proven: solver 'fake' "),
        (Lazy(None, CASE.problem), "ordinary problems are finished: the plugin gave up"),
        (Forgetful(CASE.problem), "same input gives same bytes: the same problem gave other bytes"),
    ],
)
def test_the_conformance_suite_catches(plugin, words):
    with pytest.raises(AssertionError, match=f"solver 'fake' on random-40-linear-1: {words}"):
        check_case(plugin, CASE)


def test_the_conformance_suite_passes_an_honest_fake():
    assert check_case(Fake(lambda alpha, upper: alpha, CASE.problem), CASE).certificate.relative_gap <= 1e-12
