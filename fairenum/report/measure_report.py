"""Pages of a measurement of given decisions: in full, arranged as a bias audit, or in brief."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from itertools import islice

from fairenum.document.cautions import caution_texts
from fairenum.document.measure_document import ColumnMeasures, MeasuredDecisions, MeasureDocument
from fairenum.document.metric_registry import BASE_RATE, METRICS
from fairenum.document.probable_facts import MOST_LIKELY
from fairenum.document.scores import MeasuredScore
from fairenum.document.terms import RATES, Gap, Verdict
from fairenum.document.value import Estimate
from fairenum.document.words import GAP_NAMES, GROUP_WIDTH, TABLE_WIDTH, VERDICTS, decisions_title, short
from fairenum.errors import ConfigError
from fairenum.render.page import Block, Figure, Items, Page, Section, Table, Tile
from fairenum.report import groups_section, profiles, scores_section
from fairenum.report.audit_report import configuration
from fairenum.report.embedded_copy import copy_of
from fairenum.report.period_section import period_findings, period_sections
from fairenum.report.probable_section import probable_findings, probable_sections
from fairenum.report.rules import Rule, judge_all
from fairenum.report.scores_section import median_side
from fairenum.report.strata_section import given_findings, given_sections
from fairenum.runtime.formatting import UNDEFINED, counted, estimate, file_name, sentence_list, share, shortened, signed

BIAS_AUDIT = "ll144"
LABEL_GAPS: tuple[Gap, ...] = tuple(metric.key for metric in METRICS if metric.needs_label)
LABEL_RATES = tuple(rate for rate in RATES.values() if rate.needs_label)
FOUR_FIFTHS = {
    "kept": "at least four fifths",
    "violated": "below four fifths",
    "open": "which leaves open whether it is below four fifths",
}
IS_FOUR_FIFTHS = {"kept": "yes", "violated": "no", "open": "open"}


def measure_page(
    document: MeasureDocument, *, rules: Iterable[Rule] = (), profile: str | None = None, day: date | None = None
) -> Page:
    """Return the full page of a measurement; with the profile "ll144", arranged as a bias audit of the given day."""
    page = replace(_page(document, rules), sections=tuple(_sections(document)), tiles=tuple(_tiles(document)))
    if profile is None:
        return page
    if profile != BIAS_AUDIT:
        raise ConfigError(f"profile {profile!r} (--profile) is for audits; a measurement has {BIAS_AUDIT}")
    tools = _tools(document)
    return replace(
        page,
        kicker=profiles.KICKER,
        notice=f"{(day or date.today()).isoformat()}. {profiles.BIAS_AUDIT}",
        headline=profiles.headline(tools[0]),
        findings=(page.headline, *page.findings),
        sections=(_bias_audit(document, tools), *page.sections, profiles.followed()),
    )


def brief_measure_page(document: MeasureDocument, *, rules: Iterable[Rule] = ()) -> Page:
    """Return the brief page of a measurement, whose tables fit a terminal of 80 columns."""
    return replace(_page(document, rules), sections=tuple(_brief_sections(document)))


def _page(document: MeasureDocument, rules: Iterable[Rule]) -> Page:
    name = shortened(document.dataset.name, TABLE_WIDTH)
    return Page(
        title=f"Decisions measured: {name}",
        name=name,
        kicker="Decisions measured",
        subject=_subject(document),
        headline=_headline(document),
        findings=tuple(_findings(document)),
        warnings=caution_texts(document),
        sections=(),
        copy=copy_of(document),
        copy_name=file_name(document.name, "json"),
        checks=tuple(judgement.check for judgement in judge_all(document, rules)),
    )


def _subject(document: MeasureDocument) -> str:
    """Return a line that names the table, its decisions, score, label and sensitive columns."""
    data = document.dataset
    counts = " (from counts)" if data.form == "counts" else ""
    parts = [f"{counted(data.rows, 'decided row')}{counts}"]
    named = [one for one in document.decisions if one.how == "column" and one.favourable is not None]
    if named:
        favourable = ", ".join(f"{short(one.name)} = {short(str(one.favourable))}" for one in named)
        parts.append(f"favourable: {favourable}")
    if document.score:
        better = "lower" if document.config.lower_is_better else "higher"
        parts.append(f"score: {short(document.score.name)}, {better} is favourable")
    if data.label is not None and data.favourable is not None:
        parts.append(f"label: {short(data.label)}, favourable: {short(data.favourable)}")
    elif data.label is None:
        parts.append("no label")
    columns = sentence_list(short(column) for column in data.sensitive_columns)
    return f"{shortened(data.name, TABLE_WIDTH)}: {'; '.join([*parts, f'groups by {columns}'])}"


def _headline(document: MeasureDocument) -> str:
    """Return a sentence about the difference between groups in the first set of decisions, and its significance."""
    first = document.decisions[0]
    if _is_by_probability(document):
        return next(probable_findings(document), _inequality(first, document.dataset.primary.column))
    whose = f"{decisions_title(first, document)}: " if len(document.decisions) > 1 or first.how != "column" else ""
    return whose + _inequality(first, document.dataset.primary.column)


def _is_by_probability(document: MeasureDocument) -> bool:
    """Tell whether all that is known of groups is their probabilities, so that weighted rates come first."""
    return document.decisions[0].probable is not None and document.dataset.primary.column == MOST_LIKELY


def _inequality(decisions: MeasuredDecisions, name: str) -> str:
    """Return a sentence with the gap and lowest impact ratio of a column's groups, or on why neither is given."""
    column, by = decisions.of_column(name), shortened(name, GROUP_WIDTH)
    compared = [group for group in column.impact.groups if group.is_compared and group.n]
    if len(compared) < 2:
        return f"There is one group by {by} only, so there is nothing to compare."
    if decisions.is_constant:
        outcome = "Everybody gets" if decisions.selected else "Nobody gets"
        return f"{outcome} the favourable outcome, so groups by {by} do not differ."
    if all(group.is_small for group in compared):
        return f"The groups by {by} are too small to say whether they are selected alike."
    gap, ratio = _gap_and_ratio(column)
    rates = f"{estimate(gap)}; the lowest impact ratio is {estimate(ratio)}, {FOUR_FIFTHS[column.four_fifths]}."
    if (gap.low or 0.0) > 0.0:
        return f"Groups by {by} are selected at different rates: the largest difference is {rates}"
    return f"No difference between groups by {by} is shown; they differ by {rates}"


