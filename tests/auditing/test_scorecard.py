"""Scores of the document against those of the exported pipelines, and what a model may claim where."""

import math

import numpy as np
import pytest
from fairlearn.metrics import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equalized_odds_difference,
    equalized_odds_ratio,
)
from sklearn.metrics import balanced_accuracy_score
from support.audits import METRIC, applicants, audit_applicants, of_origin, people

from fairenum.document.scores import NO_GROUPS
from fairenum.document.value import Estimate
from fairenum.metrics.intervals import estimate, plain


def test_scores_are_those_of_the_exported_pipeline(exact_run, exact):
    frame, rows = people(), exact_run.live.division.rows["holdout"]
    truth = frame["hired"].iloc[rows].to_numpy() == "yes"
    for rank in (1, 7):
        scores = exact.models[rank - 1].scores.holdout
        predicted = exact_run.estimator(rank).predict(frame.iloc[rows]) == "yes"
        assert scores.accuracy.value == pytest.approx((predicted == truth).mean())
        assert scores.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(truth, predicted))
        assert scores.selection_rate.value == pytest.approx(predicted.mean())
        for column in ("sex", "race"):
            groups, shown = frame[column].iloc[rows], scores.by_column[column]
            gap = demographic_parity_difference(truth, predicted, sensitive_features=groups)
            assert shown.demographic_parity_difference.value == pytest.approx(gap, abs=1e-12)
            assert shown.demographic_parity_difference.low <= gap <= shown.demographic_parity_difference.high
            for measure, theirs in (
                ("equalized_odds_difference", equalized_odds_difference),
                ("demographic_parity_ratio", demographic_parity_ratio),
                ("equalized_odds_ratio", equalized_odds_ratio),
            ):
                expected = theirs(truth, predicted, sensitive_features=groups)
                assert getattr(shown, measure).value == pytest.approx(expected, abs=1e-12)
            counted = [predicted[groups == name].sum() for name in sorted(groups.unique())]
            assert list(shown.selected) == counted
            right = [(predicted & truth)[groups == name].sum() for name in sorted(groups.unique())]
            assert list(shown.true_positives) == right


def test_the_loss_is_that_of_the_decision_values(exact_run, exact):
    frame, rows = people(), exact_run.live.division.rows["holdout"]
    signs = np.where(frame["hired"].iloc[rows] == "yes", 1.0, -1.0)
    values = exact_run.estimator(3).decision_function(frame.iloc[rows])
    expected = np.maximum(0.0, 1.0 - signs * values).mean()
    assert exact.models[2].scores.holdout.hinge_loss.value == pytest.approx(expected)


def test_changes_are_against_model_1(exact):
    for part in ("selection", "holdout"):
        first = exact.first.scores.of(part)
        for model in exact.models:
            scores = model.scores.of(part)
            for name in ("accuracy", METRIC):
                found = getattr(scores, name)
                assert found.change.value == pytest.approx(found.value - getattr(first, name).value)
                assert found.change.low <= found.change.value <= found.change.high


def test_scores_of_guided_models_are_those_of_their_pipelines(guided_run, guided):
    frame, rows = applicants(), guided_run.live.division.rows["holdout"]
    rank = of_origin(guided, "guided")[-1].rank
    predicted = guided_run.estimator(rank).predict(frame.iloc[rows])
    gap = demographic_parity_difference(
        frame["hired"].iloc[rows] == "y", predicted == "y", sensitive_features=frame["sex"].iloc[rows]
    )
    assert guided.models[rank - 1].scores.holdout.gap(METRIC).value == pytest.approx(gap)


def test_only_the_holdout_speaks_about_guided_models(guided):
    for model in guided.models:
        selection, holdout = model.scores.selection, model.scores.holdout
        assert (selection.gap(METRIC).verdict is None) == model.is_searched
        assert (selection.by_column["sex"].gap(METRIC).verdict is None) == model.is_searched
        assert holdout.gap(METRIC).verdict is not None
    assert guided.selected.origin == "guided"
    assert guided.selection.optimism.expected is None
    assert guided.selection.verdict is guided.selection.strip[0].verdict is guided.selected.own.verdict


def test_bands_hold_over_all_models_together(guided):
    """The change of a listed model is known less well when more models are compared."""
    alone = audit_applicants(search="exact").document
    changes = [
        [model.scores.holdout.gap(METRIC).change for model in of_origin(document, "exact")][1:]
        for document in (guided, alone)
    ]
    for wide, narrow in zip(*changes, strict=True):
        assert wide.high - wide.low >= narrow.high - narrow.low


def test_without_groups_every_gap_is_undefined():
    assert NO_GROUPS[METRIC].value is NO_GROUPS[METRIC].verdict is None
    assert NO_GROUPS["equalized_odds_ratio"] == Estimate()


@pytest.mark.parametrize(("number", "shown"), [(math.nan, None), (math.inf, None), (-0.0, "0.0"), (0.25, "0.25")])
def test_numbers_are_what_json_can_hold(number, shown):
    assert plain(number) == (None if shown is None else float(shown))
    if shown is not None:
        assert str(plain(number)) == shown  # no -0


def test_an_estimate_without_limits():
    assert estimate(0.5) == Estimate(0.5)
    assert estimate(np.float64(0.5), 0.25, math.inf) == Estimate(0.5, 0.25)
    assert type(estimate(np.float64(0.5)).value) is float
