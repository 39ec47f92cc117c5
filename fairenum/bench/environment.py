"""The environment of a measurement of time."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable

from fairenum.document.environment import PACKAGES, environment
from fairenum.document.header import Environment, SolverVersion


def timed_environment(packages: Iterable[str] = PACKAGES, solver: SolverVersion | None = None) -> Environment:
    """State what computes here, and on which machine."""
    return environment(packages, solver).but(machine=platform.machine(), processors=os.cpu_count())
