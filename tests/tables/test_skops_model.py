"""Models in skops files: what is read, and what is refused before it can do harm."""

import json
import pickle
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree
from skops.io import dump
from skops.io import load as load_skops
from support.model_files import MODEL, NUMBERS, SEEN, assert_same, fitted, table

from fairenum import audit
from fairenum.errors import ModelError, ModelFileRefused
from fairenum.tables.model_answers import answers


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
    monkeypatch.setattr("fairenum.tables.model_answers.LARGEST", 1000)
    with pytest.raises(ModelFileRefused, match="holds more than 1000 bytes"):
        answers(path, table())


def test_a_file_that_unpacks_to_more_than_is_read_is_refused(path, monkeypatch):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", b"0" * 100_000)
    monkeypatch.setattr("fairenum.tables.skops_model.LARGEST", 50_000)
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
