"""The choice: the selected model beside others, how far its gain can be trusted, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fairenum.document.audit import AuditDocument
from fairenum.document.choice import Cluster, Optimism
from fairenum.document.consequences import other_model
from fairenum.document.incumbent import Incumbent
from fairenum.document.models import AuditedModel, Cell, Example, LeftOut
from fairenum.document.terms import Measure
from fairenum.document.value import Estimate, Parts
from fairenum.rendering.numbers import UNDEFINED, counted, difference, estimate, percent, share, signed
from fairenum.rendering.page import Block, Paragraph, Section, Table
from fairenum.rendering.text import capitalised, sentence_list, shortened
from fairenum.report.models import trained
from fairenum.report.wording import (
    GAPS,
    GROUP_WIDTH,
    PARTS,
    TABLE_WIDTH,
    measures_of,
    model_heading,
    model_name,
    performance_of,
    reference_name,
    short,
    standing,
)
from fairenum.report.wording import audit as wording

MOST_CLUSTERS = 12
MOST_EXAMPLES = 30
MOST_COLUMNS = 24
CELL_WIDTH = 32


def chosen(document: AuditDocument) -> Section:
    """Show the choice, and all that is known about it."""
    table = side_by_side(document)
    return Section("choice", table.title, (table.untitled, *_about_choice(document)))


def _about_choice(document: AuditDocument) -> Iterator[Block]:
    model = other_model(document)
    if optimism := document.selection.optimism:
        yield _gain(document, optimism)
    if model is None:
        return
    yield from (Paragraph(text) for text in (standing.standing(document), standing.how_found(model)) if text)
    if document.explanation:
        yield Paragraph(wording.left_out(document.explanation, is_against_incumbent=document.is_against_incumbent))
        if document.explanation.clusters:
            yield clusters_table(document.explanation.clusters, document.dataset.label)
    if table := _examples(document, model):
        yield table
    elif model.left_out:
        yield Paragraph(wording.withheld(len(model.left_out)))


def side_by_side(document: AuditDocument, *, brief: bool = False) -> Table:
    """Show the model in use, model 1 and, if another was selected, that one beside them; three leave little room."""
    shown = [document.member(rank) for rank in document.shortlist]
    if len(shown) == 1:
        return one_model(document)
    names, chosen = ("objective", "training loss", "support vectors"), other_model(document)
    change = ("change",) if chosen and not (brief and len(shown) > 2) else ()
    rows = (
        *((name, *cells, "") for name, *cells in zip(names, *map(_trained, shown), strict=True)),
        *(_measure_row(document, shown, measure, title) for measure, title in measures_of(document).items()),
    )
    headings = ("measure", *(model_heading(one.rank) for one in shown), *change)
    rows = tuple(row[: len(headings)] for row in rows)
    notes = (*wording.SIDE_BY_SIDE, *((wording.FLATTERED,) if document.incumbent else ()))
    return Table(_title(document), headings, rows, notes=notes)


def _trained(model: AuditedModel | Incumbent) -> tuple[str, ...]:
    objective, *others = trained(model)
    return "1" if model.rank == 1 else objective, *others


def _title(document: AuditDocument) -> str:
    """Name who is shown, and against whom."""
    if chosen := other_model(document):
        return f"Model {chosen.rank} against {reference_name(document)} on the holdout"
    return f"{capitalised(sentence_list(map(model_name, document.shortlist)))} on the holdout"


def _measure_row(
    document: AuditDocument, shown: Sequence[AuditedModel | Incumbent], measure: Measure, title: str
) -> tuple[str, ...]:
    found = [estimate(one.scores.holdout.measure(measure)) for one in shown]
    ends = (document.reference, other_model(document) or document.reference)
    return title, *found, signed(difference(*(one.scores.holdout.measure(measure).value for one in ends)))


def one_model(document: AuditDocument) -> Table:
    """Show model 1 alone."""
    scores = document.first.scores.holdout
    rows = tuple((title, estimate(scores.measure(measure))) for measure, title in measures_of(document).items())
    return Table("Model 1 on the holdout", ("measure", "model 1"), rows)


def _gain(document: AuditDocument, optimism: Optimism) -> Table:
    """Show what is known about the selected gap on both splits: how much of the gain the choice may have feigned."""
    selection, performance = document.selection, performance_of(document)
    metric = GAPS[selection.tolerances.metric]
    rows = [(f"{metric} gap", estimate(optimism.gap.selection), estimate(optimism.gap.holdout))]
    changes = {
        f"change against {reference_name(document)}": selection.gap_change,
        "change of accuracy": selection.accuracy_change,
        f"change of {performance}": selection.performance_change or selection.accuracy_change,
    }
    rows += [_change_row(name, change) for name, change in changes.items() if change]
    return Table(
        title="The gain where it was looked for, and where it was checked",
        headings=("", PARTS["selection"], PARTS["holdout"]),
        rows=tuple(rows),
        notes=() if optimism.expected is None else (wording.FLATTERY.format(share(optimism.expected)),),
    )


def _change_row(name: str, change: Parts[Estimate]) -> tuple[str, str, str]:
    return name, estimate(change.selection, signed), estimate(change.holdout, signed)


def clusters_table(clusters: Sequence[Cluster], label: str, most: int = MOST_CLUSTERS) -> Table:
    """Show what left-out examples have in common, the largest clusters first."""
    hidden = len(clusters) - most
    return Table(
        title="What the left-out examples have in common",
        headings=(short(label), "group", "what they share", "records", "share", "in training"),
        rows=tuple(map(_cluster_row, clusters[:most])),
        names=3,
        notes=(f"not shown: {counted(hidden, 'smaller cluster')}",) if hidden > 0 else (),
    )


def _cluster_row(cluster: Cluster) -> tuple[str, ...]:
    cells = (f"{short(name)} = {shortened(value, TABLE_WIDTH)}" for name, value in cluster.cell.items())
    return (
        short(cluster.label),
        UNDEFINED if cluster.group is None else shortened(cluster.group, GROUP_WIDTH),
        "; ".join(cells) or UNDEFINED,
        f"{cluster.records:.0f}",
        percent(cluster.share),
        percent(cluster.share_of_training),
    )


def _examples(document: AuditDocument, model: AuditedModel) -> Table | None:
    """Show the training examples that a model was not shown; nothing if their values are not in the document."""
    examples = {example.row: example for example in document.examples}
    found = [(entry, examples[entry.row]) for entry in model.left_out if entry.row in examples]
    if not found:
        return None
    columns, groups = list(found[0][1].values), list(found[0][1].groups)
    heads = map(short, (document.dataset.label, *groups, *columns[:MOST_COLUMNS]))
    return Table(
        title=f"Training examples that model {model.rank} leaves out",
        headings=("row", "copies", *heads),
        rows=tuple(_example_row(*one, groups, columns[:MOST_COLUMNS]) for one in found[:MOST_EXAMPLES]),
        names=2 + 1 + len(groups),
        notes=tuple(_example_notes(len(found), len(columns))),
    )


def _example_row(entry: LeftOut, example: Example, groups: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    return (
        str(entry.row),
        f"{entry.copies} of {entry.of}",
        shortened(example.label, CELL_WIDTH),
        *(shortened(", ".join(example.groups[column]), CELL_WIDTH) for column in groups),
        *(_cell(example.values, column) for column in columns),
    )


def _cell(values: Mapping[str, Cell], column: str) -> str:
    value = values.get(column)
    if value is None:
        return UNDEFINED
    return shortened(value, CELL_WIDTH) if isinstance(value, str) else f"{value:g}"


def _example_notes(found: int, columns: int) -> Iterator[str]:
    yield "row: in the input table, counted from 0; copies: identical records left out, of those there are"
    if found > MOST_EXAMPLES:
        yield f"not shown: {found - MOST_EXAMPLES} more; the run's JSON has all"
    if columns > MOST_COLUMNS:
        yield f"not shown: {columns - MOST_COLUMNS} more columns; the run's JSON has all"
