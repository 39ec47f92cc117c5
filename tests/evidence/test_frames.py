"""An audit as pandas frames: every number is the document's."""

import io

import numpy as np
import pandas as pd
import pytest
from support.audits import METRIC
from support.decisions import audited, holdout
from support.decisions import table as people
from support.documents import audit, with_pair
from support.saved_runs import read

from fairenum import AuditResult, select
from fairenum.document.choice import GuardCheck
from fairenum.document.consequences import strip_of
from fairenum.document.feature_facts import Anatomy, EncodedFeature, ModelWeights
from fairenum.document.terms import Verdict
from fairenum.document.value import Estimate
from fairenum.evidence.spreadsheet import to_csv

DOCUMENT = read("audit")
PARTS = ("selection", "holdout")


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return AuditResult(DOCUMENT).tables()


def test_everything_that_is_a_table_has_a_name(tables):
    names = [
        "models",
        "incumbent",
        "incumbent_gaps",
        "incumbent_groups",
        "scores",
        "groups",
        "rankings",
        "cutoffs",
        "calibration",
        "outcomes",
        "disagreement",
        "baselines",
        "ambiguity",
        "ambiguity_curve",
        "flip_prices",
        "strip",
        "guards",
        "left_out",
    ]
    names += ["examples", "clusters", "flips", "flipped_groups", "range", "warnings", "features", "group_sizes"]
    names += ["screening", "weights", "effects", "tuning", "splits"]
    assert list(tables) == names
    for name in tables:
        assert name in AuditResult.tables.__doc__
    pd.testing.assert_frame_equal(tables["models"], AuditResult(DOCUMENT).to_frame())


def test_there_is_one_row_for_each_model():
    frame = AuditResult(DOCUMENT).to_frame()
    assert frame.index.name == "rank"
    assert frame.index.tolist() == [model.rank for model in DOCUMENT.models]
    for model in DOCUMENT.models:
        row = frame.loc[model.rank]
        for name in ("origin", "objective", "objective_ratio", "loss_ratio", "support_size", "supports"):
            assert row[name] == getattr(model, name)
        assert row["records_left_out"] == sum(entry.copies for entry in model.left_out)
        assert row["is_constant"] == model.is_constant
        assert row["verdict"] == model.scores.holdout.gap(METRIC).verdict
        for part in PARTS:
            assert row[f"{part}_flips"] == model.predictions_changed.of(part).rows
            for name in ("accuracy", "balanced_accuracy", METRIC, "equalized_odds_ratio"):
                assert row[f"{part}_{name}"] == getattr(model.scores.of(part), name).value
    assert frame.index[frame["is_selected"]].tolist() == [DOCUMENT.selection.rank]
    assert tuple(frame.index[frame["is_candidate"]]) == DOCUMENT.selection.candidates


def test_a_gap_between_two_groups_has_them_in_its_row():
    strip = AuditResult(with_pair(audit())).tables()["strip"]
    assert strip["higher"].fillna("").tolist()[:4] == ["> 25", "", "> 25", ""]
    assert strip["lower"].fillna("").tolist()[:4] == ["<= 25", "", "third", ""]
    assert strip["rate"].fillna("").tolist()[:4] == ["selection_rate", "", "selection_rate", ""]
    assert strip["is_claim"].tolist()[:3] == [True, False, False]
    assert list(strip.columns[:6]) == ["column", "metric", "is_claim", "higher", "lower", "rate"]


def test_the_strip_and_the_guards_are_those_of_the_choice(tables):
    strip, selection = tables["strip"], DOCUMENT.selection
    assert len(strip) == 4 * len(DOCUMENT.dataset.sensitive)
    assert strip["is_claim"].tolist() == [True] + [False] * (len(strip) - 1)
    for row in strip.itertuples():
        old, new = (DOCUMENT.models[rank - 1].scores.holdout.by_column[row.column] for rank in (1, selection.rank))
        gap = new.gap(row.metric)
        assert (row.reference, row.selected, row.verdict) == (old.gap(row.metric).value, gap.value, gap.verdict)
        assert (row.change, row.change_low, row.change_high) == (gap.change.value, gap.change.low, gap.change.high)
    few = tuple(cell.but(is_coarse=not cell.is_claim) for cell in strip_of(DOCUMENT))
    marked = AuditResult(DOCUMENT.but(selection=selection.but(strip=few))).tables()["strip"]
    assert (strip["is_coarse"].any(), marked["is_coarse"].tolist()) == (False, (~marked["is_claim"]).tolist())
    assert tables["guards"].empty
    held = GuardCheck("auc>=0.6", "auc", 0.6, None, 0.7, Estimate(0.65, 0.6, 0.7), "open")
    (row,) = AuditResult(DOCUMENT.but(selection=selection.but(guards=(held,)))).tables()["guards"].itertuples(False)
    assert tuple(row[:2]) == ("auc>=0.6", "auc")
    assert (row.selection, row.holdout, row.holdout_low, row.holdout_high) == (0.7, 0.65, 0.6, 0.7)


