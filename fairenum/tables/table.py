"""The table to audit: features, label, sensitive groups, weights, and columns that determine its split."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from hashlib import sha256
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import NDArray

from fairenum.document.keywords import ReadingOptions
from fairenum.document.reading import MAX_LEVELS, Reading, spelled
from fairenum.document.received import LARGEST_CELL
from fairenum.document.scoring import GroupReading
from fairenum.document.table_facts import Regrouped, Remark
from fairenum.document.telling_names import is_identifier, is_member, is_numbering
from fairenum.document.terms import RemarkKind
from fairenum.errors import CellInfinite, ColumnConflict, ColumnMissing, ColumnUnusable, EmptyTable, LabelError
from fairenum.runtime.hints import did_you_mean, quoted
from fairenum.tables.columns import (
    NUMERIC_KINDS,
    Column,
    FloatArray,
    IntArray,
    Unclear,
    as_texts,
    coded,
    first_object,
    interpret,
    is_missing,
    missing_marks,
    parse_numbers,
    plain_text,
    read_only,
    read_texts,
    unclear,
)
from fairenum.tables.fitted_rows import marked_rows
from fairenum.tables.groups import Groups, intersect, with_intersection
from fairenum.tables.incumbent import IncumbentAnswers, unread_answers
from fairenum.tables.label import Label, read_label
from fairenum.tables.model_reading import group_readings
from fairenum.tables.naming import Names, listed, refuse_repeated, row_name, rows_named
from fairenum.tables.regrouping import read_regrouped
from fairenum.tables.score_feature import ScoreFeature

if TYPE_CHECKING:
    import pandas as pd

    from fairenum.tables.columns import Series
    from fairenum.tables.naming import Index

ColumnRead = tuple[Column | None, tuple[Remark, ...]]
MANY_TEXTS = 100  # a column of up to so many different texts is a feature, unless all its texts are different
ENOUGH = 20  # in a column of fewer values, all different is no sign of identifiers
NEARLY_ALL = 0.95
PACKED = 3  # numbers, all different, are identifiers if their range is less than so many times their count
LONG = 1000  # numbers, all different and of equally many digits, are identifiers from this number on
SENTENCE = 3  # a column is free text if its median cell has at least so many words
CODE_NAME = re.compile(r"zip|post_?(?:al_?)?code|^plz$|fips|naics|^sic$|(?:^|_|\b)codes?$", re.IGNORECASE)
INDEX_NAME = re.compile(r"^index$|^unnamed: \d+$", re.IGNORECASE)
DAY = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2}))"
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
NAMED_DAY = rf"(?:\d{{1,2}}[-\s]{MONTH}[-,\s]\s?(?:\d{{4}}|\d{{2}})|{MONTH}\s\d{{1,2}},?\s\d{{4}})"
DATE = re.compile(rf"(?:{DAY}|{NAMED_DAY})(?:[T\s]\d{{1,2}}:\d{{2}}.*)?", re.IGNORECASE)


def read_features(
    frame: pd.DataFrame, names: Iterable[str], reading: Reading
) -> tuple[tuple[Column, ...], tuple[Remark, ...]]:
    """Return the columns that can be features, and remarks on those that were left out or look suspicious.

    Columns that can be read neither as numbers nor as texts are refused in one error.
    """
    columns: list[Column] = []
    remarks: list[Remark] = []
    ambiguous: list[Unclear] = []
    for name in names:
        found = _read(frame[name], reading)
        if isinstance(found, Unclear):
            ambiguous.append(found)
            continue
        column, told = found
        columns += [column] if column else []
        remarks += told
    if ambiguous:
        raise unclear(ambiguous)
    return tuple(columns), tuple(remarks)


def _read(series: Series, reading: Reading) -> ColumnRead | Unclear:
    if series.name in reading.categorical_columns:
        return _unless_constant(Column(str(series.name), read_only(as_texts(series)), coded(series)))
    if series.dtype.kind not in NUMERIC_KINDS and (found_object := first_object(series)):
        cell = found_object[1]
        kind: RemarkKind = "date_column" if isinstance(cell, date) else "object_column"
        return None, (Remark(kind, str(series.name), type(cell).__name__),)
    found = interpret(series, reading.decimal)
    if isinstance(found, Unclear):
        return found
    column = found.column
    if not column.varies():
        return _unless_constant(column)
    if not column.is_numeric:
        remark = _unlearnable(column)
        return (None, (remark,)) if remark else (column, ())
    _refuse_infinite(column, series.index)
    about = Remark("written_numbers", column.name, found.sample) if found.sample else _suspicion(column)
    return column, (*((about,) if about else ()), *found.remarks)


def _unless_constant(column: Column) -> ColumnRead:
    if column.varies():
        return column, ()
    known = column.values[~is_missing(column.values)]
    if not known.size:
        return None, (Remark("empty_column", column.name),)
    return None, (Remark("constant_column", column.name, plain_text(known[0])),)


def _refuse_infinite(column: Column, index: Index) -> None:
    infinite = np.flatnonzero(np.abs(column.values) > LARGEST_CELL)
    if infinite.size:
        raise CellInfinite(
            f"column {column.name!r} holds {column.values[infinite[0]]:g} in "
            f"{row_name(index, int(infinite[0]))}; correct the cell, or empty it to have it imputed"
        )


def _unlearnable(column: Column) -> Remark | None:
    """Return a remark if a column of texts cannot be a feature (dates, identifiers, free text); else None."""
    known = [str(text) for text in column.values[~is_missing(column.values)]]
    distinct = set(known)
    if sum(DATE.fullmatch(text) is not None for text in distinct) >= NEARLY_ALL * len(distinct):
        return Remark("date_column", column.name, count=len(distinct))
    are_all_different = len(distinct) == len(known) >= ENOUGH
    if not are_all_different and len(distinct) <= max(MANY_TEXTS, column.values.size / 2):
        return None
    words = float(np.median([len(text.split()) for text in distinct]))
    kind: RemarkKind = "free_text" if words >= SENTENCE else "identifier_text"
    return Remark(kind, column.name, count=len(distinct))


def _suspicion(column: Column) -> Remark | None:
    """Return a remark if the numbers of a column are probably identifiers or codes; else None."""
    known = np.asarray(column.values[~is_missing(column.values)], dtype=np.float64)
    if not np.array_equal(known, np.floor(known)):
        return None
    levels = column.levels()
    if _are_identifiers(column.name, known, levels):
        return Remark("identifier_number", column.name, count=levels)
    if levels >= 3 and CODE_NAME.search(column.name):
        return Remark("code_numbers", column.name, count=levels)
    return None


def _are_identifiers(name: str, whole: FloatArray, levels: int) -> bool:
    """Tell whether whole numbers are probably identifiers, by the name of their column or by their values.

    Values are identifiers if hardly any is repeated and they are sorted or named like a numbering of rows; if so many
    are different in so narrow a range as no random numbers would be; or if all are different and have equally many
    digits.
    """
    if levels < ENOUGH or INDEX_NAME.search(name) or is_identifier(name):
        return levels >= ENOUGH
    steps, low, high = np.diff(whole), whole.min(), whole.max()
    is_sorted = bool(np.all(steps >= 0) or np.all(steps <= 0))
    are_all_different, are_nearly = levels == whole.size, levels >= NEARLY_ALL * whole.size
    is_packed = high - low < PACKED * levels and (are_all_different or levels >= MANY_TEXTS)
    is_of_one_length = are_all_different and low >= LONG and len(str(int(low))) == len(str(int(high)))
    return are_nearly and (is_sorted or is_packed or is_of_one_length or is_numbering(name))


def member_columns(frame: pd.DataFrame, names: Iterable[str], kind: RemarkKind = "member_column") -> tuple[Remark, ...]:
    """Return remarks on columns named after persons, firms or officers in which many values have several rows."""
    named = [(name, frame[name].dropna()) for name in names if is_member(name)]
    found = [(name, known.size, known.nunique()) for name, known in named if _are_texts_or_whole(known)]
    return tuple(
        Remark(kind, name, count=levels) for name, rows, levels in found if ENOUGH <= levels <= NEARLY_ALL * rows
    )


def _are_texts_or_whole(known: Series) -> bool:
    if known.dtype.kind in "iu":
        return True
    if known.dtype.kind == "f":
        return bool((known == np.floor(known)).all())
    return known.dtype.kind != "b" and first_object(known) is None


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The weight of each row, at least 0, and the column of weights; rows of weight 0 are in no part of the split."""

    column: str
    values: FloatArray = field(repr=False)

    def take(self, rows: IntArray) -> Weights:
        """Return the weights of some rows."""
        return Weights(self.column, read_only(self.values[rows]))

    @property
    def positive(self) -> IntArray:
        """The numbers of the rows with a positive weight."""
        return np.flatnonzero(self.values > 0.0)

    @property
    def is_even(self) -> bool:
        """Whether all positive weights are equal."""
        counting = self.values[self.positive]
        return bool((counting == counting[:1]).all())

    def relative(self, rows: IntArray) -> FloatArray | None:
        """Return the weights of some rows, scaled to a mean of 1; None if all positive weights are equal."""
        values = self.values[rows]
        return None if self.is_even or not values.size else read_only(values / values.mean())


