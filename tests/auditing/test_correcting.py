"""Models that correct the score of the model in use: from the option to the exported model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import StratifiedKFold
from skops.io import dump
from support.decisions import PLAN
from support.tables_in_use import LENT, rated

from fairenum import Dataset, audit, score
from fairenum.errors import ConfigError, ModelError
from fairenum.explore.exploration import Exploration
from fairenum.svm.sparse_or_dense import dense

NAME = "score of the model in use (vendor)"
PLAIN = {
    **LENT,
    "k": 4,
    "replications": 50,
    "C": 1.0,
    "explanation": False,
    "sizes": (0.5, 0.25, 0.25),
    "prices": False,
}
ASKED = {"around": "incumbent", "incumbent_trained_on": "none", "incumbent_score": "vendor", "incumbent_cutoff": "0"}
QUICK = {**PLAIN, "search": "exact"}


@pytest.fixture(scope="module")
def frame():
    return rated(1200)


@pytest.fixture(scope="module")
def run(frame):
    return audit(frame, **{**PLAIN, "prices": True, "price_rows": 40}, **ASKED, always_search=True)


def test_the_score_is_one_more_feature_with_a_name_for_readers(run):
    document = run.document
    assert [one.name for one in document.dataset.features] == ["income", "debt", "years", NAME]
    assert document.dataset.encoded[-1] == NAME
    assert (document.correction.feature, document.correction.column) == (NAME, "vendor")
    assert document.is_against_incumbent
    assert {model.origin for model in document.models} >= {"exact", "guided"}
    assert NAME not in {one.feature for one in document.screening.features}
    assert document.incumbent.copies == ()
    assert document.parity_range is None  # as with every common selection rate
    assert document.ambiguity is not None


def test_without_the_option_nothing_changes(frame):
    options = {key: value for key, value in ASKED.items() if key.startswith("incumbent_")}
    plain, stated = (audit(frame, **QUICK, **given).document for given in (options, {**options, "around": "none"}))
    assert plain.correction is stated.correction is None
    assert plain.models == stated.models
    assert NAME not in plain.dataset.encoded


def test_the_loss_of_the_model_in_use_is_not_below_that_of_model_1(run):
    """The model of the score alone is one of those that were minimised over, and its weight costs next to nothing."""
    problem, live = run.live.training.problem, run.live
    place = live.division.encoding.names.index(NAME)
    alone = dense(problem.X)[:, place] * run.document.correction.alone
    best = min(
        float(problem.upper @ np.maximum(0.0, 1.0 - problem.y * (alone + bias))) for bias in np.linspace(-4.0, 4.0, 401)
    )
    penalty = run.document.correction.alone**2 / 2.0
    assert live.listing.models[0].objective <= best + penalty
    assert penalty < 1e-4 * best


def test_shifts_are_measured_in_units_of_the_score(run, frame):
    found, live = run.document.correction, run.live
    rows = live.division.dataset.numbered(live.division.rows["selection"])
    for rank in (1, 2, 3):
        shift, pipeline = found.shifts[rank - 1], run.estimator(rank)
        own = frame.iloc[rows]
        per_unit = pipeline.decision_function(own.assign(vendor=1.0)) - pipeline.decision_function(
            own.assign(vendor=0.0)
        )
        np.testing.assert_allclose(per_unit, shift.weight * found.alone * found.unit, rtol=1e-9)
        rest = pipeline.decision_function(own.assign(vendor=0.0)) / per_unit
        assert shift.typical == pytest.approx(np.abs(rest - rest.mean()).mean(), rel=1e-9)


def test_the_weight_of_the_score_counts_in_multiples_of_the_one_that_it_has_alone(frame):
    """Where no other column tells the label, the best model is the score itself."""
    rng = np.random.default_rng(5)
    vendor = rng.normal(size=4000)
    repaid = np.where(rng.random(4000) < 1.0 / (1.0 + np.exp(-2.0 * vendor)), "yes", "no")
    noise = {"x": rng.normal(size=4000), "race": rng.choice(["a", "b"], 4000), "repaid": repaid, "vendor": vendor}
    shift = audit(pd.DataFrame(noise), **QUICK, **ASKED).document.correction.shifts[0]
    assert shift.weight == pytest.approx(1.0, abs=0.25)
    assert shift.typical < 0.15


def test_an_exported_model_takes_the_column_of_the_score(run, frame, tmp_path):
    live, path = run.live, tmp_path / "model.skops"
    run.export(path, 2, unconfirmed=True)
    rows = live.division.dataset.numbered(live.division.rows["holdout"])
    expected = live.listing.values["holdout"][1] >= 0.0
    features = frame[["income", "debt", "years", "vendor"]]
    np.testing.assert_array_equal(run.estimator(2).predict(features)[rows] == "yes", expected)
    decided = score(path, features.assign(vendor=features["vendor"].map("{:.17g}".format))).decisions
    np.testing.assert_array_equal(decided["decision"].to_numpy()[rows] == "yes", expected)


def test_a_person_is_explained_by_the_column_or_by_the_name_of_the_score(run):
    by_column = run.explain({"income": 0.5, "vendor": 1.5})
    assert by_column.decisions == run.explain({"income": 0.5, NAME: 1.5}).decisions
    first, weights = by_column.decisions[0], run.document.anatomy.weights[0].weights
    feature = run.document.anatomy.features[-1]
    expected = weights[-1] * (1.5 - feature.mean) / feature.scale
    assert {one.feature: one.contribution for one in first.contributions}[NAME] == pytest.approx(expected, rel=1e-12)
    assert run.explain({"income": 0.5}).imputed[NAME] == feature.median


def test_a_lower_score_that_is_better_gives_the_same_models(run, frame):
    turned = audit(
        frame.assign(vendor=-frame["vendor"]),
        **{**PLAIN, "search": "exact"},
        **ASKED,
        incumbent_lower_is_better=True,
    ).document
    other = audit(frame, **{**PLAIN, "search": "exact"}, **ASKED).document
    assert turned.correction.unit == pytest.approx(-other.correction.unit, rel=1e-12)
    assert turned.models[0].objective == pytest.approx(other.models[0].objective, rel=1e-9)
    assert turned.correction.shifts[0].typical == pytest.approx(other.correction.shifts[0].typical, rel=1e-9)


def test_marked_rows_take_no_part(frame):
    marked = frame.assign(seen=np.arange(len(frame)) % 4 == 0)
    document = audit(marked, **QUICK, **{**ASKED, "incumbent_trained_on": "seen"}).document
    assert (document.dataset.rows, document.incumbent.fitted, document.incumbent.trained_on) == (900, 300, "seen")
    assert [check.kind for check in document.correction.checks] == ["training", "marked", "features"]
    assert document.correction.checks[1].expected_rows == 300


def test_training_rows_have_the_scores_of_models_fitted_on_other_folds(frame):
    columns = ["income", "vendor"]
    model = LogisticRegression().fit(frame[columns], frame["repaid"])
    run = audit(frame, incumbent=model, **QUICK, around="incumbent", drop="vendor")
    division = run.live.division
    column = next(one for one in division.dataset.features if division.dataset.is_score(one)).values
    others = np.concatenate([division.split.selection, division.split.holdout])
    np.testing.assert_array_equal(column[others], model.predict_proba(frame[columns])[others, 1])
    rows = division.split.train
    X, y = frame[columns].iloc[rows], frame["repaid"].iloc[rows]
    for learnt, tried in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y == "yes"):
        again = clone(model).fit(X.iloc[learnt], y.iloc[learnt])
        np.testing.assert_allclose(column[rows[tried]], again.predict_proba(X.iloc[tried])[:, 1], rtol=1e-12)
    assert run.document.correction.is_cross_fitted
    assert run.document.correction.is_probability
    assert run.document.correction.feature == run.document.correction.column == "score of the model in use"


def test_a_model_whose_second_class_is_unfavourable_is_turned(frame):
    default = np.where(frame["repaid"] == "yes", "no", "yes")
    table, columns = frame.drop(columns="repaid").assign(bad=default), ["income", "vendor"]
    model = LogisticRegression().fit(table[columns], table["bad"])
    plan = {**QUICK, "label": "bad", "favourable": "no", "drop": "vendor"}
    run = audit(table, incumbent=model, **plan, around="incumbent")
    assert run.document.incumbent.is_lower_better
    assert run.document.correction.unit < 0.0
    assert run.document.correction.shifts[0].weight > 0.0


def test_random_models_are_fitted_again_in_the_same_way(frame):
    model = RandomForestClassifier(10).fit(frame[["income", "debt"]], frame["repaid"])
    table = frame.drop(columns="vendor")
    first, second = (audit(table, incumbent=model, **QUICK, around="incumbent").document for _ in range(2))
    assert first.models == second.models
    assert first.correction == second.correction


def test_a_statement_takes_the_place_of_fitting_again(frame):
    model = LogisticRegression().fit(frame[["income", "debt"]], frame["repaid"])
    options = {"around": "incumbent", "incumbent_trained_on": "none"}
    run = audit(frame.drop(columns="vendor"), incumbent=model, **QUICK, **options)
    assert not run.document.correction.is_cross_fitted
    dataset = run.live.division.dataset
    np.testing.assert_array_equal(
        next(one for one in dataset.features if dataset.is_score(one)).values,
        model.predict_proba(frame[["income", "debt"]])[:, 1],
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({**ASKED, "incumbent_trained_on": None}, "needs to know which rows the model in use was fitted on"),
        ({**ASKED, "kernel": "rbf"}, "for which kernel='rbf' (--kernel) has no weights; use kernel='linear'"),
        ({"around": "incumbent"}, "corrects the score of the model in use, and none was given; name the column of its"),
        ({"around": "incumbent", "incumbent": np.resize(["yes", "no"], 1200)}, "gives decisions alone"),
        (
            {"around": "incumbent", "incumbent": lambda table: table["vendor"], "incumbent_cutoff": 0},
            "needs to know which rows",
        ),
        ({**ASKED, "around": "model 1"}, "option 'around' must be one of none, incumbent, not 'model 1'"),
    ],
)
def test_what_cannot_be_corrected_is_refused(frame, options, words):
    with pytest.raises(ConfigError) as caught:
        audit(frame, **QUICK, **options)
    assert words in str(caught.value)


def test_a_regressor_is_not_fitted_again(frame):
    model = LinearRegression().fit(frame[["income"]], frame["repaid"] == "yes")
    with pytest.raises(ConfigError, match="needs to know which rows the model in use was fitted on"):
        audit(frame, **QUICK, incumbent=model, incumbent_cutoff="0.5", around="incumbent")


class Once(LogisticRegression):
    """A model that cannot be fitted on so few rows."""

    def fit(self, X, y):
        if len(X) < 1000:
            raise ValueError("too few rows")
        return super().fit(X, y)


def test_a_model_that_fails_to_be_fitted_again_is_named(frame):
    model = Once().fit(frame[["income"]], frame["repaid"])
    with pytest.raises(
        ModelError, match=r"the model in use \(Once\), fitted again on 480 rows, failed .* too few rows"
    ):
        audit(frame, **QUICK, incumbent=model, around="incumbent")


def test_label_flips_are_not_simulated(run):
    with pytest.raises(ConfigError, match="label flips are simulated on models of the features alone"):
        run.attacked(trials=2)


def test_an_exploration_lists_corrections(frame):
    options = {**PLAN, **LENT, **ASKED, "sizes": (0.5, 0.25, 0.25), "replications": 50, "C": 1.0, "guards": "none"}
    exploration = Exploration(frame, **options)
    exploration.next(3000)
    document = exploration.commit(2, "to compare", "me").document
    assert document.correction.feature == NAME
    assert len(document.correction.shifts) == len(document.models)
    assert exploration.person({"income": 0.0, "vendor": 2.0}).values[NAME] == 2.0


def test_a_dataset_that_was_read_before_can_be_corrected(frame):
    reading = {key: value for key, value in ASKED.items() if key.startswith("incumbent")}
    dataset = Dataset.from_frame(frame, **LENT, **reading)
    plan = {key: value for key, value in QUICK.items() if key not in LENT}
    own = audit(dataset, **plan, around="incumbent").document
    assert own.models == audit(frame, **QUICK, **ASKED).document.models


def test_the_score_of_a_model_file_has_the_name_of_the_file(frame, tmp_path):
    path = tmp_path / "deployed.skops"
    dump(LogisticRegression().fit(frame[["income", "vendor"]], frame["repaid"]), path)
    options = {"incumbent_model": str(path), "incumbent_trained_on": "none", "around": "incumbent", "drop": "vendor"}
    run = audit(frame, **QUICK, **options)
    name = "score of the model in use (deployed.skops)"
    assert run.document.correction.feature == run.document.correction.column == name
    with pytest.raises(ValueError, match="columns are missing"):
        run.estimator(1).predict(frame)
    scored = frame.assign(**{name: run.live.division.dataset.score_values})
    rows = run.live.division.rows["holdout"]
    expected = run.live.listing.values["holdout"][0] >= 0.0
    np.testing.assert_array_equal(run.estimator(1).predict(scored)[rows] == "yes", expected)
