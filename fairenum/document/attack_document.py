"""The document of a simulated attack: the effect of label flips, over many draws of a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, get_args

from fairenum.document.audit_config import AuditConfig
from fairenum.document.header import Document
from fairenum.document.options import (
    ATTACK,
    HUGE,
    MOST_ROWS,
    TRIALS,
    Options,
    Sizes,
    as_tuple,
    choice,
    documented,
    is_number,
    is_whole,
    like,
    names,
    parse_numbers,
    part,
    require,
    shown,
    text,
    three_sizes,
    whole,
)
from fairenum.document.table_facts import Remark
from fairenum.document.terms import Direction, Distinctness, Gap, Sight, Status
from fairenum.document.training import PAIR, SolverLapse, SvmSettings
from fairenum.document.value import Estimate, Quantiles, Value

# A draw of a table whose sizes are not given: small enough for hundreds of trials.
MOST_TRAINED, MOST_AUDITED, SHARE_TRAINED = 300, 1000, 0.6


def _some(name: str, value: object) -> tuple[Any, ...]:
    """Return a list as a tuple; refuse an empty list, and repetitions."""
    values = as_tuple(value)
    require(name, values, len(values) > 0, "at least one")
    return _different(name, values)


def _different(name: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    require(name, values, len(set(values)) == len(values), "a list without repetitions")
    return values


def _budgets(value: object) -> tuple[float, ...]:
    flips = _some("flips", value)
    is_budget = all(is_whole(one, 0, HUGE) or is_number(one, 0, 1) for one in flips)
    require("flips", flips, is_budget, "numbers of rows, or shares between 0 and 1")
    require("flips", flips, max(flips) <= MOST_ROWS, f"numbers of at most {MOST_ROWS} rows")
    return flips


def _parse_budgets(text: str) -> tuple[float, ...]:
    try:
        return parse_numbers(text)
    except ValueError as error:
        raise ValueError(f"{shown(text)} is no list of rows or shares to flip, such as 10 or 0.01,0.05") from error


def _sizes(value: object) -> tuple[float, ...]:
    sizes = three_sizes(value)
    require("sizes", sizes, sizes[2] > 0, "three numbers, of which the holdout is not 0")
    return sizes


@documented
@dataclass(frozen=True, slots=True)
class AttackConfig(Options):
    """Options of a simulated attack, apart from the table."""

    subject: ClassVar[str] = "an attack"

    svm: SvmSettings = part(
        SvmSettings,
        'The support vector machine that is trained; its C is a number. Its class weight is not "auto"; "balanced" is '
        "resolved anew by the labels of every draw, also after an attack.",
        changes={
            "C": {"words": (), "must": "a positive number", "help": "Cost of a violated margin, {range}."},
            "class_weight": {
                "words": ("none", "balanced"),
                "must": f"none, balanced or {PAIR}",
                "metavar": "none|balanced|FAV:UNFAV",
                "help": "Multiples of C by label.",
            },
        },
    )
    strategies: tuple[str, ...] = names(
        ("paper",),
        read=partial(_some, "strategies"),
        panel=ATTACK,
        flags="--strategy",
        metavar="NAME",
        help="How rows are chosen; repeatable. paper, random, group, margin_near, margin_far, support, greedy_parity, "
        "alfa, or one that is installed.",
    )
    flips: tuple[int | float, ...] = text(
        (10,),
        read=_budgets,
        panel=ATTACK,
        metavar="N,..",
        parse=_parse_budgets,
        help="Budgets of flips: rows, or shares of the training rows such as 0.05.",
    )
    trials: int = whole(100, 1, 100_000, panel=TRIALS, help="Draws of the table.")
    group: str | None = text(
        None, panel=ATTACK, metavar="GROUP", unset="the one with the fewest favourable labels", help="Group to harm."
    )
    direction: Direction | None = choice(
        None, get_args(Direction), panel=ATTACK, unset="each strategy's own", help="Label that flips lead to."
    )
    sees: Sight = choice(
        "train",
        get_args(Sight),
        panel=ATTACK,
        help="What the attacker sees: the training rows, or also the audited rows.",
    )
    defences: tuple[str, ...] = names(
        (),
        read=partial(_different, "defences"),
        panel=ATTACK,
        flags="--defence",
        metavar="NAME|all",
        help="Defence to compare; repeatable. knn_relabelling, loss_removal, fairest_listed, "
        "fairest_guided, reweighing, grid_search, exponentiated_gradient, threshold_optimizer.",
    )
    sizes: Sizes | None = like(
        AuditConfig,
        "sizes",
        None,
        read=_sizes,
        panel=TRIALS,
        help="Rows of a draw: train, selection and holdout.",
        unset="up to 300,0,1000",
    )
    k: int = like(AuditConfig, "k")
    distinct: Distinctness = like(AuditConfig, "distinct", "support")
    min_difference: float = like(AuditConfig, "min_difference")
    patience: int = like(
        AuditConfig,
        "patience",
        1000,
        words=(),
        help="Give up after this number of models without a distinct one.",
    )
    metric: Gap = like(AuditConfig, "metric", panel=TRIALS, doc="The gap that is measured.")
    primary: str | None = like(AuditConfig, "primary", help="Sensitive column whose groups are compared, or 'a & b'.")
    seed: int = like(AuditConfig, "seed", panel=TRIALS, help="Seed of the first draw; each further draw has the next.")
    confidence: float = like(AuditConfig, "confidence", panel=TRIALS, help="Confidence of intervals over draws.")
    standardise: bool = like(AuditConfig, "standardise")

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
