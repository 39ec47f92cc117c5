"""What features give away: leaks, copies of a sensitive column and nothing, against scikit-learn's areas."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from fairenum.auditing.feature_screening import MOST_ROWS, area, best_told, chances, screen
from fairenum.auditing.preparing import divided
from fairenum.document.audit_config import AuditConfig
from fairenum.document.feature_facts import Screening
from fairenum.enumeration.division import Division, divide
from fairenum.metrics.operating_point import Cut
from fairenum.tables import Column, Dataset

ROWS = 1500


def strangers(rows: int = ROWS, seed: int = 0) -> pd.DataFrame:
    """A table in which nothing is wrong: three honest features, none of which tells all."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"skill": rng.normal(size=rows), "years": rng.integers(0, 9, rows).astype(float)})
    frame["town"] = rng.choice(["Ayr", "Bath", "Cork"], rows)
    frame["sex"] = rng.choice(["f", "m"], rows)
    score = frame["skill"] + 0.3 * frame["years"] - 1.2 + 0.8 * (frame["town"] == "Ayr") + rng.normal(size=rows)
    frame["hired"] = np.where(score > 0, "yes", "no")
    return frame


class Plane:
    """A model that adds up the encoded columns by some weights."""

    def __init__(self, *weights: float) -> None:
        self.weights = weights

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return X[:, : len(self.weights)] @ np.array(self.weights)


def screened(
    frame: pd.DataFrame, *weights: float, sensitive: tuple[str, ...] = ("sex",), **reading: object
) -> tuple[Screening, Division]:
    """Screen a table as an audit would whose model 1 has these weights."""
    return screened_by(AuditConfig(features="linear"), frame, *weights, sensitive=sensitive, **reading)


def screened_by(
    config: AuditConfig, frame: pd.DataFrame, *weights: float, sensitive: tuple[str, ...] = ("sex",), **reading: object
) -> tuple[Screening, Division]:
    division = divided(Dataset.from_frame(frame, "hired", "yes", sensitive, **reading), config)
    model = Plane(*(weights or (1.0, 0.8)))
    listing = SimpleNamespace(
        models=[model], cuts=[Cut()], values={"selection": model.decision_function(division.selection.X)[None]}
    )
    return screen(division, listing, config), division


@given(
    st.lists(st.tuples(st.integers(0, 2), *[st.sampled_from([0.0, 0.25, 0.5, 1.0])] * 3), min_size=6, max_size=40),
    st.integers(2, 3),
)
def test_areas_are_those_of_scikit_learn(rows, classes):
    kinds = np.concatenate([np.arange(classes), np.array([row[0] for row in rows]) % classes])
    scores = np.concatenate([np.eye(classes), np.array([row[1 : classes + 1] for row in rows])]) + 0.1
    scores /= scores.sum(1, keepdims=True)
    exact = np.round(scores, 12)  # what only rounding tells apart is tied
    shown = exact[:, 1] if classes == 2 else exact
    assert area(kinds, scores) == pytest.approx(roc_auc_score(kinds, shown, multi_class="ovr"), abs=1e-12)


def test_a_table_with_nothing_wrong_gives_no_warning():
    found, division = screened(strangers())
    assert not found.has_findings
    assert found.leaks == []
    assert found.rows == len(division.rows["selection"])
    values = division.selection.X[:, :2] @ [1.0, 0.8]
    assert found.model_auc == pytest.approx(roc_auc_score(division.selection.labels, values), abs=1e-12)
    assert 0.4 < found.columns[0].together < 0.6
    assert {one.feature for one in found.features} == {"skill", "years", "town"}


@pytest.mark.parametrize("kind", ["number", "text", "missing"])
def test_a_column_that_knows_the_answer_is_a_leak(kind):
    frame = strangers()
    is_hired, noise = frame["hired"] == "yes", np.random.default_rng(1).random(ROWS) < 0.01
    if kind == "number":
        frame["after"] = (is_hired ^ noise) * 1000.0 + np.arange(ROWS) % 7
    elif kind == "text":
        frame["after"] = np.where(is_hired ^ noise, "contract", "letter")
    else:  # a date of entry that only those have who were hired
        frame["after"] = np.where(is_hired ^ noise, np.arange(ROWS) % 30, np.nan)
    found, division = screened(frame)
    assert [one.feature for one in found.leaks] == ["after"]
    assert found.leaks[0].auc > 0.95
    assert found.lookalikes == ()
    assert not any(column.copies for column in found.columns)
    assert division.column == "sex"


