"""The header of every document: kind, version, environment and time; and the verification of evidence files."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from typing import ClassVar, Final, Literal

from msgspec import field

from fairenum.document.terms import Status
from fairenum.document.value import Value

PACKAGES = ("fairenum", "numpy", "scipy", "pandas", "scikit-learn", "fairlearn")


def environment(packages: Iterable[str] = PACKAGES, solver: SolverVersion | None = None) -> Environment:
    """Return the versions of Python, of some packages, and of the solver if there is one."""
    return Environment(platform.python_version(), {package: version(package) for package in packages}, solver)


# The stages that can be cut. SHARES divides the time that is left among those that an audit can do without, in order.
OptionalStage = Literal[
    "enumerate", "guide", "tilt", "baselines", "screen", "score", "disagree", "prices", "range",
    "explain", "weigh", "attack",
]  # fmt: skip
SHARES: Mapping[OptionalStage, float] = {
    "enumerate": 30.0,
    "guide": 25.0,
    "tilt": 10.0,
    "baselines": 15.0,
    "screen": 4.0,
    "disagree": 4.0,
    "prices": 12.0,
    "range": 12.0,
    "explain": 8.0,
    "weigh": 2.0,
}
AFTERWARDS: Mapping[str, float] = {"attack": 30.0}  # stages that may be added to an audit
CutBy = Literal["time", "interrupt"]


class CutStage(Value, frozen=True):
    """A stage that was cut short, or skipped.

    Attributes
    ----------
    by
        The time limit, or Ctrl-C.
    is_skipped
        Whether the stage was skipped altogether; results of a stage that was cut later are kept.
    """

    stage: OptionalStage
    by: CutBy
    is_skipped: bool


class Spending(Value, frozen=True):
    """How an audit kept to its time limit.

    Attributes
    ----------
    limit
        Seconds allowed for the whole audit; null if there was no limit.
    seconds
        Seconds up to the document, if the limit was exceeded; null otherwise.
    required
        Seconds of these for stages that cannot be cut: imports, reading, encoding, model 1, scores, the choice.
    cut
        The stages that were cut.
    """

    limit: float | None
    seconds: float | None = None
    required: float | None = None
    cut: tuple[CutStage, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether the required stages took longer than the limit."""
        return self.seconds is not None

    def is_cut_by(self, by: CutBy) -> bool:
        """Tell whether any stage was cut by the time limit, or by Ctrl-C."""
        return any(one.by == by for one in self.cut)

    def stages(self, by: CutBy, *, is_skipped: bool) -> Iterator[OptionalStage]:
        """Yield the stages that were skipped, or only cut short."""
        return (one.stage for one in self.cut if one.by == by and one.is_skipped == is_skipped)


VERSION: Final = "2.0"
KIND = "kind"


class SolverVersion(Value, frozen=True):
    """The solver plugin of a run, its provider, and the packages behind it.

    Attributes
    ----------
    backends
        Versions of the packages that the solver calls.
    """

    name: str
    provider: str
    version: str
    backends: dict[str, str]


class Environment(Value, frozen=True):
    """The environment that computed a document.

    Attributes
    ----------
    packages
        Versions by the name of the package.
    solver
        The solver; null where several took part.
    machine, processors
        The computer, in documents about running times.
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
        Version of the document format.
    environment
        The environment that computed the document.
    status
        Interrupted: the user cut the run short, and the results so far were kept.
    timings
        Seconds by stage; the only part that differs between equal runs.
    """

    title: ClassVar[str]  # the name of this kind in messages
    command: ClassVar[str]  # the command that makes such a document

    version: Literal["2.0"] = VERSION
    environment: Environment
    status: Status = "complete"
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the run, as a file or beside others."""
        return self.title

    @property
    def is_partial(self) -> bool:
        """Whether the run was interrupted."""
        return self.status == "interrupted"


FaultKind = Literal["missing", "extra", "changed", "no_document", "no_copy", "other_copy"]


class Versions(Value, frozen=True):
    """Environments of the run in an evidence file, and of the program that wrote the file.

    Attributes
    ----------
    run
        As the run states it.
    evidence
        The environment that the pages, the tables and the rest were made with.
    """

    run: Environment
    evidence: Environment


class Fault(Value, frozen=True):
    """A reason why an evidence file is not verified.

    Attributes
    ----------
    kind
        Missing: listed or needed, but not there; extra: there, but not listed; changed: not the bytes that are listed;
        no_document: the run cannot be read; no_copy: a page carries no copy of a run; other_copy: it carries one of
        another run.
    name
        Name of the file within the evidence file.
    detail
        Further detail; empty if there is none.
    """

    kind: FaultKind
    name: str
    detail: str = ""


class Verification(Value, frozen=True):
    """The result of verifying an evidence file.

    Attributes
    ----------
    files
        Number of files in it, apart from its list.
    sha256
        The sha256 of the whole evidence file: compared with a copy of this number from elsewhere, it shows that nobody
        has rewritten files and list together.
    faults
        Empty if the file is verified.
    unchecked
        Pages written by another version of fairenum, whose copy of the run could not be made again here.
    """

    files: int
    sha256: str
    faults: tuple[Fault, ...] = ()
    unchecked: tuple[str, ...] = ()

    @property
    def is_verified(self) -> bool:
        """Whether every file has the listed content, and the pages show the run."""
        return not self.faults
