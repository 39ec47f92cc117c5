"""The report's section on the choice: the selected model beside others, its gain, and the rows it leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import Cluster, Core, Explanation, Optimism
from fairenum.document.consequences import other_model
from fairenum.document.models import AuditedModel, Cell, Example, Incumbent, LeftOut
from fairenum.document.terms import Measure
from fairenum.document.words import (
    GAP_NAMES,
    GROUP_WIDTH,
    PARTS,
    TABLE_WIDTH,
    measures_of,
    model_heading,
    model_name,
    model_title,
    performance_of,
    reference_name,
    short,
)
from fairenum.render.page import Block, Column, Paragraph, Section, Table
from fairenum.report import choice_words, models_section
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

MOST_CLUSTERS, MOST_EXAMPLES, MOST_COLUMNS = 12, 30, 24
CELL_WIDTH = 32
SELECTION_BIAS = "selection bias: about {} of the change on the selection split is expected to come from the choice"
SIDE_BY_SIDE = (
    "training loss: on all training rows, above the best",
    "all else is measured on the holdout, one model at a time; the strip says what the changes of gaps show",
)
OPTIMISTIC = "in use: these numbers are too good if it was trained on these rows"


def left_out(document: AuditDocument, found: Explanation) -> str:
    """Return sentences on the number of training records that the selected model leaves out.

    If leaving out a few of them gives most of the gain, they add the number of these, and their share of the gain.
    """
    core, all_of_it = found.core, f"It leaves out {counted(found.records, 'training record')}."
    if core.records == found.records:
        return all_of_it
    # leaving out fewer may give a larger gain, by a model that a guardrail or a tolerance excluded from the choice
    is_more = core.share_of_gain is not None and core.share_of_gain > 1.0
    gain = "more than its gain" if is_more else f"{percent(core.share_of_gain)} of its gain"
    gain += " over model 1" if document.is_against_incumbent else ""
    return (
        f"{all_of_it} Leaving out {core.records} of them alone gives {gain} on the selection split, {_core_loss(core)}"
        f"a gap of {share(core.gap.selection)} there and {share(core.gap.holdout)} on "
        "the holdout."
    )


def _core_loss(core: Core) -> str:
    """Return the training loss of a core, with the words that join it to a gap; older runs do not have it."""
    return "at " if core.loss_ratio is None else f"at a training loss {percent(core.loss_ratio)} above the best and "


def chosen(document: AuditDocument) -> Section:
    """Return the section on the selected model: a comparison with the reference model, evidence, and left-out rows."""
    table = side_by_side(document)
    return Section("choice", table.title, (table.untitled, *_about_choice(document)))


def _about_choice(document: AuditDocument) -> Iterator[Block]:
    model = other_model(document)
    if optimism := document.selection.optimism:
        yield _gain(document, optimism)
    if model is None:
        return
    words = choice_words.proposal_status(document), choice_words.how_found(model)
    yield from (Paragraph(text) for text in words if text)
    if document.explanation:
        yield Paragraph(left_out(document, document.explanation))
        if document.explanation.clusters:
            yield clusters_table(document.explanation.clusters, document.dataset.label)
    if table := _examples(document, model):
        yield table
    elif model.left_out:
        left = counted(len(model.left_out), "training example")
        yield Paragraph(f"It leaves out {left}; their values were left out here.")


def side_by_side(document: AuditDocument, *, brief: bool = False) -> Table:
    """Return a table of the model in use, model 1 and the selected model, with a column of changes.

    The changes are those from the reference model to the selected model; a brief table of three models leaves them out.
    """
    shown = [document.member(rank) for rank in document.shortlist]
    if len(shown) == 1:
        return measures_table(document, 1, "Model 1 on the holdout")
    chosen = other_model(document)
    change = ("change",) if chosen and not (brief and len(shown) > 2) else ()
    rows = (
        *((column.heading, *map(column.cell, shown), "") for column in _trained(document)),
        *(_measure_row(document, shown, measure, title) for measure, title in measures_of(document).items()),
    )
    headings = ("measure", *(model_heading(one.rank) for one in shown), *change)
    notes = (*SIDE_BY_SIDE, *((OPTIMISTIC,) if document.incumbent else ()))
    return Table(_title(document), headings, tuple(row[: len(headings)] for row in rows), notes=notes)


def _trained(document: AuditDocument) -> Iterator[Column[ListedModel]]:
    for column in (*models_section.trained_columns(document), replace(SUPPORT, heading="support vectors")):
        yield replace(column, cell=_objective) if column.key == "objective_ratio" else column


def _objective(model: ListedModel) -> str:
    return "1" if isinstance(model, AuditedModel) and model.rank == 1 else objective_ratio(model)


def _title(document: AuditDocument) -> str:
    if chosen := other_model(document):
        return f"Model {chosen.rank} against {reference_name(document)} on the holdout"
    return f"{capitalised(sentence_list(map(model_name, document.shortlist)))} on the holdout"


def _measure_row(
    document: AuditDocument, shown: Sequence[AuditedModel | Incumbent], measure: Measure, title: str
) -> tuple[str, ...]:
    found = [estimate(one.scores.holdout.measure(measure)) for one in shown]
    ends = (document.reference, other_model(document) or document.reference)
    return title, *found, signed(difference(*(one.scores.holdout.measure(measure).value for one in ends)))


def measures_table(document: AuditDocument, rank: int, title: str) -> Table:
    """Return a table of all measures of one model on the holdout."""
    scores = document.member(rank).scores.holdout
    rows = tuple((name, estimate(scores.measure(measure))) for measure, name in measures_of(document).items())
    return Table(title, ("measure", model_title(document, rank)), rows)


def _gain(document: AuditDocument, optimism: Optimism) -> Table:
    """Return a table of the selected model's gap and its changes against the reference model, on both splits.

    A note estimates how much of the gain on the selection split is selection bias.
    """
    selection, gap = document.selection, optimism.gap
    changes = {
        f"change against {reference_name(document)}": selection.gap_change,
        "change of accuracy": selection.accuracy_change,
        f"change of {performance_of(document)}": selection.performance_change or selection.accuracy_change,
    }
    rows = (
        (f"{GAP_NAMES[selection.tolerances.metric]} gap", estimate(gap.selection), estimate(gap.holdout)),
        *(
            (name, estimate(change.selection, signed), estimate(change.holdout, signed))
            for name, change in changes.items()
            if change
        ),
    )
    return Table(
        title="The gain on the selection split, and on the holdout",
        headings=("", PARTS["selection"], PARTS["holdout"]),
        rows=rows,
        notes=() if optimism.expected is None else (SELECTION_BIAS.format(share(optimism.expected)),),
    )


def clusters_table(clusters: Sequence[Cluster], label: str, most: int = MOST_CLUSTERS) -> Table:
    """Return a table of the `most` largest clusters of left-out training examples, and the values they share."""
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
        Column("shared", "what they share", _shared_values, is_word=True),
        Column("records", "records", lambda cluster: f"{cluster.records:.0f}"),
        Column("share", "share", lambda cluster: percent(cluster.share)),
        Column("share_of_training", "in training", lambda cluster: percent(cluster.share_of_training)),
    )


def _cluster_group(cluster: Cluster) -> str:
    return UNDEFINED if cluster.group is None else shortened(cluster.group, GROUP_WIDTH)


def _shared_values(cluster: Cluster) -> str:
    cells = (f"{short(name)} = {shortened(value, TABLE_WIDTH)}" for name, value in cluster.cell.items())
    return "; ".join(cells) or UNDEFINED


def _examples(document: AuditDocument, model: AuditedModel) -> Table | None:
    """Return a table of the training examples that a model leaves out; None if the document lacks their values."""
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
