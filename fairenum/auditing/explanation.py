"""Why a model is fairer than model 1: traits of the records that it leaves out, and the few that matter most."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairenum.auditing.listing import Listing
from fairenum.auditing.model_facts import cell, left_out
from fairenum.auditing.model_training import Training
from fairenum.document.choice import Cluster, Core, Explanation
from fairenum.document.value import Parts
from fairenum.enumeration.division import Division
from fairenum.enumeration.influence import Influence, smallest_core
from fairenum.enumeration.model import Model
from fairenum.enumeration.unfairness import Watched
from fairenum.metrics import Gap
from fairenum.metrics.intervals import plain
from fairenum.metrics.operating_point import Operating
from fairenum.svm.problem import FloatArray, IntArray
from fairenum.tables import Column

SHARE = 0.8  # of the gain that the core keeps, and of a cluster's records that have a value in common
FEW_VALUES = 10  # a numeric feature with at most as many values is as good as categorical
SOLVES, WORK = (4, 60), 5e7


def explanation(division: Division, training: Training, listing: Listing, rank: int, metric: Gap) -> Explanation | None:
    """Explain one model's gain over model 1; None if it leaves out nothing or gains nothing on the selection split."""
    model, watched = listing.models[rank - 1], Watched(division.selection, metric, point=listing.point)
    first = listing.models[0]
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
    """Find the fewest left-out examples that still give most of the gain, and measure their effect."""
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
    )


def _importance(model: Model, watched: Watched) -> FloatArray:
    """Estimate how much putting each example back would add to the gap."""
    problem, values = model.problem, _values(model, watched)
    slope = watched.slope(values, float(values.std()) or 1.0, 0.0)
    influence = Influence(problem, watched.rows.X)
    return -influence.of_leaving_out(problem.upper, model.decision_function(problem.X), slope)


def few_valued(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Keep the categorical features, and numeric ones of few values."""
    return tuple(one for one in columns if not one.is_numeric or len(np.unique(one.values)) <= FEW_VALUES)


def clusters(model: Model, division: Division, training: Training, columns: tuple[Column, ...]) -> list[Cluster]:
    """Divide the left-out records by label and group, and find the values that most of each part share.

    Where only some of several identical records are left out, each counts as the share that is.
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
    """Yield the columns in which most of the records have one value, with that value."""
    for column in columns:
        values = [cell(value) for value in column.values[rows]]
        totals: dict[float | str, float] = {}
        for value, weight in zip(values, weights, strict=True):
            if value is not None:
                totals[value] = totals.get(value, 0.0) + float(weight)
        if totals and max(totals.values()) >= SHARE * float(weights.sum()):
            yield column.name, max(totals, key=lambda value: totals[value])
