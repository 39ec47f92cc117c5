"""The COMPAS tool in its audit: every number is what pandas counts in the file, apart from this program."""

from pathlib import Path

import pandas as pd
import pytest

from fairenum import audit
from fairenum.document.audit_document import AuditDocument
from fairenum.document.models import Incumbent

TABLE = Path(__file__).parents[2] / "datasets" / "compas.csv"
COLUMN = "African_American"


@pytest.fixture(scope="module")
def document() -> AuditDocument:
    return audit("compas", k=2, search="exact", patience=2, replications=50).document


@pytest.fixture(scope="module")
def tool(document) -> Incumbent:
    return document.incumbent


@pytest.fixture(scope="module")
def rows(document) -> pd.DataFrame:
    """The holdout: whom the tool takes for low risk (0), and who was not arrested again (0)."""
    table = pd.read_csv(TABLE).iloc[list(document.dataset.split_rows.of_split("holdout"))]
    named = {name: table[name].map({0: "no", 1: "yes"}) for name in (COLUMN, "Female")}
    return table.assign(**named, selected=table["score_factor"] == 0, good=table["Two_yr_Recidivism"] == 0)


def rates(rows: pd.DataFrame) -> pd.Series:
    return rows.groupby(COLUMN)["selected"].mean()


def test_no_machine_has_seen_the_verdict_of_the_tool(document, tool):
    assert (tool.name, tool.source, tool.favourable) == ("score_factor", "decisions", "0")
    assert "score_factor" not in [feature.name for feature in document.dataset.features]
    assert document.is_against_incumbent


def test_rates_of_all_rows(tool, rows):
    scores = tool.scores.holdout
    assert scores.rows == len(rows)
    assert scores.accuracy.value == pytest.approx((rows["selected"] == rows["good"]).mean())
    by_label = rows.groupby("good")["selected"].mean()
    assert scores.balanced_accuracy.value == pytest.approx((by_label[True] + 1 - by_label[False]) / 2)
    assert scores.selection_rate.value == pytest.approx(rows["selected"].mean())
    for limited in (scores.accuracy, scores.selection_rate):
        assert limited.low < limited.value < limited.high


def test_gaps_and_ratio(tool, rows):
    scores, selected = tool.scores.holdout, rates(rows)
    found = {label: part.groupby(COLUMN)["selected"].mean() for label, part in rows.groupby("good")}
    apart = {label: of.max() - of.min() for label, of in found.items()}
    right = rows[rows["selected"]].groupby(COLUMN)["good"].mean()
    assert scores.demographic_parity_difference.value == pytest.approx(selected.max() - selected.min())
    assert scores.demographic_parity_ratio.value == pytest.approx(selected.min() / selected.max())
    assert scores.equal_opportunity_difference.value == pytest.approx(apart[True])
    assert scores.equalized_odds_difference.value == pytest.approx(max(apart.values()))
    assert scores.predictive_parity_difference.value == pytest.approx(right.max() - right.min())


@pytest.mark.parametrize("column", [COLUMN, "Female"])
def test_groups(document, rows, column):
    (table,) = (one for one in document.group_tables if (one.rank, one.column) == (0, column))
    counted = rows.groupby(column).agg(n=("selected", "size"), selected=("selected", "sum"), rate=("selected", "mean"))
    assert [(one.group, one.n, one.selected) for one in table.groups] == [
        (name, row.n, row.selected) for name, row in zip(counted.index, counted.itertuples(), strict=True)
    ]
    assert [one.ratio for one in table.groups] == pytest.approx((counted["rate"] / counted["rate"].max()).tolist())


def test_the_intersection_has_four_groups(document, rows):
    (table,) = (one for one in document.group_tables if (one.rank, one.column) == (0, f"{COLUMN} & Female"))
    counted = rows.groupby([COLUMN, "Female"])["selected"].agg(["size", "sum"])
    expected = {f"{COLUMN}: {one} & Female: {two}": tuple(row) for (one, two), row in counted.T.items()}
    assert {one.group: (one.n, one.selected) for one in table.groups} == expected


def test_it_stands_before_model_1_with_what_changes(document, tool):
    assert document.shortlist[:2] == [0, 1]
    change = document.first.scores.holdout.demographic_parity_difference.change
    gaps = [one.scores.holdout.demographic_parity_difference.value for one in (document.first, tool)]
    assert change.value == pytest.approx(gaps[0] - gaps[1])
    assert change.low < change.value < change.high
