"""The section about periods: rates and gaps one by one, and the alarm about a gap that exceeds its limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairenum.document.measure_document import ColumnMeasures, MeasureDocument
from fairenum.document.period_facts import MeasuredPeriod, PeriodMeasures, WatchedRate
from fairenum.document.terms import RATES
from fairenum.document.value import Estimate
from fairenum.document.words import GAP_NAMES, GROUP_WIDTH, decisions_title, short
from fairenum.render.page import Block, Column, Figure, Items, Section, Table
from fairenum.render.plain_plots import RangeBar, draw_ranges
from fairenum.render.svg import Curve
from fairenum.render.svg_plot import Axis, Key, Plot
from fairenum.report.scores_section import LINES, TONES
from fairenum.runtime.formatting import UNDEFINED, counted, estimate, percent, share, shortened, three_digits

MOST_DRAWN = 36  # periods that a plot in plain characters shows
LABEL_WIDTH = 13
HOW_TO_READ = (
    "Intervals of rates and gaps hold one by one, so of many periods some miss the truth. The alarm is for looking "
    "again and again: however many periods are added, the probability that any alarm is false is at most {error}, all "
    "groups, columns and decisions together.",
    "An alarm says that the difference between a group and the control group exceeded the limit in some period up to "
    "then. No alarm does not say that it never did: small differences, and few rows, take many periods to show. Rows "
    "count as independent of each other.",
)


def period_sections(document: MeasureDocument, *, is_brief: bool = False) -> Iterator[Section]:
    """Yield one section for each sensitive column that is measured period by period."""
    for place, column in enumerate(document.dataset.sensitive):
        blocks = tuple(_blocks(document, place, is_brief=is_brief))
        if blocks:
            title = f"Period by period, by {shortened(column.column, GROUP_WIDTH)}"
            yield Section(f"periods-{place + 1}", title, blocks)


def _blocks(document: MeasureDocument, place: int, *, is_brief: bool) -> Iterator[Block]:
    for decisions in document.decisions:
        column = decisions.columns[place]
        if (found := column.periods) is None:
            return
        title = decisions_title(decisions, document)
        if not is_brief:
            yield Items(tuple(alarm_sentences(column, title)))
        yield Figure(_plots(column, found), _caption(found), plain=_plain(found))
        yield _periods(column, found, title, is_brief=is_brief)
        if found.watched:
            yield _watched(found)
    if not is_brief:
        error = percent(1 - document.config.confidence, 0)
        yield Items(tuple(sentence.format(error=error) for sentence in HOW_TO_READ))


def period_findings(document: MeasureDocument) -> Iterator[str]:
    """Yield sentences about the alarm: every alarm of the document, or that there is none in the primary column."""
    for decisions in document.decisions:
        for column in decisions.columns:
            is_primary = column.column == document.dataset.primary.column
            if column.periods and (column.periods.alarms or is_primary):
                yield from alarm_sentences(column, decisions_title(decisions, document))


def alarm_sentences(column: ColumnMeasures, title: str) -> Iterator[str]:
    """Yield one sentence for each alarm about decisions called `title`, or one that there is none."""
    if (found := column.periods) is None:
        return
    by = short(column.column)
    if not found.watched:
        yield f"{title} by {by}: no alarm is computed, as rows of one person or firm are not independent."
    for one in found.alarms:
        yield (
            f"Alarm: {title} by {by}: the {RATES[one.rate].name} of {short(one.group)} differs from that of "
            f"{short(found.control)} by more than {share(one.limit)}; noticed after {one.alarm}, most likely since "
            f"{one.since}."
        )
    if found.watched and not found.alarms:
        limits = [one.limit for one in found.watched if one.limit is not None]
        beyond = f"beyond {share(min(limits))}" if len({*limits}) == 1 else "beyond its limit"
        yield f"{title} by {by}: no alarm in {counted(found.looks, 'watched period')}; no difference {beyond} is shown."


def _caption(found: PeriodMeasures) -> str:
    name, last = found.periods[0].period, found.periods[-1].period
    return (
        f"Rates of the groups (left) and the {GAP_NAMES[found.metric]} gap (right) from {name} to {last}, with "
        "intervals that hold one by one."
    )


def _plain(found: PeriodMeasures) -> str:
    bars = [
        RangeBar(
            label=shortened(one.period, LABEL_WIDTH),
            outer=(one.gap.low, one.gap.high),
            inner=(one.gap.value, one.gap.value),
            marks={"o": one.gap.value},
        )
        for one in found.periods[-MOST_DRAWN:]
        if one.gap.value is not None and one.gap.low is not None and one.gap.high is not None
    ]
    title = f"{GAP_NAMES[found.metric]} gap by {short(found.by)} (o gap, . its interval)"
    return draw_ranges(bars, title) if bars else ""


def _plots(column: ColumnMeasures, found: PeriodMeasures) -> tuple[Plot, ...]:
    places = _shown(column)
    names = [short(column.impact.groups[place].group) for place in places]
    keys = tuple(Key(name, tone, line) for name, tone, line in zip(names, TONES, LINES, strict=False))
    rates = tuple(
        _curve([one.rates[place] for one in found.periods], key) for place, key in zip(places, keys, strict=True)
    )
    gap = Key(f"{GAP_NAMES[found.metric]} gap", "tone-2", "line")
    return (
        _plot(f"Rates by {short(found.by)}", found, rates, keys),
        _plot(f"Gap by {short(found.by)}", found, (_curve([one.gap for one in found.periods], gap),), (gap,)),
    )


def _curve(numbers: Sequence[Estimate], key: Key) -> Curve:
    xs = tuple(float(place) for place in range(1, len(numbers) + 1))
    values, low, high = zip(*((one.value, one.low, one.high) for one in numbers), strict=True)
    return Curve(xs, values, low, high, key.tone, is_dashed=key.shape == "dash", name=key.text)


def _plot(name: str, found: PeriodMeasures, layers: tuple[Curve, ...], keys: tuple[Key, ...]) -> Plot:
    first, last = found.periods[0].period, found.periods[-1].period
    return Plot(
        name=name,
        description="Lines with bands; the table below has the numbers.",
        x=Axis(f"period, from 1 = {short(first)} to {len(found.periods)} = {short(last)}"),
        y=Axis("", low=0.0, high=1.0),
        layers=layers,
        key=keys,
        height=300.0,
    )


def _shown(column: ColumnMeasures) -> list[int]:
    groups = column.impact.groups
    compared = [place for place, group in enumerate(groups) if group.is_compared and group.n]
    return sorted(sorted(compared, key=lambda place: -groups[place].n)[: len(TONES)])


def _periods(column: ColumnMeasures, found: PeriodMeasures, title: str, *, is_brief: bool) -> Table:
    places = _shown(column)
    rates = (
        [] if len(places) > (2 if is_brief else 6) else [_rate(place, column, is_brief=is_brief) for place in places]
    )
    columns: Sequence[Column[MeasuredPeriod]] = (
        Column("period", short(found.by), _named, is_word=True),
        Column("n", "n", lambda one: str(sum(one.n))),
        *rates,
        Column("gap", "gap", lambda one: estimate(one.gap)),
        Column("evidence", "evidence", lambda one: _evidence(found, one)),
    )
    first = [one.period for one in found.periods if one.is_baseline]
    notes = [f"gap: {GAP_NAMES[found.metric]}; intervals hold one by one"]
    notes += ["evidence: of the watched rate that is nearest to its alarm, as a share of what it needs"]
    notes += [f"* sets the limits, and is not watched: {', '.join(map(short, first))}"] if first else []
    return Table.of(title, columns, found.periods, notes=notes)


def _named(one: MeasuredPeriod) -> str:
    return f"{shortened(one.period, GROUP_WIDTH)}{'*' if one.is_baseline else ''}"


def _rate(place: int, column: ColumnMeasures, *, is_brief: bool) -> Column[MeasuredPeriod]:
    def cell(one: MeasuredPeriod) -> str:
        return share(one.rates[place].value) if is_brief else estimate(one.rates[place])

    return Column(f"group_{place}", short(column.impact.groups[place].group), cell)


def _evidence(found: PeriodMeasures, period: MeasuredPeriod) -> str:
    watched = [one for one in found.periods if not one.is_baseline]
    if period.is_baseline or not found.watched:
        return UNDEFINED
    place = watched.index(period)
    reached = max(one.evidence[place] / one.threshold for one in found.watched)
    return "alarm" if reached >= 1.0 else three_digits(reached) if reached >= 0.001 else "<0.001"


WATCHED: tuple[Column[WatchedRate], ...] = (
    Column("group", "group", lambda one: short(one.group), is_word=True),
    Column("rate", "rate", lambda one: RATES[one.rate].name, is_word=True),
    Column("limit", "limit", lambda one: share(one.limit)),
    Column("evidence", "evidence", lambda one: three_digits(one.evidence[-1]) if one.evidence else UNDEFINED),
    Column("threshold", "alarm from", lambda one: three_digits(one.threshold)),
    Column("alarm", "alarm after", lambda one: short(one.alarm) if one.alarm else "none"),
    Column("since", "since about", lambda one: short(one.since) if one.since else UNDEFINED),
)


def _watched(found: PeriodMeasures) -> Table:
    note = f"whether a rate differs from that of {short(found.control)} by more than the limit; alarms stay"
    return Table.of("The alarm", WATCHED, found.watched, notes=(note,))
