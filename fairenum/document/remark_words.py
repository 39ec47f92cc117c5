"""Remarks about a table in words: how its columns were read, and why some were left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from fairenum.document.table_facts import Remark
from fairenum.document.terms import RemarkKind
from fairenum.document.words import LONGEST
from fairenum.runtime.formatting import shortened
from fairenum.runtime.hints import as_categories, option, quoted, without

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def remark_warnings(remarks: Sequence[Remark]) -> Iterator[str]:
    """Put all remarks in words, each kind once."""
    yield from (remark_sentence(kind, remarks) for kind in dict.fromkeys(remark.kind for remark in remarks))


def remark_sentence(kind: RemarkKind, remarks: Sequence[Remark]) -> str:
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
        f"{_with_details(remarks, _different)} {look}, from which models learn nothing that holds for other rows; "
        f"leave {'it' if len(names) == 1 else 'them'} out with {without(*names)}"
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
