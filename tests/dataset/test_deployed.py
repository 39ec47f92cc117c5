"""A model in use is asked about every row: what it sees, what it says, and what is refused before it can do harm."""

import json
import pickle
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from onnx_files import joined, linear, outputs_of, save, save_by_name, save_matrix, tensor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree
from skops.io import dump
from skops.io import load as load_skops

from fairenum import audit
from fairenum.dataset.deployed import answers
from fairenum.errors import (
    ColumnConflict,
    ColumnMissing,
    ColumnUnusable,
    EmptyTable,
    ModelError,
    ModelFileRefused,
    ReaderMissing,
)

SEEN = ["age", "debt", "town"]
NUMBERS = ["age", "debt"]


def table(n: int = 60) -> pd.DataFrame:
    """Rows with an index of their own, a label and a group, which no model here may see."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"sex": rng.choice(["m", "w"], n), "age": rng.integers(18, 70, n), "debt": rng.normal(size=n)})
    frame["town"] = rng.choice(["u", "v"], n)
    frame["repaid"] = np.where(frame["age"] / 25 - frame["debt"] + rng.normal(size=n) > 1.7, "yes", "no")
    return frame.set_axis(np.arange(n)[::-1] * 2, axis="index")


def fitted(classifier, columns=tuple(SEEN), label=None):
    frame = table()
    encoder = make_column_transformer((OneHotEncoder(), ["town"]), (StandardScaler(), NUMBERS))
    return make_pipeline(encoder, classifier).fit(frame[list(columns)], frame["repaid"] if label is None else label)


def on_numbers(labels=None):
    """A classifier of the two columns of numbers."""
    frame = table()
    return LogisticRegression(max_iter=1000).fit(
        frame[NUMBERS].to_numpy(), frame["repaid"] if labels is None else labels
    )


def assert_same(found, model, frame, tolerance=1e-12):
    """The answers are those of the model itself, row by row."""
    assert found.decisions.index.equals(frame.index)
    assert found.decisions.tolist() == model.predict(frame).tolist()
    assert found.scored == model.classes_[1]
    assert found.scores.index.equals(frame.index)
    np.testing.assert_allclose(found.scores, model.predict_proba(frame)[:, 1], atol=tolerance)


# --- classifiers ---


MODEL = fitted(LogisticRegression())


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


# --- skops files ---


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


@pytest.mark.parametrize(
    "classifier",
    [
        LogisticRegression(),
        RandomForestClassifier(5, random_state=0),
        BaggingClassifier(n_estimators=3, max_features=0.5, random_state=0),
        GradientBoostingClassifier(n_estimators=5),
        CalibratedClassifierCV(DecisionTreeClassifier(max_depth=3), cv=2),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2, scoring="roc_auc"),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
def test_a_skops_file_answers_as_the_model_in_it(path, classifier):
    model = fitted(classifier)
    dump(model, path)
    assert_same(answers(str(path), table()), model, table()[SEEN])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_model_that_fairenum_exports_can_be_the_model_in_use(path, kernel):
    frame = table(120)
    result = audit(frame, "repaid", "yes", "sex", k=1, replications=50, search="exact", kernel=kernel)
    result.export(path, 1)
    found, model = answers(path, frame), result.estimator(1)
    assert found.decisions.tolist() == model.predict(frame[SEEN]).tolist()
    assert found.scored == "yes"
    np.testing.assert_allclose(found.scores, model.decision_function(frame[SEEN]), atol=1e-12)


def altered(path, change):
    """Write a skops file again with another schema."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["schema.json"] = change(files["schema.json"].decode()).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def test_no_code_of_a_hostile_file_is_run(path, tmp_path, monkeypatch):
    sprung = tmp_path / "sprung"
    (tmp_path / "fairenum_trap.py").write_text(f"open({str(sprung)!r}, 'w').close()\nLogisticRegression = dict\n")
    monkeypatch.syspath_prepend(tmp_path)
    dump(MODEL, path)
    altered(path, lambda schema: schema.replace("sklearn.linear_model._logistic", "fairenum_trap"))
    with pytest.raises(
        ModelFileRefused, match=r"'model.skops' holds 'fairenum_trap.LogisticRegression'.*no code"
    ) as one:
        answers(path, table())
    assert "save the model as ONNX" in str(one.value)
    assert "--incumbent COLUMN" in str(one.value)
    assert not sprung.exists()
    assert "fairenum_trap" not in sys.modules
    # it is a trap: whoever trusts the type springs it
    with pytest.raises(Exception):  # noqa: B017 - what is made there is no model
        load_skops(path, trusted=["fairenum_trap.LogisticRegression", "numpy.dtype"]).predict(table())
    assert sprung.exists()
    sys.modules.pop("fairenum_trap")


