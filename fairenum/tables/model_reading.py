"""How a model reads a table: written down when it is exported, and applied to new tables as the audit applied it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairenum.document.reading import Reading, number
from fairenum.document.received import LARGEST_CELL
from fairenum.document.scoring import (
    READING,
    CellReading,
    FeatureReading,
    GroupReading,
    ModelReading,
    Notation,
)
from fairenum.document.terms import DecimalSign
from fairenum.errors import CellInfinite, ColumnMissing, ColumnUnusable, ModelFileRefused
from fairenum.runtime.hints import did_you_mean, quoted
from fairenum.tables.columns import (
    CODED_KINDS,
    LIKELY_MARKS,
    NUMERIC_KINDS,
    SURE_MARKS,
    Column,
    FloatArray,
    IntArray,
    Texts,
    as_texts,
    by_value,
    coded,
    is_missing,
    number_in,
    plain_text,
    read_column,
    read_only,
    read_texts,
    reading_order,
    sample_of,
)
from fairenum.tables.delimited import MISSING_MARKS
from fairenum.tables.groups import MISSING, Groups, cut_into_bands
from fairenum.tables.naming import row_name, unlike

if TYPE_CHECKING:
    import pandas as pd

    from fairenum.tables.columns import Series
    from fairenum.tables.naming import Index

TENTHS = np.arange(1, 10) / 10.0


def feature_reading(column: Column, rows: IntArray) -> FeatureReading:
    """Return how a feature is read, with the distribution of its values in the training rows."""
    values = column.values[rows]
    known = values[~is_missing(values)]
    written = FeatureReading(column.name, "numeric", column.cells, column.ranks, missing=len(values) - len(known))
    if not column.is_numeric:
        counts = Counter(known.tolist())
        levels = tuple(sorted(counts))
        return written.but(kind="categorical", levels=levels, counts=tuple(counts[text] for text in levels))
    numbers = known.astype(np.float64)
    edges = np.unique(np.quantile(numbers, TENTHS)) if numbers.size else np.empty(0)
    return written.but(
        edges=tuple(edges.tolist()),
        least=float(numbers.min()) if numbers.size else None,
        most=float(numbers.max()) if numbers.size else None,
        counts=tuple(bin_counts(edges, numbers).tolist()),
    )


def bin_counts(edges: Sequence[float] | FloatArray, numbers: FloatArray) -> IntArray:
    """Count the numbers in each bin; a bin holds the numbers above one edge and up to the next."""
    return np.bincount(np.searchsorted(edges, numbers, side="left"), minlength=len(edges) + 1)


def group_readings(frame: pd.DataFrame, columns: Sequence[Groups], reading: Reading) -> tuple[GroupReading, ...]:
    """Return how the cells of each sensitive column of a frame became the groups of its rows."""
    return tuple(
        _group_reading(frame[groups.column], groups, reading.bands.get(groups.column, ())) for groups in columns
    )


def _group_reading(series: Series, groups: Groups, bands: Sequence[float]) -> GroupReading:
    if bands:
        column = read_column(series)
        names, codes = cut_into_bands(column.values.astype(np.float64), bands)
        cells, texts = column.cells, np.array([*names, np.nan], dtype=object)[codes]
    else:
        cells, texts = coded(series), read_texts(series)
    import pandas as pd

    pairs = pd.DataFrame({"text": texts, "group": groups.codes}).drop_duplicates().sort_values("group", kind="stable")
    known, unknown = pairs[pairs["text"].notna()], pairs[pairs["text"].isna()]
    return GroupReading(
        groups.column,
        cells,
        tuple(sorted({float(end) for end in bands})),
        {str(text): groups.names[code] for text, code in zip(known["text"], known["group"], strict=True)},
        groups.names[unknown["group"].iloc[0]] if len(unknown) else None,
    )


def reading_of(model: object, name: str) -> ModelReading | None:
    """Return how a loaded model reads tables; None if it does not say, and refuse a damaged statement.

    `name` is that of the model file.
    """
    text = vars(model).get(READING) if hasattr(model, "__dict__") else None
    if text is None:
        return None
    try:
        found = msgspec.json.decode(text, type=ModelReading)
    except (msgspec.MsgspecError, TypeError, ValueError) as error:
        raise _damaged(name, str(error)) from error
    if problem := next(_contradictions(found, model), None):
        raise _damaged(name, problem)
    return found


def _damaged(name: str, problem: str) -> ModelFileRefused:
    return ModelFileRefused(
        f"{name!r} says how it reads a table, and that is damaged ({problem[:200]}); export the model again with "
        "fairenum select RUN --data DATA --export PATH"
    )


def _contradictions(found: ModelReading, model: object) -> Iterator[str]:
    names = [feature.name for feature in found.features]
    used = {str(name) for _, _, names in _blocks(model) for name in names}
    if used != {*names} or len(names) != len(used):
        yield "its features are not those of the model"
    for one in found.features:
        width = len(one.levels) if one.kind == "categorical" else len(one.edges) + 1
        if len(one.counts) != width or min((*one.counts, one.missing)) < 0 or [*one.edges] != sorted(one.edges):
            yield f"the values of feature {one.name!r} contradict each other"
    columns = [one.column for one in found.sensitive]
    if len({*columns}) < len(columns):
        yield "a sensitive column is named twice"
    if not 0 <= found.selected <= found.rows or not 0.0 < found.confidence < 1.0:
        yield "its numbers of rows contradict each other"


def _blocks(model: object) -> list[tuple[str, object, list[str]]]:
    steps = getattr(model, "named_steps", {})
    found: list[tuple[str, object, list[str]]] = getattr(steps.get("preprocessing"), "transformers_", [])
    return [block for block in found if block[1] != "drop"]


def texts_in(cells: CellReading, series: Series, known: Container[str]) -> Texts:
    """Return the cells of a new series as the texts that the audit would have read.

    A mark such as "NA" is missing, unless it is among the texts that the audit had (`known`).
    """
    is_number = cells.is_coded and series.dtype.kind not in CODED_KINDS

    def read(text: str) -> object:
        if text in MISSING_MARKS and text not in known:
            return np.nan
        value = number(text) if is_number else np.nan
        return text if np.isnan(value) else plain_text(value)

    return by_value(as_texts(series), read, np.object_)


@dataclass(frozen=True, slots=True, eq=False)
class Unread:
    """Cells of a numeric column that hold no number in the notation of the audit."""

    column: str
    text: str
    rows: IntArray
    sample: str

    def words(self, index: Index) -> str:
        """Return a phrase for a message: the column, its first such cell, and what is expected."""
        more = f" ({self.rows.size} such rows in all)" if self.rows.size > 1 else ""
        return (
            f"column {self.column!r} holds {self.text!r} in {row_name(index, int(self.rows[0]))}{more}, and the audit "
            f"read numbers such as {self.sample}"
        )


def numbers_in(cells: CellReading, series: Series, decimal: DecimalSign | None) -> FloatArray | Unread:
    """Return the cells of a new series as the numbers that the audit would have read, or those that are none."""
    name = str(series.name)
    if series.dtype.kind in NUMERIC_KINDS:
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        texts = texts_in(cells, series, ())
        numbers = by_value(texts, lambda text: _number(text, cells.notation, decimal), np.float64)
        is_mark = by_value(texts, lambda text: text.casefold() in SURE_MARKS | LIKELY_MARKS, np.bool_)
        wrong = np.flatnonzero(np.isnan(numbers) & ~is_missing(texts) & ~is_mark)
        if wrong.size:
            return Unread(name, str(texts[wrong[0]]), wrong, sample_of(cells.notation))
    infinite = np.flatnonzero(np.abs(numbers) > LARGEST_CELL)
    if infinite.size:
        raise CellInfinite(
            f"column {name!r} holds {numbers[infinite[0]]:g} in {row_name(series.index, int(infinite[0]))}; correct "
            "the cell, or empty it to have it imputed"
        )
    return numbers


def _number(text: str, notation: Notation | None, decimal: DecimalSign | None) -> float:
    value = number_in(notation, text)
    if np.isnan(value) and notation is None and decimal == "comma":  # the audit's own cells had no decimals
        return number_in(Notation("comma", "."), text)
    return value


@dataclass(frozen=True, slots=True, eq=False)
class NewRows:
    """The rows of a new table, read as an exported model reads them.

    Attributes
    ----------
    features
        The model's features, in the order of its reading; each text that is to be ranked is replaced by its rank.
    unranked
        By feature, the texts of cells that have no rank.
    groups
        The groups of each sensitive column that the table has, in the order of the audit, groups new to it last.
    strange
        By sensitive column, the groups that are new.
    """

    features: tuple[Column, ...]
    unranked: dict[str, list[str]] = field(default_factory=dict)
    groups: tuple[Groups, ...] = ()
    strange: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def frame(self) -> pd.DataFrame:
        """Return the features as a frame, which the model's pipeline takes."""
        import pandas as pd

        return pd.DataFrame({one.name: pd.Series(one.values.copy(), dtype=one.values.dtype) for one in self.features})


