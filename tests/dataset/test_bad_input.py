"""Every way in which a file can be unusable: one specific error that says what, where and what to do."""

import gzip
import sys

import pandas as pd
import pytest

from fairenum import errors
from fairenum.dataset import Dataset, load_dataset, read_table

GOOD = "age,job,sex,ok\n20,a,f,yes\n30,b,m,no\n40,a,f,no\n50,b,m,yes\n"
NAMED = {"label": "ok", "favourable": "yes", "sensitive": ["sex"]}

BAD_TEXTS = {
    "empty": ("", errors.EmptyTable, ["empty", "first line must name the columns"]),
    "blank lines only": ("\n  \n\n", errors.EmptyTable, ["empty"]),
    "header only": ("age,sex,ok\n", errors.EmptyTable, ["no row"]),
    "semicolon": (GOOD.replace(",", ";"), errors.WrongDelimiter, ["semicolon", "delimiter=';'"]),
    "tab": (GOOD.replace(",", "\t"), errors.WrongDelimiter, ["tab", r"delimiter='\t'"]),
    "bar": (GOOD.replace(",", "|"), errors.WrongDelimiter, ["bar", "delimiter='|'"]),
    "row too long": (GOOD + "1,a,f,yes,9\n", errors.RaggedTable, ["line 6 has 5 cells, the header has 4"]),
    "row too short": (GOOD + "1,a\n", errors.RaggedTable, ["line 6 has 2 cells"]),
    "open quote": (GOOD + '1,"a,f,yes\n', errors.FileUnreadable, ["line 6 is not CSV", "quotes"]),
    "repeated column": (
        GOOD.replace("job", " age "),
        errors.ColumnRepeated,
        ["columns 1 and 2 are both called 'age'", "rename"],
    ),
    "unnamed column": (GOOD.replace("age,", ",", 1), errors.ColumnUnusable, ["column 1", "no name"]),
    "missing label column": (
        GOOD.replace("ok", "okay"),
        errors.ColumnMissing,
        ["no column 'ok', named as label", "did you mean 'okay'?"],
    ),
    "missing sensitive column": (
        GOOD.replace("sex", "Sexe"),
        errors.ColumnMissing,
        ["no column 'sex', named as sensitive", "did you mean 'Sexe'?"],
    ),
    "nothing like the column": (
        GOOD.replace("sex", "group"),
        errors.ColumnMissing,
        ["the columns are 'age', 'job', 'group', 'ok'"],
    ),
    "three label values": (
        GOOD + "60,a,f,maybe\n",
        errors.LabelNotBinary,
        ["'ok' holds 3 values ('maybe', 'no', 'yes')"],
    ),
    "one class": (GOOD.replace("no", "yes"), errors.LabelOneClass, ["the one value 'yes' in all 4 rows"]),
    "label missing in a row": (
        GOOD + "\n60,a,f,\n",
        errors.LabelUndefined,
        ["'ok' holds no value in row 5 (line 7 of the file)", "fill in"],
    ),
    "label infinite": (
        "x,sex,ok\n1,f,1\n2,m,0\n3,f,inf\n",
        errors.LabelUndefined,
        ["holds 'inf' in row 3 (line 4 of the file)"],
    ),
    "favourable not among the values": (
        GOOD.replace("yes", "oui"),
        errors.FavourableUnknown,
        ["no value 'yes'", "its values are 'no', 'oui'"],
    ),
    "infinite cell": (
        GOOD.replace("30", "-inf"),
        errors.CellInfinite,
        ["'age' holds -inf in row 2 (line 3 of the file)", "empty it"],
    ),
    "overflowing cell": (GOOD.replace("30", "1e200"), errors.CellInfinite, ["holds 1e+200 in row 2"]),
    "constant number": (
        "age,x,sex,ok\n1,7,f,yes\n2,7,m,no\n",
        errors.ColumnConstant,
        ["'x' holds the one value '7'", "drop=['x']"],
    ),
    "constant but for empty cells": (
        "age,x,sex,ok\n1,7,f,yes\n2,,m,no\n",
        errors.ColumnConstant,
        ["the one value '7' and 1 empty cells"],
    ),
    "constant text": ("age,x,sex,ok\n1,u,f,yes\n2,u,m,no\n", errors.ColumnConstant, ["the one value 'u'"]),
    "empty column": ("age,x,sex,ok\n1,,f,yes\n2,NA,m,no\n", errors.ColumnConstant, ["'x' holds nothing"]),
    "one sensitive group": (GOOD.replace(",m,", ",f,"), errors.ColumnConstant, ["one group only, 'f'"]),
    "no feature": ("sex,ok\nf,yes\nm,no\n", errors.ColumnConflict, ["no column is left to learn from"]),
    "one column": ("ok\nyes\nno\n", errors.ColumnMissing, ["no column 'sex'"]),
    "word among numbers": (
        "x,sex,ok\n" + "".join(f"{n},{'fm'[n % 2]},{'yes' if n % 3 else 'no'}\n" for n in range(20)) + "?7,f,no\n",
        errors.ColumnUnusable,
        ["'x' holds numbers, but '?7' in row 21 (line 22 of the file)"],
    ),
    "identifiers": (
        "x,sex,ok\n" + "".join(f"id{n},{'fm'[n % 2]},{'yes' if n % 3 else 'no'}\n" for n in range(150)),
        errors.ColumnUnusable,
        ["'x' holds 150 different texts in 150 rows", "drop=['x']"],
    ),
}


