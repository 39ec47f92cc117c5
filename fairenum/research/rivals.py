"""Methods of others that make a model fairer, each with its usual knob swept, as the scoreboard compares them.

All are given the same training, selection and holdout rows, and decisions and scores of the model in use. A score is
cut where the model in use cuts; only thresholds by group, and what draws decisions, decide in their own way.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from fairenum.auditing.mitigations import threshold_chances
from fairenum.document.scoreboard_cells import MethodResult
from fairenum.enumeration.division import PARTS, EncodedRows
from fairenum.research.contest import Contest, Decided
from fairenum.research.penalised import boosted_values, linear_models
from fairenum.svm.problem import FloatArray

PRICES = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
TREE_PRICES = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)
STRENGTHS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
LIMITS = (0.005, 0.02, 0.05, 0.1)
TOLERATED = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15)
GRID_SIZE, ITERATIONS = 20, 25
EDGE = 1e-6  # probabilities nearer to 0 or 1 have the logit of this one


@dataclass(frozen=True, slots=True)
class Rival:
    """A method: what yields its candidates, the package it needs, and whether it needs groups to decide."""

    run: Callable[[Contest], Iterator[Decided]]
    package: str | None = None
    needs_groups: bool = False


def logistic_regression() -> Any:
    """Return the untrained linear model of methods that train a model of the user's choice."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=500)


def by_part(one: Contest, values: Callable[[FloatArray], FloatArray]) -> dict[Any, FloatArray]:
    """Return the values that a function gives to the features of both splits."""
    return {part: values(one.X(part)) for part in PARTS}


def reweighing(one: Contest) -> Iterator[Decided]:
    """Yield logistic regressions of rows whose weights make label and group independent, to powers of these weights."""
    X, rows = one.X(), one.rows()
    weights = independence_weights(rows)
    for power in STRENGTHS:
        model = logistic_regression().fit(X, rows.labels, sample_weight=weights**power)
        yield one.cut(f"power {power:g}", by_part(one, model.decision_function))


def independence_weights(rows: EncodedRows) -> FloatArray:
    """Return the weights of Kamiran and Calders (2012), by which label and group are independent."""
    codes, labels = rows.groups.codes, rows.labels
    counts = np.zeros((len(rows.groups.names), 2))
    np.add.at(counts, (codes, labels), 1.0)
    expected = counts.sum(1, keepdims=True) * counts.sum(0) / counts.sum()
    return np.asarray((expected[codes, labels]) / counts[codes, labels])


def grid_search(one: Contest) -> Iterator[Decided]:
    """Yield the logistic regressions of fairlearn's `GridSearch`, one for each of its multipliers."""
    from fairlearn.reductions import DemographicParity, GridSearch

    search = GridSearch(logistic_regression(), DemographicParity(), grid_size=GRID_SIZE)
    search.fit(one.X(), one.rows().labels, sensitive_features=one.rows().groups.codes)
    for number, model in enumerate(search.predictors_, start=1):
        yield one.cut(f"multiplier {number}", by_part(one, partial(probability, model)))


def exponentiated_gradient(one: Contest) -> Iterator[Decided]:
    """Yield the mixtures of fairlearn's `ExponentiatedGradient`, cut by their mean probability, for several limits."""
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient

    for limit in LIMITS:
        constraint = DemographicParity(difference_bound=limit)
        found = ExponentiatedGradient(logistic_regression(), constraint, eps=limit, max_iter=ITERATIONS)
        found.fit(one.X(), one.rows().labels, sensitive_features=one.rows().groups.codes)
        weights = found.weights_[found.weights_ > 0.0]
        models = [(found.predictors_[place], weight) for place, weight in weights.items()]
        yield one.cut(f"difference {limit:g}", by_part(one, partial(mixed, models)))


def mixed(models: Sequence[tuple[Any, float]], X: FloatArray) -> FloatArray:
    """Return the mean probability that models give to rows, each with its weight."""
    return np.asarray(sum(weight * probability(model, X) for model, weight in models))


def probability(model: Any, X: FloatArray) -> FloatArray:
    """Return the probability of a favourable label; fairlearn replaces a model of one label by a constant one."""
    found = model.predict_proba(X)
    return np.asarray(found[:, 1] if found.shape[1] > 1 else model.predict(X), dtype=np.float64)


def penalised(one: Contest) -> Iterator[Decided]:
    """Yield linear models of the logistic loss with a price on the difference between groups."""
    rows = one.rows()
    models = linear_models(one.X(), rows.y, rows.groups, PRICES)
    for price, model in zip(PRICES, models, strict=True):
        yield one.cut(f"price {price:g}", by_part(one, model.values))


def penalised_boosting(one: Contest) -> Iterator[Decided]:
    """Yield boosted trees with the same price."""
    rows, others = one.rows(), [one.X(part) for part in PARTS]
    for price in TREE_PRICES:
        values = boosted_values(one.X(), rows.y, rows.groups, price, others)
        yield one.cut(f"price {price:g}", dict(zip(PARTS, values, strict=True)))


def shifted_score(one: Contest) -> Iterator[Decided]:
    """Yield the model in use's own score with a linear correction by the features, with the same price."""
    rows, start = one.rows(), logit(one.score())
    models = linear_models(one.X(), rows.y, rows.groups, PRICES, start)
    for price, model in zip(PRICES, models, strict=True):
        yield one.cut(f"price {price:g}", {part: logit(one.score(part)) + model.values(one.X(part)) for part in PARTS})


