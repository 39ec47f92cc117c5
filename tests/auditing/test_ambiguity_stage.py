"""Whose decision depends on which of the near-optimal machines is used, against brute force and by definition."""

import time
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from support.audits import applicants, audit_applicants, audit_people, checked, people

from fairenum import audit
from fairenum.auditing import ambiguity_stage, schedule
from fairenum.auditing.ambiguity_stage import CURVE, ambiguity_facts, bias_range, holdout_prices
from fairenum.errors import SolverBroken
from fairenum.runtime.budget import Deadline, OutOfTime, until

QUICK = {"k": 6, "replications": 20, "search": "exact", "guards": "none", "range": False, "explanation": False}


def stage(live, **options):
    state = replace(live, config=replace(live.config, **options))
    prices = holdout_prices(state)
    return prices and ambiguity_facts(state, prices)


def loss(problem, w, b):
    """The loss of a linear machine on all training examples, out of its definition."""
    margins = problem.y * (np.asarray(problem.X @ w) + b)
    return 0.5 * w @ w + problem.upper @ np.maximum(0.0, 1.0 - margins)


class Brute:
    """Minimises the loss of linear machines by a solver of cones, with a row held on a side of a threshold."""

    def __init__(self, problem):
        d = problem.X.shape[1]
        self.w, self.b = cp.Variable(d), cp.Variable()
        self.row, self.side, self.cut = cp.Parameter(d), cp.Parameter(), cp.Parameter()
        hinge = cp.pos(1 - cp.multiply(problem.y, problem.X @ self.w + self.b))
        self.loss = 0.5 * cp.sum_squares(self.w) + problem.upper @ hinge
        self.least = cp.Problem(cp.Minimize(self.loss)).solve(solver="CLARABEL")
        self.first = self.w.value, float(self.b.value)
        held = self.row @ self.w + self.side * self.b >= self.cut
        self.problem = cp.Problem(cp.Minimize(self.loss), [held])

    def price(self, row, threshold=0.0):
        w, b = self.first
        side = -1.0 if row @ w + b >= threshold else 1.0
        self.row.value, self.side.value, self.cut.value = side * row, side, side * threshold
        return self.problem.solve(solver="CLARABEL") / self.least - 1.0


@pytest.mark.parametrize("decide", ["sign", "threshold=0.4"])
def test_it_is_what_brute_force_finds(decide):
    live = audit_people(people(150), decide=decide, **{**QUICK, "k": 2}).live
    found = stage(live, eps=0.02)
    brute = Brute(live.training.problem)
    prices = np.array([brute.price(row, found.threshold) for row in live.division.holdout.X])
    np.testing.assert_allclose(found.priced.low, np.where(prices < 0.1, prices, found.priced.low), atol=1e-6)
    assert found.overall.flipped == (prices <= 0.02).sum()
    assert 0 < found.overall.flipped < found.overall.rows
    shares = [(point.overall.least, (prices <= point.eps).mean()) for point in found.curve]
    np.testing.assert_allclose(*np.array(shares).T)
    assert found.overall.open == 0


def test_everything_follows_from_the_prices_of_the_rows(exact_run, exact):
    found, rows = exact.ambiguity, people().iloc[list(exact.ambiguity.priced.rows)]
    low = np.array(found.priced.low)
    high = np.array([np.inf if price is None else price for price in found.priced.high])
    assert (low <= high).all()
    assert found.eps == exact.near_optimal == 0.05
    assert found.overall.rows == found.holdout == len(rows) == 60
    assert found.overall.flipped == (high <= 0.05).sum()
    assert found.overall.ambiguity.least == pytest.approx((high <= 0.05).mean())
    for column in ("sex", "race"):
        by_group = {}
        for place, group in enumerate(found.by_column[column].groups):
            inside = (rows[column] == group.group).to_numpy()
            assert (np.array(found.priced.groups[column]) == place).tolist() == inside.tolist()
            assert (group.rows, group.flipped) == (inside.sum(), (high[inside] <= 0.05).sum())
            if group.is_compared:
                by_group[group.group] = (high[inside] <= 0.05).mean()
        gap = found.by_column[column].gap
        if len(by_group) > 1:
            assert gap.least == gap.most == pytest.approx(max(by_group.values()) - min(by_group.values()))
    decided = exact_run.estimator(1).predict(rows) == "yes"
    assert decided.tolist() == list(found.priced.is_favourable)


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf"}, {"decide": "rate=0.4"}, {"k": 1}])
def test_what_holds_of_any_audit(options):
    result = audit_people(people(200, seed=3), **{**QUICK, **options})
    document, live = checked(result), result.live
    found = document.ambiguity
    shares = [point.overall.most for point in found.curve]
    assert shares == sorted(shares)
    assert [point.eps for point in found.curve] == list(CURVE)
    assert found.overall.listed <= found.overall.ambiguity.most
    assert found.discrepancy.attained <= found.discrepancy.bound == found.overall.ambiguity.most
    assert found.threshold == live.listing.cuts[0].value
    for column in found.by_column.values():
        for group in column.groups:
            assert group.listed is None or group.listed <= group.ambiguity.most + 1e-12
    prices = list(found.priced.low)
    for model, values in zip(live.listing.models, live.listing.uncut("holdout") - found.threshold, strict=True):
        flipped = (values >= 0.0) != np.array(found.priced.is_favourable)
        assert all(
            price <= model.loss_ratio + 1e-9 for price, is_flipped in zip(prices, flipped, strict=True) if is_flipped
        )