def test_scores_come_with_their_limits_and_changes(tables):
    scores = tables["scores"].set_index(["rank", "split", "measure"])
    assert len(scores) == len(DOCUMENT.models) * 2 * 12
    assert scores.index.is_unique
    gap = DOCUMENT.models[5].scores.holdout.gap(METRIC)
    row = scores.loc[6, "holdout", METRIC]
    assert tuple(row[["value", "low", "high"]]) == (gap.value, gap.low, gap.high)
    assert tuple(row[["change", "change_low", "change_high"]]) == (gap.change.value, gap.change.low, gap.change.high)
    assert row["verdict"] == gap.verdict == Verdict.OPEN
    accuracy = DOCUMENT.models[5].scores.selection.accuracy
    row = scores.loc[6, "selection", "accuracy"]
    assert (row["value"], row["change"]) == (accuracy.value, accuracy.change.value)
    assert pd.isna(row["verdict"])
    assert pd.isna(scores.loc[6, "selection", "balanced_accuracy"]["change"])


def test_groups_are_those_of_the_tables(tables):
    groups = tables["groups"].set_index(["rank", "column", "group"])
    assert len(groups) == sum(len(table.groups) for table in DOCUMENT.group_tables)
    for table in DOCUMENT.group_tables:
        for group in table.groups:
            row = groups.loc[table.rank, table.column, group.group]
            assert (row["n"], row["selected"], row["is_small"]) == (group.n, group.selected, group.is_small)
            assert (row["rate"], row["rate_low"], row["rate_high"]) == (
                group.rate.value,
                group.rate.low,
                group.rate.high,
            )
            assert row["difference"] == group.difference.value
            np.testing.assert_equal(row["p"], np.nan if group.p is None else group.p)


def test_disagreement_is_by_group(tables):
    found = tables["disagreement"]
    by_column = DOCUMENT.multiplicity.by_column
    assert found["column"].unique().tolist() == list(by_column)
    shown = found[found["column"] == "Female"]
    assert shown["flipped"].tolist() == [group.flipped for group in by_column["Female"]]
    assert shown["viable_range"].tolist() == [group.viable_range for group in by_column["Female"]]


def test_left_out_examples_are_by_model(tables):
    found = tables["left_out"]
    for model in DOCUMENT.models:
        shown = found[found["rank"] == model.rank]
        assert shown["row"].tolist() == [entry.row for entry in model.left_out]
        assert shown["copies"].sum() == model.records_left_out
        assert shown["label"].tolist() == [entry.label for entry in model.left_out]


def test_baselines_are_scored_by_the_gap_of_the_choice(tables):
    found = tables["baselines"].set_index("name")
    assert found.index.tolist() == [method.name for method in DOCUMENT.baselines]
    for method in DOCUMENT.baselines:
        row = found.loc[method.name]
        assert row["accuracy"] == method.scores.accuracy.value
        assert (row["gap"], row["verdict"]) == (method.scores.gap(METRIC).value, method.scores.gap(METRIC).verdict)


@pytest.mark.parametrize("name", ["baselines", "left_out", "groups", "disagreement"])
def test_a_table_without_rows_has_its_columns_all_the_same(tables, name):
    empty = AuditResult(
        DOCUMENT.but(
            baselines=None,
            models=tuple(model.but(left_out=()) for model in DOCUMENT.models),
            group_tables=(),
            multiplicity=DOCUMENT.multiplicity.but(by_column={}),
        )
    ).tables()[name]
    assert len(empty) == 0
    assert empty.columns.tolist() == tables[name].columns.tolist()


def test_weights_and_flips_of_a_run_that_has_none_are_empty(tables):
    assert tables["weights"].columns.tolist() == ["rank", "feature", "level", "weight"]
    columns = [f"group_{column}" for column in DOCUMENT.dataset.sensitive_columns]
    assert tables["flips"].columns.tolist() == ["row", "label", "reference", "selected", *columns]
    assert len(tables["weights"]) == len(tables["flips"]) == 0


