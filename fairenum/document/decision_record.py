"""The decision record of an exploration: a header, then one line for each step, with the sha256 of the line before."""

from __future__ import annotations

from typing import Final, Literal

from fairenum.document.audit_config import AuditConfig
from fairenum.document.header import Environment
from fairenum.document.training import Tolerances
from fairenum.document.value import Value

RECORD_VERSION: Final = "1.0"
# Why a step showed no new model: all models so far decide alike, no model is left, or the solver failed.
StepEnd = Literal["alike", "exhausted", "solver"]


class Taken(Value, frozen=True, tag_field="step"):
    """The base class of the steps that a user can take in an exploration."""


class Next(Taken, frozen=True, tag="next"):
    """Show the next best model that obeys earlier `LeaveOut` and `Pin` steps on rows to leave out and to keep.

    Attributes
    ----------
    boxes
        Number of training problems to solve before the step ends without a new model.
    """

    boxes: int


class Fairer(Taken, frozen=True, tag="fairer"):
    """Continue the guided search for fairer models; `solves` is the number of training problems to solve."""

    solves: int


class LeaveOut(Taken, frozen=True, tag="leave_out"):
    """Leave training rows out of every model from now on; rows are counted from 0 in the input table."""

    rows: tuple[int, ...]


class Pin(Taken, frozen=True, tag="pin"):
    """Keep training rows in every model from now on, also rows that were left out before; rows are counted from 0."""

    rows: tuple[int, ...]


class Undo(Taken, frozen=True, tag="undo"):
    """Take back the last step that has not been taken back."""


class Tolerate(Taken, frozen=True, tag="tolerate"):
    """Change the limits (tolerances and guardrails) within which the fairest model is chosen."""

    tolerances: Tolerances


class Commit(Taken, frozen=True, tag="commit"):
    """Decide for a model, and open the holdout, which is hidden until then.

    Attributes
    ----------
    model
        Number of the model in the exploration.
    reason, author
        Why the model was decided for, and by whom.
    """

    model: int
    reason: str
    author: str


Step = Next | Fairer | LeaveOut | Pin | Undo | Tolerate | Commit


class ModelMark(Value, frozen=True):
    """Checksums by which a model is recognised when an exploration is repeated.

    Attributes
    ----------
    number
        Number of the model in the order in which models were looked at, from 1.
    support
        Number of support vectors.
    alpha, decisions
        The sha256 of the model's dual variables, bias and left-out rows, and of its decisions on the selection split.
    """

    number: int
    support: int
    alpha: str
    decisions: str


class StepOutcome(Value, frozen=True):
    """The state of an exploration after a step.

    Attributes
    ----------
    shown
        The models that the step added to the list.
    current
        Number of the model whose details are shown.
    chosen
        Number of the model that the rule of choice would select; null if there is none.
    looked_at
        Number of models looked at so far, including those of steps that were taken back.
    end
        Why the step found no new model; null if it found one, or did not look for one.
    """

    shown: tuple[ModelMark, ...]
    current: int
    chosen: int | None
    looked_at: int
    end: StepEnd | None = None


class Line(Value, frozen=True, tag_field="line"):
    """The base class of the lines of a decision record: header, steps and results of commits."""


class RecordHeader(Line, frozen=True, tag="record", kw_only=True):
    """The first line of a decision record: table, options and environment of the exploration.

    Attributes
    ----------
    at
        When the line was written, in ISO 8601.
    data, fingerprint
        The name of the table, and the sha256 of its content.
    label, favourable, sensitive
        The label column, its favourable value, and the sensitive columns.
    config
        The options as the user gave them.
    is_opened
        Whether the holdout had been opened before, by a saved run that the exploration starts from.
    outcome
        The state before the first step, in which model 1 is shown.
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
        Number of the line, counted from 1 after the header.
    at
        When the step was taken, in ISO 8601.
    previous
        The sha256 of the line before.
    outcome
        The state after the step.
    """

    number: int
    at: str
    previous: str
    taken: Step
    outcome: StepOutcome


class Judged(Line, frozen=True, tag="judged"):
    """The line after a commit, with the rank of the committed model in the audit run that followed.

    Attributes
    ----------
    number
        Number of the line, counted from 1 after the header.
    at
        When the line was written, in ISO 8601.
    previous
        The sha256 of the line before.
    rank
        Rank of the committed model in the run.
    run
        The sha256 of the document of the run, without its timings.
    """

    number: int
    at: str
    previous: str
    rank: int
    run: str


RecordLine = RecordHeader | Entry | Judged
