"""The environment of a run, as its document states it."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib.metadata import version

from fairenum.document.header import Environment, SolverVersion

PACKAGES = ("fairenum", "numpy", "scipy", "pandas", "scikit-learn", "fairlearn")


def environment(packages: Iterable[str] = PACKAGES, solver: SolverVersion | None = None) -> Environment:
    """State what computes here: Python, some packages, and the solver if there is one."""
    return Environment(platform.python_version(), {package: version(package) for package in packages}, solver)
