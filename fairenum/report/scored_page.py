"""The page of a scored table: what an exported model decided about new rows, by group, and what is new in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from fairenum.document.measure_document import ColumnMeasures
from fairenum.document.remark_words import remark_warnings
from fairenum.document.scoring import FeatureNews, ScoredTable
from fairenum.document.words import GROUP_WIDTH, LONGEST, NAME_WIDTH, TABLE_WIDTH, short
from fairenum.render.page import Block, Column, Figure, Page, Section, Table
from fairenum.report import groups_section
from fairenum.report.embedded_copy import copy_of_value
from fairenum.runtime.formatting import (
    UNDEFINED,
    counted,
    estimate,
    p_value,
    percent,
    sentence_list,
    shortened,
    signed,
)

COPY = "Counts, rates and what is new; the decisions themselves are in the file of --out."
ALIKE = 0.05  # from this p-value on, nothing is said against equal selection rates


def scored_page(scored: ScoredTable, *, brief: bool = False) -> Page:
    """Return the page of a scored table; if `brief`, with tables that fit a terminal of 80 columns."""
    name = shortened(scored.name, TABLE_WIDTH)
    return Page(
        title=f"Rows decided: {name}",
        name=name,
        kicker="Rows decided by an exported model",
        subject=_subject(scored),
        headline=_headline(scored),
        findings=tuple(_findings(scored)),
        warnings=tuple(shortened(text, LONGEST) for text in _warnings(scored)),
        sections=tuple(_sections(scored, brief=brief)),
        copy=copy_of_value(scored, COPY),
        copy_name="fairenum-scored.json",
    )


def _subject(scored: ScoredTable) -> str:
    model = f"model {scored.rank} of {shortened(scored.audited, TABLE_WIDTH)} ({scored.standing})"
    return (
        f"{shortened(scored.name, TABLE_WIDTH)}: {counted(scored.rows, 'row')}; decided by {short(scored.model)}, "
        f"{model}; favourable: {short(scored.label)} = {short(scored.favourable)}"
    )


def _headline(scored: ScoredTable) -> str:
    return (
        f"{scored.selected} of {counted(scored.rows, 'row')} ({percent(scored.selection_rate.value)}) get the "
        f"favourable decision, {short(scored.label)} = {short(scored.favourable)}."
    )


def _findings(scored: ScoredTable) -> Iterator[str]:
    against = "not shown to be another" if scored.p is None or scored.p >= ALIKE else f"p {p_value(scored.p)}"
    yield (
        f"The selection rate is {estimate(scored.selection_rate)}; on the holdout of the audit it was "
        f"{estimate(scored.audited_rate)}, a change of {estimate(scored.change, signed)} ({against})."
    )
    for column in scored.columns:
        yield _gap(column)
    if scored.lacking:
        names = sentence_list(map(short, scored.lacking))
        yield f"Not compared, as the table has no such column or too many groups: {names}."
    if not any(scored.news):
        yield "Nothing in the columns that the model reads is new to it."


def _gap(column: ColumnMeasures) -> str:
    scores, groups = column.scores, [one for one in column.impact.groups if one.is_compared and one.n]
    by = shortened(column.column, GROUP_WIDTH)
    if len(groups) < 2:
        only = f"all compared rows are of {short(groups[0].group)}" if groups else "no group has enough rows"
        return f"By {by} nothing is compared: {only}."
    return (
        f"By {by} the largest difference of selection rates is "
        f"{estimate(scores.gap('demographic_parity_difference'))}, the lowest ratio "
        f"{estimate(scores.ratio('demographic_parity_ratio'))}."
    )


def _warnings(scored: ScoredTable) -> Iterator[str]:
    if scored.standing in ("candidate", "not proposed"):
        yield "the audit did not propose this model; it was exported all the same"
    yield from _named(
        scored,
        "values that no training row has, so that they count as none or as rare ones",
        lambda one: one.unseen,
        lambda one: f": {', '.join(map(short, one.values))}",
    )
    yield from _named(
        scored,
        "numbers outside the range of the training rows",
        lambda one: one.outside,
        lambda one: f": {_ends(one.least, one.most)} against {_ends(*(one.trained or (None, None)))}",
    )
    yield from _named(
        scored,
        "values are missing",
        lambda one: one.missing,
        lambda one: "" if one.filled is None else f", taken as {one.filled:g}, the median of the training rows",
    )
    shifted = [f"{short(one.name)} ({percent(one.distance)})" for one in scored.features if one.is_shifted]
    if shifted:
        yield (
            f"distributed otherwise than in the training rows (the share of rows that differs): "
            f"{sentence_list(shifted)}; what the audit found holds for people like those of its table"
        )
    for column, names in scored.strange.items():
        yield f"groups by {short(column)} that the audit did not have: {sentence_list(map(short, names))}"
    if scored.ignored:
        yield f"columns that the model does not read: {sentence_list(map(short, scored.ignored))}"
    yield from remark_warnings(scored.remarks)


def _named(
    scored: ScoredTable, what: str, rows: Callable[[FeatureNews], int], detail: Callable[[FeatureNews], str]
) -> Iterator[str]:
    """Yield one sentence for all features that have such rows."""
    found = [f"{short(one.name)} ({counted(rows(one), 'row')}{detail(one)})" for one in scored.features if rows(one)]
    if found:
        yield f"{what}: {sentence_list(found)}"


def _ends(least: float | None, most: float | None) -> str:
    return UNDEFINED if least is None or most is None else f"{least:g} to {most:g}"


def _sections(scored: ScoredTable, *, brief: bool) -> Iterator[Section]:
    for place, column in enumerate(scored.columns):
        title = f"Who is selected, by {shortened(column.column, GROUP_WIDTH)}"
        yield Section(f"groups-{place + 1}", title, tuple(_group_blocks(column, brief=brief)))
    news = tuple(scored.news)
    if news:
        yield Section.of_table("news", _news_table(news))
    if not brief:
        yield Section.of_table("features", _shift_table(scored.features))


def _group_blocks(column: ColumnMeasures, *, brief: bool) -> Iterator[Block]:
    if brief:
        yield replace(groups_section.impact(column.impact), title="")
        return
    plot = groups_section.group_rates([column.impact], lambda _: "the model", "selection rate")
    caption = "Share that gets the favourable decision, with its interval; dashed: four fifths of the highest."
    yield Figure((plot,), caption)
    ratios = {group.group: group.ratio for group in column.groups}
    yield replace(groups_section.whole_impact(column.impact, ratios=ratios), title="")


NEWS_COLUMNS: tuple[Column[FeatureNews], ...] = (
    Column("name", "column", lambda one: shortened(one.name, NAME_WIDTH), is_word=True),
    Column("missing", "missing", lambda one: str(one.missing)),
    Column("unseen", "unseen", lambda one: str(one.unseen), note="unseen: rows with a value that no training row has"),
    Column(
        "outside",
        "out of range",
        lambda one: str(one.outside),
        note="out of range: rows with a number below or above all training rows",
    ),
    Column(
        "distance",
        "shift",
        lambda one: percent(one.distance) if one.is_shifted else UNDEFINED,
        note="shift: share of rows that differs from the training rows, where a test shows one of at least 10 %",
    ),
)


def _news_table(news: Sequence[FeatureNews]) -> Table:
    return Table.of("What is new to the model", NEWS_COLUMNS, news)


SHIFT_COLUMNS: tuple[Column[FeatureNews], ...] = (
    Column("name", "column", lambda one: shortened(one.name, NAME_WIDTH), is_word=True),
    Column("new", "new rows", lambda one: _ends(one.least, one.most)),
    Column("trained", "training rows", lambda one: _ends(*(one.trained or (None, None)))),
    Column(
        "distance",
        "distance",
        lambda one: percent(one.distance),
        note="distance: share of the new rows that would need another value; not computed for fewer than 50 rows",
    ),
    Column("p", "p", lambda one: p_value(one.p), note="p: chi-squared test that both are distributed alike"),
)


def _shift_table(features: Sequence[FeatureNews]) -> Table:
    return Table.of("New rows and training rows", SHIFT_COLUMNS, features)
