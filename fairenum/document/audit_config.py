"""The options of an audit, checked when they are built; its document keeps them as they were resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Self, get_args

from fairenum.document.guards import canonical_guards, stated_guards
from fairenum.document.options import (
    ABOUT_DATA,
    WHOLE,
    Options,
    Sizes,
    check_options,
    check_texts,
    is_whole,
    make_tuples,
    numbers,
    require,
    require_part,
    require_three_sizes,
    whole,
    within,
)
from fairenum.document.reading import Reading, ReadingOptions
from fairenum.document.terms import (
    AUTO,
    GAPS,
    Against,
    Distinctness,
    Gap,
    KernelName,
    RequestedPerformance,
    Search,
    SmallGroups,
    requested_performance,
)
from fairenum.document.training import ClassWeight, Decide, DecideText, SvmSettings, Tolerances
from fairenum.errors import ConfigError

SHARES = (0.6, 0.2, 0.2)


@dataclass(frozen=True, slots=True)
class AuditConfig(Options):
    """Options of an audit, apart from the table.

    Parameters
    ----------
    svm
        The support vector machine whose near-optimal models are listed; by default its class weight is "auto".
    reading
        How the table is read.
    k
        Number of models to list.
    distinct
        When two models count as different: by their ``predictions`` on the audited rows, by their ``support``, or by
        ``diverse`` predictions.
    min_difference
        The share of audited rows that a ``diverse`` model must decide differently.
    patience
        Number of models in a row that are nothing new after which to give up; "auto" for a handful where it is proven
        that leaving out any one record changes nothing, and for fewer the larger the table is.
    max_nodes
        Solved boxes after which the enumeration stops; "auto" for a limit that keeps a large table to minutes, None for
        no limit.
    max_seconds
        Seconds for the whole audit; its optional stages share them, and the report says which were cut. Unlike the
        other limits this one makes results depend on the computer.
    search
        How models are found: ``exact`` lists them best first, ``guided`` searches for less unfairness on the selection
        split, by leaving out rows and by tilting planes, ``both`` does both.
    max_left_out
        Largest share of the training records that the guided search may leave out.
    baselines
        Also try other mitigations, with the same support vector machine and splits.
    range
        Bound the parity gap over all near-optimal models, listed or not (the parity range), by way of the flip prices.
    prices
        Find flip prices of holdout rows: how much worse a model has to be, listed or not, to decide a row differently.
    price_rows
        Number of holdout rows, drawn at random, whose flip prices are found; "auto" for as many as take a few seconds.
    explanation
        Look for the fewest left-out rows that give the selected model most of its gain.
    eps
        Largest relative loss of objective of a near-optimal model. The objective is that of the problem without the
        left-out examples, by which models are ordered.
    max_loss
        Largest relative rise of the loss on all training rows that a fairer model may cost; None for any.
    performance
        The measure that a fairer model may lose some of: ``accuracy``, ``balanced_accuracy``, ``auc`` or
        ``cost=FN:FP``, the costs of a false negative and a false positive; "auto" for balanced accuracy where classes
        are weighted, else accuracy.
    max_performance_drop
        Largest loss of performance on the selection split that a fairer model may cost; also accepted as
        max_accuracy_drop.
    guards
        Guardrails: measures that a fairer model must not make worse, such as ``equal_opportunity_difference<=+0.02``;
        see `fairenum.document.guards`. They join the default guardrails, and replace those about the same measure; a
        leading ``none`` turns the defaults off. Once resolved, the list is complete.
    same_within
        A gap that changes by no more than this counts as the same.
    decide
        Where models are cut: at the ``sign`` of their decision values, at ``threshold=T``, or each where it selects a
        share of the selection split: ``rate=0.7``, ``base-rate`` for the share of favourable labels in training, or
        ``like-incumbent`` for the share that the model in use selects.
    metric
        The gap by which models are compared and selected.
    primary
        The sensitive column, or the intersection ("sex & race"), that models are selected by; by default the first.
    reference
        The group of the primary column that others are compared with; by default the largest.
    seed
        Seed of the split, the folds and the bootstrap.
    sizes
        Train, selection and holdout: shares, or numbers of rows.
    confidence
        Confidence of intervals and verdicts.
    min_group_size
        Groups with fewer rows in the selection split or the holdout are small.
    small_groups
        Treatment of small groups, and of rows without a group: "set-aside" shows them, but leaves them out of gaps,
        search and choice while two others remain; "keep" compares them like the others.
    replications
        Replications of the bootstrap.
    standardise
        Scale numbers to mean 0 and variance 1.
    against
        The reference that models are compared with: the ``incumbent``, which is the model in use, or the ``best``
        model, model 1; by default the model in use where there is one.
    scores
        Also measure the decision values of model 1 and of the selected model as scores that rank people, as for the
        score of a model in use.
    data_source, data_dates
        Source of the data, and the period that they cover, as their owner states it: for reports alone.
    """

    subject: ClassVar[str] = "an audit"

    svm: SvmSettings = field(default_factory=lambda: SvmSettings(class_weight="auto"))
    reading: Reading = field(default_factory=Reading)
    k: int = 50
    distinct: Distinctness = "predictions"
    min_difference: float = 0.01
    patience: int | Literal["auto"] = "auto"
    max_nodes: int | Literal["auto"] | None = "auto"
    max_seconds: float | None = None
    search: Search = "both"
    max_left_out: float = 0.2
    baselines: bool = False
    range: bool = True
    prices: bool = True
    price_rows: int | Literal["auto"] = "auto"
    explanation: bool = True
    eps: float = 0.05
    performance: RequestedPerformance = AUTO
    max_performance_drop: float = 0.01
    max_loss: float | None = None
    guards: tuple[str, ...] = ()
    same_within: float = 0.02
    decide: DecideText = "sign"
    metric: Gap = "demographic_parity_difference"
    primary: str | None = None
    reference: str | None = None
    seed: int = 0
    sizes: Sizes = SHARES
    confidence: float = 0.95
    min_group_size: int = 30
    small_groups: SmallGroups = "set-aside"
    replications: int = 1000
    standardise: bool = True
    against: Against | None = None
    scores: bool = False
    data_source: str | None = None
    data_dates: str | None = None

    def but(self, **options: object) -> Self:
        """Return the configuration with some options changed; `max_accuracy_drop` stands for `max_performance_drop`."""
        return Options.but(self, **with_present_names(options))

    def __post_init__(self) -> None:
        require_part(self.svm, "svm", SvmSettings)
        require_part(self.reading, "reading", Reading)
        make_tuples(self, ("sizes", "guards"))
        flags = ("baselines", "range", "prices", "explanation", "standardise", "scores")
        optional = ("max_seconds", "max_loss", "against")
        check_texts(self, ABOUT_DATA)
        check_options(self, AUDIT_WORDS, AUDIT_WHOLE, AUDIT_NUMBERS, flags, optional=optional)
        for name, words in (("max_nodes", (None, "auto")), ("patience", ("auto",)), ("price_rows", ("auto",))):
            value, limits = getattr(self, name), WHOLE[name]
            holds = value in words or is_whole(value, *limits)
            require(self, name, holds, " or ".join((within("a whole number", *limits), *map(str, words))))
        require_three_sizes(self, self.sizes)
        object.__setattr__(self, "performance", requested_performance(self.performance))
        object.__setattr__(self, "decide", str(Decide.of(self.decide)))
        object.__setattr__(self, "guards", canonical_guards(self.guards))

    @property
    def rate(self) -> float | None:
        """The share of the selection split that every model selects; None where all are cut at one value."""
        decide = Decide.of(self.decide)
        return decide.number if decide.rule == "rate" else None

    @property
    def tolerances(self) -> Tolerances:
        """The limits on the cost of a fairer model.

        A performance measure of "auto" becomes the one that suits the class weights. Guardrails are those of a resolved
        configuration: no defaults are added.
        """
        is_weighted = self.svm.class_weight not in ("none", "auto")
        suited = "balanced_accuracy" if is_weighted else "accuracy"
        performance = suited if self.performance == AUTO else self.performance
        guards = stated_guards(self.guards)
        return Tolerances(self.metric, self.eps, self.max_performance_drop, performance, self.max_loss, guards)


def with_present_names(options: Mapping[str, object]) -> dict[str, object]:
    """Rename options that have another name, too, to the one that documents keep."""
    old, new = "max_accuracy_drop", "max_performance_drop"
    if old in options and new in options:
        raise ConfigError(f"options {old!r} and {new!r} are one and the same; give the second alone")
    return {new if name == old else name: value for name, value in options.items()}


AUDIT_WORDS: Mapping[str, tuple[str, ...]] = {
    "distinct": get_args(Distinctness),
    "search": get_args(Search),
    "metric": GAPS,
    "small_groups": get_args(SmallGroups),
    "against": get_args(Against),
}
AUDIT_WHOLE = whole("k", "seed", "min_group_size", "replications")
AUDIT_NUMBERS = numbers(
    *("min_difference", "max_seconds", "max_left_out", "eps", "max_performance_drop", "max_loss", "same_within"),
    "confidence",
)


class AuditOptions(ReadingOptions, total=False):
    """Every option of an audit, of its SVM and of its reading, as keyword arguments."""

    C: float | Literal["auto"]
    kernel: KernelName
    gamma: float | Literal["scale", "auto"]
    degree: int
    coef0: float
    solver: str
    rows: bool
    class_weight: ClassWeight
    solver_timeout: float | None
    fallback: str | None
    svm: SvmSettings
    reading: Reading
    k: int
    distinct: Distinctness
    min_difference: float
    patience: int | Literal["auto"]
    max_nodes: int | Literal["auto"] | None
    max_seconds: float | None
    search: Search
    max_left_out: float
    baselines: bool
    range: bool
    prices: bool
    price_rows: int | Literal["auto"]
    explanation: bool
    eps: float
    performance: str
    max_performance_drop: float
    max_accuracy_drop: float
    max_loss: float | None
    guards: Sequence[str]
    same_within: float
    decide: str
    metric: Gap
    primary: str | None
    reference: str | None
    seed: int
    sizes: Sequence[float]
    confidence: float
    min_group_size: int
    small_groups: SmallGroups
    replications: int
    standardise: bool
    against: Against | None
    scores: bool
    data_source: str | None
    data_dates: str | None
