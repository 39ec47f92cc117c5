"""The audit from a table to the document."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import demographic_parity_difference
from jsonschema import Draft202012Validator

import fairenum.audit as module
from fairenum.audit import AuditConfig, AuditResult, audit, schema, select
from fairenum.audit import listing as listing_module
from fairenum.dataset import Dataset, split
from fairenum.errors import ColumnMissing, ConfigError, DataError, SolverBroken

PLAN = {"label": "hired", "favourable": "yes", "sensitive": ["sex", "race"]}


def table(n: int = 300, seed: int = 1) -> pd.DataFrame:
    """A table in which skill and a proxy of sex decide, with noise."""
    rng = np.random.default_rng(seed)
    sex, race = rng.choice(["f", "m"], n), rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    skill = rng.normal(size=n)
    proxy = np.where(sex == "m", 0.8, -0.8) + rng.normal(size=n)
    town = rng.choice(["north", "south"], n)
    score = skill + 0.6 * proxy + 0.3 * (town == "north") + rng.normal(scale=0.8, size=n)
    hired = np.where(score > 0, "yes", "no")
    return pd.DataFrame({"skill": skill, "proxy": proxy, "town": town, "sex": sex, "race": race, "hired": hired})


def check_document(result: AuditResult) -> dict:
    """Return the document as JSON tells it, once it is what the schema says."""
    document = json.loads(result.to_json())
    Draft202012Validator(schema()).validate(document)
    return document


def codes(document: dict) -> list[str]:
    return [warning["code"] for warning in document["warnings"]]


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return audit(table(), **PLAN, k=12, replications=200, search="exact")


@pytest.fixture(scope="module")
def document(result) -> dict:
    return check_document(result)


def test_the_document_is_what_the_schema_says(document):
    Draft202012Validator.check_schema(schema())
    assert document["schema_version"] == "1.0"
    assert document["status"] == "complete"
    assert [model["rank"] for model in document["models"]] == list(range(1, 13))


def test_the_module_itself_can_be_called():
    assert module(table(120), **PLAN, k=2, replications=50).document["enumeration"]["models"] == 2


def test_same_input_and_seed_give_the_same_bytes(result):
    again = audit(table(), **PLAN, k=12, replications=200, search="exact")
    texts = [AuditResult({**run.document, "timings": {}}).to_json() for run in (result, again)]
    assert texts[0] == texts[1]
    assert set(result.document["timings"]) == {
        "load",
        "prepare",
        "tune",
        "enumerate",
        "guide",
        "baselines",
        "score",
        "select",
        "total",
    }


def test_another_seed_gives_another_split(result):
    other = audit(table(), **PLAN, k=2, seed=1, replications=50)
    assert other.document["models"][0]["objective"] != result.document["models"][0]["objective"]


def test_models_come_best_first_with_proofs(document):
    models = document["models"]
    objectives = [model["objective"] for model in models]
    assert objectives == sorted(objectives, reverse=True)
    assert models[0]["objective_ratio"] == 1.0
    assert models[0]["left_out"] == []
    for model in models:
        assert model["objective"] <= model["objective_bound"] * (1 + 1e-12)
        assert model["relative_gap"] <= 1e-9
        assert model["objective_ratio"] >= 1 - document["config"]["eps"]


def test_left_out_rows_are_training_rows_of_the_table(document):
    frame = table()
    for model in document["models"][1:]:
        assert model["left_out"]
        for example in model["left_out"]:
            row = frame.iloc[example["row"]]
            assert example["label"] == row["hired"]
            assert example["groups"]["sex"] == {row["sex"]: 1}
    examples = {example["row"]: example for example in document["examples"]}
    row, example = next(iter(examples.items()))
    assert example["values"]["skill"] == pytest.approx(frame["skill"][row])
    assert example["values"]["town"] == frame["town"][row]
    assert {left["row"] for model in document["models"] for left in model["left_out"]} == set(examples)


def test_scores_are_those_of_the_exported_pipeline(result, document):
    frame, live = table(), result.live
    rows = live.prepared.rows["holdout"]
    for rank in (1, 7):
        block = document["models"][rank - 1]["scores"]["holdout"]
        predicted = result.estimator(rank).predict(frame.iloc[rows]) == "yes"
        truth = frame["hired"].iloc[rows].to_numpy() == "yes"
        assert block["accuracy"]["value"] == pytest.approx((predicted == truth).mean())
        for column in ("sex", "race"):
            gap = demographic_parity_difference(truth, predicted, sensitive_features=frame[column].iloc[rows])
            shown = block["by_column"][column]["demographic_parity_difference"]
            assert shown["value"] == pytest.approx(gap, abs=1e-12)
            assert shown["low"] <= gap <= shown["high"]
    assert document["reference_check"]["largest_difference"] < 1e-12
    assert document["reference_check"]["compared"] == 14


def test_the_primary_column_is_the_first_and_can_be_chosen(document):
    assert document["config"]["primary"] == "sex"
    scores = document["models"][3]["scores"]["holdout"]
    assert set(scores["by_column"]) == {"sex", "race", "sex & race"}
    assert scores["equalized_odds_difference"] == scores["by_column"]["sex"]["equalized_odds_difference"]
    crossed = audit(table(), **PLAN, k=2, primary="sex & race", replications=50).document
    scores = crossed["models"][1]["scores"]["selection"]
    assert scores["demographic_parity_ratio"] == scores["by_column"]["sex & race"]["demographic_parity_ratio"]
    with pytest.raises(ColumnMissing, match="did you mean 'race'"):
        audit(table(), **PLAN, primary="rase")


def test_the_reference_is_the_largest_group_or_the_one_asked_for(document):
    tables = {(t["rank"], t["column"]): t for t in document["group_tables"]}
    assert tables[1, "race"]["reference"] == "a"
    asked = audit(table(), **PLAN, k=1, reference="f", replications=50).document
    assert asked["config"]["reference"] == "f"
    assert {t["column"]: t["reference"] for t in asked["group_tables"]}["sex"] == "f"
    with pytest.raises(DataError, match="no group is called 'x'"):
        audit(table(), **PLAN, k=1, reference="x")


def test_group_tables_have_the_adverse_impact_form(document):
    ranks = {t["rank"] for t in document["group_tables"]}
    assert ranks == {1, document["selection"]["rank"]}
    for shown in document["group_tables"]:
        sizes = {g["name"]: g["holdout"] for c in document["dataset"]["sensitive"] if c["column"] == shown["column"]
                 for g in c["groups"]}  # fmt: skip
        best = next(g for g in shown["groups"] if g["group"] == shown["most_selected"])
        for group in shown["groups"]:
            assert group["n"] == sizes[group["group"]]
            assert group["rate"]["value"] == pytest.approx(group["selected"] / group["n"])
            assert group["rate"]["low"] <= group["rate"]["value"] <= group["rate"]["high"]
            assert group["ratio"] == pytest.approx(group["rate"]["value"] / best["rate"]["value"])
            assert group["is_small"] == (group["n"] < 30)
            assert (group["p"] is None) == (group["group"] == shown["reference"])
            short = group["n"] * best["rate"]["value"] - group["selected"]
            assert group["shortfall"] == pytest.approx(max(0.0, short), abs=1e-9)


def test_multiplicity_counts_who_is_decided_otherwise(document):
    whole = document["multiplicity"]
    assert whole["flipped"] == sum(group["flipped"] for group in whole["by_column"]["sex"])
    assert whole["ambiguity"] == pytest.approx(whole["flipped"] / whole["rows"])
    shares = [model["predictions_changed"]["holdout"]["share"] for model in document["models"]]
    assert whole["discrepancy"] == pytest.approx(max(shares))
    assert 0 < whole["capacity"] < whole["viable_range"] < 0.5


def test_splits_are_counted(document):
    dataset = document["dataset"]
    assert dataset["splits"] == {"train": 180, "selection": 60, "holdout": 60}
    assert sum(dataset["class_counts"].values()) == dataset["rows"] == 300
    for column in dataset["sensitive"]:
        for part, rows in dataset["splits"].items():
            assert sum(group[part] for group in column["groups"]) == rows


def test_the_selection_explains_itself(document):
    selection = document["selection"]
    assert selection["outcome"] == "selected"
    assert f"model {selection['rank']}" in selection["reason"]
    assert selection["rank"] in selection["candidates"]
    assert selection["rank"] in selection["pareto_front"]
    chosen, first = document["models"][selection["rank"] - 1], document["models"][0]
    gaps = [m["scores"]["selection"]["demographic_parity_difference"]["value"] for m in (chosen, first)]
    assert gaps[0] < gaps[1]
    assert selection["gap_change"]["selection"]["value"] == pytest.approx(gaps[0] - gaps[1])
    changes = [selection["gap_change"][part]["value"] for part in ("holdout", "selection")]
    assert selection["optimism"]["observed"]["value"] == pytest.approx(changes[0] - changes[1])
    assert selection["optimism"]["expected"] > 0
    assert ("not_confirmed" in codes(document)) == (not selection["is_fairer"])


def test_choosing_again_needs_no_data(result, tmp_path):
    result.save(tmp_path / "run.json")
    loaded = AuditResult.load(tmp_path / "run.json")
    again = select(loaded)
    expected = json.loads(result.to_json())
    expected["selection"]["optimism"]["expected"] = None
    assert again.document == expected
    strict = select(loaded, eps=0.0)
    assert strict.document["selection"]["outcome"] == "kept"
    assert "within the tolerances" in strict.document["selection"]["reason"]
    other = select(result, metric="equal_opportunity_difference", max_accuracy_drop=0.5)
    assert other.document["selection"]["tolerances"]["metric"] == "equal_opportunity_difference"
    check_document(other)
    assert select(other).document["selection"] == other.document["selection"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "accuracy"}, "metric"),
        ({"eps": 0.5}, "within eps=0.05"),
        ({"max_accuracy_drop": -1.0}, "max_accuracy_drop"),
    ],
)
def test_bad_tolerances_are_refused(result, options, message):
    with pytest.raises(ConfigError, match=message):
        select(result, **options)


@pytest.mark.parametrize(
    ("values", "favourable", "shown"),
    [
        (("no", "yes"), "yes", ("yes", "no")),
        ((False, True), True, ("True", "False")),
        ((2, 1), 1, ("1", "2")),
        ((0, 1), 0, ("0", "1")),
        ((1.0, 2.0), "2", ("2", "1")),
    ],
)
def test_labels_of_any_kind_give_the_same_numbers(result, values, favourable, shown):
    frame = table()
    is_favourable = frame["hired"] == "yes"
    yes = values[1] if shown[0] != "0" else values[0]
    no = values[0] if shown[0] != "0" else values[1]
    frame["hired"] = np.where(is_favourable, yes, no)
    other = audit(frame, "hired", favourable, ["sex", "race"], k=12, replications=200, search="exact")
    ours, theirs = (run.document for run in (other, result))
    assert (ours["dataset"]["favourable"], ours["dataset"]["unfavourable"]) == shown
    assert ours["selection"]["rank"] == theirs["selection"]["rank"]
    for model, same in zip(ours["models"], theirs["models"], strict=True):
        assert model["scores"] == same["scores"]
    assert set(other.selected_estimator.predict(frame)) == set(shown)


def test_a_dataset_and_a_file_will_do(result, tmp_path):
    table().to_csv(tmp_path / "people.csv", index=False)
    from_file = audit(tmp_path / "people.csv", **PLAN, k=12, replications=200, search="exact")
    assert from_file.document["models"] == result.document["models"]
    assert from_file.document["dataset"]["name"] == "people"
    dataset = Dataset.from_frame(table(), "hired", "yes", ["sex", "race"], name="people")
    assert audit(dataset, k=12, replications=200, search="exact").document["models"] == result.document["models"]
    with pytest.raises(ConfigError, match="'drop', 'label'"):
        audit(dataset, "hired", drop=["town"])


def test_missing_group_values_are_a_group():
    frame = table()
    frame.loc[frame.index % 9 == 0, "race"] = None
    frame.loc[5, "skill"] = np.nan
    frame.loc[6:8, "town"] = None
    document = check_document(audit(frame, **PLAN, k=3, replications=50))
    race = next(column for column in document["dataset"]["sensitive"] if column["column"] == "race")
    assert [group["name"] for group in race["groups"]] == ["a", "b", "c", "(missing)"]
    assert document["dataset"]["missing"] == {"skill": 1, "town": 3}
    assert {"imputed", "missing", "small_group"} <= set(codes(document))


def test_a_group_of_one_is_flagged_and_kept():
    frame = table()
    frame.loc[7, "race"] = "z"
    document = check_document(audit(frame, **{**PLAN, "sensitive": "race"}, k=3, replications=50))
    (race,) = document["dataset"]["sensitive"]
    lonely = race["groups"][-1]
    assert lonely["name"] == "z"
    assert lonely["train"] + lonely["selection"] + lonely["holdout"] == 1
    assert lonely["is_small"]
    assert "small_group" in codes(document)
    for shown in document["group_tables"]:
        assert shown["most_selected"] != "z"
        assert [group["group"] for group in shown["groups"]][-1] == "z"


def test_models_that_reject_everybody_are_never_selected():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=200), "g": rng.choice(["a", "b"], 200), "y": 0})
    frame.loc[rng.choice(200, 12, replace=False), "y"] = 1
    result = audit(frame, "y", 1, "g", k=5, C=0.01, distinct="support", replications=50)
    document = check_document(result)
    assert all(model["is_constant"] for model in document["models"])
    assert document["models"][0]["scores"]["holdout"]["selection_rate"]["value"] == 0.0
    assert document["models"][0]["scores"]["holdout"]["demographic_parity_difference"]["value"] == 0.0
    assert document["models"][0]["scores"]["holdout"]["demographic_parity_ratio"]["value"] is None
    assert document["models"][0]["scores"]["holdout"]["predictive_parity_difference"]["value"] is None
    assert document["selection"]["rank"] is None
    assert document["selection"]["outcome"] == "none"
    assert document["selection"]["pareto_front"] == []
    assert result.selected is None
    assert "constant" in codes(document)


def test_without_sensitive_columns_there_is_no_parity():
    result = audit(table().drop(columns=["sex", "race"]), "hired", "yes", k=3, replications=50)
    document = check_document(result)
    assert document["config"]["primary"] is None
    assert document["models"][1]["scores"]["holdout"]["demographic_parity_difference"]["verdict"] is None
    assert document["selection"]["rank"] == 1
    assert "no sensitive column" in document["selection"]["reason"]
    assert "no_sensitive" in codes(document)
    assert document["multiplicity"]["by_column"] == {}


def test_identical_rows_are_merged_or_left_out_one_by_one():
    frame = pd.concat([table(100)] * 3, ignore_index=True)
    frame["sex"] = np.random.default_rng(0).choice(["f", "m"], len(frame))
    merged = check_document(audit(frame, **{**PLAN, "sensitive": "sex"}, k=4, replications=50))
    single = check_document(audit(frame, **{**PLAN, "sensitive": "sex"}, k=4, rows=True, replications=50))
    assert merged["dataset"]["identical_rows"] == single["dataset"]["identical_rows"] > 0
    assert merged["dataset"]["examples"] < single["dataset"]["examples"] == merged["dataset"]["splits"]["train"]
    assert merged["models"][0]["objective"] == pytest.approx(single["models"][0]["objective"])
    left = [example for model in merged["models"] for example in model["left_out"]]
    assert all(example["copies"] <= example["of"] == sum(example["groups"]["sex"].values()) for example in left)
    assert max(example["of"] for example in left) > 1
    assert all(example["of"] == 1 for model in single["models"] for example in model["left_out"])


@pytest.mark.parametrize("sizes", [(0.7, 0.3, 0.0), (0.7, 0.0, 0.3), (1.0, 0.0, 0.0)])
def test_fewer_than_three_splits_are_exploratory(sizes):
    document = check_document(audit(table(), **PLAN, k=3, sizes=sizes, replications=50))
    assert document["is_exploratory"]
    assert "exploratory" in codes(document)
    scores = document["models"][1]["scores"]
    assert scores["selection"]["accuracy"]["value"] == scores["holdout"]["accuracy"]["value"]


def test_c_is_chosen_by_cross_validation():
    document = check_document(audit(table(), **PLAN, k=2, C="auto", kernel="rbf", gamma="auto", replications=50))
    tried = {entry["C"]: entry["accuracy"] for entry in document["tuning"]["grid"]}
    assert list(tried) == [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
    best = max(tried.values())
    assert document["config"]["C"] == min(cost for cost, accuracy in tried.items() if accuracy == best)
    assert document["config"]["requested"] == {"C": "auto", "gamma": "auto", "max_nodes": "auto"}
    assert document["config"]["gamma"] == 0.25
    rare = table(60)
    rare["hired"] = np.where(np.arange(60) < 3, "yes", "no")
    with pytest.raises(ConfigError, match="two training rows of each label"):
        audit(rare, **PLAN, C="auto", sizes=(20, 20, 20))


def test_progress_is_told_stage_by_stage():
    seen: list[tuple[str, int, int | None]] = []
    audit(table(120), **PLAN, k=3, C="auto", replications=50, progress=lambda *step: seen.append(step))
    stages = list(dict.fromkeys(stage for stage, _, _ in seen))
    assert stages == ["load", "prepare", "tune", "enumerate", "guide", "baselines", "score", "select"]
    assert ("enumerate", 3, 3) in seen
    assert ("tune", 6, 6) in seen


def interrupting(monkeypatch, after: int, error: BaseException) -> None:
    """Let the enumeration break off after some models."""

    class Breaking(listing_module.DistinctModels):
        def __next__(self):
            if len(self.sizes) >= after:
                raise error
            return super().__next__()

    monkeypatch.setattr(listing_module, "DistinctModels", Breaking)


def test_an_interrupt_keeps_what_there_is(monkeypatch):
    interrupting(monkeypatch, 3, KeyboardInterrupt())
    result = audit(table(), **PLAN, k=12, replications=50)
    document = check_document(result)
    assert result.is_partial
    assert document["status"] == document["enumeration"]["stopped"] == "interrupted"
    assert len(document["models"]) == 3
    assert result.warnings[0]["message"] == "the run was interrupted after 3 of 12 models"
    interrupting(monkeypatch, 0, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        audit(table(), **PLAN, k=12)


def test_a_solver_that_fails_late_costs_the_later_models_only(monkeypatch):
    interrupting(monkeypatch, 2, SolverBroken("lost"))
    document = check_document(audit(table(), **PLAN, k=12, replications=50))
    assert document["enumeration"]["stopped"] == "solver"
    assert document["status"] == "complete"
    assert "solver_failed" in codes(document)


def test_budgets_stop_the_enumeration():
    document = check_document(audit(table(), **PLAN, max_nodes=5, replications=50))
    assert document["enumeration"]["stopped"] == "nodes"
    assert "budget_spent" in codes(document)
    assert document["config"]["max_nodes"] == 5
    assert audit(table(), **PLAN, eps=0.0, replications=50).document["enumeration"]["stopped"] == "objective"


def test_what_the_run_did_to_the_table_is_said():
    frame = table()
    frame["rare"] = np.where(np.arange(300) == 4, "odd", "plain")
    frame["town"] = frame["town"].where(np.arange(300) != 9, "east")
    dataset = Dataset.from_frame(frame, **PLAN, use_sensitive=True)
    seed = next(seed for seed in range(50) if not {4, 9} & set(split(dataset, seed=seed).train.tolist()))
    options = {"seed": seed, "standardise": False, "use_sensitive": True, "k": 1, "replications": 50}
    found = codes(check_document(audit(frame, **PLAN, **options)))
    assert {"dropped", "unseen", "unscaled", "sensitive_features"} <= set(found)


def test_a_single_group_in_a_split_says_so():
    frame = table()
    frame["race"] = np.where(np.arange(300) < 2, "z", "a")
    document = check_document(audit(frame, **{**PLAN, "sensitive": "race"}, k=2, replications=50))
    assert "single_group" in codes(document)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "'k' must be a whole number of at least 1, not 0"),
        ({"k": True}, "'k'"),
        ({"C": -1}, "'C' must be a positive number or auto, not -1"),
        ({"C": "best"}, "'C'"),
        ({"gamma": 0}, "'gamma'"),
        ({"kernel": "cubic"}, "'kernel' must be one of linear, rbf, poly, not 'cubic'"),
        ({"metric": "gap"}, "'metric'"),
        ({"distinct": "any"}, "'distinct'"),
        ({"sizes": (0.5, 0.5)}, "'sizes'"),
        ({"confidence": 1.0}, "'confidence'"),
        ({"eps": float("nan")}, "'eps'"),
        ({"rows": 1}, "'rows' must be true or false"),
        ({"max_seconds": 0}, "'max_seconds' must be a number above 0, not 0"),
        ({"min_difference": 2}, "at most 1"),
        ({"max_accuracy_drops": 0.1}, "no option 'max_accuracy_drops'; did you mean 'max_accuracy_drop'"),
        ({"zzz": 1}, "there are k, C"),
        ({"max_nodes": "few"}, "'max_nodes'"),
    ],
)
def test_bad_options_are_refused_by_name(options, message):
    with pytest.raises(ConfigError, match=message):
        AuditConfig().but(**options)


def test_options_win_over_the_configuration():
    config = AuditConfig(k=7, drop="town", replications=50)
    document = audit(table(120), **PLAN, config=config, k=2).document
    assert (document["config"]["k"], document["config"]["drop"]) == (2, ["town"])
    assert [feature["name"] for feature in document["dataset"]["features"]] == ["skill", "proxy"]
