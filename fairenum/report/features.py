"""Features: what they give away, what model 1 and the selected one go by, and whom the choice changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from fairenum.document.anatomy import Anatomy, EncodedFeature, Flips, GroupFlips, spans
from fairenum.document.audit import AuditDocument
from fairenum.document.screening import Alone, Screening
from fairenum.rendering.numbers import UNDEFINED, counted, percent, share, signed
from fairenum.rendering.page import Block, Figure, Paragraph, Section, Table
from fairenum.rendering.svg import Axis, Bar, Bars, Key, Plot, Rule
from fairenum.rendering.svg.plot import LETTER
from fairenum.rendering.text import shortened
from fairenum.report.groups import foremost, hidden_groups, tone
from fairenum.report.wording import GROUP_WIDTH, TITLE_WIDTH, reference_name, short
from fairenum.report.wording import features as wording

MISSING = "(missing)"
MOST_TOLD = 3
MOST_BARS = 12
FEW_ROWS, MANY_ROWS = 8, 40


def sections(document: AuditDocument) -> Iterator[Section]:
    """Show all that is known about features, for a page with room."""
    if found := document.screening:
        yield Section("features", "What the features give away", (Paragraph(wording.SCREENED), told(document, found)))
    if rows := _weighed(document):
        yield Section("weights", "What the models go by", tuple(_weight_blocks(document, rows)))
    if flips := document.flips:
        tables = map(partial(_flip_table, document, flips), flips.by_column)
        yield Section("flips", "Whom the choice changes", (Paragraph(wording.flipped(document, flips)), *tables))


def brief_sections(document: AuditDocument) -> Iterator[Section]:
    """Show what matters most: what features give away only where that deserves a warning."""
    if document.screening and document.screening.has_findings:
        yield Section.of_table("features", told(document, document.screening))
    if rows := _weighed(document):
        yield Section.of_table("weights", _weight_table(document, rows, FEW_ROWS))
    if document.flips:
        column = document.column or next(iter(document.flips.by_column))
        yield Section.of_table("flips", _flip_table(document, document.flips, column))


def told(document: AuditDocument, found: Screening) -> Table:
    """Show how well features tell the label and the groups."""
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


def _listed(features: Sequence[Alone]) -> str:
    return ", ".join(f"{short(one.feature)} {share(one.auc)}" for one in features[:MOST_TOLD]) or UNDEFINED


@dataclass(frozen=True, slots=True)
class _Weighed:
    """An encoded column, or a feature, and what each shown model gives for it."""

    name: str
    values: tuple[float, ...]

    @property
    def changes(self) -> list[float]:
        """From each model to the next."""
        return [after - before for before, after in pairwise(self.values)]


def _ranks(document: AuditDocument, anatomy: Anatomy) -> list[int]:
    """Return those of model 1 and the selected one that something is known about."""
    known = {one.rank for one in anatomy.weights} | {one.rank for one in anatomy.effects}
    return [rank for rank in document.selection.shortlist if rank in known]


def _weighed(document: AuditDocument) -> list[_Weighed]:
    """List what the shown models go by: the feature of the largest weight first, with all its columns together."""
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
    yield Paragraph(wording.weighed(document, anatomy))
    yield Figure(
        (_bars(document, rows[:MOST_BARS], anatomy),), "The largest, model by model; the table has the numbers."
    )
    yield _weight_table(document, rows, MANY_ROWS)


def _weight_table(document: AuditDocument, rows: list[_Weighed], most: int) -> Table:
    """Show weights or effects side by side, the largest of them."""
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