def _gap_and_ratio(column: ColumnMeasures) -> tuple[Estimate, Estimate]:
    scores = column.scores
    return scores.gap("demographic_parity_difference"), scores.ratio("demographic_parity_ratio")


def _findings(document: MeasureDocument) -> Iterator[str]:
    """Yield sentences about other sensitive columns, other sets of decisions, gaps that need a label, and the score."""
    first, primary = document.decisions[0], document.dataset.primary.column
    if _is_by_probability(document):
        yield _inequality(first, primary)
        yield from islice(probable_findings(document), 1, None)
    else:
        yield from probable_findings(document)
    yield from period_findings(document)
    yield from given_findings(document)
    others = (column.column for column in document.dataset.sensitive if column.column != primary)
    yield from (_inequality(first, column) for column in others)
    yield from (_against_first(one, document) for one in document.decisions[1:])
    if document.has_label:
        yield from (_against_label(one, document) for one in document.decisions)
    else:
        yield "Without a label, only selection can be measured, not whether decisions are right."
    if document.score:
        yield _score_sentence(document.score, primary)


def _metric(document: MeasureDocument) -> Gap:
    """Return the gap that decisions are compared by: the configured one, or demographic parity if it lacks a label."""
    metric = document.config.metric
    return metric if document.has_label or metric not in LABEL_GAPS else "demographic_parity_difference"


def _against_first(decisions: MeasuredDecisions, document: MeasureDocument) -> str:
    metric = _metric(document)
    gap = decisions.of_column(document.dataset.primary.column).scores.gap(metric)
    name, first = decisions_title(decisions, document), decisions_title(document.decisions[0], document)
    if gap.change is None:
        return f"{name} cannot be compared with {first}."
    words = {
        Verdict.FAIRER: f"is fairer than {first}",
        Verdict.LESS_FAIR: f"is less fair than {first}",
        Verdict.SAME: f"has the gap of {first} within {document.config.same_within:g}",
        Verdict.OPEN: f"cannot be distinguished from {first}",
        None: f"cannot be compared with {first}",
    }[gap.verdict]
    return (
        f"{name} {words}: its {GAP_NAMES[metric]} gap is {estimate(gap)}, a change of "
        f"{estimate(gap.change, signed)} on the same rows."
    )


