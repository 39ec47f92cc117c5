"""The score of the model in use as a feature, encoded so that its weight costs models next to nothing.

A score s is standardised robustly, z = (t(s) - median) / (interquartile range / 1.349), where t is the log-odds of a
probability and otherwise s itself, and multiplied by `EASE` times the slope of a logistic regression of the label on z
alone. So a model with a weight of 1 / `EASE` on this column, and of 0 on all others, has the decision values that the
score has by itself, while the square of that weight is 1/400: the penalty on weights hardly shrinks it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairenum.document.feature_facts import EncodedFeature
from fairenum.errors import ColumnConstant
from fairenum.tables.columns import FloatArray, IntArray

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    from fairenum.tables.table import Dataset

SCORE = "score"  # name of the block of an encoding that encodes the score
EASE = 20.0
NORMAL_RANGE = 1.349  # interquartile range of a normal distribution of variance 1
FLATTEST, STEEPEST = 0.01, 20.0  # slope of the label on the standardised score
LEAST_CLIP, MOST_CLIP = 1e-12, 0.01
SLIGHT = 10.0  # inverse of the penalty on the slope, which keeps it finite where the score separates the labels


@dataclass(frozen=True, slots=True)
class ScoreFeature:
    """The feature that holds the score of the model in use.

    Attributes
    ----------
    name
        Its name in results.
    column
        The name of the column that holds it, in the table and in rows given to an exported model.
    is_lower_better
        Whether low scores are favourable.
    """

    name: str
    column: str
    is_lower_better: bool

    def named(self, feature: EncodedFeature) -> EncodedFeature:
        """Return a description of an encoded feature, with the name for results if it is the score."""
        if feature.name != self.column:
            return feature
        return feature.but(name=self.name, column=self.column if self.column != self.name else None)


def smallest_told_apart(scores: FloatArray) -> float | None:
    """Return the bound to which probabilities are brought before log-odds are taken; None for other scores.

    It is half the smallest distance of a probability from 0 and 1, those that are 0 or 1 apart, within limits.
    """
    known = scores[~np.isnan(scores)]
    inside = known[(known > 0.0) & (known < 1.0)]
    if not inside.size or known.min() < 0.0 or known.max() > 1.0:
        return None
    return float(np.clip(0.5 * np.minimum(inside, 1.0 - inside).min(), LEAST_CLIP, MOST_CLIP))


def score_block(dataset: Dataset, score: ScoreFeature, rows: IntArray) -> tuple[str, Pipeline, list[str]]:
    """Return the block of an encoding for the score: its name, its transformer, and the column that it takes.

    The transformer is to be fitted on the given rows, and then scaled by `scale_score`.
    """
    (values,) = (column.values[rows] for column in dataset.features if dataset.is_score(column))
    if not (values != values[0]).any():
        raise ColumnConstant(
            f"the {score.name} is the same in all {len(rows)} training rows, so there is nothing to correct; leave out "
            "around='incumbent' (--around incumbent)"
        )
    return SCORE, _transformer(smallest_told_apart(values.astype(np.float64))), [score.column]


def _transformer(clip: float | None) -> Pipeline:
    from scipy.special import logit
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

    imputer, scaler = SimpleImputer(strategy="median"), StandardScaler()
    if clip is None:
        return make_pipeline(imputer, scaler)
    bounds = MinMaxScaler(feature_range=(clip, 1.0 - clip), clip=True)
    return make_pipeline(imputer, bounds, FunctionTransformer(logit), scaler)


def scale_score(preprocessor: ColumnTransformer, dataset: Dataset, score: ScoreFeature, rows: IntArray) -> None:
    """Scale the fitted block of the score as the module's docstring says, on the given rows of a dataset."""
    block = preprocessor.named_transformers_[SCORE]
    _, *bounds, scaler = (step for _, step in block.steps)
    if bounds:  # which bring probabilities within limits, and do no more
        bounds[0].min_, bounds[0].scale_ = np.zeros(1), np.ones(1)
    scaler.mean_, scaler.scale_ = np.zeros(1), np.ones(1)
    values = block.transform(dataset.frame(rows)[[score.column]])[:, 0]
    centre, spread = _centre_and_spread(values)
    sign = -1.0 if score.is_lower_better else 1.0
    slope = _slope(sign * (values - centre) / spread, dataset, rows)
    scaler.mean_, scaler.scale_ = np.array([centre]), np.array([sign * spread / (slope * EASE)])
    scaler.var_ = scaler.scale_**2


def _centre_and_spread(values: FloatArray) -> tuple[float, float]:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return float(middle), float((high - low) / NORMAL_RANGE or values.std())


def _slope(z: FloatArray, dataset: Dataset, rows: IntArray) -> float:
    """Return the slope of a logistic regression of the label on the standardised score, within limits."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=SLIGHT).fit(z[:, None], dataset.y[rows], sample_weight=dataset.relative(rows))
    return float(np.clip(abs(model.coef_[0, 0]), FLATTEST, STEEPEST))


def is_of_log_odds(block: BaseEstimator) -> bool:
    """Tell whether a fitted block of numbers encodes a score that is a probability."""
    return len(block.steps) > 2


def described_score(block: BaseEstimator, name: str) -> EncodedFeature:
    """Return the description of an encoded score that is a probability."""
    imputer, bounds, _, scaler = (step for _, step in block.steps)
    return EncodedFeature(
        name,
        "numeric",
        float(imputer.statistics_[0]),
        float(scaler.mean_[0]),
        float(scaler.scale_[0]),
        clip=float(bounds.feature_range[0]),
    )
