"""The sizes of a split that is chosen for power, by what the table says of its rows, labels and columns."""

import numpy as np
import pandas as pd
import pytest

from fairenum.document.split_power import powerful_shares
from fairenum.errors import SplitImpossible
from fairenum.tables import Dataset, Encoding, split
from fairenum.tables.splitting import default_sizes


def table(rows=1000, seed=0, **columns):
    rng = np.random.default_rng(seed)
    plain = {
        "x": rng.normal(size=rows),
        "town": rng.choice(["a", "b", "c", None], rows),
        "zip": rng.choice([f"z{number}" for number in range(80)], rows),
        "only": "same",
        "sex": rng.permutation(np.resize(["f", "m"], rows)),
        "y": rng.permutation(np.resize([1, 0, 0, 0], rows)),
    }
    return pd.DataFrame({**plain, **columns})


def read(frame, **reading):
    return Dataset.from_frame(frame, "y", 1, "sex", **reading)


@pytest.mark.parametrize("max_levels", [5, 50, 100])
def test_columns_are_counted_as_they_are_encoded(max_levels):
    dataset = read(table(8000), max_levels=max_levels)
    columns = len(Encoding.fit(dataset, np.arange(len(dataset))).names)
    assert default_sizes(dataset, "linear") == powerful_shares(2000, columns)
    assert default_sizes(dataset, "rbf") == (0.5, 0.2, 0.3)


def test_rows_of_weight_0_do_not_count():
    frame = table(2000).drop(columns="zip")
    twice = pd.concat([frame.assign(w=1.0), frame.assign(w=0.0)])
    plain, weighted = read(frame), read(twice, weight="w")
    assert default_sizes(weighted, "linear") == default_sizes(plain, "linear") == powerful_shares(500, 5)


def test_labels_that_do_not_matter_to_the_rule_may_be_swapped():
    frame = table(2000)
    swapped = frame.assign(y=1 - frame["y"])
    assert default_sizes(read(frame), "linear") == default_sizes(read(swapped), "linear")


def test_marked_parts_give_their_own_shares_which_a_saved_run_may_ask_for_again():
    fold = np.resize(["train", "train", "dev", "test", "test", "test", "train"], 1000)
    dataset = read(table(fold=fold), split_column="fold")
    sizes = default_sizes(dataset, "linear")
    assert sizes == tuple(np.mean(fold == part) for part in ("train", "dev", "test"))
    np.testing.assert_array_equal(split(dataset, sizes).holdout, np.flatnonzero(fold == "test"))
    with pytest.raises(SplitImpossible, match="have no effect"):
        split(dataset, (0.4, 0.2, 0.4))


def test_a_quarter_of_the_rows_marked_train_selects():
    fold = np.resize(["train", "train", "train", "test"], 1000)
    dataset = read(table(fold=fold), split_column="fold")
    sizes = default_sizes(dataset, "linear")
    assert sizes == (0.5625, 0.1875, 0.25)
    parts = split(dataset, sizes)
    assert [len(rows) for rows in (parts.train, parts.selection, parts.holdout)] == [562, 188, 250]
    assert parts.sizes == sizes