def read_weights(series: Series) -> Weights:
    """Read a column of weights; refuse cells that are missing, negative or not numbers, and weights that are all 0."""
    values = parse_numbers(read_texts(series))
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0.0)))
    if wrong.size:
        first = int(wrong[0])
        what = "nothing" if series.isna().iloc[first] else repr(str(series.iloc[first]))
        raise ColumnUnusable(
            f"column {series.name!r}, named as {spelled('weight')}, holds {what} in "
            f"{rows_named(series.index, wrong)}; a weight is a number of at least 0"
        )
    if not values.any():
        raise ColumnUnusable(
            f"column {series.name!r}, named as {spelled('weight')}, holds 0 in every row; give some rows "
            "a weight above 0"
        )
    return Weights(str(series.name), read_only(values))


TRAIN, SELECTION, HOLDOUT, LEFT_OUT = range(4)
WORDS: Mapping[str, int] = {
    **dict.fromkeys(("train", "training"), TRAIN),
    **dict.fromkeys(("selection", "valid", "validation", "val", "dev"), SELECTION),
    **dict.fromkeys(("holdout", "test"), HOLDOUT),
}


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Columns of a table that determine its split; at least one of `parts`, `times` and `members` is not None.

    Attributes
    ----------
    parts
        For each row, the part that the table puts it in: `TRAIN`, `SELECTION` or `HOLDOUT`.
    times
        For each row, the rank of its time among all different times, from 0 for the earliest.
    moments
        The different times as texts, in order.
    members
        For each row, the number of its member: a person, a firm or the like, whose rows are all in one part.
    column, group_column
        The names of the column of parts or times, and of the column of members.
    """

    parts: IntArray | None = field(default=None, repr=False)
    times: IntArray | None = field(default=None, repr=False)
    moments: tuple[str, ...] = field(default=(), repr=False)
    members: IntArray | None = field(default=None, repr=False)
    column: str | None = None
    group_column: str | None = None

    def take(self, rows: IntArray) -> Partition:
        """Return the parts, times and members of the given rows."""
        taken = (None if one is None else read_only(one[rows]) for one in (self.parts, self.times, self.members))
        parts, times, members = taken
        return replace(self, parts=parts, times=times, members=members)

    @property
    def content(self) -> bytes:
        """The columns that determine the split, and their names, as bytes, for the table's hash (`fingerprint`)."""
        known = [one for one in (self.parts, self.times, self.members) if one is not None]
        names = (self.column, self.group_column, self.moments)
        return repr(names).encode() + b"".join(one.astype(np.int64).tobytes() for one in known)


