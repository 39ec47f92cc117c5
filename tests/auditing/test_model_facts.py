"""What is known beside scores: the table, its splits, and what models prove and leave out."""

import math

import numpy as np
import pandas as pd
import pytest
from support.audits import audit_people, checked, people

from fairenum import AuditResult
from fairenum.auditing.model_facts import cell
from fairenum.document.table_facts import SPLITS, SplitRows, SplitSizes
from fairenum.report.method_section import steps


def test_models_come_best_first_with_proofs(exact):
    objectives = [model.objective for model in exact.models]
    assert objectives == sorted(objectives, reverse=True)
    assert exact.first.objective_ratio == 1.0
    assert exact.first.left_out == ()
    for model in exact.models:
        assert model.objective <= model.objective_bound * (1 + 1e-12)
        assert model.relative_gap <= 1e-9
        assert model.objective_ratio >= 1 - exact.config.eps
        assert model.objective_ratio == model.objective / exact.first.objective


def test_left_out_rows_are_training_rows_of_the_table(exact):
    frame = people()
    for model in exact.models[1:]:
        assert model.left_out
        for entry in model.left_out:
            row = frame.iloc[entry.row]
            assert entry.label == row["hired"]
            assert entry.groups["sex"] == {row["sex"]: 1}
    examples = {example.row: example for example in exact.examples}
    row, example = next(iter(examples.items()))
    assert example.values["skill"] == pytest.approx(frame["skill"][row])
    assert example.values["town"] == frame["town"][row]
    assert {entry.row for model in exact.models for entry in model.left_out} == set(examples)


def test_no_row_that_models_are_judged_by_is_left_out(exact_run, exact):
    train = set(exact_run.live.division.split.train.tolist())
    assert {row for example in exact.examples for row in example.rows} <= train


def test_splits_are_counted(exact):
    table = exact.dataset
    assert (table.splits.train, table.splits.selection, table.splits.holdout) == (180, 60, 60)
    assert table.class_counts.favourable + table.class_counts.unfavourable == table.rows == 300
    assert table.class_counts.favourable == (people()["hired"] == "yes").sum()
    for column in table.sensitive:
        for part in ("train", "selection", "holdout"):
            assert sum(getattr(group, part) for group in column.groups) == getattr(table.splits, part)


def test_groups_are_counted_in_every_split(exact_run, exact):
    frame, rows = people(), exact_run.live.division.rows
    for column in exact.dataset.sensitive[:2]:
        for part in ("selection", "holdout"):
            shown = frame.iloc[rows[part]]
            for group in column.groups:
                inside = shown[shown[column.column] == group.name]
                assert group.rows(part) == len(inside)
                assert group.positives(part) == (inside["hired"] == "yes").sum()
        for group in column.groups:
            assert group.is_small == (min(group.selection, group.holdout) < 30)


def test_the_table_is_described(exact):
    table = exact.dataset
    assert table.columns == 6
    assert [(feature.name, feature.kind) for feature in table.features] == [
        ("skill", "numeric"),
        ("proxy", "numeric"),
        ("town", "categorical"),
    ]
    assert (table.label, table.favourable, table.unfavourable) == ("hired", "yes", "no")
    assert [(column.column, column.is_primary, column.is_intersection) for column in table.sensitive] == [
        ("sex", True, False),
        ("race", False, False),
        ("sex & race", False, True),
    ]
    assert (table.identical_rows, table.examples) == (0, 180)


def test_changed_rows_are_those_that_the_pipelines_decide_otherwise(exact_run, exact):
    frame, rows = people(), exact_run.live.division.rows
    for part in ("selection", "holdout"):
        first, seventh = (exact_run.estimator(rank).predict(frame.iloc[rows[part]]) for rank in (1, 7))
        changed = exact.models[6].predictions_changed.of(part)
        assert changed.rows == np.count_nonzero(first != seventh)
        assert changed.share == changed.rows / len(rows[part])
    assert exact.first.predictions_changed.holdout.rows == 0


def test_the_enumeration_is_counted(exact):
    found = exact.enumeration
    assert (found.stopped, found.models, found.audited_rows) == ("models", 12, 120)
    assert found.supports == sum(model.supports for model in exact.models) >= 12


