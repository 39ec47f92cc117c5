"""The table: labels, groups and columns once they are read."""

import dataclasses
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from fairenum.tables import Dataset, load_dataset


def a_frame(**columns):
    return pd.DataFrame({"x": [1, 2, 3, 4], "y": [1, 0, 0, 1], **columns})


@pytest.mark.parametrize(
    ("labels", "favourable"),
    [
        ([1, 0, 0, 1], "1"),
        ([1, 0, 0, 1], 1),
        ([1, 0, 0, 1], "1.0"),
        ([1, 0, 0, 1], True),
        ([1, 0, 0, 1], "True"),
        ([1.0, 0.0, 0.0, 1.0], "1"),
        ([1, 2, 2, 1], "1"),
        ([-1, 1, 1, -1], -1.0),
        ([True, False, False, True], "True"),
        ([True, False, False, True], "true"),
        ([True, False, False, True], True),
        ([True, False, False, True], "1"),
        (["yes", "no", " no", "yes "], "yes"),
        (["yes", "no", "no", "yes"], "YES"),
        (["Yes", "yes", "yes", "Yes"], "Yes"),
        (pd.Categorical(["a", "b", "b", "a"]), "a"),
        (pd.array([1, 0, 0, 1], dtype="Int64"), "1"),
        (pd.array([True, False, False, True], dtype="boolean"), "True"),
        ([Decimal(1), Decimal(0), Decimal(0), Decimal(1)], "1"),
    ],
)
def test_the_favourable_value_is_found_whatever_its_type(labels, favourable):
    dataset = Dataset.from_frame(a_frame(y=labels), "y", favourable)
    assert dataset.y.tolist() == [1, 0, 0, 1]
    assert dataset.signs.tolist() == [1.0, -1.0, -1.0, 1.0]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        ([0, 1, 1, 0], [0, 1, 1, 0]),
        ([True, False, False, True], [1, 0, 0, 1]),
        ([True, None, False, True], [1, np.nan, 0, 1]),
        (["1", "2.5", " 3 ", None], [1, 2.5, 3, np.nan]),
        ([Decimal("1.5"), 2, 3.0, None], [1.5, 2, 3, np.nan]),
        (pd.array([1, None, 3, 4], dtype="Int64"), [1, np.nan, 3, 4]),
        (pd.array([True, None, False, True], dtype="boolean"), [1, np.nan, 0, 1]),
        (np.array([1, 2, 3, 4], dtype=np.uint8), [1, 2, 3, 4]),
    ],
)
def test_cells_that_read_as_numbers_make_a_numeric_column(cells, numbers):
    column = Dataset.from_frame(a_frame(z=cells), "y", 1).features[1]
    assert column.is_numeric
    np.testing.assert_array_equal(column.values, np.array(numbers, dtype=float))


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        (["a", " b", "a ", None], ["a", "b", "a", np.nan]),
        (["a", 1, 1.0, ""], ["a", "1", "1", np.nan]),
        (["1", "2", "3 or more", "1"], ["1", "2", "3 or more", "1"]),
        (["1_000", "b", "b", "b"], ["1_000", "b", "b", "b"]),
        (pd.Categorical([1, 2, 1, None]), ["1", "2", "1", np.nan]),
        (pd.array(["a", "b", None, "a"], dtype="string"), ["a", "b", np.nan, "a"]),
    ],
)
def test_other_cells_make_a_categorical_column(cells, texts):
    column = Dataset.from_frame(a_frame(z=cells), "y", 1).features[1]
    assert not column.is_numeric
    assert pd.Series(column.values, dtype=object).equals(pd.Series(texts, dtype=object))


def test_missing_sensitive_values_are_a_group_of_their_own_that_no_value_can_join():
    frame = a_frame(sex=["f", None, "(missing)", "f"])
    (groups,) = Dataset.from_frame(frame, "y", 1, "sex").sensitive
    assert groups.names == ("(missing)", "f", "((missing))")
    assert groups.values.tolist() == ["f", "((missing))", "(missing)", "f"]
    assert groups.sizes.tolist() == [1, 2, 1]


def test_numeric_groups_are_called_as_they_are_written_and_sorted_by_value():
    frame = a_frame(children=[10.0, 9.0, np.nan, 10.0])
    (groups,) = Dataset.from_frame(frame, "y", 1, ["children"]).sensitive
    assert groups.names == ("9", "10", "(missing)")


def test_bands_cut_a_numeric_column_and_leave_out_empty_ones():
    frame = a_frame(age=[25, 26, None, 61])
    (groups,) = Dataset.from_frame(frame, "y", 1, ["age"], bands={"age": [60, 25, 99.5]}).sensitive
    assert groups.names == ("<= 25", "> 25 to 60", "> 60 to 99.5", "(missing)")
    assert groups.codes.tolist() == [0, 1, 3, 2]


def test_codes_of_one_meaning_are_one_group():
    frame = a_frame(status=["A91", "A92", "A93", "A95"])
    meanings = {"status": {"A91": "male", "A93": "male", "A92": "female"}}
    (groups,) = Dataset.from_frame(frame, "y", 1, "status", meanings=meanings).sensitive
    assert groups.names == ("male", "female", "A95")
    assert groups.codes.tolist() == [0, 1, 0, 2]


