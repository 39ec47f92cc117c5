"""The choice: the selected model beside others, how far its gain can be trusted, and the rows it leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import Cluster, Explanation, Optimism
from fairenum.document.consequences import other_model
from fairenum.document.models import AuditedModel, Cell, Example, Incumbent, LeftOut
from fairenum.document.terms import Measure
from fairenum.document.value import Estimate, Parts
from fairenum.document.words import (
    GAP_NAMES,
    GROUP_WIDTH,
    PARTS,
    TABLE_WIDTH,
    measures_of,
    model_heading,
    model_name,
    performance_of,
    reference_name,
    short,
)
from fairenum.render.page import Block, Column, Paragraph, Section, Table
from fairenum.report import models_section, standing
from fairenum.report.models_section import SUPPORT, ListedModel, objective_ratio
from fairenum.runtime.formatting import (
    UNDEFINED,
    capitalised,
    counted,
    difference,
    estimate,
    percent,
    sentence_list,
    share,
    shortened,
    signed,
)

FLATTERY = "a choice flatters: about {} of the change on the selection split is expected to be the choice's own doing"
SIDE_BY_SIDE = (
    "objective: of the reduced problem, as a share of model 1's; training loss: on all training rows, above the best",
    "all else is measured on the holdout, one model at a time; the strip says what the changes of gaps show",
)
FLATTERED = "in use: flattered by these numbers if it was made with these rows"


def left_out(found: Explanation, *, is_against_incumbent: bool = False) -> str:
    """Say how many records the selected model leaves out, and how few of them matter."""
    core, all_of_it = found.core, f"It leaves out {counted(found.records, 'training record')}."
    if core.records == found.records:
        return all_of_it
    # fewer may give more, where a guardrail or a tolerance stood in the way of choosing that
    is_more = core.share_of_gain is not None and core.share_of_gain > 1.0
    gain = "more than its gain" if is_more else f"{percent(core.share_of_gain)} of its gain"
    gain += " over model 1" if is_against_incumbent else ""
    return (
        f"{all_of_it} Leaving out {core.records} of them alone gives {gain} on the selection split, at an objective of "
        f"{core.objective_ratio:.6f} and a gap of {share(core.gap.selection)} there and {share(core.gap.holdout)} on "
        "the holdout."
    )


def withheld(examples: int) -> str:
    """Say that a redacted run does not show what a model leaves out."""
    return f"It leaves out {counted(examples, 'training example')}; their values were left out here."


MOST_CLUSTERS = 12
MOST_EXAMPLES = 30
MOST_COLUMNS = 24
CELL_WIDTH = 32


def chosen(document: AuditDocument) -> Section:
    """Show the choice, and the evidence for it."""
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
        yield Paragraph(left_out(document.explanation, is_against_incumbent=document.is_against_incumbent))
        if document.explanation.clusters:
            yield clusters_table(document.explanation.clusters, document.dataset.label)
    if table := _examples(document, model):
        yield table
    elif model.left_out:
        yield Paragraph(withheld(len(model.left_out)))


def side_by_side(document: AuditDocument, *, brief: bool = False) -> Table:
    """Show the model in use, model 1 and the selected model side by side; three leave little room."""
    shown = [document.member(rank) for rank in document.shortlist]
    if len(shown) == 1:
        return one_model(document)
    chosen = other_model(document)
    change = ("change",) if chosen and not (brief and len(shown) > 2) else ()
    rows = (
        *((column.heading, *map(column.cell, shown), "") for column in _trained()),
        *(_measure_row(document, shown, measure, title) for measure, title in measures_of(document).items()),
    )
    headings = ("measure", *(model_heading(one.rank) for one in shown), *change)
    rows = tuple(row[: len(headings)] for row in rows)
    notes = (*SIDE_BY_SIDE, *((FLATTERED,) if document.incumbent else ()))
    return Table(_title(document), headings, rows, notes=notes)


def _trained() -> Iterator[Column[ListedModel]]:
    """The columns of the training rows, as lines; model 1 is the measure of all objectives."""
    for column in (*models_section.TRAINED, replace(SUPPORT, heading="support vectors")):
        yield replace(column, cell=_objective) if column.key == "objective_ratio" else column


def _objective(model: ListedModel) -> str:
    return "1" if isinstance(model, AuditedModel) and model.rank == 1 else objective_ratio(model)


def _title(document: AuditDocument) -> str:
    """Return the title of the side-by-side table: the models, and their reference."""
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
    """Show the selected gap on both splits, and how much of the gain may be selection bias."""
    selection, performance = document.selection, performance_of(document)
    metric = GAP_NAMES[selection.tolerances.metric]
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
        notes=() if optimism.expected is None else (FLATTERY.format(share(optimism.expected)),),
    )


def _change_row(name: str, change: Parts[Estimate]) -> tuple[str, str, str]:
    return name, estimate(change.selection, signed), estimate(change.holdout, signed)


def clusters_table(clusters: Sequence[Cluster], label: str, most: int = MOST_CLUSTERS) -> Table:
    """Show the values that left-out examples have in common, the largest clusters first."""
    hidden = len(clusters) - most
    return Table.of(
        "What the left-out examples have in common",
        _cluster_columns(label),
        clusters[:most],
        notes=(f"not shown: {counted(hidden, 'smaller cluster')}",) if hidden > 0 else (),
    )


def _cluster_columns(label: str) -> tuple[Column[Cluster], ...]:
    return (
        Column("label", short(label), lambda cluster: short(cluster.label), is_word=True),
        Column("group", "group", _cluster_group, is_word=True),
        Column("shared", "what they share", _what_is_shared, is_word=True),
        Column("records", "records", lambda cluster: f"{cluster.records:.0f}"),
        Column("share", "share", lambda cluster: percent(cluster.share)),
        Column("share_of_training", "in training", lambda cluster: percent(cluster.share_of_training)),
    )


def _cluster_group(cluster: Cluster) -> str:
    return UNDEFINED if cluster.group is None else shortened(cluster.group, GROUP_WIDTH)


def _what_is_shared(cluster: Cluster) -> str:
    cells = (f"{short(name)} = {shortened(value, TABLE_WIDTH)}" for name, value in cluster.cell.items())
    return "; ".join(cells) or UNDEFINED


def _examples(document: AuditDocument, model: AuditedModel) -> Table | None:
    """Show the training examples that a model leaves out, if their values are in the document."""
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
