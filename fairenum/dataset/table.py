"""The table: checked when built, read-only from then on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import NDArray

from fairenum.dataset.columns import Column, FloatArray, IntArray, read_only
from fairenum.dataset.features import read_features
from fairenum.dataset.groups import Groups, intersect
from fairenum.dataset.incumbent import InUse, told
from fairenum.dataset.label import Label, read_label
from fairenum.dataset.naming import Names, listed, refuse_repeated
from fairenum.dataset.partition import Partition, read_partition
from fairenum.dataset.regrouping import read_regrouped
from fairenum.dataset.weights import Weights, read_weights
from fairenum.document.reading import MAX_LEVELS, Reading, ReadingOptions, reading_of, spelled
from fairenum.document.remark import Remark
from fairenum.document.table import Regrouped
from fairenum.errors import ColumnConflict, ColumnMissing, EmptyTable, LabelError
from fairenum.phrases import did_you_mean, quoted

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A table to audit: features, a label with a favourable value, and sensitive groups.

    Missing cells of features stay missing here; an `Encoding` imputes them from its training rows.

    Parameters
    ----------
    remarks
        What was noticed while it was read: columns left out, and columns that look like what they should not be.
    max_levels
        The most values of a categorical feature that an `Encoding` gives a column each.
    regrouped
        What was made of the groups of a sensitive column, by its name.
    numbers
        The numbers that the rows have in the whole table, where some of it were left out.
    partition
        What the table says itself about its split; None if it says nothing.
    weights
        What each row counts; None if no column says so.
    incumbent
        What the model in use says about each row; None if there is none.
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
    incumbent: InUse | None = None

    def __len__(self) -> int:
        return self.label.y.size

    @property
    def y(self) -> NDArray[np.int64]:
        """The label of every row: 1 favourable, 0 unfavourable."""
        return self.label.y

    @property
    def signs(self) -> FloatArray:
        """The label of every row: +1 favourable, -1 unfavourable."""
        return self.label.signs

    @property
    def intersection(self) -> Groups | None:
        """The groups of all sensitive columns crossed; None if there is no sensitive column."""
        return intersect(self.sensitive) if self.sensitive else None

    @property
    def columns(self) -> tuple[Groups, ...]:
        """The sensitive columns and, if they are several, their intersection."""
        crossed = self.intersection
        return (*self.sensitive, crossed) if crossed and len(self.sensitive) > 1 else self.sensitive

    @property
    def members(self) -> IntArray | None:
        """For each row the number of the person, firm or the like whom it is about; None if no column says so."""
        return self.partition.members if self.partition else None

    @property
    def missing(self) -> dict[str, int]:
        """The number of missing cells of each feature that has any."""
        return {column.name: column.missing for column in self.features if column.missing}

    @property
    def fingerprint(self) -> str:
        """A sha256 of the content: equal tables have equal ones, whatever file they came from."""
        digest = sha256(repr((self.label.column, self.label.favourable, self.label.unfavourable)).encode())
        digest.update(self.y.tobytes())
        for groups in self.sensitive:
            digest.update(repr((groups.column, groups.names)).encode() + groups.codes.astype(np.int64).tobytes())
        for column in self.features:
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
        """Copy the features of some rows, or of all, to a pandas frame: float64 and object columns."""
        import pandas as pd

        wanted = slice(None) if rows is None else rows
        return pd.DataFrame(
            {
                column.name: pd.Series(column.values[wanted].copy(), dtype=column.values.dtype)
                for column in self.features
            }
        )

    def numbered(self, rows: IntArray) -> IntArray:
        """Return the numbers of some rows as their owner counts them, from 0."""
        return rows if self.numbers is None else self.numbers[rows]

    def placed(self, number: int) -> int | None:
        """Find a row by the number that its owner counts it by; None if there is none, or if it was left out."""
        places = np.flatnonzero(self.numbered(np.arange(len(self))) == number)
        return int(places[0]) if places.size else None

    def take(self, rows: IntArray) -> Dataset:
        """Copy some rows to a table of their own, in the order given."""
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
        """Return what some rows count, on average 1; None where all rows of the table that count count alike."""
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
        in_use: object = None,
        **options: Unpack[ReadingOptions],
    ) -> Dataset:
        """Check a pandas frame and copy it into a dataset.

        Parameters
        ----------
        frame
            The table. Columns that play no other part are features.
        label
            The column to predict, with two values.
        favourable
            The label's favourable value, or its text.
        sensitive
            Columns whose groups are compared; kept out of the features unless ``use_sensitive``.
        withhold
            Further columns that count as sensitive but are not compared: features only if ``use_sensitive``.
        meanings
            For sensitive columns, names to show for values that are codes.
        name
            What reports call the table.
        reading
            What else is to be made of the table.
        in_use
            The model in use, where it is given itself: a fitted classifier, a function, or decisions.
        **options
            Options of `Reading` (``drop=["id"], bands={"age": [25]}``), which win over ``reading``.
        """
        reading, frame = reading_of(reading, options), with_plain_names(frame)
        if label is None:
            raise _no_label(frame)
        sensitive, withhold = listed(sensitive), listed(withhold)
        _refuse_parts(frame, label, sensitive, withhold, reading)
        said = told(frame, reading, in_use)
        kept = np.arange(len(frame)) if said is None else said.rows
        regrouping = read_regrouped(frame.iloc[kept], sensitive, meanings, reading)
        undecided, kept = len(frame) - len(kept), kept if regrouping.rows is None else kept[regrouping.rows]
        frame, is_whole = frame.iloc[kept], len(kept) == len(frame)
        outcome = read_label(frame[label], favourable)
        withheld = () if reading.use_sensitive else (*sensitive, *withhold)
        features, remarks = _features(frame, {label, *reading.drop, *reading.aside.values(), *withheld}, reading)
        return cls(
            name=name,
            features=features,
            label=outcome,
            sensitive=regrouping.columns,
            remarks=remarks,
            max_levels=reading.max_levels,
            regrouped=regrouping.made,
            numbers=None if is_whole else kept,
            partition=read_partition(frame, reading),
            weights=read_weights(frame[reading.weight]) if reading.weight else None,
            incumbent=None if said is None else replace(said.read(kept, outcome, reading), undecided=undecided),
        )


def with_plain_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Refuse an empty frame, and call its columns by texts without blanks around them, all different."""
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
    """Read the columns that models learn from."""
    features, remarks = read_features(frame, [c for c in frame.columns if c not in hidden], reading)
    if not features:
        raise _nothing_left(sorted(hidden), remarks)
    if reading.categorical == "ordinal":
        features = tuple(column.ranked() for column in features)
    return features, remarks


