"""Profiles: the order and the tables that a certain reader expects, dated, and marked as no legal advice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from fairenum.report import alternatives, method, sections, tables
from fairenum.report.numbers import UNDEFINED, counted, share
from fairenum.report.page import Block, Grid, Items, Paragraph, Section
from fairenum.report.tables import GROUP_WIDTH, METRICS, Document, Table
from fairenum.report.text import shortened
from fairenum.report.view import View

UNKNOWN = re.compile(r"\(+missing\)+")  # how a dataset names the group of rows without a value
SMALLEST_SHARE = 0.02  # categories below it may be left out of impact ratios (6 RCNY § 5-301)

NO_ADVICE = "It reports measurements and is no legal advice."


@dataclass(frozen=True, slots=True)
class Profile:
    """How a report is arranged: its kicker, what is said before anything else, and its sections."""

    kicker: str
    notice: str
    sections: Callable[[Document, View], Iterator[Section]]

    def dated(self, day: date | None) -> str:
        """Write the notice with its date."""
        return f"{(day or date.today()).isoformat()}. {self.notice}" if self.notice else ""


def standard(document: Document, view: View) -> Iterator[Section]:
    """Arrange a report for everybody."""
    if view.judgements:
        yield sections.rules(view.judgements)
    yield sections.models(document)
    yield sections.choice(document, view)
    yield sections.groups(document)
    yield from _beside(document)
    if sum(model["origin"] == "exact" for model in document["models"]) > 1:
        yield sections.by_rank(document)
    yield from _rest(document, view)


def lda(document: Document, view: View) -> Iterator[Section]:
    """Arrange a memo on less discriminatory alternatives: baseline, disparity, search, alternatives, proposal."""
    rank = document["selection"]["rank"]
    metric = METRICS[document["selection"]["tolerances"]["metric"]]
    baseline = tables.one_model(document, 1)
    yield Section("baseline", "The model in use", (Paragraph(BASELINE), Grid(baseline)))
    yield replace(sections.groups(document, ranks=(1,)), anchor="disparity", title="Its disparities")
    yield Section("search", "The search for alternatives", (Items(tuple(method.steps(document, metric))),))
    yield replace(sections.models(document), title="The alternatives")
    yield replace(sections.choice(document, view), title=_proposal(document))
    if rank not in (None, 1):
        yield replace(sections.groups(document, ranks=(rank,)), title="Who the alternative selects")
    yield from _beside(document)
    if view.judgements:
        yield sections.rules(view.judgements)
    yield from _rest(document, view)


BASELINE = (
    "Model 1, the best by its training objective, stands for the model in use. Alternatives are measured against it."
)


def _proposal(document: Document) -> str:
    selection = document["selection"]
    if selection["rank"] in (None, 1):
        return "No alternative is proposed"
    return f"The proposed alternative: model {selection['rank']}"


def ll144(document: Document, view: View) -> Iterator[Section]:
    """Arrange what a bias audit under New York City's Local Law 144 publishes first: impact ratios by category."""
    yield Section("impact", "Impact ratios", tuple(_impact_blocks(document)))
    yield from standard(document, view)


def _impact_blocks(document: Document) -> Iterator[Block]:
    data = document["dataset"]
    rows = counted(data["splits"]["holdout"], "row")
    name, label, favourable = (shortened(data[key], GROUP_WIDTH) for key in ("name", "label", "favourable"))
    yield Paragraph(
        f"Decisions of the models about {rows} of {name} that took no part in training or choice (the holdout). "
        f"Selected means: gets the favourable outcome, {label} = {favourable}. This is test data; whether it may stand "
        "for the tool's own history is for the auditor to say."
    )
    if not document["group_tables"]:
        yield Paragraph("No sensitive column was named, so there are no categories.")
    yield from (Grid(impact_ratios(table)) for table in document["group_tables"])


def impact_ratios(table: Mapping[str, Any]) -> Table:
    """Show selection rates and impact ratios by category; unknown and very small categories have no ratio."""
    rows = sum(group["n"] for group in table["groups"])
    known = [group for group in table["groups"] if not _is_unknown(group) and group["n"] >= SMALLEST_SHARE * rows]
    best = max((group["selected"] / group["n"] for group in known if group["n"]), default=0.0)
    unknown = sum(group["n"] for group in table["groups"] if _is_unknown(group))
    return Table(
        title=f"Model {table['rank']}, by {shortened(table['column'], GROUP_WIDTH)}",
        headings=("category", "applicants", "selected", "selection rate", "impact ratio"),
        rows=tuple(_category(group, best, is_counted=group in known) for group in table["groups"]),
        notes=(
            "impact ratio: selection rate as a share of that of the most selected category",
            f"unknown category: {counted(unknown, 'row')}, not used for ratios",
            f"not counted: a category of less than {SMALLEST_SHARE:.0%} of the rows, not used for ratios either",
        ),
    )


def _is_unknown(group: Mapping[str, Any]) -> bool:
    """Tell whether a group, or a part of an intersection such as "sex: (missing) & race: white", is the missing one."""
    return any(UNKNOWN.fullmatch(part.rpartition(": ")[2]) for part in group["group"].split(" & "))


def _category(group: Mapping[str, Any], best: float, *, is_counted: bool) -> tuple[str, ...]:
    rate = group["selected"] / group["n"] if group["n"] else None
    ratio = "unknown" if _is_unknown(group) else "not counted"
    if is_counted:
        ratio = UNDEFINED if rate is None or not best else share(rate / best)
    return shortened(group["group"], GROUP_WIDTH), str(group["n"]), str(group["selected"]), share(rate), ratio


def _beside(document: Document) -> Iterator[Section]:
    if document["baselines"]:
        yield alternatives.other_methods(document)
    if document["range"]:
        yield alternatives.possible(document)


def _rest(document: Document, view: View) -> Iterator[Section]:
    yield sections.disagreement(document)
    if view.attack:
        yield alternatives.attack(document["attack"], view.attack)
    yield sections.explained(document)
    yield sections.setting(document)


PROFILES: Mapping[str | None, Profile] = {
    None: Profile("Fairness audit", "", standard),
    "lda": Profile(
        "Memo: less discriminatory alternatives",
        f"Arranged as a memo on the search for a less discriminatory alternative. {NO_ADVICE}",
        lda,
    ),
    "ll144": Profile(
        "Bias audit in the form of Local Law 144",
        f"Arranged as a bias audit under New York City Local Law 144 of 2021 (6 RCNY § 5-300 ff.). {NO_ADVICE}",
        ll144,
    ),
}