def test_a_model_of_the_list_beyond_the_loss_counts_for_nothing(guided_run, guided):
    losses = sorted({model.loss_ratio for model in guided.models})
    within = stage(guided_run.live, eps=(losses[-1] + losses[-2]) / 2)
    assert within.models == sum(model.loss_ratio <= within.eps for model in guided.models) < len(guided.models)


def test_discrepancy_is_attained_by_a_machine_within_the_loss(exact_run, exact):
    problem, best = exact_run.live.training.problem, exact_run.live.training.best
    w, least = exact_run.live.listing.models[0].plane, exact.first.objective
    low, high = bias_range(problem, best, 0.05)
    for bias in (low, high):
        assert loss(problem, w, bias) == pytest.approx(1.05 * least)
    assert loss(problem, w, low - 1e-6) > 1.05 * least < loss(problem, w, high + 1e-6)
    holdout = np.asarray(exact_run.live.division.holdout.X @ w)
    first = holdout + exact.first.bias >= 0.0
    shares = [((holdout + bias >= 0.0) != first).mean() for bias in (low, high)]
    shares += [one.predictions_changed.holdout.share for one in exact.models if one.loss_ratio <= 0.05]
    assert exact.ambiguity.discrepancy.attained == pytest.approx(max(shares))


def test_nothing_may_be_lost_and_nobody_moves(exact_run):
    low, high = bias_range(exact_run.live.training.problem, exact_run.live.training.best, 0.0)
    assert low == pytest.approx(exact_run.live.listing.models[0].intercept, abs=1e-6)
    assert high == pytest.approx(low, abs=1e-6)


def test_a_sample_is_drawn_where_all_would_take_too_long(monkeypatch, guided_run):
    whole = stage(guided_run.live)
    monkeypatch.setattr(schedule, "ROWS", (50, 50))
    sample, again, other = stage(guided_run.live), stage(guided_run.live), stage(guided_run.live, seed=1)
    assert set(sample.priced.rows) <= set(stage(guided_run.live, price_rows=80).priced.rows)  # more of the same
    assert stage(guided_run.live, price_rows=4000) == whole
    assert sample == again
    assert sample.priced.rows != other.priced.rows
    assert sample.is_sample
    assert not whole.is_sample
    assert (sample.overall.rows, sample.holdout) == (50, 400)
    prices = dict(zip(whole.priced.rows, zip(whole.priced.low, whole.priced.high, strict=True), strict=True))
    for row, low, high in zip(sample.priced.rows, sample.priced.low, sample.priced.high, strict=True):
        assert (low, high or np.inf) == pytest.approx([end or np.inf for end in prices[row]], abs=1e-6)
    assert list(sample.priced.rows) == sorted(sample.priced.rows)
    assert sample.overall.ambiguity.high - sample.overall.ambiguity.low > 0.2


def test_weights_count(monkeypatch):
    frame = applicants(300)
    frame["w"] = np.where(frame["sex"] == "f", 3.0, 1.0)
    live = audit(frame, "hired", "y", "sex", weight="w", **QUICK).live
    found = stage(live, eps=0.02)
    rows = list(found.priced.rows)
    flips = np.array([high is not None and high <= 0.02 for high in found.priced.high])
    assert found.overall.ambiguity.least == pytest.approx(np.average(flips, weights=frame["w"].iloc[rows]))
    women = next(group for group in found.by_column["sex"].groups if group.group == "f")
    assert women.ambiguity.least == pytest.approx(flips[(frame["sex"].iloc[rows] == "f").to_numpy()].mean())


def test_without_groups_everybody_is_counted():
    found = checked(audit_applicants(sensitive=None, **{**QUICK, "k": 2})).ambiguity
    assert found.by_column == {}
    assert found.overall.flipped > 0
    assert all(point.groups == () for point in found.curve)


def test_a_redacted_document_names_no_row(exact):
    found = exact.redacted().ambiguity
    assert found.priced.rows == found.priced.low == ()
    assert found.overall == exact.ambiguity.overall


def test_a_solver_that_fails_leaves_none(monkeypatch, exact_run):
    def fail(*_args, **_options):
        raise SolverBroken("no")

    monkeypatch.setattr(ambiguity_stage, "flip_prices", fail)
    assert stage(exact_run.live) is None


def test_without_time_nothing_is_claimed(exact_run):
    with until(Deadline(time.monotonic() - 1.0)), pytest.raises(OutOfTime):
        stage(exact_run.live)


def test_it_can_be_left_out():
    assert audit_people(people(80), prices=False, **QUICK).document.ambiguity is None