def read_partition(frame: pd.DataFrame, reading: Reading) -> Partition | None:
    """Read the columns that determine the split; return None if `reading` names no such column."""
    marked, timed, grouped = reading.split_column, reading.time_column, reading.group_column
    if not (marked or timed or grouped):
        return None
    times, moments = _read_times(frame[timed]) if timed else (None, ())
    return Partition(
        parts=_read_parts(frame[marked]) if marked else None,
        times=times,
        moments=moments,
        members=read_members(frame[grouped]) if grouped else None,
        column=marked or timed,
        group_column=grouped,
    )


def _read_parts(series: Series) -> IntArray:
    """Return the part of each row, read from a column of words such as train and test; refuse other words."""
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


def read_members(series: Series) -> IntArray:
    """Return for each row the number of its member (a person, a firm); each row without a value gets its own number."""
    import pandas as pd

    codes, known = pd.factorize(series)
    alone = np.flatnonzero(codes < 0)
    codes = codes.astype(np.intp)
    codes[alone] = len(known) + np.arange(alone.size)
    return read_only(codes)


def _read_times(series: Series) -> tuple[IntArray, tuple[str, ...]]:
    """Return the rank of each row's time, read from numbers or dates, and the different times as texts, in order."""
    import pandas as pd

    cells = series.astype(object).map(plain_text, na_action="ignore")
    numbers = pd.to_numeric(cells, errors="coerce").replace([np.inf, -np.inf], np.nan)
    plain = (numbers, parsed_dates(cells, "ISO8601"))
    whole = next((times for times in plain if not times.isna().any()), None)
    times = read_dates(series, cells, plain, spelled("time_column")) if whole is None else whole
    _, first, places = np.unique(times.to_numpy(), return_index=True, return_inverse=True)
    return read_only(places.astype(np.intp)), tuple(str(cells.iloc[row]) for row in first)


