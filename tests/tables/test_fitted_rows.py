"""Rows that the model in use was fitted on: marked by a column, left out and counted."""

from __future__ import annotations

import numpy as np
import pytest
from support.decisions import PLAN, table

from fairenum import Dataset
from fairenum.errors import ColumnConflict, ColumnMissing, ColumnUnusable, ConfigError, EmptyTable

SCORED = {"incumbent_score": "points", "incumbent_cutoff": "50", "drop": ["hired", "rival"]}


def read(frame, **options):
    return Dataset.from_frame(frame, **PLAN, **{**SCORED, **options})


@pytest.mark.parametrize(
    "words", [(1, 0), (True, False), ("yes", "no"), ("TRUE", "false"), ("1", None), (1.0, np.nan), ("Yes", "0")]
)
def test_marked_rows_are_left_out_and_counted(words):
    frame, seen = table(), np.arange(600) % 3 == 0
    frame["seen"] = [words[0] if one else words[1] for one in seen]
    dataset = read(frame, incumbent_trained_on="seen")
    assert len(dataset) == 400
    np.testing.assert_array_equal(dataset.numbers, np.flatnonzero(~seen))
    fitted = dataset.incumbent.fitted
    assert fitted.rows == 200
    np.testing.assert_array_equal(fitted.scores, frame["points"][seen])
    np.testing.assert_array_equal(fitted.y, (frame["good"] == "yes")[seen])
    assert "seen" not in [column.name for column in dataset.features]
    assert dataset.incumbent.trained_on == "seen"


def test_rows_that_lack_a_score_are_counted_apart():
    frame = table()
    frame.loc[:99, "points"] = np.nan
    frame["seen"] = (np.arange(600) < 150).astype(int)
    dataset = read(frame, incumbent_trained_on="seen")
    assert (len(dataset), dataset.incumbent.undecided, dataset.incumbent.fitted.rows) == (450, 100, 50)


def test_scores_of_low_values_are_turned():
    frame = table().assign(seen=lambda one: np.arange(len(one)) % 2)
    dataset = read(frame, incumbent_trained_on="seen", incumbent_lower_is_better=True)
    np.testing.assert_array_equal(dataset.incumbent.fitted.scores, -frame["points"][1::2])


def test_none_says_that_no_row_was_seen():
    dataset = read(table(), incumbent_trained_on="none")
    assert (len(dataset), dataset.incumbent.trained_on, dataset.incumbent.fitted) == (600, "none", None)


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        (["maybe", "no"], ColumnUnusable, "holds 'maybe'; mark the rows that the model in use was fitted on by 1"),
        ([2, 1], ColumnUnusable, "holds '2'; mark the rows"),
        ([1, 1], EmptyTable, "marks all 600 rows as those that the model in use was fitted on, so none is left"),
    ],
)
def test_other_marks_are_refused(values, error, words):
    frame = table().assign(seen=np.resize(values, 600))
    with pytest.raises(error, match=r"named as incumbent_trained_on \(--incumbent-trained-on\)") as caught:
        read(frame, incumbent_trained_on="seen")
    assert words in str(caught.value)


def test_columns_that_cannot_mark_are_refused():
    with pytest.raises(ColumnMissing, match="the table has no column 'sen', named as incumbent_trained_on"):
        read(table().assign(seen=0), incumbent_trained_on="sen")
    with pytest.raises(ColumnConflict, match="'points', named as incumbent_score"):
        read(table(), incumbent_trained_on="points")
    with pytest.raises(ConfigError, match=r"incumbent_trained_on \(--incumbent-trained-on\) is about the model in use"):
        Dataset.from_frame(table().assign(seen=0), **PLAN, incumbent_trained_on="seen")
