"""Loading decisions: a bundled name, a file, a frame or arrays by name become a table of decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fairenum.dataset.card import Card, list_datasets
from fairenum.dataset.counted import read_counted
from fairenum.dataset.decided import DecidedTable, Roles, read_decided
from fairenum.dataset.files import read_file
from fairenum.dataset.loading import read_bundled
from fairenum.dataset.naming import table_name
from fairenum.document.reading import Reading
from fairenum.errors import DataError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike


def load_decided(
    source: str | Path | pd.DataFrame | Mapping[str, ArrayLike], roles: Roles, reading: Reading, *, counts: bool = False
) -> DecidedTable:
    """Load decisions.

    Parameters
    ----------
    source
        A bundled name, the path of a file, a pandas frame, or arrays of one length by the names of columns.
    roles
        Which columns hold what. The card of a bundled table names sensitive columns and a label, too.
    reading
        How groups are made of sensitive columns.
    counts
        Whether the table counts rows by group.
    """
    if not isinstance(source, str | Path):
        return _from_frame(_framed(source), "table", roles, reading, counts=counts)
    cards = {card.name: card for card in list_datasets()}
    if str(source) in cards:
        return _from_card(cards[str(source)], roles, reading)
    table, name = read_file(source, reading), table_name(source)
    found = _from_frame(table.frame, name, roles, reading, counts=counts)
    return replace(found, remarks=table.remarks)


def _from_frame(frame: pd.DataFrame, name: str, roles: Roles, reading: Reading, *, counts: bool) -> DecidedTable:
    read = read_counted if counts else read_decided
    return read(frame, roles, reading, name=name)


def _framed(source: pd.DataFrame | Mapping[str, ArrayLike]) -> pd.DataFrame:
    import pandas as pd

    if isinstance(source, pd.DataFrame):
        return source
    _refuse_other_rows(source)
    try:
        return pd.DataFrame(dict(source))
    except (TypeError, ValueError) as error:
        raise DataError(f"decisions must be a file, a frame, or arrays of one length by name: {error}") from error


def _refuse_other_rows(source: Mapping[str, ArrayLike]) -> None:
    """Refuse Series whose rows bear different names: pandas would join them by name, and not one after another."""
    import pandas as pd

    series = {name: found for name, found in source.items() if isinstance(found, pd.Series)}
    first = next(iter(series), "")
    for name, found in series.items():
        if not found.index.equals(series[first].index):
            raise DataError(
                f"the Series {first!r} and {name!r} have different indexes, so it is not clear which of their rows "
                "belong together; give arrays in one order (series.to_numpy()), or a frame"
            )


def _from_card(card: Card, roles: Roles, reading: Reading) -> DecidedTable:
    """Read a bundled table; what is given wins over its card."""
    taken = (*roles.decisions, roles.score)
    sensitive = roles.sensitive or tuple(column for column in card.sensitive if column not in (*taken, roles.label))
    label = roles.label or (card.label if card.label not in (*taken, *sensitive) else None)
    favourable = card.favourable if roles.favourable is None and label == card.label else roles.favourable
    bands = {column: ends for column, ends in card.bands.items() if column in sensitive}
    return read_decided(
        read_bundled(card),
        replace(roles, sensitive=sensitive, label=label, favourable=favourable),
        replace(reading, bands={**bands, **reading.bands}),
        name=card.name,
        meanings=card.values,
    )
