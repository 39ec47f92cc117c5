"""Made tables with the score of a model that was fitted on their own rows, or on other rows of the same population."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from fairenum import AuditConfig, Dataset
from fairenum.auditing.correcting import correction
from fairenum.auditing.preparing import divided
from fairenum.document.correction_facts import Correction

ROLES = {"label": "good", "favourable": 1, "sensitive": "sex"}


def linear(rows: int, rng: np.random.Generator, columns: int = 8) -> pd.DataFrame:
    """People whose outcome depends on the sum of a few of many columns."""
    X = rng.normal(size=(rows, columns))
    return _table(X, 0.9 * X[:, 0] + 0.7 * X[:, 1] - 0.5 * X[:, 2], rng)


def wide(rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """People with so many columns that a linear model can learn their noise."""
    return linear(rows, rng, 80)


def curved(rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """People whose outcome depends on products and bends of columns."""
    X = rng.normal(size=(rows, 6))
    return _table(X, 1.5 * X[:, 0] * X[:, 1] + np.abs(X[:, 2]) - 0.8 + 0.7 * X[:, 3], rng)


def rare(rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """People of whom about one in eight has the favourable outcome."""
    X = rng.normal(size=(rows, 5))
    return _table(X, -2.5 + 1.1 * X[:, 0] + 0.6 * X[:, 1], rng)


def noisy(rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """People whose columns hardly tell their outcome."""
    X = rng.normal(size=(rows, 5))
    return _table(X, 0.3 * X[:, 0], rng)


def _table(X: np.ndarray, logit: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    good = rng.random(len(X)) < 1.0 / (1.0 + np.exp(-logit))
    frame = pd.DataFrame(X, columns=[f"x{place}" for place in range(X.shape[1])])
    return frame.assign(sex=rng.choice(["man", "woman"], len(X)), good=good.astype(int))


@dataclass(frozen=True)
class Case:
    """A table to make, the number of its rows, and the kind of model in use."""

    make: Callable[[int, np.random.Generator], pd.DataFrame]
    rows: int
    model: BaseEstimator

    @property
    def name(self) -> str:
        """The names of table and model."""
        return f"{self.make.__name__}, {self.rows} rows, {type(self.model).__name__}"

    def leaked(self, seed: int, share: float = 1.0) -> pd.DataFrame:
        """Return a table with the score of a model that was fitted on a share of its own rows."""
        frame = self.make(self.rows, np.random.default_rng(seed))
        own = np.random.default_rng([seed, 1]).random(self.rows) < share
        return self.scored(frame, frame[own])

    def honest(self, seed: int, times: int = 1) -> pd.DataFrame:
        """Return a table with the score of a model that was fitted on other rows, `times` as many."""
        frame = self.make(self.rows, np.random.default_rng(seed))
        return self.scored(frame, self.make(times * self.rows, np.random.default_rng([seed, 2])))

    def scored(self, frame: pd.DataFrame, learnt: pd.DataFrame) -> pd.DataFrame:
        """Return a table with the score of this model, fitted on the rows `learnt`."""
        names = [name for name in frame if name.startswith("x")]
        model = clone(self.model).fit(learnt[names], learnt["good"])
        return frame.assign(points=model.predict_proba(frame[names])[:, 1])


FOREST = RandomForestClassifier(60, random_state=0)
BOOSTED = HistGradientBoostingClassifier(random_state=0)
TREE = DecisionTreeClassifier(random_state=0)
NEAREST = KNeighborsClassifier(1)
LOGISTIC = LogisticRegression(C=100.0, max_iter=2000)
OLD_BOOSTED = GradientBoostingClassifier(n_estimators=200, max_depth=4, random_state=0)

CASES = (
    *(Case(make, 1500, FOREST) for make in (linear, curved, rare, noisy)),
    *(Case(make, 1500, BOOSTED) for make in (linear, curved, rare, noisy)),
    *(Case(make, 1500, TREE) for make in (linear, curved, rare, noisy)),
    *(Case(make, 1500, NEAREST) for make in (linear, curved, noisy)),
    *(Case(wide, rows, LOGISTIC) for rows in (200, 300, 400)),
    *(Case(make, 800, OLD_BOOSTED) for make in (linear, curved)),
)


def correction_of(frame: pd.DataFrame, **options: object) -> Correction:
    """Return the facts about corrections of the score of a table, without listing any."""
    scored = {"incumbent_score": "points", "incumbent_cutoff": "0.5", "incumbent_trained_on": "none"}
    config = AuditConfig().but(**{**scored, "around": "incumbent", **options})
    dataset = Dataset.from_frame(frame, **ROLES, reading=config.reading)
    found = correction(divided(dataset, config), config)
    assert found is not None
    return found