def test_the_intersection_crosses_all_sensitive_columns():
    frame = a_frame(sex=["f", "m", "f", "f"], race=["u", "u", "v", "v"])
    dataset = Dataset.from_frame(frame, "y", 1, ["sex", "race"])
    crossed = dataset.intersection
    assert crossed.column == "sex & race"
    assert crossed.names == ("sex: f & race: u", "sex: f & race: v", "sex: m & race: u")
    assert crossed.codes.tolist() == [0, 2, 1, 1]
    assert Dataset.from_frame(frame, "y", 1, "sex", drop="race").intersection.names == ("f", "m")
    assert Dataset.from_frame(frame, "y", 1).intersection is None


def test_an_intersection_whose_names_read_alike_quotes_them():
    frame = a_frame(a=["1 & b: 2", "1", "1", "1"], b=["3", "2 & b: 3", "4", "4"])
    crossed = Dataset.from_frame(frame, "y", 1, ["a", "b"]).intersection
    assert len(set(crossed.names)) == 3
    assert "a: '1 & b: 2' & b: '3'" in crossed.names


def test_sensitive_and_withheld_columns_stay_out_of_the_features_unless_asked_for():
    frame = a_frame(sex=["f", "m", "f", "m"], race=["u", "u", "v", "v"], id=["a", "b", "c", "d"])
    roles = {"label": "y", "favourable": 1, "sensitive": "sex", "withhold": "race", "drop": "id"}
    blind, seeing = (Dataset.from_frame(frame, use_sensitive=use, **roles) for use in (False, True))
    assert [column.name for column in blind.features] == ["x"]
    assert [column.name for column in seeing.features] == ["x", "sex", "race"]
    assert [groups.column for groups in seeing.sensitive] == ["sex"]


def test_ordinal_ranks_texts_in_sorted_order_and_keeps_numbers_and_missing_cells():
    frame = a_frame(code=["A42", "A410", None, "A41"])
    code = Dataset.from_frame(frame, "y", 1, categorical="ordinal").features[1]
    np.testing.assert_array_equal(code.values, [2, 1, np.nan, 0])
    assert not code.values.flags.writeable


def test_a_dataset_is_a_read_only_copy():
    heights = np.array([1.5, 1.6, 1.7, 1.8])
    frame = pd.DataFrame({"x": heights, "sex": ["f", "m", "f", "m"], "y": [0, 1, 1, 0]}, copy=False)
    dataset = Dataset.from_frame(frame, "y", 1, "sex", use_sensitive=True)
    before = dataset.fingerprint
    heights[:] = 9
    copied = dataset.frame()
    copied.loc[:, "x"] = 9
    assert dataset.fingerprint == before
    groups = dataset.sensitive[0]
    arrays = [dataset.y, dataset.signs, groups.codes, groups.values, groups.sizes]
    for array in [*arrays, *(column.values for column in dataset.features)]:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    with pytest.raises(dataclasses.FrozenInstanceError):
        dataset.name = "other"


def test_the_fingerprint_sees_every_part_and_not_the_name():
    frame = a_frame(sex=["f", "m", "f", "m"])
    roles = {"label": "y", "favourable": 1, "sensitive": "sex"}
    base = Dataset.from_frame(frame, **roles)
    assert base.fingerprint == Dataset.from_frame(frame.copy(), name="other", **roles).fingerprint
    others = [
        Dataset.from_frame(frame, "y", 0, "sex"),
        Dataset.from_frame(frame, "y", 1),
        Dataset.from_frame(frame.assign(x=[1, 2, 3, 5]), **roles),
        Dataset.from_frame(frame.assign(sex=["m", "f", "f", "m"]), **roles),
        Dataset.from_frame(frame.rename(columns={"x": "z"}), **roles),
    ]
    assert len({base.fingerprint, *(other.fingerprint for other in others)}) == 6


def test_frames_hold_the_rows_asked_for():
    dataset = Dataset.from_frame(a_frame(z=["a", "b", None, "a"]), "y", 1)
    frame = dataset.frame(np.array([3, 2]))
    assert frame["x"].tolist() == [4.0, 3.0]
    assert frame["z"].dtype == object
    assert frame["z"].isna().tolist() == [False, True]
    assert len(dataset) == 4


def test_column_names_that_are_no_texts_become_texts():
    frame = pd.DataFrame([[1, 5, 0], [2, 6, 1]], columns=[0, " x ", "y"])
    assert [column.name for column in Dataset.from_frame(frame, "y", 1).features] == ["0", "x"]


def test_what_is_given_wins_over_the_card():
    dataset = load_dataset("compas", sensitive="Hispanic", drop=["score_factor"])
    assert [groups.column for groups in dataset.sensitive] == ["Hispanic"]
    assert [column.name for column in dataset.features] == [
        "Number_of_Priors",
        "Age_Above_FourtyFive",
        "Age_Below_TwentyFive",
        "Misdemeanor",
    ]
    other = load_dataset("compas", label="Female", favourable="1")
    assert [groups.column for groups in other.sensitive] == ["African_American"]
    banded = load_dataset("german", bands={"age": [30, 60]})
    assert banded.sensitive[0].names == ("<= 30", "> 30 to 60", "> 60")
    named = load_dataset("adult", sensitive=["part"], drop="sex")
    assert named.sensitive[0].names == ("test", "train")


def test_importing_the_module_and_reading_cards_loads_neither_pandas_nor_scikit_learn():
    code = (
        "import sys, fairenum.tables as d; d.list_datasets(); "
        "print([m for m in ('pandas', 'sklearn', 'scipy') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
