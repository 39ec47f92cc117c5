"""The audit as a whole: from any table that is a table to a document that holds together."""

import numpy as np
import pandas as pd
import pytest
from support.audits import PLAN, audit_exactly, audit_people, checked, codes, people

from fairenum import AuditConfig, Dataset, audit
from fairenum.document.files import to_json
from fairenum.errors import ColumnMissing, DataError
from fairenum.tables import split

BEGINNING = ["load", "divide", "tune", "enumerate"]
END = ["screen", "score", "disagree", "prices", "range", "choose", "state"]


def test_the_document_is_complete(exact):
    assert exact.version == "2.0"
    assert exact.status == "complete"
    assert [model.rank for model in exact.models] == list(range(1, 13))


def test_same_input_and_seed_give_the_same_bytes(exact):
    again = audit_exactly(people()).document
    assert to_json(again.but(timings={})) == to_json(exact.but(timings={}))
    *stages, total = exact.timings
    assert (stages, total) == (["start", *BEGINNING, *END, "explain", "weigh"], "total")
    assert exact.timings[total] == pytest.approx(sum(exact.timings[stage] for stage in stages))
    assert exact.spending is None


def test_another_seed_gives_another_split(exact):
    other = audit_people(people(), k=2, seed=1).document
    assert other.first.objective != exact.first.objective


def test_the_primary_column_is_the_first_and_can_be_chosen(exact):
    assert exact.column == exact.config.primary == exact.selection.column == "sex"
    scores = exact.models[3].scores.holdout
    assert set(scores.by_column) == {"sex", "race", "sex & race"}
    assert scores.equalized_odds_difference == scores.by_column["sex"].equalized_odds_difference
    crossed = audit_people(people(), k=2, primary="sex & race").document
    scores = crossed.models[1].scores.selection
    assert crossed.selection.column == "sex & race"
    assert scores.demographic_parity_ratio == scores.by_column["sex & race"].demographic_parity_ratio
    with pytest.raises(ColumnMissing, match="did you mean 'race'"):
        audit_people(people(), primary="rase")


def test_the_reference_is_the_largest_group_or_the_one_asked_for(exact):
    tables = {(table.rank, table.column): table for table in exact.group_tables}
    assert tables[1, "race"].reference == "a"
    asked = audit_people(people(), k=1, control="f").document
    assert asked.config.control == "f"
    assert {table.column: table.reference for table in asked.group_tables}["sex"] == "f"
    assert {table.column: table.reference for table in asked.group_tables}["race"] == "a"
    with pytest.raises(DataError, match="no group is called 'x'"):
        audit_people(people(), k=1, control="x")


@pytest.mark.parametrize(
    ("values", "favourable", "shown"),
    [
        (("no", "yes"), "yes", ("yes", "no")),
        ((False, True), True, ("True", "False")),
        ((2, 1), 1, ("1", "2")),
        ((1, 0), 0, ("0", "1")),
        ((1.0, 2.0), "2", ("2", "1")),
    ],
)
def test_labels_of_any_kind_give_the_same_numbers(exact, values, favourable, shown):
    frame, (no, yes) = people(), values
    frame["hired"] = np.where(frame["hired"] == "yes", yes, no)
    other = audit_exactly(frame, favourable=favourable)
    ours = other.document
    assert (ours.dataset.favourable, ours.dataset.unfavourable) == shown
    assert ours.selection.rank == exact.selection.rank
    assert [model.scores for model in ours.models] == [model.scores for model in exact.models]
    assert set(other.selected_estimator.predict(frame)) == set(shown)


def test_a_dataset_and_a_file_will_do(exact, tmp_path):
    people().to_csv(tmp_path / "people.csv", index=False)
    from_file = audit_exactly(tmp_path / "people.csv").document
    assert from_file.models == exact.models
    assert from_file.dataset.name == "people"
    dataset = Dataset.from_frame(people(), "hired", "yes", ["sex", "race"], name="people")
    plain = audit(dataset, k=12, replications=200, search="exact", guards="none", sizes=exact.config.sizes).document
    assert plain.models == exact.models


def test_missing_group_values_are_a_group():
    frame = people()
    frame.loc[frame.index % 9 == 0, "race"] = None
    frame.loc[5, "skill"] = np.nan
    frame.loc[6:8, "town"] = None
    document = checked(audit_people(frame, k=3))
    race = next(column for column in document.dataset.sensitive if column.column == "race")
    assert [group.name for group in race.groups] == ["a", "b", "c", "(missing)"]
    assert document.dataset.missing == {"skill": 1, "town": 3}
    assert {"imputed", "missing", "small_group"} <= codes(document)


