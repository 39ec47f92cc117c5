"""Where solvers are found: the entry-point group ``fairenum.solvers``, for bundled and foreign plugins alike.

Listing imports the modules of plugins, never what they require. A plugin that cannot be loaded is a row with
its error; two distributions that provide one name are an error that names both.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Protocol

from fairenum.errors import SolverBroken, SolverConflict, SolverError, SolverNotFound, SolverUnavailable

if TYPE_CHECKING:
    from fairenum.problem import SvmProblem
    from fairenum.solvers.certified import CertifiedWorkspace
    from fairenum.solvers.protocol import SolverPlugin, Tolerance

GROUP = "fairenum.solvers"


class Provider(Protocol):
    """What is read of a distribution."""

    @property
    def name(self) -> str:
        """The name to install it by."""

    @property
    def version(self) -> str:
        """Its version."""


class SolverEntry(Protocol):
    """What is read of an entry point."""

    @property
    def name(self) -> str:
        """The name of the solver."""

    @property
    def dist(self) -> Provider | None:
        """The distribution that provides it."""

    def load(self) -> Any:
        """Import the plugin's class."""


@dataclass(frozen=True, slots=True)
class SolverInfo:
    """One solver as it is installed here.

    Attributes
    ----------
    name
        What to ask for.
    provider, version
        The distribution that brings the plugin.
    backends
        The distributions that the plugin requires, and their versions.
    missing
        What the plugin requires and is not installed.
    install
        The command that installs it.
    error
        Why the plugin cannot be used at all.
    """

    name: str
    provider: str
    version: str
    backends: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()
    install: str = ""
    error: str = ""

    @property
    def is_available(self) -> bool:
        """Whether the solver can be opened."""
        return not self.reason

    @property
    def reason(self) -> str:
        """Why the solver cannot be opened, and what to do about it."""
        if self.missing:
            return _needs(self.name, self.missing, self.install)
        return self.error


def list_solvers(entry_points: Iterable[SolverEntry] | None = None) -> tuple[SolverInfo, ...]:
    """Return every solver that is installed, usable or not, by name."""
    entries = _entries(entry_points)
    owners = importlib.metadata.packages_distributions()
    return tuple(_info(entry, entries, owners) for entry in entries)


def load_solver(name: str, entry_points: Iterable[SolverEntry] | None = None) -> SolverPlugin:
    """Return the plugin of that name, with its default options, ready to be opened."""
    entries = _entries(entry_points)
    named = [entry for entry in entries if entry.name == name]
    if not named:
        raise SolverNotFound(_not_found(name, [entry.name for entry in entries]))
    _check_alone(named[0], entries)
    plugin = _built(named[0])
    _check_requirements(plugin)
    return plugin


def open_workspace(
    solver: str | SolverPlugin, problem: SvmProblem, tolerance: Tolerance | None = None
) -> CertifiedWorkspace:
    """Open a problem in a solver, given by name or as a plugin with options; its answers will be certified."""
    from fairenum.solvers.certified import CertifiedWorkspace

    plugin = load_solver(solver) if isinstance(solver, str) else solver
    _check_requirements(plugin)
    return CertifiedWorkspace(plugin, problem, tolerance)


def _entries(entry_points: Iterable[SolverEntry] | None) -> list[SolverEntry]:
    if entry_points is None:
        entry_points = importlib.metadata.entry_points(group=GROUP)
    return sorted(entry_points, key=lambda entry: entry.name)


def _provider(entry: SolverEntry) -> tuple[str, str]:
    return (entry.dist.name, entry.dist.version) if entry.dist else ("unknown", "")


def _info(entry: SolverEntry, entries: list[SolverEntry], owners: Mapping[str, list[str]]) -> SolverInfo:
    provider, version = _provider(entry)
    try:
        _check_alone(entry, entries)
        plugin = _built(entry)
    except SolverError as error:
        return SolverInfo(entry.name, provider, version, error=str(error))
    names = [owners[module][0] for module in plugin.requires if module in owners]
    backends = tuple((name, importlib.metadata.version(name)) for name in names)
    return SolverInfo(entry.name, provider, version, backends, _missing(plugin), plugin.install)


def _check_alone(entry: SolverEntry, entries: list[SolverEntry]) -> None:
    namesakes = [other for other in entries if other.name == entry.name]
    if len(namesakes) > 1:
        providers = sorted(_provider(other)[0] for other in namesakes)
        raise SolverConflict(
            f"solver {entry.name!r} is provided by {' and by '.join(providers)}; uninstall all but one"
        )


def _built(entry: SolverEntry) -> SolverPlugin:
    """Import a plugin's class, build it with its defaults, and check that it is a plugin at all."""
    title = f"solver {entry.name!r} of {_provider(entry)[0]}"
    try:
        plugin = entry.load()()
    except (Exception, SystemExit) as error:  # whatever a foreign module does when it is imported
        raise SolverBroken(f"{title} cannot be loaded: {type(error).__name__}: {error}") from error
    if defect := _defect(plugin, entry.name):
        raise SolverBroken(f"{title} is no solver plugin: {defect}")
    built: SolverPlugin = plugin
    return built


def _defect(plugin: object, name: str) -> str:
    """Return what a plugin lacks of the protocol, or nothing."""
    if not callable(getattr(plugin, "open", None)):
        return "it has no method open(problem, tolerance)"
    if getattr(plugin, "name", None) != name:
        return f"its entry point is called {name!r}, its attribute name is {getattr(plugin, 'name', None)!r}"
    requires = getattr(plugin, "requires", None)
    if not isinstance(requires, tuple) or not all(isinstance(module, str) for module in requires):
        return f"its attribute requires must be a tuple of importable names, not {requires!r}"
    if not isinstance(getattr(plugin, "install", None), str):
        return "it has no attribute install, the command that installs what it requires"
    return ""


def _missing(plugin: SolverPlugin) -> tuple[str, ...]:
    """Return what is required and not installed; finding the top package imports nothing."""
    return tuple(module for module in plugin.requires if importlib.util.find_spec(module.partition(".")[0]) is None)


def _check_requirements(plugin: SolverPlugin) -> None:
    if missing := _missing(plugin):
        raise SolverUnavailable(_needs(plugin.name, missing, plugin.install))


def _needs(name: str, missing: tuple[str, ...], install: str) -> str:
    return f"solver {name!r} needs {' and '.join(missing)}; install it with: {install}"


def _not_found(name: str, names: list[str]) -> str:
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"no solver is called {name!r}{hint} Installed are: {', '.join(dict.fromkeys(names)) or 'none'}"
