"""Features on a page: how well they predict label and groups, their weights, and whose decisions a choice changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from fairenum.document.audit_document import AuditDocument
from fairenum.document.feature_facts import Anatomy, EncodedFeature, Flips, GroupFlips, Screening, SingleFeature, spans
from fairenum.document.person import Person, PersonDecision
from fairenum.document.words import GROUP_WIDTH, NAME_WIDTH, TABLE_WIDTH, TITLE_WIDTH, reference_name, short
from fairenum.render.page import Block, Figure, Paragraph, Section, Table
from fairenum.render.svg import Bar, Bars, Rule
from fairenum.render.svg_plot import LETTER, Axis, Key, Plot
from fairenum.report.groups_section import foremost, hidden_groups, tone
from fairenum.runtime.formatting import UNDEFINED, counted, percent, sentence_list, share, shortened, signed

MOST_NAMED = 3
SCREENED = (
    "Each feature alone, and all of them together, were used to tell the label and the groups: learned on training "
    "rows, measured on the selection split. The numbers are areas under the curve: 0.5 is chance, 1 is certainty. A "
    "feature that alone tells the label nearly as well as the model may be known only after the decision; one that "
    "tells the group stands in for it, whether or not the sensitive column is left out."
)
WEIGHED = (
    "A decision value is the sum of these weights times the person's encoded values, plus the bias (minus the cut, "
    "where models are cut elsewhere than at 0); from 0 on the decision is favourable. "
)
PER_DEVIATION = "A weight of a number is per standard deviation, a weight of a text is for having it."
PER_UNIT = "Numbers were not standardised: a weight is per unit, so columns of small numbers have large weights."
PERSON_COPY = "The decisions, and what weighs most in each; `fairenum explain RUN --json PATH` has all of it."


def weighed(document: AuditDocument, anatomy: Anatomy) -> str:
    """Say how to read weights or effects."""
    if anatomy.effects:
        rows = anatomy.effects[0].rows
        return (
            f"Share of {counted(rows, 'row')} of the selection split that a model decides otherwise when the values of "
            "one feature are shuffled among them: how much the model goes by it, whatever the direction."
        )
    return WEIGHED + (PER_DEVIATION if document.config.standardise else PER_UNIT)


def flipped(document: AuditDocument, flips: Flips) -> str:
    """Say how many rows a choice changes, and which way."""
    groups = next(iter(flips.by_column.values()))
    gained, lost, rows = (sum(getattr(one, name) for one in groups) for name in ("gained", "lost", "rows"))
    return (
        f"Of {counted(rows, 'row')} of the holdout, {gained} get the favourable outcome from model {flips.rank} and "
        f"not from {reference_name(document)}, {lost} the other way round."
    )


def person_subject(person: Person) -> str:
    """Name the person that a page is about."""
    who = "values as given" if person.row is None else f"row {person.row}, counted from 0"
    return (
        f"{shortened(person.data, TABLE_WIDTH)}: {who}; favourable: {short(person.label)} = {short(person.favourable)}"
    )


def person_headline(person: Person) -> str:
    """Say what most models decide."""
    favourable, models = sum(one.is_favourable for one in person.decisions), len(person.decisions)
    outcome = f"{short(person.label)} = {short(person.favourable)}"
    if models == 1:
        return f"The model decides {short(person.label)} = {short(person.decision(person.decisions[0]))}."
    if favourable in (0, models):
        other = outcome if favourable else f"{short(person.label)} = {short(person.unfavourable)}"
        return f"All {models} models decide {other}."
    return f"{favourable} of {models} models decide {outcome}; the others do not."


def person_findings(person: Person, shown: Sequence[PersonDecision]) -> Iterator[str]:
    """Say what weighs most in some models, and by how much they decide."""
    for one in shown:
        outcome = short(person.decision(one))
        main = [part for part in one.contributions if part.contribution][:MOST_NAMED]
        listed = [f"{short(part.feature)} ({signed(part.contribution)})" for part in main]
        most = f"; what weighs most: {sentence_list(listed)}" if listed else ""
        yield f"Model {one.rank} decides {outcome}, by a decision value of {signed(one.value)}{most}."


def person_warnings(person: Person) -> Iterator[str]:
    """Say what was not known about the person."""
    if person.imputed:
        cells = (f"{shortened(name, NAME_WIDTH)} = {value:g}" for name, value in person.imputed.items())
        yield shortened(f"not given, so the median of the training rows: {sentence_list(cells)}", 4 * TABLE_WIDTH)
    blank = [name for name, value in person.values.items() if value is None and name not in person.imputed]
    if blank:
        yield shortened(f"not given, so they count as missing: {sentence_list(map(short, blank))}", 4 * TABLE_WIDTH)
    if person.pooled:
        names = sentence_list(shortened(name, GROUP_WIDTH) for name in person.pooled)
        yield f"rare in training or not there, so the value counts as all such values do: {names}"
    if person.unseen:
        names = sentence_list(shortened(name, GROUP_WIDTH) for name in person.unseen)
        yield f"no training row has such a value, so it counts as none: {names}"


MISSING = "(missing)"
MOST_TOLD = 3
MOST_BARS = 12


FEW_ROWS, MANY_ROWS = 8, 40


def sections(document: AuditDocument) -> Iterator[Section]:
    """Show everything that is known about features, for a page with room."""
    if found := document.screening:
        yield Section("features", "What the features give away", (Paragraph(SCREENED), told(document, found)))
    if rows := _weighed(document):
        yield Section("weights", "What the models go by", tuple(_weight_blocks(document, rows)))
    if flips := document.flips:
        tables = map(partial(_flip_table, document, flips), flips.by_column)
        yield Section("flips", "Whom the choice changes", (Paragraph(flipped(document, flips)), *tables))


def brief_sections(document: AuditDocument) -> Iterator[Section]:
    """Show the main facts about features; screening only where it deserves a warning."""
    if document.screening and document.screening.has_findings:
        yield Section.of_table("features", told(document, document.screening))
    if rows := _weighed(document):
        yield Section.of_table("weights", _weight_table(document, rows, FEW_ROWS))
    if document.flips:
        column = document.column or next(iter(document.flips.by_column))
        yield Section.of_table("flips", _flip_table(document, document.flips, column))


def told(document: AuditDocument, found: Screening) -> Table:
    """Show how well features predict the label and the groups."""
    label = f"{short(document.dataset.label)} (the label)"
    rows = [(label, _listed(found.features), share(found.model_auc))]
    rows += [(short(one.column), _listed(one.features), share(one.together)) for one in found.columns]
    return Table(
        title="What features tell, each alone and all together",
        headings=("what is told", "the most telling features alone", "together"),
        rows=tuple(rows),
        names=2,
        notes=(
            f"AUC on {counted(found.rows, 'row')} of the selection split: 0.5 is chance, 1 is certainty",
            "together: model 1 for the label, a linear model of all features for the groups",
        ),
    )


def _listed(features: Sequence[SingleFeature]) -> str:
    return ", ".join(f"{short(one.feature)} {share(one.auc)}" for one in features[:MOST_TOLD]) or UNDEFINED


@dataclass(frozen=True, slots=True)
class _Weighed:
    """An encoded column, or a feature, with its weight or effect in each shown model."""

    name: str
    values: tuple[float, ...]

    @property
    def changes(self) -> list[float]:
        """The differences from each model to the next."""
        return [after - before for before, after in pairwise(self.values)]


def _ranks(document: AuditDocument, anatomy: Anatomy) -> list[int]:
    """Return the ranks of model 1 and the selected model, as far as their weights or effects are known."""
    known = {one.rank for one in anatomy.weights} | {one.rank for one in anatomy.effects}
    return [rank for rank in document.selection.shortlist if rank in known]


def _weighed(document: AuditDocument) -> list[_Weighed]:
    """List weights or effects of the shown models, the feature of the largest weight first, its columns together."""
    anatomy = document.anatomy
    if anatomy is None or not (ranks := _ranks(document, anatomy)):
        return []
    if anatomy.effects:
        effects = zip(*(one.effects for one in anatomy.effects if one.rank in ranks), strict=True)
        rows = [_Weighed(one.name, values) for one, values in zip(anatomy.features, effects, strict=True)]
        return sorted(rows, key=_size)
    columns = list(zip(*(one.weights for one in anatomy.weights if one.rank in ranks), strict=True))
    places = spans(anatomy.features)
    groups = [
        sorted((_Weighed(*row) for row in zip(_names(one), columns[places[one.name]], strict=True)), key=_size)
        for one in anatomy.features
    ]
    return [row for group in sorted(groups, key=lambda group: _size(group[0])) for row in group]


def _size(row: _Weighed) -> float:
    return -max(map(abs, row.values))


def _names(feature: EncodedFeature) -> list[str]:
    if feature.kind == "numeric":
        return [feature.name]
    return [f"{feature.name} = {MISSING if level is None else level}" for level in feature.columns]


def _weight_blocks(document: AuditDocument, rows: list[_Weighed]) -> Iterator[Block]:
    anatomy = document.anatomy or Anatomy(())
    yield Paragraph(weighed(document, anatomy))
    yield Figure(
        (_bars(document, rows[:MOST_BARS], anatomy),), "The largest, model by model; the table has the numbers."
    )
    yield _weight_table(document, rows, MANY_ROWS)


def _weight_table(document: AuditDocument, rows: list[_Weighed], most: int) -> Table:
    """Show the largest weights or effects side by side."""
    anatomy = document.anatomy or Anatomy(())
    ranks, shown = _ranks(document, anatomy), rows[:most]
    if not anatomy.effects:
        shown = [*shown, _Weighed("bias", tuple(document.models[rank - 1].offset for rank in ranks))]
    show, point = (percent, _points) if anatomy.effects else (signed, signed)
    cells = ((shortened(row.name, TITLE_WIDTH), *map(show, row.values), *map(point, row.changes)) for row in shown)
    heading = "feature, shuffled" if anatomy.effects else "encoded feature"
    hidden = len(rows) - most
    notes = (f"not shown: {counted(hidden, 'smaller one')}; the run's JSON has all",) if hidden > 0 else ()
    kind = "Share of decisions that go by each feature" if anatomy.effects else "What the models weigh"
    change = ("change",) if len(ranks) > 1 else ()
    return Table(kind, (heading, *(f"model {rank}" for rank in ranks), *change), tuple(cells), notes=notes)


def _points(change: float) -> str:
    return f"{100 * change:+.1f}" if round(100 * change, 1) else "0.0"


def _bars(document: AuditDocument, rows: list[_Weighed], anatomy: Anatomy) -> Plot:
    ranks, names = _ranks(document, anatomy), tuple(shortened(row.name, TITLE_WIDTH) for row in rows)
    offsets = (0.16, -0.16) if len(ranks) > 1 else (0.0,)
    bars = tuple(
        Bar(len(rows) - 1 - place + offset, row.values[model], tone=tone(rank), name=f"model {rank}, {names[place]}")
        for model, (rank, offset) in enumerate(zip(ranks, offsets, strict=True))
        for place, row in enumerate(rows)
    )
    label = "share decided otherwise when shuffled" if anatomy.effects else "weight"
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
        title=f"Holdout rows that model {flips.rank} decides otherwise than {before}{by}",
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
