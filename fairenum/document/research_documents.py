"""Documents of benchmarks, of comparisons of mitigations, and of reproductions of the paper's experiments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Generic, Literal, NamedTuple, TypeVar

from msgspec import field

from fairenum.document.audit_config import AuditConfig
from fairenum.document.header import Document
from fairenum.document.options import Options, documented, flag, like, number, whole
from fairenum.document.table_facts import Remark
from fairenum.document.terms import Basis, ClaimVerdict, GrowthAxis, KernelName
from fairenum.document.training import DecideText
from fairenum.document.value import Estimate, Quantiles, Value

TABLES = ("german", "ionosphere", "sonar")
INJECTED = "compas"
EXPERIMENTS = (*TABLES, INJECTED)
MODELS, TIMED = 50, 1000
SHARES = (0.7, 0.0, 0.3)
GERMAN_SPREAD = 6.0e-4
LOWER_LOSS_RANKS: Mapping[str, int] = {"german": 32, "ionosphere": 43, "sonar": 41}
TRAINED, FLIPPED, TESTED = 100, 10, 50
CLEAN_PARITY = 0.321
FAIRER_MODELS = 3
# Objectives closer than this, relatively, count as equal.
TIED = 1e-9
# Ranks at which times are taken.
CLOCKED = (1, 2, 5, 10, 20, 50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
PAPER_ALGORITHM = "Algorithm 1"
V = TypeVar("V")
GrowthTask = Literal["fit", "models", "audit"]
GrowthTable = Literal["numbers", "one-hot"]


class BenchData(Value, frozen=True):
    """The problem that solvers were compared on.

    Attributes
    ----------
    remarks
        Remarks made while its table was read.
    """

    name: str
    rows: int
    features: int
    cost: float
    seed: int
    fingerprint: str
    remarks: tuple[Remark, ...] = ()


class SvcFit(Value, frozen=True):
    """The fit of scikit-learn's SVC that serves as the unit of time."""

    tol: float
    seconds: float


class RaceResult(Value, frozen=True):
    """The result of one contestant. All seconds are CPU seconds of one process.

    Attributes
    ----------
    name
        The solver, or "Algorithm 1", the paper's.
    models
        Number of models found in its time.
    in_place
        Number of these models that are at their rank, as proven by a solver.
    nodes
        Number of boxes solved for them, beside the first.
    seconds
        CPU seconds for all k models.
    fits
        Time for all k models in SVC fits, the median over the laps.
    basis
        Whether seconds and fits are measured, extrapolated from a part, or a lower bound if the part was too short.
    error
        Why no model was found.
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
        Slope fitted to the logarithms of the larger half of the points; fixed costs hide it on the smaller half.
    task
        The task: find the best model (fit), list the best models (models), or run a whole audit (audit), also measured
        for other tools that a user would run against a gap.
    table, kernel
        The kind of features, and the kernel.
    memory
        Most bytes held by a process of its own, imported libraries included; empty if not measured.
    memory_slope
        Slope of the memory, fitted as `slope`.
    fixed
        Sizes along the other axes.
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
        """The task, table, kernel and axis, by which series are compared with each other."""
        return GrowthSubject(self.task, self.table, self.kernel, self.axis)


class GrowthSubject(NamedTuple):
    """The task, table, kernel and axis that comparable growth series share."""

    task: GrowthTask
    table: GrowthTable
    kernel: KernelName
    axis: GrowthAxis


class BenchDocument(Document, frozen=True, kw_only=True, tag="bench"):
    """The result of a benchmark. The figures to quote are ratios: times in SVC fits that were measured alongside.

    Attributes
    ----------
    k
        Number of models asked for.
    seconds
        Time after which a contestant is stopped; null for no limit.
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
        """The series of the growth study, in which each point ran in a process of its own."""
        return tuple(one for one in self.growth if one.fixed)

    @property
    def name(self) -> str:
        """The name of the run, after its table."""
        return f"bench-{self.data.name}"

    @property
    def paper(self) -> RaceResult:
        """The result of the paper's algorithm."""
        return next((one for one in self.standings if one.name == PAPER_ALGORITHM), RaceResult(PAPER_ALGORITHM))

    def speedup(self, result: RaceResult) -> float | None:
        """Return how many times faster than the paper's algorithm a contestant is, both in SVC fits."""
        return self.paper.fits / result.fits if self.paper.fits and result.fits else None


class Case(Value, frozen=True):
    """A bundled table, the number of training rows, and whether the sensitive columns are features, too.

    Attributes
    ----------
    decide
        Where every method is cut; those that cannot be cut there are left out.
    guards
        Guardrails of the choice, on the rows that models are chosen by. Methods that choose nothing are not bound by
        them, so that a contest between equals has none.
    """

    data: str
    rows: int
    use_sensitive: bool = False
    decide: DecideText = "sign"
    guards: tuple[str, ...] = ()