@pytest.mark.parametrize(("text", "error", "fragments"), BAD_TEXTS.values(), ids=BAD_TEXTS.keys())
def test_a_bad_file_raises_one_specific_error_that_says_what_where_and_what_to_do(tmp_path, text, error, fragments):
    path = tmp_path / "loans.csv"
    path.write_bytes(text.encode())
    with pytest.raises(errors.DataError) as raised:
        load_dataset(path, **NAMED)
    assert type(raised.value) is error
    for fragment in fragments:
        assert fragment in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_good_file_is_good(tmp_path):
    path = tmp_path / "loans.csv"
    path.write_text(GOOD)
    dataset = load_dataset(path, **NAMED)
    assert (dataset.name, len(dataset), [column.name for column in dataset.features]) == (
        "loans",
        4,
        ["age", "job"],
    )


@pytest.mark.parametrize(
    ("given", "error", "fragment"),
    [
        ({"label": None}, errors.LabelError, "name one of its columns: 'age', 'job', 'sex', 'ok'"),
        (
            {"favourable": None},
            errors.FavourableUnknown,
            "no favourable value yet; its values are 'no', 'yes'",
        ),
        ({"favourable": "maybe"}, errors.FavourableUnknown, "favourable='yes'"),
        ({"drop": ["jobb"]}, errors.ColumnMissing, "named as drop; did you mean 'job'?"),
        ({"drop": "ok"}, errors.ColumnConflict, "'ok' is named twice"),
        ({"sensitive": ["sex", "sex"]}, errors.ColumnConflict, "'sex' is named twice"),
        ({"bands": {"age": [25]}}, errors.ColumnConflict, "'age' has bands but is not sensitive"),
        ({"bands": {"sex": [25]}}, errors.ColumnUnusable, "'sex' is not numeric"),
        ({"delimiter": "::"}, errors.WrongDelimiter, "'::' is not one character"),
        ({"delimiter": ";"}, errors.WrongDelimiter, "separated by a comma; read it with delimiter=','"),
    ],
)
def test_a_bad_request_says_what_to_do(tmp_path, given, error, fragment):
    path = tmp_path / "loans.csv"
    path.write_text(GOOD)
    with pytest.raises(error) as raised:
        load_dataset(path, **(NAMED | given))
    assert type(raised.value) is error
    assert fragment in str(raised.value)


def test_a_sensitive_column_of_many_numbers_needs_bands(tmp_path):
    path = tmp_path / "loans.csv"
    rows = (f"{n},{n % 3},{'yes' if n % 2 else 'no'}" for n in range(18, 40))
    path.write_text("age,x,ok\n" + "\n".join(rows))
    with pytest.raises(errors.ColumnUnusable, match=r"22 different numbers.*bands=\{'age': \[29\]\} \(--band age=29\)"):
        load_dataset(path, "ok", "yes", "age")
    assert load_dataset(path, "ok", "yes", "age", bands={"age": [29]}).sensitive[0].names == ("<= 29", "> 29")