def read_new_rows(frame: pd.DataFrame, reading: ModelReading) -> NewRows:
    """Read a new table as an exported model reads it; refuse missing columns and cells that hold no number."""
    _refuse_missing(frame, [feature.name for feature in reading.features])
    unread: list[Unread] = []
    columns: list[Column] = []
    unranked: dict[str, list[str]] = {}
    for feature in reading.features:
        found = _feature(frame[feature.name], feature, reading.decimal)
        if isinstance(found, Unread):
            unread.append(found)
            continue
        column, unknown = found
        columns.append(column)
        if unknown:
            unranked[feature.name] = unknown
    sensitive = [one for one in reading.sensitive if one.column in frame.columns]
    read = [_new_groups(frame[one.column], one, reading.decimal) for one in sensitive]
    unread += [one for one in read if isinstance(one, Unread)]
    if unread:
        problems = "; ".join(one.words(frame.index) for one in {one.column: one for one in unread}.values())
        raise ColumnUnusable(f"{problems}; write them like that, or empty such cells to have them imputed")
    groups = [one for one in read if not isinstance(one, Unread)]
    strange = {one.column: new for one, new in groups if new}
    return NewRows(tuple(columns), unranked, tuple(one for one, _ in groups), strange)


def _refuse_missing(frame: pd.DataFrame, names: Sequence[str]) -> None:
    lacking = [name for name in names if name not in frame.columns]
    if lacking:
        some = "columns" if len(lacking) > 1 else "column"
        hint = did_you_mean(lacking[0], frame.columns) or f"; its columns are {quoted(frame.columns)}"
        raise ColumnMissing(f"the table lacks the {some} {quoted(lacking)}, which the model reads{hint}")


