"""The whole benchmark: rows drawn, everybody raced, and the document of it."""

import numpy as np
import pytest
from support.stand_ins import broken

from fairenum.document.files import load, save
from fairenum.document.research_documents import BenchData
from fairenum.errors import SolverNotFound, SolverUnavailable
from fairenum.research import benchmark
from fairenum.research.benchmark import bench, draw_problem
from fairenum.tables import load_dataset


@pytest.fixture(scope="module")
def sonar():
    return load_dataset("sonar")


def test_rows_are_drawn_as_asked(sonar):
    assert draw_problem(sonar).size == round(0.7 * len(sonar))
    problem = draw_problem(sonar, 50, cost=2.0, seed=1)
    assert problem.X.shape == (50, 60)
    assert set(problem.upper) == {2.0}
    np.testing.assert_allclose(problem.X.mean(axis=0), 0.0, atol=1e-12)
    assert not np.allclose(draw_problem(sonar, 50, standardise=False).X.mean(axis=0), 0.0, atol=1e-2)


def test_the_document_has_the_race_and_is_read_again(sonar, tmp_path):
    document = bench(sonar, ["path", "path"], k=3, rows=40, growth=False)
    assert document.data == BenchData("sonar", 40, 60, 1.0, 0, sonar.fingerprint)
    assert [result.name for result in document.standings] == ["path", "Algorithm 1"]
    path, paper = document.standings
    assert path.in_place == 3
    assert document.growth == ()
    assert document.paper == paper
    assert document.speedup(path) == paper.fits / path.fits
    assert document.speedup(paper) == 1.0
    save(document, tmp_path / "bench.json")
    assert load(tmp_path / "bench.json") == document


def test_the_environment_has_the_machine_and_what_works_behind_the_solvers(sonar):
    environment = bench(sonar, ["osqp"], k=1, rows=20, growth=False).environment
    assert {"fairenum", "scikit-learn", "numba", "osqp"} <= set(environment.packages)
    assert "piqp" not in environment.packages
    assert environment.machine
    assert environment.processors >= 1


def test_all_available_solvers_take_part(sonar):
    names = benchmark._available()
    assert {"libsvm", "osqp", "path"} <= set(names)


def test_no_solver_at_all_is_said(monkeypatch):
    monkeypatch.setattr(benchmark, "list_solvers", lambda: ())
    with pytest.raises(SolverUnavailable, match="fairenum solvers"):
        benchmark._available()


def test_a_solver_that_fails_its_first_call_is_left_to_the_race():
    assert benchmark._first_calls([broken()]) >= 0.0


def test_a_wrong_name_is_said_before_anything_is_measured(sonar):
    with pytest.raises(SolverNotFound, match="'paht'"):
        bench(sonar, ["paht"])