def test_weights_are_by_model_feature_and_level():
    features = (EncodedFeature("age", "numeric", 40.0), EncodedFeature("town", "categorical", levels=("Ayr", None)))
    anatomy = Anatomy(features, (ModelWeights(1, (0.5, -0.25, 0.25)), ModelWeights(2, (0.4, 0.0, 0.0))))
    found = AuditResult(DOCUMENT.but(anatomy=anatomy)).tables()["weights"]
    assert found["rank"].tolist() == [1, 1, 1, 2, 2, 2]
    assert found["feature"].tolist() == ["age", "town", "town"] * 2
    assert found["level"].fillna("none").tolist() == ["none", "Ayr", "none"] * 2
    assert found["weight"].tolist() == [0.5, -0.25, 0.25, 0.4, 0.0, 0.0]


def test_no_text_of_a_table_is_a_formula_to_a_spreadsheet():
    hostile = pd.DataFrame({"=x": ["=1+1", "+1", "-1", "@a", "\t=1", "plain"], "n": [-1.5, 2.0, 0.0, 1.0, 1.0, None]})
    written = to_csv(hostile)
    read = pd.read_csv(io.StringIO(written))
    assert read.columns.tolist() == ["'=x", "n"]
    assert read["'=x"].tolist() == ["'=1+1", "'+1", "'-1", "'@a", "'\t'=1", "plain"]
    assert read["n"].tolist()[:5] == hostile["n"].tolist()[:5]


# --- a model in use ---


@pytest.fixture(scope="module")
def in_use() -> AuditResult:
    return audited(people(), incumbent="hired", incumbent_score="points", drop=["rival"], guards="none")


def test_the_model_in_use_is_row_0_of_the_models(in_use):
    frame, document = in_use.to_frame(), in_use.document
    assert frame.index.tolist() == [0, *(model.rank for model in document.models)]
    row = frame.loc[0]
    assert (row["origin"], row["is_selected"], row["is_candidate"]) == ("in use", False, False)
    assert row[["objective", "loss_ratio", "support_size", "supports", "records_left_out"]].isna().all()
    assert frame["support_size"].tolist()[1:] == [model.support_size for model in document.models]
    own = document.incumbent.scores.holdout
    assert row[f"holdout_{METRIC}"] == own.gap(METRIC).value
    assert row["holdout_flips"] == document.incumbent.predictions_changed.holdout.rows


def test_every_table_of_models_has_it_and_names_the_reference(in_use):
    tables, document = in_use.tables(), in_use.document
    for name in ("scores", "outcomes", "groups"):
        assert tables[name]["rank"].min() == 0
    found = tables["outcomes"].query("rank == 0 and split == 'holdout'")
    rows = holdout(in_use, people())
    assert found.set_index("group")["selected"].to_dict() == rows.groupby("sex")["hired"].sum().to_dict()
    chosen = select(in_use, rank=2).tables()
    assert chosen["strip"]["reference_rank"].unique().tolist() == [0]
    assert chosen["strip"]["reference"][0] == document.incumbent.scores.holdout.gap(METRIC).value


def test_what_is_told_about_it_is_a_table_of_its_own(in_use, tables):
    (row,) = in_use.tables()["incumbent"].itertuples(index=False)
    assert (row.name, row.source, row.favourable, row.has_score, row.is_compared_with) == (
        *("hired", "decisions", "1", True, True),
    )
    frame = people()
    assert row.agreement == ((frame["hired"] == 1) == (frame["good"] == "yes")).mean()
    assert tables["incumbent"].empty
    assert tables["incumbent"].columns.tolist() == in_use.tables()["incumbent"].columns.tolist()


def test_rankings_are_scoring_rates_by_group(in_use, tables):
    rows = people()
    found = in_use.tables()["rankings"].set_index("group")
    rates = (rows["points"] > rows["points"].median()).groupby(rows["sex"]).mean()
    assert found["scoring_rate"].to_dict() == pytest.approx(rates.to_dict())
    assert found["scoring_ratio"].min() == pytest.approx(rates.min() / rates.max())
    assert tables["rankings"].empty


def test_cutoffs_and_calibration_are_those_of_all_rows_that_were_scored(in_use, tables):
    rows, found = people(), in_use.tables()
    is_good = rows["good"] == "yes"
    assert set(found["cutoffs"]["rank"]) == {0}
    for row in found["cutoffs"].itertuples():
        is_selected = rows["points"] >= row.cutoff
        assert row.rate == pytest.approx(is_selected[rows["sex"] == row.group].mean())
        assert row.accuracy == pytest.approx((is_selected == is_good).mean())
    assert found["calibration"]["n"].sum() == len(rows)
    assert (found["calibration"]["n"] * found["calibration"]["rate"]).sum() == pytest.approx(is_good.sum())
    for name in ("cutoffs", "calibration"):
        assert tables[name].empty
        assert tables[name].columns.tolist() == found[name].columns.tolist()
