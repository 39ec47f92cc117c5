"""Loading of bundled datasets and of table files as datasets to audit."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from fairenum.document.keywords import ReadingOptions
from fairenum.document.reading import NONE, Reading
from fairenum.errors import DatasetChanged
from fairenum.tables.naming import Names, listed, table_name
from fairenum.tables.table import Dataset
from fairenum.tables.table_files import Card, list_datasets, read_file, read_table

if TYPE_CHECKING:
    import pandas as pd


def load_dataset(
    source: str | Path,
    label: str | None = None,
    favourable: object = None,
    sensitive: Names | None = None,
    *,
    reading: Reading | None = None,
    incumbent_object: object = None,
    **options: Unpack[ReadingOptions],
) -> Dataset:
    """Load a table to audit from a bundled dataset or from a file.

    Parameters
    ----------
    source
        The name of a bundled dataset, or the path of a CSV, TSV, ARFF, Parquet or Excel file; ``compas`` is a name,
        ``./compas`` a path.
    label, favourable, sensitive
        As in `Dataset.from_frame`. For a file, label and favourable are required; a bundled dataset has a card with
        defaults for all three.
    reading
        Further options of reading the table. The card of a bundled dataset may also name columns to leave out, bands
        of numeric columns, and the decisions of a model in use.
    incumbent_object
        The model in use, given as an object, as in `Dataset.from_frame`.
    **options
        Options of `Reading` (``drop=["id"], bands={"age": [25]}``), which override those in ``reading``.
    """
    reading = (reading or Reading()).but(**options)
    cards = {card.name: card for card in list_datasets()}
    if str(source) not in cards:
        table, name = read_file(source, reading), table_name(source)
        dataset = Dataset.from_frame(
            table.frame,
            label,
            favourable,
            sensitive or (),
            name=name,
            reading=reading,
            incumbent_object=incumbent_object,
        )
        return replace(dataset, remarks=(*table.remarks, *dataset.remarks))
    return _from_card(cards[str(source)], label, favourable, sensitive, reading, incumbent_object)


def _from_card(
    card: Card,
    label: str | None,
    favourable: object,
    sensitive: Names | None,
    reading: Reading,
    incumbent_object: object,
) -> Dataset:
    """Return a bundled dataset; options that are not given are taken from its card."""
    drop = reading.drop
    label = label or card.label
    if favourable is None and label == card.label:
        favourable = card.favourable
    if sensitive is None:
        sensitive = [column for column in card.sensitive if column not in (label, *drop)]
    sensitive = listed(sensitive)
    card_drop = [column for column in card.drop if column not in (label, *sensitive, *drop)]
    taken, models = (label, *sensitive, *drop), (reading.incumbent, reading.incumbent_score, reading.incumbent_model)
    # the card's model in use, unless another one is named, or its column has another role
    is_own = incumbent_object is None and not any(models) and card.incumbent not in taken
    if card.incumbent and not is_own and card.incumbent not in (*taken, *models) and reading.incumbent != NONE:
        card_drop.append(card.incumbent)  # its decisions are never a feature, even if another model is the one in use
    card_bands = {column: ends for column, ends in card.bands.items() if column in sensitive}
    return Dataset.from_frame(
        read_bundled(card),
        label,
        favourable,
        sensitive,
        withhold=card.sensitive + card.also_sensitive,
        meanings=card.values,
        name=card.name,
        reading=replace(
            reading,
            drop=(*drop, *card_drop),
            bands={**card_bands, **reading.bands},
            incumbent=card.incumbent if is_own else reading.incumbent,
        ),
        incumbent_object=incumbent_object,
    )


def read_bundled(card: Card) -> pd.DataFrame:
    """Read the file of a bundled dataset; refuse it if its hash or its size differs from its card."""
    found = sha256(card.path.read_bytes()).hexdigest()
    if found != card.sha256:
        raise DatasetChanged(
            f"the bundled file {card.file!r} has sha256 {found[:12]}..., its card {card.sha256[:12]}...; "
            "install fairenum again"
        )
    frame = read_table(card.path)
    if frame.shape != (card.rows, card.columns):
        raise DatasetChanged(
            f"the bundled file {card.file!r} has {frame.shape[0]} rows and {frame.shape[1]} columns, "
            f"its card says {card.rows} and {card.columns}; install fairenum again"
        )
    return frame
