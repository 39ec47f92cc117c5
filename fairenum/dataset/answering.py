"""What a model in use says about every row, and what every kind of model is held to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairenum.dataset.naming import row_name
from fairenum.errors import ColumnMissing, FairenumError, ModelError
from fairenum.phrases import did_you_mean, quoted

if TYPE_CHECKING:
    import pandas as pd

    from fairenum.dataset.columns import Series
    from fairenum.dataset.naming import Index

LONGEST_QUOTE = 200


class Answers(NamedTuple):
    """What a model in use says about every row, before anybody says what of it is favourable.

    Attributes
    ----------
    decisions
        The class of each row, as the model calls it; None if it gives scores alone.
    scores
        A finite number for each row; None if it gives none.
    scored
        The class that a higher score speaks for; None without scores, and where the model does not tell.
    """

    decisions: Series | None
    scores: Series | None = None
    scored: object | None = None


@contextmanager
def blaming(who: str) -> Iterator[None]:
    """Turn whatever a model raises into one error that quotes it."""
    try:
        yield
    except FairenumError:
        raise
    except (Exception, SystemExit) as error:  # whatever somebody's model does
        raise ModelError(
            f"{who} failed on the rows of the table: {brief(error)}; see that it takes the table's columns as they are"
        ) from error


def brief(error: BaseException) -> str:
    """Quote an error in a line."""
    words = " ".join(str(error).split())
    shown = words if len(words) <= LONGEST_QUOTE else f"{words[:LONGEST_QUOTE]}..."
    return f"{type(error).__name__}: {shown}" if shown else type(error).__name__


def pick(frame: pd.DataFrame, names: Sequence[str], who: str) -> pd.DataFrame:
    """Copy the columns that a model asks for, called as it calls them; the table's names have no blanks around them."""
    missing = [name for name in names if name.strip() not in frame.columns]
    if missing:
        hint = did_you_mean(missing[0], frame.columns) or f"; the columns are {quoted(frame.columns)}"
        raise ColumnMissing(
            f"{who} asks for {quoted(missing)}, and the table has no such {_columns(len(missing))}{hint}"
        )
    return frame[[name.strip() for name in names]].set_axis(list(names), axis="columns")


def _columns(count: int) -> str:
    return "column" if count == 1 else "columns"


def as_series(answer: object, index: Index, who: str) -> Series:
    """Lay one answer beside each row, by position."""
    import pandas as pd

    if isinstance(answer, pd.DataFrame) and answer.shape[1] == 1:
        answer = answer.iloc[:, 0]
    if isinstance(answer, list | tuple):  # numpy would turn the number in (1, "a") into a text
        answer = pd.Series(answer, dtype=None if answer else object)
    if not isinstance(answer, pd.Series):
        array = np.asarray(answer)
        is_narrow = array.ndim == 2 and array.shape[1] == 1
        if array.ndim != 1 and not is_narrow:
            raise ModelError(f"{who}: one answer a row is needed, and this is {_form(answer, array)}")
        answer = pd.Series(array.ravel())
    if len(answer) != len(index):
        raise ModelError(f"{who}: the table has {len(index)} rows, and these are {len(answer)} answers; give one a row")
    _refuse_other_order(answer.index, index, who)
    return answer.set_axis(index)


def _refuse_other_order(names: Index, index: Index, who: str) -> None:
    """Refuse answers that bear the names of the rows in another order: they may be meant by name, or by position."""
    if not names.equals(index) and names.sort_values().equals(index.sort_values()):
        raise ModelError(
            f"{who}: these have the index of the table in another order; bring them into the order of its rows with "
            "reindex(table.index) if they go by their index, or give to_numpy() of them if they go by position"
        )


def plain(value: object) -> object:
    """Return a value of Python for one of numpy."""
    return value.item() if isinstance(value, np.generic) else value


def _form(answer: object, array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> str:
    if array.ndim == 0:
        return f"a single {type(answer).__name__}"
    return f"an array of {' x '.join(map(str, array.shape))}"


def as_scores(answer: object, index: Index, who: str) -> Series:
    """Lay one finite number beside each row."""
    found = as_series(answer, index, who)
    try:
        scores = found.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{who}: a score is a number; {brief(error)}") from error
    strange = np.flatnonzero(~np.isfinite(scores.to_numpy()))
    if strange.size:
        first = int(strange[0])
        raise ModelError(
            f"{who}: its score is {scores.iloc[first]} in {row_name(index, first)} ({strange.size} such rows in all); "
            "fill in cells that it cannot take, or leave out such rows"
        )
    return scores
