"""A first line that is no header: noticed in files of every kind, and not where names are merely odd."""

import gzip

import numpy as np
import pandas as pd
import pytest

from fairenum.errors import ColumnRepeated, FairenumError, HeaderMissing
from fairenum.tables import read_table
from fairenum.tables.table_files import list_datasets

MIXED = "39,State,5.5,yes\n50,Private,0.5,no\n38,Private,9,no\n53,State,1,yes\n28,Private,7,no\n41,State,6,yes\n"


def written(tmp_path, text, name="table.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_row_of_data_in_place_of_names_is_refused_with_what_to_add(tmp_path):
    with pytest.raises(HeaderMissing) as caught:
        read_table(written(tmp_path, MIXED))
    assert str(caught.value) == (
        "the first line of the file looks like a row of data, not like names of columns: '39', 'State', '5.5', 'yes'; "
        "add a first line with a name for each of the 4 columns, such as column1,column2,column3,column4"
    )
    assert len(read_table(written(tmp_path, "age,work,years,ok\n" + MIXED))) == 6


@pytest.mark.parametrize("card", list_datasets(), ids=lambda card: card.name)
def test_every_bundled_table_is_noticed_without_its_header(tmp_path, card):
    data = card.path.read_bytes()
    text = (gzip.decompress(data) if card.path.suffix == ".gz" else data).decode()
    read_table(written(tmp_path, "".join(text.splitlines(keepends=True)[:2000])))
    with pytest.raises(HeaderMissing):
        read_table(written(tmp_path, "".join(text.splitlines(keepends=True)[1:2000])))


def test_a_spreadsheet_is_noticed_too(tmp_path):
    frame = pd.DataFrame([line.split(",") for line in MIXED.splitlines()])
    frame[0], frame[2] = frame[0].astype(int), frame[2].astype(float)
    path = tmp_path / "book.xlsx"
    frame.to_excel(path, index=False, header=False)
    with pytest.raises(HeaderMissing, match=r"'39', 'State', '5\.5', 'yes'"):
        read_table(path)
    frame.to_excel(path, index=False, header=["age", "work", "years", "ok"])
    assert len(read_table(path)) == 6


def test_repeated_and_empty_cells_of_data_are_not_taken_for_faults_of_a_header(tmp_path):
    rows = np.random.default_rng(0).integers(0, 2, (40, 6))
    text = "\n".join(",".join(map(str, row)) for row in [[0, 1, 0, 0, 1, 0], *rows]) + "\n"
    with pytest.raises(HeaderMissing):
        read_table(written(tmp_path, text))
    with pytest.raises(HeaderMissing):
        read_table(written(tmp_path, text.replace("0,1,0,0,1,0", "0,1,,0,1,0", 1)))
    with pytest.raises(ColumnRepeated):
        read_table(written(tmp_path, "a,b,c,d,e,a\n" + text))


NAMES = {
    "numbers in order": "0,1,2,3",
    "years": "country,2019,2020,2021",
    "years and an identifier": "id,2019,2020,kind",
    "wave lengths": "400.5,402.1,class,403.8",
    "one word that occurs": "work,State,2,ok",
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES.keys())
def test_odd_names_are_names(tmp_path, names):
    assert list(read_table(written(tmp_path, f"{names}\n{MIXED}")).columns) == names.split(",")


def test_few_rows_and_one_column_tell_nothing(tmp_path):
    assert list(read_table(written(tmp_path, "1,2\n1,2\n0,3\n")).columns) == ["1", "2"]
    assert list(read_table(written(tmp_path, "1\n" * 20)).columns) == ["1"]


def test_it_is_one_of_the_errors_that_the_program_explains():
    assert issubclass(HeaderMissing, FairenumError)
