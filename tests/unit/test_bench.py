"""The parts of the benchmark: Algorithm 1, the race, forecasts, growth and its plot."""

import itertools
import json
import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.svm import SVC

from fairenum.bench import (
    BASELINE,
    AlgorithmOne,
    Contestant,
    Run,
    Series,
    baseline,
    bench,
    benchmark,
    contest,
    draw,
    draw_problem,
    enumerate_timed,
    growth,
    measure_growth,
    race,
    random_problem,
    solver,
    svc_fit_seconds,
)
from fairenum.bench.contest import forecast
from fairenum.bench.plot import duration
from fairenum.dataset import load_dataset
from fairenum.enumeration.search import Limits
from fairenum.errors import ProblemError, SolverBroken, SolverNotFound, SolverUnavailable
from fairenum.problem import Kernel, SvmProblem


@pytest.fixture(autouse=True)
def rough_yardstick(monkeypatch):
    """Nothing here depends on how long anything takes."""
    monkeypatch.setattr(contest, "YARDSTICK_SECONDS", 1e-9)


@pytest.fixture(scope="module")
def sonar():
    return load_dataset("sonar")


def all_models(problem):
    """Objective and support for every subset of the examples with both labels, without repeats, best first."""
    found = {}
    for size in range(2, problem.size + 1):
        for rows in map(list, itertools.combinations(range(problem.size), size)):
            if len(set(problem.y[rows])) == 2:
                machine = SVC(kernel="linear", C=problem.upper[0], tol=1e-9).fit(problem.X[rows], problem.y[rows])
                plane = machine.coef_[0]
                objective = np.abs(machine.dual_coef_).sum() - 0.5 * plane @ plane
                found[tuple(sorted(np.array(rows)[machine.support_].tolist()))] = objective
    return sorted(found, key=found.get, reverse=True)


def test_algorithm_one_lists_every_model_once_best_first():
    problem = random_problem(7, 2, seed=3)
    search = AlgorithmOne(problem, Limits(models=None), tol=1e-9)
    assert [tuple(model.support.tolist()) for model in search] == all_models(problem)
    assert search.stopped == "exhausted"


def test_algorithm_one_solves_every_child_of_a_model_before_the_next():
    problem = random_problem(30, 2)
    search = AlgorithmOne(problem, Limits(models=2))
    first = next(search)
    assert search.nodes == 1
    second = next(search)
    assert search.nodes == 1 + len(first.support)
    assert first.left_out == frozenset()
    assert len(second.left_out) == 1
    with pytest.raises(StopIteration):
        next(search)
    assert search.stopped == "models"
    assert search.nodes == 1 + len(first.support)


def test_algorithm_one_stops_in_time():
    search = AlgorithmOne(random_problem(30, 2), Limits(models=None, seconds=0.0))
    assert len(list(search)) == 1
    assert search.stopped == "time"


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"kernel": Kernel("rbf")}, "linear"), ({"ridge": 1.0}, "ridge"), ({"copies": [2, 1, 1]}, "one cost")],
)
def test_algorithm_one_refuses_what_the_paper_does_not_know(change, reason):
    problem = SvmProblem([[0.0], [1.0], [2.0]], [1, -1, 1], **change)
    with pytest.raises(ProblemError, match=reason):
        AlgorithmOne(problem)


def run_of(seconds, is_cut, spent=9.0):
    return Run(tuple(seconds), (), 0, is_cut, spent)


def test_a_run_to_its_end_is_measured():
    assert forecast(run_of([1.0, 2.0], is_cut=False), 50) == (2.0, "measured")


def test_a_cut_run_is_extrapolated_at_its_pace_after_the_second_model():
    assert forecast(run_of([1.0, 7.0, 8.0, 9.0], is_cut=True), 10) == (15.0, "extrapolated")


def test_a_run_cut_before_it_has_a_pace_is_a_lower_bound():
    assert forecast(run_of([1.0, 7.0], is_cut=True, spent=11.0), 10) == (11.0, "at least")


def listed(name, supports, stopped="models"):
    """A contestant that finds these supports at once."""

    class Listed(list):
        nodes = 4

    def search(problem, limits):
        found = Listed(SimpleNamespace(support=np.array(support)) for support in supports)
        found.stopped = stopped
        return found

    return Contestant(name, search)


def broken(name="broken"):
    def search(problem, limits):
        raise SolverBroken("it rains")

    return Contestant(name, search)


def test_the_race_counts_models_at_their_proven_rank():
    proven = listed("proven", [[0, 1], [0, 2], [1, 2]])
    noisy = listed(BASELINE, [[0, 1], [1, 2], [0, 2]])
    first, second = race(random_problem(20, 2), [proven, noisy], 3, None)
    assert (first.in_place, first.models, first.nodes, first.basis) == (3, 3, 4, "measured")
    assert (second.in_place, second.models) == (1, 3)
    assert first.laps == second.laps == 5
    assert first.fits > 0


def test_a_contestant_that_fails_is_a_row_with_its_error():
    failed, paper = race(random_problem(20, 2), [broken(), baseline()], 2, None)
    assert failed.error == "it rains"
    assert failed.fits is None
    assert paper.error is None
    assert paper.in_place == 0  # nothing was proven


def test_who_has_run_long_enough_runs_no_further_lap(monkeypatch):
    monkeypatch.setattr(contest, "LAP_AGAIN", 0.0)
    (standing,) = race(random_problem(20, 2), [solver("path")], 2, None)
    assert standing.laps == 1


def test_progress_is_told_of_every_lap():
    told = []
    race(random_problem(20, 2), [listed("quick", [[0]])], 1, None, told.append)
    assert told == [f"quick: 1 models, lap {lap} of 5" for lap in range(1, 6)]


