"""A model in use is asked about every row: what it sees, what it says, and what is refused."""

import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC
from support.model_files import MODEL, NUMBERS, SEEN, assert_same, fitted, on_numbers, table

from fairenum.errors import ColumnConflict, ColumnMissing, EmptyTable, ModelError
from fairenum.tables.model_answers import answers


@settings(max_examples=10, deadline=None)
@given(st.permutations(["sex", *SEEN, "repaid"]))
def test_a_classifier_sees_its_columns_by_name_wherever_they_stand(order):
    assert_same(answers(MODEL, table()[order]), MODEL, table()[SEEN])


def test_a_classifier_sees_no_column_that_it_does_not_ask_for():
    class Nosy:
        feature_names_in_ = ("debt", "age")

        def predict(self, rows):
            self.saw = list(rows.columns)
            return [0] * len(rows)

    model = Nosy()
    assert answers(model, table()).decisions.tolist() == [0] * 60
    assert model.saw == ["debt", "age"]


def test_blanks_around_names_do_not_count():
    assert_same(answers(MODEL, table().rename(columns={"age": " age "})), MODEL, table()[SEEN])


def test_without_probabilities_the_decision_values_are_the_scores():
    model = fitted(LinearSVC())
    found = answers(model, table())
    np.testing.assert_array_equal(found.scores, model.decision_function(table()[SEEN]))
    assert found.scored == "yes"
    assert ((found.scores > 0) == (found.decisions == "yes")).all()


def test_three_classes_come_back_as_they_are_and_have_no_score():
    labels = np.arange(60) % 3
    model = fitted(LogisticRegression(), label=labels)
    found = answers(model, table())
    assert found.decisions.tolist() == model.predict(table()[SEEN]).tolist()
    assert (found.scores, found.scored) == (None, None)


def test_a_regressor_gives_scores_and_decides_nothing():
    model = fitted(LinearRegression(), label=table()["debt"])
    found = answers(model, table())
    assert (found.decisions, found.scored) == (None, None)
    np.testing.assert_array_equal(found.scores, model.predict(table()[SEEN]))


def test_columns_that_are_not_there_are_named():
    with pytest.raises(
        ColumnMissing, match=r"model \(Pipeline\) asks for 'age', 'town'.*the columns are 'sex', 'debt'"
    ):
        answers(MODEL, table().drop(columns=["age", "town"]))
    with pytest.raises(ColumnMissing, match=r"no such column; did you mean 'agee'\?"):
        answers(MODEL, table().rename(columns={"age": "agee"}))


def test_without_names_columns_are_taken_by_position_only_if_none_is_left():
    model = on_numbers()
    assert_same(answers(model, table()[NUMBERS]), model, table()[NUMBERS].to_numpy().view(Indexed))
    with pytest.raises(ColumnConflict, match=r"takes 2 columns and does not name them, and the table has 5 \('sex', "):
        answers(model, table())


class Indexed(np.ndarray):
    """An array that has the index of the table."""

    index = table().index


def test_what_says_nothing_about_columns_is_asked_to_be_a_function():
    class Silent:
        def predict(self, rows):
            raise AssertionError

    with pytest.raises(ColumnConflict, match=r"does not say which columns it takes.*lambda table"):
        answers(Silent(), table())


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (LogisticRegression, "LogisticRegression is a class; give a model of it that is fitted"),
        ({"a": 1}, "a dict is no model"),
        (None, "a NoneType is no model"),
    ],
)
def test_what_is_no_model_is_refused(model, words):
    with pytest.raises(ModelError, match=words):
        answers(model, table())


def test_what_a_classifier_raises_is_quoted_in_a_line():
    with pytest.raises(
        ModelError, match=r"^the model \(Pipeline\) failed .*: ValueError: Input X contains NaN"
    ) as failed:
        answers(MODEL, table().assign(debt=np.nan))
    assert "\n" not in str(failed.value)
    assert len(str(failed.value)) < 500


class Odd:
    """A classifier that gives any scores."""

    feature_names_in_ = ("age",)
    classes_ = (0, 1)

    def __init__(self, scores):
        self.scores = scores

    def predict(self, rows):
        return np.zeros(len(rows))

    def decision_function(self, rows):
        return self.scores


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([0.5, np.nan, np.nan], r"its score is nan in row 2 \(index 116\) \(2 such rows in all\)"),
        ([0.5, 1.0, -np.inf], "its score is -inf in row 3"),
        ([0.5, 1.0], "the table has 3 rows, and these are 2 answers"),
        (np.ones((3, 4)), "an array of 3 x 4"),
        (["a", "b", "c"], "a score is a number"),
    ],
)
def test_scores_that_rank_nothing_are_refused(scores, words):
    with pytest.raises(ModelError, match=words):
        answers(Odd(scores), table().head(3))


# --- functions and arrays ---


def test_a_function_sees_a_copy_of_the_table():
    frame = table()

    def decide(rows):
        rows["age"] += 1
        return np.where(rows["age"] > 40, "yes", "no")

    found = answers(decide, frame)
    assert found.decisions.tolist() == np.where(table()["age"] >= 40, "yes", "no").tolist()
    assert (found.scores, found.scored) == (None, None)
    pd.testing.assert_frame_equal(frame, table())


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (
            lambda rows: [1] * (len(rows) - 1),
            "the function '<lambda>': the table has 60 rows, and these are 59 answers",
        ),
        (lambda rows: 1, "one answer a row is needed, and this is a single int"),
        (lambda rows: np.ones((len(rows), 2)), "an array of 60 x 2"),
        (lambda rows: rows["income"], "failed on the rows of the table: KeyError: 'income'"),
        (lambda rows: sys.exit("enough"), "SystemExit: enough"),
    ],
)
def test_a_function_that_does_not_answer_is_one_clear_error(function, words):
    with pytest.raises(ModelError, match=words):
        answers(function, table())


@pytest.mark.parametrize(
    "given",
    [
        [1, "a", None],
        (1, "a", None),
        np.array([1, "a", None], dtype=object),
        np.array([[1], ["a"], [None]], dtype=object),
        pd.Series([1, "a", None], dtype=object),
        pd.DataFrame({"decided": pd.Series([1, "a", None], dtype=object)}),
    ],
)
def test_decisions_are_taken_by_position_and_as_they_are(given):
    found = answers(given, table().head(3))
    assert found.decisions.tolist() == [1, "a", None]
    assert found.decisions.index.tolist() == [118, 116, 114]


def test_decisions_under_the_names_of_the_rows_in_another_order_are_refused():
    frame = table().head(6)
    decisions = pd.Series([1, 0, 0, 1, 0, 1], index=frame.index)
    assert answers(decisions, frame).decisions.equals(decisions)
    with pytest.raises(ModelError, match=r"in another order.*reindex\(table.index\).*to_numpy\(\)"):
        answers(decisions.iloc[::-1], frame)
    assert answers(decisions.iloc[::-1].reindex(frame.index), frame).decisions.equals(decisions)
    # a function that wraps its answers in a series of its own may mean either, too
    shuffled = frame.reset_index(drop=True).iloc[::-1]
    with pytest.raises(ModelError, match="in another order"):
        answers(lambda rows: pd.Series((rows["age"] > 40).to_numpy()), shuffled)


def test_decisions_for_other_rows_than_there_are_are_refused():
    with pytest.raises(ModelError, match="the table has 60 rows, and these are 2 answers; give one a row"):
        answers([0, 1], table())
    with pytest.raises(ModelError, match="these are 0 answers"):
        answers([], table())
    with pytest.raises(EmptyTable):
        answers(MODEL, table().head(0))
