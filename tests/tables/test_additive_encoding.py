"""The additive encoding: 0/1 columns for cut points beside each number, learned from the training rows alone."""

import numpy as np
import pandas as pd
import pytest
from skops import io

from fairenum import errors
from fairenum.svm.sparse_or_dense import dense, is_sparse
from fairenum.tables import Dataset, Encoding, encoding
from fairenum.tables.cut_points import cut_points
from fairenum.tables.skops_model import load_skops
from fairenum.tables.splitting import default_sizes

TRAIN = np.arange(400)


def people(rows: int = 600, seed: int = 0) -> pd.DataFrame:
    """People of whom the middle-aged are hired, with missing numbers, a flag, texts between numbers, and weights."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 70, rows).astype(float),
            "job": rng.choice(["clerk", "cook", None], rows),
            "flag": rng.integers(0, 2, rows),
            "pay": rng.lognormal(3, 1, rows).round(1),
            "town": rng.choice(["u", "v"], rows),
            "size": rng.normal(size=rows),
        }
    )
    frame["ok"] = np.where(np.abs(frame["age"] - 44) + 8 * rng.normal(size=rows) < 12, "yes", "no")
    frame.loc[rng.random(rows) < 0.1, "pay"] = np.nan
    frame["w"] = rng.choice([1.0, 2.0, 5.0], rows)
    return frame


def dataset(frame: pd.DataFrame | None = None, **options: object) -> Dataset:
    frame = people() if frame is None else frame
    return Dataset.from_frame(frame, "ok", "yes", **{"drop": ["w"], **options})


def additive(table: Dataset, rows: np.ndarray = TRAIN, *, standardise: bool = True) -> Encoding:
    return Encoding.fit(table, rows, standardise=standardise, features="additive")


def test_each_number_is_followed_by_its_cut_points():
    table, frame = dataset(), people()
    found = additive(table)
    owners = [name.split(" ")[0].partition("=")[0] for name in found.names]
    assert list(dict.fromkeys(owners)) == ["age", "job", "flag", "pay", "town", "size"]
    assert owners == sorted(owners, key=[*dict.fromkeys(owners)].index)
    matrix, names = dense(found.transform(table)), list(found.names)
    for place, name in enumerate(names):
        feature, _, condition = name.partition(" ")
        if not condition:
            continue
        cells, (sign, _, limit) = frame[feature], condition.partition(" ")
        expected = cells > float(limit) if sign == ">" else cells <= float(limit) if sign == "<=" else cells.isna()
        np.testing.assert_array_equal(matrix[:, place], expected.to_numpy(float), name)
    assert names[owners.index("pay") + owners.count("pay") - 1] == "pay missing"
    assert (owners.count("flag"), owners.count("job")) == (1, 3)
    assert [name for name, is_added in zip(names, found.added, strict=True) if is_added] == [
        name for name in names if " " in name
    ]


@pytest.mark.parametrize("standardise", [True, False])
def test_the_other_columns_are_those_of_the_linear_encoding(standardise):
    table = dataset()
    found, linear = additive(table, standardise=standardise), Encoding.fit(table, TRAIN, standardise=standardise)
    shared = dense(found.transform(table))[:, ~found.added]
    np.testing.assert_allclose(shared, dense(linear.transform(table)), rtol=0, atol=1e-12)
    assert tuple(np.array(found.names)[~found.added]) == linear.names
    assert (found.unseen(table), found.pooled) == (linear.unseen(table), linear.pooled)


def test_cut_points_are_those_of_the_training_rows_and_their_weights():
    frame = people()
    weighted = dataset(drop=[], weight="w")
    for table, weights in ((dataset(), None), (weighted, weighted.relative(TRAIN))):
        for one in additive(table).described():
            if one.kind == "numeric":
                x = frame[one.name].to_numpy(float)[TRAIN]
                labels = (frame["ok"] == "yes").to_numpy(int)[TRAIN]
                assert list(one.cuts) == cut_points(x, labels, weights, fewest=20).tolist()
    assert additive(weighted).names != additive(dataset()).names


def test_rows_beside_the_training_rows_change_nothing():
    frame, others = people(), people(seed=1)
    frame.loc[400:, ["age", "pay", "size", "ok"]] = others.loc[400:, ["age", "pay", "size", "ok"]]
    first, second = additive(dataset()), additive(dataset(frame))
    assert first.described() == second.described()
    changed = dataset(frame.assign(ok=np.where(np.arange(600) < 400, frame["ok"], "no")))
    assert additive(changed).described() == first.described()


@pytest.mark.parametrize("standardise", [True, False])
def test_a_described_row_is_the_encoded_row(standardise):
    table = dataset()
    found = additive(table, standardise=standardise)
    matrix, frame = dense(found.transform(table)), table.frame()
    for row in range(0, 600, 7):
        cells = {name: None if pd.isna(cell) else cell for name, cell in frame.loc[row].items()}
        numbers = [number for one in found.described() for number in one.encoded(cells[one.name])]
        assert numbers == matrix[row].tolist()


def test_a_large_table_stays_sparse_and_a_small_one_dense():
    rng = np.random.default_rng(0)
    spent = np.where(rng.random((40_000, 6)) < 0.9, 0.0, rng.lognormal(size=(40_000, 6)))
    frame = pd.DataFrame(spent, columns=[*"abcdef"]).assign(ok=rng.integers(0, 2, 40_000))
    table = Dataset.from_frame(frame, "ok", 1)
    found = additive(table, np.arange(20_000))
    assert is_sparse(found.transform(table))
    assert not is_sparse(found.transform(table, TRAIN))
    np.testing.assert_array_equal(dense(found.transform(table))[:400], found.transform(table, TRAIN))


def test_a_matrix_too_large_is_refused_with_the_way_out(monkeypatch):
    table = dataset()
    size = additive(table).transform(table).nbytes
    monkeypatch.setattr(encoding, "LARGEST_MATRIX", size)
    Encoding.fit(table, TRAIN)
    with pytest.raises(errors.TableTooLarge, match=r"features='linear' \(--features linear\)"):
        additive(table)


def test_the_default_split_does_not_depend_on_labels_through_cut_points():
    frame = people()
    shuffled = frame.assign(ok=frame["ok"].sample(frac=1.0, random_state=0).to_numpy())
    assert default_sizes(dataset(frame), "linear") == default_sizes(dataset(shuffled), "linear")


def test_the_preprocessing_survives_a_file(tmp_path):
    table = dataset()
    found = additive(table)
    io.dump(found.preprocessor, tmp_path / "p.skops")
    loaded = load_skops(tmp_path / "p.skops")
    np.testing.assert_array_equal(loaded.transform(table.frame()), found.preprocessor.transform(table.frame()))
    assert Encoding((), (), loaded).described() == found.described()
