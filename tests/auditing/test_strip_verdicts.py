"""The strip of a first choice, judged alone, and that of a choice made with the holdout in sight."""

from dataclasses import replace

import numpy as np
import pytest
from support.audits import METRIC

from fairenum.auditing.choosing import CLAIM, choose_again, strip_alone
from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import GapChange
from fairenum.document.terms import GAPS, Verdict
from fairenum.document.value import Estimate, Parts
from fairenum.metrics import Decisions, Groups
from fairenum.metrics.claims import Errors, compare_chosen, compare_pair, fixed_pairs

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
    """Half of 0.05 is for "fairer", 0.8 of it for the claim unless that is shown; half for "less fair", among all."""
    rows = made(np.random.default_rng(3), (0.6, 0.4), second)
    few = np.arange(len(rows["a"].holdout.labels)) < 40
    both, groups = rows["a"], Groups(few.astype(int), ("most", "few"))
    rows["few"] = Parts(replace(both.selection, groups=groups), replace(both.holdout, groups=groups))
    strip = strip_alone(cells("a", "b", "few"), rows, 1, AuditConfig())
    told = {("few", METRIC), *((column, gap) for column in ("a", "b") for gap in GAPS)}
    claim, *others = [cell for cell in strip if (cell.column, cell.metric) in told]
    is_shown = claim.verdict is Verdict.FAIRER
    assert is_shown == (second == (0.6, 0.59))
    levels = holm([claim, *others], rows, 0.025 if is_shown else (1 - CLAIM) * 0.025)
    errors = [1 - cell.confidence for cell in (claim, *others)]
    assert errors == pytest.approx([sum(levels[cell.column, cell.metric]) for cell in (claim, *others)])
    assert errors[0] == pytest.approx(CLAIM * 0.025 + 0.025 / len(errors))  # "less fair" is shown of none
    if not is_shown:  # nothing is shown at all, so that no share is passed on
        assert sum(errors) == pytest.approx(0.05)
    # some 20 labels of a kind: whatever the rows say is left open
    assert {cell.verdict for cell in strip if (cell.column, cell.metric) not in told} == {Verdict.OPEN}


def test_alone_it_is_known_better_than_among_all(exact):
    selection, scores = exact.selection, exact.selected.scores.holdout
    assert not selection.is_in_sight
    change, together = selection.strip[0].change, scores.gap(METRIC).change
    assert change.high - change.low < together.high - together.low
    assert scores.performance.change.low < selection.performance_floor


@pytest.mark.parametrize("rank", [3, 7])
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
    """Two models of these rates on selection split and holdout, in groups, and in three that have no part in them."""
    found = [_drawn(rng, first, second, rows) for _ in range(2)]
    return {column: Parts(*(one[column] for one in found)) for column in found[0]}


def _drawn(rng, first, second, rows):
    number = len(first)
    a, b, labels = rng.integers(0, number, rows), rng.integers(0, 3, rows), rng.integers(0, 2, rows)
    score = rng.random(rows)
    predictions = np.stack([score < np.asarray(rates)[a] for rates in (first, second)])
    groups = {
        "a": Groups(a, tuple("xyzt"[:number])),
        "b": Groups(b, ("u", "v", "w")),
        "one": Groups(np.zeros(rows, int), ("all",)),
    }
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
    rows = made(np.random.default_rng(3), (0.6, 0.4), second)
    strip = strip_alone(cells("a", "b", "one"), rows, 1, config)
    assert strip[0].verdict is verdict
    judged = [cell for cell in strip if cell.column != "one"]
    levels = holm(judged, rows, 0.025 if verdict is Verdict.FAIRER else (1 - CLAIM) * 0.025)
    for cell in strip:
        if cell.column == "one":
            assert cell.verdict is None
            assert cell.change == Estimate(0.0)
            continue
        errors = levels[cell.column, cell.metric]
        judged = alone(rows, cell, errors, margin=0.02)
        assert cell.confidence == pytest.approx(1 - sum(errors))
        assert cell.verdict is judged.verdict
        assert (cell.change.low, cell.change.high) == (
            pytest.approx(judged.change.lower),
            pytest.approx(judged.change.upper),
        )


