"""Registry of solvers: the entry-point group ``fairenum.solvers``, for bundled and third-party plugins alike.

Listing solvers imports the modules of plugins, never the modules that these require. A plugin that cannot be loaded is
listed with its error.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, cast

from fairenum.document.header import SolverVersion
from fairenum.errors import SolverBroken, SolverConflict, SolverError, SolverNotFound, SolverUnavailable
from fairenum.runtime.plugins import Registry, provider

if TYPE_CHECKING:
    from fairenum.solvers.certified import CertifiedWorkspace
    from fairenum.solvers.isolation import SolverRun
    from fairenum.solvers.protocol import SolverPlugin, Tolerance
    from fairenum.svm.problem import SvmProblem


@dataclass(frozen=True, slots=True)
class SolverInfo:
    """An installed solver: which distribution it comes from, and whether it can be used.

    ``provider`` and ``version`` are name and version of the distribution that contains the plugin, ``backends`` those
    of the distributions that the plugin requires. ``missing`` are required modules that are not installed, ``install``
    is the command that installs them, and ``error`` says why the plugin cannot be used at all.
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
        """Why the solver cannot be opened, and what to do about it; empty if it can be opened."""
        if self.missing:
            return _needs(self.name, self.missing, self.install)
        return self.error


def list_solvers(entry_points: Iterable[EntryPoint] | None = None) -> tuple[SolverInfo, ...]:
    """Return information on every installed solver, usable or not, sorted by name."""
    entries = SOLVERS.entries(entry_points)
    return tuple(_info(entry, entries) for entry in entries)


@cache
def solver_version(name: str) -> SolverVersion:
    """Return a solver's name, its version and the versions of its backends, in the form that documents record."""
    entries = SOLVERS.entries(None)
    info = next(_info(entry, entries) for entry in entries if entry.name == name)
    return SolverVersion(name, info.provider, info.version, dict(info.backends))


def load_solver(name: str, entry_points: Iterable[EntryPoint] | None = None) -> SolverPlugin:
    """Return the plugin called `name` with its default options, ready to be opened."""
    plugin = SOLVERS.load(name, entry_points)
    _check_requirements(plugin)
    return plugin


def open_workspace(
    solver: str | SolverPlugin, problem: SvmProblem, tolerance: Tolerance | None = None
) -> CertifiedWorkspace:
    """Return a workspace that solves a problem and certifies the solutions; the solver is a name or a plugin.

    Within a `fairenum.solvers.isolation.solver_run` the limits of the run hold, and its fallback may take over.
    """
    from fairenum.solvers.certified import CertifiedWorkspace, ReplaceableWorkspace
    from fairenum.solvers.isolation import current_run

    run = current_run()
    fallback = None if run.fallback is None else _ready(run.fallback, run)
    try:
        plugin = _ready(solver, run)
    except SolverBroken as error:  # the plugin cannot even be loaded
        if fallback is None:
            raise
        run.lapses.setdefault(str(solver), str(error))
        plugin = fallback
    tolerance = tolerance or run.tolerance(plugin.name)
    if fallback is None:
        return CertifiedWorkspace(plugin, problem, tolerance)
    return ReplaceableWorkspace(plugin, problem, tolerance, fallback, run)


def _ready(solver: str | SolverPlugin, run: SolverRun) -> SolverPlugin:
    """Return a plugin whose requirements are installed, wrapped to run in a separate process if the run asks for it."""
    from fairenum.solvers.isolation import IsolatedSolver

    plugin = load_solver(solver) if isinstance(solver, str) else solver
    _check_requirements(plugin)
    if not run.isolates(plugin.name):
        return plugin
    if plugin.name not in run.isolated:
        run.isolated[plugin.name] = cast("SolverPlugin", IsolatedSolver(plugin))
    return run.isolated[plugin.name]


def _info(entry: EntryPoint, entries: list[EntryPoint]) -> SolverInfo:
    name, version = provider(entry)
    try:
        plugin = SOLVERS.build_checked(entry, entries)
    except SolverError as error:
        return SolverInfo(entry.name, name, version, error=str(error))
    packages = [_package(module) for module in plugin.requires]
    backends = tuple((package, importlib.metadata.version(package)) for package in packages if package)
    return SolverInfo(entry.name, name, version, backends, _missing(plugin), plugin.install)


def _package(module: str) -> str:
    """Return the name of the distribution that contains a module, or "" if there is none.

    Most distributions are named like their module, so the one of that name is tried before all others are read.
    """
    try:
        found = importlib.metadata.distribution(module)
    except importlib.metadata.PackageNotFoundError:
        return _owners().get(module, ("",))[0]
    listed = (found.read_text("top_level.txt") or "").split() or {file.parts[0] for file in found.files or ()}
    return found.name if module in listed else _owners().get(module, ("",))[0]


@cache  # reading the files of all distributions costs more than a small audit
def _owners() -> Mapping[str, Sequence[str]]:
    return importlib.metadata.packages_distributions()


def _built(plugin_class: object) -> SolverPlugin:
    return cast("Callable[[], SolverPlugin]", plugin_class)()


def _defect(plugin: object, name: str) -> str:
    """Return in what way a plugin violates the protocol, or "" if it does not."""
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
    """Return the required modules whose top package is not installed; nothing is imported."""
    return tuple(module for module in plugin.requires if importlib.util.find_spec(module.partition(".")[0]) is None)


def _check_requirements(plugin: SolverPlugin) -> None:
    if missing := _missing(plugin):
        raise SolverUnavailable(_needs(plugin.name, missing, plugin.install))


def _needs(name: str, missing: tuple[str, ...], install: str) -> str:
    return f"solver {name!r} needs {' and '.join(missing)}; install it with: {install}"


SOLVERS = Registry("fairenum.solvers", "solver", _built, _defect, SolverNotFound, SolverConflict, SolverBroken)
