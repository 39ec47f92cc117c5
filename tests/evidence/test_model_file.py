"""A model as a file whose bytes depend on the model alone, and evidence of an audit that was made just now."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from skops.io import dumps, get_untrusted_types, loads
from support.tables import write_loans

import fairenum
from fairenum.evidence.bundle import settled


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> pd.DataFrame:
    return pd.read_csv(write_loans(tmp_path_factory.mktemp("table") / "loans.csv"))


def audited(table, **options):
    """Audit one model, which may be exported whatever its gaps are."""
    quick = {"k": 1, "search": "exact", "replications": 50, **options}
    return fairenum.audit(table, "approved", "yes", "sex", **quick)


@pytest.fixture(scope="module")
def result(table):
    return audited(table)


def fitted(table):
    """Fit a pipeline whose features are called as the nodes of a file are."""
    odd = table.rename(columns={"income": "file", "debt": "__id__"})
    coded = make_column_transformer((OneHotEncoder(), ["town"]), (StandardScaler(), ["file", "__id__"]))
    return odd, make_pipeline(coded, LinearSVC()).fit(odd, odd["approved"])


def arrays(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        return [np.load(io.BytesIO(archive.read(name)), allow_pickle=False) for name in names]


def test_a_settled_file_loads_as_the_same_model(table):
    odd, model = fitted(table)
    content = settled(dumps(model))
    assert get_untrusted_types(data=content) == get_untrusted_types(data=dumps(model))
    again = loads(content, trusted=get_untrusted_types(data=content))
    np.testing.assert_array_equal(again.decision_function(odd), model.decision_function(odd))


def test_its_bytes_depend_on_the_model_alone(table):
    """The models are equal, but lie elsewhere in memory."""
    (_, one), (_, other) = fitted(table), fitted(table)
    assert dumps(one) != dumps(other)
    assert settled(dumps(one)) == settled(dumps(other))
    assert settled(settled(dumps(one))) == settled(dumps(one))


def test_the_same_audit_made_again_gives_the_same_evidence(table, result, tmp_path):
    result.save_evidence(tmp_path / "one.zip")
    audited(table).save_evidence(tmp_path / "two.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    found = fairenum.verify(tmp_path / "one.zip")
    assert found.is_verified
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        content = archive.read("model.skops")
        assert "The file model.skops beside this card" in archive.read("model-card.md").decode()
        assert "There is no model" not in archive.read("README.md").decode()
    model = loads(content, trusted=get_untrusted_types(data=content))
    expected = result.selected_estimator.predict(table)
    np.testing.assert_array_equal(model.predict(table), expected)


def test_a_loaded_run_has_evidence_without_a_model(result, tmp_path):
    result.save(tmp_path / "run.json")
    fairenum.AuditResult.load(tmp_path / "run.json").save_evidence(tmp_path / "saved.zip", profile="ll144")
    assert fairenum.verify(tmp_path / "saved.zip").is_verified
    names = zipfile.ZipFile(tmp_path / "saved.zip").namelist()
    assert "model.skops" not in names
    assert "report-ll144.html" in names


def test_redacted_evidence_of_a_linear_kernel_has_its_model_and_of_another_kernel_none(table, result, tmp_path):
    result.redacted().save_evidence(tmp_path / "linear.zip")
    assert "model.skops" in zipfile.ZipFile(tmp_path / "linear.zip").namelist()
    with zipfile.ZipFile(tmp_path / "linear.zip") as archive:
        assert json.loads(archive.read("run.json"))["examples"] == []
        sizes = [array.size for array in arrays(archive.read("model.skops"))]
    assert 0 < max(sizes) <= len(result.document.dataset.encoded), "a number by column, none by row"
    audited(table, kernel="rbf").redacted().save_evidence(tmp_path / "rbf.zip")
    assert "model.skops" not in zipfile.ZipFile(tmp_path / "rbf.zip").namelist()


def test_an_audit_in_which_no_model_can_be_selected_has_evidence_all_the_same(table, tmp_path):
    """Nothing but noise, at a price that makes every model constant."""
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(
        {"x": rng.normal(size=200), "g": rng.choice(["a", "b"], 200), "y": ["no"] * 30 + ["yes"] * 170}
    )
    result = fairenum.audit(noise, "y", "yes", "g", k=3, class_weight="none", search="exact", replications=50, C=1e-6)
    assert result.selected is None
    result.save_evidence(tmp_path / "none.zip")
    result.save_tables(tmp_path / "tables")
    assert fairenum.verify(tmp_path / "none.zip").is_verified
    with zipfile.ZipFile(tmp_path / "none.zip") as archive:
        assert "model.skops" not in archive.namelist()
        assert "There is no model in it: no model was selected" in archive.read("README.md").decode()