def read_dates(series: Series, cells: Series, tried: tuple[Series, ...], named: str) -> Series:
    """Read dates such as 3/25/2024, with day or month first; refuse dates that can be read both ways, or not at all.

    `cells` are the texts of the column, `tried` other readings of them, and `named` is the option that names it.
    """
    readings = [parsed_dates(cells, day_first=is_first) for is_first in (False, True)]
    whole = [times for times in readings if not times.isna().any()]
    if not whole:
        _refuse_unreadable(series, cells, min((*tried, *readings), key=lambda times: int(times.isna().sum())), named)
    if not whole[0].equals(whole[-1]):
        raise ColumnUnusable(
            f"column {series.name!r}, named as {named}, holds dates such as {cells.iloc[0]!r}, whose "
            "day and month cannot be told apart; write them as 2024-03-25"
        )
    return whole[0]


def parsed_dates(cells: Series, form: str | None = None, *, day_first: bool = False) -> Series:
    """Return texts as dates in one form, NaT where a text is none."""
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about guessed formats; cells that do not parse are refused below
        return pd.to_datetime(cells, errors="coerce", utc=True, format=form, dayfirst=day_first)


def _refuse_unreadable(series: Series, cells: Series, times: Series, named: str) -> None:
    lost = np.flatnonzero(times.isna().to_numpy())
    first = int(lost[0])
    what = "nothing" if cells.isna().iloc[first] else repr(cells.iloc[first])
    raise ColumnUnusable(
        f"column {series.name!r}, named as {named}, holds {what} in {row_name(series.index, first)}, "
        f"which is neither a number nor a date ({lost.size} such rows in all); write dates as 2024-03-25, or drop them"
    )


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A table to audit: features, a label with a favourable value, and the groups of sensitive columns.

    Missing cells of features are nan here; an `Encoding` fills them in.

    Parameters
    ----------
    remarks
        Remarks on columns that were left out, and on columns that look suspicious.
    max_levels
        The largest number of values of a categorical feature that get a column each in an `Encoding`.
    regrouped
        Changes that were made to the groups of sensitive columns, by column name.
    numbers
        For each row its number in the table as given; None if no row was left out.
    partition
        Columns of the table that determine its split; None if there are none.
    weights
        The weight of each row; None if there is no column of weights.
    incumbent
        Decisions and scores of the model in use; None if there is none.
    group_readings
        How the cells of each sensitive column became its groups.
    score
        Which of the features is the score of the model in use; None unless models are to correct it.
    """

    name: str
    features: tuple[Column, ...]
    label: Label
    sensitive: tuple[Groups, ...]
    remarks: tuple[Remark, ...] = ()
    max_levels: int = MAX_LEVELS
    regrouped: Mapping[str, Regrouped] = field(default_factory=dict)
    numbers: IntArray | None = field(default=None, repr=False)
    partition: Partition | None = None
    weights: Weights | None = None
    incumbent: IncumbentAnswers | None = None
    group_readings: tuple[GroupReading, ...] = field(default=(), repr=False)
    score: ScoreFeature | None = None

    def __len__(self) -> int:
        return self.label.y.size

    @property
    def y(self) -> NDArray[np.int64]:
        """The label of every row: 1 if favourable, 0 if unfavourable."""
        return self.label.y

    @property
    def signs(self) -> FloatArray:
        """The label of every row: +1 if favourable, -1 if unfavourable."""
        return self.label.signs

    @property
    def intersection(self) -> Groups | None:
        """The groups by combinations of values of all sensitive columns; None if there is no sensitive column."""
        return intersect(self.sensitive) if self.sensitive else None

    @property
    def columns(self) -> tuple[Groups, ...]:
        """The sensitive columns and, if there are several, the groups by combinations of their values."""
        return with_intersection(self.sensitive)

    @property
    def members(self) -> IntArray | None:
        """For each row the number of its person, firm or the like; None if no column names them."""
        return self.partition.members if self.partition else None

    @property
    def own_features(self) -> tuple[Column, ...]:
        """The features without the score of the model in use."""
        return tuple(column for column in self.features if self.score is None or column.name != self.score.name)

    @property
    def score_values(self) -> FloatArray | None:
        """The score that models correct, with higher ones favourable; None if they correct none."""
        column = next((one for one in self.features if self.is_score(one)), None)
        if column is None or self.score is None:
            return None
        return (-1.0 if self.score.is_lower_better else 1.0) * column.values.astype(np.float64)

    @property
    def missing(self) -> dict[str, int]:
        """The number of missing cells, by feature; features without missing cells are left out."""
        return {column.name: column.missing for column in self.features if column.missing}

    @property
    def fingerprint(self) -> str:
        """The SHA-256 hash, in hexadecimal, of the table's content; it does not depend on the file that was read."""
        digest = sha256(repr((self.label.column, self.label.favourable, self.label.unfavourable)).encode())
        digest.update(self.y.tobytes())
        for groups in self.sensitive:
            digest.update(repr((groups.column, groups.names)).encode() + groups.codes.astype(np.int64).tobytes())
        for column in self.own_features:
            values = column.values.tobytes() if column.is_numeric else repr(column.values.tolist()).encode()
            digest.update(repr(column.name).encode() + values)
        if self.partition:
            digest.update(self.partition.content)
        if self.weights:
            digest.update(repr(self.weights.column).encode() + self.weights.values.tobytes())
        if self.incumbent:
            digest.update(self.incumbent.content)
        return digest.hexdigest()

    def frame(self, rows: IntArray | None = None) -> pd.DataFrame:
        """Return a copy of the features of the given rows, by default all, as a frame of float64 and object columns.

        The score of the model in use, if it is a feature, has the name of its column in the table.
        """
        import pandas as pd

        wanted = slice(None) if rows is None else rows
        return pd.DataFrame(
            {
                self.column_of(column.name): pd.Series(column.values[wanted].copy(), dtype=column.values.dtype)
                for column in self.features
            }
        )

    def is_score(self, column: Column) -> bool:
        """Tell whether a feature is the score of the model in use."""
        return self.score is not None and column.name == self.score.name

    def column_of(self, feature: str) -> str:
        """Return the name of the column of the table that a feature is read from."""
        return self.score.column if self.score and feature == self.score.name else feature

    def numbered(self, rows: IntArray) -> IntArray:
        """Return, for the given rows, their numbers, from 0, in the table before rows were left out."""
        return rows if self.numbers is None else self.numbers[rows]

    def placed(self, number: int) -> int | None:
        """Return the position of the row that had this number before rows were left out; None if no row has it."""
        places = np.flatnonzero(self.numbered(np.arange(len(self))) == number)
        return int(places[0]) if places.size else None

    def take(self, rows: IntArray) -> Dataset:
        """Return a dataset of the given rows only, in the given order."""
        return replace(
            self,
            features=tuple(replace(column, values=read_only(column.values[rows])) for column in self.features),
            label=replace(self.label, y=read_only(self.y[rows])),
            sensitive=tuple(groups.take(rows) for groups in self.sensitive),
            numbers=None if self.numbers is None else self.numbers[rows],
            partition=self.partition.take(rows) if self.partition else None,
            weights=self.weights.take(rows) if self.weights else None,
            incumbent=self.incumbent.take(rows) if self.incumbent else None,
        )

    def relative(self, rows: IntArray) -> FloatArray | None:
        """Return the weights of some rows, scaled to a mean of 1; None without weights, or if all are equal."""
        return None if self.weights is None else self.weights.relative(rows)

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        label: str | None,
        favourable: object,
        sensitive: Names = (),
        *,
        withhold: Names = (),
        meanings: Mapping[str, Mapping[str, str]] | None = None,
        name: str = "table",
        reading: Reading | None = None,
        incumbent_object: object = None,
        **options: Unpack[ReadingOptions],
    ) -> Dataset:
        """Check a pandas frame and copy it into a dataset.

        Parameters
        ----------
        frame
            The table. Columns that no other option names are features.
        label
            The column to predict, with two values.
        favourable
            The label's favourable value, or that value as text.
        sensitive
            Columns whose groups are compared; they are features only with ``use_sensitive``.
        withhold
            Further sensitive columns, whose groups are not compared; they are features only with ``use_sensitive``.
        meanings
            For sensitive columns, the names to show for values that are codes.
        name
            The table's name in reports.
        reading
            Further options of reading the table.
        incumbent_object
            The model in use, given as an object: a fitted classifier, a function, or decisions.
        **options
            Options of `Reading` (``drop=["id"], bands={"age": [25]}``), which override those in ``reading``.
        """
        reading, frame = (reading or Reading()).but(**options), with_plain_names(frame)
        if label is None:
            raise _no_label(frame)
        sensitive, withhold = listed(sensitive), listed(withhold)
        _refuse_parts(frame, label, sensitive, withhold, reading)
        said = unread_answers(frame, reading, incumbent_object)
        kept, given = np.arange(len(frame)) if said is None else said.rows, frame
        undecided, is_fitted = len(frame) - len(kept), marked_rows(frame, kept, reading)
        fitted, kept = kept[is_fitted], kept[~is_fitted]
        regrouping = read_regrouped(frame.iloc[kept], sensitive, meanings, reading)
        kept = kept if regrouping.rows is None else kept[regrouping.rows]
        frame, is_whole = frame.iloc[kept], len(kept) == len(frame)
        outcome = read_label(frame[label], favourable)
        withheld = () if reading.use_sensitive else (*sensitive, *withhold)
        taken = {label, *reading.aside.values(), *withheld}
        features, remarks = _features(frame, {*taken, *reading.drop}, reading)
        return cls(
            name=name,
            features=features,
            label=outcome,
            sensitive=regrouping.columns,
            remarks=_with_further_remarks(remarks, frame, {*taken, *sensitive}, reading),
            max_levels=reading.max_levels,
            regrouped=regrouping.made,
            numbers=None if is_whole else kept,
            partition=read_partition(frame, reading),
            weights=read_weights(frame[reading.weight]) if reading.weight else None,
            incumbent=None
            if said is None
            else replace(said.read(kept, fitted, given[label], outcome, reading), undecided=undecided),
            group_readings=group_readings(frame, regrouping.columns, reading),
        )


