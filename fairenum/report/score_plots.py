"""Plots of a score between groups: whom it selects at every cutoff, how well it ranks, and what it means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairenum.document.measured_score import CalibrationBin, ColumnRanking, GroupRanking
from fairenum.document.value import Estimate
from fairenum.rendering.svg import Axis, Curve, Key, Layer, Plot
from fairenum.rendering.svg.shapes import Shape
from fairenum.report.wording import short

TONES = ("tone-6", "tone-2", "tone-1", "tone-3", "tone-4", "tone-5")
# every other line is dashed, so that two can be told apart without colours
LINES: tuple[Shape, ...] = ("line", "dash") * 3


def shown_groups(column: ColumnRanking) -> list[int]:
    """Choose the groups that curves are drawn for: the largest of those compared, as many as there are colours."""
    groups = column.scoring.groups
    compared = [place for place, group in enumerate(groups) if group.is_compared and group.n]
    return sorted(sorted(compared, key=lambda place: -groups[place].n)[: len(TONES)])


def _keys(column: ColumnRanking, places: Sequence[int]) -> tuple[Key, ...]:
    names = [short(column.scoring.groups[place].group) for place in places]
    return tuple(Key(name, tone, line) for name, tone, line in zip(names, TONES, LINES, strict=False))


def _banded(xs: Sequence[float], numbers: Sequence[Estimate], key: Key) -> Curve:
    values, low, high = zip(*((one.value, one.low, one.high) for one in numbers), strict=True)
    return Curve(tuple(xs), values, low, high, key.tone, is_dashed=key.shape == "dash", name=key.text)


def sweeps(column: ColumnRanking, score: str) -> tuple[Plot, ...]:
    """Draw selection rates by group, and the gap with accuracy where it is known, against the cutoff."""
    points = sorted(column.sweep, key=lambda point: point.cutoff)
    if len(points) < 2:
        return ()
    xs, places = [point.cutoff for point in points], shown_groups(column)
    keys = _keys(column, places)
    rates = (
        _banded(xs, [point.rates[place] for point in points], key) for place, key in zip(places, keys, strict=True)
    )
    found = [(Key("largest difference", "tone-2", "line"), [point.gap for point in points])]
    if points[0].accuracy.value is not None:
        found.append((Key("accuracy", "tone-1", "dash"), [point.accuracy for point in points]))
    across = Axis(f"cutoff of {short(score)}")
    return (
        _plot("selection rate", "Selection rates by cutoff", across, tuple(rates), keys),
        _plot(
            "",
            "Gap by cutoff",
            across,
            tuple(_banded(xs, numbers, key) for key, numbers in found),
            tuple(key for key, _ in found),
        ),
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
    keys = _keys(column, places)
    curves = (_roc_curve(column.groups[place], key) for place, key in zip(places, keys, strict=True))
    chance = Curve((0.0, 1.0), (0.0, 1.0), tone="tone-0", is_dashed=True)
    yield Plot(
        name="ROC curves by group",
        description="One line for each group; the table has the areas under them.",
        x=Axis("false positive rate", low=0.0, high=1.0),
        y=Axis("true positive rate", low=0.0, high=1.0),
        layers=(chance, *curves),
        key=keys,
        height=380.0,
    )


def _roc_curve(group: GroupRanking, key: Key) -> Curve:
    return Curve(
        group.false_positive_rates,
        group.true_positive_rates,
        tone=key.tone,
        is_dashed=key.shape == "dash",
        name=key.text,
    )


def calibration(column: ColumnRanking, score: str) -> Iterator[Plot]:
    """Draw how often rows of about the same score have the favourable label, if labels are known."""
    bins = sorted(column.calibration, key=_middle)
    if len(bins) < 2:
        return
    places, xs = shown_groups(column), [_middle(one) for one in bins]
    keys = _keys(column, places)
    curves = (_banded(xs, [one.rates[place] for one in bins], key) for place, key in zip(places, keys, strict=True))
    yield _plot(
        "share with a favourable label",
        "Calibration by group",
        Axis(f"{short(score)}, middle of each tenth of the rows"),
        tuple(curves),
        keys,
    )


def _middle(found: CalibrationBin) -> float:
    return (found.low + found.high) / 2.0
