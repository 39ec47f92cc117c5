"""The document of a simulated attack: options, results of every trial, and means over trials.

A trial draws rows from a table at random, trains models before and after some training labels are flipped, and compares
them.
"""

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
    """Options of a simulated attack; the table is given separately."""

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
        """The number of training rows in a draw, if `sizes` are numbers of rows, not shares; 0 if `sizes` is None."""
        return int(self.sizes[0]) if self.sizes else 0

    def sizes_for(self, rows: int) -> Sizes:
        """Return the sizes of train, selection and holdout in a draw from a table with `rows` rows."""
        if self.sizes is not None:
            return self.sizes
        train = min(round(SHARE_TRAINED * rows), MOST_TRAINED)
        return train, 0, min(rows - train, MOST_AUDITED)


def budget(flips: float, rows: int) -> int:
    """Return the number of labels to flip: `flips` itself if it is a whole number, else that share of `rows`."""
    return int(flips) if is_whole(flips, 0, MOST_ROWS) else round(flips * rows)


class Measured(Value, frozen=True):
    """Gap between groups and error of one model in one trial; null where undefined.

    Attributes
    ----------
    gap
        Gap between the groups on the holdout.
    error
        Share of wrong decisions on the holdout.
    train_gap
        Gap between the groups on the training rows, with their labels before any flip.
    """

    gap: float | None
    error: float | None
    train_gap: float | None


class RecoveryRanks(Value, frozen=True):
    """Rank of the first model listed after the label flips that is as fair as the model trained before the flips.

    Attributes
    ----------
    rank
        Rank of the first model whose gap is at most that of the model before the flips, with no more error than model 1
        after the flips; null if there is none.
    paper_rank
        Rank of the first model with a smaller gap than the model before the flips and less error than model 1 after the
        flips, as the paper reports; null if there is none.
    """

    rank: int | None = None
    paper_rank: int | None = None


class TrialDetection(Value, frozen=True):
    """How well the training rows that fairer models leave out match the flipped rows, in one trial.

    Fairer models are the listed models with a smaller gap on the holdout than model 1.

    Attributes
    ----------
    left_out
        Number of training rows that some fairer model leaves out.
    precision
        Share of the left-out rows that were flipped.
    recall
        Share of the flipped rows that are left out.
    chance
        Expected precision of training rows picked at random.
    support_chance
        Expected precision of support vectors of model 1 picked at random.
    """

    left_out: int
    precision: float
    recall: float
    chance: float
    support_chance: float


class Defended(Value, frozen=True):
    """Gap and error on the holdout of one trial under one defence, or the error message if the defence failed."""

    gap: float | None = None
    error: float | None = None
    failure: str | None = None


