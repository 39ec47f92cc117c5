"""The support vector machine that audits and attacks train, and the limits on the cost of a fairer model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal, Self, get_args

from msgspec import Meta

from fairenum.document.guards import Guard, canonical_guards, stated_guards
from fairenum.document.options import (
    FARTHEST_CUT,
    NUMBERS,
    check_options,
    described,
    is_number,
    make_tuples,
    numbers,
    require,
    shown,
    whole,
)
from fairenum.document.terms import GAPS, Gap, KernelName, PerformanceMeasure, PerformanceText
from fairenum.document.value import Value
from fairenum.errors import ConfigError
from fairenum.runtime.hints import plain_number

DecidingRule = Literal["sign", "rate", "base-rate", "threshold", "like-incumbent"]
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
PATTERN = rf"(?:sign|base-rate|like-incumbent|rate=({NUMBER})|threshold=({NUMBER}))"


# How a rule is written in options and documents.
DecideText = Annotated[str, Meta(pattern=f"^{PATTERN}$")]


@dataclass(frozen=True, slots=True)
class Decide:
    """The rule by which decision values become decisions.

    Attributes
    ----------
    rule
        Sign: values of at least 0 are favourable; threshold: values of at least `number`; rate: each model is cut where
        it selects this share of the selection split; base-rate: the share of favourable labels among the training rows;
        like-incumbent: the share of the selection split that the model in use selects.
    number
        The share, or the threshold.
    """

    rule: DecidingRule = "sign"
    number: float | None = None

    @classmethod
    def of(cls, text: object) -> Self:
        """Read a decision rule: a word, ``rate=SHARE`` or ``threshold=VALUE``."""
        words = "sign, base-rate, like-incumbent, rate=SHARE or threshold=VALUE"
        rule, share, threshold = read_rule("decide", text, PATTERN, words)
        return cls(rule.split("=")[0], threshold if share is None else share)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return self.rule if self.number is None else f"{self.rule}={plain_number(self.number)}"


def read_rule(option: str, text: object, pattern: str, words: str) -> tuple[str, float | None, float | None]:
    """Read a cut, and return its text, the share that it selects, and the value of the cut.

    The two groups of `pattern` are the share and the value; `words` describes the choices in the error message for
    `option`.
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
    """The accuracy of one C over folds of the training rows; balanced accuracy where classes are weighted."""

    C: float
    accuracy: float


class Tuning(Value, frozen=True):
    """The choice of C by cross-validation."""

    folds: int
    grid: tuple[TriedCost, ...]


class ClassWeights(Value, frozen=True):
    """Cost of a violated margin by the label of its row, as multiples of C.

    Attributes
    ----------
    favourable, unfavourable
        The weights; 1 and 1 if classes are not weighted.
    plain_selection_rate
        The share of the selection split that model 1 without class weights selects; null unless the audit was to choose
        by it whether to weight classes.
    """

    favourable: float = 1.0
    unfavourable: float = 1.0
    plain_selection_rate: float | None = None


class SolverLapse(Value, frozen=True):
    """A solver that failed, and the solver that took over.

    Attributes
    ----------
    solver, fallback
        Names of the solvers.
    message
        The message of the failure.
    """

    solver: str
    fallback: str
    message: str


ClassWeight = Literal["none", "balanced", "auto"] | tuple[float, float]


