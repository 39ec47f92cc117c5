"""What a table says itself about its split: which part a row is of, when it was, and whom it is about."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from fairenum.dataset.columns import IntArray, is_missing, plain_text, read_only, read_texts
from fairenum.dataset.naming import row_name
from fairenum.document.reading import Reading, spelled
from fairenum.errors import ColumnUnusable
from fairenum.phrases import quoted

if TYPE_CHECKING:
    import pandas as pd

    from fairenum.dataset.columns import Series

TRAIN, SELECTION, HOLDOUT, LEFT_OUT = range(4)
WORDS: Mapping[str, int] = {
    **dict.fromkeys(("train", "training"), TRAIN),
    **dict.fromkeys(("selection", "valid", "validation", "val", "dev"), SELECTION),
    **dict.fromkeys(("holdout", "test"), HOLDOUT),
}


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """What a table says about its own split; at least one of the three is given.

    Attributes
    ----------
    parts
        For each row the part it is marked as: train, selection or holdout.
    times
        For each row the place of its time among all times, the earliest first.
    moments
        Those times in words.
    members
        For each row the number of the person, firm or the like whom it is about: rows of one stay together.
    column, group_column
        The names of the column of parts or times, and of that of members.
    """

    parts: IntArray | None = field(default=None, repr=False)
    times: IntArray | None = field(default=None, repr=False)
    moments: tuple[str, ...] = field(default=(), repr=False)
    members: IntArray | None = field(default=None, repr=False)
    column: str | None = None
    group_column: str | None = None

    def take(self, rows: IntArray) -> Partition:
        """Return what is said about some rows."""
        taken = (None if one is None else read_only(one[rows]) for one in (self.parts, self.times, self.members))
        parts, times, members = taken
        return replace(self, parts=parts, times=times, members=members)

    @property
    def content(self) -> bytes:
        """All that is said, to be told from what is said about another table."""
        known = [one for one in (self.parts, self.times, self.members) if one is not None]
        names = (self.column, self.group_column, self.moments)
        return repr(names).encode() + b"".join(one.astype(np.int64).tobytes() for one in known)


def read_partition(frame: pd.DataFrame, reading: Reading) -> Partition | None:
    """Read the columns that say how a table is divided; None if none was named."""
    marked, timed, grouped = reading.split_column, reading.time_column, reading.group_column
    if not (marked or timed or grouped):
        return None
    times, moments = _read_times(frame[timed]) if timed else (None, ())
    return Partition(
        parts=_read_parts(frame[marked]) if marked else None,
        times=times,
        moments=moments,
        members=_read_members(frame[grouped]) if grouped else None,
        column=marked or timed,
        group_column=grouped,
    )


def _read_parts(series: Series) -> IntArray:
    """Read a column of words such as train and test."""
    found = read_texts(series)
    texts = np.where(is_missing(found), "", found).tolist()
    words = [text.casefold() for text in texts]
    strange = sorted({text for text, word in zip(texts, words, strict=True) if word not in WORDS})
    if strange:
        raise ColumnUnusable(
            f"column {series.name!r}, named as {spelled('split_column')}, holds {quoted(strange)}; its values are to "
            "be train, selection and holdout, or train and test"
        )
    if {"test", "holdout"} <= set(words):
        raise ColumnUnusable(
            f"column {series.name!r}, named as {spelled('split_column')}, holds both 'test' and 'holdout'; call "
            "the rows that models are chosen by 'selection'"
        )
    return read_only(np.array([WORDS[word] for word in words], dtype=np.intp))


def _read_members(series: Series) -> IntArray:
    """Number those whom rows are about; a row that is about nobody is alone."""
    import pandas as pd

    codes, known = pd.factorize(series)
    alone = np.flatnonzero(codes < 0)
    codes = codes.astype(np.intp)
    codes[alone] = len(known) + np.arange(alone.size)
    return read_only(codes)


def _read_times(series: Series) -> tuple[IntArray, tuple[str, ...]]:
    """Read numbers or dates as places in time, and the times in words."""
    import pandas as pd

    cells = series.astype(object).map(plain_text, na_action="ignore")
    numbers = pd.to_numeric(cells, errors="coerce").replace([np.inf, -np.inf], np.nan)
    plain = (numbers, _parsed(cells, "ISO8601"))
    whole = next((times for times in plain if not times.isna().any()), None)
    times = _read_ambiguous(series, cells, plain) if whole is None else whole
    _, first, places = np.unique(times.to_numpy(), return_index=True, return_inverse=True)
    return read_only(places.astype(np.intp)), tuple(str(cells.iloc[row]) for row in first)


def _read_ambiguous(series: Series, cells: Series, tried: tuple[Series, ...]) -> Series:
    """Read dates whose day or month comes first, where only one of the two can be meant."""
    readings = [_parsed(cells, day_first=is_first) for is_first in (False, True)]
    whole = [times for times in readings if not times.isna().any()]
    if not whole:
        _refuse_unreadable(series, cells, min((*tried, *readings), key=lambda times: int(times.isna().sum())))
    if not whole[0].equals(whole[-1]):
        raise ColumnUnusable(
            f"column {series.name!r}, named as {spelled('time_column')}, holds dates such as {cells.iloc[0]!r}, whose "
            "day and month cannot be told apart; write them as 2024-03-25"
        )
    return whole[0]


def _parsed(cells: Series, form: str | None = None, *, day_first: bool = False) -> Series:
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # formats that are guessed; what does not parse is refused
        return pd.to_datetime(cells, errors="coerce", utc=True, format=form, dayfirst=day_first)


def _refuse_unreadable(series: Series, cells: Series, times: Series) -> None:
    lost = np.flatnonzero(times.isna().to_numpy())
    first = int(lost[0])
    what = "nothing" if cells.isna().iloc[first] else repr(cells.iloc[first])
    raise ColumnUnusable(
        f"column {series.name!r}, named as {spelled('time_column')}, holds {what} in {row_name(series.index, first)}, "
        f"which is neither a number nor a date ({lost.size} such rows in all); write dates as 2024-03-25, or drop them"
    )
