"""The result: saved, loaded, refused, exported."""

from __future__ import annotations

import json
import os

import numpy as np
import pandas as pd
import pytest
from documents import audit_document, gap
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.pipeline import Pipeline
from skops.io import get_untrusted_types
from skops.io import load as load_skops

from fairenum.audit import AuditResult, audit
from fairenum.audit.calibration import calibrate
from fairenum.audit.cautions import cautions
from fairenum.audit.classifier import KernelClassifier
from fairenum.audit.result import write_atomically
from fairenum.errors import ResultError


def table(n: int = 160) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.integers(0, 3, n), "b": rng.normal(size=n), "t": rng.choice(["u", "v", "w"], n)})
    frame.loc[::11, "t"] = None
    frame.loc[::13, "b"] = np.nan
    frame["g"] = rng.choice(["p", "q"], n)
    frame["y"] = np.where(frame["a"] + frame["b"].fillna(0) + rng.normal(size=n) > 1, "good", "bad")
    return frame


def run(**options) -> AuditResult:
    return audit(table(), "y", "good", "g", k=4, replications=50, search="exact", **options)


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return run()


def test_a_saved_result_is_the_same(result, tmp_path):
    path = tmp_path / "run.json"
    result.save(path)
    loaded = AuditResult.load(path)
    assert loaded.document == json.loads(result.to_json())
    assert loaded.to_json() == result.to_json()
    assert repr(loaded).startswith("AuditResult('table', models=4, selected=")
    assert loaded.selected == loaded.model(loaded.document["selection"]["rank"])
    assert os.listdir(tmp_path) == ["run.json"]


def test_a_loaded_result_has_no_estimators(result, tmp_path):
    result.save(tmp_path / "run.json")
    with pytest.raises(ResultError, match="run the audit again"):
        _ = AuditResult.load(tmp_path / "run.json").selected_estimator
    with pytest.raises(ResultError, match="no model of rank 9; its ranks are 1 to 4"):
        result.estimator(9)


def test_an_old_file_survives_a_failed_write(tmp_path, monkeypatch):
    path = tmp_path / "run.json"
    path.write_text("old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ResultError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["run.json"]

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, b"new")
    assert os.listdir(tmp_path) == ["run.json"]
    with pytest.raises(ResultError, match="No such file"):
        write_atomically(tmp_path / "nowhere" / "run.json", b"new")


def test_a_written_file_has_usual_permissions(tmp_path):
    write_atomically(tmp_path / "ours", b"")
    (tmp_path / "usual").touch()
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is no JSON"),
        ("[1, 2]", "no schema_version"),
        ('{"schema_version": "9.0"}', "has schema version '9.0', this fairenum reads '1.0'"),
        ('{"schema_version": "1.0"}', "no valid audit"),
        ("\x80", "is no JSON"),
    ],
)
def test_what_is_no_audit_is_refused(tmp_path, content, message):
    path = tmp_path / "run.json"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(ResultError, match=message):
        AuditResult.load(path)


def test_a_tampered_document_is_refused_by_its_place(result, tmp_path):
    document = json.loads(result.to_json())
    document["models"][2]["scores"]["holdout"]["accuracy"]["value"] = "high"
    (tmp_path / "run.json").write_text(json.dumps(document))
    with pytest.raises(ResultError, match=r"models\[2\]\.scores\.holdout\.accuracy\.value"):
        AuditResult.load(tmp_path / "run.json")
    with pytest.raises(ResultError, match="No such file"):
        AuditResult.load(tmp_path / "none.json")


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf"}, {"kernel": "poly", "degree": 2, "coef0": 1.0}])
def test_an_exported_model_decides_alike(tmp_path, options):
    result, frame = run(**options), table()
    live = result.live
    for rank in (1, 4):
        path = tmp_path / f"{rank}.skops"
        result.export(path, rank)
        untrusted = get_untrusted_types(file=path)
        assert set(untrusted) <= {"numpy.dtype", "fairenum.audit.classifier.KernelClassifier"}
        assert ("fairenum.audit.classifier.KernelClassifier" in untrusted) == bool(options)
        loaded = load_skops(path, trusted=untrusted)
        assert isinstance(loaded, Pipeline)
        model = live.listing.models[rank - 1]
        X = live.prepared.encoding.transform(live.prepared.dataset)
        expected = np.where(model.decision_function(X) >= 0, "good", "bad")
        np.testing.assert_array_equal(loaded.predict(frame), expected)
        np.testing.assert_allclose(loaded.decision_function(frame), model.decision_function(X), atol=1e-9)


