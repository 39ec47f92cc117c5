"""Other mitigations beside the models of an audit."""

import pytest
from support.audits import METRIC, audit_applicants, checked


def test_mitigations_are_scored_beside_model_one(guided):
    methods = {method.name: method for method in guided.baselines}
    randomised = {name for name, method in methods.items() if method.is_randomised}
    assert randomised == {"exponentiated_gradient", "threshold_optimizer"}
    assert [name for name, method in methods.items() if method.needs_groups] == ["threshold_optimizer"]
    first = guided.first.scores.holdout
    for method in methods.values():
        assert method.error is None
        gap, accuracy = method.scores.gap(METRIC), method.scores.accuracy
        assert gap.change.value == pytest.approx(gap.value - first.gap(METRIC).value)
        assert accuracy.change.value == pytest.approx(accuracy.value - first.accuracy.value)
        assert method.scores.rows == 400
    assert methods["threshold_optimizer"].scores.gap(METRIC).value < first.gap(METRIC).value


def test_a_metric_that_fairlearn_has_no_constraint_for_is_said_so():
    document = checked(audit_applicants(baselines=True, search="exact", metric="predictive_parity_difference"))
    errors = {method.name: method.error for method in document.baselines}
    assert errors["reweighing"] is None
    assert "no constraint" in errors["grid_search"]
    assert "no constraint" in errors["threshold_optimizer"]
    assert {method.name for method in document.baselines if method.scores} == {
        name for name, error in errors.items() if error is None
    }


def test_they_are_tried_only_if_asked_for_and_if_there_are_groups(exact):
    assert exact.baselines is None
    assert audit_applicants(sensitive=None, baselines=True, k=2).document.baselines is None
