"""Decisions, scores and counts as people bring them: what is understood, left out and refused."""

import numpy as np
import pandas as pd
import pytest
from support.decisions import decided_frame

from fairenum.document.reading import Reading
from fairenum.errors import (
    CellInfinite,
    ColumnConflict,
    ColumnMissing,
    ColumnUnusable,
    ConfigError,
    DataError,
    EmptyTable,
    FavourableUnknown,
    TableTooLarge,
)
from fairenum.tables.decision_tables import Roles, load_decided, read_counted, read_decided

SEX = ("m", "w", "m", "w")


def read(decision, *, label=None, **roles):
    frame = pd.DataFrame({"sex": SEX, "decided": decision, **({"truth": label} if label else {})})
    named = {"label": "truth", **roles} if label else roles
    return read_decided(frame, Roles(("sex",), ("decided",), **named), Reading())


@pytest.mark.parametrize(
    "values",
    [
        [1, 0, 1, 0],
        [1.0, 0.0, 1.0, 0.0],
        [True, False, True, False],
        ["yes", "no", "yes", "no"],
        [" Yes", "NO ", "Yes", "NO"],
        ["TRUE", "false", "TRUE", "false"],
        ["1", "0", "1", "0"],
        pd.Series([True, False, True, False], dtype="boolean"),
    ],
)
def test_plain_words_need_not_be_explained(values):
    assert read(values).decisions[0].bits.tolist() == [1, 0, 1, 0]


def test_values_of_the_label_mean_what_the_label_means():
    # 1 is unfavourable here, as it is for people who are predicted to reoffend
    found = read([1, 0, 0, 0], label=[1, 0, 1, 0], favourable="0").decisions[0]
    assert (found.favourable, found.unfavourable) == ("0", "1")
    assert found.bits.tolist() == [0, 1, 1, 1]


def test_other_words_are_asked_for_and_then_understood():
    with pytest.raises(FavourableUnknown, match="--decision-favourable reject") as refused:
        read(["accept", "reject", "accept", "reject"])
    assert "'accept', 'reject'" in str(refused.value)
    found = read(["accept", "reject", "accept", "reject"], decision_favourable="Accept").decisions[0]
    assert found.bits.tolist() == [1, 0, 1, 0]


def test_a_favourable_value_that_no_decision_has_is_refused():
    with pytest.raises(FavourableUnknown, match=r"no decision is 'hire'.*'1', '0'"):
        read([1, 0, 1, 0], decision_favourable="hire")


@pytest.mark.parametrize(("value", "bit"), [("yes", 1), ("no", 0), (0, 0), (1, 1)])
def test_one_value_is_a_decision_if_it_is_a_plain_word(value, bit):
    found = read([value] * 4).decisions[0]
    assert found.bits.tolist() == [bit] * 4
    assert (found.favourable is None) == (bit == 0)


def test_one_word_that_says_nothing_is_refused():
    with pytest.raises(FavourableUnknown, match="holds 'maybe'"):
        read(["maybe"] * 4)


def test_a_third_value_is_one_clear_error():
    with pytest.raises(ColumnUnusable, match=r"'decided' holds 3 values \('no', 'perhaps', 'yes'\)"):
        read(["yes", "no", "perhaps", "no"])


def test_rows_that_were_never_decided_are_left_out_and_counted():
    frame = decided_frame()
    frame["rival"] = frame["rival"].where(frame.index % 2 == 0)
    frame.loc[:9, "points"] = np.nan
    table = read_decided(frame, Roles(("sex",), ("hired", "rival"), "points"), Reading())
    assert table.left_out == {"rival": 200, "points": 10}
    assert table.undecided == 205
    assert len(table) == 195
    kept = frame.dropna()
    assert table.score.values.tolist() == kept["points"].tolist()
    assert table.decisions[1].bits.tolist() == (kept["rival"] == "yes").astype(int).tolist()
    assert table.sensitive[0].values.tolist() == kept["sex"].tolist()


def test_nothing_that_was_decided_is_refused():
    with pytest.raises(EmptyTable, match=r"none of the 4 rows has all.*'decided' is empty in 4"):
        read([None] * 4)


def test_rows_of_other_groups_are_left_out_of_everything():
    table = read_decided(decided_frame(), Roles(("race",), ("hired",), "points"), Reading(exclude=("c",)))
    kept = decided_frame().query("race != 'c'")
    assert table.score.values.tolist() == kept["points"].tolist()
    assert table.regrouped["race"].left_out == {"c": 400 - len(kept)}


