"""The range of the parity gap that no nearly optimal machine leaves, as an audit states it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from support.audits import METRIC, applicants, audit_applicants

from fairenum.auditing import ambiguity_stage
from fairenum.auditing.ambiguity_stage import holdout_prices
from fairenum.errors import SolverBroken


@pytest.fixture(scope="module")
def found(guided_run):
    live = guided_run.live
    return holdout_prices(live)


def ranged(live, found, **changes):
    return ambiguity_stage.proven_range(replace(live, **changes), found)


def test_every_model_within_a_loss_lies_in_its_range(guided_run, guided):
    stated = guided.parity_range
    assert (stated.column, stated.rows, stated.unexamined) == ("sex", guided.dataset.splits.holdout, 0)
    assert [level.eps for level in stated.levels] == [0.001, 0.01, 0.1]
    frame, rows = applicants(), guided_run.live.division.rows["holdout"]
    for level in stated.levels:
        assert [group.group for group in level.groups] == ["f", "m"]
        for rank in (model.rank for model in guided.models if model.loss_ratio <= level.eps):
            decided = guided_run.estimator(rank).predict(frame.iloc[rows]) == "y"
            rates = [float(decided[(frame["sex"] == group).to_numpy()[rows]].mean()) for group in ("f", "m")]
            gap = guided.models[rank - 1].scores.holdout.gap(METRIC).value
            assert gap == pytest.approx(abs(rates[0] - rates[1]), abs=1e-12)
            pairs = [(gap, level.gap), *zip(rates, (group.rate for group in level.groups), strict=True)]
            for number, extent in pairs:
                assert extent.low - 1e-9 <= extent.least - 1e-9 <= number <= extent.most + 1e-9 <= extent.high + 2e-9


def test_a_larger_loss_allows_more(guided):
    for smaller, larger in zip(guided.parity_range.levels[:-1], guided.parity_range.levels[1:], strict=True):
        assert smaller.doubtful <= larger.doubtful
        assert larger.by_rows[0] <= smaller.by_rows[0]
        assert larger.by_rows[1] >= smaller.by_rows[1]
        extents = [(level.gap, *(group.rate for group in level.groups)) for level in (smaller, larger)]
        for inner, outer in zip(*extents, strict=True):
            assert outer.low <= inner.low
            assert outer.least <= inner.least
            assert outer.most >= inner.most
            assert outer.high >= inner.high


def test_every_step_is_as_tight_as_the_one_before(guided):
    for level in guided.parity_range.levels:
        envelope = level.by_envelope or level.by_rows
        assert level.by_rows[0] <= envelope[0] + 1e-12 <= level.gap.low + 2e-12
        assert level.by_rows[1] >= envelope[1] - 1e-12 >= level.gap.high - 2e-12
    widest = guided.parity_range.levels[-1]
    assert widest.solves > 0
    assert widest.gap.high < widest.by_rows[1]


def test_rows_that_were_not_examined_widen_it(monkeypatch, guided_run, found):
    monkeypatch.setattr(ambiguity_stage, "RANGE_WORK", 0.0)
    part = SimpleNamespace(places=found.places[:10], low=found.low[:10])
    whole, some = ranged(guided_run.live, found), ranged(guided_run.live, part)
    assert some.unexamined == some.rows - 10
    for wide, narrow in zip(some.levels, whole.levels, strict=True):
        assert wide.doubtful >= some.unexamined
        assert wide.by_rows[0] <= narrow.by_rows[0]
        assert wide.by_rows[1] >= narrow.by_rows[1]


def test_a_range_that_cannot_be_proven_is_none(monkeypatch, guided_run, found):
    def fail(*_, **__):
        raise SolverBroken("no")

    monkeypatch.setattr(ambiguity_stage, "parity_range", fail)
    assert ranged(guided_run.live, found) is None


def test_where_every_model_has_a_cut_of_its_own_there_is_none():
    assert (
        audit_applicants(k=2, decide="rate=0.4", explanation=False, search="exact", range=True).document.parity_range
        is None
    )


def test_a_threshold_is_where_rows_are_decided():
    run = audit_applicants(k=3, decide="threshold=0.3", explanation=False, search="exact", range=True)
    values = run.live.listing.uncut("holdout")[0]
    codes = run.live.division.holdout.groups.codes
    rates = [np.mean(values[codes == code] >= 0.3) for code in (0, 1)]
    level = run.document.parity_range.levels[0]
    assert level.gap.least - 1e-9 <= abs(rates[0] - rates[1]) <= level.gap.most + 1e-9


def test_without_groups_to_compare_there_is_none():
    live = audit_applicants(sensitive=None, k=2).live
    assert ranged(live, holdout_prices(live)) is None
