"""What lies beside the listed models: other methods, what is possible at all, why the choice is fairer, and attacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fairenum.report import figures, sentences, tables
from fairenum.report.attack import AttackView
from fairenum.report.numbers import UNDEFINED, counted, percent
from fairenum.report.page import Block, Figure, Grid, Items, Paragraph, Section
from fairenum.report.tables import GROUP_WIDTH, NAME_WIDTH, Document, Table
from fairenum.report.text import shortened

CELL_WIDTH = 40
MOST_CLUSTERS = 12

ATTACK_CAPTION = (
    "The mean gap on the holdout over draws of the table, against the number of labels that somebody flipped in its "
    "training rows."
)
WIDENED = " (as much as a listed model loses on all rows, those that it left out among them)"
RANGE_TEXT = (
    "Enumeration lists neighbours of the best machine. This strip holds for every machine of the same kernel whose "
    "loss on the training rows is within {eps} of the best{why}, listed or not. It measures a stand-in for the gap, "
    "the difference of mean decision values, for which the ends of the range can be proven: none goes below {low} or "
    "above {high}; machines at {found_low} and {found_high} were found. The models lie between {least} and {most}."
)


def attack(block: Mapping[str, Any], view: AttackView) -> Section:
    """Show what label flips do, whether it can be made good, and what defences do."""
    blocks: list[Block] = [Paragraph(view.headline), Items(view.findings)]
    if plots := figures.attack_curves(block):
        blocks.append(Figure(plots, ATTACK_CAPTION))
    blocks += [Grid(table) for table in view.tables]
    if view.warnings:
        blocks.append(Items(view.warnings))
    return Section("attack", "When labels are flipped", tuple(blocks))


def possible(document: Document) -> Section:
    """Show where the models stand within what any machine of nearly the same loss could do."""
    found = document["range"]
    within = [model["value"] for model in found["models"] if model["is_within"]]
    text = RANGE_TEXT.format(
        eps=percent(found["eps"]),
        why=WIDENED if found["eps"] > document["config"]["eps"] else "",
        low=f"{found['low']['bound']:.3f}",
        high=f"{found['high']['bound']:.3f}",
        found_low=f"{found['low']['attained']:.3f}",
        found_high=f"{found['high']['attained']:.3f}",
        least=f"{min(within):.3f}" if within else UNDEFINED,
        most=f"{max(within):.3f}" if within else UNDEFINED,
    )
    caption = f"By {shortened(found['column'], GROUP_WIDTH)}, on the holdout. Only models within the loss are shown."
    return Section(
        "range", "What was left on the table", (Paragraph(text), Figure((figures.range_strip(document),), caption))
    )


def other_methods(document: Document) -> Section:
    """Show what else one would pick, on the same splits."""
    return Section("methods", "What else one would pick", (Grid(tables.other_methods(document)),))


def explanation(document: Document) -> Iterator[Block]:
    """Say what the examples that the selected model leaves out have in common, and which of them matter most."""
    found = document["explanation"]
    if not found:
        return
    yield Paragraph(sentences.left_out_sentence(found))
    if found["clusters"]:
        yield Grid(_clusters(found["clusters"], document["dataset"]["label"]))


def _clusters(clusters: list[Mapping[str, Any]], label: str) -> Table:
    rows = tuple(
        (
            shortened(cluster["label"], NAME_WIDTH),
            UNDEFINED if cluster["group"] is None else shortened(cluster["group"], GROUP_WIDTH),
            _cell(cluster["cell"]),
            f"{cluster['records']:.0f}",
            percent(cluster["share"]),
            percent(cluster["share_of_training"]),
        )
        for cluster in clusters[:MOST_CLUSTERS]
    )
    hidden = len(clusters) - MOST_CLUSTERS
    return Table(
        title="What the left-out examples have in common",
        headings=(shortened(label, NAME_WIDTH), "group", "what they share", "records", "share", "in training"),
        rows=rows,
        names=3,
        notes=(f"not shown: {counted(hidden, 'smaller cluster')}",) if hidden > 0 else (),
    )


def _cell(cell: Mapping[str, Any]) -> str:
    parts = (f"{shortened(name, NAME_WIDTH)} = {shortened(value, CELL_WIDTH)}" for name, value in cell.items())
    return "; ".join(parts) or UNDEFINED