class MethodScore(Value, frozen=True):
    """Scores of one method on the holdout of one split.

    Attributes
    ----------
    is_randomised
        Whether the method decides by chance; its expected rates are scored then.
    needs_groups
        Whether the method has to know the group of each person it decides about.
    dominates_guided
        Whether the method is as good as guided search in both accuracy and gap, and better in one of them by more than
        the paired interval.
    selection_rate
        Share of selected rows; null in runs that did not keep it.
    """

    method: str
    accuracy: float
    gap: float
    is_randomised: bool = False
    needs_groups: bool = False
    dominates_guided: bool = False
    selection_rate: float | None = None


class SplitTrial(Value, frozen=True):
    """Scores of all methods on one split.

    Attributes
    ----------
    guided_fits
        Time of the guided search in SVC fits on the same rows.
    left_out
        Training records that the guided model leaves out.
    objective_ratio
        Objective of the guided model as a share of that of model 1.
    errors
        Methods that failed, and why.
    """

    case: Case
    seed: int
    scores: tuple[MethodScore, ...]
    guided_fits: float
    left_out: int
    objective_ratio: float
    errors: tuple[str, ...]


class MethodSummary(Value, frozen=True):
    """Medians of one method over splits, with bootstrap intervals.

    Attributes
    ----------
    accuracy_change, gap_ratio
        Against model 1 of the same split.
    dominates_guided
        Share of splits in which the method dominates guided search.
    """

    method: str
    is_randomised: bool
    needs_groups: bool
    splits: int
    accuracy: Estimate
    gap: Estimate
    accuracy_change: Estimate
    gap_ratio: Estimate
    dominates_guided: float
    selection_rate: Estimate = Estimate()


class CaseSummary(Value, frozen=True):
    """All methods on the splits of one case.

    Attributes
    ----------
    not_dominated
        Share of splits in which no method dominates guided search.
    """

    case: Case
    splits: int
    methods: tuple[MethodSummary, ...]
    not_dominated: float
    guided_fits: Estimate
    left_out: Estimate
    objective_ratio: Estimate


class MitigationDocument(Document, frozen=True, kw_only=True, tag="mitigation"):
    """The result of comparing guided search with other mitigations, over many splits."""

    title: ClassVar[str] = "comparison of mitigations"
    command: ClassVar[str] = "make mitigation"

    cases: tuple[CaseSummary, ...]
    trials: tuple[SplitTrial, ...]


Numbers = tuple[float | None, ...]


@documented
@dataclass(frozen=True, slots=True)
class Plan(Options):
    """The size of a reproduction: numbers of splits and draws."""

    subject: ClassVar[str] = "a reproduction"

    splits: int = whole(40, 1, 10_000, help="Random splits of each table.")
    draws: int = whole(250, 1, 100_000, help="Random draws of COMPAS.")
    printed_draws: int = whole(60, 0, 100_000, help="Draws of COMPAS on which the paper's own algorithm also runs.")
    printed_seconds: float = number(
        15.0, 0.0, 1e9, help="Time for the paper's own algorithm on each of the other tables."
    )
    seed: int = like(
        AuditConfig, "seed", help="Seed of the first split and the first draw; each further one has the next."
    )
    is_quick: bool = flag(False, help="Whether this is a first look, too small for reliable verdicts.")

    @classmethod
    def quick(cls, seed: int = 0) -> Plan:
        """Return a plan for a first look."""
        return cls(splits=3, draws=12, printed_draws=3, printed_seconds=2.0, seed=seed, is_quick=True)


class Bands(Value, frozen=True):
    """Quantiles over splits or draws, model by model; null where nothing is defined."""

    q05: Numbers
    q25: Numbers
    q50: Numbers
    q75: Numbers
    q95: Numbers


class TimeBands(Bands, frozen=True):
    """CPU seconds until the models of some ranks are found."""

    ranks: tuple[int, ...]


class SplitLine(Value, frozen=True):
    """Results of one split of a table.

    Attributes
    ----------
    spread
        Relative distance between the last objective and the first.
    best_rank, best_loss
        The model of least test loss, and its loss over that of model 1.
    lower
        Models with a smaller test loss than model 1.
    losses
        Test loss of each model over that of model 1.
    fewer_errors
        Models with fewer errors than model 1.
    growth
        The power of k by which the time grows; null where times were not taken.
    """

    seed: int
    C: float
    spread: float
    best_rank: int
    best_loss: float
    lower: int
    losses: Numbers
    fewer_errors: int
    growth: float | None


