"""The choice, from the document alone: by the rule, or by rank."""

import pytest
from support.audits import METRIC, codes

from fairenum.auditing.candidates import Candidates
from fairenum.auditing.choosing import choose, choose_again
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
