"""Every way in which a file can be unusable: one specific error that says what, where and what to do."""

import gzip
import sys
from contextlib import suppress

import numpy as np
import pandas as pd
import pyarrow as arrow
import pytest
from pyarrow import parquet

from fairenum import errors
from fairenum.tables import Dataset, load_dataset, read_table

GOOD = "age,job,sex,ok\n20,a,f,yes\n30,b,m,no\n40,a,f,no\n50,b,m,yes\n"
NAMED = {"label": "ok", "favourable": "yes", "sensitive": ["sex"]}

BAD_TEXTS = {
    "empty": ("", errors.EmptyTable, ["empty", "first line must name the columns"]),
    "blank lines only": ("\n  \n\n", errors.EmptyTable, ["empty"]),
    "header only": ("age,sex,ok\n", errors.EmptyTable, ["no row"]),
    "two delimiters": ("age;a|sex;b|ok\n1;2|f;3|yes\n", errors.WrongDelimiter, ["semicolon", "delimiter=';'"]),
    "two widths": ("age;sex;ok\n1;f\n2;m;no\n", errors.RaggedTable, ["line 2 has 2 cells, the header has 3"]),
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
    "nothing but useless columns": (
        "x,z,when,sex,ok\n7,,2024-01-31,f,yes\n7,NA,2024-02-28,m,no\n",
        errors.ColumnConflict,
        ["no column is left", "'x' (constant column), 'z' (empty column), 'when' (date column) cannot be learned from"],
    ),
    "one sensitive group": (GOOD.replace(",m,", ",f,"), errors.ColumnConstant, ["one group only, 'f'"]),
    "no feature": ("sex,ok\nf,yes\nm,no\n", errors.ColumnConflict, ["no column is left to learn from"]),
    "one column": ("ok\nyes\nno\n", errors.ColumnMissing, ["no column 'sex'"]),
    "word among numbers": (
        "x,sex,ok\n" + "".join(f"{n},{'fm'[n % 2]},{'yes' if n % 3 else 'no'}\n" for n in range(20)) + "?7,f,no\n",
        errors.ColumnUnusable,
        ["'x' holds numbers, but '?7' in row 21 (line 22 of the file)", "drop=['x'] (--drop x)"],
    ),
    "all unclear columns at once": (
        "x,pay,sex,ok\n"
        + "".join(f'{n},"{n + 1},000",{"fm"[n % 2]},{"yes" if n % 3 else "no"}\n' for n in range(20))
        + '?7,"1,500",f,no\n',
        errors.ColumnUnusable,
        [
            "'x' holds numbers, but '?7' in row 21",
            "'pay' holds '1,000', which is 1000 or 1",
            "decimal='point' (--decimal point) or decimal='comma' (--decimal comma)",
            "drop=['x', 'pay'] (--drop x --drop pay)",
        ],
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
        ({"label": None}, errors.LabelError, "its columns are 'age', 'job', 'sex', 'ok'"),
        (
            {"favourable": None},
            errors.FavourableUnknown,
            "no favourable value yet; its values are 'no', 'yes'",
        ),
        ({"favourable": "maybe"}, errors.FavourableUnknown, "its values are 'no', 'yes'"),
        ({"favourable": "yess"}, errors.FavourableUnknown, "did you mean 'yes'?"),
        ({"drop": ["jobb"]}, errors.ColumnMissing, "named as drop; did you mean 'job'?"),
        ({"drop": "ok"}, errors.ColumnConflict, "'ok' is named twice"),
        ({"sensitive": ["sex", "sex"]}, errors.ColumnConflict, "'sex' is named twice"),
        ({"bands": {"age": [25]}}, errors.ColumnConflict, "'age' has bands but is not sensitive"),
        ({"bands": {"sex": [25]}}, errors.ColumnUnusable, "'sex' is not numeric"),
        ({"categorical_columns": ["jobs"]}, errors.ColumnMissing, "named as categorical_columns; did you mean 'job'?"),
        ({"decimal": "dot"}, errors.ConfigError, "'decimal' must be one of point, comma"),
        ({"max_levels": 0}, errors.ConfigError, "'max_levels' must be a whole number of at least 1"),
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


@pytest.mark.parametrize(
    ("data", "fragment"),
    [
        (b"age,ok\n1,yes\n2,n\x81\n", r"byte 0x81 in line 3 is neither .*iconv -f LATIN1 -t UTF-8 loans.csv"),
        ("age,ok\n1,yes\n".encode("utf-16-le"), r"zero bytes.*iconv -f UTF-16LE -t UTF-8 loans.csv"),
        (b"\xff\xfea\0,", "has the mark of UTF-16 and is not UTF-16"),
        (b"PK\x03\x04\0\0 a spreadsheet under another name", "zero bytes, as .* files that are no text do"),
    ],
)
def test_a_text_whose_encoding_cannot_be_told_says_where_and_what_to_do(tmp_path, data, fragment):
    path = tmp_path / "loans.csv"
    path.write_bytes(data)
    with pytest.raises(errors.NotUtf8, match=fragment):
        read_table(path)


def test_a_sensitive_column_of_written_numbers_needs_bands_and_an_open_one_is_texts(tmp_path):
    rows = [f'"${n},500","{n},500",{n % 3},{"yes" if n % 2 else "no"}' for n in range(10, 32)]
    (tmp_path / "loans.csv").write_text("pay,open,x,ok\n" + "\n".join(rows))
    with pytest.raises(errors.ColumnUnusable, match=r"22 different numbers.*\(--band pay=21500\)"):
        load_dataset(tmp_path / "loans.csv", "ok", "yes", "pay", drop="open")
    banded = load_dataset(tmp_path / "loans.csv", "ok", "yes", "pay", drop="open", bands={"pay": [21_500]})
    assert banded.sensitive[0].sizes.tolist() == [12, 10]
    texts = load_dataset(tmp_path / "loans.csv", "ok", "yes", "open", drop="pay")
    assert len(texts.sensitive[0].names) == 22


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


@pytest.mark.parametrize("name", ["loans.xls", "loans", "loans.parquet.gz", "loans.xlsx.gz", "loans.gz"])
def test_an_unknown_suffix_says_which_are_known(tmp_path, name):
    (tmp_path / name).write_text(GOOD)
    with pytest.raises(errors.FormatUnknown, match=r"\.csv, \.tsv, \.txt, \.arff, \.parquet, \.pq, \.xlsx"):
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


@pytest.mark.parametrize("notes", [b"{}", b"[]", b"no json", b'{"columns": [{"name": "x"}], "index_columns": ["y"]}'])
def test_a_parquet_file_whose_notes_for_pandas_are_damaged_is_read_without_them(tmp_path, notes):
    table = arrow.Table.from_pandas(pd.DataFrame({"x": [1, 2], "t": ["a", "b"]}, index=[5, 7]))
    parquet.write_table(table.replace_schema_metadata({b"pandas": notes}), tmp_path / "loans.parquet")
    frame = read_table(tmp_path / "loans.parquet")
    assert frame[["x", "t"]].to_dict("list") == {"x": [1, 2], "t": ["a", "b"]}


@pytest.mark.filterwarnings("ignore")  # what other readers say about damaged files
@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
def test_a_damaged_file_is_read_or_refused_in_words(tmp_path, suffix):
    path = tmp_path / f"loans.{suffix}"
    frame = pd.DataFrame({"x": np.arange(40) % 7, "pay": [f"${n},5" for n in range(40)], "ok": list("ab") * 20})
    writers = {"csv": lambda to: frame.to_csv(to, sep=";"), "parquet": frame.to_parquet, "xlsx": frame.to_excel}
    writers[suffix](path)
    whole = path.read_bytes()
    for seed in range(30):
        rng, data = np.random.default_rng(seed), bytearray(whole)
        for place in rng.integers(0, len(data), 3):
            data[place] = rng.integers(0, 256)
            del data[place + 1 : place + rng.integers(1, 9)]
        path.write_bytes(data)
        with suppress(errors.DataError):
            assert len(load_dataset(path, "ok", "a"))


def test_a_broken_spreadsheet_is_unreadable_and_openpyxl_is_asked_for(tmp_path, monkeypatch):
    (tmp_path / "loans.xlsx").write_bytes(b"PK no book")
    with pytest.raises(errors.FileUnreadable, match="no Excel file that can be read"):
        read_table(tmp_path / "loans.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(errors.ReaderMissing, match=r"pip install 'fairenum\[excel\]'"):
        read_table(tmp_path / "loans.xlsx")


def test_parquet_without_pyarrow_says_how_to_install_it(tmp_path, monkeypatch):
    (tmp_path / "loans.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(errors.ReaderMissing, match=r"pip install 'fairenum\[parquet\]'"):
        read_table(tmp_path / "loans.parquet")


@pytest.mark.parametrize("cells", [pd.to_datetime(["2020-01-01", "2021-01-01"]), [[1], [2]]])
def test_a_label_or_a_group_of_objects_is_refused(cells):
    frame = pd.DataFrame({"when": cells, "x": [1, 2], "ok": [0, 1]})
    for roles in ({"label": "when", "favourable": 1}, {"label": "ok", "favourable": 1, "sensitive": "when"}):
        with pytest.raises(errors.ColumnUnusable, match=r"'when' holds a \w+ in row 1; .*drop=\['when'\]"):
            Dataset.from_frame(frame, **roles)


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
