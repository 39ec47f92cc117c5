"""The section about strata: groups compared given legitimate factors, and where a raw difference comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairenum.document.measure_document import ColumnMeasures, MeasureDocument
from fairenum.document.strata_facts import GivenGroup, GivenMeasures, Stratum
from fairenum.document.value import Estimate
from fairenum.document.words import GROUP_WIDTH, decisions_title, short
from fairenum.render.page import Block, Column, Items, Section, Table
from fairenum.runtime.formatting import UNDEFINED, estimate, p_value, sentence_list, share, shortened, signed

DIFFERING = 0.05  # p-value below which strata count as different
MOST_ROWS = 30  # strata that a table shows
HOW_TO_READ = (
    "Strata are rows that are alike in the given columns. Whether these are a fair reason to treat people differently "
    "is for you to say: a factor that was itself decided unfairly hides what it causes.",
    "given: Mantel-Haenszel difference within strata, with Sato's limits; odds ratio: Mantel-Haenszel, with limits by "
    "Robins, Breslow and Greenland; p: Mantel-Haenszel test with continuity correction; same: p-value of Breslow and "
    "Day's test, corrected by Tarone, that all strata have the same odds ratio.",
    "within, composition: Kitagawa's parts of the raw difference. Within strata people of both groups are selected at "
    "different rates; composition is that the groups are spread differently over the strata. Limits hold one by one.",
)


def given_sections(document: MeasureDocument, *, is_brief: bool = False) -> Iterator[Section]:
    """Yield one section for each sensitive column that is compared within strata."""
    for place, column in enumerate(document.dataset.sensitive):
        blocks = tuple(_blocks(document, place, is_brief=is_brief))
        if blocks:
            given = document.decisions[0].columns[place].given
            factors = sentence_list(short(one) for one in given.columns) if given else ""
            title = f"Given {factors}, by {shortened(column.column, GROUP_WIDTH)}"
            yield Section(f"given-{place + 1}", title, blocks)


def _blocks(document: MeasureDocument, place: int, *, is_brief: bool) -> Iterator[Block]:
    for decisions in document.decisions:
        column = decisions.columns[place]
        if (given := column.given) is not None:
            title = decisions_title(decisions, document)
            if not is_brief:
                yield Items(tuple(_sentence(one, given, title) for one in given.groups))
            yield _groups(given, title, is_brief=is_brief)
            yield _parts(given)
            yield _strata(column, given, is_brief=is_brief)
    if not is_brief and any(decisions.columns[place].given for decisions in document.decisions):
        yield Items(HOW_TO_READ)


def given_findings(document: MeasureDocument) -> Iterator[str]:
    """Yield one sentence for each group of the primary column that is compared within strata in the first decisions."""
    first = document.decisions[0]
    given = first.of_column(document.dataset.primary.column).given
    if given is not None:
        yield from (_sentence(one, given, decisions_title(first, document)) for one in given.groups)


def _sentence(group: GivenGroup, given: GivenMeasures, title: str) -> str:
    factors = sentence_list(short(column) for column in given.columns)
    pair = f"{title}: {short(group.group)} against {short(given.reference)}"
    raw, inside = group.raw, group.difference
    if raw.value is None or inside.value is None:
        return f"{pair}: no {factors} has rows of both groups, so nothing can be compared within strata."
    says = f"{pair}: the raw difference is {estimate(raw, signed)}; given {factors} it is {estimate(inside, signed)}"
    return f"{says}, {_meaning(group)}{_weighed_otherwise(group)}{_unlike(group, given)}."


def _meaning(group: GivenGroup) -> str:
    """Return a clause on the difference within strata beside the raw one; each counts only as far as it is shown."""
    raw, inside = group.raw, group.difference
    is_raw, is_inside = _is_shown(raw), _is_shown(inside)
    if is_raw and is_inside:
        is_reversed = (raw.value or 0.0) * (inside.value or 0.0) < 0.0
        return "so the direction is reversed" if is_reversed else "so a difference remains"
    if is_inside:
        return "so a difference shows within strata only"
    return "so a difference is no longer shown" if is_raw else "and neither is shown to differ from 0"


def _weighed_otherwise(group: GivenGroup) -> str:
    """Return a clause on Kitagawa's part within strata if it is shown, and the mean difference is not; else nothing."""
    if _is_shown(group.difference) or not _is_shown(group.within):
        return ""
    return f" (with the weights of Kitagawa's parts it is: {estimate(group.within, signed)})"