def test_the_selected_model_is_exported_by_default(result, tmp_path):
    result.export(tmp_path / "model.skops")
    expected = result.estimator(result.document["selection"]["rank"]).predict(table())
    loaded = load_skops(tmp_path / "model.skops", trusted=get_untrusted_types(file=tmp_path / "model.skops"))
    np.testing.assert_array_equal(loaded.predict(table()), expected)
    np.testing.assert_array_equal(result.selected_estimator.predict(table()), expected)


def test_no_selection_is_no_export(result, tmp_path):
    selection = {**result.document["selection"], "rank": None, "reason": "all alike"}
    with pytest.raises(ResultError, match="no model was selected: all alike"):
        AuditResult({**result.document, "selection": selection}, result.live).export(tmp_path / "model.skops")


def test_rows_on_the_boundary_are_favourable_in_the_export():
    frame = pd.DataFrame({"x": [-1.0, 1.0, 0.0] * 20, "y": (["bad", "good", "good"] * 20)})
    frame["z"] = np.tile([0.0, 1.0, 0.0, 1.0], 15)
    frame.loc[frame["x"] == 0, "y"] = np.where(np.arange(20) % 2, "good", "bad")
    result = audit(frame, "y", "good", k=2, standardise=False, distinct="support", replications=50)
    live = result.live
    X = live.prepared.encoding.transform(live.prepared.dataset)
    for rank, model in enumerate(live.listing.models, start=1):
        expected = np.where(model.decision_function(X) >= 0, "good", "bad")
        np.testing.assert_array_equal(result.estimator(rank).predict(frame), expected)


def test_a_kernel_classifier_is_not_fitted_again():
    with pytest.raises(TypeError, match="EnumSVC"):
        KernelClassifier().fit([[0.0]], [0])


def test_calibration_maximises_the_likelihood():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 300)) * np.array([[0.1], [1.0], [30.0]])
    labels = (values[1] + rng.normal(size=300) > 0.5).astype(int)
    chances = calibrate(values, labels, values)
    n, m = labels.sum(), (1 - labels).sum()
    target = np.where(labels == 1, (n + 1) / (n + 2), 1 / (m + 2))
    for row, chance in zip(values, chances, strict=True):

        def loss(ab, row=row):
            p = expit(ab[0] * row / row.std() + ab[1])
            return -(target * np.log(p) + (1 - target) * np.log(1 - p)).sum()

        best = minimize(loss, [0.0, 0.0], tol=1e-12)
        np.testing.assert_allclose(chance, expit(best.x[0] * row / row.std() + best.x[1]), atol=1e-5)


@pytest.mark.parametrize("values", [np.zeros(20), np.repeat([-1e6, 1e6], 10), np.repeat([-1e-9, 1e-9], 10)])
def test_calibration_survives_extremes(values):
    labels = np.repeat([0, 1], 10)
    chances = calibrate(values[None], labels, values[None])[0]
    assert np.isfinite(chances).all()
    if values.any():
        np.testing.assert_allclose(chances, np.repeat([1 / 12, 11 / 12], 10), atol=1e-6)
    else:
        np.testing.assert_allclose(chances, 0.5, atol=1e-9)


def test_a_gap_that_grows_in_another_column_is_not_passed_over():
    document = audit_document(selected=3)
    (primary,) = document["dataset"]["sensitive"]
    document["dataset"]["sensitive"].append({**primary, "column": "race", "is_primary": False})
    for model, value, change in zip(document["models"], (0.02, 0.02, 0.1), (0.0, 0.0, 0.08), strict=False):
        numbers = gap(value, change, "not distinguishable")
        model["scores"]["holdout"]["by_column"]["race"] = {"demographic_parity_difference": numbers}
    messages = [caution["message"] for caution in cautions(document) if caution["code"] == "other_column"]
    assert messages == [
        "race: the demographic parity difference of model 3 is 0.100 against 0.020 of model 1 on the holdout, "
        "not distinguishable"
    ]


@pytest.mark.parametrize(
    ("biases", "sentence"),
    [
        ([0.25, 0.25], "7 holdout rows lie exactly on the plane of model 1; they count as favourable"),
        ([0.25, 0.5], "the optimum of model 1 leaves the decision on 7 holdout rows open: every bias from 0.25 to 0.5"),
        ([0.25, None], "every bias from 0.25 to infinity is optimal"),
    ],
)
def test_open_decisions_are_told_apart_from_rows_on_the_plane(biases, sentence):
    document = audit_document()
    document["models"][0] |= {"undetermined": {"selection": 0, "holdout": 7}, "bias_interval": biases}
    messages = [caution["message"] for caution in cautions(document) if caution["code"] == "undetermined"]
    assert any(sentence in message for message in messages)
