"""Exported models: they decide as the enumerated ones do, with or without fairenum."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline
from skops.io import get_untrusted_types
from skops.io import load as load_skops

from fairenum import AuditResult, audit
from fairenum.auditing.run_state import KernelClassifier

OWN = "fairenum.auditing.run_state.KernelClassifier"


def table(n: int = 160) -> pd.DataFrame:
    """A table with ties, missing numbers and missing texts."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.integers(0, 3, n), "b": rng.normal(size=n), "t": rng.choice(["u", "v", "w"], n)})
    frame.loc[::11, "t"] = np.nan
    frame.loc[::13, "b"] = np.nan
    frame["g"] = rng.choice(["p", "q"], n)
    frame["y"] = np.where(frame["a"] + frame["b"].fillna(0) + rng.normal(size=n) > 1, "good", "bad")
    return frame


def assert_decides_alike(pipeline: Pipeline, result: AuditResult, rank: int, frame: pd.DataFrame) -> None:
    division, model = result.live.division, result.live.listing.models[rank - 1]
    values = model.decision_function(division.encoding.transform(division.dataset))
    np.testing.assert_array_equal(pipeline.predict(frame), np.where(values >= 0, "good", "bad"))
    np.testing.assert_allclose(pipeline.decision_function(frame), values, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf"}, {"kernel": "poly", "degree": 2, "coef0": 1.0}])
def test_an_exported_model_decides_alike(tmp_path, options):
    frame = table()
    result = audit(frame, "y", "good", "g", k=4, replications=50, search="exact", **options)
    for rank in (1, 4):
        path = tmp_path / f"{rank}.skops"
        result.export(path, rank, unconfirmed=True)
        untrusted = get_untrusted_types(file=path)
        assert set(untrusted) <= {"numpy.dtype", OWN}
        assert (OWN in untrusted) == bool(options)
        loaded = load_skops(path, trusted=untrusted)
        assert isinstance(loaded, Pipeline)
        assert_decides_alike(loaded, result, rank, frame)


def test_rows_on_the_boundary_are_favourable_in_the_export():
    frame = pd.DataFrame({"x": [-1.0, 1.0, 0.0] * 20, "y": (["bad", "good", "good"] * 20)})
    frame["z"] = np.tile([0.0, 1.0, 0.0, 1.0], 15)
    frame.loc[frame["x"] == 0, "y"] = np.where(np.arange(20) % 2, "good", "bad")
    result = audit(frame, "y", "good", k=2, standardise=False, distinct="support", replications=50)
    for rank in range(1, len(result.document.models) + 1):
        assert_decides_alike(result.estimator(rank), result, rank, frame)


def test_a_kernel_classifier_is_not_fitted_again():
    with pytest.raises(TypeError, match="EnumSVC"):
        KernelClassifier().fit([[0.0]], [0])