def test_a_column_that_knows_most_of_a_rare_answer_is_a_leak_where_its_auc_is_moderate():
    frame, rng = strangers(), np.random.default_rng(1)
    frame["hired"] = np.where((frame["skill"] > 1.2) & (frame["years"] > 1), "yes", "no")
    is_hired = frame["hired"] == "yes"
    frame["letter"] = np.where(is_hired & (rng.random(ROWS) < 0.86), "sent", "none")
    found, division = screened(frame)
    (leak,) = [one for one in found.leaks if one.feature == "letter"]
    rows = division.rows["selection"]
    right = (frame["letter"] == "sent").iloc[rows] == is_hired.iloc[rows]
    assert leak.accuracy == pytest.approx(right.mean(), abs=1e-12)
    assert found.commoner == pytest.approx(1 - is_hired.iloc[rows].mean(), abs=1e-12)
    assert leak.auc < 0.95 < leak.accuracy
    assert found.is_right_too_often(leak)


def test_a_column_that_tells_groups_apart_is_a_proxy_but_no_copy():
    frame, rng = strangers(), np.random.default_rng(2)
    frame["zip"] = rng.integers(100, 160, ROWS) + 30 * (frame["sex"] == "m")
    found, division = screened(frame)
    (column,) = found.columns
    assert [one.feature for one in column.proxies] == ["zip"]
    assert column.copies == []
    assert found.has_findings
    row = division.rows["selection"]
    assert column.proxies[0].auc == pytest.approx(
        roc_auc_score(frame["sex"].iloc[row] == "m", frame["zip"].iloc[row]), abs=0.05
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_lower_limits_hold_for_all_features_together_and_chance_makes_no_proxy(classes):
    """Of features that know nothing, hardly ever is one called a proxy, however few rows there are."""
    rng, alarms, tables, features = np.random.default_rng(5), 0, 400, 20
    for _ in range(tables):
        kinds = rng.permutation(np.arange(60) % classes)
        lows, areas = [], []
        for _ in range(features):
            scores = rng.random((60, classes))
            best, low, _ = best_told(kinds, scores, 1 - 0.05 / features)
            lows.append(low)
            areas.append(best)
        alarms += any(low > 0.5 and best >= 0.7 for low, best in zip(lows, areas, strict=True))
        assert all(low <= best for low, best in zip(lows, areas, strict=True))
    assert alarms <= 0.05 * tables


def test_a_feature_that_tells_one_of_three_groups_is_named_with_it():
    frame, rng = strangers(3000), np.random.default_rng(2)
    frame["race"] = rng.choice(["a", "b", "c"], 3000, p=[0.45, 0.35, 0.2])
    frame["zip"] = (frame["race"] == "c") * 1.1 + rng.normal(size=3000)
    found, division = screened(frame, sensitive=("race",))
    (column,) = found.columns
    (proxy,) = column.proxies
    row = division.rows["selection"]
    told = roc_auc_score(frame["race"].iloc[row] == "c", frame["zip"].iloc[row])
    assert (proxy.feature, proxy.group) == ("zip", "c")
    assert proxy.auc == pytest.approx(told, abs=0.06)
    assert proxy.average < 0.7 <= proxy.auc, "the average over the groups would hide it"
    assert column.copies == []
    exact = screened(frame.assign(zip=frame["race"] == "c"), sensitive=("race",))[0].columns[0]
    assert (exact.copies, exact.proxies[0].feature, exact.proxies[0].auc) == ([], "zip", 1.0)
    assert screened(frame.assign(zip=frame["race"]), sensitive=("race",))[0].columns[0].copies == ["zip"]


def test_a_model_that_is_one_column_is_said_to_be_that():
    found, division = screened(strangers(), 1.0, 0.001)
    assert [one.feature for one in found.lookalikes] == ["skill"]
    values = division.selection.X @ [1.0, 0.001, 0, 0, 0]
    best = max(
        balanced_accuracy_score(values >= 0, division.selection.X[:, 0] >= cut) for cut in np.linspace(-0.1, 0.1, 201)
    )
    assert found.lookalikes[0].agreement == pytest.approx(best, abs=0.01)
    assert found.leaks == []
    assert screened(strangers(), 1.0, 0.8)[0].lookalikes == ()


def test_a_model_that_decides_everybody_alike_is_no_column():
    found, _ = screened(strangers(), 0.0)
    assert found.lookalikes == ()
    assert found.model_auc == 0.5
    assert found.leaks == []


def test_a_copy_of_a_sensitive_column_is_named():
    frame = strangers()
    noise = np.random.default_rng(2).random(ROWS) < 0.01
    frame["title"] = np.where((frame["sex"] == "m") ^ noise, "Mr", "Ms")
    frame["height"] = 165.0 + 13.0 * (frame["sex"] == "m") + 7.0 * np.random.default_rng(3).normal(size=ROWS)
    found, division = screened(frame)
    (tell,) = found.columns
    assert tell.copies == ["title"]
    assert [one.feature for one in tell.features[:2]] == ["title", "height"]
    assert tell.together > 0.97
    row = division.rows["selection"]
    direct = roc_auc_score(frame["sex"].iloc[row] == "m", frame["height"].iloc[row])
    assert tell.features[1].auc == pytest.approx(direct, abs=0.03)
    assert found.leaks == []


def test_more_than_two_groups_are_told_one_against_the_rest_and_small_ones_left_out():
    frame = strangers()
    rng = np.random.default_rng(4)
    frame["race"] = rng.choice(["a", "b", "c", "d"], ROWS, p=[0.4, 0.3, 0.29, 0.01])
    frame["code"] = frame["race"].map({"a": 10.0, "b": 20.0, "c": 30.0, "d": 40.0})
    found, _ = screened(frame, sensitive=("sex", "race"))
    race = found.columns[1]
    assert race.groups == ("a", "b", "c")
    assert race.features[0].feature == "code"
    assert race.features[0].auc == 1.0
    assert found.columns[0].copies == []


def test_groups_that_are_set_aside_are_not_told_unless_they_are_kept():
    frame = strangers()
    frame["sex"] = np.where(np.arange(ROWS) % 4 == 0, None, frame["sex"])
    aside, _ = screened(frame)
    assert aside.columns[0].groups == ("f", "m")
    kept, _ = screened_by(AuditConfig(small_groups="keep"), frame)
    assert kept.columns[0].groups == ("f", "m", "(missing)")


def test_a_group_without_rows_to_measure_on_is_not_told_however_small_groups_may_be():
    frame = strangers()
    frame["race"] = np.where(np.arange(ROWS) == 7, "rare", np.where(np.arange(ROWS) % 2, "a", "b"))
    found, division = screened_by(AuditConfig(small_groups="keep", min_group_size=0), frame, sensitive=("race",))
    assert division.primary.names == ("a", "b", "rare")
    assert found.columns[0].groups == ("a", "b")


def test_a_sensitive_column_that_models_learn_from_is_no_discovery():
    found, _ = screened(strangers(), sensitive=("sex",), use_sensitive=True)
    (tell,) = found.columns
    assert tell.copies == []
    assert tell.together < 0.6


def test_without_groups_or_with_one_feature_there_is_little_to_say():
    frame = strangers()[["skill", "sex", "hired"]]
    found, _ = screened(frame, 1.0)
    assert (found.features, found.lookalikes) == ((), ())
    assert screened(strangers(), sensitive=())[0].columns == ()
    assert screened(strangers(100))[0].columns == ()  # 20 rows to measure on


def test_numbers_of_any_size_and_texts_never_seen_are_taken():
    train, other, classes = np.arange(20), np.arange(20, 40), np.arange(20) % 2
    huge = np.where(np.arange(40) % 2, 1e99, -1e99) * (1 + np.arange(40) / 1e3)
    assert area(classes, chances(Column("huge", huge), train, classes, other)) == 1.0
    texts = np.array([*["x", "z"] * 10, *["new"] * 20], dtype=object)
    np.testing.assert_allclose(chances(Column("text", texts), train, classes, other), 0.5)


def test_many_rows_are_drawn_from_by_the_seed():
    frame = strangers(6 * MOST_ROWS)
    division = divide(Dataset.from_frame(frame, "hired", "yes", "sex"), (0.5, 0.4, 0.1))
    model = Plane(1.0, 0.8)
    listing = SimpleNamespace(
        models=[model], cuts=[Cut()], values={"selection": model.decision_function(division.selection.X)[None]}
    )
    found = screen(division, listing, AuditConfig())
    assert found.rows == MOST_ROWS
    assert found == screen(division, listing, AuditConfig())
    assert found != screen(division, listing, AuditConfig(seed=1))
