"""Sentences for remarks about a table: how its columns were read, and why some were left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from fairenum.document.table_facts import Remark
from fairenum.document.terms import RemarkKind
from fairenum.document.words import LONGEST
from fairenum.runtime.formatting import counted, shortened
from fairenum.runtime.hints import as_categories, option, quoted, without

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
SENTENCES: Mapping[RemarkKind, str] = {
    "guessed_delimiter": "the cells of the file were taken to be separated by {separator}, as if {delimiter} were "
    "given",
    "guessed_encoding": "the file is not UTF-8 and was read as {detail}; if letters look wrong, save it as UTF-8",
    "row_numbers": "the first column of the file has no name and numbers the rows; it was left out",
    "constant_column": "columns that hold one value were left out ({count} in all): {names}",
    "empty_column": "empty columns were left out ({count} in all): {names}",
    "date_column": "columns of dates were left out: {names}; turn them into numbers, such as a year or days since, or "
    "take each date for a value of its own with {categories}",
    "identifier_text": "columns of texts that look like identifiers were left out: {different}; if they are values to "
    "learn from, use them with {categories}",
    "free_text": "columns of free text were left out: {different}; turn them into numbers or a few values",
    "object_column": "columns that hold neither numbers nor texts were left out: {types}; turn them into numbers or "
    "texts",
    "identifier_number": "{different} {look}, from which models learn nothing that holds for other rows; leave {them} "
    "out with {drop}",
    "written_numbers": "read as numbers: {written}; if they are codes, take them for texts with {categories}",
    "code_numbers": "numbers that are named like codes were read as numbers: {different}; take them for values without "
    "an order with {categories}",
    "missing_marks": "texts among numbers were read as missing: {marked}; if they mean a number, such as 0, write it; "
    "if they are values of their own, read the column as texts with {categories}",
    "member_column": "{different} {members} with several rows each, which a random split tears apart and intervals "
    "take for independent; with {group} rows of one value stay together, intervals allow for their likeness, and "
    "models do not learn from it",
    "repeated_members": "{different} {members} with several rows each, which intervals take for independent; with "
    "{group} they allow for their likeness",
}


def remark_warnings(remarks: Sequence[Remark]) -> Iterator[str]:
    """Yield one sentence for each kind of remark."""
    yield from (remark_sentence(kind, remarks) for kind in dict.fromkeys(remark.kind for remark in remarks))


def remark_sentence(kind: RemarkKind, remarks: Sequence[Remark]) -> str:
    """Return one sentence for all remarks of one kind."""
    found = [remark for remark in remarks if remark.kind == kind]
    return shortened(SENTENCES[kind].format(**_phrases(found)), LONGEST)


def _phrases(remarks: Sequence[Remark]) -> dict[str, object]:
    """Return the values of the placeholders in `SENTENCES`, for remarks of one kind."""
    names, is_one = [remark.column for remark in remarks], len(remarks) == 1
    detail = remarks[0].detail if remarks else ""  # a document may list the caution without the remark
    return {
        "count": len(remarks),
        "detail": detail,
        "separator": SEPARATORS.get(detail, detail),
        "delimiter": option("delimiter", detail, "delimiter", "tab" if detail == "\t" else detail),
        "names": quoted(names),
        "different": _with_details(remarks, lambda remark: f"{remark.count} different"),
        "types": _with_details(remarks, lambda remark: remark.detail),
        "written": _with_details(remarks, lambda remark: f"written as {remark.detail}"),
        "categories": as_categories(*names),
        "drop": without(*names),
        "marked": _with_details(remarks, lambda remark: f"{counted(remark.count, 'cell')}: {remark.detail}"),
        "members": "looks like persons, firms or officers" if is_one else "look like persons, firms or officers",
        "group": option("group_column", names[0] if names else "", "group-column", names[0] if names else ""),
        "look": "looks like an identifier" if is_one else "look like identifiers",
        "them": "it" if is_one else "them",
    }


def _with_details(remarks: Sequence[Remark], detail: Callable[[Remark], str]) -> str:
    return ", ".join(f"{remark.column!r} ({detail(remark)})" for remark in remarks)
