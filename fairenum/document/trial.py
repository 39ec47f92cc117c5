"""What one draw of a simulated attack keeps."""

from __future__ import annotations

from fairenum.document.training import SolverLapse
from fairenum.document.value import Value


class Measured(Value, frozen=True):
    """One model of one trial.

    Attributes
    ----------
    gap, error
        On the holdout.
    train_gap
        On the training rows, which is what the attacker sees.
    """

    gap: float | None
    error: float | None
    train_gap: float | None


class RecoveryRanks(Value, frozen=True):
    """Whether a listed model makes up for the attack.

    Attributes
    ----------
    rank
        Of the first model whose gap is at most the clean one, at no more error than model 1; null if there is none.
    paper_rank
        Of the first model with a smaller gap than the clean one and less error than model 1, as the paper reports.
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
        The precision of any row, and of any support vector of model 1.
    """

    left_out: int
    precision: float
    recall: float
    chance: float
    support_chance: float


class Defended(Value, frozen=True):
    """What a defence does to the holdout of one trial, or why it failed."""

    gap: float | None = None
    error: float | None = None
    failure: str | None = None


class Attacked(Measured, frozen=True):
    """One attack on one draw: model 1 of what it leaves, and what the listed models show.

    Attributes
    ----------
    flips
        The budget as asked for.
    rows
        Training rows of the draw whose labels were flipped.
    models, predictors, tied
        Listed models, how many different predictors they are on the holdout, and how many share the best objective.
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
    """Why a trial, or one attack of it, has no numbers."""

    strategy: str | None
    flips: int | float | None
    message: str


class TrialRecord(Value, frozen=True):
    """One draw of the table.

    Attributes
    ----------
    clean
        The model before any flip; null if the draw failed.
    lapse
        The solver that failed, if another went on in its place.
    """

    trial: int
    seed: int
    clean: Measured | None
    attacks: tuple[Attacked, ...]
    failures: tuple[Failure, ...]
    lapse: SolverLapse | None = None
