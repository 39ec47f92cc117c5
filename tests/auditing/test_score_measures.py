"""What models rank people by in an audit: the same as a measurement of the same rows says."""

from __future__ import annotations

import pytest
from support.decisions import PLAN, QUICK, holdout, table

from fairenum import audit, measure


@pytest.mark.parametrize("is_lower_better", [False, True])
def test_the_score_of_the_model_in_use_is_measured_as_a_measurement_does(is_lower_better):
    frame = table().drop(columns="hired")
    frame["points"] = frame["points"] * (-1.0 if is_lower_better else 1.0)
    result = audit(
        frame,
        **PLAN,
        **QUICK,
        drop=["rival"],
        incumbent_score="points",
        incumbent_cutoff="median",
        incumbent_lower_is_better=is_lower_better,
    )
    (found,) = result.document.scores
    plan = {"label": "good", "favourable": "yes", "sensitive": "sex", "control": result.document.config.control}
    apart = measure(frame, score="points", lower_is_better=is_lower_better, **plan)
    assert (found.rank, found.rows, found.score) == (0, len(frame), apart.document.score)
    assert result.redacted().document.scores == ()  # the curve of a group of one is that of a person


def test_machines_are_measured_if_asked_for():
    frame = table().drop(columns=["hired", "rival", "points"])
    result = audit(frame, **PLAN, **QUICK, scores=True)
    rows = holdout(result, frame)
    assert [one.rank for one in result.document.scores] == result.document.shortlist
    for one in result.document.scores:
        rows = rows.assign(value=result.estimator(one.rank).decision_function(rows))
        apart = measure(rows, score="value", label="good", favourable="yes", sensitive="sex").document.score
        assert one.score.auc.value == pytest.approx(apart.auc.value, abs=1e-12)
        assert one.score.columns[0].lowest.value == pytest.approx(apart.columns[0].lowest.value, abs=1e-12)
    assert audit(frame, **PLAN, **QUICK).document.scores == ()


def ends(estimate):
    return estimate.value, estimate.low, estimate.high


def test_with_clusters_a_score_and_the_decisions_cut_from_it_have_the_same_limits():
    frame = table(900).assign(officer=[number % 45 for number in range(900)])
    asked = {"sensitive": "sex", "score": "points", "cutoff": 50.0, "group_column": "officer"}
    document = measure(frame[["points", "sex", "officer"]], **asked).document
    shown = measure(frame[["points", "sex", "officer"]], **{**asked, "cutoff": "median"}).document
    (ranking,), own = document.score.columns, shown.decisions[0].columns[0]
    for first, second in zip(ranking.scoring.groups, own.impact.groups, strict=True):
        assert ends(first.rate) == pytest.approx(ends(second.rate))
    for first, second in zip(ranking.groups, own.groups, strict=True):
        assert ends(first.scoring_ratio) == pytest.approx(ends(second.ratio))
    for point in ranking.sweep:
        cut = measure(frame[["points", "sex", "officer"]], **{**asked, "cutoff": point.cutoff}).document
        gap = cut.decisions[0].columns[0].scores.demographic_parity_difference
        assert ends(point.gap) == pytest.approx(ends(gap))