def alone(rows, cell, errors, margin=0.0):
    pairs = fixed_pairs(rows[cell.column].selection, 1, cell.metric)
    return compare_chosen(rows[cell.column].holdout, 1, cell.metric, pairs, errors, margin=margin)


def holm(judged, rows, left):
    """Write Holm's procedure out, for each side: the p-values in order, each with its share of what is left."""
    keys = [(cell.column, cell.metric) for cell in judged]

    def is_shown(cell, error, is_gain):
        change = alone(rows, cell, Errors(error, 0.5) if is_gain else Errors(0.5, error)).change
        return change.upper < 0 if is_gain else change.lower > 0

    def value(cell, is_gain):
        """The smallest error at which the change is shown, by bisection of its logarithm; 1 if it is shown at none."""
        low, high = -60.0, -1.0
        if not is_shown(cell, 2.0**high, is_gain):
            return 1.0
        for _ in range(16):
            middle = (low + high) / 2
            low, high = (low, middle) if is_shown(cell, 2.0**middle, is_gain) else (middle, high)
        return 2.0**high

    def stepped(cells, error, is_gain):
        values, levels, open_cells = {cell: value(cell, is_gain) for cell in cells}, {}, list(cells)
        while open_cells:
            share = error / len(open_cells)
            shown = [cell for cell in open_cells if values[cell] <= share]
            levels |= {(cell.column, cell.metric): share for cell in shown or open_cells}
            open_cells = [cell for cell in open_cells if shown and cell not in shown]
        return levels

    gains = {keys[0]: CLAIM * 0.025} | stepped(judged[1:], left, is_gain=True)
    harms = stepped(judged, 0.025, is_gain=False)
    return {key: Errors(gains[key], harms[key]) for key in keys}


@pytest.mark.parametrize("control", [None, "y"])
def test_of_many_groups_the_claim_is_about_the_widest_pair(control):
    rows = made(np.random.default_rng(5), (0.7, 0.5, 0.45, 0.3), (0.6, 0.55, 0.5, 0.45), rows=6000)
    strip = strip_alone(cells("a", "b"), rows, 1, AuditConfig(control=control))
    claim, whole, *others = [cell for cell in strip if (cell.column, cell.metric) == ("a", METRIC)]
    widest, base = (("x", "t"), "x") if control is None else (("x", "y"), "y")
    widest = ("y", "t") if control and gap_of(rows, "y", "t") > gap_of(rows, "x", "y") else widest
    assert [cell.is_claim for cell in strip] == [True] + [False] * (len(strip) - 1)
    assert (claim.pair.higher, claim.pair.lower, claim.pair.rate) == (*widest, "selection_rate")
    assert whole.pair is None
    assert all(base in (cell.pair.higher, cell.pair.lower) for cell in others)
    names = {cell.pair.higher for cell in others} | {cell.pair.lower for cell in others}
    assert names == {*"xyzt"} - ({*widest} - {base})
    for cell in (claim, *others):
        a, b = ("xyzt".index(name) for name in (cell.pair.higher, cell.pair.lower))
        shares = group_shares(rows["a"].holdout)
        gaps = [abs(one[a] - one[b]) for one in shares]
        assert (cell.first.value, cell.selected.value) == (pytest.approx(gaps[0]), pytest.approx(gaps[1]))
        assert cell.change.value == pytest.approx(gaps[1] - gaps[0])
    judged = compare_pair(
        rows["a"].holdout, 1, fixed_pairs(rows["a"].selection, 1, METRIC, control).first, Errors(CLAIM * 0.025, 0.025)
    )
    assert claim.change.high == pytest.approx(judged.change.upper)
    assert claim.verdict is Verdict.FAIRER


def group_shares(decisions):
    """Return the selection rates of both models, shape (models, groups)."""
    sizes = np.bincount(decisions.groups.codes)
    return [np.bincount(decisions.groups.codes, one) / sizes for one in decisions.predictions]


def gap_of(rows, *names):
    first = group_shares(rows["a"].selection)[0]
    a, b = ("xyzt".index(name) for name in names)
    return abs(first[a] - first[b])


def test_a_model_without_a_choice_has_no_verdict():
    decisions = made(np.random.default_rng(3), (0.6, 0.4), (1.0, 1.0))
    strip = strip_alone(cells("a", "b"), decisions, 1, AuditConfig())
    assert {cell.verdict for cell in strip} == {None}
