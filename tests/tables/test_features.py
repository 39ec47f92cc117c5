"""Features: what can be learned from is kept, and what cannot is left out by name."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from fairenum import errors
from fairenum.tables import Dataset

ROWS = 60
RNG = np.random.default_rng(0)


def read(cells, name="z", **options):
    frame = pd.DataFrame({"x": RNG.normal(size=len(cells)), name: cells, "ok": np.arange(len(cells)) % 2})
    dataset = Dataset.from_frame(frame, "ok", 1, **options)
    return {column.name: column for column in dataset.features}.get(name), dataset.remarks


LEFT_OUT = {
    "one number": ([7] * ROWS, "constant_column", "7", 0),
    "one number and empty cells": ([7.0] * 40 + [None] * 20, "constant_column", "7", 0),
    "one text": (["u"] * ROWS, "constant_column", "u", 0),
    "one truth": ([True] * ROWS, "constant_column", "1", 0),
    "nothing": ([None] * ROWS, "empty_column", "", 0),
    "blanks": ([" "] * ROWS, "empty_column", "", 0),
    "no times": ([pd.NaT] * ROWS, "empty_column", "", 0),
    "days": ([f"2024-{1 + n % 12:02d}-{1 + n % 28:02d}" for n in range(ROWS)], "date_column", "", 60),
    "few days": (["31/01/2024", "28/02/2024"] * 30, "date_column", "", 2),
    "days with times": ([f"{1 + n % 28}.2.2024 10:{n:02d}:00" for n in range(ROWS)], "date_column", "", 60),
    "named days": ([f"{1 + n % 28} Jan 2024" for n in range(ROWS)], "date_column", "", 28),
    "American days": ([f"January {1 + n % 28}, 2024" for n in range(ROWS)], "date_column", "", 28),
    "days but for one": ([*[f"2024-01-{n:02d}" for n in range(1, 31)] * 2, "unknown"], "date_column", "", 31),
    "timestamps": (pd.date_range("2024-01-01", periods=ROWS), "date_column", "Timestamp", 0),
    "dates": ([day.date() for day in pd.date_range("2024-01-01", periods=ROWS)], "date_column", "date", 0),
    "durations": (pd.to_timedelta(range(ROWS), unit="D"), "object_column", "Timedelta", 0),
    "lists": ([[n] for n in range(ROWS)], "object_column", "list", 0),
    "complex numbers": ([n * 1j for n in range(ROWS)], "object_column", "complex", 0),
    "unique texts": ([f"A-{n}" for n in range(ROWS)], "identifier_text", "", 60),
    "nearly unique texts": ([f"A-{n % 150}" for n in range(200)], "identifier_text", "", 150),
    "free text": ([f"the customer called {n} times" for n in range(ROWS)], "free_text", "", 60),
}


@pytest.mark.parametrize(("cells", "kind", "detail", "count"), LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_what_cannot_be_learned_from_is_left_out_by_name(cells, kind, detail, count):
    column, (remark,) = read(cells)
    assert column is None
    assert (remark.kind, remark.column, remark.detail, remark.count) == (kind, "z", detail, count)


SUSPICIOUS = {
    "a range": (np.arange(1000, 1000 + ROWS), "z", "identifier_number"),
    "a range of floats": (np.arange(ROWS, dtype=float), "z", "identifier_number"),
    "a shuffled range": (RNG.permutation(ROWS), "z", "identifier_number"),
    "falling numbers": (np.arange(ROWS)[::-1] ** 2, "z", "identifier_number"),
    "numbers of one length": (RNG.choice(np.arange(10**7, 10**8, 9973), ROWS, replace=False), "z", "identifier_number"),
    "sorted, and few repeat": (np.sort(np.r_[np.arange(58) ** 2, 4, 4]), "z", "identifier_number"),
    "named so": (RNG.permutation(np.arange(ROWS) * 977), "customer_id", "identifier_number"),
    "named so in one word": (RNG.permutation(np.arange(ROWS) ** 2), "customerid", "identifier_number"),
    "a numbering by its name": (RNG.permutation(np.r_[np.arange(58) ** 3, 8, 8]), "case_no", "identifier_number"),
    "a shuffled range with repeats": (RNG.permutation(np.r_[np.arange(120), 7, 9]), "z", "identifier_number"),
    "members with rows of their own": (RNG.permutation(np.arange(ROWS) // 2 * 977), "customer_id", "member_column"),
    "a code by its name": (np.arange(ROWS) % 7 * 10, "zip_code", "code_numbers"),
    "money": ([f"${n * 1000:,}" for n in range(ROWS)], "z", "written_numbers"),
}


@pytest.mark.parametrize(("cells", "name", "kind"), SUSPICIOUS.values(), ids=SUSPICIOUS.keys())
def test_numbers_that_are_probably_none_stay_and_are_named(cells, name, kind):
    column, (remark,) = read(cells, name)
    assert column.is_numeric
    assert (remark.kind, remark.column) == (kind, name)


INNOCENT = {
    "measurements": RNG.normal(size=ROWS).round(3),
    "sorted measurements": np.sort(RNG.normal(size=ROWS)),
    "counts": RNG.integers(0, 9, ROWS),
    "ages": RNG.integers(18, 80, ROWS),
    "incomes": np.exp(RNG.normal(10, 1, ROWS)).astype(int),
    "a range of few": np.arange(12),
    "codes": np.arange(ROWS) % 4 + 1,
    "few texts": ["a", "b", "c"] * 20,
    "many texts": [f"t{n % 90}" for n in range(180)],
    "versions": ["1.2.3", "1.2.4"] * 30,
    "ranges": ["25-34", "35-44"] * 30,
}


@pytest.mark.parametrize("cells", INNOCENT.values(), ids=INNOCENT.keys())
def test_ordinary_columns_are_kept_without_a_word(cells):
    column, remarks = read(cells)
    assert column is not None
    assert remarks == ()


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        (np.arange(ROWS) % 4, list("0123")),
        ((np.arange(ROWS) % 4).astype(float), list("0123")),
        (["$1,234", "$2,345"] * 30, ["$1,234", "$2,345"]),
        (["1,234", "2,345"] * 30, ["1,234", "2,345"]),
        (["2024-01-31", "2024-02-28"] * 30, ["2024-01-31", "2024-02-28"]),
        (pd.to_datetime(["2024-01-31", "2024-02-28"] * 30), ["2024-01-31", "2024-02-28"]),
        ([f"A{n:02d}" for n in range(ROWS)], [f"A{n:02d}" for n in range(ROWS)]),
        ([*range(55), *["unknown"] * 5], sorted([*map(str, range(55)), "unknown"])),
    ],
)
def test_a_column_is_categorical_if_its_owner_says_so(cells, texts):
    column, remarks = read(cells, categorical_columns="z")
    assert not column.is_numeric
    assert sorted(set(column.values.tolist())) == texts
    assert remarks == ()


def test_a_categorical_column_without_variation_or_of_objects_is_still_none():
    assert read([7] * ROWS, categorical_columns="z")[1][0].kind == "constant_column"
    with pytest.raises(errors.ColumnUnusable, match="'z' holds a list"):
        read([[n] for n in range(ROWS)], categorical_columns=["z"])


@pytest.mark.parametrize(
    "mark", ["n/a", "N/A", "na", "null", "-", "?", "none", "None", "missing", "Unknown", "not given"]
)
def test_marks_of_missing_numbers_are_read_as_missing_and_named_with_their_number(mark):
    column, (remark,) = read([*map(str, RNG.normal(size=54).round(3)), *[mark] * 6])
    assert column.is_numeric
    assert column.missing == 6
    assert (remark.kind, remark.column, remark.detail, remark.count) == ("missing_marks", "z", repr(mark), 6)


def test_marks_do_not_hide_how_numbers_are_written():
    column, remarks = read([*[f"${n},000" for n in range(1, 41)], "n/a", "unknown"])
    assert [(remark.kind, remark.detail) for remark in remarks] == [
        ("written_numbers", "$1,234"),
        ("missing_marks", "'n/a', 'unknown'"),
    ]
    assert np.nansum(column.values) == 820_000
    with pytest.raises(
        errors.ColumnUnusable, match=r"but 'lots' in row 42; correct such cells or, if missing, empty them"
    ):
        read([*[f"${n},000" for n in range(1, 41)], "n/a", "lots"])


def test_among_few_numbers_only_a_sure_mark_is_missing():
    column, (remark,) = read(["0", "1", "n/a"] * 20)
    assert (column.is_numeric, column.missing, remark.count) == (True, 20, 20)
    column, remarks = read(["0", "1", "unknown"] * 20)
    assert (column.is_numeric, remarks) == (False, ())


def test_marks_in_texts_are_texts():
    column, remarks = read(["n/a", "none", "some"] * 20)
    assert (set(column.values.tolist()), remarks) == ({"n/a", "none", "some"}, ())


@pytest.mark.parametrize("drop", [(), ("officer",)])
def test_people_with_several_rows_are_named_even_if_no_model_learns_from_them(drop):
    cells = np.array([f"o{n}" for n in range(30)])[RNG.integers(0, 30, 300)]
    _, remarks = read(cells, "officer", drop=drop)
    assert [(remark.kind, remark.column, remark.count) for remark in remarks] == [("member_column", "officer", 30)]
    assert read(cells, "officer", group_column="officer")[1] == ()
    assert read(cells, "colour")[1] == ()


@pytest.mark.parametrize("cells", [[f"o{n % 9}" for n in range(ROWS)], RNG.normal(size=ROWS).round(1)])
def test_few_values_and_measurements_are_no_people(cells):
    assert read(cells, "officer")[1] == ()


def test_words_among_written_numbers_are_named_with_their_row():
    with pytest.raises(errors.ColumnUnusable, match=r"'z' holds numbers, but 'lots' in row 41;"):
        read([*[f"${n},000" for n in range(1, 41)], "lots"])


def test_a_decimal_sign_decides_for_every_column_that_can_follow_it():
    cells = ["1.234", "5.678"] * 30
    assert set(read(cells)[0].values) == {1.234, 5.678}
    column, (remark,) = read(cells, decimal="comma")
    assert set(column.values) == {1234, 5678}
    assert (remark.kind, remark.detail) == ("written_numbers", "1.234")
    assert set(read(["0.5", "1.25"] * 30, decimal="comma")[0].values) == {0.5, 1.25}


CELLS = st.one_of(
    st.none(),
    st.integers(-5, 5),
    st.floats(-1e6, 1e6),
    st.text(alphabet="ab1,.$% -/", max_size=6),
    st.dates().map(str),
    st.booleans(),
)


@settings(deadline=None, max_examples=80)
@given(st.lists(st.lists(CELLS, min_size=24, max_size=24), min_size=1, max_size=5), st.booleans())
def test_no_column_is_lost_without_a_remark(columns, comma):
    cells = {f"c{n}": pd.Series(column, dtype=object) for n, column in enumerate(columns)}
    frame = pd.DataFrame({"x": np.arange(24) % 5, **cells, "ok": np.arange(24) % 2})
    try:
        dataset = Dataset.from_frame(frame, "ok", 1, decimal="comma" if comma else None)
    except errors.ColumnUnusable:
        reject()
    kept = {column.name for column in dataset.features}
    assert kept | {remark.column for remark in dataset.remarks} == {"x", *cells}
    assert all(column.varies() for column in dataset.features)
