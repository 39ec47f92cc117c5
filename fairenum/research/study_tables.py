"""Tables of the scoreboard: bundled ones, and public ones that are collected as CSV files with a manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairenum.errors import ConfigError, DataError
from fairenum.runtime.hints import quoted
from fairenum.runtime.random_streams import stream
from fairenum.tables import load_dataset, read_card
from fairenum.tables.loading import read_bundled

if TYPE_CHECKING:
    import pandas as pd

BUNDLED = ("german", "compas", "adult")
MOST_ROWS = 10_000
SEED = 20  # draws the rows of a table that has more
NAMES = ("name", "source", "label", "favourable", "sensitive")


@dataclass(frozen=True, slots=True, eq=False)
class StudyTable:
    """A table with one sensitive column: the label, its favourable value, and all other columns as features."""

    name: str
    source: str
    licence: str
    frame: pd.DataFrame = field(repr=False)
    label: str
    favourable: str
    sensitive: str


def study_tables(wanted: Sequence[str], manifest: Path | None) -> list[StudyTable]:
    """Return the tables of the given names, by default all: bundled ones, then those of the manifest."""
    entries = {} if manifest is None else {entry["name"]: entry for entry in _manifest(manifest)}
    known = [*BUNDLED, *(name for name in entries if name not in BUNDLED)]
    if unknown := [name for name in wanted if name not in known]:
        raise ConfigError(f"there is no table {unknown[0]!r}; name some of {quoted(known)}, or give a manifest")
    folder = Path() if manifest is None else manifest.parent
    return [bundled(name) if name in BUNDLED else collected(entries[name], folder) for name in wanted or known]


def _manifest(path: Path) -> list[dict[str, Any]]:
    try:
        entries = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{str(path)!r} is no manifest of tables: {error}; make one with collecting.py") from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise DataError(f"{str(path)!r} is no manifest of tables: it is no list of entries")
    for entry in entries:
        if missing := [name for name in NAMES if not entry.get(name)]:
            raise DataError(f"an entry of {str(path)!r} lacks {quoted(missing)}; make it with collecting.py")
    return entries


def bundled(name: str) -> StudyTable:
    """Return a bundled table without its model in use and without its other protected columns."""
    dataset, card = load_dataset(name, incumbent="none"), read_card(name)
    label, sensitive = str(card.label), card.sensitive[0]
    others = {*card.sensitive[1:], *card.also_sensitive, *card.drop, card.incumbent}
    frame = read_bundled(card).drop(columns=[column for column in others if column])
    frame[sensitive] = dataset.sensitive[0].values
    source = f"bundled, from {card.source[0].package}"
    return StudyTable(name, source, card.licence, _capped(frame), label, str(card.favourable), sensitive)


def collected(entry: Mapping[str, Any], folder: Path) -> StudyTable:
    """Return a collected table with the first of its sensitive columns, and without decisions of a model in use."""
    import pandas as pd

    sensitive, *others = entry["sensitive"]
    decided = entry.get("options", {}).get("incumbent")
    try:
        frame = pd.read_csv(folder / f"{entry['name']}.csv")
    except OSError as error:
        raise DataError(f"table {entry['name']!r} of the manifest is not beside it: {error}") from error
    frame = frame.drop(columns=[*others, *([decided] if decided else [])])
    frame = frame.dropna(subset=[entry["label"], sensitive])
    licence = entry.get("licence") or "not stated"
    return StudyTable(
        entry["name"], entry["source"], licence, _capped(frame), entry["label"], str(entry["favourable"]), sensitive
    )


def _capped(frame: pd.DataFrame) -> pd.DataFrame:
    """Return at most `MOST_ROWS` rows, drawn at random, in their order."""
    if len(frame) > MOST_ROWS:
        frame = frame.iloc[np.sort(stream(SEED, "scoreboard", "rows").permutation(len(frame))[:MOST_ROWS])]
    return frame.reset_index(drop=True)
