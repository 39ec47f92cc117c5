"""Plots of a score between groups: whom it selects at every cutoff, how well it ranks, and what it means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairenum.document.measure import CalibrationBin, ColumnRanking
from fairenum.document.value import Estimate
from fairenum.rendering.svg import Axis, Curve, Key, Layer, Plot
from fairenum.rendering.svg.shapes import Shape
from fairenum.report.wording import short

TONES = ("tone-6", "tone-2", "tone-1", "tone-3", "tone-4", "tone-5")
LINE: Shape = "line"


def shown_groups(column: ColumnRanking) -> list[int]:
    """Choose the groups that curves are drawn for: the largest of those compared, as many as there are colours."""
    groups = column.scoring.groups
    compared = [place for place, group in enumerate(groups) if group.is_compared and group.n]
    return sorted(sorted(compared, key=lambda place: -groups[place].n)[: len(TONES)])


def _keys(column: ColumnRanking, places: Sequence[int]) -> tuple[Key, ...]:
    names = [short(column.scoring.groups[place].group) for place in places]
    return tuple(Key(name, tone, LINE) for name, tone in zip(names, TONES, strict=False))


def _banded(xs: Sequence[float], numbers: Sequence[Estimate], tone: str) -> Curve:
    values, low, high = zip(*((one.value, one.low, one.high) for one in numbers), strict=True)
    return Curve(tuple(xs), values, low, high, tone)


def sweeps(column: ColumnRanking, score: str) -> tuple[Plot, ...]:
    """Draw selection rates by group, and the gap with accuracy where it is known, against the cutoff."""
    points = sorted(column.sweep, key=lambda point: point.cutoff)
    if len(points) < 2:
        return ()
    xs, places = [point.cutoff for point in points], shown_groups(column)
    rates = (
        _banded(xs, [point.rates[place] for point in points], tone) for place, tone in zip(places, TONES, strict=False)
    )
    gap = _banded(xs, [point.gap for point in points], "tone-2")
    accuracy = [_banded(xs, [point.accuracy for point in points], "tone-1")] if points[0].accuracy.value else []
    keys = [Key("largest difference", "tone-2", LINE)] + [Key("accuracy", "tone-1", LINE)] * len(accuracy)
    across = Axis(f"cutoff of {short(score)}")
    return (
        _plot("selection rate", "Selection rates by cutoff", across, tuple(rates), _keys(column, places)),
        _plot("", "Gap by cutoff", across, (gap, *accuracy), tuple(keys)),
    )


def _plot(label: str, name: str, across: Axis, layers: tuple[Layer, ...], key: tuple[Key, ...]) -> Plot:
    return Plot(
        name=name,
        description="Lines with bands; the table beside them has the numbers.",
        x=across,
        y=Axis(label, low=0.0, high=1.0),
        layers=layers,
        key=key,
        height=300.0,
    )


def roc(column: ColumnRanking) -> Iterator[Plot]:
    """Draw the ROC curves of the groups, if labels are known."""
    places = [place for place in shown_groups(column) if column.groups[place].true_positive_rates]
    if not places:
        return
    curves = (
        Curve(column.groups[place].false_positive_rates, column.groups[place].true_positive_rates, tone=tone)
        for place, tone in zip(places, TONES, strict=False)
    )
    chance = Curve((0.0, 1.0), (0.0, 1.0), tone="tone-0", is_dashed=True)
    yield Plot(
        name="ROC curves by group",
        description="One line for each group; the table has the areas under them.",
        x=Axis("false positive rate", low=0.0, high=1.0),
        y=Axis("true positive rate", low=0.0, high=1.0),
        layers=(chance, *curves),
        key=_keys(column, places),
        height=380.0,
    )


def calibration(column: ColumnRanking, score: str) -> Iterator[Plot]:
    """Draw how often rows of about the same score have the favourable label, if labels are known."""
    bins = sorted(column.calibration, key=_middle)
    if len(bins) < 2:
        return
    places, xs = shown_groups(column), [_middle(one) for one in bins]
    curves = (_banded(xs, [one.rates[place] for one in bins], tone) for place, tone in zip(places, TONES, strict=False))
    yield _plot(
        "share with a favourable label",
        "Calibration by group",
        Axis(f"{short(score)}, middle of each tenth of the rows"),
        tuple(curves),
        _keys(column, places),
    )


def _middle(found: CalibrationBin) -> float:
    return (found.low + found.high) / 2.0
