"""How well single features predict the label, the decisions of model 1, and the sensitive groups.

Predictions are learned on training rows and measured on the selection split; the holdout is not used.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairenum.auditing.incumbent_rows import IncumbentDecisions
from fairenum.auditing.listing import Listing
from fairenum.document.audit_config import AuditConfig
from fairenum.document.feature_facts import SAME_DECISIONS, Lookalike, ScreenedColumn, Screening, SingleFeature, spans
from fairenum.enumeration.division import Division
from fairenum.metrics.performance import auc, auc_intervals
from fairenum.runtime.random_streams import stream
from fairenum.svm.problem import FloatArray, IntArray
from fairenum.svm.sparse_or_dense import dense
from fairenum.tables import Column, Groups
from fairenum.tables.columns import is_missing

MOST_ROWS = 4000  # to learn from, and to measure on; more would not change the digits that are shown
MOST_SHOWN = 8
LEAVES = 8  # of the tree that learns from one number
FEWEST_IN_LEAF = 5
FEWEST = 10  # rows of a class; an AUC of fewer means little
CONFIDENCE = 0.95  # of the lower limits of all features together
Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Training rows to learn from, and selection rows to measure on.

    `train` and `measured` are their indices in the split; `train_rows` and `measured_rows` are those in the table.
    """

    train: IntArray
    measured: IntArray
    train_rows: IntArray
    measured_rows: IntArray

    @classmethod
    def drawn(cls, division: Division, config: AuditConfig) -> _Rows:
        """Return at most `MOST_ROWS` training rows and as many selection rows, drawn at random."""
        random, train, measured = stream(config.seed, "screening"), division.split.train, division.rows["selection"]
        some, others = (np.sort(random.permutation(len(rows))[:MOST_ROWS]) for rows in (train, measured))
        return cls(some, others, train[some], measured[others])


def screen(division: Division, listing: Listing, config: AuditConfig) -> Screening:
    """Return how well each feature alone predicts the label, model 1's decisions, and the sensitive groups."""
    rows, columns = _Rows.drawn(division, config), _learned_from(division)
    several = columns if len(columns) > 1 else []  # a single one cannot be left out
    decided = _decided(rows, division, listing)
    labels = division.train.labels[rows.train].astype(np.intp), division.selection.labels[rows.measured].astype(np.intp)
    values = listing.values["selection"][:1, rows.measured]
    model_auc = float(auc(values, labels[1].astype(np.uint8))[0]) if _is_mixed(labels) else None
    return Screening(
        rows=len(rows.measured),
        model_auc=model_auc,
        features=tuple(_best_features(several, rows, *labels)) if _is_mixed(labels) else (),
        lookalikes=tuple(_lookalikes(several, rows, *decided)),
        columns=tuple(
            found
            for groups in division.columns[: len(division.dataset.sensitive)]
            if (found := _group_prediction(groups, columns, rows, division, config))
        ),
        commoner=float(np.bincount(labels[1]).max() / len(labels[1])) if len(labels[1]) else None,
    )


def copies_of(incumbent: IncumbentDecisions, division: Division, config: AuditConfig) -> tuple[str, ...]:
    """Return the names of the features that, each alone, reproduce the decisions of the model in use.

    A numeric feature does so by one threshold, a categorical one by a decision for each text.
    """
    rows, bits = _Rows.drawn(division, config), incumbent.bits.astype(np.intp)
    found = _lookalikes(_learned_from(division), rows, bits[rows.train_rows], bits[rows.measured_rows])
    return tuple(one.feature for one in found)


def _learned_from(division: Division) -> list[Column]:
    """Return the features that vary, without the score of the model in use, which is to tell what that decides."""
    return [column for column in division.dataset.own_features if column.name not in division.encoding.dropped]


def _is_mixed(parts: tuple[Codes, ...]) -> bool:
    """Tell whether every array of class codes has two or more classes, each with at least `FEWEST` rows."""
    return all(np.ptp(codes) > 0 and np.bincount(codes)[np.unique(codes)].min() >= FEWEST for codes in parts)


def area(classes: Codes, scores: FloatArray) -> float:
    """Return the AUC of class 1, or with more than two classes the mean AUC of each class against the rest.

    `classes` are codes 0, 1, ... of the rows, all of which occur; `scores` has shape (rows, classes).
    """
    wanted = (1,) if scores.shape[1] == 2 else range(scores.shape[1])
    return float(np.mean([auc(scores[None, :, one], (classes == one).astype(np.uint8)) for one in wanted]))


def best_told(classes: Codes, scores: FloatArray, confidence: float) -> tuple[float, float, int]:
    """Return the largest AUC of a class against the rest, a lower limit of it, and the class; of two classes, class 1.

    The limit is the largest of those of all classes, which hold together.
    """
    wanted = (1,) if scores.shape[1] == 2 else range(scores.shape[1])
    own = 1.0 - (1.0 - confidence) / len(wanted)
    cases = [(scores[None, :, one], (classes == one).astype(np.uint8)) for one in wanted]
    areas = [float(auc(*case)[0]) for case in cases]
    lows = [float(auc_intervals(*case, own).lower[0]) for case in cases]
    return max(areas), max(lows), wanted[int(np.argmax(areas))]