def _feature(series: Series, feature: FeatureReading, decimal: DecimalSign | None) -> tuple[Column, list[str]] | Unread:
    if feature.kind == "categorical":
        return Column(feature.name, read_only(texts_in(feature.cells, series, {*feature.levels}))), []
    if not feature.ranks:
        numbers = numbers_in(feature.cells, series, decimal)
        return numbers if isinstance(numbers, Unread) else (Column(feature.name, read_only(numbers)), [])
    texts = texts_in(feature.cells, series, {*feature.ranks})
    places = {text: float(place) for place, text in enumerate(feature.ranks)}
    ranked = by_value(texts, lambda text: places.get(text, np.nan), np.float64)
    unknown = texts[np.isnan(ranked) & ~is_missing(texts)]
    return Column(feature.name, read_only(ranked)), [str(text) for text in unknown]


def _new_groups(
    series: Series, reading: GroupReading, decimal: DecimalSign | None
) -> tuple[Groups, tuple[str, ...]] | Unread:
    """Return the group of each row, and the names of groups that the audit did not have."""
    if reading.bands:
        numbers = numbers_in(reading.cells, series, decimal)
        if isinstance(numbers, Unread):
            return numbers
        bands, codes = cut_into_bands(numbers, reading.bands)
        texts = np.array([*bands, np.nan], dtype=object)[codes]
    else:
        texts = texts_in(reading.cells, series, reading.groups)
    known = list(dict.fromkeys(reading.groups.values()))
    missing: NDArray[np.bool_] = is_missing(texts)
    new = sorted({str(text) for text in texts[~missing]} - {*reading.groups, *known}, key=reading_order)
    gone = reading.missing or unlike(MISSING, (*known, *new))
    names = list(dict.fromkeys([*known, *new, gone]))
    places = {name: place for place, name in enumerate(names)}
    group_of = {name: name for name in names} | reading.groups  # a value, or else the name of a group
    codes = np.nan_to_num(by_value(texts, lambda text: places[group_of[text]], np.float64), nan=places[gone])
    unknown = () if gone in known else (places[gone],)
    groups = Groups(codes.astype(np.intp), tuple(names), reading.column, unknown)
    return groups.narrowed(groups.sizes > 0), tuple(new)