def _against_label(decisions: MeasuredDecisions, document: MeasureDocument) -> str:
    name, scores = decisions_title(decisions, document), decisions.of_column(document.dataset.primary.column).scores
    gaps = sentence_list(f"{GAP_NAMES[gap]} {estimate(scores.gap(gap))}" for gap in LABEL_GAPS)
    return f"{name}: accuracy {estimate(decisions.accuracy)}; gaps against the label: {gaps}."


def _score_sentence(score: MeasuredScore, primary: str) -> str:
    column = score.of_column(primary)
    widest = max(column.groups, key=lambda group: abs(group.difference.value or 0.0))
    side = median_side(is_lower_better=score.is_lower_better)
    sign = ", above 0 where it is lower" if score.is_lower_better else ""
    return (
        f"By {short(primary)} the lowest ratio of scoring rates (scores {side}) is {estimate(column.lowest)};"
        f" the mean score of {short(widest.group)} is {estimate(widest.difference, signed)} standard deviations from "
        f"that of {short(column.scoring.reference)}{sign}."
    )


def _tiles(document: MeasureDocument) -> Iterator[Tile]:
    for decisions in document.decisions[:2]:
        gap, ratio = _gap_and_ratio(decisions.of_column(document.dataset.primary.column))
        yield Tile.of(f"largest difference, {decisions_title(decisions, document)}", estimate(gap))
        yield Tile.of(f"lowest impact ratio, {decisions_title(decisions, document)}", estimate(ratio))
    yield Tile.of("selected", estimate(document.decisions[0].selection_rate))


def _sections(document: MeasureDocument) -> Iterator[Section]:
    yield Section.of_table("decisions", _side_by_side(document))
    for place, column in enumerate(document.dataset.sensitive):
        yield _groups(place, column.column, _group_blocks(document, place))
    yield from probable_sections(document)
    yield from given_sections(document)
    yield from period_sections(document)
    if document.score:
        yield from scores_section.score_sections(document.score)
    steps, limits = Items(tuple(_steps(document))), Items(tuple(_limits(document)))
    yield Section("method", "Method and limits", (steps, limits))
    yield configuration(document, document.config.options)


def _brief_sections(document: MeasureDocument) -> Iterator[Section]:
    yield Section.of_table("decisions", _side_by_side(document))
    for place, column in enumerate(document.dataset.sensitive):
        yield _groups(place, column.column, _brief_group_blocks(document, place))
    yield from probable_sections(document, is_brief=True)
    yield from given_sections(document, is_brief=True)
    yield from period_sections(document, is_brief=True)
    if document.score:
        yield from scores_section.brief_score_sections(document.score)


def _groups(place: int, column: str, blocks: Iterable[Block]) -> Section:
    return Section(f"groups-{place + 1}", f"Who is selected, by {shortened(column, GROUP_WIDTH)}", tuple(blocks))


def _group_blocks(document: MeasureDocument, place: int) -> Iterator[Block]:
    names = {number: decisions_title(decisions, document) for number, decisions in enumerate(document.decisions, 1)}
    drawn = [decisions.columns[place].impact for decisions in document.decisions[:2]]
    plot = groups_section.group_rates(drawn, names.__getitem__, "selection rate")
    yield Figure(
        (plot,),
        "Share that gets the favourable outcome, with its interval; dashed: four fifths of the highest of "
        f"{names[drawn[-1].rank]}.",
    )
    for decisions in document.decisions:
        column = decisions.columns[place]
        ratios = {group.group: group.ratio for group in column.groups}
        table = groups_section.whole_impact(column.impact, ratios=ratios)
        yield replace(table, title=decisions_title(decisions, document))
        yield from _rates(column)


def _brief_group_blocks(document: MeasureDocument, place: int) -> Iterator[Block]:
    for decisions in document.decisions:
        table = groups_section.impact(decisions.columns[place].impact)
        yield replace(table, title=decisions_title(decisions, document))
        yield from _rates(decisions.columns[place])


def _rates(column: ColumnMeasures) -> Iterator[Table]:
    """Yield the table of rates that need a label, by group; nothing without a label."""
    if all(group.positives is None for group in column.groups):
        return
    rows = list(zip(column.impact.groups, column.groups, strict=True))
    yield Table(
        title="Against the label",
        headings=("group", BASE_RATE.name, *(rate.name.removesuffix(" rate") for rate in LABEL_RATES), "accuracy"),
        rows=tuple(
            (
                groups_section.group_name(group),
                *(estimate(group.of(rate)) for rate in (BASE_RATE, *LABEL_RATES)),
                estimate(own.accuracy),
            )
            for group, own in groups_section.foremost(rows, [group.n for group, _ in rows])
        ),
    )


