"""Tables and figures that compare a score between the groups of a sensitive column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairenum.document.audit_document import AuditDocument
from fairenum.document.scores import CalibrationBin, ColumnRanking, CutoffPoint, GroupRanking, GroupRow, MeasuredScore
from fairenum.document.value import Estimate
from fairenum.document.words import GROUP_WIDTH, short
from fairenum.render.page import Block, Column, Figure, Section, Table
from fairenum.render.svg import Curve
from fairenum.render.svg_plot import Axis, Key, Layer, Plot, Shape
from fairenum.report.groups_section import foremost, group_name, hidden_groups
from fairenum.runtime.formatting import UNDEFINED, counted, estimate, share, shortened, signed

SWEEP_CAPTION = (
    "At every cutoff: the share of each group that is selected (left) and the largest difference between two groups "
    "(right), with intervals that hold one by one."
)
ROC_CAPTION = (
    "Within each group: how many of those with a favourable label are selected (upwards) and of those without "
    "(to the right), as the cutoff falls. The dashed line is a score that tells nothing."
)
CALIBRATION_CAPTION = (
    "Rows of about the same score: the share with a favourable label in each group, with intervals. Where the curves "
    "lie apart, one score means different things."
)
TONES = ("tone-6", "tone-2", "tone-1", "tone-3", "tone-4", "tone-5")
# Every other line is dashed, so that neighbours differ without colours, too.
LINES: tuple[Shape, ...] = ("line", "dash") * 3
MOST_RATES = 6  # groups with a column of their own in the table of cutoffs


def median_side(*, is_lower_better: bool) -> str:
    """Return a phrase for the side of the median on which scores are favourable."""
    return "below the median" if is_lower_better else "above the median"


def scoring_rate(*, is_lower_better: bool) -> str:
    """Return the definition of the scoring rate of a group in words."""
    side = median_side(is_lower_better=is_lower_better)
    return f"scoring rate: share of the group whose score is {side} of all measured rows"


def shown_groups(column: ColumnRanking) -> list[int]:
    """Return the indices of the groups that get a curve: the largest compared groups, as many as there are colours."""
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
    """Return two plots against the cutoff: selection rates by group, and the gap, with the accuracy if known."""
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
    """Yield the plot of the ROC curves of the groups, if labels are known."""
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
    """Yield the plot of the share of favourable labels by score, a curve for each group, if labels are known."""
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


def score_sections(score: MeasuredScore, title: str = "The score", anchor: str = "score") -> Iterator[Section]:
    """Yield one section for each sensitive column, with tables and figures that compare a score between its groups."""
    for place, column in enumerate(score.columns):
        blocks = tuple(_score_blocks(score, place))
        yield Section(f"{anchor}-{place + 1}", f"{title}, by {shortened(column.column, GROUP_WIDTH)}", blocks)


def _score_blocks(score: MeasuredScore, place: int) -> Iterator[Block]:
    column = score.columns[place]
    yield scoring(score, place)
    if plots := sweeps(column, score.name):
        yield Figure(plots, SWEEP_CAPTION)
    yield cutoffs(score, place)
    yield from (Figure((plot,), ROC_CAPTION) for plot in roc(column))
    yield from (Figure((plot,), CALIBRATION_CAPTION) for plot in calibration_plot(column, score.name))
    yield from calibration(score, place)


def brief_score_sections(score: MeasuredScore, title: str = "The score", anchor: str = "score") -> Iterator[Section]:
    """Yield one section for each sensitive column, with tables that fit a terminal of 80 columns."""
    for place, column in enumerate(score.columns):
        tables = (scoring(score, place), cutoffs(score, place, is_brief=True))
        yield Section(f"{anchor}-{place + 1}", f"{title}, by {shortened(column.column, GROUP_WIDTH)}", tables)


def scoring(score: MeasuredScore, place: int) -> Table:
    """Return the table of scores by group: share on the favourable side of the median, mean, and AUC if known.

    `place` is the index of the sensitive column.
    """
    column = score.columns[place]
    rows = list(zip(column.scoring.groups, column.groups, strict=True))
    shown = foremost(rows, [group.n for group, _ in rows])
    return Table.of("Scores by group", tuple(_scoring_columns(column)), shown, notes=_scoring_notes(score, place))


def _scoring_columns(column: ColumnRanking) -> Iterator[Column[tuple[GroupRow, GroupRanking]]]:
    reference = column.scoring.reference
    yield Column("group", "group", lambda row: group_name(row[0]), is_word=True)
    yield Column("n", "n", lambda row: str(row[0].n))
    yield Column("rate", "scoring rate", lambda row: estimate(row[0].rate))
    yield Column("ratio", "ratio", lambda row: estimate(row[1].scoring_ratio))
    yield Column("mean", "mean", lambda row: UNDEFINED if row[1].mean is None else f"{row[1].mean:.4g}")
    yield Column(
        *("difference", "standardised"),
        lambda row: "reference" if row[1].group == reference else estimate(row[1].difference, signed),
    )
    if any(group.auc.value is not None for group in column.groups):
        yield Column("auc", "AUC", lambda row: estimate(row[1].auc))


def _scoring_notes(score: MeasuredScore, place: int) -> Iterator[str]:
    column = score.columns[place]
    rate = scoring_rate(is_lower_better=score.is_lower_better)
    yield f"{rate}, {score.median:.6g} ({score.at_median} have exactly this score)"
    yield f"lowest ratio of two scoring rates, all groups together: {estimate(column.lowest)}"
    sign = "; above 0 where scores are lower, which is favourable" if score.is_lower_better else ""
    yield f"standardised: mean against {short(column.scoring.reference)}, in standard deviations{sign}"
    yield from hidden_groups(column.groups)


def cutoffs(score: MeasuredScore, place: int, *, is_brief: bool = False) -> Table:
    """Return the table of selection rates, gap and ratio by cutoff; if `is_brief`, of every second cutoff.

    `place` is the index of the sensitive column.
    """
    column = score.columns[place]
    points = column.sweep[1::2] if is_brief and len(column.sweep) > 1 else column.sweep
    columns = tuple(_cutoff_columns(column, is_brief=is_brief))
    return Table.of("By cutoff", columns, points, is_folded=not is_brief)


def _cutoff_columns(column: ColumnRanking, *, is_brief: bool) -> Iterator[Column[CutoffPoint]]:
    yield Column("cutoff", "cutoff", lambda point: f"{point.cutoff:.6g}", is_word=True)
    yield Column("selection_rate", "selected", lambda point: share(point.selection_rate.value))
    if not is_brief:
        yield from (_rate_column(column, code) for code in shown_groups(column)[:MOST_RATES])
    yield Column("gap", "gap", lambda point: estimate(point.gap))
    yield Column("ratio", "ratio", lambda point: estimate(point.ratio))
    if any(point.accuracy.value is not None for point in column.sweep):
        yield Column("accuracy", "accuracy", lambda point: estimate(point.accuracy))


def _rate_column(column: ColumnRanking, code: int) -> Column[CutoffPoint | CalibrationBin]:
    name = shortened(column.scoring.groups[code].group, GROUP_WIDTH)
    return Column(f"group_{code}", name, lambda row: estimate(row.rates[code]))


def calibration(score: MeasuredScore, place: int) -> Iterator[Table]:
    """Yield the table of the share of favourable labels by score and group, if labels are known."""
    column = score.columns[place]
    if column.calibration:
        columns: tuple[Column[CalibrationBin], ...] = (
            Column("score", "score", lambda one: f"{one.low:.4g} to {one.high:.4g}", is_word=True),
            *(_rate_column(column, code) for code in shown_groups(column)),
        )
        yield Table.of("Share with a favourable label, by score", columns, column.calibration, is_folded=True)


def _values_title(rank: int) -> str:
    return f"The decision values of model {rank}"


def model_score_sections(document: AuditDocument, *, is_brief: bool = False) -> Iterator[Section]:
    """Yield sections on the scores of the model in use, model 1 and the selected model, by sensitive column."""
    shown = brief_score_sections if is_brief else score_sections
    for one in document.scores:
        if one.rank in document.shortlist:
            whole = f", on all {counted(one.rows, 'row')} that it decided" if one.rows is not None else ""
            title = f"The score of the model in use{whole}" if one.rank == 0 else _values_title(one.rank)
            yield from shown(one.score, title, f"score-{one.rank}")