def with_plain_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with the blanks around its columns' names removed; refuse an empty frame and equal names."""
    if frame.empty:
        raise EmptyTable(f"the table has {len(frame)} rows and {frame.shape[1]} columns; it needs some of both")
    names = [str(name).strip() for name in frame.columns]
    refuse_repeated(names)
    return frame.set_axis(names, axis="columns")


def _no_label(frame: pd.DataFrame) -> LabelError:
    return LabelError(
        "the table has no label yet; name the column to predict with label=... (--label COLUMN) and its favourable "
        f"value with favourable=... (--favourable VALUE); its columns are {quoted(frame.columns)}"
    )


def _features(frame: pd.DataFrame, hidden: set[str], reading: Reading) -> tuple[tuple[Column, ...], tuple[Remark, ...]]:
    """Return the features, read from the columns that are not `hidden`, and remarks; refuse a table without any."""
    features, remarks = read_features(frame, [c for c in frame.columns if c not in hidden], reading)
    if not features:
        raise _nothing_left(sorted(hidden), remarks)
    if reading.categorical == "ordinal":
        features = tuple(column.ranked() for column in features)
    return features, remarks


def _with_further_remarks(
    remarks: Sequence[Remark], frame: pd.DataFrame, taken: set[str], reading: Reading
) -> tuple[Remark, ...]:
    """Return remarks with those on columns besides features: persons or firms, and texts read as missing numbers."""
    numbers = [column for column in (reading.incumbent_score, *reading.bands) if column is not None]
    marks = [remark for column in numbers for remark in missing_marks(frame[column], reading.decimal)]
    if reading.group_column or reading.time_column:
        return (*remarks, *marks)
    members = member_columns(frame, [column for column in frame.columns if column not in taken])
    named = {remark.column for remark in members}
    others = [one for one in remarks if not (one.kind == "identifier_number" and one.column in named)]
    return (*others, *marks, *members)


