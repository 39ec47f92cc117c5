"""The score of the model in use as a feature: its encoding, and that the model in use is one of the models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.linear_model import LogisticRegression

from fairenum import Dataset
from fairenum.enumeration.division import divide
from fairenum.errors import ColumnConstant
from fairenum.metrics.operating_point import OperatingPoint
from fairenum.tables import Encoding
from fairenum.tables.columns import Column
from fairenum.tables.score_feature import EASE, ScoreFeature, smallest_told_apart

NAME = "score of the model in use (points)"


def scored(points: np.ndarray, *, is_lower_better: bool = False, y: np.ndarray | None = None) -> Dataset:
    """Return a table with a noisy feature and a score, which is a feature, too."""
    rng = np.random.default_rng(0)
    rows = len(points)
    if y is None:
        ranks = np.argsort(np.argsort(points)) / rows
        y = (rng.random(rows) < (1.0 - ranks if is_lower_better else ranks)).astype(int)
    frame = pd.DataFrame({"x": rng.normal(size=rows), "sex": rng.choice(["f", "m"], rows), "good": y})
    plain = Dataset.from_frame(frame, "good", 1, "sex")
    column = Column(NAME, np.asarray(points, dtype=np.float64))
    score = ScoreFeature(NAME, "points", is_lower_better)
    return replace(plain, features=(*plain.features, column), score=score)


SCORES = {
    "points": lambda rng: np.round(600 + 80 * rng.normal(size=400)),
    "probability": lambda rng: rng.beta(2, 5, 400),
    "with 0 and 1": lambda rng: np.round(rng.beta(0.5, 0.5, 400), 2),
    "far tail": lambda rng: np.exp(3 * rng.normal(size=400)),
    "few values": lambda rng: rng.choice([1.0, 2.0, 3.0, 9.0], 400),
}


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("is_lower_better", [False, True])
def test_a_model_of_the_score_alone_decides_as_the_model_in_use_cut_at_its_rate(kind, is_lower_better):
    points = SCORES[kind](np.random.default_rng(1))
    dataset = scored(points, is_lower_better=is_lower_better)
    division = divide(dataset, (0.5, 0.25, 0.25), 3, standardise=False)
    rows = division.rows["selection"]
    column = np.asarray(division.selection.X)[:, list(division.encoding.names).index(NAME)] / EASE
    own = (-1.0 if is_lower_better else 1.0) * points[rows]
    for share in (0.1, 0.37, 0.5, 0.9):
        cuts = [OperatingPoint(share).cut(values) for values in (own, column)]
        decided = [cut.centred(values) >= 0.0 for cut, values in zip(cuts, (own, column), strict=True)]
        np.testing.assert_array_equal(*decided)


@pytest.mark.parametrize("kind", SCORES)
def test_the_weight_of_the_score_alone_gives_the_log_odds_of_a_logistic_regression(kind):
    points = SCORES[kind](np.random.default_rng(2))
    dataset, rows = scored(points), np.arange(300)
    encoding = Encoding.fit(dataset, rows)
    column = np.asarray(encoding.transform(dataset, rows))[:, -1] / EASE
    expected = LogisticRegression(C=1e6, max_iter=5000).fit(column[:, None], dataset.y[rows])
    assert expected.coef_[0, 0] == pytest.approx(1.0, abs=0.05)


def test_the_description_of_the_encoding_gives_the_encoded_numbers():
    for kind, make in SCORES.items():
        points = make(np.random.default_rng(3))
        dataset = scored(points, is_lower_better=kind == "points")
        encoding = Encoding.fit(dataset, np.arange(200))
        described = encoding.described()[-1]
        assert (described.name, described.column) == (NAME, "points")
        assert (described.clip is not None) == (kind in ("probability", "with 0 and 1"))
        expected = np.asarray(encoding.transform(dataset))[:, -1]
        found = [described.encoded(float(value))[0] for value in points]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_the_score_does_not_change_the_encoding_of_other_columns_nor_the_hash_of_the_table():
    dataset = scored(SCORES["points"](np.random.default_rng(4)))
    plain = replace(dataset, features=dataset.own_features, score=None)
    with_score, without = (Encoding.fit(one, np.arange(200)) for one in (dataset, plain))
    assert with_score.names[:-1] == without.names
    np.testing.assert_array_equal(np.asarray(with_score.transform(dataset))[:, :-1], without.transform(plain))
    assert dataset.fingerprint == plain.fingerprint


def test_a_score_that_does_not_vary_is_refused():
    points = np.full(400, 5.0)
    points[350:] = 6.0
    dataset = scored(points, y=np.arange(400) % 2)
    with pytest.raises(ColumnConstant, match="is the same in all 300 training rows, so there is nothing to correct"):
        Encoding.fit(dataset, np.arange(300))


@given(arrays(np.float64, st.integers(2, 30), elements=st.floats(0.0, 1.0)))
def test_probabilities_other_than_0_and_1_stay_apart_from_them(scores):
    clip = smallest_told_apart(scores)
    inside = scores[(scores > 0.0) & (scores < 1.0)]
    assert (clip is None) == (inside.size == 0)
    if clip is not None:
        told = inside[np.minimum(inside, 1.0 - inside) > 1e-12]
        assert (np.minimum(told, 1.0 - told) > clip).all() or clip == 1e-12


@pytest.mark.parametrize("scores", [[0.2, 1.1], [-0.1, 0.5], [0.0, 1.0], [300.0, 700.0]])
def test_other_scores_are_no_probabilities(scores):
    assert smallest_told_apart(np.array(scores)) is None