def _unlike(group: GivenGroup, given: GivenMeasures) -> str:
    """Return a clause that names the stratum that differs most, if strata are shown to differ; else nothing."""
    if group.unlike is None or group.homogeneity_p is None or group.homogeneity_p >= DIFFERING:
        return ""
    place = [one.name for one in given.strata].index(group.unlike)
    own = estimate(group.differences[place], signed)
    return (
        f"; but strata differ (p = {p_value(group.homogeneity_p)}), so one number hides much: most of all "
        f"{short(group.unlike)}, where it is {own}"
    )


def _is_shown(found: Estimate) -> bool:
    return found.low is not None and found.high is not None and (found.low > 0.0 or found.high < 0.0)


def _ratio(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.3f}"


GROUPS: tuple[Column[GivenGroup], ...] = (
    Column("group", "group", lambda one: short(one.group), is_word=True),
    Column("raw", "raw", lambda one: estimate(one.raw, signed)),
    Column("given", "given", lambda one: estimate(one.difference, signed)),
    Column("odds_ratio", "odds ratio", lambda one: estimate(one.odds_ratio, _ratio)),
    Column("p", "p", lambda one: p_value(one.p)),
    Column("same", "same", lambda one: p_value(one.homogeneity_p)),
)


def _groups(given: GivenMeasures, title: str, *, is_brief: bool) -> Table:
    notes = (
        f"given: difference of selection rates to {short(given.reference)} within strata (Mantel-Haenszel)",
        "same: p-value of the test that all strata have the same odds ratio",
    )
    columns = [column for column in GROUPS if not is_brief or column.key != "raw"]
    return Table.of(title, columns, given.groups, notes=notes)


PARTS: tuple[Column[GivenGroup], ...] = (
    Column("group", "group", lambda one: short(one.group), is_word=True),
    Column("raw", "raw", lambda one: signed(one.raw.value)),
    Column("within", "within strata", lambda one: estimate(one.within, signed)),
    Column("composition", "composition", lambda one: estimate(one.composition, signed)),
)
UNMATCHED: Column[GivenGroup] = Column("unmatched", "no counterpart", lambda one: signed(one.unmatched))


def _parts(given: GivenMeasures) -> Table:
    """Return the table of the parts of each raw difference, which add up to it."""
    columns, notes = PARTS, ["the parts add up to the raw difference (Kitagawa)"]
    if any(one.unmatched for one in given.groups):
        columns = (*PARTS, UNMATCHED)
        notes.append("no counterpart: due to strata in which one of the two groups has no rows")
    return Table.of("Where the raw difference comes from", columns, given.groups, notes=notes)


def _strata(column: ColumnMeasures, given: GivenMeasures, *, is_brief: bool) -> Table:
    """Return the table of strata, the largest first if there are too many to show."""
    places = sorted(range(len(given.strata)), key=lambda place: -sum(given.strata[place].n))[:MOST_ROWS]
    shown = [given.strata[place] for place in sorted(places)]
    names = [row.group for row in column.impact.groups]
    compared = [place for place, row in enumerate(column.impact.groups) if row.is_compared and row.n]
    rates = [] if len(compared) > (2 if is_brief else 6) else [_rate(place, names[place]) for place in compared]
    columns: Sequence[Column[Stratum]] = (
        Column("stratum", "stratum", lambda one: shortened(one.name, GROUP_WIDTH), is_word=True),
        Column("n", "n", lambda one: str(sum(one.n))),
        *rates,
        Column("gap", "gap", lambda one: estimate(one.gap)),
    )
    hidden = len(given.strata) - len(shown)
    notes = ["rate (rows) of each group, and the largest difference in the stratum; limits hold one by one"]
    notes += [f"not shown, as they are smaller: {hidden} of {len(given.strata)} strata"] if hidden else []
    return Table.of("Stratum by stratum", columns, shown, notes=notes)


def _rate(place: int, name: str) -> Column[Stratum]:
    def cell(one: Stratum) -> str:
        return f"{share(one.selected[place] / one.n[place])} ({one.n[place]})" if one.n[place] else UNDEFINED

    return Column(f"group_{place}", short(name), cell)
