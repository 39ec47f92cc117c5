"""The models of an audit: proofs of optimality, left-out examples, disagreement, and facts about the searches."""

from __future__ import annotations

from typing import Literal

from fairenum.document.scores import BaselineScores, SplitScores
from fairenum.document.terms import GapRate, ListingEnd, Obstacle, Origin, TiltedEnd, TiltRate, Verdict
from fairenum.document.value import Estimate, Parts, Value


class TiltedRun(Value, frozen=True):
    """Facts about the search among tilted models, which are trained with a price on the difference between two groups.

    Attributes
    ----------
    stopped
        Why the search ended; ``no_direction`` if model 1 has no gap that a price could narrow.
    rise
        Largest allowed rise of the loss on all training rows, as a share of the least loss.
    solves
        Number of models trained, each at another price or against another difference.
    models
        Number of them that were added to the list: those of allowed loss, within the guardrails, and deciding some row
        unlike all others.
    """

    stopped: TiltedEnd
    rise: float
    solves: int = 0
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
        The rate in which the two groups differ under model 1; the mean decision values are over the training rows that
        are in the denominator of this rate.
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
        Where the decisions come from: a column of decisions, a column of scores, or a model that was run on the rows.
    favourable, unfavourable
        Names of the two decisions; null where the decisions come from a score and its cutoff.
    cutoff
        The score at which the decision changes; null where decisions were given.
    is_lower_better
        Whether lower scores are favourable.
    has_score
        Whether the model in use has a score that ranks people.
    undecided
        Number of rows of the table without a decision, which are not part of the audit.
    agreement
        Share of all rows of the audit whose decision equals the label.
    balanced_agreement
        Mean of this share over the two labels, with an interval; 0.5 is chance. Null in older runs.
    auc
        Area under the ROC curve of its score on all rows of the audit, with higher scores favourable unless
        is_lower_better; null without a score, and in older runs.
    predictions_changed
        Rows that the model in use decides differently from model 1, by split.
    is_constant
        Whether the model in use makes the same decision about all rows of the selection split.
    copies
        Features each of which alone almost perfectly predicts the decisions of the model in use.
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
    balanced_agreement: Estimate = Estimate()
    auc: Estimate = Estimate()

    @property
    def rank(self) -> int:
        """The rank of the model in use: 0, before model 1."""
        return 0


Cell = float | str | None


class MarginTies(Value, frozen=True):
    """Numbers that explain why many models with different support vectors decide alike.

    Attributes
    ----------
    examples
        Number of training examples on the margin of the best model.
    independent
        Number of affinely independent examples among them; so many are enough to determine the margin.
    records
        Proven lower bound on the number of training records that must be left out, whichever they are, before the
        decision about any row can change; 1 where nothing is proven.
    """

    examples: int
    independent: int
    records: int = 1


class EnumerationRun(Value, frozen=True):
    """Facts about the enumeration of the best models, and why it stopped.

    Attributes
    ----------
    nodes
        Number of training problems solved, each with other records left out.
    supports
        Number of models found that differ in their support vectors.
    models
        Number of these models that are listed.
    audited_rows
        Number of rows in the selection split and the holdout; two models are different if they decide differently
        about these rows.
    ties
        Why many of the models found repeat the decisions of an earlier one on all these rows; null if fewer than half
        of them do.
    """

    stopped: ListingEnd
    nodes: int
    supports: int
    models: int
    audited_rows: int
    ties: MarginTies | None = None


class GuidedRun(Value, frozen=True):
    """Facts about the guided search, which looks for models with less unfairness on the selection split.

    Attributes
    ----------
    stopped
        Why the search ended; ``skipped`` if it did not start.
    solves
        Number of training problems solved.
    front
        Number of models on the Pareto front, model 1 included: no other model is better in loss, gap and
        performance at once.
    models
        Number of models of the front that were added to the list.
    obstacle
        Why the search was skipped; null otherwise.
    """

    stopped: str
    solves: int = 0
    front: int = 0
    models: int = 0
    obstacle: Obstacle | None = None


class LeftOut(Value, frozen=True):
    """A training example, that is a set of identical training records, some or all of which a model leaves out.

    A redacted document keeps only `copies` and `of`.

    Attributes
    ----------
    copies
        Number of identical records that are left out.
    of
        Number of identical records, left out or not.
    row
        First row of the example in the input table, counted from 0; `examples` of the document lists all rows.
    groups
        Number of identical records, left out or not, by sensitive column and group.
    """

    copies: int
    of: int
    row: int | None = None
    label: str | None = None
    groups: dict[str, dict[str, int]] | None = None

    @property
    def counted(self) -> LeftOut:
        """The same entry without row, label and groups, as a redacted document keeps it."""
        return LeftOut(self.copies, self.of)


class ChangedRows(Value, frozen=True):
    """Number and share of the rows that are decided differently from model 1."""

    rows: int
    share: float


class ListedModel(Value, frozen=True):
    """A model as audits and explorations list it.

    Attributes
    ----------
    origin
        Exact: one of the best models by objective. Guided: found by the search for less unfairness on the selection
        split, so that its scores there are biased in its favour and have no verdict. Tilted: trained with a price on
        the difference between two groups of the selection split, so that its scores there are biased, too; a tilted
        model leaves no example out. Steered: one of the best models
        among those that leave out, or keep, rows chosen by somebody who saw the scores on the selection split.
    objective
        Dual objective of the training problem without the left-out examples; null for a tilted model, which solves
        another problem.
    objective_ratio
        Objective divided by that of model 1.
    loss_ratio
        Loss on all training examples, left out or not, divided by the least possible loss, minus 1. Models up to `eps`
        are near-optimal.
    support_size
        Number of support vectors.
    supports
        Number of models found, this one included, that decide all audited rows as this one does and differ in their
        support vectors.
    cut
        The decision value from which on decisions are favourable; 0 unless the option ``decide`` sets another.
    tied
        Number of rows of the selection split whose decision value equals the cut, so that all get the same decision.
    is_constant
        Whether the model makes the same decision about all rows of the selection split.
    """

    origin: Origin
    objective: float | None
    objective_ratio: float | None
    loss_ratio: float
    support_size: int
    supports: int
    left_out: tuple[LeftOut, ...]
    bias: float
    cut: float
    tied: int
    is_constant: bool

    @property
    def offset(self) -> float:
        """The constant part of decision values: the bias minus the cut, so that values from 0 on are favourable."""
        return self.bias - self.cut

    @property
    def records_left_out(self) -> int:
        """The number of training records left out, identical records counted one by one."""
        return sum(entry.copies for entry in self.left_out)


