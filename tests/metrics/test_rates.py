"""Rates and gaps against hand counts, and what happens where there is nothing to count."""

import copy
import dataclasses
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest

from fairenum.document.terms import GAPS, RATIOS
from fairenum.errors import DataError
from fairenum.metrics.counts import Decisions, blocks, confusion
from fairenum.metrics.rates import fairlearn_metrics, score, undefined_groups
from fairenum.tables.groups import Groups

LABELS = [1, 1, 0, 0, 1, 0, 0, 0]
CODES = [0, 0, 0, 0, 1, 1, 1, 1]


def decisions(*models, labels=LABELS, codes=CODES, names=None):
    names = names or tuple("abcdefgh"[: max(codes) + 1])
    return Decisions(np.array(models), np.array(labels), Groups(np.array(codes), names))


def test_rates_are_those_counted_by_hand():
    scores = score(decisions([1, 0, 1, 0, 1, 1, 0, 0]))
    rates = scores.by_group
    assert rates.count.tolist() == [4, 4]
    assert rates.selection_rate.tolist() == [[0.5, 0.5]]
    assert rates.accuracy.tolist() == [[0.5, 0.75]]
    assert rates.error.tolist() == [[0.5, 0.25]]
    assert rates.true_positive_rate.tolist() == [[0.5, 1.0]]
    assert rates.false_positive_rate.tolist() == [[0.5, pytest.approx(1 / 3)]]
    assert rates.precision.tolist() == [[0.5, 0.5]]
    assert rates.balanced_accuracy.tolist() == [[0.5, pytest.approx(5 / 6)]]
    assert scores.overall.accuracy.tolist() == [0.625]
    assert scores.overall.count == 8
    assert scores.gaps.demographic_parity_difference.tolist() == [0]
    assert scores.gaps.demographic_parity_ratio.tolist() == [1]
    assert scores.gaps.equal_opportunity_difference.tolist() == [0.5]
    assert scores.gaps.equal_opportunity_ratio.tolist() == [0.5]
    assert scores.gaps.equalized_odds_difference.tolist() == [0.5]
    assert scores.gaps.equalized_odds_ratio.tolist() == [0.5]
    assert scores.gaps.predictive_parity_difference.tolist() == [0]


def test_hinge_loss_is_the_mean_over_the_rows_of_a_group():
    decided = decisions([1, 0, 1, 0], labels=[1, 1, 0, 0], codes=[0, 0, 0, 1])
    scores = score(decided, decision_values=[[2.0, -1.0, 0.5, -0.25]])
    assert scores.by_group.hinge_loss.tolist() == [[pytest.approx((0 + 2 + 1.5) / 3), 0.75]]
    assert scores.overall.hinge_loss.tolist() == [pytest.approx((0 + 2 + 1.5 + 0.75) / 4)]


def test_hinge_loss_is_absent_without_decision_values():
    assert score(decisions([1, 0, 1, 0, 1, 1, 0, 0])).overall.hinge_loss is None


def test_a_weight_of_two_counts_a_row_twice():
    rng = np.random.default_rng(1)
    labels, codes, models = rng.integers(0, 2, 30), rng.integers(0, 3, 30), rng.integers(0, 2, (4, 30))
    weights = rng.integers(0, 4, 30)
    repeated = np.repeat(np.arange(30), weights)
    once = score(decisions(*models, labels=labels, codes=codes), weights=weights)
    twice = score(
        decisions(*models[:, repeated], labels=labels[repeated], codes=codes[repeated], names=("a", "b", "c"))
    )
    np.testing.assert_allclose(once.by_group.precision, twice.by_group.precision)
    np.testing.assert_allclose(once.gaps.equalized_odds_difference, twice.gaps.equalized_odds_difference)


def test_many_weightings_at_once_are_those_one_by_one():
    decided = decisions([1, 0, 1, 0, 1, 1, 0, 0], [0, 0, 1, 1, 0, 1, 1, 0])
    weightings = np.random.default_rng(2).normal(size=(5, 8))
    together = confusion(decided, weightings)
    assert together.selected.shape == (5, 2, 2, 2)
    assert together.total.shape == (5, 1, 2, 2)
    for position, weights in enumerate(weightings):
        alone = confusion(decided, weights)
        np.testing.assert_allclose(together.selected[position], alone.selected)
        np.testing.assert_allclose(together.total[position], alone.total)


def test_a_single_group_has_no_gap():
    scores = score(decisions([1, 0, 1, 0], [0, 0, 0, 0], labels=[1, 1, 0, 0], codes=[0, 0, 0, 0]))
    assert scores.gaps.demographic_parity_difference.tolist() == [0, 0]
    assert scores.gaps.equalized_odds_difference.tolist() == [0, 0]
    assert scores.groups.is_single
    assert not score(decisions([1, 0, 1, 0, 1, 1, 0, 0])).groups.is_single