@pytest.mark.parametrize(
    ("cells", "error", "words"),
    [
        (["1", "2", "x", "y"], ColumnUnusable, "score column 'points' holds texts"),
        ([1.0, 2.0, np.inf, 3.0], CellInfinite, "infinite number in row 3"),
    ],
)
def test_scores_that_are_none_are_refused(cells, error, words):
    frame = pd.DataFrame({"sex": SEX, "points": cells})
    with pytest.raises(error, match=words):
        read_decided(frame, Roles(("sex",), score="points"), Reading())


@pytest.mark.parametrize(
    ("roles", "error", "words"),
    [
        (Roles(("sex",)), ColumnMissing, "--decision COLUMN.*--score COLUMN"),
        (Roles((), ("hired",)), ColumnMissing, "--sensitive COLUMN"),
        (Roles(("sex",), ("hird",)), ColumnMissing, "no column 'hird', named as decision; did you mean 'hired'"),
        (Roles(("sex",), ("hired", "hired")), ColumnConflict, "'hired' is named twice"),
        (Roles(("sex",), ("sex",)), ColumnConflict, "'sex' is named twice"),
    ],
)
def test_parts_that_do_not_go_together_are_refused(roles, error, words):
    with pytest.raises(error, match=words):
        read_decided(decided_frame(), roles, Reading())


def test_arrays_are_a_table_too():
    table = load_decided({"sex": np.array(SEX), "hired": [1, 0, 1, 1]}, Roles(("sex",), ("hired",)), Reading())
    assert table.decisions[0].bits.tolist() == [1, 0, 1, 1]
    with pytest.raises(DataError, match="arrays of one length"):
        load_decided({"sex": SEX, "hired": [1, 0]}, Roles(("sex",), ("hired",)), Reading())


def test_a_bundled_table_has_its_groups_and_its_label_on_its_card():
    table = load_decided("compas", Roles((), ("score_factor",)), Reading())
    assert [groups.column for groups in table.sensitive] == ["African_American", "Female"]
    assert table.label.column == "Two_yr_Recidivism"
    assert table.decisions[0].favourable == "0"


# --- counts ---


def counts(**columns):
    return pd.DataFrame({"sex": ["m", "w"], "n": [10, 20], "selected": [4, 6], **columns})


def test_counts_become_as_many_rows():
    table = read_counted(counts(positives=[5, 10], true_positives=[3, 5]), Roles(("sex",)), Reading())
    rows = pd.DataFrame({"sex": table.sensitive[0].values, "bit": table.decisions[0].bits, "truth": table.label.y})
    assert rows.groupby("sex").size().to_dict() == {"m": 10, "w": 20}
    assert rows.groupby("sex")["bit"].sum().to_dict() == {"m": 4, "w": 6}
    assert rows.groupby("sex")["truth"].sum().to_dict() == {"m": 5, "w": 10}
    assert rows[rows.bit == 1].groupby("sex")["truth"].sum().to_dict() == {"m": 3, "w": 5}


def test_groups_are_all_other_columns_if_none_is_named():
    table = read_counted(counts(town=["a", "b"]), Roles(()), Reading())
    assert [groups.column for groups in table.sensitive] == ["sex", "town"]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"selected": [4, 21]}, r"row 2 contradict each other \(n = 20, selected = 21\)"),
        ({"selected": [4, -1]}, "'selected'.*holds -1 in row 2"),
        ({"n": [10.5, 20]}, "'n'.*holds 10.5 in row 1"),
        ({"n": ["ten", "twenty"]}, "'n'.*holds texts"),
        ({"positives": [5, 5], "true_positives": [5, 2]}, "contradict"),
    ],
)
def test_counts_that_cannot_be_are_refused_by_their_row(columns, words):
    with pytest.raises(ColumnUnusable, match=words):
        read_counted(counts().assign(**columns), Roles(("sex",)), Reading())


def test_counts_that_are_not_there_are_asked_for():
    with pytest.raises(ColumnMissing, match="no column 'n'"):
        read_counted(counts().drop(columns="n"), Roles(("sex",)), Reading())
    with pytest.raises(ColumnMissing, match="has 'positives' alone"):
        read_counted(counts(positives=[1, 1]), Roles(("sex",)), Reading())
    with pytest.raises(EmptyTable, match="counts no rows"):
        read_counted(counts(n=[0, 0], selected=[0, 0]), Roles(("sex",)), Reading())
    with pytest.raises(TableTooLarge, match="more than 20000000"):
        read_counted(counts(n=[15_000_000, 15_000_000]), Roles(("sex",)), Reading())


def test_counts_hold_neither_scores_nor_several_decisions():
    for roles in (Roles(("sex",), score="n"), Roles(("sex",), ("selected", "n")), Roles(("sex",), label="n")):
        with pytest.raises(ConfigError, match="hold one decision"):
            read_counted(counts(), roles, Reading())