def test_a_group_of_one_is_flagged_and_kept():
    frame = people()
    frame.loc[7, "race"] = "z"
    document = checked(audit_people(frame, sensitive="race", k=3))
    (race,) = document.dataset.sensitive
    lonely = race.groups[-1]
    assert lonely.name == "z"
    assert lonely.train + lonely.selection + lonely.holdout == 1
    assert lonely.is_small
    assert "small_group" in codes(document)
    for table in document.group_tables:
        assert table.most_selected != "z"
        assert table.groups[-1].group == "z"


def test_models_that_reject_everybody_are_never_selected():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=200), "g": rng.choice(["a", "b"], 200), "y": 0})
    frame.loc[rng.choice(200, 12, replace=False), "y"] = 1
    result = audit(frame, "y", 1, "g", k=5, C=0.01, distinct="support", replications=50, class_weight="none")
    document = checked(result)
    assert all(model.is_constant for model in document.models)
    scores = document.first.scores.holdout
    assert scores.selection_rate.value == 0.0
    assert scores.demographic_parity_difference.value == 0.0
    assert scores.demographic_parity_ratio.value is None
    assert scores.predictive_parity_difference.value is None
    assert document.selection.rank is None
    assert (document.selection.outcome, document.selection.reason) == ("none", "all_constant")
    assert document.selection.pareto_front == ()
    assert result.selected is None
    assert "constant" in codes(document)


def test_without_sensitive_columns_there_is_no_parity():
    document = checked(audit(people().drop(columns=["sex", "race"]), "hired", "yes", k=3, replications=50))
    assert document.column is None
    assert document.models[1].scores.holdout.demographic_parity_difference.verdict is None
    assert document.models[1].scores.holdout.by_column == {}
    assert (document.selection.rank, document.selection.reason) == (1, "no_sensitive_column")
    assert "no_sensitive" in codes(document)
    assert document.multiplicity.by_column == {}
    assert document.parity_range is None


@pytest.mark.parametrize("sizes", [(0.7, 0.3, 0.0), (0.7, 0.0, 0.3), (1.0, 0.0, 0.0)])
def test_fewer_than_three_splits_are_exploratory(sizes):
    document = checked(audit_people(people(), k=3, sizes=sizes))
    assert document.is_exploratory
    assert "exploratory" in codes(document)
    scores = document.models[1].scores
    assert scores.selection.accuracy.value == scores.holdout.accuracy.value


def test_progress_is_told_stage_by_stage():
    seen: list[tuple[str, int, int | None]] = []
    audit_people(people(120), k=3, C="auto", range=True, always_search=True, progress=lambda *step: seen.append(step))
    stages = list(dict.fromkeys(stage for stage, _, _ in seen))
    assert [stage for stage in stages if stage != "explain"] == [*BEGINNING, "guide", "tilt", "cross", *END, "weigh"]
    assert ("enumerate", 3, 3) in seen
    assert ("tune", 6, 6) in seen


def test_what_the_run_did_to_the_table_is_said():
    frame = people()
    frame["rare"] = np.where(np.arange(300) == 4, "odd", "plain")
    frame["town"] = frame["town"].where(np.arange(300) != 9, "east")
    dataset = Dataset.from_frame(frame, **PLAN, use_sensitive=True)
    seed = next(seed for seed in range(50) if not {4, 9} & set(split(dataset, seed=seed).train.tolist()))
    document = checked(audit_people(frame, k=1, seed=seed, standardise=False, use_sensitive=True))
    assert {"dropped", "unseen", "unscaled", "sensitive_features"} <= codes(document)
    assert document.dataset.dropped == ("rare",)
    assert document.dataset.unseen == {"town": 1}


def test_a_single_group_in_a_split_says_so():
    frame = people()
    frame["race"] = np.where(np.arange(300) < 2, "z", "a")
    document = checked(audit_people(frame, sensitive="race", k=2))
    assert "single_group" in codes(document)


def test_options_win_over_the_configuration():
    config = AuditConfig(k=7, replications=50).but(C=0.5, drop="town")
    document = audit(people(120), **PLAN, config=config, k=2, kernel="rbf").document
    assert (document.config.k, document.config.reading.drop) == (2, ("town",))
    assert (document.config.svm.C, document.config.svm.kernel) == (0.5, "rbf")
    assert [feature.name for feature in document.dataset.features] == ["skill", "proxy"]


def test_the_resolved_options_ask_for_the_same_audit(exact):
    again = audit(people(), **PLAN, config=exact.config).document
    assert again.models == exact.models
    assert again.config == exact.config
