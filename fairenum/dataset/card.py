"""Cards: what is known about each bundled dataset, read from the TOML file beside it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from fairenum.errors import DatasetNotFound
from fairenum.phrases import did_you_mean, quoted


@dataclass(frozen=True, slots=True)
class Source:
    """A public package, and the file inside it, that a dataset was made from."""

    package: str
    version: str
    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Card:
    """One bundled dataset: where it came from, what is in it, and what to beware of."""

    name: str
    title: str
    file: str
    sha256: str
    rows: int
    columns: int
    licence: str
    licence_note: str
    citation: str
    label: str
    favourable: str
    derived: str
    source: tuple[Source, ...]
    types: Mapping[str, list[str]]
    traits: tuple[str, ...]
    pitfalls: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    also_sensitive: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    incumbent: str | None = None
    bands: Mapping[str, list[float]] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """The data file."""
        return folder() / self.file


def folder() -> Path:
    """Find the bundled files: inside the installed package, or in the repository of an editable install."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "bundled"
    return installed if installed.is_dir() else package.parent / "datasets"


def list_datasets() -> tuple[Card, ...]:
    """Read the cards of all bundled datasets, by name."""
    return tuple(_read(path) for path in sorted(folder().glob("*.toml")))


def read_card(name: str) -> Card:
    """Read the card of one bundled dataset."""
    cards = {card.name: card for card in list_datasets()}
    if name not in cards:
        hint = did_you_mean(name, cards) or f"; there are {quoted(cards)}"
        raise DatasetNotFound(f"no bundled dataset is called {name!r}{hint}")
    return cards[name]


def _read(path: Path) -> Card:
    return msgspec.convert({"name": path.stem, **tomllib.loads(path.read_text(encoding="utf-8"))}, Card)
