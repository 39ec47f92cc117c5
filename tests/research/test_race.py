"""The race: forecasts, ranks, laps and the yardstick."""

import time

from support.stand_ins import broken, listed

from fairenum.document.research_documents import PAPER_ALGORITHM
from fairenum.enumeration.search import Limits
from fairenum.research import race
from fairenum.research.growth import random_problem
from fairenum.research.race import (
    TimedRun,
    enumerate_timed,
    forecast,
    paper_contestant,
    solver_contestant,
    svc_fit_seconds,
)
from fairenum.research.race import race as race_race


def run_of(seconds, is_cut, spent=9.0):
    return TimedRun(tuple(seconds), (), 0, is_cut, spent)


def test_a_run_to_its_end_is_measured():
    assert forecast(run_of([1.0, 2.0], is_cut=False), 50) == (2.0, "measured")


def test_a_cut_run_is_extrapolated_at_its_pace_after_the_second_model():
    assert forecast(run_of([1.0, 7.0, 8.0, 9.0], is_cut=True), 10) == (15.0, "extrapolated")


def test_a_run_cut_before_it_has_a_pace_is_a_lower_bound():
    assert forecast(run_of([1.0, 7.0], is_cut=True, spent=11.0), 10) == (11.0, "at least")


def test_the_race_counts_models_at_their_proven_rank():
    proven = listed("proven", [[0, 1], [0, 2], [1, 2]])
    noisy = listed(PAPER_ALGORITHM, [[0, 1], [1, 2], [0, 2]])
    first, second = race_race(random_problem(20, 2), [proven, noisy], 3, None)
    assert (first.in_place, first.models, first.nodes, first.basis) == (3, 3, 4, "measured")
    assert (second.in_place, second.models) == (1, 3)
    assert first.laps == second.laps == 5
    assert first.fits > 0


def test_a_contestant_that_fails_is_a_row_with_its_error():
    failed, paper = race_race(random_problem(20, 2), [broken(), paper_contestant()], 2, None)
    assert failed.error == "it rains"
    assert failed.fits is None
    assert paper.error is None
    assert paper.in_place == 0  # nothing was proven


def test_who_has_run_long_enough_runs_no_further_lap(monkeypatch):
    monkeypatch.setattr(race, "LAP_AGAIN", 0.0)
    (standing,) = race_race(random_problem(20, 2), [solver_contestant("path")], 2, None)
    assert standing.laps == 1


def test_progress_is_told_of_every_lap():
    told = []
    race_race(random_problem(20, 2), [listed("quick", [[0]])], 1, None, told.append)
    assert told == [f"quick: 1 models, lap {lap} of 5" for lap in range(1, 6)]


def test_a_timed_enumeration_reads_the_clock_at_every_model():
    run = enumerate_timed(solver_contestant("path"), random_problem(40, 3), Limits(models=6))
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
    monkeypatch.setattr(race, "svc_fit_seconds", lambda problem: next(times))
    yardstick = race.Yardstick(random_problem(20, 2))
    yardstick.measure()
    yardstick.measure_if_due()
    assert yardstick.seconds == 1.0
    yardstick._due = 0.0
    yardstick.measure_if_due()
    assert yardstick.seconds == 2.0


def test_one_fit_is_timed():
    assert 0 < svc_fit_seconds(random_problem(20, 2)) < 1
