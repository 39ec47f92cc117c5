"""The choice, from the document alone: by the rule, or by rank."""

from dataclasses import replace

import pytest
from support.audits import METRIC, codes

from fairenum.auditing.candidates import Candidates
from fairenum.auditing.choosing import choose, choose_again
from fairenum.auditing.prospects import confirmation_chance
from fairenum.document.files import parse, to_json
from fairenum.document.terms import Verdict
from fairenum.document.training import Tolerances
from fairenum.errors import ResultError


def test_the_selection_explains_itself(exact):
    selection, chosen, first = exact.selection, exact.selected, exact.first
    assert (selection.outcome, selection.reason) == ("selected", "smallest_gap")
    assert selection.rank in selection.candidates
    assert selection.rank in selection.pareto_front
    gaps = [model.scores.selection.gap(METRIC).value for model in (chosen, first)]
    assert gaps[0] < gaps[1]
    assert selection.gap_change.selection.value == pytest.approx(gaps[0] - gaps[1])
    changes = selection.gap_change.holdout.value, selection.gap_change.selection.value
    assert selection.optimism.observed.value == pytest.approx(changes[0] - changes[1])
    assert selection.optimism.gap.holdout == chosen.scores.holdout.gap(METRIC).alone
    assert selection.accuracy_change.holdout.value == chosen.scores.holdout.accuracy.change.value
    assert selection.performance_change == selection.accuracy_change
    assert not selection.is_in_sight
    assert selection.optimism.expected > 0
    assert ("not_confirmed" in codes(exact)) == (not selection.is_fairer)


def test_nobody_within_the_tolerances_has_a_smaller_gap(exact):
    least = exact.selected.scores.selection.gap(METRIC).value
    accuracy = exact.first.scores.selection.performance.value - exact.config.max_performance_drop
    for model in exact.models:
        is_candidate = model.scores.selection.performance.value >= accuracy - 1e-12
        assert (model.rank in exact.selection.candidates) == is_candidate
        if is_candidate:
            assert model.scores.selection.gap(METRIC).value >= least - 1e-12


def test_the_same_tolerances_give_the_same_choice(exact):
    again = choose_again(exact, exact.selection.tolerances)
    first, second = exact.selection, again.selection
    assert (second.rank, second.candidates, second.gap_change.selection) == (
        first.rank,
        first.candidates,
        first.gap_change.selection,
    )
    assert again.but(selection=first) == exact


@pytest.mark.parametrize("rank", [1, 2, 12])
def test_a_model_can_be_taken_by_its_rank(exact, rank):
    document = choose_again(exact, exact.selection.tolerances, rank)
    selection = document.selection
    assert (selection.rank, selection.reason) == (rank, "asked_for")
    assert selection.outcome == ("kept" if rank == 1 else "selected")
    assert (selection.candidates, selection.pareto_front) == (exact.selection.candidates, exact.selection.pareto_front)
    assert {table.rank for table in document.group_tables} == {1, rank}
    assert document.reference_check.ranks == tuple(sorted({1, rank}))
    assert "not_confirmed" not in codes(document)
    if rank > 1:
        model = exact.models[rank - 1]
        assert selection.gap_change.selection == model.scores.selection.gap(METRIC).change
        assert selection.verdict == model.scores.holdout.gap(METRIC).verdict
    else:
        assert selection.gap_change is selection.optimism is selection.verdict is None


@pytest.mark.parametrize("rank", [0, -1, 13])
def test_a_rank_that_no_model_has_is_refused(exact, rank):
    with pytest.raises(ResultError, match=f"the result has no model of rank {rank}; its ranks are 1 to 12"):
        choose_again(exact, exact.selection.tolerances, rank)


def test_constant_models_are_never_chosen_by_the_rule(exact):
    constant = [model.but(is_constant=True) for model in exact.models]
    selection = choose(Candidates(tuple(constant)), "sex", Tolerances(), 0.95)
    assert (selection.rank, selection.outcome, selection.reason) == (None, "none", "all_constant")
    assert choose(Candidates(tuple(constant)), None, Tolerances(), 0.95).reason == "all_constant"
    assert choose(Candidates(tuple(constant)), "sex", Tolerances(), 0.95, rank=2).rank == 2


def test_without_groups_model_1_is_kept(exact):
    selection = choose(Candidates(exact.models), None, Tolerances(), 0.95)
    assert (selection.rank, selection.outcome, selection.reason) == (1, "kept", "no_sensitive_column")


@pytest.mark.parametrize(
    ("models", "tolerances", "reason"),
    [
        (1, Tolerances(), "only_model"),
        (12, Tolerances(eps=0.0), "no_other_candidate"),
    ],
)
def test_a_kept_model_says_why(exact, models, tolerances, reason):
    selection = choose(Candidates(exact.models[:models]), "sex", tolerances, 0.95)
    assert (selection.rank, selection.outcome, selection.reason) == (1, "kept", reason)


def test_model_1_is_kept_if_no_other_has_a_smaller_gap(exact):
    first = exact.first.scores
    alike = [model.but(scores=first) for model in exact.models]
    assert choose(Candidates(tuple(alike)), "sex", Tolerances(), 0.95).reason == "no_smaller_gap"


def test_an_explanation_stays_while_it_is_the_one(guided):
    assert choose_again(guided, guided.selection.tolerances).explanation == guided.explanation
    assert choose_again(guided, Tolerances(eps=0.001)).explanation is None
    same_model = choose_again(guided, Tolerances("equal_opportunity_difference"), guided.selection.rank)
    assert same_model.explanation is None  # of another gap


