"""The options of an audit, checked when they are built; its document keeps them as they were resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Self, get_args

from fairenum.checking import check_options, check_texts, is_whole, require, within
from fairenum.document.deciding import Decide, DecideText
from fairenum.document.guards import canonical_guards, stated_guards
from fairenum.document.machine import ClassWeight, Machine, Tolerances
from fairenum.document.options import ABOUT_DATA, Options, Sizes, make_tuples, require_part, require_three_sizes
from fairenum.document.performance import AUTO, RequestedPerformance, requested_performance
from fairenum.document.ranges import WHOLE, numbers, whole
from fairenum.document.reading import Reading, ReadingOptions
from fairenum.document.terms import Against, Distinctness, Gap, KernelName, Search, SmallGroups
from fairenum.errors import ConfigError

SHARES = (0.6, 0.2, 0.2)


@dataclass(frozen=True, slots=True)
class AuditConfig(Options):
    """What an audit does, apart from the table it is about.

    Parameters
    ----------
    machine
        The support vector machine whose near-optimal models are listed; by default its class weight is "auto".
    reading
        How the table is read.
    k
        How many models to list.
    distinct
        What counts as another model: other ``predictions`` on the audited rows, another ``support``, or ``diverse``
        predictions.
    min_difference
        The share of audited rows that a ``diverse`` model must decide otherwise.
    patience
        Give up after so many models in a row that are nothing new; "auto" for a handful where it is proven that
        leaving out any one record changes nothing, and for fewer the larger the table is.
    max_nodes
        Solved boxes after which the enumeration stops; "auto" for as many as keep a large table to minutes, None for
        no limit.
    max_seconds
        Seconds for the whole audit; what of it is optional shares them, and what is cut is said. Unlike the other
        limits this one makes results depend on the machine.
    search
        How models are found: ``exact`` lists them best first, ``guided`` searches for less unfairness on the selection
        split, by leaving out rows and by tilting planes, ``both`` does both.
    max_left_out
        Largest share of the training records that the guided search may leave out.
    baselines
        Try other mitigations on the same machine and splits, too.
    range
        Bound the parity gap of any machine that is nearly as good, listed or not; by the prices.
    prices
        Find for rows of the holdout how much worse a machine has to be to decide them otherwise, listed or not.
    price_rows
        Of how many rows of the holdout, drawn at random; "auto" for as many as take a few seconds.
    explanation
        Look for the fewest of the left-out rows that give the selected model most of its gain.
    eps
        Largest relative loss of objective of a near-optimal model: of the problem that is left when examples are left
        out, the order in which models are listed.
    max_loss
        Largest relative rise of the loss on all training rows that a fairer model may cost; None for any.
    performance
        What a fairer model may lose of: ``accuracy``, ``balanced_accuracy``, ``auc`` or ``cost=FN:FP``, with what a
        false negative and a false positive cost; "auto" for balanced accuracy where classes are weighted, else
        accuracy.
    max_performance_drop
        Largest loss of performance on the selection split that a fairer model may cost; max_accuracy_drop is its other
        name.
    guards
        What a fairer model must not make worse, such as ``equal_opportunity_difference<=+0.02``; see
        `fairenum.document.guards`. They join the default guardrails, and take the place of those about the same; a
        ``none`` before them turns the others off. Resolved, they are all there are.
    same_within
        A gap that changes by no more than this is the same.
    decide
        Where models are cut: at the ``sign`` of their decision values, at ``threshold=T``, or each where it selects
        ``rate=0.7`` of the selection split, its ``base-rate``, the share of favourable labels in training, or as many
        as the model in use selects, ``like-incumbent``.
    metric
        The gap that the fairest model has least of.
    primary
        The sensitive column, or the intersection ("sex & race"), that models are selected by; the first if not given.
    reference
        The group of the primary column that others are compared with; its largest if not given.
    seed
        Of the split, the folds and the bootstrap.
    sizes
        Train, selection and holdout: shares, or numbers of rows.
    confidence
        Of intervals and verdicts.
    min_group_size
        Groups with fewer rows in the selection split or the holdout are small.
    small_groups
        What becomes of small groups, and of rows without a group: "set-aside" shows them, but no gap, search or choice
        looks at them while two others remain; "keep" compares them like the others.
    replications
        Of the bootstrap.
    standardise
        Scale numbers to mean 0 and variance 1.
    against
        Whom models are compared with: the ``incumbent``, which is the model in use, or the ``best`` machine, model 1;
        the model in use where there is one if not given.
    scores
        Measure what model 1 and the selected model rank people by, too, as it is done for the score of a model in use.
    data_source, data_dates
        Where the data come from, and from when to when they are, as its owner says it: for reports alone.
    """

    subject: ClassVar[str] = "an audit"

    machine: Machine = field(default_factory=lambda: Machine(class_weight="auto"))
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
        """Return the configuration with some options changed; `max_accuracy_drop` is another name of its tolerance."""
        return Options.but(self, **with_present_names(options))

    def __post_init__(self) -> None:
        require_part(self.machine, "machine", Machine)
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
        """What a fairer model may cost, as the configuration says it.

        What counts as performance is what suits the machine if nothing was said. Guardrails are those of a resolved
        configuration: there are no defaults besides.
        """
        is_weighted = self.machine.class_weight not in ("none", "auto")
        suited = "balanced_accuracy" if is_weighted else "accuracy"
        performance = suited if self.performance == AUTO else self.performance
        guards = stated_guards(self.guards)
        return Tolerances(self.metric, self.eps, self.max_performance_drop, performance, self.max_loss, guards)


def with_present_names(options: Mapping[str, object]) -> dict[str, object]:
    """Call every option by the name that it has today."""
    old, new = "max_accuracy_drop", "max_performance_drop"
    if old in options and new in options:
        raise ConfigError(f"options {old!r} and {new!r} are one and the same; give the second alone")
    return {new if name == old else name: value for name, value in options.items()}


AUDIT_WORDS: Mapping[str, tuple[str, ...]] = {
    "distinct": get_args(Distinctness),
    "search": get_args(Search),
    "metric": get_args(Gap),
    "small_groups": get_args(SmallGroups),
    "against": get_args(Against),
}
AUDIT_WHOLE = whole("k", "seed", "min_group_size", "replications")
AUDIT_NUMBERS = numbers(
    *("min_difference", "max_seconds", "max_left_out", "eps", "max_performance_drop", "max_loss", "same_within"),
    "confidence",
)


class AuditOptions(ReadingOptions, total=False):
    """Every option of an audit, of its machine and of its reading by name, for those who give them one by one."""

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
    machine: Machine
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
