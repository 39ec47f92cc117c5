"""The JSON data of a document that its page embeds: complete if small, else reduced to what the page shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TypeVar

import msgspec

from fairenum.document.attack_document import AttackDocument
from fairenum.document.audit_document import AuditDocument
from fairenum.document.feature_facts import GroupFlips
from fairenum.document.files import AnyDocument
from fairenum.document.flip_facts import AmbiguityFacts, FlippedColumn
from fairenum.document.header import Document
from fairenum.document.measure_document import MeasureDocument
from fairenum.document.models import AuditedModel, Example, GroupDisagreement
from fairenum.document.research_documents import MitigationDocument, ReproductionDocument
from fairenum.document.terms import Gap
from fairenum.document.value import Value
from fairenum.render.page import Copy
from fairenum.report import method_section
from fairenum.report.choice_section import MOST_EXAMPLES
from fairenum.report.groups_section import foremost, with_largest
from fairenum.runtime.formatting import shortened

Json = dict[str, object]
Counted = TypeVar("Counted", GroupFlips, GroupDisagreement)

LARGEST_WHOLE = 60_000
LONGEST_TEXT = 150
# The parts that are dropped one after another until the copy fits.
SPARE: Mapping[type[Document], tuple[str, ...]] = {
    AuditDocument: (
        *("examples", "explanation", "attack", "range", "anatomy", "group_tables", "tuning", "screening"),
        *("incumbent_measures", "flips", "baselines", "ambiguity", "multiplicity", "models"),
    ),
    AttackDocument: ("trials",),
    MeasureDocument: ("score",),
    MitigationDocument: ("trials",),
    ReproductionDocument: ("tables", "injection"),
}


def copy_of(document: AnyDocument) -> Callable[[int], Copy]:
    """Return a function that takes a size limit in bytes, and returns the JSON data of a document for its page."""
    return partial(_copy, document)


def copy_of_value(value: Value, note: str) -> Callable[[int], Copy]:
    """Return a function as `copy_of` does, but for a small value: it ignores the size limit."""
    return lambda _room: Copy(_written(_rounded_fields(msgspec.to_builtins(value))), note)


def copy_of_all(documents: Mapping[str, AuditDocument]) -> Callable[[int], Copy]:
    """Return a function as `copy_of` does, but for several audits: their JSON data are always reduced."""
    return partial(_copy_of_all, documents)


def _copy(document: AnyDocument, room: int) -> Copy:
    whole = _written(_builtins(document))
    if len(whole) <= min(LARGEST_WHOLE, room):
        return Copy(whole, method_section.WHOLE_COPY)
    reduced, note = _within(room, document)
    return Copy(_written(reduced), note)


def _copy_of_all(documents: Mapping[str, AuditDocument], room: int) -> Copy:
    reduced = {name: _within(room // len(documents), document) for name, document in documents.items()}
    runs = {name: run for name, (run, _) in reduced.items()}
    return Copy(_written({"runs": runs}), max((note for _, note in reduced.values()), key=len))


def _builtins(document: AnyDocument) -> Json:
    builtins: Json = msgspec.to_builtins(document.but(timings={}))
    return builtins


def _within(room: int, document: AnyDocument) -> tuple[Json, str]:
    """Return the largest extract that fits `room` bytes, or the smallest if none fits, and a note on omissions."""
    reductions = list(_reductions(document))
    return next((one for one in reductions if len(_written(one[0])) <= room), reductions[-1])


def _reductions(document: AnyDocument) -> Iterator[tuple[Json, str]]:
    """Yield ever smaller extracts of a document, each with a note that names the fields left out."""
    dropped: list[str] = []
    reduced = _rounded_fields(_reduced(document))
    for name in (None, *SPARE.get(type(document), ())):
        if name is not None:
            dropped.append(name)
            reduced |= {name: None}
        note = method_section.reduced_copy(dropped, is_audit=isinstance(document, AuditDocument))
        reduced |= {"reduced": note}
        yield dict(reduced), note


def is_copy(text: str, document: AnyDocument) -> bool:
    """Tell whether a text is the JSON data, complete or reduced, that a page of this document embeds."""
    return text == _written(_builtins(document)) or any(text == _written(one) for one, _ in _reductions(document))


def _written(value: Json) -> str:
    """Return JSON text with escaped angle brackets and ampersands, so that browsers find no tag in it."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _reduced(document: AnyDocument) -> Json:
    if not isinstance(document, AuditDocument):
        return _builtins(document)
    rows = [_model(model, document.selection.tolerances.metric) for model in document.models]
    models = {"fields": list(rows[0]), "rows": [list(row.values()) for row in rows]}
    return _builtins(_shown(document)) | {"models": models}


