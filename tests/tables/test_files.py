"""Reading files: what users' files look like when they are good."""

import gzip

import numpy as np
import pandas as pd
import pytest

from fairenum import errors
from fairenum.tables import load_dataset, read_table

ARFF = r"""% a comment
@relation 'a relation'

@ATTRIBUTE age numeric
@attribute 'home town' {'New York', "L'Aquila", Köln}
@attribute code {0, 1}
@attribute note string
@attribute ok {yes, no}
@data
20, 'New York', 0, 'it''s', yes
% another
?, "L'Aquila", 1, "a, b", no
30.5, Köln, ?, '?', yes
40,Köln,1,'back\'slash', no
"""


def test_csv_columns_become_numbers_or_texts_and_rows_know_their_lines(tmp_path):
    path = tmp_path / "t.csv"
    header = "\ufeff name , n,x,b,mixed\r\n"
    path.write_bytes(f'{header}"two\r\nlines",1,1.5,True,1\r\n\r\n"a, b", 2,,FALSE, "u, v"\r\n'.encode())
    frame = read_table(path)
    assert list(frame.columns) == ["name", "n", "x", "b", "mixed"]
    assert list(frame.index) == [2, 5]
    assert list(frame["name"]) == ["two\r\nlines", "a, b"]
    assert frame["n"].dtype == np.int64
    assert frame["x"].tolist() == pytest.approx([1.5, float("nan")], nan_ok=True)
    assert list(frame["b"]) == ["True", "FALSE"]
    assert list(frame["mixed"]) == ["1", "u, v"]