class Prospect(Value, frozen=True):
    """What is expected of a model on the holdout, by the selection split and, if cross-fitted, the training rows.

    Attributes
    ----------
    gap_change
        Change against the reference of the gap between the two groups that are farthest apart under the reference.
    gap_error, performance_error
        Standard errors of this change and of the change of performance.
    guards
        Probability that the model exceeds no guardrail of the run on the holdout, by the one it is closest to.
    holdout
        Number of rows of the holdout, as a multiple of the rows that the prospect rests on.
    is_crossed
        Whether these are the training rows, too, decided by models that did not learn from them.
    whole_gap_change, performance_change
        Changes of gap and performance that are expected against the reference; null where those on the selection split
        are. For a cross-fitted model they are those on all these rows, for a model of the guided search less good than
        on the selection split, to which it was fitted.
    """

    gap_change: float | None
    gap_error: float | None
    performance_error: float | None
    guards: float
    holdout: float
    is_crossed: bool = False
    whole_gap_change: float | None = None
    performance_change: float | None = None


class ComparedPair(Value, frozen=True):
    """Two groups and a rate, in which they were farthest apart under the reference on the selection split.

    Attributes
    ----------
    rate
        The rate that is compared.
    higher, lower
        The groups of higher and of lower rate, on the selection split.
    """

    rate: GapRate
    higher: str
    lower: str


class OwnVerdict(Value, frozen=True):
    """The verdict of the holdout on one model alone, as if it had been chosen before the holdout was seen.

    Attributes
    ----------
    change
        Change of the gap of the claim against the reference.
    confidence
        Confidence of the limits of the change.
    verdict
        Verdict on the change; null if it is undefined, or if the model decides all rows alike.
    performance
        Change of performance against the reference, with one-sided limits.
    pair
        The two groups, and the rate, that the claim is about; null if it has only one pair and one rate.
    """

    change: Estimate
    confidence: float
    verdict: Verdict | None
    performance: Estimate
    pair: ComparedPair | None = None


class AuditedModel(ListedModel, frozen=True, kw_only=True):
    """A listed model of an audit: its proofs of optimality, and its scores on both splits.

    Attributes
    ----------
    support_rank
        Rank by objective among all models that differ in their support vectors; null unless the origin is exact.
    objective_bound
        The optimum lies between the objective and this bound.
    relative_gap
        Distance between objective and bound, as a share of the objective.
    is_order_certified
        Whether the order is sure: in a list by objective (exact search), the intervals from objective to bound prove
        that the optimum is below that of the model before; a list by loss always is, as losses are known exactly.
    bias_interval
        Smallest and largest optimal bias; null for minus and plus infinity.
    undetermined
        Number of rows by split that lie on the cut, or that two optimal biases decide differently.
    predictions_changed
        Rows that the model decides differently from model 1, by split.
    tilt
        The price that a tilted model was trained with; null for others.
    prospect
        How the holdout is likely to judge the model; null for model 1 if it is the reference, and in exploratory runs.
    own
        Verdict of the holdout on this model alone; null as for prospect.
    """

    rank: int
    support_rank: int | None
    objective_bound: float | None
    relative_gap: float | None
    is_order_certified: bool
    bias_interval: tuple[float | None, float | None]
    undetermined: Parts[int]
    predictions_changed: Parts[ChangedRows]
    scores: Parts[SplitScores]
    tilt: Tilt | None = None
    prospect: Prospect | None = None
    own: OwnVerdict | None = None

    @property
    def is_searched(self) -> bool:
        """Whether the selection split took part in finding the model, so that its scores there are biased."""
        return self.origin != "exact"


class Example(Value, frozen=True):
    """A training example that at least one listed model leaves out.

    Attributes
    ----------
    row
        First row of the example in the input table, counted from 0.
    rows
        Rows of all identical training records in the input table, counted from 0.
    groups
        Number of these records by sensitive column and group.
    values
        Value of each feature; null if it is missing.
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
        Number of rows of the group that at least one model decides differently from model 1.
    ambiguity, discrepancy, disagreement, viable_range, capacity
        As in `Multiplicity`, over the rows of the group; null where they are not defined.
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
    """Disagreement of the listed models about the rows of the holdout.

    Attributes
    ----------
    flipped
        Number of rows that at least one model decides differently from model 1.
    ambiguity
        Share of rows that at least one model decides differently from model 1.
    discrepancy
        Largest share of rows that a single model decides differently from model 1.
    disagreement
        Share of rows that two models decide differently, averaged over all pairs of models.
    viable_range
        Largest minus smallest probability that the models give to the favourable outcome of a row, averaged over rows.
        Probabilities are Platt-scaled decision values, calibrated on the selection split.
    capacity
        Rashomon capacity of these probabilities in bits, averaged over rows.
    by_column
        Disagreement in each group, by sensitive column.
    """

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
    """Another method of bias mitigation, for comparison with the listed models.

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
