"""The models of an audit: proofs, left-out examples and disagreement, and how the searches for them went."""

from __future__ import annotations

from typing import Literal

from fairenum.document.scores import BaselineScores, SplitScores
from fairenum.document.terms import ListingEnd, Obstacle, Origin, TiltedEnd, TiltRate
from fairenum.document.value import Parts, Value


class TiltedRun(Value, frozen=True):
    """How the search among tilted models went.

    Attributes
    ----------
    stopped
        Why it ended; ``no_direction`` if model 1 has no gap that a price could narrow.
    rise
        Largest rise of the loss on all training rows, as a share of the least.
    solves
        Models trained, each at another price.
    front
        Models that none beats in loss, gap and performance together.
    models
        Number of these models that joined the list.
    """

    stopped: TiltedEnd
    rise: float
    solves: int = 0
    front: int = 0
    models: int = 0


class Tilt(Value, frozen=True):
    """The price on the difference of mean decision values between two groups, with which a tilted model is trained.

    Attributes
    ----------
    price
        Price of one unit of the difference, in units of the loss.
    column, groups
        The sensitive column, and two of its compared groups: the better off under model 1, then the worse off.
    rate
        The rate in which the groups lie farthest apart; the means are over the rows of the selection split that the
        rate is a share of.
    """

    price: float
    column: str
    groups: tuple[str, str]
    rate: TiltRate


IncumbentSource = Literal["decisions", "score", "model"]


class Incumbent(Value, frozen=True):
    """The model in use: the source of its decisions, and its scores on the same rows as the models.

    Attributes
    ----------
    name
        Name of the column or the file.
    source
        A column of decisions, a column of scores, or a model that was run on the rows.
    favourable, unfavourable
        Names of its two decisions; null where a score was cut.
    cutoff
        The cutoff of its score, on the scale of the score; null where decisions were given.
    is_lower_better
        Whether lower scores are favourable.
    has_score
        Whether it has a score that ranks people.
    undecided
        Rows of the table without a decision, which are not part of the audit.
    agreement
        Share of all rows of the audit whose decision equals the label.
    predictions_changed
        Rows decided differently from model 1, by split.
    is_constant
        Whether it decides all rows of the selection split alike.
    copies
        Features that nearly reveal its decisions alone, so that models can learn to copy it.
    """

    name: str
    source: IncumbentSource
    scores: Parts[SplitScores]
    agreement: float
    predictions_changed: Parts[ChangedRows]
    is_constant: bool
    has_score: bool = False
    favourable: str | None = None
    unfavourable: str | None = None
    cutoff: float | None = None
    is_lower_better: bool = False
    undecided: int = 0
    copies: tuple[str, ...] = ()

    @property
    def rank(self) -> int:
        """The rank of the model in use: 0, before model 1."""
        return 0


Cell = float | str | None


class MarginTies(Value, frozen=True):
    """Why many supports can be few predictors: examples on the margin of the best model, and how many determine it.

    Attributes
    ----------
    examples
        Allowed examples on the margin.
    independent
        Number of affinely independent examples among them, which determine the margin.
    records
        Fewest training records that must be left out, whichever they are, before any decision about any row changes; 1
        where nothing is proven.
    """

    examples: int
    independent: int
    records: int = 1


class EnumerationRun(Value, frozen=True):
    """How the enumeration of exact models went, and why it stopped.

    Attributes
    ----------
    nodes
        Boxes solved.
    supports
        Models with distinct supports that were seen.
    models
        Number of these models that are listed.
    audited_rows
        Rows of selection and holdout whose decisions distinguish models; their labels do not matter.
    ties
        Null unless most supports repeat the decisions of another.
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
        Number of these models that joined the list.
    obstacle
        Why it was skipped; null otherwise.
    """

    stopped: str
    solves: int = 0
    front: int = 0
    models: int = 0
    obstacle: Obstacle | None = None


