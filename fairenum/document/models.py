"""The models of an audit: what is proven about each, what it leaves out, and how far the models disagree."""

from __future__ import annotations

from fairenum.document.scores import BaselineScores, SplitScores
from fairenum.document.terms import ListingEnd, Obstacle, Origin
from fairenum.document.tilted import Tilt
from fairenum.document.value import Parts, Value

Cell = float | str | None


class MarginTies(Value, frozen=True):
    """Why many supports can be few predictors: examples on the margin of the best model, and how many determine it.

    Attributes
    ----------
    examples
        Allowed examples on the margin.
    independent
        How many of them, affinely independent, determine it.
    records
        How many training records must at least be left out, whichever they are, before any decision about any row
        changes; 1 where nothing is proven.
    """

    examples: int
    independent: int
    records: int = 1


class EnumerationRun(Value, frozen=True):
    """How the exact models were found, and why no more of them.

    Attributes
    ----------
    nodes
        Boxes solved.
    supports
        Models with distinct supports that were seen.
    models
        Those of them that are listed.
    audited_rows
        Rows of selection and holdout whose decisions tell models apart; their labels do not count.
    ties
        There if most supports repeat the decisions of another.
    """

    stopped: ListingEnd
    nodes: int
    supports: int
    models: int
    audited_rows: int
    ties: MarginTies | None = None


class GuidedRun(Value, frozen=True):
    """How the guided search went.

    Attributes
    ----------
    stopped
        Why it ended; ``skipped`` if there was nothing to guide it.
    solves
        Boxes solved.
    front
        Models that none beats in objective, gap and performance together, model 1 among them.
    models
        Those of them that joined the list.
    obstacle
        Why it was skipped; null otherwise.
    """

    stopped: str
    solves: int = 0
    front: int = 0
    models: int = 0
    obstacle: Obstacle | None = None


class LeftOut(Value, frozen=True):
    """A training example that a model was not shown, or not all its copies.

    A redacted document has no more than the numbers of copies.

    Attributes
    ----------
    copies
        How many of its identical records are left out.
    of
        How many there are.
    row
        Its first row in the input table, counted from 0; more in examples.
    groups
        Its records by sensitive column and group.
    """

    copies: int
    of: int
    row: int | None = None
    label: str | None = None
    groups: dict[str, dict[str, int]] | None = None

    @property
    def counted(self) -> LeftOut:
        """Keep the numbers of copies alone."""
        return LeftOut(self.copies, self.of)


class ChangedRows(Value, frozen=True):
    """Rows decided otherwise than by model 1."""

    rows: int
    share: float


class AuditedModel(Value, frozen=True):
    """A listed model: what is proven about it, what it leaves out, and what it does.

    Attributes
    ----------
    origin
        Exact: listed best first; guided: found by the search for less unfairness on the selection split, so its scores
        there flatter and carry no verdict; tilted: of a machine that pays for the difference between two groups there,
        of which the same holds. A tilted model leaves nothing out, and comes after the others, least loss first.
        Steered: best first, too, but among the machines that leave out, or keep, what somebody wanted who looked at
        these scores.
    support_rank
        Its place among all models with distinct supports; null for other models, whose place is not known.
    objective
        Of the problem that is left when examples are left out. A tilted model answers another problem: it has none.
    objective_bound
        The optimum lies between objective and this.
    objective_ratio
        Objective as a share of that of model 1.
    relative_gap
        Width of the proven interval, as a share of the objective.
    is_order_certified
        Whether the intervals prove its place.
    loss_ratio
        Its loss on all training examples, relative to the best, minus 1.
    supports
        How many models with distinct supports decide all audited rows as this one does.
    bias_interval
        Every optimal bias lies in here; null is infinite.
    cut
        Decision values of at least this are favourable: 0 unless models are cut elsewhere.
    tied
        Rows of the selection split that a finer cut would have to divide, but which have one decision value.
    undetermined
        Rows whose decision the optimum leaves open, by split.
    predictions_changed
        Rows decided otherwise than by model 1, by split.
    is_constant
        Whether it decides all rows of the selection split alike.
    tilt
        What a tilted model pays for; null for others.
    """

    rank: int
    origin: Origin
    support_rank: int | None
    objective: float | None
    objective_bound: float | None
    objective_ratio: float | None
    relative_gap: float | None
    is_order_certified: bool
    loss_ratio: float
    support_size: int
    supports: int
    left_out: tuple[LeftOut, ...]
    bias: float
    bias_interval: tuple[float | None, float | None]
    undetermined: Parts[int]
    predictions_changed: Parts[ChangedRows]
    is_constant: bool
    scores: Parts[SplitScores]
    cut: float = 0.0
    tied: int = 0
    tilt: Tilt | None = None

    @property
    def is_searched(self) -> bool:
        """Whether it was searched for on the selection split, so that its scores there flatter."""
        return self.origin != "exact"

    @property
    def shortfall(self) -> float:
        """What it lacks of model 1, which eps is about: a share of the objective or, if tilted, of the loss."""
        return self.loss_ratio if self.objective_ratio is None else 1.0 - self.objective_ratio

    @property
    def offset(self) -> float:
        """What a decision value starts from: the bias, minus the cut, so that from 0 on it is favourable."""
        return self.bias - self.cut

    @property
    def records_left_out(self) -> int:
        """The training records that it leaves out, copy by copy."""
        return sum(entry.copies for entry in self.left_out)


class Example(Value, frozen=True):
    """A training example that some model leaves out.

    Attributes
    ----------
    row
        Its first row in the input table, counted from 0.
    rows
        All its identical training records.
    """

    row: int
    rows: tuple[int, ...]
    label: str
    groups: dict[str, dict[str, int]]
    values: dict[str, Cell]


class GroupDisagreement(Value, frozen=True):
    """How far the models disagree about the rows of one group.

    Attributes
    ----------
    flipped
        Rows that at least one model decides otherwise than model 1.
    """

    group: str
    rows: int
    flipped: int
    ambiguity: float | None
    discrepancy: float | None
    disagreement: float | None
    viable_range: float | None
    capacity: float | None


class Multiplicity(Value, frozen=True):
    """How far the models disagree about the holdout; probabilities are calibrated on the selection split (Platt)."""

    rows: int
    models: int
    flipped: int
    ambiguity: float
    discrepancy: float
    disagreement: float
    viable_range: float
    capacity: float
    by_column: dict[str, tuple[GroupDisagreement, ...]]


class Baseline(Value, frozen=True):
    """A mitigation that is no model of the enumeration.

    Attributes
    ----------
    is_randomised
        Whether it decides by chance; its scores are then of one draw with the run's seed.
    needs_groups
        Whether it has to be told the group of whom it decides about.
    error
        Why it gave no answer; null if it did.
    """

    name: str
    is_randomised: bool
    needs_groups: bool
    error: str | None
    scores: BaselineScores | None
