"""Cautions of audits and measurements in words: the sentences of their table, in the words of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from fairenum.document.audit_document import AuditDocument
from fairenum.document.caution_entry import Judged, Say
from fairenum.document.cautions import in_words
from fairenum.document.header import CutBy, OptionalStage, Spending
from fairenum.document.models import Incumbent
from fairenum.document.table_facts import Remark
from fairenum.document.terms import RATES, RemarkKind
from fairenum.document.words import (
    GAP_NAMES,
    IN_USE,
    LONGEST,
    OBSTACLES,
    TABLE_WIDTH,
    performance_of,
    reference_name,
    reference_own,
    short,
)
from fairenum.report.ambiguity_section import bounded_gap, ends
from fairenum.report.exploration_words import OPENED
from fairenum.report.measure_words import title
from fairenum.report.standing import guard
from fairenum.report.strip_section import reversal
from fairenum.runtime.formatting import counted, percent, sentence_list, share, shortened, signed
from fairenum.runtime.hints import as_categories, option, quoted, without

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def remark_warnings(remarks: Sequence[Remark]) -> Iterator[str]:
    """Put all remarks in words, each kind once."""
    yield from (words(kind, remarks) for kind in dict.fromkeys(remark.kind for remark in remarks))


def words(kind: RemarkKind, remarks: Sequence[Remark]) -> str:
    """Put the remarks of one kind, about all columns, in words."""
    return shortened(SENTENCES[kind]([remark for remark in remarks if remark.kind == kind]), LONGEST)


def _names(remarks: Sequence[Remark]) -> list[str]:
    return [remark.column for remark in remarks]


def _with_details(remarks: Sequence[Remark], what: Callable[[Remark], str]) -> str:
    return ", ".join(f"{remark.column!r} ({what(remark)})" for remark in remarks)


def _different(remark: Remark) -> str:
    return f"{remark.count} different"


def _guessed_delimiter(remarks: Sequence[Remark]) -> str:
    sign = remarks[0].detail
    how = option("delimiter", sign, "delimiter", "tab" if sign == "\t" else sign)
    return f"the cells of the file were taken to be separated by {DELIMITERS.get(sign, sign)}, as if {how} were given"


def _guessed_encoding(remarks: Sequence[Remark]) -> str:
    return f"the file is not UTF-8 and was read as {remarks[0].detail}; if letters look wrong, save it as UTF-8"


def _row_numbers(_remarks: Sequence[Remark]) -> str:
    return "the first column of the file has no name and numbers the rows; it was left out"


def _constant(remarks: Sequence[Remark]) -> str:
    return f"columns that hold one value were left out ({len(remarks)} in all): {quoted(_names(remarks))}"


def _empty(remarks: Sequence[Remark]) -> str:
    return f"empty columns were left out ({len(remarks)} in all): {quoted(_names(remarks))}"


def _dates(remarks: Sequence[Remark]) -> str:
    names = _names(remarks)
    return (
        f"columns of dates were left out: {quoted(names)}; turn them into numbers, such as a year or days since, or "
        f"take each date for a value of its own with {as_categories(*names)}"
    )


def _identifier_texts(remarks: Sequence[Remark]) -> str:
    return (
        f"columns of texts that look like identifiers were left out: {_with_details(remarks, _different)}; "
        f"if they are values to learn from, use them with {as_categories(*_names(remarks))}"
    )


def _free_texts(remarks: Sequence[Remark]) -> str:
    found = _with_details(remarks, _different)
    return f"columns of free text were left out: {found}; turn them into numbers or a few values"


def _objects(remarks: Sequence[Remark]) -> str:
    return (
        "columns that hold neither numbers nor texts were left out: "
        f"{_with_details(remarks, lambda remark: remark.detail)}; turn them into numbers or texts"
    )


def _identifier_numbers(remarks: Sequence[Remark]) -> str:
    names = _names(remarks)
    look = "looks like an identifier" if len(names) == 1 else "look like identifiers"
    return (
        f"{_with_details(remarks, _different)} {look}, from which models learn nothing that holds for others; leave "
        f"{'it' if len(names) == 1 else 'them'} out with {without(*names)}"
    )


def _written(remarks: Sequence[Remark]) -> str:
    ways = _with_details(remarks, lambda remark: f"written as {remark.detail}")
    return f"read as numbers: {ways}; if they are codes, take them for texts with {as_categories(*_names(remarks))}"


def _codes(remarks: Sequence[Remark]) -> str:
    return (
        f"numbers that are named like codes were read as numbers: {_with_details(remarks, _different)}; "
        f"take them for values without an order with {as_categories(*_names(remarks))}"
    )


SENTENCES: Mapping[RemarkKind, Callable[[Sequence[Remark]], str]] = {
    "guessed_delimiter": _guessed_delimiter,
    "guessed_encoding": _guessed_encoding,
    "row_numbers": _row_numbers,
    "constant_column": _constant,
    "empty_column": _empty,
    "date_column": _dates,
    "identifier_text": _identifier_texts,
    "free_text": _free_texts,
    "object_column": _objects,
    "identifier_number": _identifier_numbers,
    "written_numbers": _written,
    "code_numbers": _codes,
}


TRAINED = (
    "Nobody has told this audit what the model in use was made with. If it has seen these rows, or their labels, its "
    "performance here flatters it, and that of the models, which have not seen the holdout, does not."
)


def about(document: AuditDocument, incumbent: Incumbent) -> str:
    """Name the source of the decisions of the model in use, and the models compared with it."""
    return (
        f"The model in use {_source(incumbent)}. No model has learned from it. Its decision is the label in "
        f"{percent(incumbent.agreement)} of all rows. It is scored on the same rows as the models, which are compared "
        f"with {reference_name(document) if not document.is_against_incumbent else 'it'}."
    )


def _source(incumbent: Incumbent) -> str:
    name = short(incumbent.name)
    if incumbent.cutoff is not None:
        side = "up to" if incumbent.is_lower_better else "from"
        return f"is known by its score, {name}: {side} {incumbent.cutoff:g} it selects"
    favourable = "" if incumbent.favourable is None else f": {short(incumbent.favourable)} is favourable"
    return f"{'was asked' if incumbent.source == 'model' else 'is known by its decisions'}, {name}{favourable}"


def rule(document: AuditDocument, metric: str) -> str:
    """Say which model is selected where there is one in use."""
    tolerances, performance = document.selection.tolerances, performance_of(document)
    return (
        f"The selected model is the one of least {metric} gap on the selection split among those that lose at most "
        f"{tolerances.eps:g} of model 1's objective and {tolerances.max_performance_drop:g} of {performance} against "
        f"{IN_USE} there; that is kept unless a smaller gap than its own is found. Ties go to model 1, else to the "
        f"one of higher {performance}."
    )


STAGES: Mapping[OptionalStage, str] = {
    "enumerate": "the list of models",
    "guide": "the guided search",
    "tilt": "the search among tilted models",
    "baselines": "the other mitigations",
    "screen": "what single features give away",
    "score": "the scores (of the models found, those of least gap on the selection split were kept)",
    "disagree": "how far the models disagree",
    "prices": "the search for decisions that depend on the choice of model",
    "range": "the range of what any model could do",
    "explain": "the explanation of the selected model",
    "weigh": "what choosing flatters by",
    "attack": "the simulated attacks",
}


def cut(spending: Spending, by: CutBy) -> str:
    """Say which stages ended early, and which are missing."""
    early = [STAGES[stage] for stage in spending.stages(by, is_skipped=False)]
    missing = [STAGES[stage] for stage in spending.stages(by, is_skipped=True)]
    parts = (("cut short", early), ("left out", missing))
    return "; ".join(f"{how}: {sentence_list(stages)}" for how, stages in parts if stages)


def left_out(document: AuditDocument) -> Iterator[str]:
    """Name the stages that were not asked for."""
    config = document.config
    why = "which needs that" if config.range else "--no-range"
    names = [
        *([] if config.prices else [f"{STAGES['prices']} (--no-prices)"]),
        *([] if config.range and config.prices else [f"{STAGES['range']} ({why})"]),
        *([] if config.explanation else [f"{STAGES['explain']} (--no-explanation)"]),
    ]
    if names:
        yield f"Not asked for: {sentence_list(names)}."


SAY = Say(
    counted=counted,
    percent=percent,
    share=share,
    signed=signed,
    sentence_list=sentence_list,
    named=partial(shortened, width=TABLE_WIDTH),
    short=short,
    gaps=GAP_NAMES,
    rates={key: rate.name for key, rate in RATES.items()},
    obstacles=OBSTACLES,
    reference_name=reference_name,
    reference_own=reference_own,
    title=title,
    guard=guard,
    reversal=reversal,
    cut=cut,
    remark=words,
    flipped=ends,
    bounded_gap=bounded_gap,
    opened=OPENED,
)


def warnings(document: Judged) -> tuple[str, ...]:
    """Put the cautions of an audit or a measurement in words."""
    return tuple(shortened(words, LONGEST) for words in in_words(SAY, document))
