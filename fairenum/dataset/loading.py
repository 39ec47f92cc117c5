"""Loading: a bundled name or a file becomes a dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from fairenum.dataset.card import Card, list_datasets
from fairenum.dataset.files import read_table
from fairenum.dataset.naming import Names, listed
from fairenum.dataset.table import Categorical, Dataset
from fairenum.errors import DatasetChanged

if TYPE_CHECKING:
    import pandas as pd


def load_dataset(
    source: str | Path,
    label: str | None = None,
    favourable: object = None,
    sensitive: Names | None = None,
    *,
    drop: Names = (),
    bands: Mapping[str, Sequence[float]] | None = None,
    use_sensitive: bool = False,
    categorical: Categorical = "onehot",
    delimiter: str | None = None,
) -> Dataset:
    """Load a bundled dataset by name, or a file.

    Parameters
    ----------
    source
        A bundled name, or the path of a CSV, TSV, ARFF or Parquet file; ``./compas`` is a path.
    label, favourable, sensitive
        As in `Dataset.from_frame`. A bundled dataset has them on its card, and what is given here wins; a
        file needs the first two.
    drop
        Columns to leave out, besides those that the card leaves out.
    bands, use_sensitive, categorical
        As in `Dataset.from_frame`.
    delimiter
        What stands between the cells of a CSV file.
    """
    build = partial(Dataset.from_frame, use_sensitive=use_sensitive, categorical=categorical)
    drop = listed(drop)
    cards = {card.name: card for card in list_datasets()}
    if str(source) not in cards:
        frame, name = read_table(source, delimiter), Path(source).name.partition(".")[0]
        return build(frame, label, favourable, sensitive or (), drop=drop, bands=bands, name=name)
    card = cards[str(source)]
    label = label or card.label
    if favourable is None and label == card.label:
        favourable = card.favourable
    if sensitive is None:
        sensitive = [column for column in card.sensitive if column not in (label, *drop)]
    sensitive = listed(sensitive)
    card_drop = [column for column in card.drop if column not in (label, *sensitive, *drop)]
    card_bands = {column: ends for column, ends in card.bands.items() if column in sensitive}
    return build(
        read_bundled(card),
        label,
        favourable,
        sensitive,
        drop=[*drop, *card_drop],
        withhold=card.sensitive + card.also_sensitive,
        bands={**card_bands, **(bands or {})},
        meanings=card.values,
        name=card.name,
    )


def read_bundled(card: Card) -> pd.DataFrame:
    """Read a bundled file, and refuse it if it is not the one that its card describes."""
    found = sha256(card.path.read_bytes()).hexdigest()
    if found != card.sha256:
        raise DatasetChanged(
            f"the bundled file {card.file!r} has sha256 {found[:12]}..., its card {card.sha256[:12]}...; "
            "install fairenum anew"
        )
    frame = read_table(card.path)
    if frame.shape != (card.rows, card.columns):
        raise DatasetChanged(
            f"the bundled file {card.file!r} has {frame.shape[0]} rows and {frame.shape[1]} columns, "
            f"its card says {card.rows} and {card.columns}; install fairenum anew"
        )
    return frame