def _refuse_parts(
    frame: pd.DataFrame, label: str, sensitive: Sequence[str], withhold: Sequence[str], reading: Reading
) -> None:
    """Refuse columns that the table does not have, and columns that are to play two parts."""
    drop, bands, aside = reading.drop, reading.bands, reading.aside
    refuse_unknown_columns(frame, label=[label], sensitive=sensitive, drop=drop, withhold=withhold, bands=bands)
    refuse_unknown_columns(frame, categorical_columns=reading.categorical_columns)
    refuse_unknown_columns(frame, **{spelled(part): [column] for part, column in aside.items()})
    _refuse_clashes([label, *sensitive, *drop], bands, sensitive)
    _refuse_two_parts(aside, [label, *sensitive])


def refuse_unknown_columns(frame: pd.DataFrame, **parts: Iterable[str]) -> None:
    """Refuse names that no column has."""
    for part, names in parts.items():
        for name in names:
            if name not in frame.columns:
                hint = did_you_mean(name, frame.columns) or f"; the columns are {quoted(frame.columns)}"
                raise ColumnMissing(f"the table has no column {name!r}, named as {part}{hint}")


def _nothing_left(hidden: Sequence[str], remarks: Sequence[Remark]) -> ColumnConflict:
    """Say why no column is left to learn from."""
    useless = ", ".join(f"{remark.column!r} ({remark.kind.replace('_', ' ')})" for remark in remarks)
    unusable = f"; {useless} cannot be learned from" if useless else ""
    return ColumnConflict(f"no column is left to learn from besides {quoted(hidden)}{unusable}; a table needs features")


def _refuse_clashes(claimed: list[str], bands: Iterable[str], sensitive: Sequence[str]) -> None:
    """Refuse a column that is to play two parts, and bands for one that is not sensitive."""
    for name in claimed:
        if claimed.count(name) > 1:
            raise ColumnConflict(f"column {name!r} is named twice among label, sensitive and drop; give it one part")
    for name in bands:
        if name not in sensitive:
            raise ColumnConflict(f"column {name!r} has bands but is not sensitive; name it in sensitive, too")


def _refuse_two_parts(aside: Mapping[str, str], taken: Sequence[str]) -> None:
    """Refuse a column that says something about rows and is to be predicted or compared, or to say two things."""
    claimed = [*taken, *aside.values()]
    for part, name in aside.items():
        if claimed.count(name) > 1:
            raise ColumnConflict(
                f"column {name!r}, named as {spelled(part)}, plays another part, too; give it one part"
            )
