"""The options of an audit; its document has them with "auto" replaced by values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from fairenum.document.guards import canonical_guards, stated_guards
from fairenum.document.options import (
    IN_USE,
    MODELS,
    SELECTION,
    TINY,
    Options,
    Sizes,
    choice,
    documented,
    flag,
    like,
    line,
    number,
    parse_sizes,
    part,
    text,
    three_sizes,
    whole,
)
from fairenum.document.reading import Reading
from fairenum.document.terms import (
    AUTO,
    Against,
    Distinctness,
    Gap,
    RequestedFeatures,
    RequestedPerformance,
    Search,
    SmallGroups,
    requested_performance,
)
from fairenum.document.training import REACH, Decide, DecideText, SvmSettings, Tolerances
from fairenum.errors import ConfigError

SHARES = (0.6, 0.2, 0.2)  # where sizes are not chosen for power


def _sizes(value: object) -> tuple[float, ...] | str:
    return AUTO if value == AUTO else three_sizes(value)


def _parse_sizes(text: str) -> tuple[float, ...] | str:
    if text.strip() == AUTO:
        return AUTO
    try:
        return parse_sizes(text)
    except ValueError as error:
        raise ValueError(f"{error}; auto chooses them") from error


@documented
@dataclass(frozen=True, slots=True)
class AuditConfig(Options):
    """Options of an audit, including how its table is read; the table itself is given separately."""

    subject: ClassVar[str] = "an audit"

    svm: SvmSettings = part(
        SvmSettings,
        'The support vector machine whose near-optimal models are listed; by default its class weight is "auto".',
        class_weight=AUTO,
    )
    reading: Reading = part(Reading, "How the table is read.")
    k: int = whole(50, 1, 100_000, panel=MODELS, flags="-k --models", help="Number of models to list.")
    distinct: Distinctness = choice(
        "predictions",
        get_args(Distinctness),
        panel=MODELS,
        metavar="NOTION",
        help="When models count as distinct: other predictions, another support, or diverse predictions.",
    )
    min_difference: float = number(
        0.01, TINY, 1.0, panel=MODELS, help="Share of rows that diverse models must decide differently."
    )
    patience: int | Literal["auto"] = whole(
        AUTO,
        1,
        1_000_000_000,
        words=(AUTO,),
        panel=MODELS,
        help="Give up after this number of models without a distinct one, {range}; auto: fewer for larger tables.",
    )
    max_nodes: int | Literal["auto"] | None = whole(
        AUTO,
        1,
        1_000_000_000,
        words=(None, AUTO),
        panel=MODELS,
        help="Stop after this number of solved problems, {range}; auto: fewer for larger tables.",
    )
    max_seconds: float | None = number(
        None,
        TINY,
        1e9,
        panel=MODELS,
        flags="--time-limit",
        metavar="SECONDS",
        help="Time limit for the whole audit. Optional stages are shortened to meet it, and the report names them; "
        "results then depend on the computer.",
    )
    search: Search = choice(
        "both",
        get_args(Search),
        panel=MODELS,
        help="Best first (exact), guided by unfairness on the selection split, or both.",
    )
    max_left_out: float = number(
        0.2, 0.0, 1.0, panel=MODELS, help="Share of training rows that a guided model may leave out."
    )
    baselines: bool = flag(False, panel=MODELS, help="Also try fairlearn's mitigations and reweighing.")
    range: bool = flag(True, panel=MODELS, help="Bound the parity gap over all near-optimal models.")
    prices: bool = flag(
        True, panel=MODELS, help="Compute flip prices: the loss at which the decision about a person flips."
    )
    price_rows: int | Literal["auto"] = whole(
        AUTO,
        1,
        1_000_000_000,
        words=(AUTO,),
        panel=MODELS,
        help="Holdout rows, {range}, drawn at random for flip prices; auto: a few seconds' worth.",
    )
    features: RequestedFeatures = choice(
        AUTO,
        (AUTO, "linear", "additive"),
        panel=MODELS,
        help="How models see a number: linear, additive (also whether it is above each of some cut points), or auto: "
        "additive if that predicts better in cross-validation on the training rows.",
    )
    always_search: bool = flag(
        False, panel=MODELS, help="Look for fairer models even if the model to compare with has no gap that is shown."
    )
    explanation: bool = flag(True, panel=MODELS, help="Look for the left-out rows that matter most.")
    eps: float | Literal["auto"] = like(
        Tolerances,
        "eps",
        AUTO,
        words=(AUTO,),
        help=f"Largest relative rise of the loss on all training rows, left out or not, above that of model 1; auto: "
        f"{REACH:g}, and more where the model in use is weaker than model 1.",
    )
    performance: RequestedPerformance = like(
        Tolerances,
        "performance",
        AUTO,
        read=requested_performance,
        help="Measure of performance: accuracy, balanced_accuracy, auc or cost=FN:FP; auto: balanced accuracy "
        "where classes are weighted.",
    )
    max_performance_drop: float = like(Tolerances, "max_performance_drop")
    guards: tuple[str, ...] = like(
        Tolerances,
        "guards",
        read=canonical_guards,
        doc="",
    )
    same_within: float = number(
        0.02, 0.0, 1.0, panel=SELECTION, help="A gap that changes by no more than this is the same."
    )
    decide: DecideText = text(
        AUTO,
        read=lambda value: str(Decide.of(value)),
        panel=SELECTION,
        metavar="auto|sign|rate=R|base-rate|like-incumbent|threshold=T",
        help="Cut every model at 0 (sign), at T, or where it selects the share R of the selection split, the base "
        "rate, or as many as the model in use; auto: like the model in use if there is one, at the base rate if a "
        "label is rare, else by the sign.",
    )
    metric: Gap = like(Tolerances, "metric")
    primary: str | None = text(
        None, metavar="COLUMN", help="Sensitive column to select by, or 'a & b'.", unset="the first"
    )
    control: str | None = text(
        None,
        metavar="GROUP",
        help="Group to compare the others with.",
        unset="the most selected one in claims, the largest one in tables",
    )
    seed: int = whole(  # a trial adds its number, and scikit-learn takes 32 bits
        0, 0, 2**31 - 1, panel=SELECTION, help="Seed of split, folds and bootstrap."
    )
    sizes: Sizes | Literal["auto"] = text(
        AUTO,
        read=_sizes,
        keyword='Sequence[float] | Literal["auto"]',
        panel=SELECTION,
        flags="--split",
        metavar="auto|A,B,C",
        parse=_parse_sizes,
        help="Train, selection and holdout: shares or rows; auto: chosen for power, by rows, labels and columns.",
    )
    confidence: float = number(0.95, 0.5, 1.0 - 1e-9, panel=SELECTION, help="Confidence of intervals and verdicts.")
    min_group_size: int = whole(
        30, 0, 1_000_000_000, panel=SELECTION, help="Groups with fewer rows in a split are small."
    )
    small_groups: SmallGroups = choice(
        "set-aside",
        get_args(SmallGroups),
        panel=SELECTION,
        help="Show small groups and rows without a group but do not compare them, or compare all.",
    )
    replications: int = whole(1000, 10, 100_000, panel=SELECTION, help="Replications of the bootstrap.")
    standardise: bool = flag(
        True, flags="--standardise/--raw", help="Whether to scale numbers to mean 0 and variance 1."
    )
    against: Against | None = choice(
        None,
        get_args(Against),
        panel=IN_USE,
        help="The model to compare with.",
        unset="the model in use if there is one, else model 1",
    )
    scores: bool = flag(
        False, panel=SELECTION, help="Also evaluate the scores of model 1 and of the selected model, for all cutoffs."
    )
    data_source: str | None = line(
        None, metavar="TEXT", help="Where the data come from, for a bias audit and a model card."
    )
    data_dates: str | None = line(None, metavar="TEXT", help="Period of the data, for a bias audit and a model card.")

    def __post_init__(self) -> None:
        Options.__post_init__(self)
        if self.features == "additive" and self.svm.kernel != "linear":
            raise ConfigError(
                f"features='additive' (--features additive) is for linear models, not for kernel={self.svm.kernel!r} "
                f"(--kernel {self.svm.kernel}), which bends by itself; leave one of the two out"
            )

    @property
    def rate(self) -> float | None:
        """The share of the selection split that every model is to select; None if `decide` is not ``rate=SHARE``."""
        decide = Decide.of(self.decide)
        return decide.number if decide.rule == "rate" else None

    @property
    def tolerances(self) -> Tolerances:
        """The limits on what a fairer model may lose, with the guardrails in `guards` but without default ones.

        A performance measure of "auto" becomes balanced accuracy if classes are weighted, else accuracy; an `eps` of
        "auto" its default.
        """
        is_weighted = self.svm.class_weight not in ("none", "auto")
        suited = "balanced_accuracy" if is_weighted else "accuracy"
        performance = suited if self.performance == AUTO else self.performance
        guards = stated_guards(self.guards)
        eps = REACH if self.eps == AUTO else self.eps
        return Tolerances(self.metric, eps, self.max_performance_drop, performance, guards)
