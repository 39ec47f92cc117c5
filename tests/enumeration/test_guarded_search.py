"""The guided search under guardrails: its slopes, the prices of its limits, and that it is steered by them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize
from scipy.special import expit
from support.guided_search import DROP, SOLVES, crossed, found, least_gap, lenient, posed, reached

from fairenum.document.guards import Guard
from fairenum.document.training import Tolerances
from fairenum.enumeration.division import EncodedRows
from fairenum.enumeration.fairest import guard_excess, search_fairest
from fairenum.enumeration.guided import Bounds
from fairenum.enumeration.influence import HIGHEST_PRICE, SOFTENING, GuardSlopes, Influence
from fairenum.enumeration.model import Model
from fairenum.enumeration.unfairness import Watched
from fairenum.errors import ProblemError
from fairenum.metrics.operating_point import OperatingPoint
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import SvmProblem

SEEDS = range(10)


def test_steering_reaches_smaller_gaps_than_filtering_on_average():
    """Over all seeds, whichever they favour; tests/slow/test_steering.py has more kinds of tables and guardrails."""
    gaps = [reached(crossed, ("demographic_parity_difference@town<=+0.02",), seed) for seed in SEEDS]
    steered, filtered = ([getattr(one, name) for one in gaps] for name in ("steered", "filtered"))
    assert stats.ttest_rel(steered, filtered, alternative="less").pvalue < 0.05
    assert np.mean(steered) < 0.9 * np.mean(filtered)


@pytest.mark.parametrize("make", [lenient, crossed])
def test_what_is_chosen_is_the_least_gap_within_the_guards(make):
    problem, rows = posed(make, 0)
    tolerances = Tolerances(max_performance_drop=DROP, guards=("selection_rate=+-0.02",))
    steered = found(problem, rows, tolerances.guardrails)
    chosen, front = search_fairest(problem, rows, tolerances, solves=SOLVES)
    assert chosen.gap == least_gap(steered, rows, tolerances) < front[0].gap
    assert all(one.excess <= 1e-12 for one in front)
    values = np.array([one.model.decision_function(rows.X) for one in (front[0], chosen)])
    assert guard_excess(rows, values, tolerances)[1] <= 1e-12


def test_guards_that_nothing_runs_into_change_nothing():
    problem, rows = posed(crossed, 0)
    free = found(problem, rows, ())
    guarded = found(problem, rows, (Guard.of("selection_rate=+-1"), Guard.of("other_gaps<=+1")))
    assert [one.model.left_out for one in guarded] == [one.model.left_out for one in free]
    assert [one.gap for one in guarded] == [one.gap for one in free]


def test_the_loss_on_all_training_rows_is_bounded():
    problem, rows = posed(crossed, 2)
    wide, narrow = (found(problem, rows, (), loss=loss) for loss in (0.05, 0.01))
    assert 0.01 < max(one.model.loss_ratio for one in wide) <= 0.05
    assert max(one.model.loss_ratio for one in narrow) <= 0.01
    assert len(narrow) > 5
    tolerances = Tolerances(max_performance_drop=DROP, eps=0.01)
    chosen, front = search_fairest(problem, rows, tolerances, solves=100)
    assert 0.0 < chosen.model.loss_ratio <= 0.01
    losses = [loss_by_hand(problem, one.model) for one in front]
    least = losses[0]
    assert losses == sorted(losses)
    assert [one.model.loss_ratio for one in front] == pytest.approx([loss / least - 1.0 for loss in losses], abs=1e-8)
    with pytest.raises(ProblemError, match="the bound on loss must lie between 0 and 1, not -1"):
        Bounds(loss=-1.0)


def loss_by_hand(problem: SvmProblem, model: Model) -> float:
    """Return the loss of a linear model on all training rows, left out or not, by its definition."""
    hinges = np.maximum(0.0, 1.0 - problem.y * (problem.X @ model.plane + model.intercept))
    return float(0.5 * model.plane @ model.plane + problem.upper @ hinges)


def smoothed(rows: EncodedRows, values: np.ndarray, softness: float) -> list[float]:
    """What the guards of the next test are about, by definition, in their order."""
    degree, truth = expit(values / softness), rows.y > 0
    sex, town = rows.groups.codes, rows.others[0].codes
    means = {one: degree[sex == one].mean() for one in (0, 1)}
    true = [degree[truth & (town == one)].mean() for one in (0, 1)]
    right = np.where(truth, degree, 1.0 - degree)
    balanced = (right[truth].mean() + right[~truth].mean()) / 2
    rate = degree.mean()
    return [abs(true[0] - true[1]), rate, -rate, -balanced, -right.mean(), -means[0], -means[1], -min(means.values())]


GUARDS = tuple(
    map(
        Guard.of,
        (
            "equal_opportunity_difference@town<=+0.1",
            "selection_rate=+-0.1",
            "balanced_accuracy>=-0.01",
            "performance>=0.6",
            "group_selection_rates@sex>=-0.1",
            "worst_group_selection_rate>=-0.1",
        ),
    )
)


def test_the_slopes_are_those_of_the_smoothed_quantities():
    rows, softness = crossed(40, 3), 0.7
    watched = Watched(rows, guards=GUARDS)
    rng = np.random.default_rng(5)
    values, first = rng.normal(size=40), rng.normal(size=40)
    limits = watched.limits(values, softness, watched.measured(first))
    step = 1e-6
    expected = [
        [
            (above - below) / (2 * step)
            for above, below in zip(
                smoothed(rows, values + step * unit, softness),
                smoothed(rows, values - step * unit, softness),
                strict=True,
            )
        ]
        for unit in np.eye(40)
    ]
    np.testing.assert_allclose(limits.slopes, np.transpose(expected), atol=1e-7)
    now, before = ((v >= 0.0).mean() for v in (values, first))
    np.testing.assert_allclose(limits.rooms[1:3], [0.1 - (now - before), 0.1 + (now - before)])
    assert limits.rooms[4] == pytest.approx(((values >= 0.0) == (rows.y > 0)).mean() - 0.6)


def test_at_a_rate_the_share_that_is_selected_has_no_slope():
    rows = crossed(60, 3)
    watched = Watched(rows, point=OperatingPoint(0.4), guards=(Guard.of("selection_rate<=+0.1"),))
    values = np.random.default_rng(5).normal(size=60)
    limits = watched.limits(values, 0.7, watched.measured(values))
    np.testing.assert_allclose(limits.slopes, 0.0, atol=1e-15)


def test_against_a_first_model_that_decides_all_alike_no_change_is_guarded():
    rows = crossed(60, 3)
    watched = Watched(rows, guards=(Guard.of("selection_rate=+-0.1"), Guard.of("selection_rate<=0.5")))
    values = np.random.default_rng(5).normal(size=60) + 1.0
    limits = watched.limits(values, 0.7, watched.measured(np.ones(60)))
    assert limits.rooms == pytest.approx([0.5 - (values >= 0.0).mean()])
    assert watched.measured(values).excess(watched.guards[:1], watched.measured(np.ones(60))).max() == 0.0


def test_prices_are_the_multipliers_of_the_smallest_move():
    problem, rows = posed(crossed, 1)
    influence, solution = Influence(problem, rows.X), open_workspace("path", problem).solve(problem.upper)
    rng = np.random.default_rng(2)
    aim, slopes, rooms = rng.normal(size=500), rng.normal(size=(4, 500)), np.array([0.05, 0.0, 3.0, -0.02])
    values = problem.decide(problem.X, solution.support, (problem.y * solution.alpha)[solution.support])
    values = values + solution.certificate.bias
    prices = influence.prices(problem.upper, values, aim, 0.1, GuardSlopes(slopes, rooms))
    moved = np.vstack([aim, slopes]) @ influence._watched
    moves = moved @ np.linalg.solve(influence._curvature(problem.upper, values), moved.T)
    moves[np.diag_indices(5)] += SOFTENING * moves[0, 0]
    wanted = np.array([0.1, *-rooms])
    answer = minimize(
        lambda x: 0.5 * x @ moves @ x - wanted @ x,
        np.zeros(5),
        jac=lambda x: moves @ x - wanted,
        bounds=[(0, None)] * 5,
        method="L-BFGS-B",
        options={"ftol": 1e-16, "gtol": 1e-14, "maxiter": 10_000},
    ).x
    np.testing.assert_allclose(prices, np.minimum(answer[1:] / answer[0], HIGHEST_PRICE), atol=1e-5)
    assert prices[2] == 0.0
    assert (influence.prices(problem.upper, values, aim, 0.1, GuardSlopes(slopes, np.full(4, 9.0))) == 0.0).all()
