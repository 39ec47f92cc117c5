"""What the cells of the scoreboard add up to, by table and kind of model in use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from fairenum.document.scoreboard_cells import Cell, Duel, Judged, MethodFigures, MethodResult, Share, Standing
from fairenum.research.cell_run import DEFAULT, METHODS, OWN
from fairenum.research.contest import is_comparable
from fairenum.research.rivals import RIVALS
from fairenum.svm.problem import FloatArray

ERRORS = 2.0  # standard errors within which methods are level
Pair = tuple[Cell, MethodResult]


def standings(cells: Sequence[Cell]) -> list[Standing]:
    """Return what the splits of each table add up to, for each kind of model in use."""
    keys = dict.fromkeys((cell.table, cell.kind) for cell in cells)
    return [_standing([cell for cell in cells if (cell.table, cell.kind) == key]) for key in keys]


def _standing(cells: Sequence[Cell]) -> Standing:
    figures = [_figures(name, pairs) for name in METHODS if (pairs := results(cells, name))]
    return Standing(
        table=cells[0].table,
        kind=cells[0].kind,
        splits=len(cells),
        rows=cells[0].rows,
        measures=tuple(dict.fromkeys(str(cell.measure) for cell in cells)),
        gap=mean([cell.in_use.gap for cell in cells]),
        performance=mean([cell.in_use.performance for cell in cells]),
        answers=dict(Counter(str(cell.audit.answer) for cell in cells if cell.audit)),
        methods=tuple(figures),
        blind=_duel(cells, figures, is_aware=False),
        aware=_duel(cells, figures, is_aware=True),
    )


def results(cells: Iterable[Cell], method: str) -> list[Pair]:
    """Return the cells in which a method has a result, each with it."""
    found = ((cell, cell.result(method)) for cell in cells)
    return [(cell, result) for cell, result in found if result is not None and result.error is None]


def taken(pair: Pair) -> Judged:
    """Return the decisions that a user ends up with: those of the model in use where it stays."""
    cell, result = pair
    return cell.in_use if result.is_kept or result.chosen is None else result.chosen


def plain(pair: Pair) -> Judged:
    """Return the decisions of the chosen candidate, whatever it loses; those of the model in use if there is none."""
    return pair[1].chosen or pair[0].in_use


def _figures(name: str, pairs: Sequence[Pair]) -> MethodFigures:
    return MethodFigures(
        method=name,
        needs_groups=name in RIVALS and RIVALS[name].needs_groups,
        splits=len(pairs),
        comparable=float(np.mean([result.comparable > 0 for _, result in pairs])),
        within=float(np.mean([is_comparable(plain(pair).performance, pair[0].in_use.performance) for pair in pairs])),
        left=left(pairs, taken),
        change=mean(_changes(pairs, taken)),
        selection_left=ratio(
            [taken(pair).selection_gap for pair in pairs], [cell.in_use.selection_gap for cell, _ in pairs]
        ).value,
        plain_left=left(pairs, plain),
        plain_change=mean(_changes(pairs, plain)),
        rate_change=float(np.mean([taken(pair).rate - pair[0].in_use.rate for pair in pairs])),
        hindsight=left(pairs, lambda pair: pair[1].hindsight or pair[0].in_use).value,
        seconds=float(np.mean([result.seconds for _, result in pairs])),
    )


def _changes(pairs: Sequence[Pair], decided: Callable[[Pair], Judged]) -> list[float]:
    return [decided(pair).performance - pair[0].in_use.performance for pair in pairs]


def left(pairs: Sequence[Pair], decided: Callable[[Pair], Judged]) -> Share:
    """Return the gap that decisions leave, as a share of the gap of the model in use, over all splits."""
    return ratio([decided(pair).gap for pair in pairs], [cell.in_use.gap for cell, _ in pairs])


def mean(values: Sequence[float]) -> Share:
    """Return the mean with its standard error."""
    return ratio(values, np.ones(len(values)))


def ratio(above: Sequence[float] | FloatArray, below: Sequence[float] | FloatArray) -> Share:
    """Return the ratio of two sums with its standard error, to first order; 1 if the sum below is 0."""
    first, second = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    if not second.sum():
        return Share(1.0)
    value = float(first.sum() / second.sum())
    if len(first) < 2:
        return Share(value)
    spread = float((first - value * second).std(ddof=1))
    return Share(value, spread / (len(first) ** 0.5 * float(second.mean())))


def _duel(cells: Sequence[Cell], figures: Sequence[MethodFigures], *, is_aware: bool) -> Duel | None:
    """Return fairenum against the best of the others; None if either has no result."""
    own = next((one for one in figures if one.method == DEFAULT), None)
    rivals = [one for one in figures if one.method not in OWN and (is_aware or not one.needs_groups)]
    eligible = [one for one in rivals if _is_eligible(one, cells[0].tolerance)]
    if own is None or not eligible:
        return None
    rival = min(eligible, key=lambda one: one.left.value).method
    behind = difference(cells, DEFAULT, rival)
    if not _is_eligible(own, cells[0].tolerance):
        return Duel(rival, behind, "behind", is_as_good=False)
    if behind.value <= 0.0:
        return Duel(rival, behind, "best")
    return Duel(rival, behind, "level" if behind.value <= ERRORS * (behind.error or 0.0) else "behind")


def _is_eligible(one: MethodFigures, tolerance: float) -> bool:
    """Tell whether a method is not shown to lose more performance than the tolerance, on the holdout."""
    return one.change.value + ERRORS * (one.change.error or 0.0) >= -tolerance


def difference(cells: Sequence[Cell], method: str, rival: str) -> Share:
    """Return the gap left by a method minus that by a rival, over the splits in which both have a result."""
    others = {cell.key: (cell, result) for cell, result in results(cells, rival)}
    pairs = [(pair, others[pair[0].key]) for pair in results(cells, method) if pair[0].key in others]
    gaps = [taken(own).gap - taken(other).gap for own, other in pairs]
    return ratio(gaps, [own[0].in_use.gap for own, _ in pairs])
