"""Contestants of a race that need no time: one that lists what it is told to, and one that fails."""

from types import SimpleNamespace

import numpy as np

from fairenum.bench.contest import Contestant
from fairenum.errors import SolverBroken


def listed(name, supports, stopped="models"):
    """A contestant that finds these supports at once."""

    class Listed(list):
        nodes = 4

    def search(problem, limits):
        found = Listed(SimpleNamespace(support=np.array(support)) for support in supports)
        found.stopped = stopped
        return found

    return Contestant(name, search)


def broken(name="broken"):
    def search(problem, limits):
        raise SolverBroken("it rains")

    return Contestant(name, search)
