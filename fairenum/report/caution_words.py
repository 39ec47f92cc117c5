"""Cautions and remarks of audits and measurements, as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from fairenum.document.caution_entry import Judged, Say
from fairenum.document.cautions import in_words
from fairenum.document.header import CutBy, OptionalStage, Spending
from fairenum.document.table_facts import Remark
from fairenum.document.terms import RATES, RemarkKind
from fairenum.document.words import (
    GAP_NAMES,
    LONGEST,
    OBSTACLES,
    TABLE_WIDTH,
    decisions_title,
    reference_name,
    reference_own,
    short,
)
from fairenum.report.ambiguity_section import bounded_gap, extreme_groups
from fairenum.report.choice_words import broken_guard
from fairenum.report.exploration_words import OPENED
from fairenum.report.strip_section import reversal
from fairenum.runtime.formatting import counted, percent, sentence_list, share, shortened, signed
from fairenum.runtime.hints import as_categories, option, quoted, without

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
REMARKS: Mapping[RemarkKind, str] = {
    "guessed_delimiter": "the cells of the file were taken to be separated by {delimiter}, as if {option} were given",
    "guessed_encoding": "the file is not UTF-8 and was read as {detail}; if letters look wrong, save it as UTF-8",
    "row_numbers": "the first column of the file has no name and numbers the rows; it was left out",
    "constant_column": "columns that hold one value were left out ({count} in all): {columns}",
    "empty_column": "empty columns were left out ({count} in all): {columns}",
    "date_column": "columns of dates were left out: {columns}; turn them into numbers, such as a year or days since, "
    "or take each date for a value of its own with {as_categories}",
    "identifier_text": "columns of texts that look like identifiers were left out: {different}; if they are values to "
    "learn from, use them with {as_categories}",
    "free_text": "columns of free text were left out: {different}; turn them into numbers or a few values",
    "object_column": "columns that hold neither numbers nor texts were left out: {details}; turn them into numbers or "
    "texts",
    "identifier_number": "{different} {look}, from which models learn nothing that holds for others; leave {them} out "
    "with {without}",
    "written_numbers": "read as numbers: {written}; if they are codes, take them for texts with {as_categories}",
    "code_numbers": "numbers that are named like codes were read as numbers: {different}; take them for values without "
    "an order with {as_categories}",
}
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
    "weigh": "the estimate of the selection bias",
    "attack": "the simulated attacks",
}


def remark_warnings(remarks: Sequence[Remark]) -> Iterator[str]:
    """Put the remarks on a table in words, one sentence for each kind."""
    yield from (_remark_sentence(kind, remarks) for kind in dict.fromkeys(remark.kind for remark in remarks))


def _remark_sentence(kind: RemarkKind, remarks: Sequence[Remark]) -> str:
    """Put the remarks of one kind, about all columns, in words."""
    of_kind = [remark for remark in remarks if remark.kind == kind]
    return shortened(REMARKS[kind].format(**_remark_fields(of_kind)), LONGEST)


def _remark_fields(remarks: Sequence[Remark]) -> dict[str, object]:
    """Return the values of all fields that a sentence about remarks may have."""
    names, sign = [remark.column for remark in remarks], remarks[0].detail
    return {
        "count": len(remarks),
        "detail": sign,
        "columns": quoted(names),
        "different": ", ".join(f"{remark.column!r} ({remark.count} different)" for remark in remarks),
        "details": ", ".join(f"{remark.column!r} ({remark.detail})" for remark in remarks),
        "written": ", ".join(f"{remark.column!r} (written as {remark.detail})" for remark in remarks),
        "look": "looks like an identifier" if len(names) == 1 else "look like identifiers",
        "them": "it" if len(names) == 1 else "them",
        "as_categories": as_categories(*names),
        "without": without(*names),
        "delimiter": DELIMITERS.get(sign, sign),
        "option": option("delimiter", sign, "delimiter", "tab" if sign == "\t" else sign),
    }


def _cut_stages(spending: Spending, by: CutBy) -> str:
    """Name the stages that ended early, and those that are missing."""
    early = [STAGES[stage] for stage in spending.stages(by, is_skipped=False)]
    missing = [STAGES[stage] for stage in spending.stages(by, is_skipped=True)]
    parts = (("cut short", early), ("left out", missing))
    return "; ".join(f"{how}: {sentence_list(stages)}" for how, stages in parts if stages)


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
    title=decisions_title,
    guard=broken_guard,
    reversal=reversal,
    cut=_cut_stages,
    remark=_remark_sentence,
    flipped=extreme_groups,
    bounded_gap=bounded_gap,
    opened=OPENED,
)


def warnings(document: Judged) -> tuple[str, ...]:
    """Put the cautions of an audit or a measurement in words."""
    return tuple(shortened(words, LONGEST) for words in in_words(SAY, document))
