"""The range that no nearly optimal machine leaves."""

import pandas as pd
import pytest
from hiring import applicants, audit_applicants

from fairenum.auditing import reachable
from fairenum.errors import SolverBroken


def test_every_model_lies_in_the_certified_range(guided_run, guided):
    found = guided.range
    assert found.eps == max(0.05, *(model.loss_ratio for model in guided.models))
    assert found.low.bound <= found.low.attained <= found.high.attained <= found.high.bound
    assert [place.rank for place in found.models] == [model.rank for model in guided.models]
    for place in found.models:
        assert found.low.bound <= place.value <= found.high.bound
        assert place.is_within
    frame, rows = applicants(), guided_run.live.division.rows["holdout"]
    for rank in (1, guided.selection.rank):
        values = guided_run.estimator(rank).decision_function(frame.iloc[rows])
        means = pd.Series(values).groupby(frame["sex"].iloc[rows].to_numpy()).mean()
        first, second = found.groups
        assert found.models[rank - 1].value == pytest.approx(means[first] - means[second])
    assert found.models[0].value > 0.0


def test_a_range_that_cannot_be_proven_is_none(monkeypatch, guided_run):
    def fail(*_):
        raise SolverBroken("no")

    live = guided_run.live
    monkeypatch.setattr(reachable, "reach", fail)
    assert reachable.possible_range(live.division, live.training, live.listing, live.config) is None


def test_without_groups_to_compare_there_is_none():
    live = audit_applicants(sensitive=None, k=2).live
    assert reachable.possible_range(live.division, live.training, live.listing, live.config) is None