@pytest.mark.parametrize("mark", ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?", "  "])
def test_marks_of_missing_cells_are_missing(tmp_path, mark):
    path = tmp_path / "t.csv"
    path.write_text(f"x,y\n{mark},1\n2,0\n3,1\n")
    frame = read_table(path)
    assert frame["x"].isna().tolist() == [True, False, False]
    assert load_dataset(path, "y", "1").missing == {"x": 1}


def test_none_is_a_value_not_a_missing_cell(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("guarantor,y\nNone,1\nbank,0\n")
    assert load_dataset(path, "y", "1").missing == {}


def test_old_mac_line_ends_and_large_integers_are_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\r1,123456789012345678901\r2,5\r")
    frame = read_table(path)
    assert frame.shape == (2, 2)
    assert frame["b"].dtype == np.float64


@pytest.mark.parametrize(
    ("name", "delimiter"),
    [("t.csv", ";"), ("t.csv", "\t"), ("t.csv", "\\t"), ("t.csv", "tab"), ("T.TSV", None)],
)
def test_a_delimiter_can_be_given_and_tsv_has_its_own(tmp_path, name, delimiter):
    mark = ";" if delimiter == ";" else "\t"
    (tmp_path / name).write_text("a;b\n1;2\n".replace(";", mark))
    assert read_table(tmp_path / name, delimiter).to_dict("list") == {"a": [1], "b": [2]}


def test_a_delimiter_is_told_from_the_first_lines_and_said(tmp_path):
    text = "age, last;job;size;ok\n20;a;1,5;yes\n30;b;2;no\n"
    for sign in (";", "\t", "|"):
        path = tmp_path / "t.csv.gz"
        path.write_bytes(gzip.compress(text.replace(";", sign).encode()))
        dataset = load_dataset(path, "ok", "yes")
        assert [remark.kind for remark in dataset.remarks] == ["guessed_delimiter", "written_numbers"]
        assert dataset.remarks[0].detail == sign
        assert [column.name for column in dataset.features] == ["age, last", "job", "size"]
        assert dataset.features[2].values.tolist() == [1.5, 2]
        said = load_dataset(path, "ok", "yes", delimiter=sign)
        assert [remark.kind for remark in said.remarks] == ["written_numbers"]
        assert said.fingerprint == dataset.fingerprint


def test_a_tsv_with_commas_is_read_and_one_column_is_no_puzzle(tmp_path):
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(b"x,ok\n1,yes\n2,no\n"))
    assert load_dataset(tmp_path / "t.tsv.gz", "ok", "yes").remarks[0].detail == ","
    (tmp_path / "one.csv").write_text("x\n1\n2\n")
    assert read_table(tmp_path / "one.csv").to_dict("list") == {"x": [1, 2]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_text_is_read_in_the_encodings_that_spreadsheets_write(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes("größe,job,ok\n1,né,yes\n2,ß,no\n".encode(encoding))
    dataset = load_dataset(path, "ok", "yes")
    assert dataset.features[1].values.tolist() == ["né", "ß"]
    guessed = [remark.detail for remark in dataset.remarks if remark.kind == "guessed_encoding"]
    assert guessed == (["Windows-1252"] if encoding in ("cp1252", "latin-1") else [])


def test_utf_16_with_the_bytes_swapped_is_read(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"\xfe\xff" + "x,ok\n1,né\n2,no\n".encode("utf-16-be"))
    assert read_table(tmp_path / "t.csv")["ok"].tolist() == ["né", "no"]


def test_the_index_that_pandas_saves_is_left_out_and_said(tmp_path):
    frame = pd.DataFrame({"x": [5, 3, 9, 4], "ok": [0, 1, 1, 0]})
    frame.to_csv(tmp_path / "t.csv")
    dataset = load_dataset(tmp_path / "t.csv", "ok", "1")
    assert [column.name for column in dataset.features] == ["x"]
    assert [remark.kind for remark in dataset.remarks] == ["row_numbers"]
    many = pd.concat([frame] * 20, ignore_index=True).iloc[::2]
    many.to_csv(tmp_path / "t.csv")
    assert [remark.kind for remark in load_dataset(tmp_path / "t.csv", "ok", "0", drop=()).remarks] == ["row_numbers"]


def test_a_spreadsheet_is_read_by_sheet_with_its_lines(tmp_path):
    path = tmp_path / "t.xlsx"
    good = pd.DataFrame({"x": [1, None, 2.5, 3], "job": ["a", None, "?", "b"], "ok": ["yes", None, "no", "no"]})
    with pd.ExcelWriter(path, engine="openpyxl") as book:
        good.to_excel(book, sheet_name="loans", index=False)
        pd.DataFrame({"note": ["n"]}).to_excel(book, sheet_name="notes", index=False)
    frame = read_table(path)
    assert list(frame.index) == [2, 4, 5]
    dataset = load_dataset(path, "ok", "yes")
    assert dataset.features[0].values.tolist() == [1, 2.5, 3]
    assert dataset.missing == {"job": 1}
    assert load_dataset(path, "ok", "yes", sheet="loans").fingerprint == dataset.fingerprint
    with pytest.raises(errors.FileUnreadable, match="no sheet 'loan'; did you mean 'loans'"):
        load_dataset(path, "ok", "yes", sheet="loan")
    with pytest.raises(errors.FileUnreadable, match="there are 'loans', 'notes': sheet='loans'"):
        load_dataset(path, "ok", "yes", sheet="x")
    with pytest.raises(errors.ColumnMissing, match="no column 'ok'"):
        load_dataset(path, "ok", "yes", sheet="notes")


def test_gzip_and_parquet_give_the_same_dataset_as_csv(tmp_path):
    text = "age,job,sex,ok\n20,a,f,yes\n30,,m,no\n,a,f,no\n50,b,,yes\n"
    (tmp_path / "t.csv").write_text(text)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("t.parquet", "t.pq"):
        read_table(tmp_path / "t.csv").reset_index(drop=True).to_parquet(tmp_path / name)
    files = ("t.csv", "t.csv.gz", "t.parquet", "t.pq")
    prints = {load_dataset(tmp_path / name, "ok", "yes", "sex").fingerprint for name in files}
    assert len(prints) == 1


def test_arff_keeps_what_it_declares(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text(ARFF, encoding="utf-8")
    frame = read_table(path)
    assert list(frame.columns) == ["age", "home town", "code", "note", "ok"]
    assert frame["age"].tolist() == pytest.approx([20, float("nan"), 30.5, 40], nan_ok=True)
    assert list(frame["home town"]) == ["New York", "L'Aquila", "Köln", "Köln"]
    assert list(frame["note"])[1:] == ["a, b", "?", "back'slash"]
    assert list(frame.index) == [10, 12, 13, 14]
    assert isinstance(frame["code"].dtype, pd.CategoricalDtype)
    dataset = load_dataset(path, "ok", "yes", "home town", drop="note")
    assert {column.name: column.is_numeric for column in dataset.features} == {"age": True, "code": False}
    assert dataset.missing == {"age": 1, "code": 1}


HEAD = "@relation r\n@attribute x numeric\n@attribute y {a, b}\n"


@pytest.mark.parametrize(
    ("text", "error", "fragment"),
    [
        ("", errors.EmptyTable, "no row below @data"),
        (HEAD + "@data\n", errors.EmptyTable, "no row below @data"),
        (HEAD + "@data\n1,a\n2\n", errors.RaggedTable, "line 6 has 1 cells, 2 attributes are declared"),
        (HEAD + "@data\n1,a\n2,c\n", errors.FileUnreadable, "line 6 holds 'c', which attribute 'y' does not"),
        (HEAD + "@data\none,a\n", errors.FileUnreadable, "line 5 holds 'one' for the numeric attribute 'x'"),
        (HEAD + "@data\n{0 1}\n", errors.FormatUnknown, "sparse form"),
        (
            HEAD + "@attribute d date 'yyyy'\n",
            errors.FormatUnknown,
            "line 4 declares attribute 'd' as \"date",
        ),
        (HEAD + "@attribute z\n", errors.FileUnreadable, "line 4 is no attribute declaration"),
        (HEAD + "@attribute x string\n", errors.ColumnRepeated, "columns 1 and 3 are both called 'x'"),
    ],
)
def test_bad_arff_names_the_line(tmp_path, text, error, fragment):
    path = tmp_path / "t.arff"
    path.write_text(text)
    with pytest.raises(errors.FairenumError) as raised:
        read_table(path)
    assert type(raised.value) is error
    assert fragment in str(raised.value)