class Attacked(Measured, frozen=True):
    """Results of one attack on one draw of the table; gaps and error are those of model 1 after the flips.

    Attributes
    ----------
    flips
        Flips as configured: a number of rows, or a share of the training rows.
    rows
        Flipped rows, by their position among the training rows of the draw, counted from 0.
    models
        Number of models listed after the flips.
    predictors
        Number of different decision patterns among these models: models that agree on every holdout row count once.
    tied
        Number of these models whose objective equals that of model 1, including model 1.
    recovery
        Ranks of the first listed models that are as fair as the model before the flips.
    detection
        How well left-out rows match flipped rows; null if no row was flipped, or no fairer model leaves out any row.
    defences
        Gap and error under each defence, by its name.
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
    """The error that ended a trial, or one of its attacks.

    Attributes
    ----------
    strategy, flips
        The attack that failed; null if the whole trial failed.
    """

    strategy: str | None
    flips: int | float | None
    message: str


class TrialRecord(Value, frozen=True):
    """Results of all attacks on one draw of the table.

    Attributes
    ----------
    clean
        Gap and error of the model before any flip; null if the whole trial failed.
    lapse
        The solver that failed, and the solver that took over; null if none failed.
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
        Number of trials that were finished.
    gap
        Mean gap between the groups on the holdout.
    error
        Mean share of wrong decisions on the holdout.
    gap_quantiles
        Quantiles over trials of the gap on the holdout.
    train_gap
        Mean gap between the groups on the training rows, with their labels before any flip.
    """

    trials: int
    gap: Estimate
    gap_quantiles: Quantiles | None
    error: Estimate
    train_gap: Estimate


class Recovery(Value, frozen=True):
    """How often a model listed after the flips is as fair as the model before the flips, without more error.

    A listed model recovers from the attack if, on the holdout, its gap is at most that of the model before the flips,
    and its error at most that of model 1 after the flips. A model that makes the same decision about every row does not
    count.

    Attributes
    ----------
    share
        Share of trials in which some listed model recovers.
    at_rank_1
        Share of trials in which model 1 itself recovers, as the attack has not widened the gap.
    of_raised
        Share of trials in which some listed model recovers, among the trials in which the attack widened the gap.
    rank_quantiles
        Quantiles of the rank of the first model that recovers, over the trials that have one; null if none has.
    paper_share
        Share of trials in which a listed model has a smaller gap than the model before the flips and less error than
        model 1 after the flips, as the paper reports.
    """

    share: Estimate
    at_rank_1: Estimate
    of_raised: Estimate
    rank_quantiles: Quantiles | None
    paper_share: Estimate


class Detection(Value, frozen=True):
    """How well the training rows that fairer models leave out match the flipped rows: means over trials.

    Attributes
    ----------
    trials
        Number of trials in which some fairer model leaves out a row; the others do not count.
    precision, recall, chance, support_chance
        Means of the numbers of the same name in TrialDetection.
    """

    trials: int
    precision: Estimate
    recall: Estimate
    chance: Estimate
    support_chance: Estimate


class DefenceSummary(Value, frozen=True):
    """Means of gap and error on the holdout under one defence.

    Attributes
    ----------
    trials
        Number of trials in which the defence did not fail; means are over these.
    gap_change, error_change
        Mean change against model 1 after the same flips without a defence.
    failed
        Number of trials in which the defence failed.
    failure
        Error message of the first trial in which the defence failed; null if there is none.
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
    """Means over trials for one strategy at one number of flips.

    Gaps and errors are those of model 1 after the flips; changes are against the model before the flips.

    Attributes
    ----------
    flips
        Number of flipped rows.
    share
        Flipped rows as a share of the training rows.
    raised
        Share of trials in which the flips widened the gap on the holdout.
    recovery
        How often a listed model is as fair as the model before the flips.
    predictors
        Mean number of different decision patterns of the listed models: models that agree on every holdout row count
        once.
    one_predictor
        Share of trials in which all listed models agree on every holdout row.
    all_differ
        Share of trials in which no two listed models agree on every holdout row.
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
    """Results of one attack strategy, with one point for each number of flips."""

    strategy: str
    points: tuple[AttackPoint, ...]


class TrialFailure(Failure, frozen=True):
    """The error that ended a trial, or one of its attacks, with the number and seed of the trial."""

    trial: int
    seed: int


class Attack(Value, frozen=True):
    """Summary of a simulated attack: the effect of label flips, over many draws of a table.

    Confidence intervals are over trials. All attacks of one trial are on the same draw.

    Attributes
    ----------
    config
        The options of the attack, with defaults that depend on the table filled in.
    clean
        Means over trials for the model before any flip.
    curves
        Results of each attack strategy.
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
    """The table from which trials draw their rows.

    Attributes
    ----------
    remarks
        Remarks about the table and its columns, made while it was read.
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
        Means over trials.
    trials
        Results of each finished trial, in the order of their numbers.
    """

    title: ClassVar[str] = "simulated attack"
    command: ClassVar[str] = "fairenum attack DATA"

    dataset: DrawnTable
    attack: Attack
    trials: tuple[TrialRecord, ...]

    @property
    def name(self) -> str:
        """The name of the run: ``attack-`` and the name of its table."""
        return f"attack-{self.dataset.name}"