def logit(chance: FloatArray) -> FloatArray:
    """Return the log odds of probabilities, which are kept off 0 and 1."""
    inside = np.clip(chance, EDGE, 1.0 - EDGE)
    return np.log(inside / (1.0 - inside))


class GivenScore(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier whose decision value is the only feature: the score of the model in use, for fairlearn."""

    def __init__(self) -> None:
        self.classes_ = np.array([0, 1])

    def fit(self, X: object, y: object) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Return the classifier unchanged, as the score is given."""
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return the score."""
        return np.asarray(X)[:, 0]


def threshold_optimizer(one: Contest) -> Iterator[Decided]:
    """Yield thresholds by group on the model in use's score, by fairlearn's `ThresholdOptimizer`.

    They are learned on the selection split.
    """
    from fairlearn.postprocessing import ThresholdOptimizer

    objective = {"accuracy": "accuracy_score"}.get(one.measure, "balanced_accuracy_score")
    scored = {part: replace(one.rows(part), X=one.score(part)[:, None]) for part in PARTS}
    rows = scored["selection"]
    for limit in TOLERATED:
        found = ThresholdOptimizer(
            estimator=GivenScore(),
            constraints="demographic_parity",
            objective=objective,
            prefit=True,
            predict_method="decision_function",
            tol=limit or None,
        )
        found.fit(rows.X, rows.labels, sensitive_features=rows.groups.codes)
        yield Decided(f"difference {limit:g}", {part: threshold_chances(found, scored[part]) for part in PARTS})


DRAWS = 25  # of random decisions, whose mean is their probability


def error_parity(one: Contest) -> Iterator[Decided]:
    """Yield thresholds by group on the model in use's score, by the package error-parity, learned on the same split."""
    from error_parity.threshold_optimizer import RelaxedThresholdOptimizer

    rows = one.rows("selection")
    costs = (1.0, 1.0) if one.measure == "accuracy" else tuple(1.0 / np.mean(rows.labels == label) for label in (0, 1))
    np.random.seed(one.seed)  # noqa: NPY002 - the package draws some decisions from numpy's common generator
    for limit in TOLERATED:
        found = RelaxedThresholdOptimizer(
            predictor=lambda X: X[:, 0],
            constraint="demographic_parity",
            tolerance=limit,
            false_pos_cost=costs[0],
            false_neg_cost=costs[1],
            seed=one.seed,
        )
        found.fit(one.score("selection")[:, None], rows.labels, group=rows.groups.codes)
        yield Decided(f"tolerance {limit:g}", {part: _drawn(found, one, part) for part in PARTS})


def _drawn(found: Any, one: Contest, part: Any) -> FloatArray:
    X, codes = one.score(part)[:, None], one.rows(part).groups.codes
    return np.asarray(np.mean([found.predict(X, group=codes) for _ in range(DRAWS)], axis=0))


def oxonfair(one: Contest) -> Iterator[Decided]:
    """Yield thresholds by group on the model in use's score, by the package OxonFair, learned on the same split."""
    import oxonfair as package

    measures = package.group_metrics
    objective = measures.accuracy if one.measure == "accuracy" else measures.balanced_accuracy
    tables = {part: _with_groups(package, one, part) for part in PARTS}
    found = package.FairPredictor(None, tables["selection"])
    for number, limit in enumerate(TOLERATED):
        found.fit(objective, measures.demographic_parity, limit, recompute=number == 0)
        decided = {part: np.asarray(found.predict(tables[part]), dtype=np.float64) for part in PARTS}
        yield Decided(f"difference {limit:g}", decided)


def _with_groups(package: Any, one: Contest, part: Any) -> Any:
    score, rows = one.score(part), one.rows(part)
    return package.DataDict(rows.labels, np.column_stack([1.0 - score, score]), rows.groups.codes)


RIVALS: Mapping[str, Rival] = {
    "reweighing": Rival(reweighing),
    "grid_search": Rival(grid_search),
    "exponentiated_gradient": Rival(exponentiated_gradient),
    "penalised": Rival(penalised),
    "penalised_boosting": Rival(penalised_boosting),
    "shifted_score": Rival(shifted_score),
    "threshold_optimizer": Rival(threshold_optimizer, needs_groups=True),
    "error_parity": Rival(error_parity, "error_parity", needs_groups=True),
    "oxonfair": Rival(oxonfair, "oxonfair", needs_groups=True),
}
NOT_INSTALLED = "not installed"


def run_rival(name: str, one: Contest) -> MethodResult:
    """Return what a rival reaches; of one whose package is missing, or that fails, the reason."""
    rival = RIVALS[name]
    if rival.package and find_spec(rival.package) is None:
        return MethodResult(name, error=f"{NOT_INSTALLED}: the package {rival.package}")
    started = time.process_time()
    try:
        with warnings.catch_warnings(action="ignore"):  # of foreign libraries while they train
            found = one.result(name, list(rival.run(one)))
    except Exception as error:  # noqa: BLE001 - a foreign library failed: that is a result, not the end
        found = MethodResult(name, error=f"{type(error).__name__}: {error}"[:200])
    return found.but(seconds=round(time.process_time() - started, 3))
