"""A registry of plugins of any kind, found by entry-point group, bundled or third-party.

A plugin that cannot be loaded raises an error with its reason; two distributions that provide one name raise an error
that names both. `is_in_plugin` tells whether a plugin's code is running.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable
from contextvars import ContextVar, Token
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint
from typing import Generic, TypeVar

from fairenum.errors import FairenumError
from fairenum.runtime.hints import did_you_mean

_IS_IN_PLUGIN: ContextVar[bool] = ContextVar("is_in_plugin", default=False)


def is_in_plugin() -> bool:
    """Tell whether a plugin's code is running here, also in an abandoned thread."""
    return _IS_IN_PLUGIN.get()


def enter_plugin() -> Token[bool]:
    """Mark the start of a plugin's code; a context manager would take longer than many calls."""
    return _IS_IN_PLUGIN.set(True)


def leave_plugin(token: Token[bool]) -> None:
    """Mark the end of a plugin's code."""
    _IS_IN_PLUGIN.reset(token)


Plugin = TypeVar("Plugin")


@dataclass(frozen=True, slots=True)
class Registry(Generic[Plugin]):
    """The plugins of one entry-point group, which messages call by a ``noun``.

    ``build`` makes a plugin from the object that an entry point loads; ``defect`` returns how a plugin of a given name
    violates its protocol, or "". ``not_found``, ``conflict`` and ``broken`` are the errors to raise.
    """

    group: str
    noun: str
    build: Callable[[object], Plugin]
    defect: Callable[[object, str], str]
    not_found: type[FairenumError]
    conflict: type[FairenumError]
    broken: type[FairenumError]

    def entries(self, entry_points: Iterable[EntryPoint] | None = None) -> list[EntryPoint]:
        """Return the entry points of the group, or those given instead, sorted by name."""
        found = _installed(self.group) if entry_points is None else entry_points
        return sorted(found, key=lambda entry: entry.name)

    def load(self, name: str, entry_points: Iterable[EntryPoint] | None = None) -> Plugin:
        """Return the plugin of that name."""
        entries = self.entries(entry_points)
        named = [entry for entry in entries if entry.name == name]
        if not named:
            raise self.not_found(self._not_found(name, [entry.name for entry in entries]))
        return self.build_checked(named[0], entries)

    def build_checked(self, entry: EntryPoint, entries: Iterable[EntryPoint]) -> Plugin:
        """Import and build a plugin; check that its name is unique and that it follows its protocol."""
        self._check_unique(entry, entries)
        token = enter_plugin()
        try:
            plugin = self.build(entry.load())
        except (Exception, SystemExit) as error:  # whatever a third-party module raises when it is imported
            raise self.broken(f"{self._title(entry)} cannot be loaded: {type(error).__name__}: {error}") from error
        finally:
            leave_plugin(token)
        if defect := self.defect(plugin, entry.name):
            raise self.broken(f"{self._title(entry)} is no {self.noun} plugin: {defect}")
        return plugin

    def _title(self, entry: EntryPoint) -> str:
        return f"{self.noun} {entry.name!r} of {provider(entry)[0]}"

    def _check_unique(self, entry: EntryPoint, entries: Iterable[EntryPoint]) -> None:
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
def _installed(group: str) -> tuple[EntryPoint, ...]:
    return tuple(importlib.metadata.entry_points(group=group))


def provider(entry: EntryPoint) -> tuple[str, str]:
    """Return name and version of the distribution that provides an entry point."""
    return (entry.dist.name, entry.dist.version) if entry.dist else ("unknown", "")
