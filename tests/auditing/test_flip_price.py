"""How far the training rows settle one decision, against brute force."""

import cvxpy as cp
import numpy as np
import pytest
from support.audits import audit_people, people

from fairenum.auditing.ambiguity_stage import encoded, flip_price, with_flip_price
from fairenum.document.feature_facts import spans

OPTIONS = {"k": 2, "replications": 20, "search": "exact", "range": False, "explanation": False, "prices": False}
EPS = 0.03


@pytest.fixture(scope="module")
def run():
    return audit_people(people(150), eps=EPS, **OPTIONS)


@pytest.fixture(scope="module")
def svm(run):
    return NearOptimalSvms(run.live.training.problem)


class NearOptimalSvms:
    """All linear SVMs within a loss of the least, for a solver of cones."""

    def __init__(self, problem):
        self.w, self.b = cp.Variable(problem.X.shape[1]), cp.Variable()
        hinge = cp.pos(1 - cp.multiply(problem.y, problem.X @ self.w + self.b))
        self.loss = 0.5 * cp.sum_squares(self.w) + problem.upper @ hinge
        self.least = cp.Problem(cp.Minimize(self.loss)).solve(solver="CLARABEL")

    def ends(self, row):
        value, within = row @ self.w + self.b, [self.loss <= (1 + EPS) * self.least]
        return [cp.Problem(goal(value), within).solve(solver="CLARABEL") for goal in (cp.Minimize, cp.Maximize)]

    def price(self, row, side):
        held = [side * (row @ self.w + self.b) >= 0]
        return cp.Problem(cp.Minimize(self.loss), held).solve(solver="CLARABEL") / self.least - 1


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_person_is_settled_as_brute_force_says(run, svm, place):
    live = run.live
    row = live.division.holdout.X[[place]]
    found = flip_price(live.division, live.training, row, EPS, 0.0)
    low, high = svm.ends(row[0])
    ends = (found.values.low_bound, found.values.low_attained, found.values.high_attained, found.values.high_bound)
    assert ends == pytest.approx((low, low, high, high), abs=1e-5)
    value = live.listing.values["holdout"][0, place]
    price = svm.price(row[0], -1.0 if value >= 0.0 else 1.0)
    assert (found.low, found.high) == pytest.approx((price, price), abs=1e-6)
    assert found.low <= found.high
    assert found.state == ("flips" if price <= EPS else "settled")
    assert (found.state == "flips") == (low < 0.0 <= high)


def test_the_nearest_model_is_told_by_its_weights_and_what_it_does_without(run):
    values = people(150).iloc[0].drop(["hired", "sex", "race"]).to_dict()
    person = run.explain(values)
    found, features = person.flip_price.model, run.document.anatomy.features
    first = run.document.anatomy.weights[0].weights
    assert found.weights
    for one in found.weights:
        columns = range(len(first))[spans(features)[one.feature]]
        feature = next(feature for feature in features if feature.name == one.feature)
        place = feature.columns.index(one.level) if one.level is not None else 0
        assert one.first == pytest.approx(first[columns[place]])
    changes = [abs(one.other - one.first) for one in found.weights]
    assert changes == sorted(changes, reverse=True)
    train = set(run.live.division.split.train.tolist())
    assert all(one.row in train for one in found.examples)
    labels = people(150)["hired"]
    assert all(labels[one.row] == one.label for one in found.examples)
    assert len(found.examples) == min(found.dropped, 20)


def test_a_person_is_encoded_as_its_row_is(run):
    live, frame = run.live, people(150)
    row = int(live.division.rows["holdout"][4])
    values = frame.iloc[row].drop(["hired", "sex", "race"]).to_dict()
    person = run.explain(values)
    np.testing.assert_allclose(encoded(run.document.anatomy.features, person)[0], live.division.holdout.X[4])


def test_what_is_redacted_names_no_row(run):
    person = run.explain({"skill": 0.1, "proxy": 0.0, "town": "north"})
    live = run.live
    plain, hidden = (
        with_flip_price(one, person, live.division, live.training) for one in (run.document, run.document.redacted())
    )
    assert plain.flip_price.model.examples
    assert hidden.flip_price.model.examples == ()
    assert hidden.flip_price.model.dropped == plain.flip_price.model.dropped


def test_nothing_may_be_lost(run):
    live = run.live
    found = flip_price(live.division, live.training, live.division.holdout.X[[0]], 0.0, 0.0)
    assert found.values is None
    assert found.state == "settled"
