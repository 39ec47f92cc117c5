"""One table, saved in the ways that people save tables: read alike by one command, and what was guessed is said."""

import gzip

import numpy as np
import pandas as pd
import pytest
from support.tables import write_loans

from fairenum.tables import list_datasets, load_dataset

ROLES = {"label": "approved", "favourable": "yes", "sensitive": "sex"}
ROWS = 400


@pytest.fixture
def loans(tmp_path):
    return pd.read_csv(write_loans(tmp_path / "plain.csv", ROWS))


def with_index(frame, path):
    frame.to_csv(path)


def european(frame, path):
    frame.to_csv(path, sep=";", decimal=",", index=False)


def tabs(frame, path):
    frame.to_csv(path, sep="\t", index=False)


def wide_text(frame, path):
    frame.to_csv(path, sep="\t", index=False, encoding="utf-16")


def western(frame, path):
    frame.assign(town=frame["town"].replace("Cork", "Córk")).to_csv(path, index=False, encoding="cp1252")


def spreadsheet(frame, path):
    frame.to_excel(path, index=False)


def packed(frame, path):
    path.write_bytes(gzip.compress(frame.to_csv(index=False, sep="\t").encode()))


def money(frame, path):
    text = [f"(${-x:,.3f})" if x < 0 else f"${x:,.3f}" for x in frame["income"]]
    frame.assign(income=text).to_csv(path, index=False)


def shares(frame, path):
    frame.assign(debt=[f"{x:.3f} %" for x in frame["debt"]]).to_csv(path, index=False)


def columns_that_should_not_be_there(frame, path):
    n = np.arange(ROWS)
    more = {
        "file": [f"A-{i:05d}" for i in n],
        "opened": pd.Timestamp("2024-01-01") + pd.to_timedelta(n, unit="D"),
        "note": [f"called {i} times, no answer" for i in n],
        "currency": "EUR",
        "fax": None,
    }
    frame.assign(**more).to_csv(path, index=False)


def lists(frame, path):
    frame.assign(tags=[[i % 3] for i in range(ROWS)]).to_parquet(path)


CARELESS = {
    with_index: ("csv", ["row_numbers"]),
    european: ("csv", ["guessed_delimiter", "written_numbers", "written_numbers"]),
    tabs: ("txt", ["guessed_delimiter"]),
    wide_text: ("csv", ["guessed_delimiter"]),
    western: ("csv", ["guessed_encoding"]),
    spreadsheet: ("xlsx", []),
    packed: ("tsv.gz", []),
    money: ("csv", ["written_numbers"]),
    shares: ("csv", ["written_numbers"]),
    columns_that_should_not_be_there: (
        "csv",
        ["identifier_text", "date_column", "free_text", "constant_column", "empty_column"],
    ),
    lists: ("pq", ["object_column"]),
}


@pytest.mark.parametrize(("save", "expected"), CARELESS.items(), ids=lambda one: getattr(one, "__name__", ""))
def test_a_careless_table_is_the_table_that_was_meant(tmp_path, loans, save, expected):
    suffix, kinds = expected
    save(loans, tmp_path / f"table.{suffix}")
    dataset = load_dataset(tmp_path / f"table.{suffix}", **ROLES)
    assert [remark.kind for remark in dataset.remarks] == kinds
    meant = load_dataset(tmp_path / "plain.csv", **ROLES)
    assert [column.name for column in dataset.features] == [column.name for column in meant.features]
    for found, column in zip(dataset.features, meant.features, strict=True):
        values = [cell.replace("ó", "o") for cell in found.values] if not column.is_numeric else found.values.tolist()
        assert values == column.values.tolist()
    np.testing.assert_array_equal(dataset.y, meant.y)


def test_bundled_tables_are_read_without_a_remark():
    for card in list_datasets():
        assert load_dataset(card.name).remarks == ()
