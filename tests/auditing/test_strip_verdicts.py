"""The strip of a first choice, judged alone, and that of a choice made with the holdout in sight."""

from dataclasses import replace

import numpy as np
import pytest
from support.audits import METRIC

from fairenum.auditing.choosing import CLAIM, choose_again, strip_alone
from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import GapChange, GuardCheck, proposal_of
from fairenum.document.terms import GAPS, Verdict
from fairenum.document.value import Estimate
from fairenum.metrics import Decisions, Groups
from fairenum.metrics.comparison import compare_chosen

SOME = Estimate(0.0, -1.0, 1.0)


def test_the_strip_holds_every_gap_in_every_column_the_claim_first(exact):
    strip = exact.selection.strip
    columns = [column.column for column in exact.dataset.sensitive]
    assert {(cell.column, cell.metric) for cell in strip} == {(column, gap) for column in columns for gap in GAPS}
    assert [cell.is_claim for cell in strip] == [True] + [False] * (len(strip) - 1)
    assert (strip[0].column, strip[0].metric) == (exact.column, METRIC)
    for cell in strip:
        first, chosen = (
            model.scores.holdout.by_column[cell.column].gap(cell.metric) for model in (exact.first, exact.selected)
        )
        assert (cell.first, cell.selected) == (first.alone, chosen.alone)
        if cell.change.low is not None:
            assert cell.change.value == pytest.approx(chosen.value - first.value)
            assert cell.change.low <= cell.change.value <= cell.change.high


def test_the_claim_is_what_the_selection_says(exact):
    selection = exact.selection
    assert selection.verdict is selection.strip[0].verdict
    assert selection.gap_change.holdout == selection.strip[0].change
    assert selection.performance_floor >= selection.performance_change.holdout.low
    shown = selection.gap_change.selection.value
    assert selection.optimism.observed.low == pytest.approx(selection.strip[0].change.low - shown)
    assert selection.optimism.observed.high == pytest.approx(selection.strip[0].change.high - shown)


@pytest.mark.parametrize("second", [(0.6, 0.59), (0.6, 0.4)])
def test_the_errors_of_all_cells_that_are_told_add_up_to_what_is_stated(second):
    decisions = made(np.random.default_rng(3), (0.6, 0.4), second)
    few = np.arange(len(decisions["a"].labels)) < 40
    decisions["few"] = replace(decisions["a"], groups=Groups(few.astype(int), ("most", "few")))
    strip = strip_alone(cells("a", "b", "few"), decisions, 1, AuditConfig())
    told = {("few", METRIC), *((column, gap) for column in ("a", "b") for gap in GAPS)}
    claim, *others = [cell for cell in strip if (cell.column, cell.metric) in told]
    is_shown = claim.verdict is Verdict.FAIRER
    assert 1 - claim.confidence == pytest.approx(CLAIM * 0.05)
    assert sum(1 - cell.confidence for cell in others) == pytest.approx((0.6 if is_shown else 0.2) * 0.05)
    # some 20 labels of a kind: whatever the rows say is left open
    assert {cell.verdict for cell in strip if (cell.column, cell.metric) not in told} == {Verdict.OPEN}


def test_alone_it_is_known_better_than_among_all(exact):
    alone, together = exact.selection, choose_again(exact, exact.selection.tolerances).selection
    assert (alone.is_in_sight, together.is_in_sight) == (False, True)
    widths = [cell.change.high - cell.change.low for cell in (alone.strip[0], together.strip[0])]
    assert widths[0] < widths[1]
    assert together.performance_floor < alone.performance_floor


@pytest.mark.parametrize("rank", [2, 7])
def test_choosing_again_is_judged_by_limits_that_hold_for_all_models(exact, rank):
    selection = choose_again(exact, exact.selection.tolerances, rank).selection
    scores = exact.models[rank - 1].scores.holdout
    assert selection.is_in_sight
    assert len(selection.strip) == len(exact.selection.strip)
    for cell in selection.strip:
        gap = scores.by_column[cell.column].gap(cell.metric)
        assert (cell.change, cell.verdict, cell.confidence) == (gap.change, gap.verdict, exact.config.confidence)
    assert selection.performance_floor == scores.performance.change.low
    assert selection.verdict is scores.gap(METRIC).verdict


