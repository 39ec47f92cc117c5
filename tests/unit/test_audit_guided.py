"""Guided models, other mitigations, the certified range and the explanation, through the audit."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import demographic_parity_difference
from jsonschema import Draft202012Validator
from sklearn.svm import SVC

from fairenum.audit import AuditResult, audit, schema, select
from fairenum.audit import guiding as guiding_module
from fairenum.baselines import WeightedSvm
from fairenum.enumeration.guided import GuidedSearch
from fairenum.errors import ConfigError, SolverBroken

OPTIONS = {"k": 5, "replications": 100, "sizes": (200, 400, 400)}
METRIC = "demographic_parity_difference"


def table(n: int = 1000) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    sex = rng.choice(["f", "m"], n)
    skill, proxy = rng.normal(size=n), np.where(sex == "m", 0.9, -0.9) + rng.normal(size=n)
    town = rng.choice(["north", "south"], n)
    hired = skill + 0.4 * proxy + 0.3 * (town == "north") + 0.7 * rng.normal(size=n) > 0
    return pd.DataFrame({"skill": skill, "proxy": proxy, "town": town, "sex": sex, "hired": np.where(hired, "y", "n")})


def run(**options) -> AuditResult:
    return audit(table(), "hired", "y", "sex", **{**OPTIONS, **options})


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return run(baselines=True)


@pytest.fixture(scope="module")
def document(result) -> dict:
    document = json.loads(result.to_json())
    Draft202012Validator(schema()).validate(document)
    return document


def of_origin(document: dict, origin: str) -> list[dict]:
    return [model for model in document["models"] if model["origin"] == origin]


def test_guided_models_stand_among_the_others_by_objective(document):
    assert len(of_origin(document, "exact")) == document["enumeration"]["models"] == 5
    assert len(of_origin(document, "guided")) == document["guided"]["models"] > 0
    assert [model["rank"] for model in document["models"]] == list(range(1, len(document["models"]) + 1))
    objectives = [model["objective"] for model in document["models"]]
    assert objectives == sorted(objectives, reverse=True)
    for before, model in zip(document["models"], document["models"][1:], strict=False):
        if "guided" in (before["origin"], model["origin"]):
            assert model["is_order_certified"] == (model["objective_bound"] < before["objective"])
    assert all(model["objective_ratio"] >= 0.95 for model in document["models"])


def test_only_the_holdout_speaks_about_guided_models(document):
    for model in document["models"]:
        selection, holdout = model["scores"]["selection"], model["scores"]["holdout"]
        assert (selection[METRIC]["verdict"] is None) == (model["origin"] == "guided")
        assert (selection["by_column"]["sex"][METRIC]["verdict"] is None) == (model["origin"] == "guided")
        assert holdout[METRIC]["verdict"] is not None
    chosen = document["models"][document["selection"]["rank"] - 1]
    assert chosen["origin"] == "guided"
    assert document["selection"]["optimism"]["expected"] is None
    assert document["selection"]["verdict"] == chosen["scores"]["holdout"][METRIC]["verdict"]


def test_bands_hold_over_all_models_together(result, document):
    """The change of a listed model is known less well when more models are compared."""
    alone = run(search="exact").document
    widths = [[m["scores"]["holdout"][METRIC]["change"] for m in of_origin(d, "exact")][1:] for d in (document, alone)]
    for wide, narrow in zip(*widths, strict=True):
        assert wide["high"] - wide["low"] >= narrow["high"] - narrow["low"]


def test_scores_of_guided_models_are_those_of_their_pipelines(result, document):
    frame, rows = table(), result.live.prepared.rows["holdout"]
    rank = of_origin(document, "guided")[-1]["rank"]
    predicted = result.estimator(rank).predict(frame.iloc[rows])
    gap = demographic_parity_difference(
        frame["hired"].iloc[rows] == "y", predicted == "y", sensitive_features=frame["sex"].iloc[rows]
    )
    assert document["models"][rank - 1]["scores"]["holdout"][METRIC]["value"] == pytest.approx(gap)


def test_same_seed_same_bytes(result):
    again = run(baselines=True)
    texts = [AuditResult({**one.document, "timings": {}}).to_json() for one in (result, again)]
    assert texts[0] == texts[1]


def test_each_search_alone():
    exact = run(search="exact").document
    assert exact["guided"] is None
    assert not of_origin(exact, "guided")
    guided = run(search="guided").document
    assert len(of_origin(guided, "exact")) == 1
    assert of_origin(guided, "guided")


@pytest.mark.parametrize(
    ("options", "reason"),
    [({"sizes": (300, 300, 0)}, "a holdout apart"), ({"sensitive": None}, "no sensitive column")],
)
def test_without_something_to_guide_it_the_search_is_skipped(options, reason):
    sensitive = options.pop("sensitive", "sex")
    document = audit(table(), "hired", "y", sensitive, **{**OPTIONS, **options}).document
    assert document["guided"]["stopped"] == "skipped"
    assert reason in document["guided"]["note"]
    codes = [warning["code"] for warning in document["warnings"]]
    assert ("guided_skipped" if sensitive else "no_sensitive") in codes
    assert not of_origin(document, "guided")
    with pytest.raises(ConfigError, match=reason):
        audit(table(), "hired", "y", sensitive, **{**OPTIONS, **options, "search": "guided"})


@pytest.mark.parametrize(
    ("error", "stopped", "status"),
    [(KeyboardInterrupt(), "interrupted", "interrupted"), (SolverBroken("no"), "solver", "complete")],
)
def test_what_was_found_before_an_end_is_kept(monkeypatch, error, stopped, status):
    class Breaking(GuidedSearch):
        def __next__(self):
            if self.solves >= 20:
                raise error
            return super().__next__()

    monkeypatch.setattr(guiding_module, "GuidedSearch", Breaking)
    document = run().document
    Draft202012Validator(schema()).validate(document)
    assert document["guided"]["stopped"] == stopped
    assert document["status"] == status
    assert of_origin(document, "guided")


def test_every_model_lies_in_the_certified_range(result, document):
    found = document["range"]
    assert found["eps"] == max(0.05, *(model["loss_ratio"] for model in document["models"]))
    assert found["low"]["bound"] <= found["low"]["attained"] <= found["high"]["attained"] <= found["high"]["bound"]
    frame, rows = table(), result.live.prepared.rows["holdout"]
    for place in found["models"]:
        assert found["low"]["bound"] <= place["value"] <= found["high"]["bound"]
        assert place["is_within"]
    values = result.estimator(1).decision_function(frame.iloc[rows])
    means = pd.Series(values).groupby(frame["sex"].iloc[rows].to_numpy()).mean()
    first, second = found["groups"]
    assert found["models"][0]["value"] == pytest.approx(means[first] - means[second])


def test_mitigations_are_scored_beside_model_one(document):
    methods = {method["name"]: method for method in document["baselines"]}
    assert {name for name, method in methods.items() if method["is_randomised"]} == {
        "exponentiated_gradient", "threshold_optimizer"
    }  # fmt: skip
    assert [name for name, method in methods.items() if method["needs_groups"]] == ["threshold_optimizer"]
    first = document["models"][0]["scores"]["holdout"][METRIC]["value"]
    for method in methods.values():
        assert method["error"] is None
        gap = method["scores"][METRIC]
        assert gap["change"]["value"] == pytest.approx(gap["value"] - first)
    assert methods["threshold_optimizer"]["scores"][METRIC]["value"] < first


def test_a_metric_that_fairlearn_has_no_constraint_for_is_said_so():
    document = run(baselines=True, search="exact", metric="predictive_parity_difference").document
    Draft202012Validator(schema()).validate(document)
    errors = {method["name"]: method["error"] for method in document["baselines"]}
    assert errors["reweighing"] is None
    assert "no constraint" in errors["grid_search"]
    assert "no constraint" in errors["threshold_optimizer"]


def test_the_weighted_machine_is_scikit_learns():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(120, 3)), rng.uniform(0.2, 3.0, 120)
    weights[:10] = 0.0
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    ours = WeightedSvm(0.7).fit(X, y, weights).decision_function(X)
    theirs = SVC(kernel="linear", C=0.7, tol=1e-8).fit(X[10:], y[10:], weights[10:]).decision_function(X)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
    assert WeightedSvm().fit(X, np.ones(120, int)).predict(X).all()


def test_the_explanation_is_verified_by_solving_again(result, document):
    found, rank = document["explanation"], document["selection"]["rank"]
    left_out = document["models"][rank - 1]["left_out"]
    assert found["rank"] == rank
    assert found["records"] == sum(example["copies"] for example in left_out)
    assert sum(cluster["records"] for cluster in found["clusters"]) == pytest.approx(found["records"])
    assert sum(cluster["share"] for cluster in found["clusters"]) == pytest.approx(1.0)
    frame, train = table(), result.live.prepared.split.train
    for cluster in found["clusters"]:
        rows = frame.loc[cluster["rows"]]
        assert set(rows["hired"]) == {cluster["label"]}
        assert set(rows["sex"]) == {cluster["group"]}
        for feature, value in cluster["cell"].items():
            assert (rows[feature] == value).mean() >= 0.8
        alike = (frame["hired"] == cluster["label"]) & (frame["sex"] == cluster["group"])
        assert cluster["share_of_training"] == pytest.approx(alike.iloc[train].mean())
    core = found["core"]
    dropped = [example["row"] for example in core["left_out"]]
    assert set(dropped) <= {example["row"] for example in left_out}
    kept = np.setdiff1d(train, dropped)
    encoding, signs = result.live.prepared.encoding, result.live.prepared.dataset.signs
    machine = SVC(kernel="linear", C=1.0, tol=1e-8).fit(
        encoding.transform(result.live.prepared.dataset, kept), signs[kept]
    )
    for part in ("selection", "holdout"):
        rows = result.live.prepared.rows[part]
        decided = machine.predict(encoding.transform(result.live.prepared.dataset, rows)) > 0
        rates = pd.Series(decided).groupby(frame["sex"].iloc[rows].to_numpy()).mean()
        assert core["gap"][part] == pytest.approx(abs(rates["f"] - rates["m"]), abs=0.01)
    gaps = [document["models"][place]["scores"]["selection"][METRIC]["value"] for place in (0, rank - 1)]
    gained = (gaps[0] - core["gap"]["selection"]) / (gaps[0] - gaps[1])
    assert core["share_of_gain"] == pytest.approx(gained)
    assert gained >= 0.8


def test_choosing_again_keeps_or_drops_the_explanation(result, tmp_path):
    result.save(tmp_path / "run.json")
    loaded = AuditResult.load(tmp_path / "run.json")
    assert select(loaded).document["explanation"] == loaded.document["explanation"]
    other = select(loaded, eps=0.001).document
    assert other["explanation"] is None
    fresh = select(result, max_accuracy_drop=0.05).document
    assert fresh["explanation"]["rank"] == fresh["selection"]["rank"]
