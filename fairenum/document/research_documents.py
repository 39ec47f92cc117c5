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
# Ranks of the models at which the elapsed time is recorded.
CLOCKED = (1, 2, 5, 10, 20, 50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
PAPER_ALGORITHM = "Algorithm 1"
V = TypeVar("V")
GrowthTask = Literal["fit", "models", "audit"]
GrowthTable = Literal["numbers", "one-hot"]


class BenchData(Value, frozen=True):
    """The training problem on which solvers were compared.

    Attributes
    ----------
    remarks
        Remarks made while the table was read.
    """

    name: str
    rows: int
    features: int
    cost: float
    seed: int
    fingerprint: str
    remarks: tuple[Remark, ...] = ()


class SvcFit(Value, frozen=True):
    """CPU seconds of one fit of scikit-learn's SVC, which serves as the unit of time."""

    tol: float
    seconds: float


class RaceResult(Value, frozen=True):
    """The result of one solver in a benchmark: how long it took to find the best k models.

    Attributes
    ----------
    name
        The solver, or "Algorithm 1" for the algorithm of the paper.
    models
        Number of models found before the solver was stopped.
    in_place
        Number of these models that are proven to have the rank at which they were found.
    nodes
        Number of training problems solved to find them, without the first.
    seconds
        CPU seconds of one process for all k models, median over all laps.
    fits
        The same time as a multiple of one SVC fit, median over all laps.
    basis
        Whether `seconds` and `fits` are measured, extrapolated from fewer than k models, or a lower bound, as too few
        models were found to extrapolate.
    laps
        Number of times that the solver was run.
    error
        Why no model was found; null if the solver did not fail.
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
    """CPU seconds of one tool as one size of its task grows: n examples, d features or k models.

    Attributes
    ----------
    name
        The tool.
    axis
        The size that grows.
    slope
        Slope of log(seconds) over log(size), fitted to the larger half of the sizes, as fixed costs dominate the times
        at smaller sizes.
    task
        The task: find the best model (fit), list the best models (models), or run a whole audit (audit). Other tools
        that reduce a gap between groups are also timed as audits.
    table, kernel
        The kind of features, and the kernel.
    memory
        Peak memory in bytes at each size, of a process with this task alone, imported libraries included; empty if not
        measured.
    memory_slope
        Slope of log(memory) over log(size), fitted as `slope`.
    fixed
        The sizes that do not grow; empty if points were not measured in separate processes.
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
        """The task, kind of features, kernel and growing size; series that share all four can be compared."""
        return GrowthSubject(self.task, self.table, self.kernel, self.axis)


class GrowthSubject(NamedTuple):
    """The task, kind of features, kernel and growing size that comparable growth series share."""

    task: GrowthTask
    table: GrowthTable
    kernel: KernelName
    axis: GrowthAxis


class BenchDocument(Document, frozen=True, kw_only=True, tag="bench"):
    """The result of a benchmark of solvers.

    Times to quote are multiples of an SVC fit measured alongside, which depend less on the computer than seconds.

    Attributes
    ----------
    k
        Number of models that each solver is asked for.
    seconds
        Seconds after which a solver is stopped; null for no limit.
    first_calls
        CPU seconds that all solvers take together for a tiny problem, mostly to import and compile code.
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
        """The growth series whose points were each measured in a separate process."""
        return tuple(one for one in self.growth if one.fixed)

    @property
    def name(self) -> str:
        """The name of the run: "bench-" and the name of its table."""
        return f"bench-{self.data.name}"

    @property
    def paper(self) -> RaceResult:
        """The result of the paper's algorithm; a result without models if it did not run."""
        return next((one for one in self.standings if one.name == PAPER_ALGORITHM), RaceResult(PAPER_ALGORITHM))

    def speedup(self, result: RaceResult) -> float | None:
        """Return the time of the paper's algorithm divided by that of a solver, both in SVC fits; None if unknown."""
        return self.paper.fits / result.fits if self.paper.fits and result.fits else None


class Case(Value, frozen=True):
    """A setting in which mitigations are compared: a table, a number of training rows, and further options.

    Attributes
    ----------
    data
        Name of a bundled table.
    use_sensitive
        Whether the sensitive columns are features, too.
    decide
        The rule by which decision values become decisions; methods that cannot follow it are left out.
    guards
        Guardrails for the choice of a model on the selection split. They restrict only methods that choose among
        several models, so that a comparison on equal terms has none.
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
        Whether the method decides by chance; its scores are then computed from probabilities of selection.
    needs_groups
        Whether the method has to know the group of each person it decides about.
    dominates_guided
        Whether the method is at least as good as guided search in both accuracy and gap, and better in one of them by
        more than the paired 95 % confidence interval.
    selection_rate
        Share of selected rows; null where the run did not record it.
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
        Time of the guided search, as a multiple of one SVC fit on the same rows.
    left_out
        Number of training records that the model chosen by guided search leaves out.
    objective_ratio
        Objective of the model chosen by guided search, divided by that of model 1.
    errors
        Names of the methods that failed, each with the reason.
    """

    case: Case
    seed: int
    scores: tuple[MethodScore, ...]
    guided_fits: float
    left_out: int
    objective_ratio: float
    errors: tuple[str, ...]


class MethodSummary(Value, frozen=True):
    """Medians of the scores of one method over all splits, with bootstrap confidence intervals.

    Attributes
    ----------
    splits
        Number of splits.
    accuracy_change, gap_ratio
        Accuracy minus that of model 1 on the same split, and gap divided by that of model 1.
    dominates_guided
        Share of splits in which the method dominates guided search, as `MethodScore` defines it.
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
    """The scores of all methods over the splits of one case.

    Attributes
    ----------
    splits
        Number of splits.
    not_dominated
        Share of splits in which no method dominates guided search.
    guided_fits, left_out, objective_ratio
        Medians over all splits of the numbers of the same name in `SplitTrial`.
    """

    case: Case
    splits: int
    methods: tuple[MethodSummary, ...]
    not_dominated: float
    guided_fits: Estimate
    left_out: Estimate
    objective_ratio: Estimate


class MitigationDocument(Document, frozen=True, kw_only=True, tag="mitigation"):
    """The result of comparing guided search with other methods of bias mitigation, over many random splits."""

    title: ClassVar[str] = "comparison of mitigations"
    command: ClassVar[str] = "make mitigation"

    cases: tuple[CaseSummary, ...]
    trials: tuple[SplitTrial, ...]


Numbers = tuple[float | None, ...]


@documented
@dataclass(frozen=True, slots=True)
class Plan(Options):
    """The size of a reproduction of the paper's experiments: the numbers of random splits and draws."""

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
        """Return a small plan for a first look, with too few splits and draws for reliable verdicts."""
        return cls(splits=3, draws=12, printed_draws=3, printed_seconds=2.0, seed=seed, is_quick=True)


class Bands(Value, frozen=True):
    """Quantiles over splits or draws, one number for each rank of a model; null where no value is defined."""

    q05: Numbers
    q25: Numbers
    q50: Numbers
    q75: Numbers
    q95: Numbers


class TimeBands(Bands, frozen=True):
    """Quantiles over splits of the CPU seconds until the model of each rank in `ranks` is found."""

    ranks: tuple[int, ...]


class SplitLine(Value, frozen=True):
    """Results of one split of a table.

    Attributes
    ----------
    spread
        Difference between the objectives of the first and the last model, divided by the first.
    best_rank, best_loss
        Rank of the model of least test loss, and its test loss divided by that of model 1.
    lower
        Number of models with a smaller test loss than model 1.
    losses
        Test loss of each model divided by that of model 1.
    fewer_errors
        Number of models with fewer errors on the test rows than model 1.
    growth
        Exponent p of the running time, which grows with the number k of models as k^p; null where it was not measured.
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
    """A split or draw without results, and the reason: its models could not be found or proven."""

    seed: int
    reason: str
    C: float | None = None


class SplitVariant(Value, frozen=True):
    """Results over the random splits of a table in one variant: with standardised columns, or with raw columns.

    Attributes
    ----------
    refused
        Splits without results.
    shortfall
        By rank, the difference to the objective of model 1, divided by that objective.
    loss
        By rank, the test loss divided by that of model 1.
    other_half
        The model of least loss on one half of the test rows is chosen; this is its loss on the other half, divided by
        that of model 1 there, averaged over halves and splits.
    undetermined
        Share of test decisions that differ between equally optimal biases.
    time
        CPU seconds until models are found; null where they were not measured.
    """

    splits: tuple[SplitLine, ...]
    refused: tuple[Refusal, ...]
    shortfall: Bands
    loss: Bands
    other_half: Estimate
    undetermined: Estimate
    time: TimeBands | None


class PrintedRun(Value, frozen=True):
    """Results of the paper's own algorithm on one split.

    Attributes
    ----------
    seconds
        CPU seconds until each model was found.
    fits
        Number of SVMs trained.
    in_place
        Number of models that are proven to have the rank at which they were found.
    """

    C: float
    seconds: tuple[float, ...]
    fits: int
    in_place: int


class Experiment(Value, Generic[V], frozen=True):
    """Results on one table by variant, that is by choice of scaling and C; the first variant is the main one."""

    rows: int
    features: int
    fingerprint: str
    variants: dict[str, V]

    @property
    def main(self) -> V:
        """The results in the main variant."""
        return next(iter(self.variants.values()))


class TableExperiment(Experiment[SplitVariant], frozen=True):
    """Results on a table that was split at random; `printed` has those of the paper's own algorithm on one split."""

    printed: PrintedRun | None


class DrawLine(Value, frozen=True):
    """Results of one draw of COMPAS with flipped labels.

    Attributes
    ----------
    tied
        Number of models that share the best objective.
    predictors, tied_predictors
        Number of different decision patterns, where models that agree on every test row count once: among all models,
        and among the tied ones.
    holding
        Number of models that count as `fairer` on the test rows and also on all rows outside training and test.
    shortfall
        Difference between the objectives of the first and the last model, divided by the first.
    open_rows
        Share of test decisions that differ between equally optimal biases.
    gap, clean_gap, untouched_gap
        Gap on the test rows: of model 1, of the model trained on the labels before flipping, and of the model trained
        without the flipped rows.
    clean_error
        Error on the test rows of the model trained on the labels before flipping.
    fairer, fairer_than_untouched
        Number of models with less error on the test rows than model 1 and a smaller gap there: than the model trained
        on the labels before flipping, and than the model trained without the flipped rows.
    rest_gap, rest_clean_gap
        Gap on all rows outside training and test: of model 1, and of the model trained on the labels before flipping.
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
    """Results of the paper's own algorithm on one draw of COMPAS; fields not explained here are as in `DrawLine`.

    Attributes
    ----------
    is_descending
        Whether no model has a larger objective than the model before.
    """

    models: int
    is_descending: bool
    predictors: int
    shortfall: float
    fairer: int
    fairer_than_untouched: int


class PrintedDraws(Value, frozen=True):
    """Results of the paper's own algorithm on some draws of COMPAS, with gap and error on the test rows by rank."""

    draws: tuple[PrintedDraw, ...]
    gap: Bands
    error: Bands


class DrawVariant(Value, frozen=True):
    """Results over the draws of COMPAS in one variant: one choice of scaling and C, which the paper leaves open.

    Attributes
    ----------
    refused
        Draws without results.
    gap, error
        Gap and error on the test rows, by rank.
    clean_gap, clean_error
        Gap and error on the test rows of the model trained on the labels before flipping.
    sampling_error
        Root mean square, over draws, of the difference between two gaps of the model trained on the labels before
        flipping: on the test rows, and on all rows outside training and test.
    printed
        Results of the paper's own algorithm; null where it did not run.
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
    """Results on COMPAS with flipped labels, by variant; the first variant is the main one."""


class Count(Value, frozen=True):
    """Number of trials (splits or draws) of a claim, and number and share of those in which the claim is true."""

    trials: int
    true: int
    share: Estimate


class ClaimPart(Count, frozen=True):
    """How often a claim is true in one variant (choice of scaling and C) of one experiment."""

    experiment: str
    variant: str


class JudgedClaim(Count, frozen=True):
    """A claim of the paper: how often it is true in the main variants, the verdict, and how often in each variant."""

    name: str
    verdict: ClaimVerdict
    parts: tuple[ClaimPart, ...]


class ReproductionDocument(Document, frozen=True, kw_only=True, tag="reproduction"):
    """The results of repeating the paper's experiments many times, and a verdict on each claim of the paper.

    The same plan gives the same document, apart from timings and results that depend on the clock.

    Attributes
    ----------
    tables
        Results on the tables that were split at random, by name of the table.
    injection
        Results on COMPAS with flipped labels; null if this experiment was not run.
    """

    title: ClassVar[str] = "reproduction"
    command: ClassVar[str] = "fairenum reproduce"

    plan: Plan
    tables: dict[str, TableExperiment]
    injection: InjectionExperiment | None
    claims: tuple[JudgedClaim, ...]
