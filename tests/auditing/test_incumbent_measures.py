"""The model in use by itself: on all rows that it decided, as pandas counts them and as a measurement says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from support.decisions import audited, holdout, table

from fairenum import AuditResult, measure
from fairenum.document.files import load, save
from fairenum.document.terms import GAPS, RATIOS
from fairenum.errors import ResultError
from fairenum.report import page
from fairenum.report.groups_section import IN_USE_TITLE, MAY_BE_TRAINED
from fairenum.report.rules import judge, parse_rule


@pytest.fixture(scope="module")
def frame():
    found = table()
    found["race"] = np.random.default_rng(3).choice(["a", "b", "c"], len(found), p=[0.55, 0.35, 0.1])
    found["hired"] = found["hired"].astype(object)
    found.loc[::25, "hired"] = np.nan  # never decided
    return found


@pytest.fixture(scope="module")
def result(frame) -> AuditResult:
    return audited(frame, incumbent="hired", sensitive=["sex", "race"])


def test_rates_are_those_that_pandas_counts_on_every_decided_row(result, frame):
    decided = frame.dropna(subset=["hired"])
    selected, truth = decided["hired"] == 1, decided["good"] == "yes"
    found = result.document.incumbent_measures
    assert found.rows == len(decided) > len(holdout(result, frame)) * 4
    assert (found.selected, found.selection_rate.value) == (selected.sum(), pytest.approx(selected.mean()))
    assert found.accuracy.value == pytest.approx((selected == truth).mean())
    assert found.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(truth, selected))
    for column in ("sex", "race"):
        impact = found.of_column(column).impact
        rates = selected.groupby(decided[column]).mean()
        assert impact.rank == 0
        for group in impact.groups:
            own = decided[column] == group.group
            assert (group.n, group.selected) == (own.sum(), (own & selected).sum())
            assert group.rate.value == pytest.approx(rates[group.group])
            assert group.true_positive_rate.value == pytest.approx(selected[own & truth].mean())
            method = "wilson" if group.n >= 30 else "exact"
            limits = binomtest(group.selected, group.n).proportion_ci(method=method)
            assert (group.rate.low, group.rate.high) == pytest.approx((limits.low, limits.high), abs=1e-9)


def test_it_is_what_a_measurement_of_the_same_rows_says(result, frame):
    found = result.document.incumbent_measures
    apart = measure(frame, "hired", ["sex", "race"], label="good", favourable="yes").decisions()
    for one, other in zip(found.columns, apart.columns, strict=True):
        assert one.impact.groups == other.impact.groups
        assert one.groups == other.groups
        for name in (*GAPS, *RATIOS):
            own, theirs = getattr(one.scores, name), getattr(other.scores, name)
            assert own.alone == theirs.alone


def test_a_group_that_is_small_in_the_holdout_alone_is_compared(result, frame):
    decided = frame.dropna(subset=["hired"])
    assert (holdout(result, frame)["race"] == "c").sum() < 30 <= (decided["race"] == "c").sum()
    own = {
        group.group: group.is_compared for group in result.document.incumbent_measures.of_column("race").impact.groups
    }
    assert own == {name: bool(count >= 30) for name, count in decided.groupby("race").size().items()}


def test_weights_count_and_rows_are_still_counted(frame):
    rng = np.random.default_rng(0)
    weighted = frame.assign(w=rng.integers(0, 4, len(frame)))
    found = audited(weighted, incumbent="hired", weight="w").document.incumbent_measures
    rows = weighted.dropna(subset=["hired"]).query("w > 0")
    selected = rows["hired"] == 1
    assert (found.rows, found.selected) == (len(rows), selected.sum())
    assert found.selection_rate.value == pytest.approx(np.average(selected, weights=rows["w"]))
    for group in found.of_column("sex").impact.groups:
        own = rows["sex"] == group.group
        assert (group.n, group.selected) == (own.sum(), (own & selected).sum())
        assert group.rate.value == pytest.approx(np.average(selected[own], weights=rows["w"][own]))


def test_a_rule_about_it_is_judged_by_all_rows(result):
    document = result.document
    judged = judge(document, parse_rule("demographic_parity_ratio>=0.8"))
    found = document.incumbent_measures.of_column("sex")
    assert judged.table == found.impact
    assert f"on all {document.incumbent_measures.rows} rows that it decided" in judged.reason
    assert f"{found.scores.ratio('demographic_parity_ratio').value:.3f}" in judged.reason
    best = judge(document, parse_rule("best:demographic_parity_ratio>=0.8"))
    assert "on the holdout" in best.reason


def test_its_tables_come_first_and_say_their_rows(result):
    document = result.document
    for brief in (False, True):
        shown = page(document, brief=brief)
        first = shown.sections[0]
        assert first.title == IN_USE_TITLE
        assert f"All {document.incumbent_measures.rows} rows that the model in use decided" in first.blocks[0].text
        assert MAY_BE_TRAINED not in first.blocks[0].text
        assert shown.findings[0].startswith(f"On all {document.incumbent_measures.rows} rows that it decided")
    groups = next(one for one in page(document).sections if one.anchor == "groups")
    assert "on the holdout" in groups.blocks[0].text


@pytest.mark.parametrize("profile", [None, "ll144"])
def test_the_summary_has_its_ratio_on_all_rows(result, frame, profile):
    document, rates = result.document, frame.dropna(subset=["hired"]).groupby("sex")["hired"].mean()
    tiles = {tile.label: tile.value for tile in page(document, profile=profile).tiles}
    rows = document.incumbent_measures.rows
    assert tiles[f"impact ratio, in use, all {rows} rows"] == f"{rates.min() / rates.max():.3f}"
    held = document.member(1).scores.holdout.ratio("demographic_parity_ratio").value
    assert tiles["impact ratio, model 1"] == f"{held:.3f}"


def test_a_model_may_have_been_trained_on_these_rows(frame):
    model = LogisticRegression().fit(frame[["points"]], frame["good"])
    document = audited(frame.drop(columns="hired"), incumbent=model).document
    assert page(document).sections[0].blocks[0].text.endswith(MAY_BE_TRAINED)
    assert MAY_BE_TRAINED in page(document, profile="ll144").sections[0].blocks[0].text


def test_a_run_without_it_reads_and_shows_the_holdout(result, tmp_path):
    older = result.document.but(incumbent_measures=None)
    save(older, tmp_path / "run.json")
    again = load(tmp_path / "run.json")
    assert again == older
    shown = page(again, profile="ll144")
    assert shown.sections[0].blocks[0].text.startswith("Decisions of the model in use, and of models, about")
    assert IN_USE_TITLE not in [one.title for one in page(again).sections]
    assert "on the holdout" in judge(again, parse_rule("demographic_parity_ratio>=0.8")).reason


def test_it_is_saved_and_read_and_a_contradiction_refused(result, tmp_path):
    save(result.document, tmp_path / "run.json")
    assert load(tmp_path / "run.json") == result.document
    found = result.document.incumbent_measures
    first = found.columns[0]
    wrong = first.but(impact=first.impact.but(rank=1))
    save(result.document.but(incumbent_measures=found.but(columns=(wrong,))), tmp_path / "wrong.json")
    with pytest.raises(ResultError, match="incumbent_measures"):
        load(tmp_path / "wrong.json")


def test_tables_have_the_same_numbers(result):
    tables = result.tables()
    found = result.document.incumbent_measures
    own = tables["incumbent_groups"].query("column == 'sex'").set_index("group")
    assert own["n"].sum() == found.rows
    assert own["selected"].sum() == found.selected
    gaps = tables["incumbent_gaps"].set_index(["column", "measure"])
    assert gaps.loc[("sex", "demographic_parity_ratio"), "value"] == pytest.approx(own["ratio"].min())