def test_a_rate_without_rows_is_undefined_and_marked():
    # no positives in group b: fairlearn would give it a true positive rate of 0 and a gap of 1
    scores = score(decisions([1, 1, 0, 0], labels=[1, 0, 0, 0], codes=[0, 0, 1, 1]))
    assert np.isnan(scores.by_group.true_positive_rate).tolist() == [[False, True]]
    assert np.isnan(scores.by_group.balanced_accuracy).tolist() == [[False, True]]
    assert np.isnan(scores.gaps.equal_opportunity_difference).all()
    assert np.isnan(scores.gaps.equalized_odds_difference).all()
    assert np.isnan(scores.gaps.equalized_odds_ratio).all()
    assert scores.gaps.demographic_parity_difference.tolist() == [1]
    assert undefined_groups(scores.by_group, "equal_opportunity_difference").tolist() == [[False, True]]
    assert not undefined_groups(scores.by_group, "demographic_parity_difference").any()


def test_a_gap_spans_the_groups_that_have_a_rate():
    scores = score(decisions([1, 1, 0, 0, 1], labels=[1, 0, 1, 0, 0], codes=[0, 0, 1, 1, 2]))
    assert scores.gaps.equal_opportunity_difference.tolist() == [1]
    assert undefined_groups(scores.by_group, "equal_opportunity_difference").tolist() == [[False, False, True]]


def test_a_group_without_rows_changes_nothing():
    model = [1, 0, 1, 0, 1, 1, 0, 0]
    with_empty = score(decisions(model, codes=[c * 2 for c in CODES], names=("a", "empty", "b")))
    without = score(decisions(model))
    assert with_empty.gaps.equalized_odds_ratio.tolist() == without.gaps.equalized_odds_ratio.tolist()
    assert np.isnan(with_empty.by_group.accuracy[0, 1])
    assert not undefined_groups(with_empty.by_group, "equalized_odds_difference").any()


def test_models_that_decide_all_rows_alike_are_marked():
    scores = score(decisions([0] * 8, [1] * 8, [1, 0] * 4))
    assert scores.is_constant.tolist() == [True, True, False]
    assert scores.gaps.demographic_parity_difference[:2].tolist() == [0, 0]
    assert np.isnan(scores.gaps.demographic_parity_ratio[0])
    assert np.isnan(scores.gaps.predictive_parity_difference[0])


def test_rates_of_zero_everywhere_do_not_hide_the_other_half_of_the_odds():
    # no false positives at all: the ratio of the odds is that of the true positive rates, as in fairlearn
    scores = score(decisions([1, 0, 0, 1, 1, 0], labels=[1, 1, 0, 1, 1, 0], codes=[0, 0, 0, 1, 1, 1]))
    assert scores.gaps.equalized_odds_ratio.tolist() == [0.5]


@pytest.mark.parametrize("rows", [1, 2])
def test_very_few_rows_are_scored(rows):
    scores = score(decisions([1] * rows, labels=[1] * rows, codes=list(range(rows))))
    assert scores.gaps.demographic_parity_difference.tolist() == [0]


def test_groups_are_named_by_text_and_keep_their_codes():
    codes = np.array([0, 1, 1])
    groups = Groups(codes, (float("nan"), "nan?"))
    codes[0] = 1
    assert groups.names == ("nan", "nan?")
    assert groups.codes.tolist() == [0, 1, 1]
    assert groups.sizes.tolist() == [1, 2]
    assert groups.small(2).tolist() == [True, False]
    assert groups.reference() == 1
    assert groups.reference("nan") == 0


def test_an_unknown_reference_group_is_refused_with_the_known_ones():
    with pytest.raises(DataError, match=r"'c'.*\['a', 'b'\]"):
        Groups(np.array([0, 1]), ("a", "b")).reference("c")


@pytest.mark.parametrize(
    ("codes", "names", "message"),
    [
        ([0.0, 1.0], ("a", "b"), "integer"),
        ([], ("a",), "integer"),
        ([[0]], ("a",), "integer"),
        ([0, 2], ("a", "b"), r"0\.\.1, got 0\.\.2"),
        ([-1, 0], ("a", "b"), "got -1"),
        ([0, 1], ("a", "a"), "differ"),
    ],
)
def test_groups_that_cannot_be_are_refused(codes, names, message):
    with pytest.raises(DataError, match=message):
        Groups(np.array(codes), names)