def test_functions_out_of_a_file_are_not_trusted(path):
    dump(MODEL, path)
    call = json.dumps({"__class__": "system", "__module__": "os", "__loader__": "FunctionNode", "__id__": 1})
    altered(path, lambda schema: json.dumps({**json.loads(schema), "content": json.loads(call)}))
    with pytest.raises(ModelFileRefused, match=r"'os.system', not among the types"):
        answers(path, table())


def test_types_that_can_end_the_process_are_not_trusted(path):
    dump(fitted(KNeighborsClassifier(algorithm="kd_tree")), path)
    with pytest.raises(ModelFileRefused, match="KDTree"):
        answers(path, table())


def false_tree(field, value, node=0):
    """A decision tree with one false number."""
    model = DecisionTreeClassifier(max_depth=3).fit(table()[NUMBERS], table()["repaid"])
    state = model.tree_.__getstate__()
    state["nodes"] = state["nodes"].copy()
    state["nodes"][field][node] = value
    model.tree_.__setstate__(state)
    return model


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("left_child", 10**9),
        ("right_child", 0),
        ("left_child", -7),
        ("feature", 10**9),
        ("feature", 2),
        ("feature", -2),
    ],
)
def test_a_tree_that_leads_out_of_itself_is_refused(path, field, value):
    dump(false_tree(field, value), path)
    with pytest.raises(ModelFileRefused, match="decision tree that points outside"):
        answers(path, table())


def test_a_tree_without_nodes_is_refused(path):
    model = DecisionTreeClassifier().fit(table()[NUMBERS], table()["repaid"])
    model.tree_ = Tree(2, np.array([2]), 1)
    dump(model, path)
    with pytest.raises(ModelFileRefused, match="decision tree that points outside"):
        answers(path, table())


def forest_of(trees, **attributes):
    forest = RandomForestClassifier(2).fit(table()[NUMBERS], table()["repaid"])
    forest.estimators_ = trees
    for name, value in attributes.items():
        setattr(forest, name, value)
    return forest


def wide_tree():
    rng = np.random.default_rng(0)
    return DecisionTreeClassifier().fit(rng.normal(size=(40, 50)), np.arange(40) % 2)


@pytest.mark.parametrize(
    "hostile",
    [
        lambda: forest_of([wide_tree()]),
        lambda: forest_of([], extra={"held": [false_tree("feature", 99)]}),
        lambda: forest_of([], extra=wide_tree().tree_),
        lambda: forest_of([], predict=np.add),
    ],
    ids=["wider than its forest", "deep inside", "without an owner", "a method replaced"],
)
def test_a_tree_is_found_wherever_it_hides(path, hostile):
    model = hostile()
    model.estimators_ = [*model.estimators_, DecisionTreeClassifier().fit(table()[NUMBERS], table()["repaid"])]
    dump(model, path)
    with pytest.raises(ModelFileRefused, match="decision tree that points outside"):
        answers(path, table())


@settings(max_examples=10, deadline=None)
@given(st.floats(0.0, 0.99))
def test_a_file_that_is_cut_short_is_one_clear_error(tmp_path_factory, share):
    whole = tmp_path_factory.getbasetemp() / "whole.skops"
    if not whole.exists():
        dump(MODEL, whole)
    cut = whole.with_name("cut.skops")
    content = whole.read_bytes()
    cut.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ModelFileRefused, match=r"'cut.skops' is no skops file or a damaged one \("):
        answers(cut, table())


