"""A measurement as a page: in full, arranged as a bias audit, or in brief."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date

from fairenum.document.measure import ColumnMeasures, MeasuredDecisions, MeasureDocument
from fairenum.errors import ConfigError
from fairenum.rendering.numbers import UNDEFINED, estimate, p_value, share, signed
from fairenum.rendering.page import Block, Facts, Figure, Items, Page, Section, Table, Tile
from fairenum.rendering.text import file_name, plain, shortened
from fairenum.report import bias_audit, groups, scores
from fairenum.report.embedded import copy_of
from fairenum.report.rules import Rule, judge_all
from fairenum.report.wording import GAPS, GROUP_WIDTH, VALUE_WIDTH, VERDICTS, measure_cautions, profiles, short
from fairenum.report.wording import measure as wording

BIAS_AUDIT = "ll144"
RATES = {
    "base_rate": "base rate",
    "true_positive_rate": "true positive",
    "false_positive_rate": "false positive",
    "precision": "precision",
}
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
        kicker=bias_audit.KICKER,
        notice=f"{(day or date.today()).isoformat()}. {profiles.BIAS_AUDIT}",
        headline=bias_audit.headline(tools[0]),
        findings=(wording.headline(document), *page.findings),
        sections=(_bias_audit(document, tools), *page.sections, bias_audit.followed()),
    )


def brief_measure_page(document: MeasureDocument, *, rules: Iterable[Rule] = ()) -> Page:
    """Put a measurement on a page for 80 columns."""
    return replace(_page(document, rules), sections=tuple(_brief(document)))


def _page(document: MeasureDocument, rules: Iterable[Rule]) -> Page:
    return Page(
        title=f"Decisions measured: {wording.name(document)}",
        name=wording.name(document),
        kicker="Decisions measured",
        subject=wording.subject(document),
        headline=wording.headline(document),
        findings=tuple(wording.findings(document)),
        warnings=measure_cautions.warnings(document),
        sections=(),
        copy=copy_of(document),
        copy_name=file_name(document.name, "json"),
        checks=tuple(judgement.check for judgement in judge_all(document, rules)),
    )


def _tiles(document: MeasureDocument) -> Iterator[Tile]:
    """Give the numbers to see first."""
    column = document.dataset.primary.column
    for decisions in document.decisions[:2]:
        found, whose = decisions.of_column(column).scores, wording.title(decisions, document)
        yield Tile.of(f"largest difference, {whose}", estimate(found.demographic_parity_difference))
        yield Tile.of(f"lowest impact ratio, {whose}", estimate(found.demographic_parity_ratio))
    yield Tile.of("selected", estimate(document.decisions[0].selection_rate))


def _standard(document: MeasureDocument) -> Iterator[Section]:
    yield Section.of_table("decisions", _side_by_side(document))
    for place, column in enumerate(document.dataset.sensitive):
        by = shortened(column.column, GROUP_WIDTH)
        yield Section(f"groups-{place + 1}", f"Who is selected, by {by}", tuple(_group_blocks(document, place)))
    if document.score:
        yield from scores.score_sections(document.score)
    steps, limits = Items(tuple(wording.steps(document))), Items(tuple(wording.limits(document)))
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
        yield from scores.brief_score_sections(document.score)


def _side_by_side(document: MeasureDocument) -> Table:
    """Show all decisions in every sensitive column, one row each."""
    is_several = len(document.decisions) > 1
    against = tuple(GAPS[gap] for gap in wording.AGAINST_LABEL) if document.has_label else ()
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
        yield f"against the first: verdict on the {GAPS[wording.compared_by(document)]} gap, on the same rows"


def _decisions_row(decisions: MeasuredDecisions, column: ColumnMeasures, document: MeasureDocument) -> tuple[str, ...]:
    found, is_several = column.scores, len(document.decisions) > 1
    against = wording.AGAINST_LABEL if document.has_label else ()
    is_first = decisions is document.decisions[0]
    verdict = UNDEFINED if is_first else VERDICTS[found.gap(wording.compared_by(document)).verdict]
    return (
        *((wording.title(decisions, document),) if is_several else ()),
        shortened(column.column, GROUP_WIDTH),
        share(decisions.selection_rate.value),
        estimate(found.demographic_parity_difference),
        estimate(found.demographic_parity_ratio),
        OUTCOMES[column.four_fifths],
        *(estimate(found.gap(one)) for one in against),
        *((verdict,) if is_several else ()),
    )


def _group_blocks(document: MeasureDocument, place: int) -> Iterator[Block]:
    columns = [decisions.columns[place] for decisions in document.decisions]
    names = {number: wording.title(decisions, document) for number, decisions in enumerate(document.decisions, 1)}
    drawn = [column.impact for column in columns[:2]]
    plot = groups.group_rates(drawn, names.__getitem__, "selection rate")
    yield Figure((plot,), wording.rates_caption(names[drawn[-1].rank]))
    for decisions, column in zip(document.decisions, columns, strict=True):
        yield _titled(_whole_impact(column), decisions, document)
        yield from _rates(column)


def _titled(table: Table, decisions: MeasuredDecisions, document: MeasureDocument) -> Table:
    return replace(table, title=wording.title(decisions, document))


def _impact(column: ColumnMeasures) -> Table:
    """Show whom decisions select from the groups of one column, in brief."""
    table = groups.impact(column.impact)
    return replace(table, title="")


def _whole_impact(column: ColumnMeasures) -> Table:
    """Show the same with all that an adverse-impact table has."""
    table, rows = column.impact, list(zip(column.impact.groups, column.groups, strict=True))
    return Table(
        title="",
        headings=("group", "n", "selected", "rate", "ratio", "difference", "p", "shortfall", "could go unseen"),
        rows=tuple(
            (
                *(groups.group_name(group), str(group.n), str(group.selected), estimate(group.rate)),
                estimate(own.ratio),
                "reference" if group.group == table.reference else estimate(group.difference, signed),
                p_value(group.p),
                UNDEFINED if group.shortfall is None else f"{group.shortfall:.0f}",
                share(group.detectable),
            )
            for group, own in groups.foremost(rows, [group.n for group, _ in rows])
        ),
        notes=tuple(groups.impact_notes(table)),
    )


def _rates(column: ColumnMeasures) -> Iterator[Table]:
    """Show the rates that need a label."""
    if all(group.positives is None for group in column.groups):
        return
    rows = list(zip(column.impact.groups, column.groups, strict=True))
    yield Table(
        title="Against the label",
        headings=("group", *RATES.values(), "accuracy"),
        rows=tuple(
            (groups.group_name(group), *(estimate(getattr(group, rate)) for rate in RATES), estimate(own.accuracy))
            for group, own in groups.foremost(rows, [group.n for group, _ in rows])
        ),
    )


def _tools(document: MeasureDocument) -> list[bias_audit.Tool]:
    """Return all decisions as what a bias audit is about; the score goes with the first."""
    scored = tuple(column.scoring for column in document.score.columns) if document.score else ()
    return [
        bias_audit.Tool(
            wording.title(decisions, document),
            tuple(column.impact for column in decisions.columns),
            () if place else scored,
            short(document.score.name) if document.score else "",
            document.config.lower_is_better,
        )
        for place, decisions in enumerate(document.decisions)
    ]


def _bias_audit(document: MeasureDocument, tools: list[bias_audit.Tool]) -> Section:
    """Show what a bias audit under New York City's Local Law 144 publishes first."""
    undecided = document.dataset.undecided
    without = (("without a decision", profiles.without_decision(undecided)),) if undecided else ()
    return bias_audit.ratios_section(
        wording.bias_source(document), (*profiles.about_data(document.config), *without), tools
    )


def _setting(document: MeasureDocument) -> Iterator[Block]:
    """Give the whole configuration, the environment and the table."""
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
