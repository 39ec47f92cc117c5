"""Feature weights or effects of the models, and the rows that the selected model decides differently."""

from __future__ import annotations

import numpy as np

from fairenum.auditing.listing import Listing
from fairenum.auditing.scorecard import stream
from fairenum.auditing.scored_set import ScoredSet
from fairenum.document.audit_config import AuditConfig
from fairenum.document.feature_facts import (
    Anatomy,
    EncodedFeature,
    FeatureEffects,
    FlippedRow,
    Flips,
    GroupFlips,
    ModelWeights,
    spans,
)
from fairenum.document.terms import Part
from fairenum.enumeration.division import PARTS, Division
from fairenum.enumeration.model import Model
from fairenum.metrics.counts import BoolArray
from fairenum.metrics.operating_point import Cut
from fairenum.svm.problem import FloatArray
from fairenum.svm.sparse_or_dense import dense
from fairenum.tables import Groups

EFFECT_STREAM = len(PARTS) + 3  # names the random numbers
MOST_WEIGHTS = 20_000  # in one document
SHUFFLES = 5
WORK, ROWS = 2e9, (50, 1000)  # multiplications to measure effects by, and rows to measure them on


def anatomy(division: Division, listing: Listing, ranks: list[int], config: AuditConfig) -> Anatomy:
    """Return the feature weights of linear models or, for other kernels, the effect of shuffling each feature.

    Where all weights would be too many, and for effects, only the models of `ranks` are described: model 1 and the
    selected one.
    """
    features = division.encoding.described()
    if listing.models[0].problem.kernel.name != "linear":
        effects = (FeatureEffects(rank, *_effects(division, listing, rank, features, config)) for rank in ranks)
        return Anatomy(features, effects=tuple(effects))
    everyone = range(1, len(listing.models) + 1)
    kept = everyone if len(everyone) * division.train.X.shape[1] <= MOST_WEIGHTS else ranks
    return Anatomy(features, tuple(ModelWeights(r, tuple(listing.models[r - 1].plane.tolist())) for r in kept))


def _effects(
    division: Division, listing: Listing, rank: int, features: tuple[EncodedFeature, ...], config: AuditConfig
) -> tuple[int, tuple[float, ...]]:
    """Measure the share of decisions that shuffling each feature changes, with equal shuffles for all models."""
    model, cut, random = listing.models[rank - 1], listing.cuts[rank - 1], stream(config, EFFECT_STREAM)
    X = dense(division.selection.X[random.permutation(len(division.selection))[: _affordable(model, len(features))]])
    orders = [random.permutation(len(X)) for _ in range(SHUFFLES)]
    decided = _decided(model, cut, X)
    effects = []
    for columns in spans(features).values():
        changed = []
        for order in orders:
            shuffled = X.copy()
            shuffled[:, columns] = X[order, columns]
            changed.append(float((_decided(model, cut, shuffled) != decided).mean()))
        effects.append(float(np.mean(changed)))
    return len(X), tuple(effects)


def _affordable(model: Model, features: int) -> int:
    """Return the number of rows on which the effects of all features can be measured in time."""
    least, most = ROWS
    return int(np.clip(WORK / (len(model.support) * model.problem.X.shape[1] * features * SHUFFLES), least, most))


def _decided(model: Model, cut: Cut, X: FloatArray) -> np.ndarray:
    return np.asarray(cut.centred(model.decision_function(X)) >= 0.0)


def flips(scored_set: ScoredSet, rank: int) -> Flips:
    """Find the rows of the holdout that a model decides differently from the model it is compared with."""
    predictions = scored_set.decisions("holdout", None).predictions > 0
    before, after = predictions[0], predictions[scored_set.ranks.index(rank)]
    return Flips(rank, *flipped_rows(scored_set.division, "holdout", before, after))


def flipped_rows(
    division: Division, part: Part, before: BoolArray, after: BoolArray
) -> tuple[dict[str, tuple[GroupFlips, ...]], tuple[FlippedRow, ...]]:
    """Count the rows of a split that two models decide differently, by group of every column, and list them."""
    rows, gained, lost = division.rows[part], after & ~before, before & ~after
    columns = [groups.take(rows) for groups in division.columns] or [Groups.everyone(len(rows))]
    label, numbers = division.dataset.label, division.dataset.numbered(rows)
    flipped = tuple(
        FlippedRow(
            row=int(numbers[place]),
            label=label.favourable if label.y[rows[place]] == 1 else label.unfavourable,
            groups={one.column: one.names[one.codes[rows[place]]] for one in division.dataset.sensitive},
            becomes="favourable" if gained[place] else "unfavourable",
        )
        for place in np.flatnonzero(gained | lost)
    )
    return {groups.column: _by_group(groups, gained, lost) for groups in columns}, flipped


def _by_group(groups: Groups, gained: BoolArray, lost: BoolArray) -> tuple[GroupFlips, ...]:
    """Count the rows of each group that gain the favourable outcome, and those that lose it."""
    counts = [np.bincount(groups.codes, one, len(groups.names)).astype(int) for one in (gained, lost)]
    return tuple(
        GroupFlips(name, int(groups.sizes[code]), int(counts[0][code]), int(counts[1][code]))
        for code, name in enumerate(groups.names)
    )
