"""What stands in for the real thing: contestants of a race that need no time, and entry points to inject."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from fairenum.errors import SolverBroken
from fairenum.research.race import Contestant


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


@dataclass
class Entry:
    """What a registry reads of an entry point."""

    name: str
    target: object
    dist: object = field(default_factory=lambda: SimpleNamespace(name="acme-solvers", version="2.0"))

    def load(self):
        if isinstance(self.target, BaseException):
            raise self.target
        return self.target