def test_identical_rows_are_merged_or_left_out_one_by_one():
    frame = pd.concat([people(100)] * 3, ignore_index=True)
    frame["sex"] = np.random.default_rng(0).choice(["f", "m"], len(frame))
    merged, single = (checked(audit_people(frame, sensitive="sex", k=4, rows=rows)) for rows in (False, True))
    assert merged.dataset.identical_rows == single.dataset.identical_rows > 0
    assert merged.dataset.examples < single.dataset.examples == merged.dataset.splits.train
    assert merged.first.objective == pytest.approx(single.first.objective)
    left = [entry for model in merged.models for entry in model.left_out]
    assert all(entry.copies <= entry.of == sum(entry.groups["sex"].values()) for entry in left)
    assert max(entry.of for entry in left) > 1
    assert all(entry.of == 1 for model in single.models for entry in model.left_out)


def test_what_was_asked_for_is_kept_beside_what_was_resolved(exact):
    assert (exact.requested.C, exact.requested.gamma, exact.requested.max_nodes) == (1.0, "scale", "auto")
    assert isinstance(exact.config.svm.gamma, float)
    assert isinstance(exact.config.max_nodes, int)
    assert exact.config.primary == "sex"
    # without a named control the claim is about any two groups; tables still compare with the largest group
    assert (exact.config.control, exact.dataset.primary.reference) == (None, "m")


@pytest.mark.parametrize(("value", "shown"), [(1, 1.0), (math.nan, None), ("north", "north"), (np.float64(2.5), 2.5)])
def test_cells_are_what_json_can_hold(value, shown):
    assert cell(value) == shown
    assert not isinstance(cell(value), np.generic)


@pytest.mark.parametrize("rows", [1, 4, 7, 300])
def test_packed_splits_are_unpacked_row_by_row(rows):
    owners = np.random.default_rng(rows).integers(0, 4, rows).astype(np.uint8)
    packed = SplitRows.of(owners.tobytes())
    assert len(packed.packed) == -(-rows // 4)
    for code, part in enumerate(SPLITS):
        assert packed.of_split(part) == np.flatnonzero(owners == code).tolist()


def test_the_rows_of_each_split_are_told(exact_run, exact):
    split, told = exact_run.live.division.split, exact.dataset.split_rows
    assert [told.of_split(part) for part in SPLITS] == [
        rows.tolist() for rows in (split.train, split.selection, split.holdout)
    ]
    frame = exact_run.tables()["splits"]
    assert frame["row"].tolist() == list(range(300))
    assert frame.loc[frame["split"] == "holdout", "row"].tolist() == split.holdout.tolist()
    assert len(AuditResult(exact.redacted()).tables()["splits"]) == 0


def test_how_the_table_was_divided_is_told_with_what_to_beware_of():
    frame, rng = people(), np.random.default_rng(0)
    frame["firm"], frame["fold"] = rng.integers(0, 90, 300), rng.choice(["train", "train", "test"], 300)
    torn = checked(audit_people(frame, k=2, search="exact", split_column="fold", group_column="firm"))
    origin, told = torn.dataset.origin, torn.dataset.split_rows
    parts = pd.Series({row: part for part in SPLITS for row in told.of_split(part)}).sort_index()
    assert origin.straddling == sum(len(set(found)) > 1 for _, found in parts.groupby(frame["firm"])) > 0
    assert (origin.how, origin.column, origin.is_selection_drawn) == ("column", "fold", True)
    assert (origin.group_column, origin.members) == ("firm", frame["firm"].nunique())
    assert {"straddling", "related_rows"} <= {caution.code for caution in torn.warnings}
    assert "as fold marks them, selection drawn from train (seed 0; rows of one firm" in next(iter(steps(torn)))
    kept = checked(audit_people(frame.drop(columns="fold"), k=2, search="exact", group_column="firm"))
    assert kept.dataset.origin.straddling == 0
    assert "straddling" not in {caution.code for caution in kept.warnings}
    assert "(seed 0; rows of one firm stay together)" in next(iter(steps(kept)))


def test_times_at_which_parts_start_are_told():
    frame = people()
    frame["year"] = 1990 + np.arange(300) // 10
    document = checked(audit_people(frame, k=2, search="exact", time_column="year"))
    assert document.dataset.origin.starts == ("2008", "2014")
    assert "in the order of year (selection starts at 2008, holdout starts at 2014)" in next(iter(steps(document)))
    assert document.dataset.splits == SplitSizes(180, 60, 60)


def test_rows_keep_their_numbers_where_groups_are_left_out():
    frame = people()
    document = checked(audit_people(frame, k=2, search="exact", exclude=["race:c"], small_groups="keep"))
    told = [row for part in SPLITS for row in document.dataset.split_rows.of_split(part)]
    assert sorted(told) == np.flatnonzero(frame["race"] != "c").tolist()
