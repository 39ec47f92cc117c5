"""What holds of every table."""

import numpy as np
import pandas as pd
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fairenum.errors import SplitImpossible
from fairenum.tables import Dataset, Encoding, merge_identical, split

PROFILE = settings(deadline=None, max_examples=60)
TEXTS = st.text(alphabet="ab &:()'\"1", max_size=6)


@st.composite
def datasets(draw, least=6):
    rows = draw(st.integers(least, 80))
    labels = draw(hnp.arrays(np.int64, rows, elements=st.integers(0, 1)))
    assume(0 < labels.sum() < rows)
    groups = draw(st.lists(st.sampled_from(["f", "m", "x", None]), min_size=rows, max_size=rows))
    assume(len(set(groups)) > 1)
    frame = pd.DataFrame({"x": np.arange(rows), "sex": groups, "y": labels})
    return Dataset.from_frame(frame, "y", 1, "sex")


SHARES = st.tuples(*[st.integers(1, 20)] * 3).map(lambda parts: tuple(part / sum(parts) for part in parts))


@PROFILE
@given(datasets(), SHARES, st.integers(0, 2**32 - 1))
def test_shares_that_sum_to_one_give_a_partition_with_both_labels_in_train(dataset, shares, seed):
    try:
        parts = split(dataset, shares, seed)
    except SplitImpossible:
        reject()
    joined = np.concatenate([parts.train, parts.selection, parts.holdout])
    assert sorted(joined) == list(range(len(dataset)))
    assert set(dataset.y[parts.train]) == {0, 1}
    for rows, share in zip((parts.train, parts.selection, parts.holdout), shares, strict=True):
        assert abs(len(rows) - share * len(dataset)) <= 1
        assert np.all(np.diff(rows) > 0)


@PROFILE
@given(datasets(least=20), st.integers(0, 1000))
def test_every_part_has_its_share_of_every_label(dataset, seed):
    try:
        parts = split(dataset, (0.5, 0.25, 0.25), seed)
    except SplitImpossible:
        reject()
    for label in (0, 1):
        total = np.count_nonzero(dataset.y == label)
        for rows, share in ((parts.train, 0.5), (parts.selection, 0.25), (parts.holdout, 0.25)):
            assert abs(np.count_nonzero(dataset.y[rows] == label) - share * total) <= 2


@PROFILE
@given(datasets(), st.data())
def test_counts_give_disjoint_parts_of_exactly_these_sizes(dataset, data):
    train = data.draw(st.integers(2, len(dataset)))
    selection = data.draw(st.integers(0, len(dataset) - train))
    holdout = data.draw(st.integers(0, len(dataset) - train - selection))
    try:
        parts = split(dataset, (train, selection, holdout), 5)
    except SplitImpossible:
        reject()
    sizes = [len(parts.train), len(parts.selection), len(parts.holdout)]
    assert sizes == [train, selection, holdout]
    assert len({*parts.train, *parts.selection, *parts.holdout}) == sum(sizes)


@PROFILE
@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(0, 30), st.integers(0, 3)),
        elements=st.sampled_from([0.0, -0.0, 1.0, 0.1, 0.1 + 1e-17, 0.30000000000000004, 0.3]),
    ),
    st.data(),
)
def test_merging_keeps_every_row_once_in_order_of_first_appearance(X, data):
    y = data.draw(hnp.arrays(np.float64, len(X), elements=st.sampled_from([-1.0, 1.0])))
    merged = merge_identical(X, y)
    rows = [(*row, label) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    distinct = list(dict.fromkeys(rows))
    assert [(*row, label) for row, label in zip(merged.X.tolist(), merged.y.tolist(), strict=True)] == distinct
    assert merged.copies.tolist() == [rows.count(row) for row in distinct]
    assert merged.first.tolist() == [rows.index(row) for row in distinct]
    np.testing.assert_array_equal(merged.X[merged.inverse], X)
    np.testing.assert_array_equal(merged.y[merged.inverse], y)


VALUES = st.one_of(
    st.integers(-5, 5), st.floats(-9, 9).map(lambda x: round(x, 2)), st.booleans(), TEXTS.filter(str.strip)
)


@PROFILE
@given(VALUES, VALUES, st.lists(st.booleans(), min_size=2, max_size=20), st.booleans())
def test_the_favourable_value_or_its_text_becomes_one(good, bad, chosen, as_text):
    assume(str(good).strip().casefold() != str(bad).strip().casefold() and good != bad)
    assume(0 < sum(chosen) < len(chosen))
    frame = pd.DataFrame(
        {"x": np.arange(len(chosen)), "y": pd.Series([good if c else bad for c in chosen], dtype=object)}
    )
    dataset = Dataset.from_frame(frame, "y", str(good) if as_text else good)
    assert dataset.y.tolist() == [int(c) for c in chosen]
    assert dataset.signs.tolist() == [1.0 if c else -1.0 for c in chosen]


@PROFILE
@given(st.lists(st.tuples(st.none() | TEXTS, st.none() | TEXTS), min_size=2, max_size=30))
def test_groups_have_different_names_and_tell_rows_apart_exactly_as_the_cells_do(cells):
    first, second = ([cell.strip() or None if cell else None for cell in column] for column in zip(*cells, strict=True))
    assume(len(set(first)) > 1 and len(set(second)) > 1)
    rows = len(cells)
    frame = pd.DataFrame({"x": range(rows), "y": [n % 2 for n in range(rows)], "a": first, "b: c": second})
    dataset = Dataset.from_frame(frame, "y", 1, ["a", "b: c"])
    expected = [first, second, list(zip(first, second, strict=True))]
    for groups, keys in zip([*dataset.sensitive, dataset.intersection], expected, strict=True):
        assert len(set(groups.names)) == len(groups.names) == len(set(keys))
        assert len(set(zip(groups.values, keys, strict=True))) == len(set(keys))


NUMBERS = st.one_of(st.none(), st.floats(-1e6, 1e6))
WORDS = st.one_of(st.none(), st.sampled_from(["a", "b", "c", "d"]))


@st.composite
def tables(draw, rows):
    numbers = draw(st.lists(NUMBERS, min_size=rows, max_size=rows))
    words = draw(st.lists(WORDS, min_size=rows, max_size=rows))
    return pd.DataFrame({"n": pd.Series(numbers, dtype=float), "w": pd.Series(words, dtype=object)})


@settings(PROFILE, max_examples=25)
@given(tables(8), tables(5), tables(5))
def test_an_encoding_depends_on_the_training_rows_alone(train, one_rest, other_rest):
    assume(min(len(set(train[column].dropna())) for column in train) > 1)
    rows = np.arange(8)
    encodings, matrices = [], []
    for rest in (one_rest, other_rest):
        frame = pd.concat([train, rest], ignore_index=True).assign(y=[0, 1, *[0] * 11])
        dataset = Dataset.from_frame(frame, "y", 1)
        encodings.append(Encoding.fit(dataset, rows))
        matrices.append(encodings[-1].transform(dataset, rows))
        whole = encodings[-1].transform(dataset)
        assert np.isfinite(whole).all()
        one_hot = whole[8:, 1:].sum(axis=1)
        assert (one_hot == 0).sum() == encodings[-1].unseen(dataset, np.arange(8, 13)).get("w", 0)
    assert encodings[0].names == encodings[1].names
    assert matrices[0].tobytes() == matrices[1].tobytes()
