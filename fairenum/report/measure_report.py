"""A measurement as a page: in full, arranged as a bias audit, or in brief."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date

from fairenum.document.cautions import caution_texts
from fairenum.document.measure_document import ColumnMeasures, MeasuredDecisions, MeasureDocument
from fairenum.document.metric_registry import BASE_RATE
from fairenum.document.terms import RATES
from fairenum.document.words import GAP_NAMES, GROUP_WIDTH, VALUE_WIDTH, VERDICTS, decisions_title, short
from fairenum.errors import ConfigError
from fairenum.render.page import Block, Facts, Figure, Items, Page, Section, Table, Tile
from fairenum.report import groups_section, measure_words, profiles, scores_section
from fairenum.report.embedded_copy import copy_of
from fairenum.report.rules import Rule, judge_all
from fairenum.runtime.formatting import UNDEFINED, estimate, file_name, p_value, plain, share, shortened, signed

BIAS_AUDIT = "ll144"


AGAINST_LABEL = tuple(rate for rate in RATES.values() if rate.needs_label)


OUTCOMES = {"kept": "yes", "violated": "no", "open": "open"}


def measure_page(
    document: MeasureDocument, *, rules: Iterable[Rule] = (), profile: str | None = None, day: date | None = None
) -> Page:
    """Put a measurement on a page: for everybody, or arranged as a bias audit."""
    page = replace(_page(document, rules), sections=tuple(_standard(document)), tiles=tuple(_tiles(document)))
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
        findings=(measure_words.headline(document), *page.findings),
        sections=(_bias_audit(document, tools), *page.sections, profiles.followed()),
    )


def brief_measure_page(document: MeasureDocument, *, rules: Iterable[Rule] = ()) -> Page:
    """Put a measurement on a page for 80 columns."""
    return replace(_page(document, rules), sections=tuple(_brief(document)))


def _page(document: MeasureDocument, rules: Iterable[Rule]) -> Page:
    return Page(
        title=f"Decisions measured: {measure_words.name(document)}",
        name=measure_words.name(document),
        kicker="Decisions measured",
        subject=measure_words.subject(document),
        headline=measure_words.headline(document),
        findings=tuple(measure_words.findings(document)),
        warnings=caution_texts(document),
        sections=(),
        copy=copy_of(document),
        copy_name=file_name(document.name, "json"),
        checks=tuple(judgement.check for judgement in judge_all(document, rules)),
    )


def _tiles(document: MeasureDocument) -> Iterator[Tile]:
    """Return the main numbers, to be shown large."""
    column = document.dataset.primary.column
    for decisions in document.decisions[:2]:
        found, whose = decisions.of_column(column).scores, decisions_title(decisions, document)
        yield Tile.of(f"largest difference, {whose}", estimate(found.gap("demographic_parity_difference")))
        yield Tile.of(f"lowest impact ratio, {whose}", estimate(found.ratio("demographic_parity_ratio")))
    yield Tile.of("selected", estimate(document.decisions[0].selection_rate))


def _standard(document: MeasureDocument) -> Iterator[Section]:
    yield Section.of_table("decisions", _side_by_side(document))
    for place, column in enumerate(document.dataset.sensitive):
        by = shortened(column.column, GROUP_WIDTH)
        yield Section(f"groups-{place + 1}", f"Who is selected, by {by}", tuple(_group_blocks(document, place)))
    if document.score:
        yield from scores_section.score_sections(document.score)
    steps, limits = Items(tuple(measure_words.steps(document))), Items(tuple(measure_words.limits(document)))
    yield Section("method", "Method and limits", (steps, limits))
    yield Section("setting", "Configuration", tuple(_setting(document)))


def _brief(document: MeasureDocument) -> Iterator[Section]:
    yield Section.of_table("decisions", _side_by_side(document))
    for place, column in enumerate(document.dataset.sensitive):
        tables: list[Block] = []
        for decisions in document.decisions:
            tables.append(_titled(_impact(decisions.columns[place]), decisions, document))
            tables += [replace(table, title="Against the label") for table in _rates(decisions.columns[place])]
        by = shortened(column.column, GROUP_WIDTH)
        yield Section(f"groups-{place + 1}", f"Who is selected, by {by}", tuple(tables))
    if document.score:
        yield from scores_section.brief_score_sections(document.score)


def _side_by_side(document: MeasureDocument) -> Table:
    """Show all decisions in every sensitive column, one row each."""
    is_several = len(document.decisions) > 1
    against = tuple(GAP_NAMES[gap] for gap in measure_words.AGAINST_LABEL) if document.has_label else ()
    names = ("decision", "by") if is_several else ("by",)
    numbers = ("selected", "gap", "lowest ratio", "four fifths", *against)
    return Table(
        title="Decisions, side by side" if is_several else "Between groups",
        headings=(*names, *numbers, *(("against the first",) if is_several else ())),
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
        compared = GAP_NAMES[measure_words.compared_by(document)]
        yield f"against the first: verdict on the {compared} gap, on the same rows"


def _decisions_row(decisions: MeasuredDecisions, column: ColumnMeasures, document: MeasureDocument) -> tuple[str, ...]:
    found, is_several = column.scores, len(document.decisions) > 1
    against = measure_words.AGAINST_LABEL if document.has_label else ()
    is_first = decisions is document.decisions[0]
    verdict = UNDEFINED if is_first else VERDICTS[found.gap(measure_words.compared_by(document)).verdict]
    return (
        *((decisions_title(decisions, document),) if is_several else ()),
        shortened(column.column, GROUP_WIDTH),
        share(decisions.selection_rate.value),
        estimate(found.gap("demographic_parity_difference")),
        estimate(found.ratio("demographic_parity_ratio")),
        OUTCOMES[column.four_fifths],
        *(estimate(found.gap(one)) for one in against),
        *((verdict,) if is_several else ()),
    )


def _group_blocks(document: MeasureDocument, place: int) -> Iterator[Block]:
    columns = [decisions.columns[place] for decisions in document.decisions]
    names = {number: decisions_title(decisions, document) for number, decisions in enumerate(document.decisions, 1)}
    drawn = [column.impact for column in columns[:2]]
    plot = groups_section.group_rates(drawn, names.__getitem__, "selection rate")
    yield Figure((plot,), measure_words.rates_caption(names[drawn[-1].rank]))
    for decisions, column in zip(document.decisions, columns, strict=True):
        yield _titled(_whole_impact(column), decisions, document)
        yield from _rates(column)


def _titled(table: Table, decisions: MeasuredDecisions, document: MeasureDocument) -> Table:
    return replace(table, title=decisions_title(decisions, document))


def _impact(column: ColumnMeasures) -> Table:
    """Show the selection by decisions from the groups of one column, in brief."""
    table = groups_section.impact(column.impact)
    return replace(table, title="")


def _whole_impact(column: ColumnMeasures) -> Table:
    """Show a complete adverse-impact table of decisions."""
    table, rows = column.impact, list(zip(column.impact.groups, column.groups, strict=True))
    return Table(
        title="",
        headings=("group", "n", "selected", "rate", "ratio", "difference", "p", "shortfall", "could go unseen"),
        rows=tuple(
            (
                *(groups_section.group_name(group), str(group.n), str(group.selected), estimate(group.rate)),
                estimate(own.ratio),
                "reference" if group.group == table.reference else estimate(group.difference, signed),
                p_value(group.p),
                UNDEFINED if group.shortfall is None else f"{group.shortfall:.0f}",
                share(group.detectable),
            )
            for group, own in groups_section.foremost(rows, [group.n for group, _ in rows])
        ),
        notes=tuple(groups_section.impact_notes(table)),
    )


def _rates(column: ColumnMeasures) -> Iterator[Table]:
    """Show the rates that need a label."""
    if all(group.positives is None for group in column.groups):
        return
    rows = list(zip(column.impact.groups, column.groups, strict=True))
    yield Table(
        title="Against the label",
        headings=("group", BASE_RATE.name, *(rate.name.removesuffix(" rate") for rate in AGAINST_LABEL), "accuracy"),
        rows=tuple(
            (
                groups_section.group_name(group),
                *(estimate(group.of(rate)) for rate in (BASE_RATE, *AGAINST_LABEL)),
                estimate(own.accuracy),
            )
            for group, own in groups_section.foremost(rows, [group.n for group, _ in rows])
        ),
    )


def _tools(document: MeasureDocument) -> list[profiles.Tool]:
    """Return all decisions as tools of a bias audit; the score goes with the first."""
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
    """Arrange a bias audit under New York City's Local Law 144, impact ratios first."""
    undecided = document.dataset.undecided
    without = (("without a decision", profiles.without_decision(undecided)),) if undecided else ()
    return profiles.ratios_section(
        measure_words.bias_source(document), (*profiles.about_data(document.config), *without), tools
    )


def _setting(document: MeasureDocument) -> Iterator[Block]:
    """Show the whole configuration, the environment and the table."""
    environment, data = document.environment, document.dataset
    packages = {"python": environment.python, **environment.packages}
    versions = ", ".join(f"{name} {version}" for name, version in packages.items())
    facts = (("data", data.name), ("fingerprint (sha256)", data.fingerprint), ("versions", versions))
    yield Facts(tuple((name, shortened(text, VALUE_WIDTH)) for name, text in facts))
    rows = tuple(
        (plain(name), shortened(value if isinstance(value, str) else json.dumps(value), VALUE_WIDTH))
        for name, value in document.config.options.items()
    )
    yield Table("Options as they were resolved", ("option", "value"), rows, names=2, is_folded=True)
