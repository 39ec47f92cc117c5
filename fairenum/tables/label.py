"""The label column: the true outcome of each row, one of two values, of which one is favourable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairenum.document.reading import number
from fairenum.errors import FavourableUnknown, LabelNotBinary, LabelOneClass, LabelUndefined
from fairenum.runtime.hints import did_you_mean, quoted
from fairenum.tables.columns import (
    FloatArray,
    Texts,
    is_missing,
    parse_numbers,
    plain_text,
    read_only,
    read_texts,
    reading_order,
)
from fairenum.tables.naming import rows_named

if TYPE_CHECKING:
    from fairenum.tables.columns import Series


@dataclass(frozen=True, slots=True, eq=False)
class Label:
    """The true outcome of every row (`y`: 1 if favourable, 0 if not), and the table's words for both outcomes."""

    column: str
    favourable: str
    unfavourable: str
    y: NDArray[np.int64] = field(repr=False)

    @property
    def signs(self) -> FloatArray:
        """The outcome of every row: +1 if favourable, -1 if unfavourable."""
        return read_only(np.where(self.y == 1, 1.0, -1.0))


def read_label(series: Series, favourable: object) -> Label:
    """Read the label column; ``favourable`` is its favourable value, or that value as text."""
    texts = read_texts(series)
    _refuse_undefined(series, texts)
    values = sorted(set(texts.tolist()), key=reading_order)
    if len(values) == 1:
        raise LabelOneClass(
            f"label column {series.name!r} holds the one value {values[0]!r} in all {texts.size} rows; "
            "a label needs two values, so choose another column or add rows"
        )
    if len(values) > 2:
        raise LabelNotBinary(
            f"label column {series.name!r} holds {len(values)} values ({quoted(values)}); a label needs two, "
            "so join or leave out the others, or choose another column"
        )
    chosen = match_value(favourable, values, str(series.name))
    (other,) = (value for value in values if value != chosen)
    return Label(str(series.name), chosen, other, read_only((texts == chosen).astype(np.int64)))


def match_value(wanted: object, values: list[str], column: str) -> str:
    """Return the label's value that equals the wanted one; if there is none, raise an error that lists the values."""
    if wanted is None:
        raise FavourableUnknown(
            f"label column {column!r} has no favourable value yet; its values are {quoted(values)}: "
            "say which is favourable with favourable=... (--favourable VALUE)"
        )
    if (found := meant_value(wanted, values)) is not None:
        return found
    text = plain_text(wanted)
    hint = did_you_mean(text, values) or f"; its values are {quoted(values)}"
    raise FavourableUnknown(f"label column {column!r} has no value {text!r}, named as favourable (--favourable){hint}")


def meant_value(wanted: object, values: Sequence[str]) -> str | None:
    """Return the value that equals the wanted one as text, or else as number, or else ignoring case; None if none does.

    As numbers, 1, 1.0 and True are equal. If several values are equal in one of these ways, the next way is tried.
    """
    text = plain_text(wanted)
    same_text = [value for value in values if value == text]
    same_number = [value for value in values if number(value) == number(text)]
    same_letters = [value for value in values if value.casefold() == text.casefold()]
    return next((found[0] for found in (same_text, same_number, same_letters) if len(found) == 1), None)


def _refuse_undefined(series: Series, texts: Texts) -> None:
    undefined = np.flatnonzero(is_missing(texts) | np.isinf(parse_numbers(texts)))
    if undefined.size:
        first = int(undefined[0])
        what = "no value" if is_missing(texts)[first] else repr(texts[first])
        raise LabelUndefined(
            f"label column {series.name!r} holds {what} in {rows_named(series.index, undefined)}; "
            "fill in the label or remove the row"
        )
