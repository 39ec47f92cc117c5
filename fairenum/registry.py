"""Plugins of any kind: found in an entry-point group, bundled and foreign ones alike.

A plugin that cannot be loaded is an error with its reason; two distributions that provide one name are an error that
names both.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Generic, Protocol, TypeVar

from fairenum.errors import FairenumError
from fairenum.foreign import entered, left
from fairenum.phrases import did_you_mean

Plugin = TypeVar("Plugin")


class Provider(Protocol):
    """What is read of a distribution."""

    @property
    def name(self) -> str:
        """The name to install it by."""

    @property
    def version(self) -> str:
        """Its version."""


class Entry(Protocol):
    """What is read of an entry point."""

    @property
    def name(self) -> str:
        """The name of the plugin."""

    @property
    def dist(self) -> Provider | None:
        """The distribution that provides it."""

    def load(self) -> object:
        """Import what it points to."""


@dataclass(frozen=True, slots=True)
class Registry(Generic[Plugin]):
    """The plugins of one entry-point group.

    Parameters
    ----------
    group
        The entry-point group.
    noun
        What a plugin of it is called in messages.
    build
        Makes a plugin of what an entry point has loaded.
    defect
        Says what a plugin of a name lacks, or nothing.
    not_found, conflict, broken
        What is raised.
    """

    group: str
    noun: str
    build: Callable[[object], Plugin]
    defect: Callable[[object, str], str]
    not_found: type[FairenumError]
    conflict: type[FairenumError]
    broken: type[FairenumError]

    def entries(self, entry_points: Iterable[Entry] | None = None) -> list[Entry]:
        """Return the entry points of the group, or those given instead, by name."""
        found = _installed(self.group) if entry_points is None else entry_points
        return sorted(found, key=lambda entry: entry.name)

    def load(self, name: str, entry_points: Iterable[Entry] | None = None) -> Plugin:
        """Return the plugin of that name."""
        entries = self.entries(entry_points)
        named = [entry for entry in entries if entry.name == name]
        if not named:
            raise self.not_found(self._not_found(name, [entry.name for entry in entries]))
        return self.built(named[0], entries)

    def built(self, entry: Entry, entries: Iterable[Entry]) -> Plugin:
        """Import and build a plugin, and check that it is the only one of its name, and a plugin at all."""
        self._check_alone(entry, entries)
        token = entered()
        try:
            plugin = self.build(entry.load())
        except (Exception, SystemExit) as error:  # whatever a foreign module does when it is imported
            raise self.broken(f"{self._title(entry)} cannot be loaded: {type(error).__name__}: {error}") from error
        finally:
            left(token)
        if defect := self.defect(plugin, entry.name):
            raise self.broken(f"{self._title(entry)} is no {self.noun} plugin: {defect}")
        return plugin

    def _title(self, entry: Entry) -> str:
        return f"{self.noun} {entry.name!r} of {provider(entry)[0]}"

    def _check_alone(self, entry: Entry, entries: Iterable[Entry]) -> None:
        namesakes = [other for other in entries if other.name == entry.name]
        if len(namesakes) > 1:
            providers = sorted(provider(other)[0] for other in namesakes)
            raise self.conflict(
                f"{self.noun} {entry.name!r} is provided by {' and by '.join(providers)}; uninstall all but one"
            )

    def _not_found(self, name: str, names: list[str]) -> str:
        hint = did_you_mean(name, names, cutoff=0.5) or "."
        return f"no {self.noun} is called {name!r}{hint} Installed are: {', '.join(dict.fromkeys(names)) or 'none'}"


@cache  # looking through all distributions takes longer than a small problem does
def _installed(group: str) -> tuple[Entry, ...]:
    return tuple(importlib.metadata.entry_points(group=group))


def provider(entry: Entry) -> tuple[str, str]:
    """Return name and version of the distribution that provides an entry point."""
    return (entry.dist.name, entry.dist.version) if entry.dist else ("unknown", "")