def test_the_same_model_chosen_again_keeps_what_was_shown_of_it(exact):
    last = exact.selection
    looser = replace(last.tolerances, max_performance_drop=0.2)
    for again in (choose_again(exact, looser, last.rank), choose_again(exact, looser, last.rank, in_advance=True)):
        kept = again.selection
        assert (kept.strip, kept.verdict, kept.gap_change) == (last.strip, last.verdict, last.gap_change)
        assert (kept.performance_floor, kept.performance_ceiling) == (last.performance_floor, last.performance_ceiling)
        assert (kept.performance_change, kept.optimism) == (last.performance_change, last.optimism)
        assert (kept.is_in_sight, kept.claims, kept.reason) == (False, 1, "asked_for")
        assert kept.tolerances == looser
        assert set(kept.candidates) > set(last.candidates)


def test_other_tolerances_give_another_answer_of_the_same_evidence(exact):
    shown = exact.selection.but(verdict=Verdict.FAIRER, performance_floor=-0.05, performance_ceiling=0.1)
    document, tolerances = exact.but(selection=shown), shown.tolerances
    answers = [
        choose_again(document, replace(tolerances, max_performance_drop=drop), shown.rank).selection
        for drop in (0.01, 0.04, 0.05, 0.2)
    ]
    assert [one.answer for one in answers] == ["candidate", "candidate", "proposed", "proposed"]
    assert [one.reasons for one in answers] == [("performance_not_shown",)] * 2 + [()] * 2


def test_by_another_metric_the_holdout_is_in_sight(exact):
    other = replace(exact.selection.tolerances, metric="equal_opportunity_difference")
    for in_advance in (False, True):
        selection = choose_again(exact, other, exact.selection.rank, in_advance=in_advance).selection
        assert (selection.is_in_sight, selection.claims, selection.disparity) == (True, 1, None)


@pytest.mark.parametrize("rank", [3, 7])
def test_a_model_fixed_in_advance_is_judged_alone_as_one_claim_more(exact, rank):
    tolerances, model = exact.selection.tolerances, exact.models[rank - 1]
    seen, ahead = (
        choose_again(exact, tolerances, rank, in_advance=in_advance).selection for in_advance in (False, True)
    )
    assert (seen.is_in_sight, seen.claims, ahead.is_in_sight, ahead.claims) == (True, 1, False, 2)
    assert ahead.verdict is model.own.verdict is ahead.strip[0].verdict
    assert ahead.gap_change.holdout == ahead.strip[0].change == model.own.change
    assert ahead.strip[0].confidence == model.own.confidence == pytest.approx(1 - 0.8 * 0.025 - 0.025)
    assert (ahead.performance_floor, ahead.performance_ceiling) == (
        model.own.performance.low,
        model.own.performance.high,
    )
    # only the claim was fixed
    assert ahead.strip[1:] == tuple(one.but(is_joint=True) for one in seen.strip[1:])
    assert (ahead.is_in_advance, seen.is_in_advance) == (True, False)
    widths = [one.strip[0].change.high - one.strip[0].change.low for one in (ahead, seen)]
    assert widths[0] < widths[1]
    assert ahead.performance_floor > seen.performance_floor


def test_claims_in_advance_are_counted(exact):
    tolerances = exact.selection.tolerances
    second = choose_again(exact, tolerances, 3, in_advance=True)
    third = choose_again(second, tolerances, 7, in_advance=True)
    assert [one.selection.claims for one in (exact, second, third)] == [1, 2, 3]
    assert choose_again(third, tolerances, 7, in_advance=True).selection.claims == 3  # the same claim again
    assert choose_again(third, tolerances, 5).selection.claims == 3  # judged jointly


def test_a_run_that_claimed_nothing_has_no_claim_to_count(exact):
    kept = choose_again(exact, exact.selection.tolerances, 1)
    document = exact.but(selection=kept.selection.but(shown=()))
    assert choose_again(document, exact.selection.tolerances, 3, in_advance=True).selection.claims == 1


@pytest.mark.parametrize("between", [{}, {"in_advance": True}])
def test_what_was_shown_of_the_first_choice_stays_shown_through_other_choices(exact, between):
    first, other = exact.selection, next(rank for rank in (3, 7) if rank != exact.selection.rank)
    second = choose_again(exact, replace(first.tolerances, max_performance_drop=0.2), other, **between)
    third = choose_again(parse(to_json(second).encode(), "run"), first.tolerances).selection
    claims = 2 if between else 1
    kept = {"claims": claims, "shown": third.shown}
    assert third == first.but(**kept)
    assert [one.rank for one in third.shown] == ([other] if between else [])
    back = choose_again(second.but(selection=third), first.tolerances, other).selection
    assert back.is_in_sight is not bool(between)
    assert back.strip == second.selection.strip


def test_the_own_verdict_of_the_chosen_model_is_its_claim(exact):
    own, claim = exact.selected.own, exact.selection.strip[0]
    assert (own.change.value, own.change.high) == (claim.change.value, pytest.approx(claim.change.high))
    # the claim shares the error of "less fair" with the other gaps
    assert claim.change.low <= own.change.low
    assert own.performance.low == pytest.approx(exact.selection.performance_floor)
    assert exact.first.own is None


def test_the_choice_has_the_chance_that_its_prospect_gives(exact):
    alpha = 1 - exact.config.confidence
    chances = {
        rank: confirmation_chance(
            exact.models[rank - 1], exact.first, exact.selection.tolerances, (0.8 * alpha / 2, alpha)
        )
        for rank in exact.selection.candidates
    }
    assert exact.selection.chance == pytest.approx(chances[exact.selection.rank])
