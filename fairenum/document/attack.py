"""The document of a simulated attack: what label flips do, over many draws of a table."""

from __future__ import annotations

from typing import ClassVar

from fairenum.document.attack_config import AttackConfig
from fairenum.document.header import Document
from fairenum.document.remark import Remark
from fairenum.document.terms import Status
from fairenum.document.trial import Failure, TrialRecord
from fairenum.document.value import Estimate, Quantiles, Value


class Levels(Value, frozen=True):
    """Means over trials.

    Attributes
    ----------
    trials
        Trials that were finished.
    gap, error
        On the holdout.
    train_gap
        On the training rows, which is what the attacker sees.
    """

    trials: int
    gap: Estimate
    gap_quantiles: Quantiles | None
    error: Estimate
    train_gap: Estimate


class Recovery(Value, frozen=True):
    """How often a listed model has at most the clean model's gap on the holdout at no more error than model 1.

    Models that decide all rows alike do not count.

    Attributes
    ----------
    share
        Trials with such a model.
    at_rank_1
        Trials in which it is model 1: nothing to recover from.
    of_raised
        Among the trials whose gap was raised, those with such a model.
    rank_quantiles
        Of the first such model, where there is one.
    paper_share
        Trials in which a listed model has a smaller gap than the clean model and less error than model 1, as the paper
        reports.
    """

    share: Estimate
    at_rank_1: Estimate
    of_raised: Estimate
    rank_quantiles: Quantiles | None
    paper_share: Estimate


class Detection(Value, frozen=True):
    """Flipped rows among those that fairer models leave out, over trials in which they leave out any."""

    trials: int
    precision: Estimate
    recall: Estimate
    chance: Estimate
    support_chance: Estimate


class DefenceSummary(Value, frozen=True):
    """One defence; changes are against the undefended model of the same trial.

    Attributes
    ----------
    failure
        Why it failed, the first time.
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
    """One strategy at one budget; changes are against the clean model of the same trial.

    Attributes
    ----------
    flips
        Flipped rows.
    share
        As a share of the training rows.
    raised
        Share of trials whose gap is larger than the clean one.
    predictors
        How many different predictors the listed models are on the holdout.
    one_predictor
        Share of trials in which they are all one.
    all_differ
        Share of trials in which no two of them decide the holdout alike.
    all_tied
        Share of trials in which all listed models have one objective.
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
    """A failure, and the trial it happened in."""

    trial: int
    seed: int


class Attack(Value, frozen=True):
    """What label flips do, over many draws of a table.

    Intervals are over trials; trials of one number share their draw.

    Attributes
    ----------
    config
        The options, as resolved.
    clean
        The models before any flip.
    is_out_of_time
        Whether a time limit ended it before all trials were done.
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
        What was noticed while it was read.
    """

    name: str
    rows: int
    label: str
    favourable: str
    fingerprint: str
    remarks: tuple[Remark, ...] = ()


class AttackDocument(Document, frozen=True, kw_only=True, tag="attack"):
    """A simulated attack on its own; all but its timings is the same for the same input and seed.

    Attributes
    ----------
    attack
        The summary over trials.
    trials
        One record for each trial that was finished, in order.
    """

    title: ClassVar[str] = "simulated attack"
    command: ClassVar[str] = "fairenum attack DATA"

    dataset: DrawnTable
    attack: Attack
    trials: tuple[TrialRecord, ...]

    @property
    def name(self) -> str:
        """What the run is called: after its table."""
        return f"attack-{self.dataset.name}"