def _refuse_parts(
    frame: pd.DataFrame, label: str, sensitive: Sequence[str], withhold: Sequence[str], reading: Reading
) -> None:
    """Refuse columns that do not exist, and columns with two roles."""
    drop, bands, aside = reading.drop, reading.bands, reading.aside
    refuse_unknown_columns(frame, label=[label], sensitive=sensitive, drop=drop, withhold=withhold, bands=bands)
    refuse_unknown_columns(frame, categorical_columns=reading.categorical_columns)
    refuse_unknown_columns(frame, **{spelled(part): [column] for part, column in aside.items()})
    _refuse_clashes([label, *sensitive, *drop], bands, sensitive)
    _refuse_two_parts(aside, [label, *sensitive])


def refuse_unknown_columns(frame: pd.DataFrame, **parts: Iterable[str]) -> None:
    """Refuse names that are not columns of the table."""
    for part, names in parts.items():
        for name in names:
            if name not in frame.columns:
                hint = did_you_mean(name, frame.columns) or f"; the columns are {quoted(frame.columns)}"
                raise ColumnMissing(f"the table has no column {name!r}, named as {part}{hint}")


def _nothing_left(hidden: Sequence[str], remarks: Sequence[Remark]) -> ColumnConflict:
    useless = ", ".join(f"{remark.column!r} ({remark.kind.replace('_', ' ')})" for remark in remarks)
    unusable = f"; {useless} cannot be learned from" if useless else ""
    return ColumnConflict(f"no column is left to learn from besides {quoted(hidden)}{unusable}; a table needs features")


def _refuse_clashes(claimed: list[str], bands: Iterable[str], sensitive: Sequence[str]) -> None:
    for name in claimed:
        if claimed.count(name) > 1:
            raise ColumnConflict(f"column {name!r} is named twice among label, sensitive and drop; give it one role")
    for name in bands:
        if name not in sensitive:
            raise ColumnConflict(f"column {name!r} has bands but is not sensitive; name it in sensitive, too")


def _refuse_two_parts(aside: Mapping[str, str], taken: Sequence[str]) -> None:
    claimed = [*taken, *aside.values()]
    for part, name in aside.items():
        if claimed.count(name) > 1:
            raise ColumnConflict(f"column {name!r}, named as {spelled(part)}, has another role, too; give it one role")
