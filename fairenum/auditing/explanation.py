"""Explanation of the selected model: training rows it leaves out, feature weights, rows decided differently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from fairenum.auditing.model_facts import cell, left_out
from fairenum.auditing.model_training import Training
from fairenum.auditing.scored_set import ScoredSet
from fairenum.document.choice import Cluster, Core, Explanation
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
from fairenum.document.value import Parts
from fairenum.enumeration.division import Division
from fairenum.enumeration.influence import Influence, smallest_core
from fairenum.enumeration.model import Model
from fairenum.enumeration.unfairness import Watched
from fairenum.metrics import Gap
from fairenum.metrics.counts import BoolArray
from fairenum.metrics.intervals import plain
from fairenum.metrics.operating_point import Cut, Operating
from fairenum.runtime.random_streams import stream
from fairenum.svm.problem import FloatArray, IntArray
from fairenum.svm.sparse_or_dense import dense
from fairenum.tables import Column, Groups

if TYPE_CHECKING:
    from fairenum.auditing.run_state import RunState

SHARE = 0.8  # of the gain that the core keeps, and of a cluster's rows that have a value in common
FEW_VALUES = 10  # a numeric feature with at most so few values counts as categorical
SOLVES, WORK = (4, 60), 5e7


def explanation(state: RunState, rank: int, metric: Gap) -> Explanation | None:
    """Return which left-out training rows explain why a model is fairer than model 1 on the selection split.

    None if the model leaves out no rows, or is not fairer there.
    """
    division, training, listing = state.division, state.training, state.listing
    watched = Watched(division.selection, metric, point=listing.point)
    first, model = listing.models[0], listing.models[rank - 1]
    if not model.left_out or not _gap(first, watched) - _gap(model, watched) > 0.0:
        return None
    return Explanation(
        rank=rank,
        records=sum(model.left_out.values()),
        clusters=tuple(clusters(model, division, training, few_valued(division.dataset.features))),
        core=_core(first, model, watched, division, training),
    )


def _gap(model: Model, watched: Watched) -> float:
    return watched.standing(_values(model, watched))[0]


def _values(model: Model, watched: Watched) -> FloatArray:
    values = model.decision_function(watched.rows.X)
    return watched.point.cut(values).centred(values)


def _core(first: Model, model: Model, watched: Watched, division: Division, training: Training) -> Core:
    """Return the fewest of the model's left-out rows found to give at least the share `SHARE` of its fairness gain."""
    problem, start = training.problem, _gap(first, watched)
    core = smallest_core(
        training.workspace,
        model,
        lambda part: start - _gap(part, watched),
        _importance(model, watched),
        SHARE,
        problem.affordable(WORK, *SOLVES),
        training.best,
    )
    decided = Operating(watched.point, watched.rows.X).values(core.model, division.holdout.X)
    holdout_gap = division.holdout.gaps(decided[None], watched.metric)[0]
    return Core(
        records=sum(core.model.left_out.values()),
        left_out=left_out(core.model, division, training),
        objective_ratio=core.model.objective / first.objective,
        gap=Parts(plain(_gap(core.model, watched)), plain(holdout_gap)),
        share_of_gain=plain(core.share),
        loss_ratio=core.model.loss_ratio,
    )


def _importance(model: Model, watched: Watched) -> FloatArray:
    """Return for each training example an estimate of how much the gap would rise if it were put back."""
    problem, values = model.problem, _values(model, watched)
    slope = watched.slope(values, float(values.std()) or 1.0, 0.0)
    influence = Influence(problem, watched.rows.X)
    return -influence.of_leaving_out(problem.upper, model.decision_function(problem.X), slope)