def test_a_text_in_another_encoding_names_the_line(tmp_path):
    path = tmp_path / "loans.csv"
    path.write_bytes("age,ok\n1,yes\n2,né\n".encode("latin-1"))
    with pytest.raises(errors.NotUtf8, match=r"byte 0xe9 in line 3; .*iconv -f LATIN1 -t UTF-8 loans.csv"):
        read_table(path)


def test_a_missing_file_suggests_a_bundled_name_or_a_neighbour(tmp_path):
    (tmp_path / "loans.csv").write_text(GOOD)
    with pytest.raises(errors.DatasetNotFound, match="did you mean 'compas'"):
        load_dataset("compass")
    with pytest.raises(errors.DatasetNotFound, match=r"did you mean 'loans.csv'"):
        load_dataset(tmp_path / "loan.csv")
    with pytest.raises(errors.DatasetNotFound, match="the bundled ones are 'adult', 'compas', 'german'"):
        load_dataset(tmp_path / "nowhere" / "xyzzy.parquet")


def test_a_directory_is_not_a_table(tmp_path):
    with pytest.raises(errors.FileUnreadable, match="is a directory"):
        read_table(tmp_path)


@pytest.mark.parametrize("name", ["loans.xlsx", "loans", "loans.parquet.gz", "loans.gz"])
def test_an_unknown_suffix_says_which_are_known(tmp_path, name):
    (tmp_path / name).write_text(GOOD)
    with pytest.raises(errors.FormatUnknown, match=r"\.csv, \.tsv, \.arff, \.parquet"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("data", [b"no gzip", gzip.compress(GOOD.encode(), mtime=0)[:-9]])
def test_a_broken_gzip_file_is_unreadable(tmp_path, data):
    (tmp_path / "loans.csv.gz").write_bytes(data)
    with pytest.raises(errors.FileUnreadable, match="cannot be read"):
        read_table(tmp_path / "loans.csv.gz")


def test_a_broken_parquet_file_is_unreadable(tmp_path):
    (tmp_path / "loans.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(errors.FileUnreadable, match="no Parquet file that can be read"):
        read_table(tmp_path / "loans.parquet")


def test_parquet_without_pyarrow_says_how_to_install_it(tmp_path, monkeypatch):
    (tmp_path / "loans.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(errors.ReaderMissing, match=r"pip install 'fairenum\[parquet\]'"):
        read_table(tmp_path / "loans.parquet")


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (pd.to_datetime(["2020-01-01", "2021-01-01"]), "Timestamp"),
        (pd.to_timedelta([1, 2], unit="D"), "Timedelta"),
        ([[1], [2]], "list"),
        ([1 + 2j, 2j], "complex"),
        ([pd.Timestamp("2020-01-01").date(), "x"], "date"),
    ],
)
def test_dates_and_objects_are_refused(cells, kind):
    frame = pd.DataFrame({"when": cells, "x": [1, 2], "ok": [0, 1]})
    with pytest.raises(errors.ColumnUnusable, match=rf"'when' holds a {kind} in row 1; .*drop=\['when'\]"):
        Dataset.from_frame(frame, "ok", 1)
    assert [column.name for column in Dataset.from_frame(frame, "ok", 1, drop="when").features] == ["x"]


def test_a_frame_names_rows_by_its_own_index():
    frame = pd.DataFrame({"x": [1.0, float("inf")], "ok": [0, 1]}, index=["first", "second"])
    with pytest.raises(errors.CellInfinite, match=r"row 2 \(index 'second'\)"):
        Dataset.from_frame(frame, "ok", 1)
    with pytest.raises(errors.CellInfinite, match="in row 2;"):
        Dataset.from_frame(frame.reset_index(drop=True), "ok", 1)


def test_an_empty_frame_and_repeated_names_are_refused():
    frame = pd.DataFrame([[1, 2, 0], [2, 3, 1]], columns=["x", "x", "ok"])
    with pytest.raises(errors.ColumnRepeated, match="columns 1 and 2 are both called 'x'"):
        Dataset.from_frame(frame, "ok", 1)
    with pytest.raises(errors.EmptyTable, match="0 rows and 3 columns"):
        Dataset.from_frame(frame.iloc[:0], "ok", 1)
