"""Checks whether the score of the model in use is too good to be that of rows that it was not fitted on.

A model that was fitted on a row has seen its label, so that its score ranks such rows better than others. Two areas
under the ROC curve are compared. A difference counts if it is beyond chance, and at least the share `SHARE` of what the
lower one lacks to 1: a model that learned from more rows than the table has may honestly be somewhat better.
`tests/slow/test_leak_claims.py` has the tables by which the share was chosen: of scores by models that were fitted on
ten times as many other rows, the best was ahead by a share of 0.38; of scores on rows that models had been fitted on,
the least by 0.55.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairenum.auditing.model_training import stratified_folds
from fairenum.document.audit_config import AuditConfig
from fairenum.document.correction_facts import LeakCheck, LeakKind
from fairenum.enumeration.division import Division
from fairenum.metrics.intervals import estimate
from fairenum.metrics.performance import ranked
from fairenum.runtime.random_streams import stream
from fairenum.svm.problem import FloatArray, IntArray
from fairenum.svm.sparse_or_dense import Matrix
from fairenum.tables import Dataset, Encoding
from fairenum.tables.columns import is_missing

CRITICAL = 3.29  # standard errors, which chance exceeds on either side once in a thousand times
SHARE = 0.45
MOST_ROWS = 4000  # to cross-validate on
FEWEST = 20  # rows of a label, with fewer of which nothing is compared


@dataclass(frozen=True, slots=True, eq=False)
class RankedRows:
    """The area under the ROC curve of a score on some rows, with the part of each row in its random error."""

    auc: float
    parts: FloatArray

    def __len__(self) -> int:
        return self.parts.size

    @property
    def variance(self) -> float:
        """DeLong's variance of the area."""
        return float((self.parts**2).sum())


def ranked_rows(scores: FloatArray, y: IntArray) -> RankedRows | None:
    """Return how well a score ranks rows; None with too few rows of a label."""
    labels = y.astype(np.uint8)
    if len(y) == 0 or np.bincount(labels, minlength=2).min() < FEWEST:
        return None
    found = ranked(scores[None], labels)
    return RankedRows(float(found.auc[0]), found.parts[0])


def compared(kind: LeakKind, own: RankedRows, other: RankedRows, *, is_paired: bool) -> LeakCheck:
    """Return the check that one area under the ROC curve is not far above another, on the same or on other rows."""
    variance = float(((own.parts - other.parts) ** 2).sum()) if is_paired else own.variance + other.variance
    lead, error = own.auc - other.auc, CRITICAL * math.sqrt(variance)
    return LeakCheck(
        kind=kind,
        auc=own.auc,
        rows=len(own),
        expected=other.auc,
        expected_rows=len(other),
        lead=estimate(lead, max(lead - error, -1.0), min(lead + error, 1.0)),
        is_far=lead > error and lead >= SHARE * (1.0 - other.auc),
    )


def leak_checks(division: Division, config: AuditConfig, *, is_cross_fitted: bool) -> tuple[LeakCheck, ...]:
    """Return the checks that the table allows, of the score that is a feature of the division's dataset."""
    return tuple(_checks(division, config, is_cross_fitted=is_cross_fitted))


def _checks(division: Division, config: AuditConfig, *, is_cross_fitted: bool) -> Iterator[LeakCheck]:
    dataset, train, scores = division.dataset, division.split.train, division.dataset.score_values
    if scores is None:
        return
    others = np.concatenate([division.split.selection, division.split.holdout])
    everyone = np.sort(others if is_cross_fitted else np.concatenate([train, others]))
    learnt, rest = ranked_rows(scores[train], dataset.y[train]), ranked_rows(scores[others], dataset.y[others])
    if learnt and rest:
        kind: LeakKind = "refitted" if is_cross_fitted else "training"
        yield compared(kind, *((rest, learnt) if is_cross_fitted else (learnt, rest)), is_paired=False)
    fitted = dataset.incumbent.fitted if dataset.incumbent else None
    marked = ranked_rows(fitted.scores, fitted.y) if fitted else None
    if marked and (whole := ranked_rows(scores[everyone], dataset.y[everyone])):
        yield compared("marked", whole, marked, is_paired=False)
    yield from _against_features(dataset, scores, _drawn(everyone, config.seed), config.seed)


def _drawn(rows: IntArray, seed: int) -> IntArray:
    return np.sort(stream(seed, "leak checks").permutation(rows)[:MOST_ROWS])


def _against_features(dataset: Dataset, scores: FloatArray, rows: IntArray, seed: int) -> Iterator[LeakCheck]:
    """Yield the comparison with the better of two models of the features, boosted trees and a logistic regression."""
    own, members = ranked_rows(scores[rows], dataset.y[rows]), dataset.members
    folds = stratified_folds(dataset.signs[rows], seed, None if members is None else members[rows])
    covered = np.concatenate([tried for _, tried in folds]) if folds else np.empty(0)
    if own is None or len(covered) < len(rows):
        return
    both = [ranked_rows(found, dataset.y[rows]) for found in _cross_validated(dataset, rows, folds, seed)]
    best = max((one for one in both if one), key=lambda one: one.auc)
    yield compared("features", own, best, is_paired=True)


def _cross_validated(
    dataset: Dataset, rows: IntArray, folds: list[tuple[IntArray, IntArray]], seed: int
) -> Iterator[FloatArray]:
    """Yield the cross-validated scores of boosted trees, and of a logistic regression, on the features and groups.

    Each fold has scores of its own model, which are made comparable as log-odds.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler

    boosted = HistGradientBoostingClassifier(max_iter=60, random_state=seed)
    linear = make_pipeline(MaxAbsScaler(), LogisticRegression(max_iter=200))
    y, encoded = dataset.y[rows], _encoded(dataset, rows)
    for model, X in ((boosted, _numbered(dataset, rows)), (linear, encoded)):
        found = np.empty(len(rows))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # an approximate fit is good enough
            for learnt, tried in folds:
                found[tried] = model.fit(X[learnt], y[learnt]).decision_function(X[tried])
        yield found


def _encoded(dataset: Dataset, rows: IntArray) -> Matrix:
    plain = replace(dataset, features=dataset.own_features, score=None)
    return Encoding.fit(plain, rows).transform(plain, rows)


def _numbered(dataset: Dataset, rows: IntArray) -> FloatArray:
    """Return features and sensitive groups as numbers, texts as codes."""
    columns = [column.values[rows] for column in dataset.own_features]
    numbers = [values.astype(np.float64) if values.dtype == np.float64 else _coded(values) for values in columns]
    return np.column_stack([*numbers, *(groups.codes[rows].astype(np.float64) for groups in dataset.sensitive)])


def _coded(values: NDArray[np.generic]) -> FloatArray:
    texts = np.where(is_missing(values), "", values).astype(str)
    return np.unique(texts, return_inverse=True)[1].astype(np.float64)
