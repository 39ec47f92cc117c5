"""Models that are in use: a table, what was fitted to it, and ONNX files of linear classifiers, node by node."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pandas as pd
from onnx import TensorProto, helper
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

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


MODEL = fitted(LogisticRegression())


# --- ONNX files ---

OPSETS = [helper.make_opsetid("", 19), helper.make_opsetid("ai.onnx.ml", 3)]
Nodes = list[onnx.NodeProto]


def tensor(name: str, kind: int, *shape: int | None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def linear(model: LogisticRegression) -> onnx.NodeProto:
    """The node of a fitted model: from X to the class and the probabilities of a row."""
    is_binary = len(model.classes_) == 2
    weights = np.vstack([-model.coef_, model.coef_]) if is_binary else model.coef_
    biases = np.concatenate([-model.intercept_, model.intercept_]) if is_binary else model.intercept_
    is_text = model.classes_.dtype.kind in "UO"
    labels = {"classlabels_strings" if is_text else "classlabels_ints": model.classes_.tolist()}
    return helper.make_node(
        "LinearClassifier",
        ["X"],
        ["class", "probabilities"],
        domain="ai.onnx.ml",
        coefficients=weights.ravel().tolist(),
        intercepts=biases.tolist(),
        post_transform="LOGISTIC" if is_binary else "SOFTMAX",
        **labels,
    )


def joined(names: Sequence[str]) -> onnx.NodeProto:
    return helper.make_node("Concat", list(names), ["X"], axis=1)


def outputs_of(model: LogisticRegression, zipped: bool) -> tuple[Nodes, list[onnx.ValueInfoProto]]:
    is_text = model.classes_.dtype.kind in "UO"
    key = TensorProto.STRING if is_text else TensorProto.INT64
    if not zipped:
        return [], [tensor("class", key, None), tensor("probabilities", TensorProto.FLOAT, None, len(model.classes_))]
    labels = {"classlabels_strings" if is_text else "classlabels_int64s": model.classes_.tolist()}
    node = helper.make_node("ZipMap", ["probabilities"], ["zipped"], domain="ai.onnx.ml", **labels)
    each = helper.make_map_type_proto(key, helper.make_tensor_type_proto(TensorProto.FLOAT, ()))
    return [node], [tensor("class", key, None), helper.make_value_info("zipped", helper.make_sequence_type_proto(each))]


def save(
    path: Path,
    nodes: Nodes,
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    initializers: Sequence[onnx.TensorProto] = (),
    **said: str,
) -> Path:
    graph = helper.make_graph(nodes, "model", inputs, outputs, initializers)
    made = helper.make_model(graph, opset_imports=OPSETS, ir_version=9)
    helper.set_model_props(made, said)
    path.write_bytes(made.SerializeToString())
    return path


def save_by_name(path: Path, model: LogisticRegression, names: Sequence[str], *, zipped: bool = False) -> Path:
    """A file with an input for each column."""
    after, outputs = outputs_of(model, zipped)
    inputs = [tensor(name, TensorProto.FLOAT, None, 1) for name in names]
    return save(path, [joined(names), linear(model), *after], inputs, outputs)


def save_matrix(path: Path, model: LogisticRegression, **said: str) -> Path:
    """A file with one matrix as input."""
    _, outputs = outputs_of(model, False)
    return save(path, [linear(model)], [tensor("X", TensorProto.FLOAT, None, model.coef_.shape[1])], outputs, **said)
