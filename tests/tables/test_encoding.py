"""Encoding: fitted on the training rows alone."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from skops import io

from fairenum import errors
from fairenum.tables import Dataset, Encoding, encoding, load_dataset

FRAME = pd.DataFrame(
    {
        "age": [20.0, 40.0, np.nan, 30.0, np.nan, 99.0],
        "job": ["b", "a", None, "a", "c", None],
        "town": ["u", "v", "u", "v", "w", None],
        "flag": [1, 1, 1, 1, 0, 0],
        "ok": [1, 0, 1, 0, 1, 0],
    }
)
TRAIN, REST = np.arange(4), np.arange(4, 6)


@pytest.fixture
def dataset():
    return Dataset.from_frame(FRAME, "ok", 1)


def test_columns_keep_the_tables_order_and_have_names(dataset):
    encoding = Encoding.fit(dataset, TRAIN)
    assert encoding.names == ("age", "job=a", "job=b", "job=(missing)", "town=u", "town=v")
    assert encoding.dropped == ("flag",)


def test_numbers_are_imputed_by_the_median_and_standardised_by_the_training_rows(dataset):
    ages = np.array([20, 40, 30, 30])
    matrix = Encoding.fit(dataset, TRAIN).transform(dataset)
    np.testing.assert_allclose(matrix[:4, 0], (ages - 30) / ages.std())
    np.testing.assert_allclose(matrix[4:, 0], [0, 69 / ages.std()])
    raw = Encoding.fit(dataset, TRAIN, standardise=False).transform(dataset)
    assert raw[:, 0].tolist() == [20, 40, 30, 30, 30, 99]


def test_texts_become_one_column_per_value_and_unseen_values_none(dataset):
    encoding = Encoding.fit(dataset, TRAIN)
    jobs = encoding.transform(dataset)[:, 1:4]
    assert jobs.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1], [1, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert encoding.unseen(dataset, REST) == {"job": 1, "town": 2}
    assert encoding.unseen(dataset, TRAIN) == {}
    assert encoding.unseen(dataset) == {"job": 1, "town": 2}


def test_a_value_called_missing_and_a_missing_one_keep_apart():
    frame = FRAME.assign(job=["(missing)", "a", None, "a", "c", None])
    encoding = Encoding.fit(Dataset.from_frame(frame, "ok", 1), TRAIN)
    assert encoding.names[1:4] == ("job=(missing)", "job=a", "job=((missing))")


def test_the_matrix_is_read_only_and_rows_can_be_chosen(dataset):
    encoding = Encoding.fit(dataset, TRAIN)
    matrix = encoding.transform(dataset, REST)
    np.testing.assert_array_equal(matrix, encoding.transform(dataset)[REST])
    assert not matrix.flags.writeable
    assert matrix.flags.c_contiguous


def test_training_rows_without_variation_are_refused(dataset):
    with pytest.raises(errors.ColumnConstant, match="no feature varies in the 1 training rows"):
        Encoding.fit(dataset, np.array([0]))


def test_a_pipeline_with_the_preprocessing_survives_export(dataset):
    encoding = Encoding.fit(dataset, TRAIN)
    model = SVC(kernel="linear").fit(encoding.transform(dataset, TRAIN), dataset.y[TRAIN])
    stored = io.dumps(make_pipeline(encoding.preprocessor, model))
    trusted = io.get_untrusted_types(data=stored)
    assert all(name.startswith(("numpy.", "sklearn.")) for name in trusted)
    np.testing.assert_array_equal(
        io.loads(stored, trusted=trusted).decision_function(dataset.frame()),
        model.decision_function(encoding.transform(dataset)),
    )


def test_german_in_ordinal_codes_is_the_benchmarks_matrix():
    german = load_dataset("german", use_sensitive=True, categorical="ordinal")
    encoding = Encoding.fit(german, np.arange(len(german)), standardise=False)
    matrix = encoding.transform(german)
    assert matrix.shape == (1000, 20)
    assert encoding.names[0] == "status"
    assert encoding.names[-1] == "foreign_worker"
    assert matrix[0].tolist() == [0, 6, 4, 4, 1169, 4, 4, 4, 2, 0, 4, 0, 67, 2, 1, 2, 2, 1, 1, 0]


def many_levels(rows: int, levels: int, seed: int = 0) -> pd.DataFrame:
    """A text column in which low numbers are frequent, and a missing cell now and then."""
    rng = np.random.default_rng(seed)
    towns = np.array([f"t{number}" for number in range(levels)], dtype=object)
    chosen = towns[np.minimum(rng.geometric(min(1.0, 4 / levels), rows) - 1, levels - 1)]
    chosen[rng.random(rows) < 0.02] = None
    return pd.DataFrame({"x": rng.normal(size=rows), "town": chosen, "ok": rng.integers(0, 2, rows)})


@settings(deadline=None, max_examples=40)
@given(st.integers(5, 30), st.integers(1, 12), st.integers(0, 100))
def test_the_most_frequent_values_keep_a_column_and_all_others_share_one(levels, most, seed):
    frame = many_levels(120, levels, seed)
    rows = np.arange(80)
    dataset = Dataset.from_frame(frame, "ok", 1, max_levels=most, categorical_columns="town")
    encoding = Encoding.fit(dataset, rows)
    counts = frame["town"][:80].value_counts(dropna=False)
    names, matrix = encoding.names[1:], encoding.transform(dataset)[:, 1:]
    assert len(names) == min(len(counts), most + 1)
    if len(counts) <= most:
        assert encoding.pooled == {}
        assert "town=(other)" not in names
        return
    assert encoding.pooled == {"town": len(counts) - most}
    assert encoding.unseen(dataset) == {}
    assert names[-1] == "town=(other)"
    written = ["(missing)" if pd.isna(town) else town for town in frame["town"]]
    kept = {name.removeprefix("town=") for name in names[:-1]}
    sizes = {("(missing)" if pd.isna(town) else town): count for town, count in counts.items()}
    assert min(sizes[name] for name in kept) >= max(count for name, count in sizes.items() if name not in kept)
    expected = [[town == name for name in [name.removeprefix("town=") for name in names[:-1]]] for town in written]
    np.testing.assert_array_equal(matrix[:, :-1], np.array(expected, dtype=float))
    np.testing.assert_array_equal(matrix.sum(1), 1.0)  # unseen values count as other, too


def test_a_real_value_called_other_keeps_apart():
    frame = many_levels(80, 9).assign(town=["(other)"] * 40 + [f"t{n}" for n in range(40)])
    encoding = Encoding.fit(Dataset.from_frame(frame, "ok", 1, max_levels=3), np.arange(80))
    assert encoding.names[1] == "town=(other)"
    assert encoding.names[-1] == "town=((other))"


def test_a_column_of_3000_values_makes_no_matrix_as_wide():
    rows, levels = 9000, 3000
    dataset = Dataset.from_frame(many_levels(rows, levels), "ok", 1)
    assert dataset.features[1].levels() > 2000
    tracemalloc.start()
    encoding = Encoding.fit(dataset, np.arange(rows))
    matrix = encoding.transform(dataset)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert matrix.shape == (rows, 102)
    assert sum(matrix[:, -1]) == rows - matrix[:, 1:-1].sum()
    assert peak < rows * levels * 8 / 4


def test_a_pooled_encoding_survives_export():
    dataset = Dataset.from_frame(many_levels(300, 50), "ok", 1, max_levels=5)
    encoding = Encoding.fit(dataset, np.arange(200))
    stored = io.dumps(encoding.preprocessor)
    trusted = io.get_untrusted_types(data=stored)
    assert all(name.startswith(("numpy.", "sklearn.")) for name in trusted)
    loaded = io.loads(stored, trusted=trusted)
    np.testing.assert_array_equal(loaded.transform(dataset.frame()), encoding.transform(dataset))


def test_a_matrix_beyond_memory_is_refused_with_numbers_before_it_is_made(monkeypatch):
    monkeypatch.setattr(encoding, "LARGEST_MATRIX", 500_000)
    frame = many_levels(900, 400)
    with pytest.raises(errors.TableTooLarge) as raised:
        Encoding.fit(Dataset.from_frame(frame, "ok", 1, max_levels=1000), np.arange(900))
    columns = 1 + frame["town"].nunique(dropna=False)
    assert f"900 rows in {columns} encoded columns take {(900 + columns) * columns * 8 / 1e9:.3g} GB" in str(
        raised.value
    )
    assert "'town' makes" in str(raised.value)
    assert "drop=['town'] (--drop town)" in str(raised.value)
    assert "max_levels=100 (--max-levels 100)" in str(raised.value)
    with pytest.raises(errors.TableTooLarge, match=r"--max-levels 50\)"):
        Encoding.fit(Dataset.from_frame(frame, "ok", 1), np.arange(900))
    assert Encoding.fit(Dataset.from_frame(frame, "ok", 1, max_levels=50), np.arange(900)).pooled
