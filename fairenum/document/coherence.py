"""Checks that the parts of a document agree: ranks and columns exist, lists have equal lengths, bounds are in order.

A document that fairenum wrote passes all checks; reports rely on that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from msgspec.structs import astuple

from fairenum.document.attack_document import AttackDocument
from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import entries
from fairenum.document.choice import AnyCaution
from fairenum.document.comparison_document import ComparisonDocument
from fairenum.document.header import Document
from fairenum.document.measure_document import ColumnMeasures, MeasureDocument
from fairenum.document.models import AuditedModel
from fairenum.document.research_documents import Bands, BenchDocument, MitigationDocument, ReproductionDocument
from fairenum.document.scores import ColumnRanking, ColumnScores, GroupTable, MeasuredScore
from fairenum.document.table_facts import SensitiveColumn, TableFacts

Fault = tuple[str, str]  # the JSON path of the contradiction, and a sentence about it
Groups = dict[str, list[str]]  # the names of groups by sensitive column


def ranked(ranks: Sequence[int], known: Collection[int], place: str) -> Iterator[Fault]:
    """Yield a fault (JSON path `place`, and a sentence) for each rank that is not among the `known` ranks of models."""
    for rank in ranks:
        if rank not in known:
            yield place, f"no model has rank {rank}; there are {len(known)}"


def named(name: str | None, known: Collection[str], place: str) -> Iterator[Fault]:
    """Yield a fault (JSON path `place`, and a sentence) if a name is given and is not among the `known` names."""
    if name is not None and name not in known:
        yield place, f"{name!r} is none of {[*known]}"


def about(kind: type, caution: AnyCaution, columns: Collection[str], place: str) -> Iterator[Fault]:
    """Yield a fault if a caution has an unknown code, or needs a column by its code and names none of `columns`."""
    entry = entries(kind).get(caution.code)
    if entry is None:
        yield f"{place}.code", f"Invalid enum value {caution.code!r}"
    elif entry.names_column and caution.column not in columns:
        yield f"{place}.column", f"{caution.code!r} is about one of the columns {[*columns]}"


def counted(scores: ColumnScores, rows: Sequence[int], place: str) -> Iterator[Fault]:
    """Yield faults in a column's counts of rows by group: a list of wrong length, or a count above the group's rows."""
    groups, counts = len(rows), (scores.true_positives, scores.selected)
    if any(len(one) != groups for one in counts):
        yield place, "selected and true_positives have a number for each group"
    elif any(not first <= second <= third for first, second, third in zip(*counts, rows, strict=True)):
        yield place, "of each group no more rows are selected than there are"
    if len(scores.shared) not in (0, groups):
        yield place, "shared has a number for each group, or none"
    if scores.weights and any(len(one) != groups for one in astuple(scores.weights)):
        yield place, "weights have a number for each group"


def tabled(table: GroupTable, groups: Groups, place: str) -> Iterator[Fault]:
    """Yield faults in an adverse-impact table: other groups than its column has, or more rows selected than exist."""
    yield from named(table.column, groups, f"{place}.column")
    names = [row.group for row in table.groups]
    if names != groups.get(table.column):
        yield f"{place}.groups", f"the groups of {table.column!r} are {groups.get(table.column)}, not {names}"
    yield from named(table.reference, names, f"{place}.reference")
    yield from named(table.most_selected, names, f"{place}.most_selected")
    if any(row.selected > row.n for row in table.groups):
        yield f"{place}.groups", "of each group no more rows are selected than there are"


def scored(score: MeasuredScore, groups: Groups, place: str) -> Iterator[Fault]:
    """Yield faults in the measures of a score: other groups than those of its columns, or rates that lack a group."""
    for number, column in enumerate(score.columns):
        at = f"{place}.columns[{number}]"
        yield from tabled(column.scoring, groups, f"{at}.scoring")
        yield from _ranking(column, at)


def _ranking(column: ColumnRanking, place: str) -> Iterator[Fault]:
    names = [row.group for row in column.scoring.groups]
    if [group.group for group in column.groups] != names:
        yield f"{place}.groups", f"the groups of {column.column!r} are {names}"
    if any(len(point.rates) != len(names) for point in column.sweep):
        yield f"{place}.sweep", "a cutoff has a rate for each group"
    if any({len(one.rows), len(one.rates)} != {len(names)} for one in column.calibration):
        yield f"{place}.calibration", "a range of scores has a rate for each group"


def refuse_contradictions(document: Document) -> None:
    """Refuse a document whose parts contradict each other; the message has the JSON path of the first contradiction."""
    for place, reason in CHECKS[type(document)](document):
        raise ValueError(f"{reason} - at `$.{place}`")


def _audit(document: AuditDocument) -> Iterator[Fault]:
    groups = {column.column: [group.name for group in column.groups] for column in document.dataset.sensitive}
    yield from _models(document)
    yield from _table(document.dataset)
    for part in (_choice, _scores, _tables, _beside, _cautions):
        yield from part(document, groups)
    yield from _anatomy(document)
    yield from _parity_range(document, groups)
    if document.ambiguity:
        yield from document.ambiguity.faults(groups, document.column, len(document.models))
    yield from _attack(document)


def _parity_range(document: AuditDocument, groups: Groups) -> Iterator[Fault]:
    """Yield faults in the bounds on the parity gap: losses that do not rise, unknown groups, or bounds out of order."""
    if (found := document.parity_range) is None:
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
                yield f"range.levels[{number}]", "attained values lie within proven bounds, and both between 0 and 1"


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
        yield "dataset.split_rows", "it names more rows than it holds"
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
    """Yield faults in the scores of models: a missing sensitive column, or counts that do not fit its groups."""
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
            yield from named(model.tilt.column, groups, f"{start}.tilt.column")
            for name in model.tilt.groups:
                yield from named(name, groups.get(model.tilt.column, []), f"{start}.tilt.groups")


def _tables(document: AuditDocument, groups: Groups) -> Iterator[Fault]:
    for number, table in enumerate(document.group_tables):
        place = f"group_tables[{number}]"
        yield from ranked([table.rank], document.ranks, f"{place}.rank")
        yield from tabled(table, groups, place)
    for number, one in enumerate(document.scores):
        yield from ranked([one.rank], document.ranks, f"scores[{number}].rank")
        yield from scored(one.score, groups, f"scores[{number}].score")
    for number, column in enumerate(document.incumbent_measures.columns if document.incumbent_measures else ()):
        place = f"incumbent_measures.columns[{number}]"
        yield from ranked([column.impact.rank], [0], f"{place}.impact.rank")
        yield from tabled(column.impact, groups, f"{place}.impact")
        yield from _measured(column, place)


def _anatomy(document: AuditDocument) -> Iterator[Fault]:
    if not (found := document.anatomy):
        return
    width, ranks = sum(feature.width for feature in found.features), range(1, len(document.models) + 1)
    for number, feature in enumerate(found.features):
        if feature.scale == 0.0:
            yield f"anatomy.features[{number}].scale", "a number is divided by it, so it is not 0"
        if [*feature.cuts] != sorted({*feature.cuts}) or not 0 <= feature.origin <= len(feature.cuts):
            yield f"anatomy.features[{number}].cuts", "they ascend, and the origin is the number of those below it"
    for name, items, length in (("weights", found.weights, width), ("effects", found.effects, len(found.features))):
        yield from ranked([one.rank for one in items], ranks, f"anatomy.{name}")
        for number, one in enumerate(items):
            if len(getattr(one, name)) != length:
                yield f"anatomy.{name}[{number}].{name}", f"there are {length} numbers"


def _beside(document: AuditDocument, groups: Groups) -> Iterator[Fault]:
    """Yield faults in the optional parts of an audit: explanation, flips, multiplicity and screening."""
    ranks = document.ranks
    if explanation := document.explanation:
        yield from ranked([explanation.rank], ranks, "explanation.rank")
    if flips := document.flips:
        yield from ranked([flips.rank], ranks, "flips.rank")
        if not flips.by_column or (groups and flips.by_column.keys() != groups.keys()):
            yield "flips.by_column", f"it has {[*flips.by_column]}, not the sensitive columns {[*groups]}"
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
        yield from about(AuditDocument, caution, groups, f"warnings[{number}]")
        if caution.code == "proxy" and document.screening:
            screened = [column.column for column in document.screening.columns]
            yield from about(AuditDocument, caution, screened, f"warnings[{number}]")


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
        yield from about(MeasureDocument, caution, columns, f"warnings[{number}]")
        if caution.decision is not None:
            yield from ranked([caution.decision], range(1, len(document.decisions) + 1), f"warnings[{number}].decision")


def _measured(column: ColumnMeasures, place: str) -> Iterator[Fault]:
    names = [row.group for row in column.impact.groups]
    yield from tabled(column.impact, {column.column: names}, f"{place}.impact")
    if [group.group for group in column.groups] != names:
        yield f"{place}.groups", f"the groups of {column.column!r} are {names}"
    yield from counted(column.scores, [row.n for row in column.impact.groups], f"{place}.scores")
    if periods := column.periods:
        yield from named(periods.control, names, f"{place}.periods.control")
        for number, period in enumerate(periods.periods):
            if not len(period.n) == len(period.selected) == len(period.rates) == len(names):
                yield f"{place}.periods.periods[{number}]", f"the groups of {column.column!r} are {names}"
        known = [period.period for period in periods.periods]
        for number, one in enumerate(periods.watched):
            yield from named(one.group, names, f"{place}.periods.watched[{number}].group")
            yield from named(one.alarm, known, f"{place}.periods.watched[{number}].alarm")
            if len(one.evidence) != periods.looks:
                yield f"{place}.periods.watched[{number}].evidence", "there is one for each watched period"
    if given := column.given:
        yield from named(given.reference, names, f"{place}.given.reference")
        for number, stratum in enumerate(given.strata):
            if not len(stratum.n) == len(stratum.selected) == len(names):
                yield f"{place}.given.strata[{number}]", f"the groups of {column.column!r} are {names}"
        for number, group in enumerate(given.groups):
            yield from named(group.group, names, f"{place}.given.groups[{number}].group")
            if len(group.differences) != len(given.strata):
                yield f"{place}.given.groups[{number}].differences", "there is one for each stratum"


def _attack(document: AuditDocument | AttackDocument) -> Iterator[Fault]:
    if attack := document.attack:
        for number, curve in enumerate(attack.curves):
            yield from named(curve.strategy, attack.config.strategies, f"attack.curves[{number}].strategy")


def _bench(document: BenchDocument) -> Iterator[Fault]:
    if document.k < 1:
        yield "k", "a race is for at least one model"
    for number, series in enumerate(document.growth):
        place = f"growth[{number}]"
        if len(series.sizes) != len(series.seconds):
            yield place, "there are as many seconds as sizes"
        if len(series.memory) not in (0, len(series.sizes)):
            yield place, "memory is as long as sizes, or empty"
        for name in ("sizes", "seconds", "memory"):
            if any(value <= 0 for value in getattr(series, name)):
                yield f"{place}.{name}", "its logarithm is drawn, so all numbers are above 0"


def _reproduction(document: ReproductionDocument) -> Iterator[Fault]:
    for name, table in document.tables.items():
        if not table.variants:
            yield f"tables[{name!r}].variants", "the first variant is the main one, so there is one"
        for variant in table.variants.values():
            for bands in (variant.shortfall, variant.loss, variant.time):
                yield from _of_one_length(bands, f"tables[{name!r}].variants")
            if variant.time and len(variant.time.ranks) != len(variant.time.q50):
                yield f"tables[{name!r}].variants", "times are by rank"
    if (injection := document.injection) is None:
        return
    if not injection.variants:
        yield "injection.variants", "the first variant is the main one, so there is one"
    for draws in injection.variants.values():
        printed = (draws.printed.gap, draws.printed.error) if draws.printed else ()
        for bands in (draws.gap, draws.error, *printed):
            yield from _of_one_length(bands, "injection.variants")


def _of_one_length(bands: Bands | None, place: str) -> Iterator[Fault]:
    lengths = {len(getattr(bands, name)) for name in Bands.__struct_fields__} if bands else {1}
    if len(lengths) > 1 or 0 in lengths:
        yield place, "quantiles have one length, above 0"


def _same_columns(found: list[str], columns: list[str], name: str, place: str) -> Iterator[Fault]:
    if found != columns:
        yield f"{place}.columns", f"{name!r} is not measured in the sensitive columns {columns}"


CHECKS: dict[type[Document], Callable[..., Iterator[Fault]]] = {
    AuditDocument: _audit,
    AttackDocument: _attack,
    BenchDocument: _bench,
    MeasureDocument: _measure,
    ComparisonDocument: lambda _document: iter(()),  # nor in this one
    MitigationDocument: lambda _document: iter(()),  # nothing in it refers to other parts
    ReproductionDocument: _reproduction,
}