@pytest.mark.parametrize("schema", ["{}", "[]", "{", '{"protocol": 99}', "[" * 5000])
def test_a_schema_of_nonsense_is_one_clear_error(path, schema):
    dump(MODEL, path)
    altered(path, lambda _: schema)
    with pytest.raises(ModelFileRefused, match="no skops file or a damaged one"):
        answers(path, table())


def test_a_file_that_is_larger_than_is_read_is_refused(path, monkeypatch):
    dump(MODEL, path)
    monkeypatch.setattr("fairenum.dataset.model_files.LARGEST", 1000)
    with pytest.raises(ModelFileRefused, match="holds more than 1000 bytes"):
        answers(path, table())


def test_a_file_that_unpacks_to_more_than_is_read_is_refused(path, monkeypatch):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", b"0" * 100_000)
    monkeypatch.setattr("fairenum.dataset.skops_model.LARGEST", 50_000)
    with pytest.raises(ModelFileRefused, match="the most that is read; give its decisions"):
        answers(path, table())


def test_a_model_without_insides_is_one_clear_error(path):
    model = fitted(LogisticRegression())
    del model[-1].coef_
    dump(model, path)
    with pytest.raises(ModelError, match=r"the model in 'model.skops' failed on the rows"):
        answers(path, table())


def test_something_else_than_a_model_in_a_file_is_refused(path):
    dump({"a": 1}, path)
    with pytest.raises(ModelError, match=r"the model in 'model.skops' is a dict, which decides nothing"):
        answers(path, table())


