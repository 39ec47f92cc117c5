"""The sections of a page: what a document says, in the order and the words of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from fairenum.report import alternatives, figures, method, page_tables, scatter
from fairenum.report.numbers import counted, estimate, percent
from fairenum.report.page import Block, Candidate, Explorer, Figure, Grid, Items, Paragraph, Section, Tile
from fairenum.report.rules import Judgement
from fairenum.report.tables import METRICS, Document, Table
from fairenum.report.text import shortened
from fairenum.report.view import View

SELECTED_BY = (
    "Models are found on the training rows, chosen on the selection split and judged on the holdout, which had no part "
    "in the choice. What looks like a gain on the left is one only if it is still there on the right."
)
RANK_CAPTION = (
    "Model by model in the order of their objective: what is lost of it, and gap and accuracy on the holdout with "
    "their intervals."
)
IMPACT_CAPTION = (
    "Bars: share that gets the favourable outcome, with its interval; dashed: four fifths of model {}'s highest."
)


def tiles(document: Document) -> Iterator[Tile]:
    """Give the numbers to see first."""
    metric, rank = document["selection"]["tolerances"]["metric"], document["selection"]["rank"]
    shown = sorted({1, rank or 1})
    for measure, name in ((metric, f"{METRICS[metric]} gap"), ("accuracy", "accuracy")):
        for place in shown:
            numbers = document["models"][place - 1]["scores"]["holdout"][measure]
            value, _, limits = estimate(numbers).partition(" ")
            yield Tile(f"{name}, model {place}", value, limits)
    found = document["multiplicity"]
    yield Tile(
        "rows decided in more than one way", percent(found["ambiguity"]), f"by {counted(found['models'], 'model')}"
    )


def models(document: Document) -> Section:
    """Show all models: where they were chosen, where they are judged, and what is known about each."""
    plots = scatter.scatters(document)
    table = page_tables.all_models(document)
    candidates = tuple(
        _candidate(model, row, document) for model, row in zip(document["models"], table.rows, strict=True)
    )
    tolerances = document["selection"]["tolerances"]
    rank = document["selection"]["rank"]
    chose = "chose none" if rank is None else f"chose model {rank}"
    explorer = Explorer(
        figure=Figure(plots, SELECTED_BY),
        table=table,
        candidates=candidates,
        largest_loss=max(candidate.loss for candidate in candidates),
        largest_drop=max(candidate.drop or 0.0 for candidate in candidates),
        rule=f"The run allowed {tolerances['eps']:g} and {tolerances['max_accuracy_drop']:g}, and {chose}.",
    )
    return Section("models", "The near-optimal models", (explorer,))


def _candidate(model: Mapping[str, Any], cells: tuple[str, ...], document: Document) -> Candidate:
    selection, first = document["selection"], document["models"][0]
    rank, scores = model["rank"], model["scores"]["selection"]
    drop, gap = first["scores"]["selection"]["accuracy"]["value"], scores[selection["tolerances"]["metric"]]["value"]
    can_be_chosen = gap is not None and not model["is_constant"]
    tags = (
        ("first", rank == 1),
        ("selected", rank == selection["rank"]),
        ("front", rank in selection["pareto_front"]),
        ("guided", model["origin"] == "guided"),
    )
    return Candidate(
        name=f"model-{rank}",
        cells=cells,
        loss=max(0.0, 1.0 - model["objective_ratio"]),
        drop=round(drop - scores["accuracy"]["value"], 12),
        gap=f"{round(gap, 12):g}" if can_be_chosen and gap is not None else "",
        marks=tuple(tag for tag, holds in tags if holds),
    )


def by_rank(document: Document) -> Section:
    """Show objective, gap and accuracy by rank."""
    return Section("ranks", "Rank by rank", (Figure(figures.by_rank(document), RANK_CAPTION),))


def choice(document: Document, view: View) -> Section:
    """Show the selected model beside model 1, what it leaves out, and how far the gain can be trusted."""
    return Section("choice", view.comparison.title, tuple(_choice_blocks(document, view)))


def _choice_blocks(document: Document, view: View) -> Iterator[Block]:
    selection = document["selection"]
    yield Grid(_untitled(view.comparison))
    if selection["optimism"]:
        yield Grid(page_tables.gain(document))
    if selection["rank"] in (None, 1):
        return
    yield from alternatives.explanation(document)
    missing = document["models"][selection["rank"] - 1]["left_out"]
    if table := page_tables.left_out(document, selection["rank"]):
        yield Grid(table)
    elif missing:
        yield Paragraph(f"It leaves out {counted(len(missing), 'training example')}; their values were left out here.")


def _untitled(table: Table) -> Table:
    return replace(table, title="")


def groups(document: Document, ranks: tuple[int, ...] = ()) -> Section:
    """Show who is selected, by every sensitive column and their intersection; by some models, or by all there are."""
    return Section("groups", "Who is selected", tuple(_group_blocks(document, ranks)))


def _group_blocks(document: Document, ranks: tuple[int, ...]) -> Iterator[Block]:
    if not document["group_tables"]:
        yield Paragraph("No sensitive column was named, so no groups are compared.")
    for column in document["dataset"]["sensitive"]:
        tables = [
            table
            for table in document["group_tables"]
            if table["column"] == column["column"] and (not ranks or table["rank"] in ranks)
        ]
        caption = f"By {shortened(column['column'], 60)}. {IMPACT_CAPTION.format(tables[-1]['rank'])}"
        yield Figure((figures.group_rates(tables),), caption)
        yield from (Grid(impact_table(table)) for table in tables)


def impact_table(table: Mapping[str, Any], run: str = "") -> Table:
    """Show how one model selects; with the name of its run where there are several."""
    shown = page_tables.impact(table)
    return replace(shown, title=f"{run}, {shown.title.lower()}") if run else shown


def disagreement(document: Document) -> Section:
    """Show who is decided differently by models that are nearly as good."""
    found = document["multiplicity"]
    text = (
        f"Ambiguity is the share of rows that some model decides otherwise than model 1: {percent(found['ambiguity'])} "
        f"of the holdout. Discrepancy is the largest share that a single one changes: {percent(found['discrepancy'])}. "
        f"Disagreement is the chance that two models differ on a row: {percent(found['disagreement'])}. The viable "
        f"range is how far the calibrated probability of a row moves between models; capacity is the same in bits."
    )
    tables = (Grid(page_tables.disagreement(rows, column)) for column, rows in found["by_column"].items())
    return Section("disagreement", "Who is decided differently", (Paragraph(text), *tables))


def rules(judgements: tuple[Judgement, ...]) -> Section:
    """Show what became of the rules."""
    rows = tuple((str(one.rule), one.outcome.value, one.reason) for one in judgements)
    return Section("rules", "Rules", (Grid(Table("", ("rule", "outcome", "why"), rows, names=3)),))


def explained(document: Document) -> Section:
    """Say how the numbers came about, and what they cannot say."""
    metric = METRICS[document["selection"]["tolerances"]["metric"]]
    return Section(
        "method",
        "Method and limits",
        (Items(tuple(method.steps(document, metric))), Items(tuple(method.limits(document)))),
    )


def setting(document: Document) -> Section:
    """Show the whole configuration, the environment and the table."""
    return Section("setting", "Configuration", tuple(method.setting(document)))
