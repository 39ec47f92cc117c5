"""The comparison of guided search with other mitigations as a page: one section for each case."""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.mitigation import CaseSummary, MethodSummary, MitigationDocument
from fairenum.rendering.numbers import UNDEFINED, estimate, percent, signed
from fairenum.rendering.page import Figure, Items, Page, Paragraph, Section, Table, Tile
from fairenum.rendering.svg import Axis, Key, Mark, Marks, Plot
from fairenum.rendering.svg.shapes import Shape
from fairenum.report.embedded import copy_of
from fairenum.report.wording import case_title, manner, method_title, short_case
from fairenum.report.wording import experiments as wording

OURS: dict[str, tuple[str, Shape]] = {
    "model_1": ("tone-0", "diamond"),
    "exact": ("tone-1", "ring"),
    "guided": ("tone-2", "star"),
}
OTHERS = "tone-4"


def mitigation_page(document: MitigationDocument) -> Page:
    """Put the comparison on a page."""
    return Page(
        title="Guided search against other mitigations",
        name="mitigation",
        kicker="Mitigations side by side",
        subject=wording.MITIGATION_SUBJECT,
        headline=wording.mitigation_headline(document),
        findings=tuple(map(wording.mitigation_finding, document.cases)),
        warnings=(),
        sections=(
            Section("method", "How they are compared", (Items(wording.MITIGATION_METHOD),)),
            *(_section(place, summary) for place, summary in enumerate(document.cases, start=1)),
        ),
        copy=copy_of(document),
        copy_name="fairenum-mitigation.json",
        tiles=tuple(_tiles(document)),
    )


def _tiles(document: MitigationDocument) -> Iterator[Tile]:
    for summary in document.cases:
        for method in summary.methods:
            if method.method == "guided":
                left = estimate(method.gap_ratio, _two_decimals)
                yield Tile.of(f"gap left, {short_case(summary.case)}", left)


def _section(place: int, summary: CaseSummary) -> Section:
    return Section(
        f"case-{place}",
        f"{case_title(summary.case)}: {summary.splits} splits",
        (
            Figure((_plot(summary),), wording.MITIGATION_CAPTION),
            Table(
                title="",
                headings=("method", "decides", "selects", "accuracy", "gap", "change", "gap ratio", "dominates"),
                rows=tuple(map(_method_row, summary.methods)),
                names=2,
                notes=(
                    "selects: share of the holdout that gets the favourable outcome",
                    "change: of accuracy, against model 1; gap ratio: gap as a share of that of model 1",
                    "dominates: share of splits in which it dominates guided search",
                ),
            ),
            Paragraph(wording.mitigation_price(summary)),
        ),
    )


def _method_row(method: MethodSummary) -> tuple[str, ...]:
    told = ", told the group" if method.needs_groups else ""
    return (
        method_title(method.method),
        manner(is_randomised=method.is_randomised) + told,
        percent(method.selection_rate.value),
        estimate(method.accuracy),
        estimate(method.gap),
        estimate(method.accuracy_change, signed),
        estimate(method.gap_ratio, _two_decimals),
        percent(method.dominates_guided, 0),
    )


def _two_decimals(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.2f}"


def _plot(summary: CaseSummary) -> Plot:
    """Draw accuracy against gap, one mark for each method."""
    title = case_title(summary.case)
    return Plot(
        name=f"Accuracy against gap: {title}",
        description="Each mark is a method; the table has the numbers.",
        x=Axis("accuracy on the holdout", least=0.02),
        y=Axis("demographic parity gap, lower is fairer", least=0.02, low=0.0),
        layers=(Marks(tuple(_marks(summary))),),
        key=(
            *(Key(method_title(name), *look) for name, look in OURS.items()),
            Key("another method", OTHERS, "square"),
            Key("another method, decides by chance", OTHERS, "hollow"),
        ),
        width=580.0,
        height=340.0,
    )


def _marks(summary: CaseSummary) -> Iterator[Mark]:
    """Mark every method; our own lie on top."""
    for method in sorted(summary.methods, key=lambda one: one.method in OURS):
        title = method_title(method.method)
        other: tuple[str, Shape] = (OTHERS, "hollow" if method.is_randomised else "square")
        tone, shape = OURS.get(method.method, other)
        if method.accuracy.value is not None and method.gap.value is not None:
            yield Mark(
                method.accuracy.value,
                method.gap.value,
                f"{title}: accuracy {estimate(method.accuracy)}, gap {estimate(method.gap)}",
                (method.accuracy.low, method.accuracy.high),
                (method.gap.low, method.gap.high),
                tone,
                shape,
                "" if method.method in OURS else title.removeprefix("fairlearn "),
            )
