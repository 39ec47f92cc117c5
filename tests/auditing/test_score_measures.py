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