class LeftOut(Value, frozen=True):
    """A training example that a model was trained without, in all or some of its copies.

    A redacted document has no more than the numbers of copies.

    Attributes
    ----------
    copies
        Number of identical records that are left out.
    of
        Number of identical records in all.
    row
        First row of the example in the input table, counted from 0; more in examples.
    groups
        Records by sensitive column and group.
    """

    copies: int
    of: int
    row: int | None = None
    label: str | None = None
    groups: dict[str, dict[str, int]] | None = None

    @property
    def counted(self) -> LeftOut:
        """A copy with the numbers of copies alone."""
        return LeftOut(self.copies, self.of)


class ChangedRows(Value, frozen=True):
    """Rows decided differently from model 1."""

    rows: int
    share: float


class AuditedModel(Value, frozen=True):
    """A listed model: its proofs, left-out examples and scores.

    Attributes
    ----------
    origin
        Exact: listed best first. Guided: found by the search for less unfairness on the selection split, so that its
        scores there are biased in its favour and carry no verdict. Tilted: trained with a price on the difference
        between two groups there, with the same consequence; a tilted model leaves nothing out, and comes after the
        others, least loss first. Steered: listed best first, but among the models that leave out, or keep, rows chosen
        by somebody who saw these scores.
    support_rank
        Place among all models with distinct supports; null where it is not known.
    objective
        Objective of the problem without the left-out examples; null for a tilted model, which solves another problem.
    objective_bound
        The optimum lies between the objective and this bound.
    objective_ratio
        Objective as a share of that of model 1.
    relative_gap
        Width of the proven interval, as a share of the objective.
    is_order_certified
        Whether the proven intervals prove its place in the order.
    loss_ratio
        Relative loss on all training examples above the least.
    supports
        Number of models with distinct supports that decide all audited rows as this one does.
    bias_interval
        Interval of all optimal biases; null is infinite.
    cut
        Decision values of at least this are favourable: 0 unless models are cut elsewhere.
    tied
        Rows of the selection split with the decision value at the cut, which no cut can divide.
    undetermined
        Rows whose decision the optimum leaves open, by split.
    predictions_changed
        Rows decided differently from model 1, by split.
    is_constant
        Whether it decides all rows of the selection split alike.
    tilt
        The price that a tilted model was trained with; null for others.
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
        """Whether the model was searched for on the selection split, so that its scores there are biased."""
        return self.origin != "exact"

    @property
    def shortfall(self) -> float:
        """The relative loss against model 1 that eps limits: of the objective or, for a tilted model, of the loss."""
        return self.loss_ratio if self.objective_ratio is None else 1.0 - self.objective_ratio

    @property
    def offset(self) -> float:
        """The constant part of decision values: the bias minus the cut, so that values from 0 on are favourable."""
        return self.bias - self.cut

    @property
    def records_left_out(self) -> int:
        """The number of training records left out, copy by copy."""
        return sum(entry.copies for entry in self.left_out)


class Example(Value, frozen=True):
    """A training example that some model leaves out.

    Attributes
    ----------
    row
        First row of the example in the input table, counted from 0.
    rows
        All identical training records.
    """

    row: int
    rows: tuple[int, ...]
    label: str
    groups: dict[str, dict[str, int]]
    values: dict[str, Cell]


class GroupDisagreement(Value, frozen=True):
    """Disagreement of the listed models about the rows of one group.

    Attributes
    ----------
    flipped
        Rows that at least one model decides differently from model 1.
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
    """Disagreement of the listed models about the holdout, calibrated on the selection split (Platt)."""

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
    """Another mitigation, for comparison with the models.

    Attributes
    ----------
    is_randomised
        Whether the method decides by chance; its scores are then of one draw with the run's seed.
    needs_groups
        Whether the method has to know the group of each person it decides about.
    error
        Why the method failed; null if it did not.
    """

    name: str
    is_randomised: bool
    needs_groups: bool
    error: str | None
    scores: BaselineScores | None