@pytest.mark.parametrize("name", ["m.pkl", "m.joblib", "m.pickle", "M.PKL"])
def test_a_pickle_is_not_opened(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(pickle.dumps(MODEL))
    with pytest.raises(ModelFileRefused, match=r"is a pickle by its name.*not opened.*skops.io.dump or as ONNX"):
        answers(path, table())


def test_files_that_are_not_read_here_are_named(tmp_path):
    with pytest.raises(ModelFileRefused, match=r"has the suffix '.pt', and models are read from .skops and .onnx"):
        answers(tmp_path / "m.pt", table())
    with pytest.raises(ModelFileRefused, match="is not there"):
        answers(tmp_path / "m.skops", table())
    (tmp_path / "d.onnx").mkdir()
    with pytest.raises(ModelFileRefused, match="is a directory"):
        answers(tmp_path / "d.onnx", table())


# --- ONNX files ---


@pytest.fixture
def onnx(tmp_path):
    return tmp_path / "model.onnx"


class ByPosition:
    """A model that was fitted to an array, asked with a frame."""

    def __init__(self, model):
        self.model, self.classes_ = model, model.classes_

    def predict(self, frame):
        return self.model.predict(frame[NUMBERS].to_numpy())

    def predict_proba(self, frame):
        return self.model.predict_proba(frame[NUMBERS].to_numpy())


@pytest.mark.parametrize("labels", ["texts", "numbers"])
@pytest.mark.parametrize("zipped", [True, False])
def test_an_onnx_file_answers_as_the_model_in_it(onnx, labels, zipped):
    model = on_numbers(None if labels == "texts" else (table()["repaid"] == "yes").astype(int))
    save_by_name(onnx, model, NUMBERS, zipped=zipped)
    assert_same(answers(onnx, table()), ByPosition(model), table(), tolerance=1e-5)


@pytest.mark.parametrize("said", ["age,debt", '["age", "debt"]', " age , debt "])
def test_a_matrix_is_made_of_the_columns_that_the_file_names(onnx, said):
    model = on_numbers()
    save_matrix(onnx, model, feature_names=said)
    assert_same(answers(onnx, table()[["debt", "repaid", "age"]]), ByPosition(model), table(), tolerance=1e-5)


def test_a_matrix_without_names_takes_a_table_that_is_just_as_wide(onnx):
    model = on_numbers()
    save_matrix(onnx, model)
    assert_same(answers(onnx, table()[NUMBERS]), ByPosition(model), table(), tolerance=1e-5)
    with pytest.raises(
        ColumnConflict, match=r"wants 'X' \(tensor\(float\), \[None, 2\]\), and the table has 5 columns"
    ):
        answers(onnx, table())


@pytest.mark.parametrize(
    ("said", "error", "words"),
    [
        ("age,income", ColumnMissing, "asks for 'income', and the table has no such column"),
        ("age,debt,town", ModelError, "names 3 columns in 'feature_names' and wants 2"),
    ],
)
def test_names_in_a_file_that_do_not_fit_are_refused(onnx, said, error, words):
    save_matrix(onnx, on_numbers(), feature_names=said)
    with pytest.raises(error, match=words):
        answers(onnx, table())


def test_an_onnx_file_with_other_inputs_is_one_clear_error(onnx):
    save_by_name(onnx, on_numbers(), ["age", "income"])
    with pytest.raises(ColumnConflict, match=r"wants 'age' .*, 'income' .* the table has 5 columns \('sex', 'age', "):
        answers(onnx, table())


def mixed_inputs(onnx):
    """A model of a number, a whole number and a text, each an input of its own type."""
    frame = table()
    rows = np.column_stack([frame["debt"], frame["age"], frame["town"] == "u"])
    model = LogisticRegression(max_iter=1000).fit(rows, frame["repaid"])
    nodes = [
        helper.make_node("Cast", ["debt"], ["number"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["age"], ["whole"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["town", "one"], ["standing"]),
        helper.make_node("Equal", ["standing", "u"], ["is_u"]),
        helper.make_node("Cast", ["is_u"], ["text"], to=TensorProto.FLOAT),
        joined(["number", "whole", "text"]),
        linear(model),
    ]
    inputs = [
        tensor("debt", TensorProto.DOUBLE, None, 1),
        tensor("age", TensorProto.INT64, None, 1),
        tensor("town", TensorProto.STRING, None),
    ]
    constants = [
        helper.make_tensor("u", TensorProto.STRING, [1], [b"u"]),
        numpy_helper.from_array(np.array([1]), "one"),
    ]
    save(onnx, nodes, inputs, outputs_of(model, False)[1], constants)
    return model, rows


def test_inputs_have_types_of_their_own(onnx):
    model, rows = mixed_inputs(onnx)
    found = answers(onnx, table().astype({"age": float}))
    assert found.decisions.tolist() == model.predict(rows).tolist()
    np.testing.assert_allclose(found.scores, model.predict_proba(rows)[:, 1], atol=1e-5)


def test_an_empty_text_is_a_text_like_no_other(onnx):
    model, rows = mixed_inputs(onnx)
    rows[:, 2] = 0.0
    assert answers(onnx, table().assign(town=None)).decisions.tolist() == model.predict(rows).tolist()


@pytest.mark.parametrize(
    ("column", "cells", "words"),
    [
        ("age", 30.5, "wants whole numbers in column 'age'"),
        ("age", np.nan, "wants whole numbers in column 'age'"),
        ("age", "old", "wants numbers in column 'age', which holds texts"),
    ],
)
def test_cells_that_an_input_cannot_take_are_refused(onnx, column, cells, words):
    mixed_inputs(onnx)
    with pytest.raises(ColumnUnusable, match=words):
        answers(onnx, table().assign(**{column: cells}))


def test_three_classes_of_a_file_come_back_as_they_are(onnx):
    labels = np.array(["a", "b", "c"])[np.arange(60) % 3]
    model = on_numbers(labels)
    for zipped in (True, False):
        found = answers(save_by_name(onnx, model, NUMBERS, zipped=zipped), table())
        assert found.decisions.tolist() == ByPosition(model).predict(table()).tolist()
        assert (found.scores, found.scored) == (None, None)


def test_a_file_of_scores_alone_decides_nothing(onnx):
    node = helper.make_node("Neg", ["debt"], ["score"])
    save(onnx, [node], [tensor("debt", TensorProto.FLOAT, None, 1)], [tensor("score", TensorProto.FLOAT, None, 1)])
    found = answers(onnx, table())
    assert (found.decisions, found.scored) == (None, None)
    np.testing.assert_allclose(found.scores, -table()["debt"], rtol=1e-6)
    with pytest.raises(ModelError, match="its score is nan in row 1"):
        answers(onnx, table().assign(debt=np.nan))


@pytest.mark.parametrize(("higher", "operator"), [(True, "Greater"), (False, "Less")])
def test_a_score_beside_decisions_speaks_for_the_class_that_it_goes_with(onnx, higher, operator):
    zero = numpy_helper.from_array(np.array(0.0, dtype=np.float32), "zero")
    nodes = [
        helper.make_node("Identity", ["debt"], ["score"]),
        helper.make_node(operator, ["debt", "zero"], ["is_bad"]),
    ]
    outputs = [tensor("is_bad", TensorProto.BOOL, None, 1), tensor("score", TensorProto.FLOAT, None, 1)]
    save(onnx, nodes, [tensor("debt", TensorProto.FLOAT, None, 1)], outputs, [zero])
    found = answers(onnx, table())
    assert found.scored is higher
    assert found.decisions.tolist() == ((table()["debt"] > 0) == higher).tolist()


def test_a_file_that_gives_neither_class_nor_score_is_one_clear_error(onnx):
    node = helper.make_node("Concat", ["debt"] * 5, ["many"], axis=1)
    save(onnx, [node], [tensor("debt", TensorProto.FLOAT, None, 1)], [tensor("many", TensorProto.FLOAT, None, 5)])
    with pytest.raises(ModelError, match=r"gives 'many' \(tensor\(float\), \[None, 5\]\), and none of it is one class"):
        answers(onnx, table())


def test_an_input_that_no_column_can_be_is_refused(onnx):
    node = helper.make_node("Identity", ["debt"], ["score"])
    kinds = (TensorProto.UINT8, None, 1)
    save(onnx, [node], [tensor("debt", *kinds)], [tensor("score", *kinds)])
    with pytest.raises(ModelError, match=r"wants 'debt' \(tensor\(uint8\).*columns are given as tensor\(float\)"):
        answers(onnx, table())


def test_what_the_file_cannot_compute_is_quoted(onnx):
    node = helper.make_node("Reshape", ["debt", "shape"], ["score"])
    shape = numpy_helper.from_array(np.array([7, 7]), "shape")
    save(
        onnx, [node], [tensor("debt", TensorProto.FLOAT, None, 1)], [tensor("score", TensorProto.FLOAT, 7, 7)], [shape]
    )
    with pytest.raises(ModelError, match=r"^the model in 'model.onnx' failed on the rows of the table: \w+: .*Reshape"):
        answers(onnx, table())


def test_an_onnx_file_that_is_damaged_is_one_clear_error(onnx):
    content = save_by_name(onnx, on_numbers(), NUMBERS).read_bytes()
    for damaged in (content[: len(content) // 2], b"", b"nonsense", content[10:]):
        onnx.write_bytes(damaged)
        with pytest.raises(ModelFileRefused, match=r"'model.onnx' is no ONNX file that can be run here \("):
            answers(onnx, table())


def test_an_onnx_file_reads_no_other_file(onnx, tmp_path, monkeypatch):
    (tmp_path / "weights").write_bytes(np.ones(1, dtype=np.float32).tobytes())
    monkeypatch.chdir(tmp_path)
    outside = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    outside.ClearField("float_data")
    outside.data_location = TensorProto.EXTERNAL
    outside.external_data.add(key="location", value="weights")
    node = helper.make_node("Mul", ["debt", "w"], ["score"])
    save(
        onnx,
        [node],
        [tensor("debt", TensorProto.FLOAT, None, 1)],
        [tensor("score", TensorProto.FLOAT, None, 1)],
        [outside],
    )
    with pytest.raises(ModelFileRefused, match=r"all of it in one file"):
        answers(onnx, table())


def test_an_operator_of_ones_own_is_refused(onnx):
    node = helper.make_node("Shell", ["debt"], ["score"], domain="own")
    save(onnx, [node], [tensor("debt", TensorProto.FLOAT, None, 1)], [tensor("score", TensorProto.FLOAT, None, 1)])
    with pytest.raises(ModelFileRefused, match="standard operators"):
        answers(onnx, table())


def test_without_onnxruntime_the_extra_is_named(onnx, monkeypatch):
    save_by_name(onnx, on_numbers(), NUMBERS)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ReaderMissing, match=r"pip install 'fairenum\[onnx\]'"):
        answers(onnx, table())