@dataclass(frozen=True, slots=True)
class SvmSettings:
    """The support vector machine that is trained: its cost, kernel, solver and class weights.

    Parameters
    ----------
    C
        Cost of a violated margin; "auto" where it is still to be chosen by cross-validation on the training rows.
    kernel, gamma, degree, coef0
        The kernel, as in scikit-learn's `SVC`; gamma is "scale", "auto" or a number.
    solver
        Name of a solver plugin.
    rows
        Whether identical rows are examples of their own, instead of copies of one example that are left out one by one.
    class_weight
        Cost of a violated margin by label, as multiples of C: "none" for 1, "balanced" for scikit-learn's ``n / (2
        n_label)``, or two numbers, for favourable and unfavourable rows; "auto" where an audit is still to choose
        between "none" and "balanced".
    solver_timeout
        Longest time for one answer of a solver other than the native one, in seconds; 600 if not given.
    fallback
        Name of the solver that takes over if the first fails; None for none. A solver other than the native one works
        in a process of its own if `solver_timeout` or `fallback` is given.
    """

    C: float | Literal["auto"] = 1.0
    kernel: KernelName = "linear"
    gamma: float | Literal["scale", "auto"] = "scale"
    degree: int = 3
    coef0: float = 0.0
    solver: str = "path"
    rows: bool = False
    class_weight: ClassWeight = "none"
    solver_timeout: float | None = None
    fallback: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.class_weight, list):
            object.__setattr__(self, "class_weight", tuple(self.class_weight))
        words = {"kernel": get_args(KernelName)}
        check_options(
            self, words, whole("degree"), numbers("coef0", "solver_timeout"), ("rows",), optional=("solver_timeout",)
        )
        is_cost = self.C == "auto" or is_number(self.C, *NUMBERS["C"])
        require(self, "C", is_cost, f"a positive number, {described('C')}, or auto")
        is_gamma = self.gamma in ("scale", "auto") or is_number(self.gamma, *NUMBERS["gamma"])
        require(self, "gamma", is_gamma, f"a positive number, {described('gamma')}, scale or auto")
        require(self, "solver", isinstance(self.solver, str), "the name of a solver")
        require(self, "fallback", self.fallback is None or isinstance(self.fallback, str), "the name of a solver")
        is_weight = self.class_weight in ("none", "balanced", "auto") or _is_pair(self.class_weight)
        require(self, "class_weight", is_weight, f"none, balanced, auto or {PAIR}")

    @property
    def cost(self) -> float:
        """C as a number; refused while it is still to be chosen."""
        require(self, "C", self.C != "auto", "a positive number")
        return float(self.C)

    def require_class_weight(self) -> None:
        """Refuse a class weight that is still to be chosen."""
        require(self, "class_weight", self.class_weight != "auto", f"none, balanced or {PAIR}")


PAIR = f"two positive numbers, {described('class_weight')}, for favourable and unfavourable rows"


def _is_pair(value: object) -> bool:
    return (
        isinstance(value, tuple) and len(value) == 2 and all(is_number(one, *NUMBERS["class_weight"]) for one in value)
    )


@dataclass(frozen=True, slots=True)
class Tolerances:
    """The gap in which a fairer model has to be fairer, and the limits on its cost.

    Parameters
    ----------
    metric
        The gap that is to be smaller.
    eps
        Largest relative loss of objective; the objective is that of the problem without the left-out examples.
    max_performance_drop
        Largest loss of performance on the selection split.
    performance
        The measure of performance.
    max_loss
        Largest relative rise of the loss on all training rows; None for any.
    guards
        Guardrails as options write them: exactly these. The defaults of an audit are
        `fairenum.document.guards.DEFAULT_GUARDS`.
    """

    metric: Gap = "demographic_parity_difference"
    eps: float = 0.05
    max_performance_drop: float = 0.01
    performance: PerformanceText = "accuracy"
    max_loss: float | None = None
    guards: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        make_tuples(self, ("guards",))
        limits = numbers("eps", "max_performance_drop", "max_loss")
        check_options(self, {"metric": GAPS}, {}, limits, (), optional=("max_loss",))
        object.__setattr__(self, "performance", str(PerformanceMeasure.of(self.performance)))
        object.__setattr__(self, "guards", stated_guards(canonical_guards(self.guards)))

    @property
    def guardrails(self) -> tuple[Guard, ...]:
        """The guardrails, parsed."""
        return tuple(map(Guard.of, self.guards))

    @property
    def measure(self) -> PerformanceMeasure:
        """The measure of performance, parsed."""
        return PerformanceMeasure.of(self.performance)

    @property
    def allowed_loss(self) -> float:
        """Largest relative rise of the loss for a model without an objective: max_loss or, without it, eps."""
        return self.eps if self.max_loss is None else self.max_loss