def few_valued(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return the categorical features, and the numeric features with at most `FEW_VALUES` distinct values."""
    return tuple(one for one in columns if not one.is_numeric or len(np.unique(one.values)) <= FEW_VALUES)


def clusters(model: Model, division: Division, training: Training, columns: tuple[Column, ...]) -> list[Cluster]:
    """Return clusters of the left-out rows, one for each label and group, with the values that most rows of it share.

    If m of n identical rows are left out, each of the n rows counts as m/n.
    """
    if not model.left_out:
        return []
    rows = np.concatenate([training.records[example] for example in model.left_out])
    weights = np.concatenate(
        [np.full(len(r), n / len(r)) for e, n in model.left_out.items() for r in [training.records[e]]]
    )
    label, primary, train = division.dataset.label, division.primary, division.split.train
    codes = primary.codes if primary else np.zeros(len(division.dataset), dtype=np.intp)
    found = []
    for y, code in sorted({(int(label.y[row]), int(codes[row])) for row in rows}):
        inside = (label.y[rows] == y) & (codes[rows] == code)
        found.append(
            Cluster(
                label=label.favourable if y == 1 else label.unfavourable,
                group=primary.names[code] if primary else None,
                cell=dict(_shared(columns, rows[inside], weights[inside])),
                records=float(weights[inside].sum()),
                share=float(weights[inside].sum() / weights.sum()),
                share_of_training=float(((label.y[train] == y) & (codes[train] == code)).mean()),
                rows=tuple(sorted(division.dataset.numbered(rows[inside]).tolist())),
            )
        )
    return sorted(found, key=lambda cluster: -cluster.records)


def _shared(columns: tuple[Column, ...], rows: IntArray, weights: FloatArray) -> Iterator[tuple[str, float | str]]:
    """Yield each column whose commonest value has at least the share `SHARE` of the rows' weight, and that value."""
    for column in columns:
        values = [cell(value) for value in column.values[rows]]
        totals: dict[float | str, float] = {}
        for value, weight in zip(values, weights, strict=True):
            if value is not None:
                totals[value] = totals.get(value, 0.0) + float(weight)
        if totals and max(totals.values()) >= SHARE * float(weights.sum()):
            yield column.name, max(totals, key=lambda value: totals[value])


MOST_WEIGHTS = 20_000  # in one document
SHUFFLES = 5
EFFECT_WORK, EFFECT_ROWS = 2e9, (50, 1000)  # multiplications to measure effects by, and rows to measure them on


def anatomy(state: RunState, ranks: list[int]) -> Anatomy:
    """Return the feature weights of linear models or, for other kernels, the effect of shuffling each feature.

    Weights are those of all models or, if that exceeds `MOST_WEIGHTS` numbers, of the models of `ranks`; effects are
    always those of `ranks`.
    """
    division, listing = state.division, state.listing
    features = division.encoding.described()
    if listing.models[0].problem.kernel.name != "linear":
        effects = (FeatureEffects(rank, *_effects(state, rank, features)) for rank in ranks)
        return Anatomy(features, effects=tuple(effects))
    everyone = range(1, len(listing.models) + 1)
    kept = everyone if len(everyone) * division.train.X.shape[1] <= MOST_WEIGHTS else ranks
    return Anatomy(features, tuple(ModelWeights(r, tuple(listing.models[r - 1].plane.tolist())) for r in kept))


def _effects(state: RunState, rank: int, features: tuple[EncodedFeature, ...]) -> tuple[int, tuple[float, ...]]:
    """Return the number of rows used, and for each feature the share of decisions that shuffling it changes.

    The shuffles are the same for all models.
    """
    model, cut = state.listing.models[rank - 1], state.listing.cuts[rank - 1]
    random, rows = stream(state.config.seed, "effects"), state.division.selection
    X = dense(rows.X[random.permutation(len(rows))[: _affordable(model, len(features))]])
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
    """Return the number of rows on which the effects of all features take about `EFFECT_WORK` multiplications."""
    least, most = EFFECT_ROWS
    return int(
        np.clip(EFFECT_WORK / (len(model.support) * model.problem.X.shape[1] * features * SHUFFLES), least, most)
    )


def _decided(model: Model, cut: Cut, X: FloatArray) -> np.ndarray:
    return np.asarray(cut.centred(model.decision_function(X)) >= 0.0)


def flips(scored_set: ScoredSet, rank: int) -> Flips:
    """Return the rows of the holdout that the model of a rank decides differently from the reference model."""
    predictions = scored_set.decisions("holdout", None).predictions > 0
    before, after = predictions[0], predictions[scored_set.ranks.index(rank)]
    return Flips(rank, *flipped_rows(scored_set.division, "holdout", before, after))


def flipped_rows(
    division: Division, part: Part, before: BoolArray, after: BoolArray
) -> tuple[dict[str, tuple[GroupFlips, ...]], tuple[FlippedRow, ...]]:
    """Return the rows of a split that two models decide differently: counts by column and group, and a list.

    `before` and `after` tell which rows each of the two models selects.
    """
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
    counts = [np.bincount(groups.codes, one, len(groups.names)).astype(int) for one in (gained, lost)]
    return tuple(
        GroupFlips(name, int(groups.sizes[code]), int(counts[0][code]), int(counts[1][code]))
        for code, name in enumerate(groups.names)
    )