def test_a_timed_enumeration_reads_the_clock_at_every_model():
    run = enumerate_timed(solver("path"), random_problem(40, 3), Limits(models=6))
    assert len(run.seconds) == len(set(run.supports)) == 6
    assert sorted(run.seconds) == list(run.seconds)
    assert not run.is_cut


def test_what_is_done_meanwhile_does_not_count():
    def idle():
        until = time.process_time() + 0.05
        while time.process_time() < until:
            pass

    run = enumerate_timed(listed("quick", [[0], [1], [2]]), random_problem(20, 2), Limits(models=3), idle)
    assert run.spent < 0.04


def test_the_yardstick_is_laid_again_when_it_is_due(monkeypatch):
    times = iter([1.0, 3.0])
    monkeypatch.setattr(contest, "svc_fit_seconds", lambda problem: next(times))
    yardstick = contest.Yardstick(random_problem(20, 2))
    yardstick.measure()
    yardstick.measure_if_due()
    assert yardstick.seconds == 1.0
    yardstick._due = 0.0
    yardstick.measure_if_due()
    assert yardstick.seconds == 2.0


def test_one_fit_is_timed():
    assert 0 < svc_fit_seconds(random_problem(20, 2)) < 1


@pytest.fixture
def small_sizes(monkeypatch):
    monkeypatch.setattr(growth, "EXAMPLES", (20, 30, 40))
    monkeypatch.setattr(growth, "FEATURES", (2, 3, 4))
    monkeypatch.setattr(growth, "MODELS", (2, 3, 4))
    monkeypatch.setattr(growth, "FIXED", {"n": 20, "d": 2, "k": 2})


@pytest.mark.usefixtures("small_sizes")
def test_growth_has_a_series_for_everybody_on_every_axis():
    series = measure_growth([solver("path"), broken()], seed=0, seconds=9.0)
    sizes = {(line.name, line.axis): line.sizes for line in series}
    assert sizes == {
        ("path", "n"): (20, 30, 40),
        ("path", "d"): (2, 3, 4),
        ("path", "k"): (2, 3, 4),
        ("SVC fit", "n"): (20, 30, 40),
        ("SVC fit", "d"): (2, 3, 4),
        ("broken", "n"): (),
        ("broken", "d"): (),
        ("broken", "k"): (),
    }
    assert all((line.slope is None) == (line.name == "broken") for line in series)


@pytest.mark.usefixtures("small_sizes")
def test_who_needs_too_long_goes_no_further():
    series = measure_growth([listed("slow", [[0]], stopped="time")], seed=0, seconds=9.0)
    assert [line.sizes for line in series if line.name == "slow"] == [(), (), ()]


def test_the_slope_is_that_of_the_larger_half():
    line = growth._series("cubic", "n", {n: 1.0 + 1e-9 * n**3 for n in (10, 20, 10_000, 20_000, 40_000)})
    assert line.slope == pytest.approx(3.0, abs=0.01)


def test_the_plot_fits_80_columns_and_gives_slopes():
    lines = [
        Series("path", "n", (50, 400, 3200), (0.001, 0.01, 0.1), 1.1),
        Series("piqp", "n", (50, 400), (0.001, 2.0), None),
    ]
    text = draw(lines)
    assert max(map(len, text.splitlines())) <= 80
    assert text.isascii()
    assert "p path: 100 ms at n = 3200, grows like n^1.1" in text
    assert "i piqp: 2 s at n = 400\n" in text + "\n"
    rows = [row.partition("|")[2] for row in text.splitlines() if "|" in row]
    assert sum(row.count("p") for row in rows) == 2
    assert sum(row.count("i") for row in rows) == 1
    assert sum(row.count("*") for row in rows) == 1
    assert "50" in text
    assert "3200" in text


def test_a_flat_plot_and_an_empty_one_are_no_failure():
    assert "1 s at k = 10" in draw([Series("path", "k", (10,), (1.0,), None)])
    assert draw([Series("path", "k", (), (), None)]) == "nothing was measured in the time given"


@pytest.mark.parametrize(
    ("seconds", "text"), [(123.4, "123 s"), (1.0, "1 s"), (0.0123, "12.3 ms"), (4.5e-6, "4.5 us"), (1e-8, "0.01 us")]
)
def test_durations_are_short(seconds, text):
    assert duration(seconds) == text


def test_rows_are_drawn_as_asked(sonar):
    assert draw_problem(sonar).size == round(0.7 * len(sonar))
    problem = draw_problem(sonar, 50, cost=2.0, seed=1)
    assert problem.X.shape == (50, 60)
    assert set(problem.upper) == {2.0}
    np.testing.assert_allclose(problem.X.mean(axis=0), 0.0, atol=1e-12)
    assert not np.allclose(draw_problem(sonar, 50, standardise=False).X.mean(axis=0), 0.0, atol=1e-2)


def test_the_record_is_the_documented_json(sonar):
    result = bench(sonar, ["path", "path"], k=3, rows=40, growth=False)
    record = json.loads(json.dumps(result.record))
    assert list(record) == [
        *("format", "data", "k", "seconds", "svc_fit", "first_calls", "standings", "growth", "environment")
    ]
    assert record["data"] == {
        "name": "sonar",
        "rows": 40,
        "features": 60,
        "cost": 1.0,
        "seed": 0,
        "fingerprint": sonar.fingerprint,
    }
    assert [standing["name"] for standing in record["standings"]] == ["path", "Algorithm 1"]
    assert record["standings"][0]["in_place"] == 3
    assert record["growth"] == []
    assert result.speedup(result.standings[0]) == result.paper.fits / result.standings[0].fits
    assert result.speedup(result.paper) == 1.0


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
