"""A memo on less discriminatory alternatives: baseline, disparities, search, alternatives, proposal, and its cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fairenum.document.audit import AuditDocument
from fairenum.document.consequences import other_model
from fairenum.rendering.numbers import estimate
from fairenum.rendering.page import Facts, Items, Paragraph, Section, Table
from fairenum.report import choice, groups, models
from fairenum.report.wording import measures_of, method, model_title, possible, profiles, standing
from fairenum.report.wording import memo as wording

KICKER = "Memo: less discriminatory alternatives"


def memo(document: AuditDocument) -> Iterator[Section]:
    """Go from the model in use, or model 1 in its place, to what is proposed instead, or to none."""
    rank = 0 if document.incumbent else 1
    yield Section("baseline", "The model in use", (Paragraph(wording.baseline(document)), _measures(document, rank)))
    yield _disparities(document, rank)
    yield _search(document)
    yield replace(models.explored(document), title="The alternatives")
    proposal = replace(choice.chosen(document), title=standing.proposal(document))
    if wording.is_none_proposed(document):
        proposal = replace(proposal, blocks=(Paragraph(wording.none_exists(document)), *proposal.blocks))
    yield proposal
    if chosen := other_model(document):
        costs = tuple(wording.costs(document, chosen))
        yield Section("costs", f"What model {chosen.rank} costs", (Items(costs),))
        yield replace(
            groups.selected_groups(document, (chosen.rank,)), anchor="groups", title="Who the alternative selects"
        )


def followed() -> Section:
    """Say which texts the memo follows."""
    return Section("followed", profiles.FOLLOWED, (Items(profiles.MEMO_FOLLOWS),))


def _measures(document: AuditDocument, rank: int) -> Table:
    scores = document.member(rank).scores.holdout
    rows = tuple((title, estimate(scores.measure(measure))) for measure, title in measures_of(document).items())
    return Table("On the holdout", ("measure", model_title(document, rank)), rows)


def _disparities(document: AuditDocument, rank: int) -> Section:
    shown = groups.selected_groups(document, (rank,))
    lead = tuple(wording.disparities(document, rank))
    blocks = (*((Items(lead),) if lead else ()), *shown.blocks)
    return Section("disparity", "Its disparities", blocks)


def _search(document: AuditDocument) -> Section:
    steps, effort = Items(tuple(method.steps(document))), Facts(tuple(wording.effort(document)))
    refuted = possible.refutation(document.range) if document.range else ""
    proven = (Paragraph(refuted),) if refuted else ()
    return Section("search", "The search for alternatives", (effort, *proven, steps))
