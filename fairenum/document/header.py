"""What every document begins with: its kind, its version, and what computed it."""

from __future__ import annotations

from typing import ClassVar, Final, Literal

from msgspec import field

from fairenum.document.terms import Status
from fairenum.document.value import Value

VERSION: Final = "2.0"
KIND = "kind"


class SolverVersion(Value, frozen=True):
    """The solver plugin that was asked, who provides it, and what works behind it.

    Attributes
    ----------
    backends
        Versions of the packages that it calls.
    """

    name: str
    provider: str
    version: str
    backends: dict[str, str]


class Environment(Value, frozen=True):
    """What computed a document.

    Attributes
    ----------
    packages
        Versions by the name of the package.
    solver
        Null where several took part.
    machine, processors
        Where the time that things take is what was measured.
    """

    python: str
    packages: dict[str, str]
    solver: SolverVersion | None = None
    machine: str | None = None
    processors: int | None = None


class Document(Value, frozen=True, kw_only=True, tag_field=KIND):
    """The header that all kinds of documents share.

    Attributes
    ----------
    version
        Of the shape of documents.
    environment
        What computed it.
    status
        Interrupted: the user cut the run short, and what it had found was kept.
    timings
        Seconds by stage; the only part that differs between equal runs.
    """

    title: ClassVar[str]  # what a message calls this kind
    command: ClassVar[str]  # what makes one

    version: Literal["2.0"] = VERSION
    environment: Environment
    status: Status = "complete"
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the run is called, as a file or beside others."""
        return self.title

    @property
    def is_partial(self) -> bool:
        """Whether the run was interrupted."""
        return self.status == "interrupted"