def _best_features(
    columns: list[Column], rows: _Rows, learned: Codes, measured: Codes, groups: Sequence[str] | None = None
) -> Iterator[SingleFeature]:
    """Yield the `MOST_SHOWN` features that alone predict the classes with the highest AUC, best first.

    The classes are the named groups, or labels if `groups` is None.
    """
    confidence = 1.0 - (1.0 - CONFIDENCE) / max(len(columns), 1)
    found = [
        (best_told(measured, chances(column, rows.train_rows, learned, rows.measured_rows), confidence)[0], -place)
        for place, column in enumerate(columns)
    ]
    for _, place in sorted(found, reverse=True)[:MOST_SHOWN]:
        column = columns[-place]
        scores = chances(column, rows.train_rows, learned, rows.measured_rows)  # again, as all would take much memory
        best, low, told = best_told(measured, scores, confidence)
        right = float(np.mean(scores.argmax(1) == measured)) if groups is None else None
        if groups is None or len(groups) == 2:
            yield SingleFeature(column.name, best, low, right)
        else:
            yield SingleFeature(column.name, best, low, right, groups[told], area(measured, scores))


def chances(
    column: Column, train_rows: IntArray, classes: Codes, other_rows: IntArray, leaves: int = LEAVES
) -> FloatArray:
    """Return the probability of each class for `other_rows`, estimated from one feature, shape (rows, classes).

    A numeric feature predicts by a small decision tree, a categorical one by the class shares of training rows with the
    same text. `classes` are the codes 0, 1, ... of the training rows.
    """
    known, others = column.values[train_rows], column.values[other_rows]
    if column.is_numeric:
        return _by_number(known, classes, others, leaves)
    return _by_text(known, classes, others)


def _by_number(known: NDArray[np.generic], classes: Codes, others: NDArray[np.generic], leaves: int) -> FloatArray:
    from sklearn.tree import DecisionTreeClassifier

    # places in the order of numbers split as the numbers do, and no number is too large for a tree; missing comes first
    order = np.unique(known[~is_missing(known)])
    places = [np.where(is_missing(part), -1.0, np.searchsorted(order, part)) for part in (known, others)]
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves, min_samples_leaf=FEWEST_IN_LEAF, random_state=0)
    return np.asarray(tree.fit(places[0][:, None], classes).predict_proba(places[1][:, None]))


def _by_text(known: NDArray[np.generic], classes: Codes, others: NDArray[np.generic]) -> FloatArray:
    """Return for each text of `others` the class shares among known rows of that text, shape (others, classes).

    The overall shares count as one further row of each text; an unknown text gets the overall shares.
    """
    import pandas as pd

    seen, others = (np.where(is_missing(part), "", part) for part in (known, others))
    codes, texts = pd.factorize(seen)
    counts = np.zeros((len(texts) + 1, int(classes.max()) + 1))
    np.add.at(counts, (codes, classes), 1.0)
    overall = counts.sum(0) / len(classes)
    shares = (counts + overall) / (counts.sum(1, keepdims=True) + 1.0)
    places = pd.Index(texts).get_indexer(others)  # -1, the last row, for a text that was not seen
    return np.asarray(shares[places])


def _decided(rows: _Rows, division: Division, listing: Listing) -> tuple[Codes, Codes]:
    values = listing.models[0].decision_function(division.train.X[rows.train])
    learned = listing.cuts[0].centred(values) >= 0.0
    return learned.astype(np.intp), (listing.values["selection"][0][rows.measured] >= 0.0).astype(np.intp)


def _lookalikes(columns: list[Column], rows: _Rows, learned: Codes, measured: Codes) -> Iterator[Lookalike]:
    """Yield the features that alone reproduce given decisions, by one threshold or by a decision for each text."""
    if not _is_mixed((learned, measured)):
        return
    for column in columns:
        decided = chances(column, rows.train_rows, learned, rows.measured_rows, leaves=2)[:, 1] >= 0.5
        agreement = float(np.mean([(decided[measured == one] == one).mean() for one in (0, 1)]))
        if agreement >= SAME_DECISIONS:
            yield Lookalike(column.name, agreement)


def _group_prediction(
    groups: Groups, columns: list[Column], rows: _Rows, division: Division, config: AuditConfig
) -> ScreenedColumn | None:
    """Return how well features predict the groups of one column; None if fewer than two groups have enough rows."""
    parts = groups.codes[rows.train_rows], groups.codes[rows.measured_rows]
    sizes = np.array([np.bincount(codes, minlength=len(groups.names)) for codes in parts])
    enough = (sizes >= max(config.min_group_size, 1)).all(0)  # a group without rows cannot be predicted
    compared = np.flatnonzero(enough & groups.compared)
    if len(compared) < 2:
        return None
    inside = [np.isin(codes, compared) for codes in parts]
    within = _Rows(
        rows.train[inside[0]], rows.measured[inside[1]], rows.train_rows[inside[0]], rows.measured_rows[inside[1]]
    )
    classes = [np.searchsorted(compared, codes[one]) for codes, one in zip(parts, inside, strict=True)]
    names = tuple(groups.names[code] for code in compared)
    sensitive = {one.column for one in division.dataset.sensitive}  # as features they predict the group trivially
    others = [column for column in columns if column.name not in sensitive]
    return ScreenedColumn(
        column=groups.column,
        groups=names,
        together=_joint_auc([column.name for column in others], within, division, *classes),
        features=tuple(_best_features(others, within, classes[0], classes[1], names)),
    )


def _joint_auc(names: list[str], rows: _Rows, division: Division, learned: Codes, measured: Codes) -> float | None:
    """Return the AUC with which a linear model of the named features predicts the classes; None without features."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    places = spans(division.encoding.described())
    if not names:
        return None
    wanted = np.concatenate([np.arange(places[name].start, places[name].stop) for name in names])
    known, others = dense(division.train.X[rows.train]), dense(division.selection.X[rows.measured])
    linear = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=50))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # an approximate fit is good enough
        return area(measured, np.asarray(linear.fit(known[:, wanted], learned).predict_proba(others[:, wanted])))
