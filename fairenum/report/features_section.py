"""The report's sections on features, and on the people whose decision the choice of model changes.

They show how well features predict the label and the groups, and how much each model depends on each feature.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from fairenum.document.audit_document import AuditDocument
from fairenum.document.feature_facts import Anatomy, Flips, GroupFlips, Screening, SingleFeature, spans
from fairenum.document.words import GROUP_WIDTH, TITLE_WIDTH, reference_name, short
from fairenum.render.page import Block, Figure, Paragraph, Section, Table
from fairenum.render.svg import Bar, Bars, Rule
from fairenum.render.svg_plot import LETTER, Axis, Key, Plot
from fairenum.report.groups_section import foremost, hidden_groups, tone
from fairenum.runtime.formatting import UNDEFINED, counted, percent, share, shortened, signed

FEW_ROWS, MANY_ROWS, MOST_BARS = 8, 40, 12
Weights = tuple[str, tuple[float, ...]]  # an encoded column, or a feature, with its weight or effect in each model
SCREENED = (
    "Each feature alone, and all of them together, were used to predict the label and the groups: learned on training "
    "rows, measured on the selection split. The numbers are areas under the curve: 0.5 is chance, 1 is certainty. A "
    "feature that alone predicts the label nearly as well as the model may be known only after the decision; one that "
    "predicts the group stands in for it, whether or not the sensitive column is left out."
)
WEIGHED = (
    "A decision value is the sum of these weights times the person's encoded values, plus the bias (minus the cut, "
    "where models are cut elsewhere than at 0); from 0 on the decision is favourable. "
)
PER_DEVIATION = "A weight of a number is per standard deviation, a weight of a text is for having it."
CUT_POINTS = " A condition such as age > 50 has a weight of its own, which counts for those who meet it."
PER_UNIT = "Numbers were not standardised: a weight is per unit, so columns of small numbers have large weights."


def _how_to_read(document: AuditDocument, anatomy: Anatomy) -> str:
    """Return a paragraph that explains the weights of a linear model or, for other kernels, what shuffling shows."""
    if anatomy.effects:
        rows = anatomy.effects[0].rows
        return (
            f"Share of {counted(rows, 'row')} of the selection split that a model decides differently when the values "
            "of one feature are shuffled among them: how much the model goes by it, whatever the direction."
        )
    conditions = CUT_POINTS if document.config.features == "additive" else ""
    return WEIGHED + (PER_DEVIATION if document.config.standardise else PER_UNIT) + conditions


def _flips_sentence(document: AuditDocument, flips: Flips) -> str:
    """Return a sentence with the numbers of holdout rows that gain and that lose the favourable outcome."""
    groups = next(iter(flips.by_column.values()))
    gained, lost, rows = (sum(getattr(one, name) for one in groups) for name in ("gained", "lost", "rows"))
    return (
        f"Of {counted(rows, 'row')} of the holdout, {gained} get the favourable outcome from model {flips.rank} and "
        f"not from {reference_name(document)}, {lost} the other way round."
    )


def sections(document: AuditDocument) -> Iterator[Section]:
    """Yield full sections on what features predict, on weights, and on changed decisions, as far as known."""
    if found := document.screening:
        yield Section(
            "features", "What the features give away", (Paragraph(SCREENED), _screening_table(document, found))
        )
    if rows := _weights(document):
        yield Section("weights", "What the models go by", tuple(_weight_blocks(document, rows)))
    if flips := document.flips:
        tables = map(partial(_flip_table, document, flips), flips.by_column)
        yield Section("flips", "Who is affected by the choice", (Paragraph(_flips_sentence(document, flips)), *tables))


def brief_sections(document: AuditDocument) -> Iterator[Section]:
    """Yield brief sections: the largest weights, and changed decisions by the groups of one column.

    A section on how well features predict comes first, if anything in it deserves a warning.
    """
    if document.screening and document.screening.has_findings:
        yield Section.of_table("features", _screening_table(document, document.screening))
    if rows := _weights(document):
        yield Section.of_table("weights", _weight_table(document, rows, FEW_ROWS))
    if document.flips:
        column = document.column or next(iter(document.flips.by_column))
        yield Section.of_table("flips", _flip_table(document, document.flips, column))


def _screening_table(document: AuditDocument, found: Screening) -> Table:
    """Return a table of how well features predict the label and the groups, each alone and all together."""
    label = f"{short(document.dataset.label)} (the label)"
    rows = [(label, _listed(found.features), share(found.model_auc))]
    rows += [(short(one.column), _listed(one.features), share(one.together)) for one in found.columns]
    return Table(
        title="How well features predict, each alone and all together",
        headings=("predicted", "the best features alone", "together"),
        rows=tuple(rows),
        names=2,
        notes=(
            f"AUC on {counted(found.rows, 'row')} of the selection split: 0.5 is chance, 1 is certainty",
            "together: model 1 for the label, a linear model of all features for the groups",
        ),
    )


def _listed(features: Sequence[SingleFeature]) -> str:
    return ", ".join(f"{short(one.feature)} {share(one.auc)}" for one in features[:3]) or UNDEFINED


def _ranks(document: AuditDocument, anatomy: Anatomy) -> list[int]:
    known = {one.rank for one in anatomy.weights} | {one.rank for one in anatomy.effects}
    return [rank for rank in document.selection.shortlist if rank in known]


def _weights(document: AuditDocument) -> list[Weights]:
    """Return the weights of model 1 and the selected model or, for kernels without weights, the effects of shuffling.

    Features come in descending order of their largest absolute weight or effect; the encoded columns of one feature
    stay together.
    """
    anatomy = document.anatomy
    if anatomy is None or not (ranks := _ranks(document, anatomy)):
        return []
    if anatomy.effects:
        effects = zip(*(one.effects for one in anatomy.effects if one.rank in ranks), strict=True)
        return sorted(zip((one.name for one in anatomy.features), effects, strict=True), key=_size)
    columns = list(zip(*(one.weights for one in anatomy.weights if one.rank in ranks), strict=True))
    places = spans(anatomy.features)
    groups = [sorted(zip(one.names, columns[places[one.name]], strict=True), key=_size) for one in anatomy.features]
    return [row for group in sorted(groups, key=lambda group: _size(group[0])) for row in group]


def _size(row: Weights) -> float:
    return -max(map(abs, row[1]))


def _weight_blocks(document: AuditDocument, rows: list[Weights]) -> Iterator[Block]:
    anatomy = document.anatomy or Anatomy(())
    yield Paragraph(_how_to_read(document, anatomy))
    caption = "The largest, model by model; the table has the numbers."
    yield Figure((_bars(document, rows[:MOST_BARS], anatomy),), caption)
    yield _weight_table(document, rows, MANY_ROWS)


def _weight_table(document: AuditDocument, rows: list[Weights], most: int) -> Table:
    """Return a table of the `most` largest weights or effects, with a column for each model."""
    anatomy = document.anatomy or Anatomy(())
    ranks, shown = _ranks(document, anatomy), rows[:most]
    if not anatomy.effects:
        shown = [*shown, ("bias", tuple(document.models[rank - 1].offset for rank in ranks))]
    show, show_change = (percent, _points) if anatomy.effects else (signed, signed)
    cells = (
        (
            *(shortened(name, TITLE_WIDTH), *map(show, values)),
            *(show_change(after - before) for before, after in pairwise(values)),
        )
        for name, values in shown
    )
    heading = "feature, shuffled" if anatomy.effects else "encoded feature"
    hidden = len(rows) - most
    notes = (f"not shown: {counted(hidden, 'smaller one')}; the run's JSON has all",) if hidden > 0 else ()
    kind = "Share of decisions that go by each feature" if anatomy.effects else "What the models weigh"
    change = ("change",) if len(ranks) > 1 else ()
    return Table(kind, (heading, *(f"model {rank}" for rank in ranks), *change), tuple(cells), notes=notes)


def _points(change: float) -> str:
    return f"{100 * change:+.1f}" if round(100 * change, 1) else "0.0"


def _bars(document: AuditDocument, rows: list[Weights], anatomy: Anatomy) -> Plot:
    ranks, names = _ranks(document, anatomy), tuple(shortened(name, TITLE_WIDTH) for name, _ in rows)
    offsets = (0.16, -0.16) if len(ranks) > 1 else (0.0,)
    bars = tuple(
        Bar(len(rows) - 1 - place + offset, values[model], tone=tone(rank), name=f"model {rank}, {names[place]}")
        for model, (rank, offset) in enumerate(zip(ranks, offsets, strict=True))
        for place, (_, values) in enumerate(rows)
    )
    label = "share decided differently when shuffled" if anatomy.effects else "weight"
    return Plot(
        name="What the models go by",
        description="One bar for each encoded feature and model; the table beside it has the numbers.",
        x=Axis(label),
        y=Axis("", names=names[::-1]),
        layers=(Bars(bars, 0.32 if len(ranks) > 1 else 0.56), Rule(0.0, is_upright=True)),
        key=tuple(Key(f"model {rank}", tone(rank), "square") for rank in ranks if len(ranks) > 1),
        width=580.0,
        height=76.0 + 26.0 * len(rows),
        left=22.0 + LETTER * max(map(len, names)),
    )


def _flip_table(document: AuditDocument, flips: Flips, column: str) -> Table:
    before = reference_name(document)
    by, groups = f", by {shortened(column, GROUP_WIDTH)}" if column else "", flips.by_column[column]
    return Table(
        title=f"Holdout rows that model {flips.rank} decides differently from {before}{by}",
        headings=("group", "rows", "gain", "lose", "net"),
        rows=tuple(map(_flip_row, foremost(groups, [group.rows for group in groups]))),
        notes=(
            f"gain: favourable by the selected model alone; lose: favourable by {before} alone",
            *hidden_groups(groups),
        ),
    )


def _flip_row(group: GroupFlips) -> tuple[str, ...]:
    rates = (percent(one / group.rows if group.rows else None) for one in (group.gained, group.lost))
    cells = (f"{count} ({rate})" for count, rate in zip((group.gained, group.lost), rates, strict=True))
    net = group.gained - group.lost
    return shortened(group.group, GROUP_WIDTH), str(group.rows), *cells, f"{net:+d}" if net else "0"
