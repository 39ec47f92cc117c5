"""The growth study: points in processes of their own, who goes no further, and what is told of it."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from fairenum.document.research_documents import GrowthSeries
from fairenum.report.research_pages import SCALE_COLUMNS
from fairenum.research import growth, growth_point
from fairenum.research.growth import COLUMNS, MODELS, ROWS, STUDY, Plan, measure_scale, taken_by
from fairenum.research.growth_point import GROUPS, VARIABLES, Point, Taken, draw, peak_memory, problem_of, take


def cells(series: GrowthSeries) -> tuple[str, ...]:
    return tuple(column.cell(series) for column in SCALE_COLUMNS)


SMALL = Point("fit", "fairenum", "numbers", "linear", n=80, d=4, k=3, seed=0, seconds=60.0)


def test_the_study_covers_what_it_promises():
    assert (ROWS[0], ROWS[-1], COLUMNS[0], COLUMNS[-1], MODELS[-1]) == (1_000, 1_000_000, 10, 3_000, 10_000)
    covered = {(plan.task, plan.table, plan.kernel, plan.axis) for plan in STUDY}
    assert len(covered) == len(STUDY)
    fits = [("numbers", "linear", "n"), ("numbers", "linear", "d"), ("one-hot", "linear", "d"), ("numbers", "rbf", "n")]
    assert {("fit", *fit) for fit in fits} < covered
    assert {("models", "numbers", "linear", "k"), ("audit", "one-hot", "linear", "n")} < covered
    for plan in STUDY:
        assert plan.task == "models" or all((plan.task, name) in growth_point.CONTESTANTS for name in plan.contestants)


@pytest.mark.parametrize("table", ["numbers", "one-hot"])
def test_a_table_has_its_size_and_both_labels_in_equal_parts(table):
    drawn = draw(table, 400, 30, seed=3)
    assert drawn.X.shape == (400, 30)
    assert drawn.y.sum() == 0.0
    assert set(drawn.groups) == {0, 1}
    frame = drawn.frame
    assert len(frame.columns) == (30 if table == "numbers" else VARIABLES) + 2
    assert set(frame["group"]) == set(GROUPS)
    again = draw(table, 400, 30, seed=3)
    assert abs(drawn.X - again.X).max() == 0.0
    if table == "one-hot":
        assert (np.asarray(drawn.X.sum(axis=1)) == VARIABLES).all()


def test_a_large_table_of_categories_is_kept_without_its_zeros():
    problem = problem_of(draw("one-hot", 2_000, 1_000, seed=0), "linear")
    assert sparse.issparse(problem.X)


@pytest.mark.parametrize("name", ["fairenum", "SVC", "LinearSVC"])
def test_a_fit_is_measured(name):
    taken = take(replace(SMALL, name=name))
    assert len(taken.seconds) == 1
    assert 0.0 < taken.seconds[0] < 10.0
    assert taken.memory > 5e7


@pytest.mark.parametrize("name", ["ExponentiatedGradient", "GridSearch"])
def test_what_else_a_user_would_run_is_measured(name):
    taken = take(Point("audit", name, "one-hot", "linear", n=100, d=10, k=2, seed=0, seconds=60.0))
    assert taken.seconds[0] > 0.0


def test_a_list_is_timed_at_every_model():
    taken = take(Point("models", "fairenum", "numbers", "linear", n=60, d=3, k=5, seed=0, seconds=60.0))
    assert len(taken.seconds) == 5
    assert list(taken.seconds) == sorted(taken.seconds)


@pytest.fixture
def measured(monkeypatch):
    """Take the time of a point for granted: a microsecond for each row; who needs more than its seconds is ended."""
    asked: list[Point] = []

    def fake(point: Point) -> Taken | None:
        asked.append(point)
        if point.task == "models":
            return Taken(tuple(1e-3 * k for k in range(1, 51)), 1e8)
        seconds = 1e-6 * point.n * (1.0 if point.name == "fairenum" else 100.0)
        return Taken((seconds,), 1e8 + 8.0 * point.n) if seconds <= point.seconds else None

    monkeypatch.setattr(growth, "taken_by", fake)
    return asked


def test_who_needs_too_long_goes_no_further(measured):
    study = [Plan("fit", ("fairenum", "SVC"), "n", (1_000, 10_000, 100_000, 1_000_000))]
    ours, theirs = measure_scale(0, 2.0, study=study)
    assert (ours.sizes, theirs.sizes) == ((1_000, 10_000, 100_000, 1_000_000), (1_000, 10_000))
    assert [point.n for point in measured if point.name == "SVC"] == [1_000, 10_000, 100_000]
    assert ours.slope == pytest.approx(1.0)
    assert (theirs.slope, ours.fixed) == (None, {"d": 20})
    assert ours.memory[-1] == 1e8 + 8e6
    assert cells(ours)[1:5] == ("fairenum", "n = 1,000,000", "1", "n^1.0")


def test_a_list_is_one_process(measured):
    (series,) = measure_scale(0, 2.0, study=[Plan("models", ("fairenum",), "k", (1, 10, 100), fixed={"n": 500})])
    assert (series.sizes, series.seconds) == ((1, 10), (1e-3, 1e-2))
    assert (len(measured), measured[0].k, series.fixed) == (1, 100, {"n": 500, "d": 20})


def test_who_gets_nowhere_is_said():
    nowhere = GrowthSeries("SVC", "n", (), (), None, task="fit", fixed={"d": 20})
    assert cells(nowhere) == ("the best model, numbers (d = 20)", "SVC", "nowhere", "", "", "", "")


def test_a_process_of_its_own_tells_its_time_and_its_memory():
    held = np.ones(40_000_000)  # what this process holds is none of its business
    taken = taken_by(SMALL)
    assert taken.seconds[0] < 30.0
    assert 5e7 < taken.memory < peak_memory()
    assert held.sum() == 4e7


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="limits on the processor")
def test_a_process_that_needs_too_long_is_ended():
    started = time.monotonic()
    assert taken_by(Point("fit", "SVC", "numbers", "rbf", n=20_000, d=20, k=1, seed=0, seconds=0.2)) is None
    assert time.monotonic() - started < 60.0


def test_a_process_that_fails_has_no_point():
    assert taken_by(Point("fit", "nobody", "numbers", "linear", n=10, d=2, k=1, seed=0, seconds=5.0)) is None
