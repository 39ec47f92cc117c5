"""The document of a simulated attack: the effect of label flips, over many draws of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, get_args

from fairenum.document.header import Document
from fairenum.document.options import (
    HUGE,
    MOST_ROWS,
    Options,
    Sizes,
    check_options,
    is_number,
    is_whole,
    make_tuples,
    numbers,
    require,
    require_part,
    require_three_sizes,
    whole,
)
from fairenum.document.table_facts import Remark
from fairenum.document.terms import GAPS, Direction, Distinctness, Gap, Sight, Status
from fairenum.document.training import SolverLapse, SvmSettings
from fairenum.document.value import Estimate, Quantiles, Value

# A draw of a table whose sizes are not given: small enough for hundreds of trials.
MOST_TRAINED, MOST_AUDITED = 300, 1000
SHARE_TRAINED = 0.6


@dataclass(frozen=True, slots=True)
class AttackConfig(Options):
    """Options of a simulated attack, apart from the table.

    Parameters
    ----------
    svm
        The support vector machine that is trained; its C is a number. Its class weight is not "auto"; "balanced" is
        resolved anew by the labels of every draw, also after an attack.
    strategies
        Names of strategies.
    flips
        Budgets of flips: whole numbers are rows, others shares of the training rows.
    trials
        Number of draws of the table.
    group
        The group that the attack is aimed at; by default the group with the fewest favourable labels.
    direction
        The label that flips lead to; by default each strategy's own.
    sees
        The rows that the attacker sees: the training rows alone, or also the rows that the audit is made on.
    defences
        Names of the defences to measure.
    sizes
        Train, selection and holdout: rows, or shares of the table. By default a draw trains on at most 300 rows and
        audits at most 1000.
    k, distinct, min_difference, patience
        Which models are listed, as in `AuditConfig`.
    metric
        The gap that is measured.
    primary
        The sensitive column, or intersection, whose groups are compared; by default the first.
    seed
        Seed of the first trial; each further trial has the next.
    confidence
        Confidence of intervals over trials.
    standardise
        Scale numbers to mean 0 and variance 1.
    """

    subject: ClassVar[str] = "an attack"

    svm: SvmSettings = field(default_factory=SvmSettings)
    strategies: tuple[str, ...] = ("paper",)
    flips: tuple[int | float, ...] = (10,)
    trials: int = 100
    group: str | None = None
    direction: Direction | None = None
    sees: Sight = "train"
    defences: tuple[str, ...] = ()
    sizes: Sizes | None = None
    k: int = 50
    distinct: Distinctness = "support"
    min_difference: float = 0.01
    patience: int = 1000
    metric: Gap = "demographic_parity_difference"
    primary: str | None = None
    seed: int = 0
    confidence: float = 0.95
    standardise: bool = True

    def __post_init__(self) -> None:
        require_part(self.svm, "svm", SvmSettings)
        make_tuples(self, ("strategies", "flips", "defences", *(("sizes",) if self.sizes is not None else ())))
        check_options(self, ATTACK_WORDS, ATTACK_WHOLE, ATTACK_NUMBERS, ("standardise",), optional=("direction",))
        require(self.svm, "C", self.svm.C != "auto", "a positive number")
        self.svm.require_class_weight()
        for name in ("strategies", "flips"):
            require(self, name, len(getattr(self, name)) > 0, "at least one")
        for name in ("strategies", "flips", "defences"):
            require(self, name, len(set(getattr(self, name))) == len(getattr(self, name)), "a list without repetitions")
        is_budget = all(is_whole(flips, 0, HUGE) or is_number(flips, 0, 1) for flips in self.flips)
        require(self, "flips", is_budget, "numbers of rows, or shares between 0 and 1")
        require(self, "flips", max(self.flips) <= MOST_ROWS, f"numbers of at most {MOST_ROWS} rows")
        if self.sizes is not None:
            require_three_sizes(self, self.sizes)
            require(self, "sizes", self.sizes[2] > 0, "three numbers, of which the holdout is not 0")

    @property
    def rows_trained(self) -> int:
        """The number of training rows in a draw, once the sizes are rows."""
        return int(self.sizes[0]) if self.sizes else 0

    def sizes_for(self, rows: int) -> Sizes:
        """Return the split sizes of a draw from a table with `rows` rows."""
        if self.sizes is not None:
            return self.sizes
        train = min(round(SHARE_TRAINED * rows), MOST_TRAINED)
        return train, 0, min(rows - train, MOST_AUDITED)


def budget(flips: float, rows: int) -> int:
    """Turn a budget of flips into rows: whole numbers are rows already, others shares."""
    return int(flips) if is_whole(flips, 0, MOST_ROWS) else round(flips * rows)


ATTACK_WORDS: Mapping[str, tuple[str, ...]] = {
    "direction": get_args(Direction),
    "sees": get_args(Sight),
    "distinct": get_args(Distinctness),
    "metric": GAPS,
}
ATTACK_WHOLE = whole("trials", "k", "patience", "seed")
ATTACK_NUMBERS = numbers("min_difference", "confidence")


class Measured(Value, frozen=True):
    """Gap and error of one model of one trial.

    Attributes
    ----------
    gap, error
        On the holdout.
    train_gap
        On the training rows, which the attacker sees.
    """

    gap: float | None
    error: float | None
    train_gap: float | None


class RecoveryRanks(Value, frozen=True):
    """The first listed models that make up for the attack.

    Attributes
    ----------
    rank
        Rank of the first model whose gap is at most the clean one, with no more error than model 1; null if there is
        none.
    paper_rank
        Rank of the first model with a smaller gap than the clean one and less error than model 1, as the paper reports.
    """

    rank: int | None = None
    paper_rank: int | None = None


class TrialDetection(Value, frozen=True):
    """Flipped rows among those that fairer models leave out.

    Attributes
    ----------
    left_out
        Rows that some fairer model leaves out.
    chance, support_chance
        Precision of picking any training row, and of picking any support vector of model 1.
    """

    left_out: int
    precision: float
    recall: float
    chance: float
    support_chance: float


class Defended(Value, frozen=True):
    """Gap and error under a defence on the holdout of one trial, or why it failed."""

    gap: float | None = None
    error: float | None = None
    failure: str | None = None


class Attacked(Measured, frozen=True):
    """One attack on one draw: model 1 after the flips, and the listed models.

    Attributes
    ----------
    flips
        The budget as asked for.
    rows
        Training rows of the draw whose labels were flipped.
    models, predictors, tied
        Number of listed models, of different predictors among them on the holdout, and of models that share the best
        objective.
    detection
        Null if no fairer model leaves out any row.
    """

    strategy: str
    flips: int | float
    rows: tuple[int, ...]
    models: int
    predictors: int
    tied: int
    recovery: RecoveryRanks
    detection: TrialDetection | None
    defences: dict[str, Defended]


class Failure(Value, frozen=True):
    """Why a trial, or one of its attacks, has no numbers."""

    strategy: str | None
    flips: int | float | None
    message: str


class TrialRecord(Value, frozen=True):
    """Results of all attacks on one draw of the table.

    Attributes
    ----------
    clean
        The model before any flip; null if the draw failed.
    lapse
        The solver that failed, if another took over.
    """

    trial: int
    seed: int
    clean: Measured | None
    attacks: tuple[Attacked, ...]
    failures: tuple[Failure, ...]
    lapse: SolverLapse | None = None


class Levels(Value, frozen=True):
    """Mean gaps and errors over trials.

    Attributes
    ----------
    trials
        Trials that were finished.
    gap, error
        On the holdout.
    train_gap
        On the training rows, which the attacker sees.
    """

    trials: int
    gap: Estimate
    gap_quantiles: Quantiles | None
    error: Estimate
    train_gap: Estimate


class Recovery(Value, frozen=True):
    """How often a listed model has at most the clean model's gap on the holdout, with no more error than model 1.

    Models that decide all rows alike do not count.

    Attributes
    ----------
    share
        Share of trials with such a model.
    at_rank_1
        Share of trials in which model 1 is such a model: nothing to recover from.
    of_raised
        Share of trials with such a model, among the trials whose gap was raised.
    rank_quantiles
        Rank of the first such model, where there is one.
    paper_share
        Share of trials in which a listed model has a smaller gap than the clean model and less error than model 1, as
        the paper reports.
    """

    share: Estimate
    at_rank_1: Estimate
    of_raised: Estimate
    rank_quantiles: Quantiles | None
    paper_share: Estimate


class Detection(Value, frozen=True):
    """Flipped rows among those that fairer models leave out, over the trials in which such models leave out any row."""

    trials: int
    precision: Estimate
    recall: Estimate
    chance: Estimate
    support_chance: Estimate


class DefenceSummary(Value, frozen=True):
    """Gap and error under one defence; changes are against the undefended model of the same trial.

    Attributes
    ----------
    failure
        The reason of the first failure.
    """

    name: str
    trials: int
    gap: Estimate
    gap_change: Estimate
    error: Estimate
    error_change: Estimate
    failed: int
    failure: str | None


class AttackPoint(Levels, frozen=True):
    """One strategy at one budget of flips; changes are against the clean model of the same trial.

    Attributes
    ----------
    flips
        Number of flipped rows.
    share
        Flipped rows as a share of the training rows.
    raised
        Share of trials whose gap is larger than the clean one.
    predictors
        Number of different predictors among the listed models, on the holdout.
    one_predictor
        Share of trials in which all listed models are one predictor.
    all_differ
        Share of trials in which no two listed models decide the holdout alike.
    all_tied
        Share of trials in which all listed models have the same objective.
    """

    flips: int
    share: float
    gap_change: Estimate
    gap_change_quantiles: Quantiles | None
    error_change: Estimate
    train_gap_change: Estimate
    raised: Estimate
    recovery: Recovery
    predictors: Estimate
    one_predictor: Estimate
    all_differ: Estimate
    all_tied: Estimate
    detection: Detection | None
    defences: tuple[DefenceSummary, ...]


class AttackCurve(Value, frozen=True):
    """One strategy over all budgets."""

    strategy: str
    points: tuple[AttackPoint, ...]


class TrialFailure(Failure, frozen=True):
    """A failure, with the number and seed of its trial."""

    trial: int
    seed: int


class Attack(Value, frozen=True):
    """Summary of a simulated attack: the effect of label flips, over many draws of a table.

    Intervals are over trials; trials of the same number share their draw.

    Attributes
    ----------
    config
        The options, as resolved.
    clean
        Means before any flip.
    is_out_of_time
        Whether a time limit ended the attack before all trials were done.
    """

    status: Status
    config: AttackConfig
    clean: Levels
    curves: tuple[AttackCurve, ...]
    failures: tuple[TrialFailure, ...]
    is_out_of_time: bool = False


class DrawnTable(Value, frozen=True):
    """The table that trials draw their rows from.

    Attributes
    ----------
    remarks
        Remarks made while the table was read.
    """

    name: str
    rows: int
    label: str
    favourable: str
    fingerprint: str
    remarks: tuple[Remark, ...] = ()


class AttackDocument(Document, frozen=True, kw_only=True, tag="attack"):
    """The document of a simulated attack; the same input and seed give the same document, apart from timings.

    Attributes
    ----------
    attack
        The summary over trials.
    trials
        One record for each finished trial, in order.
    """

    title: ClassVar[str] = "simulated attack"
    command: ClassVar[str] = "fairenum attack DATA"

    dataset: DrawnTable
    attack: Attack
    trials: tuple[TrialRecord, ...]

    @property
    def name(self) -> str:
        """The name of the run, after its table."""
        return f"attack-{self.dataset.name}"
