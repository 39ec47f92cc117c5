"""Results of the scoreboard: what fairenum and other methods reach on one split of one table, with one model in use."""

from __future__ import annotations

from typing import Literal

from fairenum.document.terms import Answer, Origin, RequestedPerformance
from fairenum.document.value import Value


class Judged(Value, frozen=True):
    """Gap and performance of a set of decisions on the selection split and on the holdout.

    Attributes
    ----------
    gap
        Demographic parity difference on the holdout; expected, where decisions are random.
    performance, accuracy
        Performance and accuracy on the holdout.
    rate
        Share of the holdout that is decided favourably.
    selection_gap, selection_performance
        Gap and performance on the selection split.
    """

    gap: float
    performance: float
    accuracy: float
    rate: float
    selection_gap: float
    selection_performance: float


class MethodResult(Value, frozen=True):
    """What one method reaches in a cell.

    Attributes
    ----------
    candidates
        Number of settings of its knob, or of listed models.
    comparable
        Number of candidates whose performance on the selection split is within the tolerance of the model in use.
    chosen
        The candidate that the rule of choice takes; null if the method failed, or decides nothing.
    knob
        The setting of the chosen candidate.
    is_kept
        Whether the model in use stays: no candidate is comparable, or none has a smaller gap on the selection split.
    hindsight
        The candidate of least gap on the holdout among those whose performance there is within the tolerance: what the
        best choice would have reached. Null if there is none.
    seconds
        CPU seconds for all candidates.
    error
        Why the method has no result; null if it has one.
    """

    method: str
    candidates: int = 0
    comparable: int = 0
    chosen: Judged | None = None
    knob: str = ""
    is_kept: bool = True
    hindsight: Judged | None = None
    seconds: float = 0.0
    error: str | None = None


class AuditFacts(Value, frozen=True):
    """What the default audit of a cell answers.

    Attributes
    ----------
    rank, origin
        Rank of the selected model, and how it was found; null if the model in use is kept.
    listed
        Number of listed models by origin.
    chance
        Probability, predicted from the selection split, that the holdout confirms the selected model.
    """

    answer: Answer | None
    reasons: tuple[str, ...]
    rank: int | None
    origin: Origin | None
    listed: dict[str, int]
    chance: float | None = None


class Cell(Value, frozen=True):
    """The results of all methods on one split of one table, with one kind of model in use.

    Attributes
    ----------
    source, licence
        Where the table comes from, and on what terms.
    kind
        Kind of the model in use: logistic, forest or boosting.
    rows
        Number of rows that train the model in use, and of training, selection and holdout rows.
    groups
        Number of groups compared.
    measure
        The measure of performance, as the default audit chooses it.
    tolerance
        Performance that a fairer model may lose.
    in_use
        The model in use.
    audit
        The default audit; null if it was not run or failed.
    """

    table: str
    source: str
    licence: str
    kind: str
    seed: int
    rows: tuple[int, int, int, int]
    groups: int
    measure: RequestedPerformance
    tolerance: float
    in_use: Judged
    methods: tuple[MethodResult, ...]
    audit: AuditFacts | None = None

    @property
    def key(self) -> tuple[str, str, int]:
        """The table, the kind of model in use and the seed, which tell cells apart."""
        return self.table, self.kind, self.seed

    def result(self, method: str) -> MethodResult | None:
        """Return the result of a method; None if it was not run."""
        return next((one for one in self.methods if one.method == method), None)


class Share(Value, frozen=True):
    """A number over splits with its standard error, which is null for a single split."""

    value: float
    error: float | None = None


class MethodFigures(Value, frozen=True):
    """Figures of one method over the splits of one table, with one kind of model in use.

    Gaps left are sums over splits, as shares of the sum of the gaps of the model in use.

    Attributes
    ----------
    splits
        Number of splits in which the method has a result.
    comparable
        Share of splits with a candidate whose performance on the selection split is within the tolerance.
    within
        Share of splits in which the chosen candidate's performance on the holdout is within the tolerance.
    left, change
        Gap left and mean change of performance on the holdout, where a user replaces the model in use only by a
        candidate that is comparable and fairer on the selection split: at equal performance, as far as a user can tell.
    selection_left
        The same as `left` on the selection split, which chose: the smaller it is beside `left`, the more is chance.
    plain_left, plain_change
        As `left` and `change` where the chosen candidate always replaces the model in use.
    rate_change
        Mean change of the share that is decided favourably, as for `change`.
    hindsight
        Gap left by the candidates that are fairest on the holdout, within the tolerance there.
    seconds
        Mean CPU seconds.
    """

    method: str
    needs_groups: bool
    splits: int
    comparable: float
    within: float
    left: Share
    change: Share
    selection_left: float
    plain_left: Share
    plain_change: Share
    rate_change: float
    hindsight: float
    seconds: float


class Duel(Value, frozen=True):
    """Fairenum against the best of the other methods: the difference of the gaps left, paired over splits.

    Attributes
    ----------
    rival
        The method that leaves the least gap among those that are not shown to lose more performance than the tolerance.
    behind
        Gap left by fairenum minus gap left by the rival.
    outcome
        Best: fairenum leaves the least gap; level: it is within two standard errors of the best; else behind.
    is_as_good
        Whether fairenum, too, is not shown to lose more performance; if it is, it is behind.
    """

    rival: str
    behind: Share
    outcome: Literal["best", "level", "behind"]
    is_as_good: bool = True


class Standing(Value, frozen=True):
    """What the splits of one table add up to, with one kind of model in use.

    Attributes
    ----------
    gap
        Mean gap of the model in use on the holdout.
    performance
        Mean performance of the model in use there, by `measures`.
    answers
        Number of splits by the answer of the default audit.
    blind, aware
        Fairenum against methods that need no group to decide, and against all methods; null without any.
    """

    table: str
    kind: str
    splits: int
    rows: tuple[int, int, int, int]
    measures: tuple[str, ...]
    gap: Share
    performance: Share
    answers: dict[str, int]
    methods: tuple[MethodFigures, ...]
    blind: Duel | None
    aware: Duel | None

    @property
    def is_disparate(self) -> bool:
        """Whether the default audit sees a disparity in at least half of the splits."""
        return 2 * self.answers.get("no disparity", 0) <= self.splits

    def figures(self, method: str) -> MethodFigures | None:
        """Return the figures of a method; None if it has no result in any split."""
        return next((one for one in self.methods if one.method == method), None)


class FormScore(Value, frozen=True):
    """Accuracy and AUC on the holdout of one form of model, with its CPU seconds; `error` says why there are none."""

    form: str
    accuracy: float | None = None
    auc: float | None = None
    seconds: float = 0.0
    error: str | None = None


class FormCell(Value, frozen=True):
    """Performance of several forms of model on one split of one table, without any regard to groups."""

    table: str
    seed: int
    rows: tuple[int, int]
    scores: tuple[FormScore, ...]

    @property
    def key(self) -> tuple[str, int]:
        """The table and the seed, which tell cells apart."""
        return self.table, self.seed


class Scoreboard(Value, frozen=True):
    """All cells of the scoreboard: `cells` compare mitigations, `forms` compare forms of model."""

    cells: tuple[Cell, ...] = ()
    forms: tuple[FormCell, ...] = ()
