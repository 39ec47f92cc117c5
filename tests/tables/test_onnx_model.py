"""Models in ONNX files: their inputs and outputs, and what is refused."""

import sys

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from sklearn.linear_model import LogisticRegression
from support.model_files import (
    NUMBERS,
    assert_same,
    joined,
    linear,
    on_numbers,
    outputs_of,
    save,
    save_by_name,
    save_matrix,
    table,
    tensor,
)

from fairenum.errors import ColumnConflict, ColumnMissing, ColumnUnusable, ModelError, ModelFileRefused, ReaderMissing
from fairenum.tables.model_answers import answers


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
