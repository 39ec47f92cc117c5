"""The tables that only a page has room for; numbers and words are those of the other reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fairenum.report import tables
from fairenum.report.embedded import MOST_EXAMPLES
from fairenum.report.numbers import UNDEFINED, estimate, percent, share, signed
from fairenum.report.tables import GROUP_WIDTH, METRICS, NAME_WIDTH, Document, Table, models_notes
from fairenum.report.text import shortened

Block = Mapping[str, Any]

PARTS = ("selection", "holdout")
CELL_WIDTH = 32
MOST_COLUMNS = 24
FLATTERY = "a choice flatters: about {} of the change on the selection split is expected to be the choice's own doing"


def all_models(document: Document) -> Table:
    """Show every model on both splits: on the one it is chosen by, and on the one it is judged by."""
    metric, selected = document["selection"]["tolerances"]["metric"], document["selection"]["rank"]
    return Table(
        title="All models, best objective first",
        headings=(
            "rank",
            "objective",
            "support",
            "left out",
            "accuracy",
            "gap",
            "accuracy",
            "gap",
            "change of gap",
            "verdict",
            "flips",
        ),
        rows=tuple(_model(model, metric) for model in document["models"]),
        names=0,
        marked=None if selected is None else selected - 1,
        notes=tuple(models_notes(document)),
    )


def _model(model: Block, metric: str) -> tuple[str, ...]:
    _, objective, support, accuracy, gap, _, verdict, flips = tables.model_row(model, metric)
    chosen_by, change = model["scores"]["selection"], model["scores"]["holdout"][metric]["change"]
    return (
        str(model["rank"]),
        objective,
        support,
        str(tables.records_out(model)),
        share(chosen_by["accuracy"]["value"]),
        share(chosen_by[metric]["value"]),
        accuracy,
        gap,
        UNDEFINED if model["rank"] == 1 or not change else estimate(change, signed),
        verdict,
        flips,
    )


def impact(table: Block) -> Table:
    """Show how one model selects from the groups of one column, with all that an adverse-impact table has."""
    short = tables.adverse_impact(table)
    return Table(
        title=f"Model {table['rank']}",
        headings=("group", "n", "selected", "rate", "ratio", "difference", "p", "shortfall", "could go unseen"),
        rows=tuple(_group(group, row) for group, row in zip(table["groups"], short.rows, strict=True)),
        notes=short.notes,
    )


def _group(group: Block, short: tuple[str, ...]) -> tuple[str, ...]:
    name, _, _, ratio, difference, p, shortfall = short
    counts = str(group["n"]), str(group["selected"])
    return name, *counts, estimate(group["rate"]), ratio, difference, p, shortfall, share(group["detectable"])


def disagreement(groups: list[Block], column: str) -> Table:
    """Show in which groups the models disagree."""
    return Table(
        title=f"By {shortened(column, GROUP_WIDTH)}",
        headings=("group", "rows", "flipped", "ambiguity", "discrepancy", "disagreement", "viable range", "capacity"),
        rows=tuple(
            (
                shortened(group["group"], GROUP_WIDTH),
                str(group["rows"]),
                str(group["flipped"]),
                *(percent(group[key]) for key in ("ambiguity", "discrepancy", "disagreement")),
                *(_small(group[key]) for key in ("viable_range", "capacity")),
            )
            for group in groups
        ),
    )


def _small(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.4f}"


def left_out(document: Document, rank: int) -> Table | None:
    """Show the training examples that a model was not shown; nothing if their values are not in the document."""
    wanted = document["models"][rank - 1]["left_out"]
    examples = {example["row"]: example for example in document["examples"]}
    found = [(entry, examples[entry["row"]]) for entry in wanted if entry.get("row") in examples]
    if not found:
        return None
    names = list(found[0][1]["values"])[:MOST_COLUMNS]
    groups = list(found[0][1]["groups"])
    heads = (shortened(name, NAME_WIDTH) for name in (document["dataset"]["label"], *groups, *names))
    return Table(
        title=f"Training examples that model {rank} leaves out",
        headings=("row", "copies", *heads),
        rows=tuple(_example(entry, example, groups, names) for entry, example in found[:MOST_EXAMPLES]),
        names=2 + 1 + len(groups),
        notes=tuple(_example_notes(len(found), len(found[0][1]["values"]))),
    )


def _example(entry: Block, example: Block, groups: list[str], names: list[str]) -> tuple[str, ...]:
    return (
        str(entry["row"]),
        f"{entry['copies']} of {entry['of']}",
        shortened(example["label"], CELL_WIDTH),
        *(shortened(", ".join(example["groups"][column]), CELL_WIDTH) for column in groups),
        *(_cell(example["values"].get(name)) for name in names),
    )


def _cell(value: float | str | None) -> str:
    if value is None:
        return UNDEFINED
    return f"{value:g}" if isinstance(value, float | int) else shortened(value, CELL_WIDTH)


def _example_notes(found: int, columns: int) -> Iterator[str]:
    yield "row: in the input table, counted from 0; copies: identical records left out, of those there are"
    if found > MOST_EXAMPLES:
        yield f"not shown: {found - MOST_EXAMPLES} more; the run's JSON has all"
    if columns > MOST_COLUMNS:
        yield f"not shown: {columns - MOST_COLUMNS} more columns; the run's JSON has all"


def gain(document: Document) -> Table:
    """Show what is known about the selected gap on both splits: how much of the gain the choice may have feigned."""
    optimism = document["selection"]["optimism"]
    change, accuracy = document["selection"]["gap_change"], document["selection"]["accuracy_change"]
    metric = METRICS[document["selection"]["tolerances"]["metric"]]
    return Table(
        title="The gain where it was looked for, and where it was checked",
        headings=("", "selection split", "holdout"),
        rows=(
            (f"{metric} gap", *(estimate(optimism["gap"][part]) for part in PARTS)),
            ("change against model 1", *(estimate(change[part], signed) for part in PARTS)),
            ("change of accuracy", *(estimate(accuracy[part], signed) for part in PARTS)),
        ),
        notes=() if optimism["expected"] is None else (FLATTERY.format(share(optimism["expected"])),),
    )
