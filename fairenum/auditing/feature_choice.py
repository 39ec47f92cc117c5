"""The choice between a linear and an additive encoding of numbers, by cross-validation on the training rows alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from fairenum.auditing.model_training import folds
from fairenum.document.audit_config import AuditConfig
from fairenum.document.feature_facts import EncodingComparison
from fairenum.document.terms import AUTO, Features
from fairenum.errors import ColumnConstant, TableTooLarge
from fairenum.estimator import by_label
from fairenum.metrics.performance import auc
from fairenum.runtime.random_streams import stream
from fairenum.svm.problem import FloatArray, IntArray
from fairenum.svm.sparse_or_dense import Matrix
from fairenum.tables import Dataset, Encoding

MOST_ROWS = 10_000  # training rows that are compared on, drawn at random
LEAST_GAIN = 0.001  # of the AUC
STEPS = 100  # of the solver; more would not change the order of the rows


def chosen_features(
    dataset: Dataset, train: IntArray, config: AuditConfig
) -> tuple[Features, EncodingComparison | None]:
    """Return the encoding of numbers to use, and the comparison that chose it; None if there was nothing to compare.

    An encoding that was asked for is used. Else the additive one is used if it raises the cross-validated AUC of a
    linear SVM by more than `LEAST_GAIN` and by more than the standard error of its gain. Kernels other than the linear
    one bend by themselves, and have the linear encoding.
    """
    if config.features != AUTO:
        return config.features, None
    if config.svm.kernel != "linear":
        return "linear", None
    found = compared(dataset, train, config)
    return "linear" if found is None or not _is_better(found) else "additive", found


def _is_better(found: EncodingComparison) -> bool:
    return found.gain > max(found.error, LEAST_GAIN)


def compared(dataset: Dataset, train: IntArray, config: AuditConfig) -> EncodingComparison | None:
    """Return the cross-validated AUC with both encodings; None if it is undefined, or if both are the same.

    In each fold, the encoding and its cut points are learned from the rows to learn from. Of many training rows
    `MOST_ROWS` are used, drawn at random.
    """
    rows = train
    if len(train) > MOST_ROWS:
        rows = np.sort(stream(config.seed, "choice of features").permutation(train)[:MOST_ROWS])
    try:
        both = np.array([*_fold_aucs(dataset, rows, config)])
    except (ColumnConstant, TableTooLarge):
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
    for learnt, tried in folds(dataset.signs[rows], config.seed, members):
        encoding = Encoding.fit(dataset, rows[learnt], standardise=config.standardise, features="additive")
        is_added = encoding.added
        if not is_added.any():
            continue
        X, others = (encoding.transform(dataset, rows[part]) for part in (learnt, tried))
        pairs = ((X[:, used], others[:, used]) for used in (~is_added, np.full(len(is_added), True)))
        linear, additive = (_auc(dataset, rows[learnt], rows[tried], *pair, config) for pair in pairs)
        yield linear, additive


def _auc(dataset: Dataset, learnt: IntArray, tried: IntArray, X: Matrix, others: Matrix, config: AuditConfig) -> float:
    """Return the AUC of a linear SVM with squared hinge loss, learned from rows X, on other rows."""
    values = _decision_values(X, dataset.signs[learnt], dataset.relative(learnt), others, config)
    return float(auc(values[None], dataset.y[tried].astype(np.uint8), dataset.relative(tried))[0])


def _decision_values(
    X: Matrix, y: FloatArray, weights: FloatArray | None, others: Matrix, config: AuditConfig
) -> FloatArray:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    cost = 1.0 if config.svm.C == AUTO else config.svm.cost
    svc = LinearSVC(C=cost, dual=False, class_weight=by_label(config.svm.class_weight), max_iter=STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # an approximate plane orders the rows well enough
        return np.asarray(svc.fit(X, y, sample_weight=weights).decision_function(others))
