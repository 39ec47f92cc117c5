"""Two models side by side on the selection split: what they weigh, whom they select, and who flips."""

from __future__ import annotations

import numpy as np

from fairenum.auditing.anatomy import by_group
from fairenum.dataset import Groups
from fairenum.document.anatomy import FlippedRow
from fairenum.document.exploration import GroupPair, ModelComparison, WeightPair
from fairenum.exploration.bench import Bench
from fairenum.exploration.state import Shown, State
from fairenum.exploration.view import strip
from fairenum.scoring.counts import BoolArray


def compared(bench: Bench, state: State, first: Shown, second: Shown) -> ModelComparison:
    """Compare two models of the list."""
    division, rows = bench.division, bench.division.rows["selection"]
    columns = [groups.take(rows) for groups in division.columns] or [Groups.everyone(len(rows))]
    before, after = (one.values >= 0.0 for one in (first, second))
    gained, lost = after & ~before, before & ~after
    return ModelComparison(
        first=first.number,
        second=second.number,
        weights=_weights(bench, first, second),
        groups=tuple(pair for groups in columns for pair in _pairs(groups, before, after)),
        strip=strip(first.document.scores, second.document.scores, division.column, state.tolerances.metric),
        flips={groups.column: by_group(groups, gained, lost) for groups in columns},
        flipped=_flipped(bench, gained, lost),
    )


def _weights(bench: Bench, first: Shown, second: Shown) -> tuple[WeightPair, ...]:
    if first.model.problem.kernel.name != "linear":
        return ()
    weights = [one.model.plane.tolist() for one in (first, second)]
    pairs = [WeightPair(name, *pair) for name, *pair in zip(bench.table.encoded, *weights, strict=True)]
    return tuple(sorted(pairs, key=lambda pair: -abs(pair.second - pair.first)))


def _pairs(groups: Groups, before: BoolArray, after: BoolArray) -> list[GroupPair]:
    """Give the share of each group that either model selects."""
    sizes = groups.sizes
    rates = [np.bincount(groups.codes, one, len(sizes)) / np.maximum(sizes, 1) for one in (before, after)]
    return [
        GroupPair(groups.column, name, int(size), *(float(rate[code]) if size else None for rate in rates))
        for code, (name, size) in enumerate(zip(groups.names, sizes, strict=True))
    ]


def _flipped(bench: Bench, gained: BoolArray, lost: BoolArray) -> tuple[FlippedRow, ...]:
    dataset, rows = bench.division.dataset, bench.division.rows["selection"]
    label, numbers = dataset.label, dataset.numbered(rows)
    return tuple(
        FlippedRow(
            row=int(numbers[place]),
            label=label.favourable if label.y[rows[place]] == 1 else label.unfavourable,
            groups={one.column: one.names[one.codes[rows[place]]] for one in dataset.sensitive},
            becomes="favourable" if gained[place] else "unfavourable",
        )
        for place in np.flatnonzero(gained | lost)
    )
