"""The document of a benchmark: a race of solvers and the paper's algorithm, and how their times grow."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

from msgspec import field

from fairenum.document.header import Document
from fairenum.document.remark import Remark
from fairenum.document.terms import Basis, GrowthAxis, KernelName
from fairenum.document.value import Value

PAPER_ALGORITHM = "Algorithm 1"

GrowthTask = Literal["fit", "models", "audit"]
GrowthTable = Literal["numbers", "one-hot"]


class BenchData(Value, frozen=True):
    """The problem that was raced on.

    Attributes
    ----------
    remarks
        What was noticed while its table was read.
    """

    name: str
    rows: int
    features: int
    cost: float
    seed: int
    fingerprint: str
    remarks: tuple[Remark, ...] = ()


class SvcFit(Value, frozen=True):
    """The fit of scikit-learn's SVC that everything is measured by."""

    tol: float
    seconds: float


class RaceResult(Value, frozen=True):
    """How one contestant did. All seconds are CPU seconds of one process.

    Attributes
    ----------
    name
        The solver, or "Algorithm 1", the paper's.
    models
        Number of models that it found in its time.
    in_place
        How many of them are the models of that rank, as proven by a solver.
    nodes
        Number of boxes solved for them, beside the first.
    seconds
        CPU seconds for all k models.
    fits
        The same in SVC fits, the median over the laps.
    basis
        Whether these two are measured, extrapolated from a part, or so short a part that it was at least that.
    error
        Why it found nothing.
    """

    name: str
    models: int = 0
    in_place: int = 0
    nodes: int = 0
    seconds: float | None = None
    fits: float | None = None
    basis: Basis = "measured"
    laps: int = 0
    error: str | None = None


class GrowthSeries(Value, frozen=True):
    """CPU seconds of one contestant over one axis: n examples, d features or k models.

    Attributes
    ----------
    slope
        Fitted to the logarithms of the larger half of the points: on the smaller half, fixed costs hide it.
    task
        What is done: the best machine found (fit), the best few or more listed (models), or a whole audit, beside what
        else a user would run against a gap.
    table, kernel
        What the features are, and the kernel of the machine.
    memory
        Bytes that a process of its own held at most, what it has imported among them; empty if nobody looked.
    memory_slope
        Fitted as `slope`.
    fixed
        What the other axes were meanwhile.
    """

    name: str
    axis: GrowthAxis
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    slope: float | None
    task: GrowthTask = "models"
    table: GrowthTable = "numbers"
    kernel: KernelName = "linear"
    memory: tuple[float, ...] = ()
    memory_slope: float | None = None
    fixed: dict[GrowthAxis, int] = field(default_factory=dict)

    @property
    def subject(self) -> GrowthSubject:
        """What it is one line of: who is compared has these in common."""
        return GrowthSubject(self.task, self.table, self.kernel, self.axis)


class GrowthSubject(NamedTuple):
    """What some series have in common."""

    task: GrowthTask
    table: GrowthTable
    kernel: KernelName
    axis: GrowthAxis


class BenchDocument(Document, frozen=True, kw_only=True, tag="bench"):
    """What was measured. The figures to quote are ratios: times are in SVC fits made beside them.

    Attributes
    ----------
    k
        Number of models asked for.
    seconds
        Time after which a contestant is stopped; null for never.
    first_calls
        Seconds of one tiny call each: imports, and loading or compiling the inner loop of the paths.
    """

    title: ClassVar[str] = "benchmark"
    command: ClassVar[str] = "fairenum bench DATA --json PATH"

    data: BenchData
    k: int
    seconds: float | None
    svc_fit: SvcFit
    first_calls: float
    standings: tuple[RaceResult, ...]
    growth: tuple[GrowthSeries, ...]

    @property
    def scale(self) -> tuple[GrowthSeries, ...]:
        """The series of the growth study, in which each point was a process of its own."""
        return tuple(one for one in self.growth if one.fixed)

    @property
    def name(self) -> str:
        """What the run is called: after its table."""
        return f"bench-{self.data.name}"

    @property
    def paper(self) -> RaceResult:
        """What the paper's algorithm did."""
        return next((one for one in self.standings if one.name == PAPER_ALGORITHM), RaceResult(PAPER_ALGORITHM))

    def speedup(self, result: RaceResult) -> float | None:
        """Return how many times faster than the paper's algorithm a contestant is, both in SVC fits."""
        return self.paper.fits / result.fits if self.paper.fits and result.fits else None
