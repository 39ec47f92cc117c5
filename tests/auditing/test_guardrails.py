"""Guardrails of an audit: what the document measures, the choice within them, and what became of each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from support.audits import METRIC, audit_applicants, audit_people, people

from fairenum import select
from fairenum.auditing.candidates import Candidates, candidates_of, measured, status, with_guards
from fairenum.auditing.choosing import choose
from fairenum.auditing.prospects import confirmation_chance
from fairenum.document.guards import DEFAULT_GUARDS, Guard
from fairenum.document.training import Tolerances
from fairenum.document.value import Estimate
from fairenum.enumeration.division import PARTS
from fairenum.errors import ConfigError
from fairenum.metrics.guardrails import GroupCounter


@pytest.mark.parametrize("weight", [None, "weight"])
def test_the_document_measures_what_the_rows_do(weight):
    table = people()
    if weight:
        table[weight] = np.random.default_rng(3).integers(1, 4, len(table))
    run = audit_people(table, k=8, replications=20, search="exact", weight=weight)
    document, live = run.document, run.live
    for part in PARTS:
        rows, decided = live.division.part(part), live.listing.values[part] >= 0.0
        tally = GroupCounter(rows.labels, (rows.groups, *rows.others), rows.weights)
        performance = np.array([model.scores.of(part).performance.value for model in document.models])
        expected = tally.measured(decided, performance, METRIC, tally.count(decided))
        found = measured(document.models, document.dataset.sensitive, part, document.column, METRIC)
        for ours, theirs in ((found.values, expected.values), (found.trials, expected.trials)):
            assert ours.keys() == theirs.keys()
            for subject, values in theirs.items():
                np.testing.assert_allclose(ours[subject], values, atol=1e-9, err_msg=str(subject))


def test_an_audit_is_guarded_unless_that_is_turned_off():
    within, free = audit_applicants(guards=()).document, audit_applicants().document
    assert within.config.guards == within.selection.tolerances.guards == DEFAULT_GUARDS
    assert (free.config.guards, free.selection.tolerances.guards, free.selection.guards) == (("none",), (), ())
    assert within.selection.outcome == "selected"
    assert [check.guard for check in within.selection.guards] == list(DEFAULT_GUARDS)
    for check in within.selection.guards:  # of the selected model, on the rows that chose it
        assert not beyond(check, check.selection)


def beyond(check, value) -> bool:
    is_low = check.low is not None and value < check.low - 1e-12
    return is_low or (check.high is not None and value > check.high + 1e-12)


@pytest.mark.parametrize("guard", ["selection_rate=+-0.01", "group_selection_rates>=-0.02", f"{METRIC}@race<=+0"])
def test_the_choice_is_the_fairest_within_the_guards(exact, guard):
    tolerances = replace(exact.selection.tolerances, guards=(guard,), max_performance_drop=0.2)
    selection = choose(candidates_of(exact), exact.column, tolerances, 0.95)
    free = choose(candidates_of(exact), exact.column, replace(tolerances, guards=()), 0.95)
    within = tuple(rank for rank in free.candidates if rank == 1 or not is_broken(exact, rank, guard))
    assert selection.candidates == within
    gaps = {rank: exact.models[rank - 1].scores.selection.gap(METRIC).value for rank in within}
    chances = {rank: chance(exact, rank, tolerances) for rank in within if gaps[rank] < gaps[1] - 1e-12}
    least = min(0.8, max(chances.values(), default=0.0))
    likely = [rank for rank in chances if chances[rank] >= least] or [1]
    assert gaps[selection.rank] == min(gaps[rank] for rank in likely)


def chance(document, rank: int, tolerances: Tolerances) -> float:
    """The chance that the holdout confirms a model, by the errors of its two tests: 0.02 and 0.05."""
    return confirmation_chance(document.models[rank - 1], document.first, tolerances, (0.02, 0.05))


def is_broken(document, rank: int, guard: str) -> bool:
    """Whether a model breaks a guard on the selection split, by the scores of the document."""
    first, model = document.first.scores.selection, document.models[rank - 1].scores.selection
    if guard.startswith("selection_rate"):
        return abs(model.selection_rate.value - first.selection_rate.value) > 0.01 + 1e-12
    if guard.startswith(METRIC):
        new, old = (one.by_column["race"].gap(METRIC).value for one in (model, first))
        return new - old > 1e-12
    falls = [
        (old - new) / group.selection
        for column in document.dataset.sensitive
        for group, new, old in zip(
            column.groups,
            model.by_column[column.column].selected,
            first.by_column[column.column].selected,
            strict=True,
        )
        if group.is_compared
    ]
    return max(falls) > 0.02 + 1e-12


def choose_guarded(document, tolerances, rank=None):
    """Choose, and judge by the guardrails, as an audit does."""
    chosen = choose(candidates_of(document), document.column, tolerances, document.config.confidence, rank)
    return with_guards(chosen, candidates_of(document), document.config.confidence)


def test_a_guard_does_not_rule_out_model_1(exact):
    tolerances = replace(exact.selection.tolerances, guards=("accuracy>=1",))
    selection = choose_guarded(exact, tolerances)
    assert (selection.rank, selection.outcome, selection.candidates) == (1, "kept", (1,))
    (check,) = selection.guards
    assert (check.subject, check.holdout.value) == ("accuracy", exact.first.scores.holdout.accuracy.value)
    assert check.status in ("open", "broken")
    relative = choose_guarded(exact, replace(tolerances, guards=("accuracy>=+1",)))
    assert (relative.rank, relative.guards) == (1, ())


def test_nothing_is_guarded_against_a_model_1_that_decides_all_alike(exact):
    models = (exact.first.but(is_constant=True), *exact.models[1:])
    tolerances = replace(exact.selection.tolerances, guards=("selection_rate=+-0", "accuracy>=+1"))
    selection = choose_guarded(exact.but(models=models), tolerances)
    assert selection.rank == choose(Candidates(models), exact.column, replace(tolerances, guards=()), 0.95).rank > 1
    assert [check.status for check in selection.guards] == ["open", "open"]


def test_the_loss_on_all_training_rows_can_be_bounded(exact):
    losses = sorted(model.loss_ratio for model in exact.models)
    most = losses[len(losses) // 2]
    tolerances = Tolerances(max_performance_drop=0.5, eps=most)
    selection = choose(Candidates(exact.models), exact.column, tolerances, 0.95)
    assert selection.candidates == tuple(model.rank for model in exact.models if model.loss_ratio <= most + 1e-12)
    document = audit_applicants(eps=0.02, k=3).document
    assert document.selected.loss_ratio <= 0.02
    assert max(model.loss_ratio for model in document.models if model.origin == "guided") <= 0.02


GUARD = Guard.of("selection_rate=+-0.1")


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [
        (0.0, -0.05, 0.05, "holds"),
        (0.05, -0.1, 0.1, "holds"),
        (0.09, 0.02, 0.16, "open"),
        (0.12, 0.02, 0.22, "open"),
        (0.2, 0.11, 0.3, "broken"),
        (-0.2, -0.3, -0.11, "broken"),
        (0.0, -0.2, 0.2, "open"),
        (0.05, None, None, "holds"),
        (0.2, None, None, "open"),
        (None, None, None, "open"),
    ],
)
def test_the_status_goes_by_the_limits(value, low, high, expected):
    assert status(GUARD, Estimate(value, low, high)) == expected


def test_a_change_of_a_selection_rate_has_limits_from_what_the_models_share(guided_run):
    document, live = guided_run.document, guided_run.live
    rank = document.selection.rank
    decided = live.listing.values["holdout"][[0, rank - 1]] >= 0.0
    guards = ("selection_rate=+-0", "group_selection_rates@sex>=+0")
    chosen = select(guided_run, guards=("none", *guards), rank=rank).document.selection
    whole, group = chosen.guards
    assert not chosen.is_in_sight  # the model of the run, so that its limits hold for it alone
    assert whole.holdout.value == pytest.approx(decided[1].mean() - decided[0].mean())
    rng = np.random.default_rng(0)
    change = decided[1].astype(float) - decided[0]
    drawn = rng.choice(change, size=(4000, len(change))).mean(1)
    error = drawn.std()
    assert whole.holdout.high - whole.holdout.low == pytest.approx(2 * 1.96 * error, rel=0.05)
    assert whole.holdout.low < whole.holdout.value < whole.holdout.high
    assert group.subject.startswith("selection_rate@sex: ")
    assert group.holdout.low < group.holdout.value < group.holdout.high
    old = document.but(
        models=tuple(
            model.but(
                scores=model.scores.but(
                    holdout=model.scores.holdout.but(
                        by_column={name: one.but(shared=()) for name, one in model.scores.holdout.by_column.items()}
                    )
                )
            )
            for model in document.models
        )
    )
    tolerances = replace(document.selection.tolerances, guards=guards)
    unpaired = choose_guarded(old, tolerances, rank).guards
    assert [check.holdout.low for check in unpaired] == [None, None]


def test_choosing_again_keeps_the_guards_of_the_run(exact_run):
    exact_run = select(exact_run, guards=DEFAULT_GUARDS)
    last = exact_run.document.selection.tolerances.guards
    assert last == DEFAULT_GUARDS
    assert select(exact_run).document.selection.tolerances.guards == last
    fresh = select(exact_run, guards="selection_rate<=+0.3").document.selection.tolerances.guards
    assert fresh == (*(text for text in last if not text.startswith("selection_rate")), "selection_rate<=+0.3")
    assert select(exact_run, guards="none").document.selection.tolerances.guards == ()
    with pytest.raises(ConfigError, match="no sensitive column is called 'rac'; did you mean 'race'"):
        select(exact_run, guards="other_gaps@rac<=+0.1")


def test_a_column_that_is_not_there_is_refused_before_training():
    stages = []
    with pytest.raises(ConfigError, match="no sensitive column is called 'age'"):
        audit_people(people(), guards="other_gaps@age<=+0.1", progress=lambda stage, *_: stages.append(stage))
    assert "tune" not in stages


def test_the_search_listens_to_the_guards():
    free = audit_applicants(search="guided", guards="none").document
    within = audit_applicants(search="guided", guards=("none", "selection_rate=+-0.01")).document
    first = within.first.scores.selection.selection_rate.value
    changes = [abs(model.scores.selection.selection_rate.value - first) for model in within.models]
    assert max(changes) <= 0.01 + 1e-12
    assert within.selected.rank > 1
    assert max(abs(model.scores.selection.selection_rate.value - first) for model in free.models) > 0.01


def test_limits_of_a_guard_hold_for_all_models_once_the_holdout_is_in_sight(guided_run):
    document, live = guided_run.document, guided_run.live
    decided = live.listing.values["holdout"] >= 0.0
    moved = (decided != decided[0]).sum(axis=1)
    moved[document.selection.rank - 1] = 0
    rank = int(moved.argmax()) + 1
    chosen = select(guided_run, guards=("none", "selection_rate=+-0"), rank=rank).document.selection
    assert chosen.is_in_sight
    (check,) = chosen.guards
    change = decided[rank - 1].astype(float) - decided[0]
    assert check.holdout.value == pytest.approx(change.mean())
    critical = stats.norm.ppf(1 - 0.025 / (len(document.models) - 1))
    error = change.std() / np.sqrt(len(change))
    assert check.holdout.high - check.holdout.low == pytest.approx(2 * critical * error, rel=0.25)
