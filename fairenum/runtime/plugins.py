"""Registries of plugins, which are found by the entry points of installed distributions.

A plugin that cannot be loaded raises an error with the reason; if two distributions provide the same name, an error
names both. `is_in_plugin` tells whether a plugin's code is running.
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
    """Tell whether the caller runs inside a plugin's code."""
    return _IS_IN_PLUGIN.get()


def enter_plugin() -> Token[bool]:
    """Mark the start of a plugin's code, and return the token for `leave_plugin`.

    A context manager would take longer than many calls of plugins.
    """
    return _IS_IN_PLUGIN.set(True)


def leave_plugin(token: Token[bool]) -> None:
    """Mark the end of a plugin's code, given the token from `enter_plugin`."""
    _IS_IN_PLUGIN.reset(token)


Plugin = TypeVar("Plugin")


@dataclass(frozen=True, slots=True)
class Registry(Generic[Plugin]):
    """The plugins of one entry-point group; ``noun`` is the word for such a plugin in messages.

    ``build`` makes a plugin from the object that an entry point loads; ``defect`` says how a plugin of a given name
    violates its protocol, and returns "" if it does not. Errors are raised as ``not_found`` for an unknown name,
    ``conflict`` for a name that two distributions provide, and ``broken`` for a plugin that cannot be loaded or has a
    defect.
    """

    group: str
    noun: str
    build: Callable[[object], Plugin]
    defect: Callable[[object, str], str]
    not_found: type[FairenumError]
    conflict: type[FairenumError]
    broken: type[FairenumError]

    def entries(self, entry_points: Iterable[EntryPoint] | None = None) -> list[EntryPoint]:
        """Return the installed entry points of the group, or the given ones, sorted by name."""
        found = _installed(self.group) if entry_points is None else entry_points
        return sorted(found, key=lambda entry: entry.name)

    def load(self, name: str, entry_points: Iterable[EntryPoint] | None = None) -> Plugin:
        """Return the plugin of the given name; refuse an unknown name."""
        entries = self.entries(entry_points)
        named = [entry for entry in entries if entry.name == name]
        if not named:
            raise self.not_found(self._not_found(name, [entry.name for entry in entries]))
        return self.build_checked(named[0], entries)

    def build_checked(self, entry: EntryPoint, entries: Iterable[EntryPoint]) -> Plugin:
        """Return the plugin of an entry point; refuse a name that is not unique, and a plugin with a defect."""
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
    """Return name and version of the distribution that provides an entry point; "unknown" and "" if none does."""
    return (entry.dist.name, entry.dist.version) if entry.dist else ("unknown", "")
