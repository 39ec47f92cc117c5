"""What the parts of a document say about each other: ranks that exist, columns that are there, lists of one length.

A document that was written by fairenum keeps to all of it; whoever shows one relies on that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fairenum.document.agreement import Fault, Groups, about, counted, named, paired, ranked, scored, tabled
from fairenum.document.attack import Attack, AttackDocument
from fairenum.document.audit import AuditDocument
from fairenum.document.bench import BenchDocument
from fairenum.document.header import Document
from fairenum.document.measure import ColumnMeasures, MeasureDocument
from fairenum.document.mitigation import MitigationDocument
from fairenum.document.models import AuditedModel
from fairenum.document.reproduction import Bands, ReproductionDocument
from fairenum.document.table import SensitiveColumn, TableFacts


def refuse_contradictions(document: Document) -> None:
    """Refuse parts that do not go together, by the place of the first."""
    for place, reason in CHECKS[type(document)](document):
        raise ValueError(f"{reason} - at `$.{place}`")


def _audit(document: AuditDocument) -> Iterator[Fault]:
    yield from _models(document)
    groups = {column.column: [group.name for group in column.groups] for column in document.dataset.sensitive}
    yield from _table(document.dataset)
    yield from _choice(document, groups)
    for part in (_scores, _tables, _beside, _cautions):
        yield from part(document, groups)
    yield from _anatomy(document)
    yield from _possible(document, groups)
    if document.arbitrariness:
        yield from document.arbitrariness.faults(groups, document.column, len(document.models))
    if document.attack:
        yield from _attack(document.attack, "attack")


def _possible(document: AuditDocument, groups: Groups) -> Iterator[Fault]:
    """Ask that bounds of the gap are in order, and for losses that rise."""
    if (found := document.range) is None:
        return
    yield from named(found.column, groups, "range.column")
    losses = [level.eps for level in found.levels]
    if not losses or losses != sorted({*losses}):
        yield "range.levels", f"bounds are given for losses that rise, not for {losses}"
    for number, level in enumerate(found.levels):
        for group in level.groups:
            yield from named(group.group, groups.get(found.column, []), f"range.levels[{number}].groups")
        for extent in (level.gap, *(group.rate for group in level.groups)):
            if not 0.0 <= extent.low <= extent.least <= extent.most <= extent.high <= 1.0:
                yield f"range.levels[{number}]", "what was found lies within what is proven, and both from 0 to 1"


def _models(document: AuditDocument) -> Iterator[Fault]:
    ranks = [model.rank for model in document.models]
    if not ranks or ranks != list(range(1, len(ranks) + 1)):
        yield "models", f"an audit has models of rank 1 and on, not {ranks}"
    if document.incumbent is None and document.config.against == "incumbent":
        yield "config.against", "models are compared with a model in use, and there is none"


def _choice(document: AuditDocument, groups: Groups) -> Iterator[Fault]:
    chosen, models = document.selection, range(1, len(document.models) + 1)
    if chosen.rank is not None and chosen.rank not in models:
        yield "selection.rank", f"no model has the selected rank {chosen.rank}"
    if (chosen.outcome == "selected") > (chosen.rank is not None):
        yield "selection.rank", "a model was selected, and none is named"
    for name in ("candidates", "pareto_front", "confirmed"):
        yield from ranked(getattr(chosen, name), document.ranks, f"selection.{name}")
    yield from named(chosen.column, groups, "selection.column")
    yield from named(document.config.primary, groups, "config.primary")
    for number, cell in enumerate(chosen.strip):
        yield from named(cell.column, groups, f"selection.strip[{number}].column")
    yield from ranked(document.reference_check.ranks, document.ranks, "reference_check.ranks")


def _table(table: TableFacts) -> Iterator[Fault]:
    columns = [column.column for column in table.sensitive]
    if len({*columns}) < len(columns) or sum(column.is_primary for column in table.sensitive) > 1:
        yield "dataset.sensitive", "sensitive columns have different names, and one of them is primary"
    for number, column in enumerate(table.sensitive):
        yield from _groups_of(column, f"dataset.sensitive[{number}]")
    if table.split_rows and table.split_rows.rows > 4 * len(table.split_rows.packed):
        yield "dataset.split_rows", "it tells of more rows than it holds"
    if len(table.origin.starts) > 2:
        yield "dataset.origin.starts", "there are two splits that start later than the first"


def _groups_of(column: SensitiveColumn, place: str) -> Iterator[Fault]:
    names = [group.name for group in column.groups]
    if not names or len({*names}) < len(names):
        yield f"{place}.groups", "a sensitive column has groups of different names"
    yield from named(column.reference, names, f"{place}.reference")
    for number, group in enumerate(column.groups):
        if group.selection_positives > group.selection or group.holdout_positives > group.holdout:
            yield f"{place}.groups[{number}]", "it has more favourable labels than rows"


def _scores(document: AuditDocument, groups: Groups) -> Iterator[Fault]:
    """Check that every model is measured in every sensitive column, and group by group."""
    for model in document.members:
        start = f"models[{model.rank - 1}]" if isinstance(model, AuditedModel) else "incumbent"
        for part in ("selection", "holdout"):
            place, found = f"{start}.scores.{part}.by_column", model.scores.of(part).by_column
            if found.keys() != groups.keys():
                yield place, f"it is measured in {[*found]}, not in the sensitive columns {[*groups]}"
            for column, scores in found.items():
                sizes = next(one.groups for one in document.dataset.sensitive if one.column == column)
                yield from counted(scores, [group.rows(part) for group in sizes], place)
        if isinstance(model, AuditedModel) and model.tilt:
            yield from paired(model.tilt.column, model.tilt.groups, groups, f"{start}.tilt")


def _tables(document: AuditDocument, groups: Groups) -> Iterator[Fault]:
    for number, table in enumerate(document.group_tables):
        place = f"group_tables[{number}]"
        yield from ranked([table.rank], document.ranks, f"{place}.rank")
        yield from tabled(table, groups, place)
    for number, one in enumerate(document.scores):
        yield from ranked([one.rank], document.ranks, f"scores[{number}].rank")
        yield from scored(one.score, groups, f"scores[{number}].score")


def _anatomy(document: AuditDocument) -> Iterator[Fault]:
    if not (found := document.anatomy):
        return
    width, ranks = sum(feature.width for feature in found.features), range(1, len(document.models) + 1)
    for number, feature in enumerate(found.features):
        if feature.scale == 0.0:
            yield f"anatomy.features[{number}].scale", "a number is divided by it, so it is not 0"
    for name, items, length in (("weights", found.weights, width), ("effects", found.effects, len(found.features))):
        yield from ranked([one.rank for one in items], ranks, f"anatomy.{name}")
        for number, one in enumerate(items):
            if len(getattr(one, name)) != length:
                yield f"anatomy.{name}[{number}].{name}", f"there are {length} numbers"


def _beside(document: AuditDocument, groups: Groups) -> Iterator[Fault]:
    """Check what an audit may have beside its models and its choice."""
    ranks = document.ranks
    if explanation := document.explanation:
        yield from ranked([explanation.rank], ranks, "explanation.rank")
    if flips := document.flips:
        yield from ranked([flips.rank], ranks, "flips.rank")
        if not flips.by_column or (groups and flips.by_column.keys() != groups.keys()):
            yield "flips.by_column", f"it tells of {[*flips.by_column]}, not of the sensitive columns {[*groups]}"
    for column in document.multiplicity.by_column if document.multiplicity else ():
        yield from named(column, groups, "multiplicity.by_column")
    for number, tell in enumerate(document.screening.columns if document.screening else ()):
        yield from named(tell.column, groups, f"screening.columns[{number}].column")


def _cautions(document: AuditDocument, groups: Groups) -> Iterator[Fault]:
    origin, weights = document.dataset.origin, document.dataset.weights
    others = [name for name in (origin.group_column, weights.column if weights else None) if name is not None]
    for number, caution in enumerate(document.warnings):
        if caution.rank is not None:
            yield from ranked([caution.rank], document.ranks, f"warnings[{number}].rank")
        yield from named(caution.column, [*groups, *others], f"warnings[{number}].column")
        yield from about(caution.code, caution.column, groups, f"warnings[{number}].column")
        if caution.code == "proxy" and document.screening:
            screened = [column.column for column in document.screening.columns]
            yield from about(caution.code, caution.column, screened, f"warnings[{number}].column")


def _measure(document: MeasureDocument) -> Iterator[Fault]:
    columns = [column.column for column in document.dataset.sensitive]
    if not document.decisions or sum(column.is_primary for column in document.dataset.sensitive) != 1:
        yield "decisions", "a measurement has decisions, and one primary sensitive column"
    if len({*columns}) < len(columns):
        yield "dataset.sensitive", "sensitive columns have different names"
    for number, one in enumerate(document.decisions):
        place = f"decisions[{number}]"
        yield from _same_columns([found.column for found in one.columns], columns, one.name, place)
        for at, column in enumerate(one.columns):
            yield from ranked([column.impact.rank], [number + 1], f"{place}.columns[{at}].impact.rank")
            yield from _measured(column, f"{place}.columns[{at}]")
    groups = {one.column: [row.group for row in one.impact.groups] for one in document.decisions[0].columns}
    if score := document.score:
        yield from _same_columns([found.column for found in score.columns], columns, score.name, "score")
        yield from scored(score, groups, "score")
    for number, caution in enumerate(document.warnings):
        yield from named(caution.column, columns, f"warnings[{number}].column")
        yield from about(caution.code, caution.column, columns, f"warnings[{number}].column")
        if caution.decision is not None:
            yield from ranked([caution.decision], range(1, len(document.decisions) + 1), f"warnings[{number}].decision")


def _measured(column: ColumnMeasures, place: str) -> Iterator[Fault]:
    names = [row.group for row in column.impact.groups]
    yield from tabled(column.impact, {column.column: names}, f"{place}.impact")
    if [group.group for group in column.groups] != names:
        yield f"{place}.groups", f"the groups of {column.column!r} are {names}"
    yield from counted(column.scores, [row.n for row in column.impact.groups], f"{place}.scores")


def _attack(attack: Attack, place: str) -> Iterator[Fault]:
    for number, curve in enumerate(attack.curves):
        yield from named(curve.strategy, attack.config.strategies, f"{place}.curves[{number}].strategy")


def _attacked(document: AttackDocument) -> Iterator[Fault]:
    yield from _attack(document.attack, "attack")


def _bench(document: BenchDocument) -> Iterator[Fault]:
    if document.k < 1:
        yield "k", "a race is for one model, at least"
    for number, series in enumerate(document.growth):
        place = f"growth[{number}]"
        if len(series.sizes) != len(series.seconds):
            yield place, "there are as many seconds as sizes"
        if len(series.memory) not in (0, len(series.sizes)):
            yield place, "memory is as long as sizes, or empty"
        for name in ("sizes", "seconds", "memory"):
            if any(value <= 0 for value in getattr(series, name)):
                yield f"{place}.{name}", "it is drawn by its logarithm, so all of it is above 0"


def _reproduction(document: ReproductionDocument) -> Iterator[Fault]:
    for name, table in document.tables.items():
        if not table.variants:
            yield f"tables[{name!r}].variants", "the first variant is the main one, so there is one"
        for variant in table.variants.values():
            for bands in (variant.shortfall, variant.loss, variant.time):
                yield from _of_one_length(bands, f"tables[{name!r}].variants")
            if variant.time and len(variant.time.ranks) != len(variant.time.q50):
                yield f"tables[{name!r}].variants", "times are by rank"
    if document.injection:
        if not document.injection.variants:
            yield "injection.variants", "the first variant is the main one, so there is one"
        for draws in document.injection.variants.values():
            for bands in (draws.gap, draws.error, *((draws.printed.gap, draws.printed.error) if draws.printed else ())):
                yield from _of_one_length(bands, "injection.variants")


def _of_one_length(bands: Bands | None, place: str) -> Iterator[Fault]:
    lengths = {len(getattr(bands, name)) for name in Bands.__struct_fields__} if bands else {1}
    if len(lengths) > 1 or 0 in lengths:
        yield place, "quantiles are of one length, and there are some"


def _same_columns(found: list[str], columns: list[str], name: str, place: str) -> Iterator[Fault]:
    if found != columns:
        yield f"{place}.columns", f"{name!r} is not measured in the sensitive columns {columns}"


CHECKS: dict[type[Document], Callable[..., Iterator[Fault]]] = {
    AuditDocument: _audit,
    AttackDocument: _attacked,
    BenchDocument: _bench,
    MeasureDocument: _measure,
    MitigationDocument: lambda _document: iter(()),  # it refers to nothing
    ReproductionDocument: _reproduction,
}
