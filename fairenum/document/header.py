"""The header of every document: kind, version, environment and timings; and the verification of evidence files."""

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
    """Return the environment of a run: the versions of Python and of `packages`, and the given solver."""
    return Environment(platform.python_version(), {package: version(package) for package in packages}, solver)


# The stages that can be cut. SHARES has the shares of the remaining time for stages that an audit can do without.
OptionalStage = Literal[
    "enumerate", "guide", "tilt", "cross", "baselines", "screen", "score", "disagree", "prices", "range",
    "explain", "weigh", "attack",
]  # fmt: skip
SHARES: Mapping[OptionalStage, float] = {
    "enumerate": 30.0,
    "guide": 25.0,
    "tilt": 10.0,
    "cross": 10.0,
    "baselines": 15.0,
    "screen": 4.0,
    "disagree": 4.0,
    "prices": 12.0,
    "range": 12.0,
    "explain": 8.0,
    "weigh": 2.0,
}
AFTERWARDS: Mapping[str, float] = {"attack": 30.0}  # the same for stages that may be added to an audit
CutBy = Literal["time", "interrupt"]


class CutStage(Value, frozen=True):
    """A stage that was cut short, or skipped.

    Attributes
    ----------
    by
        What cut the stage: the time limit, or an interrupt by Ctrl-C.
    is_skipped
        Whether the stage was skipped altogether; of a stage that was cut short, the results so far are kept.
    """

    stage: OptionalStage
    by: CutBy
    is_skipped: bool


class Spending(Value, frozen=True):
    """The time limit of an audit, the time taken if it was exceeded, and the stages that were cut.

    Attributes
    ----------
    limit
        Seconds allowed for the whole audit; null if there was no limit.
    seconds
        Seconds that the whole audit took, if the limit was exceeded; null otherwise.
    required
        Seconds, among these, for stages that cannot be cut: imports, reading, encoding, model 1, scores, the choice.
    cut
        The stages that were cut.
    """

    limit: float | None
    seconds: float | None = None
    required: float | None = None
    cut: tuple[CutStage, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether the audit took longer than its time limit."""
        return self.seconds is not None

    def is_cut_by(self, by: CutBy) -> bool:
        """Tell whether any stage was cut by the given cause: the time limit, or an interrupt."""
        return any(one.by == by for one in self.cut)

    def stages(self, by: CutBy, *, is_skipped: bool) -> Iterator[OptionalStage]:
        """Yield the stages that the given cause skipped or, if `is_skipped` is false, cut short."""
        return (one.stage for one in self.cut if one.by == by and one.is_skipped == is_skipped)


VERSION: Final = "2.0"
KIND = "kind"


class SolverVersion(Value, frozen=True):
    """The solver plugin of a run, and the versions of the packages that it comes from and calls.

    Attributes
    ----------
    name
        Name of the solver.
    provider, version
        The package that provides the solver, and its version.
    backends
        Versions of the packages that the solver calls.
    """

    name: str
    provider: str
    version: str
    backends: dict[str, str]


class Environment(Value, frozen=True):
    """The software that computed a document; in documents about running times, also the computer.

    Attributes
    ----------
    python
        Version of Python.
    packages
        Versions of packages, by name.
    solver
        The solver of the run; null if there was none, or several.
    machine
        Architecture of the computer, in documents about running times; null in others.
    processors
        Number of processors of the computer, in documents about running times; null in others.
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
        Interrupted if the user cut the run short, and the results so far were kept; else complete.
    timings
        Seconds by stage; the only part that differs between runs of the same input and seed.
    """

    title: ClassVar[str]  # the name of this kind in messages
    command: ClassVar[str]  # the command that makes such a document

    version: Literal["2.0"] = VERSION
    environment: Environment
    status: Status = "complete"
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the run, for file names and for comparisons with other runs."""
        return self.title

    @property
    def is_partial(self) -> bool:
        """Whether the run was interrupted."""
        return self.status == "interrupted"


FaultKind = Literal["missing", "extra", "changed", "no_document", "no_copy", "other_copy"]


class Versions(Value, frozen=True):
    """The environment that computed the run in an evidence file, and the one that made its pages and tables."""

    run: Environment
    evidence: Environment


class Fault(Value, frozen=True):
    """A reason why an evidence file is not verified.

    Attributes
    ----------
    kind
        Missing: a listed or required file is not there; extra: a file is not listed; changed: a file has another sha256
        than listed; no_document: the run cannot be read; no_copy: a page holds no copy of a run; other_copy: a page
        holds a copy of another run.
    name
        Name of the file within the evidence file.
    detail
        The error message if the run cannot be read; empty otherwise.
    """

    kind: FaultKind
    name: str
    detail: str = ""


class Verification(Value, frozen=True):
    """The result of verifying an evidence file.

    Attributes
    ----------
    files
        Number of files in the evidence file, apart from the list of files.
    sha256
        The sha256 of the whole evidence file. If it equals the one that was noted elsewhere, nobody has rewritten the
        files together with the list.
    faults
        Reasons why the evidence file is not verified; empty if it is.
    unchecked
        Names of pages that another version of fairenum wrote, so that their copy of the run cannot be compared.
    """

    files: int
    sha256: str
    faults: tuple[Fault, ...] = ()
    unchecked: tuple[str, ...] = ()

    @property
    def is_verified(self) -> bool:
        """Whether every file has the listed content, and every page that could be compared holds a copy of the run."""
        return not self.faults
