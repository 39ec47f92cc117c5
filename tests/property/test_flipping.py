"""Flips by exact paths: the optimum of the flipped table, whatever it looks like."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support.problems import scene

from fairenum.attack.scene import FlippableSvm

KINDS = ("continuous", "hypercube", "grid", "rounded")


@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(KINDS),
    cost=st.sampled_from((0.01, 0.1, 1.0, 10.0)),
    kernel=st.sampled_from(("linear", "rbf")),
    n=st.integers(6, 24),
    weights=st.sampled_from(("none", (3.0, 1.0), (0.2, 5.0))),
)
def test_a_flip_by_path_is_the_flip_by_training_anew(seed, kind, cost, kernel, n, weights):
    one = scene(seed, n=n, kind=kind, C=cost, kernel=kernel, class_weight=weights)
    svm, rng = FlippableSvm(one), np.random.default_rng(seed)
    flipped = rng.random(n) < 0.2
    solution = svm.solve(flipped)
    for row in rng.choice(np.flatnonzero(~flipped), 2, replace=False):
        y = np.where(flipped, -one.train.y, one.train.y)
        y[row] *= -1.0
        if len(set(y)) < 2:
            continue  # one label is left, and there is nothing to train
        walked, anew = svm.flip(solution, int(row)), one.fit(y)
        assert abs(walked.certificate.objective - anew.objective) <= 1e-8 * anew.objective
        np.testing.assert_allclose(svm.decide(walked, one.train.X), anew.decision_function(one.train.X), atol=1e-6)
