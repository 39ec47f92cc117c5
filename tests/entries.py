"""Entry points to inject: the environment stays as it is."""

from dataclasses import dataclass, field
from types import SimpleNamespace


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
