"""A table, and models that were fitted to it, to be asked as models in use."""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

SEEN = ["age", "debt", "town"]
NUMBERS = ["age", "debt"]


def table(n: int = 60) -> pd.DataFrame:
    """Rows with an index of their own, a label and a group, which no model here may see."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"sex": rng.choice(["m", "w"], n), "age": rng.integers(18, 70, n), "debt": rng.normal(size=n)})
    frame["town"] = rng.choice(["u", "v"], n)
    frame["repaid"] = np.where(frame["age"] / 25 - frame["debt"] + rng.normal(size=n) > 1.7, "yes", "no")
    return frame.set_axis(np.arange(n)[::-1] * 2, axis="index")


def fitted(classifier, columns=tuple(SEEN), label=None):
    frame = table()
    encoder = make_column_transformer((OneHotEncoder(), ["town"]), (StandardScaler(), NUMBERS))
    return make_pipeline(encoder, classifier).fit(frame[list(columns)], frame["repaid"] if label is None else label)


def on_numbers(labels=None):
    """A classifier of the two columns of numbers."""
    frame = table()
    return LogisticRegression(max_iter=1000).fit(
        frame[NUMBERS].to_numpy(), frame["repaid"] if labels is None else labels
    )


def assert_same(found, model, frame, tolerance=1e-12):
    """The answers are those of the model itself, row by row."""
    assert found.decisions.index.equals(frame.index)
    assert found.decisions.tolist() == model.predict(frame).tolist()
    assert found.scored == model.classes_[1]
    assert found.scores.index.equals(frame.index)
    np.testing.assert_allclose(found.scores, model.predict_proba(frame)[:, 1], atol=tolerance)


MODEL = fitted(LogisticRegression())
