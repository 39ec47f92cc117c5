"""Encoding: fitted on the training rows alone."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from skops import io

from fairenum import errors
from fairenum.dataset import Dataset, Encoding, load_dataset

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