def test_limits_for_all_models_are_kept_for_every_rule(exact):
    for model in exact.models:
        alone = model.scores.holdout
        for name, limits in alone.together.items():
            own = alone.measure(name)
            assert limits.value == own.value
            if own.value is not None:
                assert limits.low <= own.low + 1e-12
                assert limits.high >= own.high - 1e-12
        assert not model.scores.selection.together
    assert {*GAPS, "accuracy", "auc", "demographic_parity_ratio"} <= set(exact.first.scores.holdout.together)


def test_other_candidates_that_the_holdout_confirms_are_named(exact):
    confirmed = {
        model.rank
        for model in exact.models
        if model.scores.holdout.gap(METRIC).verdict is Verdict.FAIRER and model.rank in exact.selection.candidates
    }
    assert set(exact.selection.confirmed) == confirmed - {1, exact.selection.rank}


def made(rng, first, second, rows=4000):
    """Two models of these rates, in two groups and in three that have nothing to do with them."""
    a, b, labels = rng.integers(0, 2, rows), rng.integers(0, 3, rows), rng.integers(0, 2, rows)
    score = rng.random(rows)
    predictions = np.stack([score < np.asarray(rates)[a] for rates in (first, second)])
    groups = {"a": Groups(a, ("x", "y")), "b": Groups(b, ("u", "v", "w")), "one": Groups(np.zeros(rows, int), ("all",))}
    return {column: Decisions(predictions, labels, one) for column, one in groups.items()}


def cells(*columns):
    found = [
        GapChange(column, gap, (column, gap) == ("a", METRIC), SOME, SOME, SOME, 0.95, None)
        for column in columns
        for gap in GAPS
    ]
    return tuple(cell.but(change=Estimate(0.0)) if cell.column == "one" else cell for cell in found)


@pytest.mark.parametrize(
    ("second", "verdict"),
    [
        ((0.6, 0.59), Verdict.FAIRER),
        ((0.6, 0.2), Verdict.LESS_FAIR),
        ((0.6, 0.4), Verdict.SAME),
        ((0.4, 0.6), Verdict.OPEN),
    ],
)
def test_a_claim_that_is_shown_passes_its_share_on(second, verdict):
    config = AuditConfig(same_within=0.02)
    decisions = made(np.random.default_rng(3), (0.6, 0.4), second)
    strip = strip_alone(cells("a", "b", "one"), decisions, 1, config)
    assert strip[0].verdict is verdict
    share = 0.6 if verdict in (Verdict.FAIRER, Verdict.LESS_FAIR) else 0.2
    for cell in strip:
        if cell.column == "one":
            assert cell.verdict is None
            assert cell.change == Estimate(0.0)
            continue
        assert 1 - cell.confidence == pytest.approx(0.05 * (0.8 if cell.is_claim else share / 7))
        judged = compare_chosen(decisions[cell.column], 1, cell.metric, confidence=cell.confidence, margin=0.02)
        assert cell.verdict is judged.verdict
        assert (cell.change.low, cell.change.high) == (
            pytest.approx(judged.change.lower),
            pytest.approx(judged.change.upper),
        )


def test_a_model_without_a_choice_has_no_verdict():
    decisions = made(np.random.default_rng(3), (0.6, 0.4), (1.0, 1.0))
    strip = strip_alone(cells("a", "b"), decisions, 1, AuditConfig())
    assert {cell.verdict for cell in strip} == {None}


@pytest.mark.parametrize(
    ("value", "proposal"), [(0.1, "candidate"), (0.05, "proposed"), (-1.0, "proposed"), (None, "proposed")]
)
def test_what_is_shown_to_be_fairer_is_proposed_unless_a_guardrail_is_left(exact, value, proposal):
    guard = GuardCheck(
        "equal_opportunity_difference<=+0.05", "equal_opportunity_difference", None, 0.05, 0.0, Estimate(value), "open"
    )
    selection = exact.selection.but(verdict=Verdict.FAIRER, guards=(guard,))
    assert proposal_of(selection) == proposal
    assert proposal_of(selection, is_exploratory=True) == "candidate"
    assert proposal_of(selection.but(verdict=Verdict.OPEN)) == "candidate"
    assert proposal_of(selection.but(outcome="kept")) is None
