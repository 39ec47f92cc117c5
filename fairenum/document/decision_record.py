"""The decision record of an exploration: a header, then one line for each step, each bound to the line before it."""

from __future__ import annotations

from typing import Final, Literal

from fairenum.document.audit_config import AuditConfig
from fairenum.document.header import Environment
from fairenum.document.training import Tolerances
from fairenum.document.value import Value

RECORD_VERSION: Final = "1.0"
# Why a step showed nothing more: all are alike so far, none is left, or the solver failed.
StepEnd = Literal["alike", "exhausted", "solver"]


class Taken(Value, frozen=True, tag_field="step"):
    """A step of an exploration."""


class Next(Taken, frozen=True, tag="next"):
    """Show the next best model within the current box.

    Attributes
    ----------
    boxes
        Solved boxes after which to return without a model.
    """

    boxes: int


class Fairer(Taken, frozen=True, tag="fairer"):
    """Continue the guided search for a number of solved boxes."""

    solves: int


class LeaveOut(Taken, frozen=True, tag="leave_out"):
    """Leave training rows out of every box from now on; rows are counted from 0 in the input table."""

    rows: tuple[int, ...]


class Pin(Taken, frozen=True, tag="pin"):
    """Keep training rows in every box from now on, and put back those that were left out."""

    rows: tuple[int, ...]


class Undo(Taken, frozen=True, tag="undo"):
    """Take back the last step that is still in force."""


class Tolerate(Taken, frozen=True, tag="tolerate"):
    """Change the tolerances and guardrails of the choice."""

    tolerances: Tolerances


class Commit(Taken, frozen=True, tag="commit"):
    """Decide for a model, and open the holdout.

    Attributes
    ----------
    model
        Number of the model.
    """

    model: int
    reason: str
    author: str


Step = Next | Fairer | LeaveOut | Pin | Undo | Tolerate | Commit


class ModelMark(Value, frozen=True):
    """The fingerprint by which a model is recognised, bit for bit.

    Attributes
    ----------
    number
        Number of the model in the order in which models were looked at, from 1.
    support
        Number of support vectors.
    alpha, decisions
        The sha256 of the model's weights, and of its decisions about the rows of the selection split.
    """

    number: int
    support: int
    alpha: str
    decisions: str


class StepOutcome(Value, frozen=True):
    """The outcome of a step.

    Attributes
    ----------
    shown
        The models that joined the list.
    current
        The number of the model in focus.
    chosen
        The number of the model that the rule chooses; null if there is none.
    looked_at
        Models looked at so far, including those of steps that were taken back.
    end
        Why there was nothing more to show; null otherwise.
    """

    shown: tuple[ModelMark, ...]
    current: int
    chosen: int | None
    looked_at: int
    end: StepEnd | None = None


class Line(Value, frozen=True, tag_field="line"):
    """A line of a decision record."""


class RecordHeader(Line, frozen=True, tag="record", kw_only=True):
    """The first line of a decision record: table, options and environment of the exploration.

    Attributes
    ----------
    at
        When the line was written, in ISO 8601.
    data, fingerprint
        The name of the table, and the sha256 of its content.
    label, favourable, sensitive
        How the table was read, beside the options.
    config
        The options as they were given.
    is_opened
        Whether the run that is explored had looked at the holdout before.
    outcome
        Model 1, which is shown first.
    """

    version: Literal["1.0"] = RECORD_VERSION
    at: str
    environment: Environment
    data: str
    fingerprint: str
    label: str
    favourable: str
    sensitive: tuple[str, ...]
    config: AuditConfig
    is_opened: bool
    outcome: StepOutcome


class Entry(Line, frozen=True, tag="step"):
    """The line of a step that was taken.

    Attributes
    ----------
    number
        Line number, from 1 below the header.
    at
        When the step was taken, in ISO 8601.
    previous
        The sha256 of the line before.
    """

    number: int
    at: str
    previous: str
    taken: Step
    outcome: StepOutcome


class Judged(Line, frozen=True, tag="judged"):
    """The line of the audit run that a commit led to.

    Attributes
    ----------
    rank
        Rank of the committed model in the run.
    run
        The sha256 of the run, without its timings.
    """

    number: int
    at: str
    previous: str
    rank: int
    run: str


RecordLine = RecordHeader | Entry | Judged
