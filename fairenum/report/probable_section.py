"""The section about groups that are known by probability only: weighted rates, bounds, and what they can say."""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.measure_document import MeasureDocument
from fairenum.document.probable_facts import ProbableGroup, ProbableMeasures
from fairenum.document.words import decisions_title, short
from fairenum.render.page import Block, Column, Items, Section, Table
from fairenum.runtime.formatting import estimate, share, signed

WHAT_IT_SAYS = (
    "Weighted rates count each row by its probabilities. They are right if probabilities are calibrated, and if among "
    "people of the same probabilities (the same name and place, say) groups are selected alike. If a group is selected "
    "less often even there, its difference is understated, however many rows there are (Chen and others, 2019).",
    "Bounds need calibrated probabilities alone (Kallus, Mao and Zhou). Where they are wide, only the true groups of "
    "some rows can settle the question.",
    "Groups by their most likely value are worse than weighted rates: everybody near the border counts as sure, which "
    "can bias a difference in either direction.",
)


def probable_sections(document: MeasureDocument, *, is_brief: bool = False) -> Iterator[Section]:
    """Yield the section about groups that are known by probability, if there are such."""
    blocks = tuple(_blocks(document, is_brief=is_brief))
    if blocks:
        yield Section("probable", "Groups known by probability", blocks)


def _blocks(document: MeasureDocument, *, is_brief: bool) -> Iterator[Block]:
    found = [(one, one.probable) for one in document.decisions if one.probable]
    for decisions, probable in found:
        yield _table(probable, decisions_title(decisions, document))
    if found and not is_brief:
        yield Items(WHAT_IT_SAYS)


def probable_findings(document: MeasureDocument) -> Iterator[str]:
    """Yield one sentence for each set of decisions, about the group whose weighted rate is lowest."""
    for decisions in document.decisions:
        if (found := decisions.probable) is None:
            continue
        known = [one for one in found.groups if one.difference.value is not None and one.group != found.reference]
        if known:
            lowest = min(known, key=lambda one: one.difference.value or 0.0)
            yield (
                f"{decisions_title(decisions, document)}, groups by probability: the weighted rate of "
                f"{short(lowest.group)} differs from that of {short(found.reference)} by "
                f"{estimate(lowest.difference, signed)}; without further assumptions its rate lies between "
                f"{share(lowest.bounds.low)} and {share(lowest.bounds.high)}."
            )


COLUMNS: tuple[Column[ProbableGroup], ...] = (
    Column("group", "group", lambda one: short(one.group), is_word=True),
    Column("rows", "rows", lambda one: f"{one.rows:.0f}"),
    Column("rate", "weighted rate", lambda one: estimate(one.rate)),
    Column("bounds", "bounds", lambda one: f"{share(one.bounds.low)} to {share(one.bounds.high)}"),
    Column("difference", "difference", lambda one: estimate(one.difference, signed)),
)


def _table(found: ProbableMeasures, title: str) -> Table:
    notes = (
        "rows: expected number; weighted rate, difference: right if rows of the same probabilities are selected alike",
        f"difference: to {short(found.reference)}; bounds: without that assumption",
    )
    return Table.of(title, COLUMNS, found.groups, notes=notes)
