"""Reading of documents that others wrote: limits on size, and refusal of values that fairenum never writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path

import msgspec

from fairenum.errors import ResultError

LARGEST = 256 * 2**20  # bytes of a file; ten thousand models with two sensitive columns take 160 MB
MOST_VALUES = 20_000_000  # numbers, texts, lists and objects in it: each takes some 100 bytes once it is read
LARGEST_CELL = 1e100  # of a table that is read: the squares of larger numbers overflow once they are summed
LARGEST_NUMBER = 1e150  # whose square is finite
LARGEST_WHOLE = 2**53 - 1  # whole numbers that every reader of JSON keeps exactly
LONGEST_TEXT = 1_000_000
LONGEST_REASON = 300
SEPARATORS = (b",", b"[", b"{")


def received(path: str | Path) -> bytes:
    """Return the bytes of a file that others wrote; refuse a file of more than `LARGEST` bytes."""
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:  # a path with a zero byte is a ValueError
        raise ResultError(f"cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}") from error
    if len(content) > LARGEST:
        raise ResultError(f"{str(path)!r} is larger than {LARGEST // 2**20} MB; no document of fairenum is")
    return content


def decoded(content: bytes) -> object:
    """Return the decoded JSON; raise ValueError if it is invalid, or has more than `MOST_VALUES` values."""
    if sum(map(content.count, SEPARATORS)) > MOST_VALUES:
        raise ValueError(f"it holds more than {MOST_VALUES} values")
    try:
        return msgspec.json.decode(content)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def refuse_unwritable(document: object) -> None:
    """Raise ValueError for a number or text that fairenum writes into no document, with its path in the document.

    Numbers must be finite and not too large, whole numbers not negative, as they are counts; texts must not be too long
    and must be valid in UTF-8.
    """
    for place, value in _leaves(document, "$"):
        if reason := _obstacle(value):
            raise ValueError(f"{reason} - at `{place}`")


def _leaves(value: object, place: str) -> Iterator[tuple[str, object]]:
    """Yield each number and text in a value, keys included, after its path, such as ``$.models[0].rank``."""
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _leaves(getattr(value, name), f"{place}.{name}")
    elif is_dataclass(value):
        for field in fields(value):
            yield from _leaves(getattr(value, field.name), f"{place}.{field.name}")
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield place, key
            yield from _leaves(part, f"{place}[...]")
    elif isinstance(value, tuple | list):
        for number, part in enumerate(value):
            yield from _leaves(part, f"{place}[{number}]")
    else:
        yield place, value


def _obstacle(value: object) -> str | None:
    """Return why a value cannot be part of a document; None if it can."""
    match value:
        case bool():
            return None
        case int():
            return None if 0 <= value <= LARGEST_WHOLE else f"Expected a whole number from 0 to {LARGEST_WHOLE}"
        case float():
            is_usual = abs(value) <= LARGEST_NUMBER  # which nan is not
            return None if is_usual else f"Expected a finite number, -{LARGEST_NUMBER:g} to {LARGEST_NUMBER:g}"
        case str():
            return _obstacle_of_text(value)
    return None


def _obstacle_of_text(text: str) -> str | None:
    if len(text) > LONGEST_TEXT:
        return f"Expected a text of at most {LONGEST_TEXT} signs"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "Expected a text that UTF-8 can write, without lone surrogates"
    return None


def shortened(reason: object) -> str:
    """Return the text of an error; a long text loses its middle, as its end names the part of the document."""
    text = str(reason)
    half = LONGEST_REASON // 2
    return text if len(text) <= LONGEST_REASON else f"{text[:half]}...{text[-half:]}"
