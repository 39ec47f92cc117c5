"""A score compared between the groups of a sensitive column, as tables and figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairenum.document.audit_document import AuditDocument
from fairenum.document.scores import CalibrationBin, ColumnRanking, CutoffPoint, GroupRanking, MeasuredScore
from fairenum.document.value import Estimate
from fairenum.document.words import GROUP_WIDTH, short
from fairenum.render.page import Block, Figure, Section, Table
from fairenum.render.svg import Curve
from fairenum.render.svg_plot import Axis, Key, Layer, Plot, Shape
from fairenum.report import measure_words
from fairenum.report.groups_section import foremost, group_name, hidden_groups
from fairenum.runtime.formatting import UNDEFINED, estimate, share, shortened, signed

TONES = ("tone-6", "tone-2", "tone-1", "tone-3", "tone-4", "tone-5")


# every other line is dashed, so that two can be told apart without colours
LINES: tuple[Shape, ...] = ("line", "dash") * 3


def shown_groups(column: ColumnRanking) -> list[int]:
    """Choose the groups that curves are drawn for: the largest compared ones, as many as there are colours."""
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


def calibration_plot(column: ColumnRanking, score: str) -> Iterator[Plot]:
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


MOST_RATES = 6  # groups with a column of their own in the table of cutoffs


def score_sections(score: MeasuredScore, title: str = "The score", anchor: str = "score") -> Iterator[Section]:
    """Show a score by every sensitive column, with figures."""
    for place, column in enumerate(score.columns, 1):
        by = shortened(column.column, GROUP_WIDTH)
        plots = sweeps(column, score.name)
        blocks: list[Block] = [
            scoring(score, place - 1),
            *([Figure(plots, measure_words.SWEEP_CAPTION)] if plots else []),
        ]
        blocks.append(cutoffs(score, place - 1))
        blocks += [Figure((plot,), measure_words.ROC_CAPTION) for plot in roc(column)]
        blocks += [Figure((plot,), measure_words.CALIBRATION_CAPTION) for plot in calibration_plot(column, score.name)]
        blocks += calibration(score, place - 1)
        yield Section(f"{anchor}-{place}", f"{title}, by {by}", tuple(blocks))


def brief_score_sections(score: MeasuredScore, title: str = "The score", anchor: str = "score") -> Iterator[Section]:
    """Show a score by every sensitive column in 80 columns."""
    for place, column in enumerate(score.columns):
        by = shortened(column.column, GROUP_WIDTH)
        tables = (scoring(score, place), cutoffs(score, place, is_brief=True))
        yield Section(f"{anchor}-{place + 1}", f"{title}, by {by}", tables)


def scoring(score: MeasuredScore, place: int) -> Table:
    """Show the scores of each group: rates above the median, means and, with a label, ranking."""
    column = score.columns[place]
    rows = list(zip(column.scoring.groups, column.groups, strict=True))
    shown = foremost(rows, [group.n for group, _ in rows])
    has_auc = any(group.auc.value is not None for group in column.groups)
    return Table(
        title="Scores by group",
        headings=("group", "n", "scoring rate", "ratio", "mean", "standardised", *(("AUC",) if has_auc else ())),
        rows=tuple(
            (
                group_name(group),
                str(group.n),
                estimate(group.rate),
                estimate(own.scoring_ratio),
                UNDEFINED if own.mean is None else f"{own.mean:.4g}",
                "reference" if own.group == column.scoring.reference else estimate(own.difference, signed),
                *((estimate(own.auc),) if has_auc else ()),
            )
            for group, own in shown
        ),
        notes=tuple(_scoring_notes(score, place)),
    )


def _scoring_notes(score: MeasuredScore, place: int) -> Iterator[str]:
    column = score.columns[place]
    rate = measure_words.scoring_rate(is_lower_better=score.is_lower_better)
    yield f"{rate}, {score.median:.6g} ({score.at_median} have exactly this score)"
    yield f"lowest ratio of two scoring rates, all groups together: {estimate(column.lowest)}"
    yield measure_words.standardised(score, column.scoring.reference)
    yield from hidden_groups(column.groups)


def cutoffs(score: MeasuredScore, place: int, *, is_brief: bool = False) -> Table:
    """Show selection by the score at a number of cutoffs; in brief at about every tenth of the rows."""
    column = score.columns[place]
    groups = shown_groups(column)[:MOST_RATES]
    points = column.sweep[1::2] if is_brief and len(column.sweep) > 1 else column.sweep
    has_accuracy = any(point.accuracy.value is not None for point in points)
    names = [] if is_brief else [shortened(column.scoring.groups[code].group, GROUP_WIDTH) for code in groups]
    return Table(
        title="By cutoff",
        headings=("cutoff", "selected", *names, "gap", "ratio", *(("accuracy",) if has_accuracy else ())),
        rows=tuple(
            (
                f"{point.cutoff:.6g}",
                share(point.selection_rate.value),
                *([] if is_brief else [estimate(point.rates[code]) for code in groups]),
                *_limits(point, has_accuracy=has_accuracy),
            )
            for point in points
        ),
        is_folded=not is_brief,
    )


def _limits(point: CutoffPoint, *, has_accuracy: bool) -> tuple[str, ...]:
    accuracy = (estimate(point.accuracy),) if has_accuracy else ()
    return estimate(point.gap), estimate(point.ratio), *accuracy


def calibration(score: MeasuredScore, place: int) -> Iterator[Table]:
    """Show how often rows of about the same score have the favourable label, if labels are known."""
    column = score.columns[place]
    groups = shown_groups(column)
    if not column.calibration:
        return
    yield Table(
        title="Share with a favourable label, by score",
        headings=("score", *(shortened(column.scoring.groups[code].group, GROUP_WIDTH) for code in groups)),
        rows=tuple(
            (f"{one.low:.4g} to {one.high:.4g}", *(estimate(one.rates[code]) for code in groups))
            for one in column.calibration
        ),
        is_folded=True,
    )


def model_score_sections(document: AuditDocument, *, is_brief: bool = False) -> Iterator[Section]:
    """Show the scores by which the model in use, and the models shown side by side, rank people."""
    shown = brief_score_sections if is_brief else score_sections
    for one in document.scores:
        if one.rank in document.shortlist:
            title = "The score of the model in use" if one.rank == 0 else f"The decision values of model {one.rank}"
            yield from shown(one.score, title, f"score-{one.rank}")
