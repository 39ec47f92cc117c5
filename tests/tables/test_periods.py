"""Periods as people write them, in order of time, and what is no period."""

import numpy as np
import pandas as pd
import pytest

from fairenum.errors import ColumnConstant, ColumnUnusable
from fairenum.tables.periods import read_periods


def read(cells):
    found = read_periods(pd.Series(cells, name="when"))
    return list(found.names), found.codes.tolist()


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        ([10, 9, 9], ["9", "10"]),
        (["2024", "2023", "2023"], ["2023", "2024"]),
        ([202402, 202401, 202401], ["202401", "202402"]),
        (["2024-Q1", "2023Q4", "2023Q4"], ["2023-Q4", "2024-Q1"]),
        (["Q1 2024", "Q4 2023", "Q4 2023"], ["2023-Q4", "2024-Q1"]),
        (["2024-10", "2024-9", "2024/09"], ["2024-09", "2024-10"]),
        (["2024-W10", "2024-W09", "2024W09"], ["2024-W09", "2024-W10"]),
        (["2024-10-01", "2024-09-30", "2024-09-01"], ["2024-09", "2024-10"]),
        (["2024-10-01 08:00", "2024-09-30T23:59:00Z", "2024-09-01"], ["2024-09", "2024-10"]),
        (["10/14/2024", "9/30/2024", "9/1/2024"], ["2024-09", "2024-10"]),
        (pd.to_datetime(["2024-10-01", "2024-09-30", "2024-09-01"]), ["2024-09", "2024-10"]),
    ],
)
def test_periods_are_read_and_put_in_order(cells, names):
    assert read(cells) == (names, [1, 0, 0])


def test_what_is_no_period_is_refused():
    with pytest.raises(ColumnUnusable, match=r"named as by \(--by\), holds 'spring' in row 2.*2024-03-25"):
        read(["2024-01-05", "spring"])
    with pytest.raises(ColumnUnusable, match="day and month cannot be told apart"):
        read(["1/2/2024", "3/4/2024"])
    with pytest.raises(ColumnUnusable, match="501 periods, more than 500; give months or quarters"):
        read(np.arange(501))


def test_a_single_period_is_refused():
    found = read_periods(pd.Series([1, 1, 2], name="when"))
    with pytest.raises(ColumnConstant, match="holds one period only, '1'"):
        found.take(np.array([0, 1]))