def _shown(document: AuditDocument) -> AuditDocument:
    """Return a copy of a document without the details that the page does not show.

    It keeps the first left-out examples, the weights of model 1 and of the selected model, the counts of changed
    decisions without single rows, and the largest groups.
    """
    flips, found, priced = document.flips, document.multiplicity, document.ambiguity
    columns = tuple(
        column.but(groups=foremost(column.groups, [group.holdout for group in column.groups]))
        for column in document.dataset.sensitive
    )
    return document.but(
        examples=_shown_examples(document),
        dataset=document.dataset.but(split_rows=None, sensitive=columns),
        anatomy=document.anatomy and document.anatomy.only(document.selection.shortlist),
        correction=document.correction and document.correction.only(document.selection.shortlist),
        flips=flips and flips.but(flipped=(), by_column=_shown_groups(flips.by_column)),
        multiplicity=found and found.but(by_column=_shown_groups(found.by_column)),
        ambiguity=priced and priced.redacted.but(by_column=_shown_flipped(priced)),
        group_tables=tuple(map(with_largest, document.group_tables)),
    )


def _shown_flipped(found: AmbiguityFacts) -> dict[str, FlippedColumn]:
    return {
        column: one.but(groups=foremost(one.groups, [group.rows for group in one.groups]))
        for column, one in found.by_column.items()
    }


def _shown_groups(by_column: Mapping[str, tuple[Counted, ...]]) -> dict[str, tuple[Counted, ...]]:
    return {column: foremost(groups, [group.rows for group in groups]) for column, groups in by_column.items()}


def _shown_examples(document: AuditDocument) -> tuple[Example, ...]:
    wanted = {entry.row for entry in (document.selected or document.first).left_out}
    return tuple(example for example in document.examples if example.row in wanted)[:MOST_EXAMPLES]


def _model(model: AuditedModel, metric: Gap) -> Json:
    selection, holdout = model.scores.selection, model.scores.holdout
    gap = holdout.gap(metric)
    estimates = {"accuracy": holdout.accuracy, "performance": holdout.performance, "gap": gap, "change": gap.change}
    return {
        "rank": model.rank,
        "origin": model.origin,
        "support_rank": model.support_rank,
        "objective_ratio": model.objective_ratio,
        "loss_ratio": model.loss_ratio,
        "support_size": model.support_size,
        "supports": model.supports,
        "left_out": model.records_left_out,
        "is_constant": model.is_constant,
        "flips": model.predictions_changed.holdout.rows,
        "selection_accuracy": selection.accuracy.value,
        "selection_performance": selection.performance.value,
        "selection_gap": selection.gap(metric).value,
        **{
            f"{name}_{limit}": getattr(found, limit) if found else None
            for name, found in estimates.items()
            for limit in ("value", "low", "high")
        },
        "verdict": gap.verdict,
    }


def _rounded_fields(fields: Json) -> Json:
    return {str(_rounded(name)): _rounded(value) for name, value in fields.items()}


def _rounded(value: object) -> object:
    """Return a JSON value with numbers rounded to six digits and long texts shortened."""
    match value:
        case float():
            return float(f"{value:.6g}")
        case str():
            return shortened(value, LONGEST_TEXT) if len(value) > LONGEST_TEXT else value
        case dict():
            return _rounded_fields(value)
        case list() | tuple():
            return [_rounded(part) for part in value]
        case _:
            return value
