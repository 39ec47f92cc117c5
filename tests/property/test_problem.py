"""What is proven about an answer must hold for any answer."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracles.brute_force import BruteForce
from support.problems import problems

from fairenum.svm.certificate import bias_interval, judged
from fairenum.svm.gram import open_gram
from fairenum.svm.polish import _balanced, optimal_state
from fairenum.svm.problem import SvmProblem


def feasible(problem: SvmProblem, seed: int) -> np.ndarray:
    """A random point of the box with y'alpha = 0, nowhere near the optimum."""
    alpha = np.random.default_rng(seed).random(problem.size) * problem.upper
    positive, negative = alpha[problem.y > 0].sum(), alpha[problem.y < 0].sum()
    total = min(positive, negative)
    return alpha * np.where(problem.y > 0, total / positive, total / negative)


@given(problems(), st.integers(0, 2**32 - 1))
def test_certificate_of_any_answer_encloses_the_optimum(problem, seed):
    optimum = BruteForce(problem)
    best = optimum.objective(optimum.canonical((1 << problem.size) - 1))
    certificate = problem.certify(feasible(problem, seed))
    slip = 1e-9 * max(abs(best), 1e-12)
    assert certificate.objective <= best + slip
    assert best <= certificate.bound + slip


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.integers(1, 3), st.booleans()), min_size=1, max_size=8),
)
def test_bias_interval_is_where_the_hinge_loss_is_least(examples):
    kinks = np.array([kink for kink, _, _ in examples])
    weights = np.array([float(weight) for _, weight, _ in examples])
    positive = np.array([is_positive for _, _, is_positive in examples])

    def loss(b: float) -> float:
        return float(weights @ np.maximum(0.0, np.where(positive, kinks - b, b - kinks)))

    y, nothing = np.where(positive, 1.0, -1.0), np.zeros(len(kinks))
    _, _, low, high, _ = judged(y, y * kinks, nothing, weights, nothing)
    least = min(loss(b) for b in kinks)
    inside = [b for b in (low, high, 0.5 * (low + high)) if np.isfinite(b)]
    assert all(loss(b) <= least + 1e-9 for b in inside)
    for end, outward in ((low, -1.0), (high, 1.0)):
        assert not np.isfinite(end) or loss(end + 1e-3 * outward) > least


def crossings(kinks, weights, target):
    """Where the slope is no longer negative, and where it is positive, by sorting."""
    order = kinks.argsort()
    slopes = weights[order].cumsum() - target
    low, high = int(slopes.searchsorted(0.0)), int(slopes.searchsorted(0.0, "right"))
    ends = [float(kinks[order[place]]) if place < len(order) else np.inf for place in (low, high)]
    return ends[0] if target else -np.inf, ends[1]


@given(
    st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 3), st.booleans()), min_size=1, max_size=12),
    st.sampled_from([1e-4, 1.0, 1e4]),
    st.integers(-5, 5),
    st.integers(-2, 2),
)
def test_where_the_bias_is_looked_for_first_changes_nothing(examples, scale, guess, beside):
    """Kinks tie, weights are 0, and the guess is right, beside a kink by less than is looked at, or far away."""
    kinks = scale * np.array([float(kink) for kink, _, _ in examples])
    weights = np.array([float(weight) for _, weight, _ in examples])
    target = float(weights[[is_positive for _, _, is_positive in examples]].sum())
    found = crossings(kinks, weights, target)
    assert bias_interval(kinks, weights, target, scale * (guess + 1e-4 * beside)) == found


@settings(max_examples=200)
@given(problems())
def test_optimal_state_is_the_canonical_optimum(problem):
    state = optimal_state(open_gram(problem), problem, problem.upper)
    expected = BruteForce(problem).canonical((1 << problem.size) - 1)
    np.testing.assert_allclose(state.alpha, expected, atol=1e-6 * problem.upper.max())
    assert problem.certify(state.alpha).relative_gap <= 1e-9


@given(problems(), st.integers(0, 2**32 - 1))
def test_a_bad_guess_does_not_make_the_answer_wrong(problem, seed):
    gram = open_gram(problem)
    cold = optimal_state(gram, problem, problem.upper)
    warm = optimal_state(gram, problem, problem.upper, feasible(problem, seed))
    np.testing.assert_allclose(warm.alpha, cold.alpha, atol=1e-8 * problem.upper.max())


SHARES = st.floats(0.0, 1.0) | st.floats(0.0, 1e-6)  # of a box that may be far larger than what is in it


@given(
    st.lists(st.tuples(SHARES, st.floats(1e-3, 1e8), st.booleans()), max_size=8),
    SHARES.map(lambda share: 1.5 * share) | SHARES.map(lambda share: -1.5 * share),
)
def test_a_vertex_is_balanced_as_far_as_its_box_allows(examples, share):
    upper = np.array([size for _, size, _ in examples])
    alpha = upper * [inside for inside, _, _ in examples]
    y = np.array([1.0 if is_positive else -1.0 for _, _, is_positive in examples])
    most, least = upper[y > 0].sum(), -upper[y < 0].sum()
    for total in (float(y @ alpha), share * (most - least)):  # balanced already, and anywhere
        moved = _balanced(alpha, y, upper, total)
        assert ((moved >= 0) & (moved <= upper)).all()
        size = min(upper.sum(), alpha.sum() + abs(total))  # a large box costs no digits
        assert abs(y @ moved - np.clip(total, least, most)) <= 1e-13 * size + 1e-300
