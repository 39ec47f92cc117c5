"""The chance that the holdout confirms a model, against draws of what the holdout would show."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from support.audits import METRIC, audit_people, people

from fairenum.auditing.prospects import confirmation_chance
from fairenum.document.models import Prospect
from fairenum.document.training import Tolerances

SURE = Prospect(gap_change=-1.0, gap_error=0.01, performance_error=0.01, guards=1.0, holdout=1.0)


def drawn_chance(change, error, ratio, level, draws=400_000):
    """Draw true changes as the selection split leaves them open, then what a holdout would estimate of each."""
    rng, ahead = np.random.default_rng(0), error / np.sqrt(ratio)
    true = change + error * rng.standard_normal(draws)
    estimate = true + ahead * rng.standard_normal(draws)
    return np.mean(estimate > stats.norm.isf(level) * ahead)


def promising(exact, prospect, gain=0.5):
    """Return a model of this prospect whose performance on the selection split is better by so much."""
    model, first = exact.models[1], exact.first.scores.selection.performance.value
    selection = model.scores.selection
    better = selection.performance.but(value=first + gain)
    return model.but(prospect=prospect, scores=model.scores.but(selection=selection.but(performance=better)))


@pytest.mark.parametrize("change", [-0.02, 0.0, 0.05, 0.15])
@pytest.mark.parametrize(("error", "ratio", "level"), [(0.04, 1.0, 0.02), (0.06, 2.5, 0.02), (0.03, 0.4, 0.005)])
def test_the_chance_is_the_share_of_holdouts_that_show_the_change(exact, change, error, ratio, level):
    tolerances = Tolerances(max_performance_drop=0.01)
    fairer = promising(exact, SURE.but(gap_change=-change, gap_error=error, holdout=ratio))
    expected = drawn_chance(change, error, ratio, level)
    assert confirmation_chance(fairer, exact.first, tolerances, (level, 0.05)) == pytest.approx(expected, abs=0.003)
    as_good = promising(exact, SURE.but(performance_error=error, holdout=ratio), gain=change - 0.01)
    assert confirmation_chance(as_good, exact.first, tolerances, (0.02, level)) == pytest.approx(expected, abs=0.003)


def test_the_least_likely_test_counts(exact):
    model = promising(exact, SURE.but(guards=0.3))
    assert confirmation_chance(model, exact.first, Tolerances(), (0.02, 0.05)) == 0.3
    assert confirmation_chance(promising(exact, SURE), exact.first, Tolerances(), (0.02, 0.05)) == pytest.approx(1.0)


def test_what_is_unknown_has_no_chance(exact):
    for prospect in (None, SURE.but(gap_change=None)):
        assert confirmation_chance(promising(exact, prospect), exact.first, Tolerances(), (0.02, 0.05)) == 0.0
    certain = promising(exact, SURE.but(gap_error=0.0, performance_error=0.0))
    assert confirmation_chance(certain, exact.first, Tolerances(), (0.02, 0.05)) == 1.0
    worse = promising(exact, SURE.but(gap_change=0.1, gap_error=0.0))
    assert confirmation_chance(worse, exact.first, Tolerances(), (0.02, 0.05)) == 0.0
    empty = promising(exact, SURE)
    scores = empty.scores.selection
    unknown = empty.but(scores=empty.scores.but(selection=scores.but(performance=scores.performance.but(value=None))))
    assert confirmation_chance(unknown, exact.first, Tolerances(), (0.02, 0.05)) == 0.0


def test_prospects_are_what_the_selection_split_says(exact_run, exact):
    """Two groups: the change is that of the gap; its error is that of paired decisions."""
    division, values = exact_run.live.division, exact_run.live.listing.values["selection"]
    rows, decided = division.rows["selection"], (values >= 0.0).astype(float)
    groups = people()["sex"].to_numpy()[rows]
    right = decided == (people()["hired"].to_numpy()[rows] == "yes")
    assert exact.first.prospect is None
    for place, model in enumerate(exact.models[1:], start=1):
        prospect, gap = model.prospect, model.scores.selection.gap(METRIC)
        assert prospect.gap_change == pytest.approx(gap.change.value)
        assert prospect.holdout == len(division.rows["holdout"]) / len(rows)
        assert prospect.guards == 1.0
        variance = sum(bonett_price(decided[place], decided[0], groups == name) for name in "fm")
        assert prospect.gap_error == pytest.approx(np.sqrt(variance), rel=0.01)
        variance = bonett_price(right[place], right[0], np.ones(len(rows), bool))
        assert prospect.performance_error == pytest.approx(np.sqrt(variance), rel=0.01)


def bonett_price(one, other, rows):
    """Return the variance of a paired change, with a quarter of a row that only one selects, and one for the other."""
    gained, lost = np.sum((one > other) & rows) + 0.25, np.sum((one < other) & rows) + 0.25
    number = np.sum(rows) + 0.5
    return (gained + lost - (gained - lost) ** 2 / number) / number**2


def test_a_guardrail_at_its_limit_is_kept_by_half_of_all_holdouts():
    free = audit_people(people(), k=6, search="exact").document
    rates = [model.scores.selection.selection_rate.value for model in free.models]
    place = int(np.abs(np.array(rates) - rates[0]).argmax())
    moved = rates[place] - rates[0]
    assert moved
    guards = ["none", f"selection_rate=+-{abs(moved)!r}"]
    model = audit_people(people(), k=6, search="exact", guards=guards).document.models[place]
    assert model.scores.selection.selection_rate.value == rates[place]
    assert model.prospect.guards == pytest.approx(0.5)


def test_likely_candidates_come_before_those_of_a_smaller_gap(exact):
    """A candidate of a tiny gap that will hardly be confirmed is passed over."""
    from fairenum.auditing.candidates import candidates_of
    from fairenum.auditing.choosing import choose

    def with_gap(model, gap, prospect):
        scores = model.scores.selection
        own = scores.by_column["sex"]
        found = own.gap(METRIC).but(value=gap)
        primary = scores.but(by_column=scores.by_column | {"sex": own.but(**{METRIC: found})}, **{METRIC: found})
        better = primary.but(performance=scores.performance.but(value=0.99))
        return model.but(prospect=prospect, scores=model.scores.but(selection=better))

    first = exact.first.scores.selection.gap(METRIC).value
    rare = SURE.but(gap_change=-first, gap_error=first)
    likely = SURE.but(gap_change=-first / 2, gap_error=first / 20)
    models = (exact.first, with_gap(exact.models[1], 0.0, rare), with_gap(exact.models[2], first / 2, likely))
    candidates = replace(candidates_of(exact), models=models)
    tolerances = replace(exact.selection.tolerances, eps=1.0, max_performance_drop=0.5)
    chosen = choose(candidates, "sex", tolerances, 0.95)
    assert (chosen.candidates, chosen.rank) == ((1, 2, 3), 3)
    assert chosen.chance > 0.8
    both_rare = replace(candidates, models=(*models[:2], models[2].but(prospect=rare.but(gap_change=-first / 2))))
    assert choose(both_rare, "sex", tolerances, 0.95).rank == 2  # the better chance of two that are small
