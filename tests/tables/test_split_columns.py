"""Splits that the table says itself: marked parts, the order of time, and rows that stay together."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from fairenum import errors
from fairenum.document.reading import Reading
from fairenum.tables import Dataset, split
from fairenum.tables.splitting import straddling

PROFILE = settings(deadline=None, max_examples=60)
COLUMN = {"split_column": "fold", "time_column": "when", "group_column": "firm"}


def table(rows=200, seed=0, **columns):
    rng = np.random.default_rng(seed)
    plain = {
        "x": rng.normal(size=rows),
        "sex": rng.permutation(np.resize(["f", "m"], rows)),
        "y": rng.integers(0, 2, rows),
    }
    return pd.DataFrame({**plain, **columns})


def read(frame, *options, **reading):
    return Dataset.from_frame(frame, "y", 1, "sex", **{one: COLUMN[one] for one in options}, **reading)


def drawn_with_both_labels(dataset, seed=0):
    """Split; the only thing that may be wrong with it is a label that the training rows lack."""
    try:
        return split(dataset, seed=seed)
    except errors.SplitImpossible as error:
        if "no training row has the label" not in str(error):
            raise
        return reject()


def parts_of(drawn):
    return drawn.train, drawn.selection, drawn.holdout


@pytest.mark.parametrize(
    "words", [("train", "selection", "holdout"), ("Training", " VALID", "Test "), ("train", "dev", "test")]
)
def test_marked_parts_are_taken_as_they_are(words):
    marks = np.random.default_rng(1).integers(0, 3, 200)
    dataset = read(table(fold=np.array(words)[marks]), "split_column")
    for part, rows in enumerate(parts_of(split(dataset, seed=5))):
        np.testing.assert_array_equal(rows, np.flatnonzero(marks == part))
    assert [column.name for column in dataset.features] == ["x"]


def test_train_and_test_leave_the_selection_to_be_drawn_from_train():
    fold = np.where(np.arange(400) % 4 == 0, "test", "train")
    dataset = read(table(400, fold=fold), "split_column")
    drawn, other = split(dataset, seed=1), split(dataset, seed=2)
    np.testing.assert_array_equal(drawn.holdout, np.flatnonzero(fold == "test"))
    np.testing.assert_array_equal(drawn.holdout, other.holdout)
    assert (len(drawn.train), len(drawn.selection)) == (225, 75)  # 0.6 : 0.2 of 300
    assert not np.array_equal(drawn.train, other.train)
    cells = dataset.intersection.codes * 2 + dataset.y
    learnt = np.flatnonzero(fold == "train")
    for cell in range(4):
        expected = 0.25 * np.count_nonzero(cells[learnt] == cell)
        assert abs(np.count_nonzero(cells[drawn.selection] == cell) - expected) <= 2


def test_the_selection_drawn_from_train_keeps_members_together():
    rng = np.random.default_rng(0)
    frame = table(300, firm=rng.integers(0, 60, 300))
    frame["fold"] = np.where(frame["firm"] < 15, "test", "train")
    dataset = read(frame, "split_column", "group_column")
    assert straddling(dataset, split(dataset)) == 0


def test_members_that_the_marks_tear_apart_are_counted():
    frame = table(6, firm=list("aabbcc"), fold=["train", "test", "train", "train", "test", "test"])
    frame["y"] = [1, 1, 0, 1, 0, 1]
    dataset = read(frame, "split_column", "group_column")
    assert straddling(dataset, split(dataset, (0.9, 0.0, 0.1))) == 1


@pytest.mark.parametrize(
    ("fold", "sizes", "fragment"),
    [
        (["train", "fit", ""], None, "'', 'fit'; its values are to be train, selection and holdout, or train and test"),
        (["train", "test", "holdout"], None, "both 'test' and 'holdout'"),
        (["train", "dev"], None, r"split_column \(--split-column\) marks none of 60 rows as holdout \(or test\)"),
        (["test", "dev"], None, "marks none of 60 rows as train"),
        (["train", "dev", "test"], (0.5, 0.3, 0.2), r"sizes \(0.5, 0.3, 0.2\) \(--split\) have no effect"),
        (["train", "test"], (0.5, 0.3), "are not three sizes"),
    ],
)
def test_marks_that_make_no_split_are_refused(fold, sizes, fragment):
    marked = list(itertools.islice(itertools.cycle(fold), 60))
    with pytest.raises(errors.DataError, match=fragment):
        split(read(table(60, fold=marked), "split_column"), *([sizes] if sizes else []))


def test_marked_training_rows_of_one_label_are_refused():
    frame = table(60, fold=["train", "dev", "test"] * 20)
    frame["y"] = (frame["fold"] != "train").astype(int)
    with pytest.raises(errors.SplitImpossible, match="no training row has the label '1'"):
        split(read(frame, "split_column"))


@PROFILE
@given(st.lists(st.integers(0, 12), min_size=12, max_size=60), st.integers(0, 100))
def test_time_is_cut_where_it_changes_as_near_to_the_sizes_as_that_allows(times, seed):
    frame = table(len(times), seed, when=times)
    frame["y"] = np.arange(len(times)) % 2
    different = len(set(times))
    dataset = read(frame, "time_column")
    if different < 3:
        with pytest.raises(errors.SplitImpossible, match=f"holds {different} different values"):
            split(dataset)
        return
    drawn = drawn_with_both_labels(dataset)
    train, selection, holdout = (frame["when"].to_numpy()[rows] for rows in parts_of(drawn))
    assert train.max() < selection.min()
    assert selection.max() < holdout.min()
    assert len(train) + len(selection) + len(holdout) == len(times)
    # no other place between two times is nearer to the share of train that leaves the other parts a time each
    ends = [np.count_nonzero(frame["when"] <= time) for time in sorted(set(times))][: different - 2]
    wanted = np.rint(0.6 * len(times))
    assert abs(len(train) - wanted) == min(abs(end - wanted) for end in ends)


@pytest.mark.parametrize(
    "written",
    [
        lambda days: days,
        lambda days: days.strftime("%Y-%m-%d"),
        lambda days: days.strftime("%d.%m.%Y"),
        lambda days: days.strftime("%m/%d/%Y"),
        lambda days: days.strftime("%Y-%m-%dT%H:%M:%S+02:00"),
        lambda days: days.date,
        lambda days: days.year * 1000 + days.day_of_year,
        lambda days: (days.year * 1000.5 + days.day_of_year).astype(str),
    ],
)
def test_dates_and_numbers_are_ordered_as_time_however_they_are_written(written):
    days = pd.date_range("2021-01-05", periods=200, freq="9D")
    order = np.random.default_rng(3).permutation(200)
    drawn = split(read(table(when=np.asarray(written(days), dtype=object)[order]), "time_column"))
    for rows, (low, high) in zip(parts_of(drawn), [(0, 120), (120, 160), (160, 200)], strict=True):
        assert sorted(order[rows]) == list(range(low, high))


@pytest.mark.parametrize(
    ("when", "fragment"),
    [
        (["2020-01-01", None], r"holds nothing in row 2, which is neither .* \(30 such rows in all\)"),
        (["2020-01-01", "soon"], r"time_column \(--split-by-time\), holds 'soon' in row 2"),
        ([1.0, np.inf], "holds 'inf' in row 2"),
        (["01/02/2020", "03/04/2020"], "day and month cannot be told apart"),
    ],
)
def test_times_that_cannot_be_read_are_refused_by_row(when, fragment):
    with pytest.raises(errors.ColumnUnusable, match=fragment):
        read(table(60, when=when * 30), "time_column")


@PROFILE
@given(st.data(), st.integers(0, 1000))
def test_members_stay_together_and_no_part_is_empty(data, seed):
    members = data.draw(st.lists(st.integers(0, 9), min_size=8, max_size=80))
    frame = table(len(members), seed, firm=members)
    frame["y"] = np.arange(len(members)) % 2
    dataset = read(frame, "group_column")
    if len(set(members)) < 3:
        with pytest.raises(errors.SplitImpossible, match="different values, whose rows stay together, for 3 parts"):
            split(dataset, seed=seed)
        return
    drawn = drawn_with_both_labels(dataset, seed)
    assert all(rows.size for rows in parts_of(drawn))
    assert sorted(np.concatenate(parts_of(drawn))) == list(range(len(members)))
    assert straddling(dataset, drawn) == 0


def test_parts_of_many_small_members_have_their_sizes_and_strata():
    rng = np.random.default_rng(7)
    frame = table(3000, firm=rng.geometric(0.002, 3000), race=rng.choice(list("abc"), 3000, p=[0.8, 0.15, 0.05]))
    dataset = Dataset.from_frame(frame, "y", 1, ["sex", "race"], group_column="firm")
    drawn, again, other = (split(dataset, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(drawn.train, again.train)
    assert not np.array_equal(drawn.train, other.train)
    cells = dataset.intersection.codes * 2 + dataset.y
    for rows, share in zip(parts_of(drawn), (0.6, 0.2, 0.2), strict=True):
        assert abs(len(rows) - share * 3000) <= 3
        for cell in range(12):
            assert abs(np.count_nonzero(cells[rows] == cell) - share * np.count_nonzero(cells == cell)) <= 4


def test_rows_about_nobody_stand_alone():
    frame = table(60, firm=[None] * 40 + ["one"] * 20)
    drawn = split(read(frame, "group_column"))
    assert [len(rows) for rows in parts_of(drawn)] == [36, 12, 12]
    assert straddling(read(frame, "group_column"), drawn) == 0


def test_what_no_part_claims_is_left_out():
    for column, values in {"group_column": np.arange(200) // 2, "time_column": np.arange(200)}.items():
        drawn = split(read(table(**{COLUMN[column]: values}), column), (100, 40, 20))
        assert [len(rows) for rows in parts_of(drawn)] == [100, 40, 20]


def test_time_goes_with_no_other_split():
    for other in ("split_column", "group_column"):
        with pytest.raises(errors.ConfigError, match=r"time_column \(--split-by-time\) and by " + other):
            Reading(time_column="when", **{other: "other"})


def test_columns_that_divide_play_no_other_part_but_may_be_dropped():
    frame = table(60, firm=np.arange(60) // 2)
    for label, sensitive, column in (("y", "sex", "y"), ("y", "sex", "sex")):
        with pytest.raises(errors.ColumnConflict, match=r"named as group_column \(--group-column\), has another role"):
            Dataset.from_frame(frame, label, 1, sensitive, group_column=column)
    with pytest.raises(errors.ColumnConflict, match="has another role"):
        Dataset.from_frame(frame, "y", 1, "sex", group_column="firm", split_column="firm")
    with pytest.raises(errors.ColumnMissing, match=r"no column 'frim', named as group_column \(--group-column\); did"):
        Dataset.from_frame(frame, "y", 1, "sex", group_column="frim")
    dataset = read(frame, "group_column", drop=["firm"])
    assert straddling(dataset, split(dataset)) == 0


def test_rows_that_are_taken_keep_what_is_said_about_them():
    frame = table(60, firm=np.arange(60) // 2, fold=["train", "dev", "test"] * 20)
    dataset = read(frame, "group_column", "split_column")
    taken = dataset.take(np.arange(0, 60, 4))
    for rows, word in zip(parts_of(split(taken)), ("train", "dev", "test"), strict=True):
        assert set(frame["fold"].to_numpy()[::4][rows]) == {word}
    assert (
        dataset.fingerprint
        != read(frame.assign(fold=["dev", "train", "test"] * 20), "group_column", "split_column").fingerprint
    )
    assert dataset.fingerprint == read(frame, "group_column", "split_column").fingerprint
