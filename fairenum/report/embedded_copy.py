"""The copy of a document that its page carries: complete while it is small, else reduced to the shown parts."""

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
DIGITS = 6
ENDS = ("value", "low", "high")
LONGEST_TEXT = 150


# What is dropped in turn where space is short.
SPARE: Mapping[type[Document], tuple[str, ...]] = {
    AuditDocument: (
        *("examples", "explanation", "attack", "range", "anatomy", "group_tables", "tuning", "screening"),
        *("flips", "baselines", "ambiguity", "multiplicity", "models"),
    ),
    AttackDocument: ("trials",),
    MeasureDocument: ("score",),
    MitigationDocument: ("trials",),
    ReproductionDocument: ("tables", "injection"),
}


def copy_of(document: AnyDocument) -> Callable[[int], Copy]:
    """Return a function that makes the copy of a document within a number of bytes."""
    return partial(_copy, document)


def copy_of_value(value: Value, note: str) -> Callable[[int], Copy]:
    """Return a function that makes the copy of a small value that is no document of its own."""
    return lambda _room: Copy(_written(_rounded_fields(msgspec.to_builtins(value))), note)


def copy_of_all(documents: Mapping[str, AuditDocument]) -> Callable[[int], Copy]:
    """Return a function that makes the copy of several audits, always reduced."""
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
    """Convert a document to plain JSON values, without its timings."""
    builtins: Json = msgspec.to_builtins(document.but(timings={}))
    return builtins


def _within(room: int, document: AnyDocument) -> tuple[Json, str]:
    """Reduce a document until it fits, and say which parts are left out."""
    reductions = list(_reductions(document))
    return next((one for one in reductions if len(_written(one[0])) <= room), reductions[-1])


def _reductions(document: AnyDocument) -> Iterator[tuple[Json, str]]:
    """Yield smaller and smaller reductions of a document, each with the names of the parts that it leaves out."""
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
    """Tell whether a page with this embedded text may be a page of this document."""
    return text == _written(_builtins(document)) or any(text == _written(one) for one, _ in _reductions(document))


def _written(value: Json) -> str:
    """Write JSON in which no browser can find a tag."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _reduced(document: AnyDocument) -> Json:
    if not isinstance(document, AuditDocument):
        return _builtins(document)
    rows = [_model(model, document.selection.tolerances.metric) for model in document.models]
    models = {"fields": list(rows[0]), "rows": [list(row.values()) for row in rows]}
    return _builtins(_shown(document)) | {"models": models}


def _shown(document: AuditDocument) -> AuditDocument:
    """Keep the parts that the page shows: some examples, two models' weights, counts of flips, the largest groups."""
    anatomy = document.anatomy and document.anatomy.only(document.selection.shortlist)
    flips, found, priced = document.flips, document.multiplicity, document.ambiguity
    columns = tuple(
        column.but(groups=foremost(column.groups, [group.holdout for group in column.groups]))
        for column in document.dataset.sensitive
    )
    return document.but(
        examples=_shown_examples(document),
        dataset=document.dataset.but(split_rows=None, sensitive=columns),
        anatomy=anatomy,
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
    """Keep the left-out examples of the selected model that the page shows."""
    wanted = {entry.row for entry in (document.selected or document.first).left_out}
    return tuple(example for example in document.examples if example.row in wanted)[:MOST_EXAMPLES]


def _model(model: AuditedModel, metric: Gap) -> Json:
    chosen_by, judged_by = model.scores.selection, model.scores.holdout
    gap = judged_by.gap(metric)
    change = gap.change
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
        "selection_accuracy": chosen_by.accuracy.value,
        "selection_performance": chosen_by.performance.value,
        "selection_gap": chosen_by.gap(metric).value,
        **{f"accuracy_{end}": getattr(judged_by.accuracy, end) for end in ENDS},
        **{f"performance_{end}": getattr(judged_by.performance, end) for end in ENDS},
        **{f"gap_{end}": getattr(gap, end) for end in ENDS},
        **{f"change_{end}": getattr(change, end) if change else None for end in ENDS},
        "verdict": gap.verdict,
    }


def _rounded_fields(fields: Json) -> Json:
    return {str(_rounded(name)): _rounded(value) for name, value in fields.items()}


def _rounded(value: object) -> object:
    """Round numbers and shorten texts for the copy in a page."""
    match value:
        case float():
            return float(f"{value:.{DIGITS}g}")
        case str():
            return shortened(value, LONGEST_TEXT) if len(value) > LONGEST_TEXT else value
        case dict():
            return _rounded_fields(value)
        case list() | tuple():
            return [_rounded(part) for part in value]
        case _:
            return value