def _side_by_side(document: MeasureDocument) -> Table:
    """Return a table with one row for each set of decisions and each sensitive column."""
    is_several = len(document.decisions) > 1
    names = ("decision", "by") if is_several else ("by",)
    gaps = tuple(GAP_NAMES[gap] for gap in LABEL_GAPS) if document.has_label else ()
    verdict = ("against the first",) if is_several else ()
    return Table(
        title="Decisions, side by side" if is_several else "Between groups",
        headings=(*names, "selected", "gap", "lowest ratio", "four fifths", *gaps, *verdict),
        rows=tuple(
            _decisions_row(decisions, column, document)
            for decisions in document.decisions
            for column in decisions.columns
        ),
        names=len(names),
        notes=tuple(_side_notes(document)),
    )


def _side_notes(document: MeasureDocument) -> Iterator[str]:
    yield "gap: largest difference of two selection rates; ratio: smallest of one by another; all groups together"
    yield "four fifths: whether the lowest ratio is at least 0.8; open where its interval holds both"
    if len(document.decisions) > 1:
        yield f"against the first: verdict on the {GAP_NAMES[_metric(document)]} gap, on the same rows"


def _decisions_row(decisions: MeasuredDecisions, column: ColumnMeasures, document: MeasureDocument) -> tuple[str, ...]:
    is_several, is_first = len(document.decisions) > 1, decisions is document.decisions[0]
    verdict = UNDEFINED if is_first else VERDICTS[column.scores.gap(_metric(document)).verdict]
    return (
        *((decisions_title(decisions, document),) if is_several else ()),
        shortened(column.column, GROUP_WIDTH),
        share(decisions.selection_rate.value),
        *map(estimate, _gap_and_ratio(column)),
        IS_FOUR_FIFTHS[column.four_fifths],
        *(estimate(column.scores.gap(gap)) for gap in LABEL_GAPS if document.has_label),
        *((verdict,) if is_several else ()),
    )


def _tools(document: MeasureDocument) -> list[profiles.Tool]:
    """Return one tool of a bias audit for each set of decisions; the first tool also gets the score."""
    scored = tuple(column.scoring for column in document.score.columns) if document.score else ()
    return [
        profiles.Tool(
            decisions_title(decisions, document),
            tuple(column.impact for column in decisions.columns),
            () if place else scored,
            short(document.score.name) if document.score else "",
            document.config.lower_is_better,
        )
        for place, decisions in enumerate(document.decisions)
    ]


def _bias_audit(document: MeasureDocument, tools: list[profiles.Tool]) -> Section:
    """Return the section of impact ratios of a bias audit under New York City's Local Law 144."""
    data = document.dataset
    source = (
        f"Decisions about {counted(data.rows, 'row')} of {shortened(data.name, TABLE_WIDTH)}, as {tools[0].name} says. "
        "Whether they are the tool's own history or test data is for the auditor to say."
    )
    return profiles.ratios_section(source, profiles.about_data(document.config, data.undecided), tools)


def _steps(document: MeasureDocument) -> Iterator[str]:
    """Yield sentences that describe how the numbers were computed."""
    level = f"{100 * document.config.confidence:g} %"
    yield (
        "Nothing was trained: decisions and scores are measured as the table holds them, each row as one person "
        "independent of the others."
    )
    yield (
        f"Intervals have a level of {level}. Rates have Wilson's; differences, gaps and ratios are bounded from these, "
        "gaps and lowest ratios for all groups together; the ratio of a group takes the most selected one as given."
    )
    if len(document.decisions) > 1:
        yield (
            f"Decisions are compared with {decisions_title(document.decisions[0], document)} on the same rows; the "
            "limits of changes hold for all of them together."
        )
    if document.score:
        side = median_side(is_lower_better=document.score.is_lower_better)
        yield (
            f"A scoring rate is the share {side} of all measured rows; standardised differences are in standard "
            "deviations of the two groups together; cutoffs are those that the most favourable scores of 5, 10, ... "
            "95 % of the rows reach."
        )


def _limits(document: MeasureDocument) -> Iterator[str]:
    yield "No difference shown is not the same as fair: small groups hide large differences."
    yield (
        "Rates show who is selected, not why. Differences may come from who applied, or from what was known "
        "of them (--given compares within such factors); and these rows say nothing about people who are not among "
        "them."
    )
    if document.has_label:
        yield "Labels are taken as they are; where they are biased, or known for some only, so are these rates."