class Refusal(Value, frozen=True):
    """A split or draw that was left out, as no answer was proven."""

    seed: int
    reason: str
    C: float | None = None


class SplitVariant(Value, frozen=True):
    """Results over the splits of a table, under one reading of details that the paper leaves open.

    Attributes
    ----------
    shortfall, loss
        By rank.
    other_half
        Loss ratio of the model chosen by one half of the test rows, on the other half.
    undetermined
        Share of decisions that the bias leaves open.
    time
        CPU seconds; null where times were not taken.
    """

    splits: tuple[SplitLine, ...]
    refused: tuple[Refusal, ...]
    shortfall: Bands
    loss: Bands
    other_half: Estimate
    undetermined: Estimate
    time: TimeBands | None


class PrintedRun(Value, frozen=True):
    """The paper's own algorithm on one split: seconds until each model, fits, and models at their proven rank."""

    C: float
    seconds: tuple[float, ...]
    fits: int
    in_place: int


class Experiment(Value, Generic[V], frozen=True):
    """Results of one table; its first variant is the main one."""

    rows: int
    features: int
    fingerprint: str
    variants: dict[str, V]

    @property
    def main(self) -> V:
        """The main variant."""
        return next(iter(self.variants.values()))


class TableExperiment(Experiment[SplitVariant], frozen=True):
    """Results of one table that was split; its first variant is the main one."""

    printed: PrintedRun | None


class DrawLine(Value, frozen=True):
    """Results of one draw of COMPAS with flipped labels.

    Attributes
    ----------
    tied, predictors, tied_predictors
        Models that share the best objective, different predictors among all models, and among the tied ones.
    holding
        Models that are fairer on the test rows and also on all other rows.
    open_rows
        Share of test decisions that the bias leaves open.
    gap, clean_gap, untouched_gap
        Gap on the test rows: of model 1, of the model of clean labels, and of the model trained without the flipped
        rows.
    fairer, fairer_than_untouched
        Models with less error than model 1 and a smaller gap than the clean model, and than the model trained without
        the flipped rows.
    rest_gap, rest_clean_gap
        Gap of model 1 and of the clean model on all other rows.
    """

    seed: int
    C: float
    tied: int
    predictors: int
    tied_predictors: int
    holding: int
    models: int
    shortfall: float
    open_rows: float
    gap: float | None
    clean_gap: float | None
    untouched_gap: float | None
    clean_error: float | None
    fairer: int
    fairer_than_untouched: int
    rest_gap: float | None
    rest_clean_gap: float | None


class PrintedDraw(Value, frozen=True):
    """Results of the paper's own algorithm on one draw."""

    models: int
    is_descending: bool
    predictors: int
    shortfall: float
    fairer: int
    fairer_than_untouched: int


class PrintedDraws(Value, frozen=True):
    """Results of the paper's own algorithm on some draws, with gap and error by rank."""

    draws: tuple[PrintedDraw, ...]
    gap: Bands
    error: Bands


class DrawVariant(Value, frozen=True):
    """Results over the draws of COMPAS, under one reading of details that the paper leaves open.

    Attributes
    ----------
    gap, error
        By rank, on the test rows.
    sampling_error
        Standard deviation of the difference between the clean gap on the test rows and on all other rows.
    """

    draws: tuple[DrawLine, ...]
    refused: tuple[Refusal, ...]
    gap: Bands
    error: Bands
    clean_gap: Quantiles | None
    clean_error: Quantiles | None
    sampling_error: float | None
    printed: PrintedDraws | None


class InjectionExperiment(Experiment[DrawVariant], frozen=True):
    """Results on COMPAS with flipped labels; the first variant is the main one."""


class Count(Value, frozen=True):
    """Number of trials in which a claim is true."""

    trials: int
    true: int
    share: Estimate


class ClaimPart(Count, frozen=True):
    """Number of trials in which a claim is true, in one experiment and variant."""

    experiment: str
    variant: str


class JudgedClaim(Count, frozen=True):
    """A claim of the paper, counted in the main variants, and in each of the others."""

    name: str
    verdict: ClaimVerdict
    parts: tuple[ClaimPart, ...]


class ReproductionDocument(Document, frozen=True, kw_only=True, tag="reproduction"):
    """The paper's experiments, repeated many times, and a verdict on each of its claims.

    The same plan gives the same document, apart from timings and results that depend on the clock.

    Attributes
    ----------
    tables
        The tables that were split.
    injection
        COMPAS with flipped labels; null if it was not run.
    """

    title: ClassVar[str] = "reproduction"
    command: ClassVar[str] = "fairenum reproduce"

    plan: Plan
    tables: dict[str, TableExperiment]
    injection: InjectionExperiment | None
    claims: tuple[JudgedClaim, ...]