@pytest.mark.parametrize(
    ("predictions", "labels", "message"),
    [
        ([["yes", "no"]], [0, 1], "predictions must be 0 or 1"),
        ([[0, 2]], [0, 1], "predictions must be 0 or 1"),
        ([[0, np.nan]], [0, 1], "predictions must be 0 or 1"),
        ([[0, 1]], [-1, 1], "labels must be 0 or 1"),
        ([[0, 1]], [0, 1, 1], "labels must be one for each of the 2"),
        ([0, 1], [0, 1], "shape"),
        ([[0, 1, 1]], [0, 1], "shape"),
        (np.empty((0, 2)), [0, 1], "shape"),
    ],
)
def test_decisions_that_cannot_be_are_refused(predictions, labels, message):
    with pytest.raises(DataError, match=message):
        Decisions(predictions, labels, Groups(np.array([0, 1]), ("a", "b")))


@pytest.mark.parametrize("weights", [[1.0], [1, 1, 1, 1, 1, 1, 1, -1], [1, 1, 1, 1, 1, 1, 1, np.nan]])
def test_weights_that_cannot_be_are_refused(weights):
    with pytest.raises(DataError, match="weights"):
        score(decisions([1, 0, 1, 0, 1, 1, 0, 0]), weights=weights)


def test_decision_values_of_another_shape_are_refused():
    with pytest.raises(DataError, match="decision values"):
        score(decisions([1, 0, 1, 0, 1, 1, 0, 0]), decision_values=[[1.0]])


def test_results_are_read_only_and_the_input_is_left_alone():
    predictions = np.array([[1, 0, 1, 0]], dtype=np.uint8)
    decided = Decisions(predictions, np.array([1, 1, 0, 0]), Groups(np.array([0, 0, 1, 1]), ("a", "b")))
    scores = score(decided)
    predictions[0, 0] = 1
    for record in (decided, scores.by_group, scores.overall, scores.gaps, scores.counts, scores):
        for field in dataclasses.fields(record):
            value = getattr(record, field.name)
            assert not isinstance(value, np.ndarray) or not value.flags.writeable
    for value in (*scores.by_group.shares.values(), *scores.overall.shares.values(), *scores.gaps.distances.values()):
        assert not value.flags.writeable


def test_rates_and_gaps_that_do_not_exist_are_refused_and_the_others_survive_a_copy():
    scores = pickle.loads(pickle.dumps(copy.deepcopy(score(decisions([1, 0, 1, 0, 1, 1, 0, 0])))))
    assert scores.gaps.equal_opportunity_difference.tolist() == [0.5]
    with pytest.raises(AttributeError, match="there is no gap 'odds'; there are demographic_parity_difference"):
        _ = scores.gaps.odds
    with pytest.raises(AttributeError, match="there is no rate 'recall'; there are selection_rate"):
        _ = scores.overall.recall


def test_blocks_cover_everything_once():
    for length, width in [(1, 1), (500, 45_000), (3, 10_000_000), (7, 0)]:
        covered = np.concatenate([np.arange(length)[block] for block in blocks(length, width)])
        assert covered.tolist() == list(range(length))


@pytest.mark.parametrize("groups", [2, 8])
def test_fairlearn_agrees_on_a_table_of_ordinary_size(groups):
    rng = np.random.default_rng(groups)
    codes, labels, models = (
        rng.integers(0, groups, 500),
        rng.integers(0, 2, 500),
        rng.integers(0, 2, (2, 500)),
    )
    decided = decisions(*models, labels=labels, codes=codes)
    ours, theirs = score(decided).gaps, fairlearn_metrics(decided)
    for name in (*GAPS, *RATIOS):
        expected = getattr(theirs, name)
        assert not np.isnan(expected).any()
        np.testing.assert_allclose(getattr(ours, name), expected, rtol=0, atol=1e-12)


def test_fairlearn_is_asked_only_where_it_has_an_answer():
    undefined = fairlearn_metrics(decisions([1, 1, 0, 0], labels=[1, 0, 0, 0], codes=[0, 0, 1, 1]))
    assert np.isnan(undefined.equalized_odds_ratio).all()
    assert np.isnan(undefined.predictive_parity_difference).all()
    assert undefined.demographic_parity_difference.tolist() == [1]


def test_scoring_loads_fairlearn_only_when_asked():
    program = "import sys, fairenum.metrics.comparison; print('fairlearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_five_hundred_models_on_forty_five_thousand_rows_take_a_moment():
    rng = np.random.default_rng(3)
    decided = Decisions(
        rng.integers(0, 2, (500, 45_000), dtype=np.uint8),
        rng.integers(0, 2, 45_000),
        Groups(rng.integers(0, 10, 45_000), tuple("abcdefghij")),
    )
    start = time.perf_counter()
    score(decided)
    assert time.perf_counter() - start < 5
