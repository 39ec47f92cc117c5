"""Why the selected model is fairer, verified by training again without the records that are named."""

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC
from support.audits import METRIC, applicants

from fairenum.auditing.explanation import explanation


def test_clusters_are_what_left_out_records_share(guided_run, guided):
    found = guided.explanation
    assert found.rank == guided.selection.rank
    assert found.records == guided.selected.records_left_out
    assert sum(cluster.records for cluster in found.clusters) == pytest.approx(found.records)
    assert sum(cluster.share for cluster in found.clusters) == pytest.approx(1.0)
    frame, train = applicants(), guided_run.live.division.split.train
    for cluster in found.clusters:
        rows = frame.loc[list(cluster.rows)]
        assert set(rows["hired"]) == {cluster.label}
        assert set(rows["sex"]) == {cluster.group}
        for feature, value in cluster.cell.items():
            assert (rows[feature] == value).mean() >= 0.8
        alike = (frame["hired"] == cluster.label) & (frame["sex"] == cluster.group)
        assert cluster.share_of_training == pytest.approx(alike.iloc[train].mean())


def test_the_explanation_is_verified_by_solving_again(guided_run, guided):
    division, core = guided_run.live.division, guided.explanation.core
    dropped = [entry.row for entry in core.left_out]
    assert set(dropped) <= {entry.row for entry in guided.selected.left_out}
    assert core.records == sum(entry.copies for entry in core.left_out)
    kept = np.setdiff1d(division.split.train, dropped)
    encoding, dataset = division.encoding, division.dataset
    svm = SVC(kernel="linear", C=1.0, tol=1e-8).fit(encoding.transform(dataset, kept), dataset.signs[kept])
    for part in ("selection", "holdout"):
        rows = division.rows[part]
        decided = svm.predict(encoding.transform(dataset, rows)) > 0
        rates = pd.Series(decided).groupby(applicants()["sex"].iloc[rows].to_numpy()).mean()
        assert core.gap.of(part) == pytest.approx(abs(rates["f"] - rates["m"]), abs=0.01)
    first, chosen = (model.scores.selection.gap(METRIC).value for model in (guided.first, guided.selected))
    gained = (first - core.gap.selection) / (first - chosen)
    assert core.share_of_gain == pytest.approx(gained)
    assert gained >= 0.8


def test_what_gains_nothing_has_no_explanation(guided_run, guided):
    live = guided_run.live
    worse = next(
        model.rank
        for model in guided.models[1:]
        if model.scores.selection.gap(METRIC).value >= guided.first.scores.selection.gap(METRIC).value
    )
    for rank in (1, worse):
        assert explanation(live, rank, METRIC) is None
