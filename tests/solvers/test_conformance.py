"""The bundled solvers against the suite that third parties run, and on real tables."""

import csv
from pathlib import Path

import numpy as np
import pytest

from fairenum.solvers.conformance import KINDS, SETTINGS, Case, check_case, conformance_cases
from fairenum.solvers.protocol import Tolerance
from fairenum.solvers.registry import load_solver, open_workspace
from fairenum.svm.problem import SvmProblem
from fairenum.svm.sparse_or_dense import dense

SOLVERS = ("libsvm", "osqp", "path", "piqp")
DATASETS = Path(__file__).parents[2] / "datasets"
CASES = conformance_cases(sizes=(2, 7, 40, 300))


def read_table(name):
    with (DATASETS / name).open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return header, np.array(rows)


def compas_draw(seed, cost):
    """100 rows as they are: 0/1 columns beside a raw count."""
    _, rows = read_table("compas.csv")
    rows = rows[np.random.default_rng(seed).choice(len(rows), 100, replace=False)].astype(float)
    return Case(f"compas-{seed}-{cost:g}", SvmProblem(rows[:, 1:], np.where(rows[:, 0] == 0, 1.0, -1.0), cost), seed)


def german(cost):
    """700 rows, categories as their rank, standardised."""
    _, rows = read_table("german.csv")
    rows = rows[np.random.default_rng(0).permutation(len(rows))[:700]]
    X = np.column_stack([_numbers(column) for column in rows[:, :-1].T])
    y = np.where(rows[:, -1] == "good", 1.0, -1.0)
    return Case(f"german-{cost:g}", SvmProblem((X - X.mean(axis=0)) / X.std(axis=0), y, cost), 0)


def _numbers(column):
    try:
        return column.astype(float)
    except ValueError:
        return np.unique(column, return_inverse=True)[1].astype(float)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_bundled_solver_conforms(case):
    for name in SOLVERS:
        check_case(load_solver(name), case)


# Dozens of examples in the affine hull of the margin: their rounding errors are those of the margin many times over.
@pytest.mark.parametrize(
    ("name", "seed"),
    [
        ("duplicates-400-poly-1", 4),
        pytest.param("copies-400-linear-20000", 8, marks=pytest.mark.slow),
        ("imbalanced-400-poly-1", 4),
    ],
)
def test_every_bundled_solver_conforms_where_rounding_disorders_ties(name, seed):
    (case,) = (case for case in conformance_cases(sizes=(400,), seed=seed) if case.name == name)
    for solver in SOLVERS:
        check_case(load_solver(solver), case)


def test_the_cases_are_made_from_the_seed_alone():
    for one, other in zip(conformance_cases(sizes=(7,), seed=3), conformance_cases.__wrapped__((7,), 3), strict=True):
        assert one is not other
        assert one.name == other.name
        assert dense(one.problem.X).tobytes() == dense(other.problem.X).tobytes()
    assert dense(conformance_cases(sizes=(7,), seed=4)[0].problem.X).tobytes() != dense(one.problem.X).tobytes()


def test_the_cases_cover_every_kind_with_every_setting_at_realistic_sizes():
    assert {case.name.split("-")[0] for case in CASES} == set(KINDS)
    for cases in (CASES, conformance_cases()):
        assert {(case.problem.kernel, case.problem.cost[0]) for case in cases} >= set(SETTINGS)
        large = [case for case in cases if case.problem.size >= 300]
        assert {case.name.split("-")[0] for case in large} == set(KINDS)
        assert {case.problem.kernel.name for case in large} == {"linear", "rbf", "poly"}
        for kind in KINDS:
            settings = {case.name.split("-", 2)[2] for case in cases if case.name.startswith(f"{kind}-")}
            assert len(settings) >= 5
    assert len(conformance_cases(sizes=(7,), thorough=True)) == len(KINDS) * len(SETTINGS)


@pytest.mark.parametrize("cost", [0.01, 1.0, 1000.0])
@pytest.mark.parametrize("seed", range(8))  # the whole suite, which takes longer, has more draws
def test_raw_compas_draws_are_solved_and_proven_by_all(seed, cost):
    case = compas_draw(seed, cost)
    answers = [open_workspace(name, case.problem).solve() for name in SOLVERS]
    for answer in answers:
        assert answer.certificate.relative_gap <= Tolerance().gap
        assert answer.support.tolist() == answers[0].support.tolist()
        best = answers[0].certificate.objective
        assert abs(answer.certificate.objective - best) <= 1e-9 * best


@pytest.mark.parametrize("seed", range(3))
def test_raw_compas_draws_pass_the_whole_suite(seed):
    for name in SOLVERS:
        check_case(load_solver(name), compas_draw(seed, 1.0))


@pytest.mark.parametrize("name", SOLVERS)
def test_german_passes_the_whole_suite(name):
    check_case(load_solver(name), german(1.0))


@pytest.mark.slow
@pytest.mark.parametrize("case", conformance_cases(), ids=str)
def test_every_bundled_solver_conforms_at_the_sizes_that_others_run(case):
    for name in SOLVERS:
        check_case(load_solver(name), case)


@pytest.mark.slow
@pytest.mark.parametrize("case", conformance_cases(sizes=(3, 25, 100, 300), seed=1, thorough=True), ids=str)
def test_every_bundled_solver_conforms_in_every_setting(case):
    for name in SOLVERS:
        check_case(load_solver(name), case)


@pytest.mark.slow
@pytest.mark.parametrize("cost", [0.01, 1.0, 1000.0])
@pytest.mark.parametrize("seed", range(20))
def test_raw_compas_draws_pass_the_whole_suite_at_every_cost(seed, cost):
    for name in SOLVERS:
        check_case(load_solver(name), compas_draw(seed, cost))
