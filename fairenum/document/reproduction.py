"""The document of a reproduction of the paper's experiments, over many splits and draws."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import ClassVar

from fairenum.checking import check_options, refuse_unknown
from fairenum.document.header import Document
from fairenum.document.ranges import numbers, whole
from fairenum.document.terms import ClaimVerdict
from fairenum.document.value import Estimate, Quantiles, Value

Numbers = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is run.

    Parameters
    ----------
    splits
        Random splits of each table.
    draws
        Random draws of COMPAS.
    printed_draws
        Draws of COMPAS on which the paper's own algorithm runs, too.
    printed_seconds
        Time for the paper's own algorithm on each of the other tables.
    seed
        Of the first split and the first draw; each further one has the next.
    is_quick
        Whether this is a first look, too small for a verdict to lean on.
    """

    splits: int = 40
    draws: int = 250
    printed_draws: int = 60
    printed_seconds: float = 15.0
    seed: int = 0
    is_quick: bool = False

    def __post_init__(self) -> None:
        counts = whole("splits", "draws", "printed_draws", "seed")
        check_options(self, {}, counts, numbers("printed_seconds"), ("is_quick",))

    def but(self, **options: int | float | bool) -> Plan:
        """Return the plan with some sizes changed."""
        refuse_unknown("a reproduction", options, [option.name for option in fields(self)])
        return replace(self, **options)  # type: ignore[arg-type]  # checked when it is built

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
    """CPU seconds until the models of some ranks."""

    ranks: tuple[int, ...]


class SplitLine(Value, frozen=True):
    """One split of a table.

    Attributes
    ----------
    spread
        How far the last objective falls short of the first.
    best_rank, best_loss
        The model of least test loss, and its loss over that of model 1.
    lower
        Models with a smaller test loss than model 1.
    losses
        Test loss of each model over that of model 1.
    fewer_errors
        Models with fewer errors than model 1.
    growth
        The power of k by which the time grows; null where it was not taken.
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
    """A split or draw that is not counted, for want of a proven answer."""

    seed: int
    reason: str
    C: float | None = None


class SplitVariant(Value, frozen=True):
    """The splits of a table under one reading of what the paper leaves unsaid.

    Attributes
    ----------
    shortfall, loss
        By rank.
    other_half
        Loss ratio of the model chosen by one half of the test rows, on the other half.
    undetermined
        Share of decisions that the bias leaves open.
    time
        Null where it was not taken.
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


class TableExperiment(Value, frozen=True):
    """The splits of one table; its first variant is the main one."""

    rows: int
    features: int
    fingerprint: str
    variants: dict[str, SplitVariant]
    printed: PrintedRun | None

    @property
    def main(self) -> SplitVariant:
        """The main variant."""
        return next(iter(self.variants.values()))


class DrawLine(Value, frozen=True):
    """One injected draw of COMPAS.

    Attributes
    ----------
    tied, predictors, tied_predictors
        Models that share the best objective, different predictors among all, and among those.
    holding
        Models that are fairer on the test rows and so on all other rows.
    open_rows
        Share of test decisions that the bias leaves open.
    gap, clean_gap, untouched_gap
        On the test rows: of model 1, of the clean labels' model, and of the model of the rows that were not flipped.
    fairer, fairer_than_untouched
        Models with a smaller gap than these and less error than model 1.
    rest_gap, rest_clean_gap
        On all other rows.
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
    """What the paper's own algorithm shows on one draw."""

    models: int
    is_descending: bool
    predictors: int
    shortfall: float
    fairer: int
    fairer_than_untouched: int


class PrintedDraws(Value, frozen=True):
    """What the paper's own algorithm shows on some draws, gap and error by rank."""

    draws: tuple[PrintedDraw, ...]
    gap: Bands
    error: Bands


class DrawVariant(Value, frozen=True):
    """The draws of COMPAS under one reading of what the paper leaves unsaid.

    Attributes
    ----------
    gap, error
        By rank, on the test rows.
    sampling_error
        How far, as a standard deviation, the clean gap on the test rows strays from that on all other rows.
    """

    draws: tuple[DrawLine, ...]
    refused: tuple[Refusal, ...]
    gap: Bands
    error: Bands
    clean_gap: Quantiles | None
    clean_error: Quantiles | None
    sampling_error: float | None
    printed: PrintedDraws | None


class InjectionExperiment(Value, frozen=True):
    """The injected draws of COMPAS; the first variant is the main one."""

    rows: int
    features: int
    fingerprint: str
    variants: dict[str, DrawVariant]

    @property
    def main(self) -> DrawVariant:
        """The main variant."""
        return next(iter(self.variants.values()))


class Count(Value, frozen=True):
    """How often a claim is true."""

    trials: int
    true: int
    share: Estimate


class ClaimPart(Count, frozen=True):
    """How often a claim is true in one experiment and variant."""

    experiment: str
    variant: str


class JudgedClaim(Count, frozen=True):
    """A claim of the paper, by name, counted in the main variants, and in every other one beside."""

    name: str
    verdict: ClaimVerdict
    parts: tuple[ClaimPart, ...]


class ReproductionDocument(Document, frozen=True, kw_only=True, tag="reproduction"):
    """The paper's experiments, run many times over, and a verdict on each of its claims.

    All but timings, and what the clock decides, is the same for the same plan.

    Attributes
    ----------
    tables
        The tables that were split.
    injection
        COMPAS; null if it was not run.
    """

    title: ClassVar[str] = "reproduction"
    command: ClassVar[str] = "fairenum reproduce"

    plan: Plan
    tables: dict[str, TableExperiment]
    injection: InjectionExperiment | None
    claims: tuple[JudgedClaim, ...]
