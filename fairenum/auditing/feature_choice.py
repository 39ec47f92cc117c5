"""The choice between a linear and an additive encoding of numbers, by cross-validation on the training rows alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fairenum.auditing.listing import NATIVE
from fairenum.auditing.model_training import stratified_folds
from fairenum.document.audit_config import AuditConfig
from fairenum.document.feature_facts import EncodingComparison, FeatureEncoding
from fairenum.document.terms import AUTO
from fairenum.document.training import SvmSettings
from fairenum.enumeration.division import pose
from fairenum.enumeration.model import model_of
from fairenum.errors import ColumnConstant, SolverError, TableTooLarge
from fairenum.metrics.performance import auc
from fairenum.runtime.random_streams import stream
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import IntArray
from fairenum.svm.sparse_or_dense import Matrix
from fairenum.tables import Dataset, Encoding

MOST_ROWS = 10_000  # training rows that are compared on, drawn at random
LEAST_GAIN = 0.001  # of the AUC
RARE = 0.25  # a label of a smaller share of the rows is rare
MOST_ADDED = 500  # columns; the time of an audit grows with the square of their number


def chosen_features(dataset: Dataset, train: IntArray, config: AuditConfig) -> FeatureEncoding:
    """Return the encoding of numbers to use, and the comparison that chose it, if there was one.

    An encoding that was asked for is used. Else the additive one is used if it raises the cross-validated AUC of a
    linear SVM by more than `LEAST_GAIN` and by more than the standard error of its gain, unless it has more than
    `MOST_ADDED` columns. Kernels other than the linear one bend by themselves, and have the linear encoding.
    """
    if config.features != AUTO:
        return FeatureEncoding(config.features)
    if config.svm.kernel != "linear":
        return FeatureEncoding("linear")
    try:
        found = compared(dataset, train, config)
    except TableTooLarge:
        return FeatureEncoding("linear", is_too_large=True)
    is_better = found is not None and found.gain > max(found.error, LEAST_GAIN)
    return FeatureEncoding("additive" if is_better else "linear", comparison=found)


def compared(dataset: Dataset, train: IntArray, config: AuditConfig) -> EncodingComparison | None:
    """Return the cross-validated AUC with both encodings; None if it is undefined, or if both are the same.

    In each fold, the encoding and its cut points are learned from the rows to learn from. Of many training rows
    `MOST_ROWS` are used, drawn at random. Refuse more than `MOST_ADDED` added columns.
    """
    rows = train
    if len(train) > MOST_ROWS:
        rows = np.sort(stream(config.seed, "choice of features").permutation(train)[:MOST_ROWS])
    try:
        both = np.array([*_fold_aucs(dataset, rows, config)])
    except (ColumnConstant, SolverError):
        return None
    both = both[np.isfinite(both).all(axis=1)] if both.size else both
    if len(both) < 2:
        return None
    gains = both[:, 1] - both[:, 0]
    error = float(gains.std(ddof=1) / np.sqrt(len(gains)))
    linear, additive = both.mean(axis=0).tolist()
    return EncodingComparison(len(both), len(rows), linear, additive, float(gains.mean()), error)


def _fold_aucs(dataset: Dataset, rows: IntArray, config: AuditConfig) -> Iterator[tuple[float, float]]:
    """Yield the AUC of a linear SVM in each fold, with the linear and with the additive encoding."""
    members = None if dataset.members is None else dataset.members[rows]
    svm = _settings(dataset, rows, config)
    for learnt, tried in stratified_folds(dataset.signs[rows], config.seed, members):
        encoding = Encoding.fit(dataset, rows[learnt], standardise=config.standardise, features="additive")
        is_added = encoding.added
        if not is_added.any():
            continue
        if np.count_nonzero(is_added) > MOST_ADDED:
            raise TableTooLarge(f"cut points add {np.count_nonzero(is_added)} columns, more than {MOST_ADDED}")
        X, others = (encoding.transform(dataset, rows[part]) for part in (learnt, tried))
        pairs = ((X[:, used], others[:, used]) for used in (~is_added, np.full(len(is_added), True)))
        linear, additive = (_auc(dataset, rows[learnt], rows[tried], *pair, svm) for pair in pairs)
        yield linear, additive


def _auc(dataset: Dataset, learnt: IntArray, tried: IntArray, X: Matrix, others: Matrix, svm: SvmSettings) -> float:
    """Return the AUC of a linear SVM, learned from rows X, on other rows."""
    posed = pose(X, dataset.signs[learnt], svm, weights=dataset.relative(learnt)).problem
    best = open_workspace(NATIVE, posed).solve()
    values = model_of(posed, best, 1, best.certificate.objective).decision_function(others)
    return float(auc(values[None], dataset.y[tried].astype(np.uint8), dataset.relative(tried))[0])


def _settings(dataset: Dataset, rows: IntArray, config: AuditConfig) -> SvmSettings:
    """Return the settings of the SVMs to compare, with C and class weights as numbers where those are to be chosen.

    Rows count more if their label is `RARE`, as an SVM without weights would decide hardly any row that way.
    """
    svm = replace(config.svm, C=1.0 if config.svm.C == AUTO else config.svm.C)
    if svm.class_weight != AUTO:
        return svm
    favourable = float(np.average(dataset.y[rows], weights=dataset.relative(rows)))
    return replace(svm, class_weight="balanced" if min(favourable, 1.0 - favourable) < RARE else "none")
