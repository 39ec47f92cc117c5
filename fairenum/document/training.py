"""Options of the support vector machine that is trained, and limits on what a fairer model may lose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Self, get_args

from msgspec import Meta

from fairenum.document.guards import DEFAULT_GUARDS, Guard, canonical_guards, stated_guards
from fairenum.document.options import (
    FARTHEST_CUT,
    MODELS,
    SELECTION,
    TINY,
    Options,
    as_tuple,
    choice,
    documented,
    flag,
    is_number,
    is_text,
    names,
    number,
    require,
    shown,
    text,
    whole,
)
from fairenum.document.terms import GAPS, Gap, KernelName, PerformanceMeasure, PerformanceText
from fairenum.document.value import Value
from fairenum.errors import ConfigError
from fairenum.runtime.hints import plain_number

DecidingRule = Literal["auto", "sign", "rate", "base-rate", "threshold", "like-incumbent"]
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
PATTERN = rf"(?:auto|sign|base-rate|like-incumbent|rate=({NUMBER})|threshold=({NUMBER}))"

NEAR_OPTIMAL = 0.05  # the relative loss up to which models count as near-optimal unless a user says otherwise
REACH = 0.1  # the relative loss up to which fairer models are looked for unless a user says otherwise

# How a rule is written in options and documents.
DecideText = Annotated[str, Meta(pattern=f"^{PATTERN}$")]


@dataclass(frozen=True, slots=True)
class Decide:
    """The rule by which decision values become decisions.

    Attributes
    ----------
    rule
        Sign: decision values of at least 0 are favourable; threshold: values of at least `number`. The other rules set
        the threshold of each model so that it selects a given share of the selection split; rate: the share `number`;
        base-rate: the share of favourable labels among the training rows; like-incumbent: the share that the model in
        use selects. Auto: like-incumbent where models are compared with a model in use, base-rate where a label is rare
        and classes are not weighted, else sign.
    number
        The threshold or the share, depending on the rule; None for the other rules.
    """

    rule: DecidingRule = "sign"
    number: float | None = None

    @classmethod
    def of(cls, text: object) -> Self:
        """Return the rule that a text states: a word, ``rate=SHARE`` or ``threshold=VALUE``; refuse anything else."""
        words = "auto, sign, base-rate, like-incumbent, rate=SHARE or threshold=VALUE"
        rule, share, threshold = read_rule("decide", text, PATTERN, words)
        return cls(rule.split("=")[0], threshold if share is None else share)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return self.rule if self.number is None else f"{self.rule}={plain_number(self.number)}"


def read_rule(option: str, text: object, pattern: str, words: str) -> tuple[str, float | None, float | None]:
    """Return the text of a rule such as ``rate=0.3``, its share of rows, and its threshold; None for what it lacks.

    The first group of `pattern` matches the share, the second the threshold. The error for other texts names `option`
    and, in `words`, the valid texts.
    """
    found = re.fullmatch(pattern, text) if isinstance(text, str) else None
    if not found:
        raise ConfigError(f"option {option!r} must be {words}, not {shown(text)} (--{option})")
    share, value = (None if part is None else float(part) for part in found.groups())
    if share is not None and not 0.0 < share < 1.0:
        raise ConfigError(
            f"option {option!r} selects a share between 0 and 1, such as rate=0.7, not {shown(text)} (--{option})"
        )
    if value is not None and not is_number(value, -FARTHEST_CUT, FARTHEST_CUT):
        raise ConfigError(
            f"option {option!r} needs a finite number, at most {FARTHEST_CUT:g} from 0, not {shown(text)} (--{option})"
        )
    return found[0], share, value


class TriedCost(Value, frozen=True):
    """A value of C, and its cross-validated accuracy; balanced accuracy where classes are weighted."""

    C: float
    accuracy: float


class Tuning(Value, frozen=True):
    """The choice of C by cross-validation on the training rows: the number of folds, and the values of C tried."""

    folds: int
    grid: tuple[TriedCost, ...]


class ClassWeights(Value, frozen=True):
    """Costs of a violated margin as multiples of C, for rows with a favourable and an unfavourable label.

    Attributes
    ----------
    favourable, unfavourable
        The weights; 1 and 1 if classes are not weighted.
    plain_selection_rate
        The share of the selection split that model 1 selects if classes are not weighted; null unless the audit decided
        by this share whether to weight classes.
    """

    favourable: float = 1.0
    unfavourable: float = 1.0
    plain_selection_rate: float | None = None


class SolverLapse(Value, frozen=True):
    """A failure of a solver, and the solver that was used instead.

    Attributes
    ----------
    solver, fallback
        Names of the solver that failed, and of the solver used instead.
    message
        The error message of the failure.
    """

    solver: str
    fallback: str
    message: str


ClassWeight = Literal["none", "balanced", "auto"] | tuple[float, float]
WEIGHTS = (1e-9, 1e9)
PAIR = f"two positive numbers, {WEIGHTS[0]:g} to {WEIGHTS[1]:g}, for favourable and unfavourable rows"


def _is_pair(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(is_number(one, *WEIGHTS) for one in value)


def _kept_weight(value: str | Sequence[float]) -> str | tuple[float, ...]:
    return value if isinstance(value, str) else tuple(value)


def _parse_weights(text: str) -> tuple[float, float]:
    """Return the weights of favourable and unfavourable rows that a text such as ``1:4`` states."""
    favourable, _, unfavourable = text.partition(":")
    try:
        return float(favourable), float(unfavourable)
    except ValueError as error:
        raise ValueError("two weights such as 1:4") from error


@documented
@dataclass(frozen=True, slots=True)
class SvmSettings(Options):
    """The support vector machine that is trained: its cost, kernel, solver and class weights."""

    subject: ClassVar[str] = "an SVM"

    C: float | Literal["auto"] = number(
        1.0,
        1e-9,
        1e9,
        words=("auto",),
        must="a positive number, 1e-09 to 1e+09, or auto",
        panel=MODELS,
        help="Cost of a violated margin, {range}; auto: chosen by cross-validation.",
    )
    kernel: KernelName = choice(
        "linear", get_args(KernelName), panel=MODELS, help="The kernel, as in scikit-learn's SVC."
    )
    gamma: float | Literal["scale", "auto"] = number(
        "scale",
        1e-30,
        1e30,
        words=("scale", "auto"),
        must="a positive number, 1e-30 to 1e+30, scale or auto",
        panel=MODELS,
        help="Gamma of rbf and poly, {range}; scale and auto as in scikit-learn's SVC.",
    )
    degree: int = whole(3, 1, 20, panel=MODELS, help="Degree of poly.")
    coef0: float = number(0.0, 0.0, 1e6, panel=MODELS, help="Constant term of poly.")
    solver: str = text(
        "path",
        test=is_text,
        must="the name of a solver",
        panel=MODELS,
        metavar="NAME",
        help="Solver plugin; see fairenum solvers.",
    )
    rows: bool = flag(False, panel=MODELS, help="Treat identical rows as examples of their own, as in the paper.")
    class_weight: ClassWeight = text(
        "none",
        words=("auto", "none", "balanced"),
        test=_is_pair,
        must=f"none, balanced, auto or {PAIR}",
        read=_kept_weight,
        panel=MODELS,
        metavar="auto|none|balanced|FAV:UNFAV",
        parse=_parse_weights,
        help="Multiples of C by label; auto: balanced if the unweighted model neglects a label.",
        doc='Cost of a violated margin by label, as multiples of C: "none" for 1, "balanced" for scikit-learn\'s '
        '``n / (2 n_label)``, or two numbers, for favourable and unfavourable rows; "auto" where an audit is still to '
        'choose between "none" and "balanced".',
    )
    solver_timeout: float | None = number(
        None,
        TINY,
        1e6,
        panel=MODELS,
        metavar="SECONDS",
        unset="600",
        help="Longest time for one answer of a solver other than path, in a process of its own.",
    )
    fallback: str | None = text(
        None,
        test=is_text,
        must="the name of a solver",
        panel=MODELS,
        metavar="NAME",
        help="Solver to use where --solver fails, which then works in a process of its own; the report says so.",
    )

    @property
    def cost(self) -> float:
        """The value of C as a float; raises ConfigError if it is "auto"."""
        require("C", self.C, self.C != "auto", "a positive number")
        return float(self.C)

    def require_class_weight(self) -> None:
        """Refuse the class weight "auto", for which a caller has to choose "none" or "balanced" first."""
        require("class_weight", self.class_weight, self.class_weight != "auto", f"none, balanced or {PAIR}")


def _stated(guards: object) -> tuple[str, ...]:
    return stated_guards(canonical_guards(as_tuple(guards)))


@documented
@dataclass(frozen=True, slots=True)
class Tolerances(Options):
    """The gap by which models are compared, and limits on what a model with a smaller gap may lose."""

    subject: ClassVar[str] = "a choice"

    metric: Gap = choice(
        GAPS[0],
        GAPS,
        panel=SELECTION,
        metavar="GAP",
        help=f"The gap to make small: {', '.join(GAPS)}.",
        doc="The gap by which models are compared and selected.",
    )
    eps: float = number(
        NEAR_OPTIMAL,
        0.0,
        1.0,
        panel=SELECTION,
        help="Largest relative rise of the loss on all training rows, left out or not, above that of model 1.",
    )
    max_performance_drop: float = number(
        0.01,
        0.0,
        1.0,
        panel=SELECTION,
        alias="max_accuracy_drop",
        help="Largest loss of performance on the selection split.",
    )
    performance: PerformanceText = text(
        "accuracy",
        read=lambda value: str(PerformanceMeasure.of(value)),
        panel=SELECTION,
        metavar="MEASURE",
        help="The measure of performance: accuracy, balanced_accuracy, auc or cost=FN:FP.",
    )
    guards: tuple[str, ...] = names(
        (),
        read=_stated,
        panel=SELECTION,
        flags="--guard",
        metavar="QUANTITY[@COLUMN]<=LIMIT",
        help="What a fairer model must not make worse, such as equal_opportunity_difference<=+0.02, "
        "selection_rate=+-0.05 or balanced_accuracy>=-0.01: a change where signed. Repeatable; none first turns off "
        f"the defaults, which are {', '.join(DEFAULT_GUARDS)}.",
        doc="Guardrails as options write them: exactly these. The defaults of an audit are "
        "`fairenum.document.guards.DEFAULT_GUARDS`.",
    )

    @property
    def guardrails(self) -> tuple[Guard, ...]:
        """The guardrails as objects, read from the texts in `guards`."""
        return tuple(map(Guard.of, self.guards))

    @property
    def measure(self) -> PerformanceMeasure:
        """The measure of performance as an object, read from the text in `performance`."""
        return PerformanceMeasure.of(self.performance)
