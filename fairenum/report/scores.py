"""A score between the groups of a sensitive column, as tables and figures."""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.audit import AuditDocument
from fairenum.document.measured_score import CutoffPoint, MeasuredScore
from fairenum.rendering.numbers import UNDEFINED, estimate, share, signed
from fairenum.rendering.page import Block, Figure, Section, Table
from fairenum.rendering.text import shortened
from fairenum.report import score_plots
from fairenum.report.groups import foremost, group_name, hidden_groups
from fairenum.report.wording import GROUP_WIDTH
from fairenum.report.wording import measure as wording

MOST_RATES = 6  # groups with a column of their own in the table of cutoffs


def score_sections(score: MeasuredScore, title: str = "The score", anchor: str = "score") -> Iterator[Section]:
    """Show a score by every sensitive column, with figures."""
    for place, column in enumerate(score.columns, 1):
        by = shortened(column.column, GROUP_WIDTH)
        plots = score_plots.sweeps(column, score.name)
        blocks: list[Block] = [scoring(score, place - 1), *([Figure(plots, wording.SWEEP_CAPTION)] if plots else [])]
        blocks.append(cutoffs(score, place - 1))
        blocks += [Figure((plot,), wording.ROC_CAPTION) for plot in score_plots.roc(column)]
        blocks += [Figure((plot,), wording.CALIBRATION_CAPTION) for plot in score_plots.calibration(column, score.name)]
        blocks += calibration(score, place - 1)
        yield Section(f"{anchor}-{place}", f"{title}, by {by}", tuple(blocks))


def brief_score_sections(score: MeasuredScore, title: str = "The score", anchor: str = "score") -> Iterator[Section]:
    """Show the same for 80 columns."""
    for place, column in enumerate(score.columns):
        by = shortened(column.column, GROUP_WIDTH)
        tables = (scoring(score, place), cutoffs(score, place, is_brief=True))
        yield Section(f"{anchor}-{place + 1}", f"{title}, by {by}", tables)


def scoring(score: MeasuredScore, place: int) -> Table:
    """Show how the groups score: rates above the median, means and, with a label, ranking."""
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
    rate = wording.scoring_rate(is_lower_better=score.is_lower_better)
    yield f"{rate}, {score.median:.6g} ({score.at_median} have exactly this score)"
    yield f"lowest ratio of two scoring rates, all groups together: {estimate(column.lowest)}"
    yield wording.standardised(score, column.scoring.reference)
    yield from hidden_groups(column.groups)


def cutoffs(score: MeasuredScore, place: int, *, is_brief: bool = False) -> Table:
    """Show whom the score selects at a number of cutoffs; in brief at about every tenth of the rows."""
    column = score.columns[place]
    groups = score_plots.shown_groups(column)[:MOST_RATES]
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
    groups = score_plots.shown_groups(column)
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
    """Show what the model in use, and the models that are shown side by side, rank people by."""
    shown = brief_score_sections if is_brief else score_sections
    for one in document.scores:
        if one.rank in document.shortlist:
            title = "The score of the model in use" if one.rank == 0 else f"The decision values of model {one.rank}"
            yield from shown(one.score, title, f"score-{one.rank}")
