"""Columns of decisions, read as 1 (favourable) and 0 (unfavourable), and columns of scores, read as numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairenum.document.terms import DecimalSign
from fairenum.errors import CellInfinite, ColumnUnusable, FavourableUnknown
from fairenum.runtime.hints import option, quoted
from fairenum.tables.columns import EMPTY_THEM, Column, FloatArray, Texts, Unclear, interpret, read_only, reading_order
from fairenum.tables.label import Label, meant_value
from fairenum.tables.naming import rows_named

if TYPE_CHECKING:
    from fairenum.tables.columns import Series

BitArray = NDArray[np.uint8]

# Values that are favourable or not by themselves.
FAVOURABLE, UNFAVOURABLE = ("1", "yes", "true"), ("0", "no", "false")


class Spelling(NamedTuple):
    """Option names to use in error messages: for the column of decisions, its favourable value, and the score."""

    decision: str = "decision"
    favourable: str = "decision-favourable"
    score: str = "score"


DECISION = Spelling()


@dataclass(frozen=True, slots=True, eq=False)
class DecisionColumn:
    """The decision about every row (`bits`: 1 if favourable, 0 if not), and the table's words for both decisions.

    The word for a decision is None if no row has that decision, and both are None for a table of counts.
    """

    column: str
    favourable: str | None
    unfavourable: str | None
    bits: BitArray = field(repr=False)

    @property
    def values(self) -> list[str]:
        """The texts of the decisions that occur in the column, the favourable one first."""
        return [value for value in (self.favourable, self.unfavourable) if value is not None]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreColumn:
    """A column of scores: a finite number for every row."""

    column: str
    values: FloatArray = field(repr=False)


def read_scores(series: Series, decimal: DecimalSign | None, options: Spelling = DECISION) -> FloatArray:
    """Return the numbers of a column of scores, NaN for a missing cell; refuse infinite numbers and texts."""
    return read_score_column(series, decimal, options).values.astype(np.float64)


def read_score_column(series: Series, decimal: DecimalSign | None, options: Spelling = DECISION) -> Column:
    """Return a column of scores with how its cells are read; refuse infinite numbers and texts."""
    remedy = f"name decisions with {options.decision}=... (--{options.decision} COLUMN), or choose another column"
    return _numbers_column(series, decimal, "score", remedy)


def read_chances(series: Series, decimal: DecimalSign | None) -> FloatArray:
    """Return the numbers of a column of probabilities, NaN for a missing cell; refuse infinite numbers and texts."""
    column = _numbers_column(series, decimal, "probability", "name a column of numbers from 0 to 1")
    return column.values.astype(np.float64)


def _numbers_column(series: Series, decimal: DecimalSign | None, what: str, remedy: str) -> Column:
    found = interpret(series, decimal)
    if isinstance(found, Unclear):
        point = option("decimal", "point", "decimal", "point")
        say = f"say what begins the decimals with {point}" if found.is_about_decimals else EMPTY_THEM
        raise ColumnUnusable(f"{what} {found.problem}; {say}")
    column = found.column
    if not column.is_numeric:
        raise ColumnUnusable(f"{what} column {series.name!r} holds texts, and a {what} is a number; {remedy}")
    infinite = np.flatnonzero(np.isinf(column.values.astype(np.float64)))
    if infinite.size:
        raise CellInfinite(
            f"{what} column {series.name!r} holds an infinite number in {rows_named(series.index, infinite)}; correct "
            "or empty such cells"
        )
    return column


def read_decision(
    column: str, texts: Texts, wanted: object, label: Label | None, options: Spelling = DECISION
) -> DecisionColumn:
    """Read the texts of a column of decisions, none of which is missing, as favourable or unfavourable.

    `wanted` is the favourable value that the user named, if any. If it is None or does not occur, and every decision is
    a value of the label, the label's favourable value is also that of the decisions.
    """
    values = sorted(set(texts.tolist()), key=reading_order)
    if len(values) > 2:
        raise ColumnUnusable(
            f"decision column {column!r} holds {len(values)} values ({quoted(values)}), and a decision is favourable "
            "or not; join or empty the others (rows without a decision are left out), or name it as a score "
            f"(--{options.score})"
        )
    favourable = _favourable(values, wanted, label)
    if favourable is None:
        sample = option(options.favourable.replace("-", "_"), values[-1], options.favourable, values[-1])
        raise FavourableUnknown(
            f"decision column {column!r} holds {quoted(values)}, and it is not clear which is favourable; say it, such "
            f"as with {sample}"
        )
    others = [value for value in values if value != favourable]
    # if no decision is favourable, the column holds the unfavourable value alone
    is_there = favourable in values
    return DecisionColumn(
        column,
        favourable if is_there else None,
        others[0] if others else None,
        read_only((texts == favourable).astype(np.uint8)),
    )


def _favourable(values: list[str], wanted: object, label: Label | None) -> str | None:
    """Return the favourable value: the wanted one, else the label's, else 1, yes or true; None if it is not clear."""
    if wanted is not None and (meant := meant_value(wanted, values)) is not None:
        return meant
    if label and {*values} <= {label.favourable, label.unfavourable}:
        return label.favourable
    yes = [value for value in values if value.casefold() in FAVOURABLE]
    no = [value for value in values if value.casefold() in UNFAVOURABLE]
    if len(yes) + len(no) < len(values) or max(len(yes), len(no)) > 1:
        return None
    return yes[0] if yes else FAVOURABLE[0]
