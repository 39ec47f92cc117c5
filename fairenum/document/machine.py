"""What audits and attacks train, and what a fairer model may cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from fairenum.checking import check_options, is_number, require
from fairenum.document.guards import Guard, canonical_guards, stated_guards
from fairenum.document.options import make_tuples
from fairenum.document.performance import PerformanceMeasure, PerformanceText
from fairenum.document.ranges import NUMBERS, described, numbers, whole
from fairenum.document.terms import Gap, KernelName

ClassWeight = Literal["none", "balanced", "auto"] | tuple[float, float]


@dataclass(frozen=True, slots=True)
class Machine:
    """The support vector machine that is trained: what is minimised, by whom, and over which examples.

    Parameters
    ----------
    C
        Price of a violated margin; "auto" where it is still to be chosen by cross-validation on the training rows.
    kernel, gamma, degree, coef0
        The kernel, as in scikit-learn's `SVC`; gamma is "scale", "auto" or a number.
    solver
        Name of a solver plugin.
    rows
        Whether identical rows are examples of their own, instead of copies of one that are left out one by one.
    class_weight
        What a violated margin costs by label, as multiples of C: "none" for once C, "balanced" for scikit-learn's
        ``n / (2 n_label)``, or two numbers, for favourable and unfavourable rows; "auto" where an audit is still to
        choose between "none" and "balanced".
    solver_timeout
        Longest time for one answer of a solver other than the native one, in seconds; 600 if not given.
    fallback
        Name of the solver that goes on where the other fails; None for none. A solver other than the native one works
        in a process of its own where one of these two is given.
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
        """C as a number; refuse to go on where it has not been chosen yet."""
        require(self, "C", self.C != "auto", "a positive number")
        return float(self.C)

    def require_class_weight(self) -> None:
        """Refuse to go on where the weights of the classes have not been chosen yet."""
        require(self, "class_weight", self.class_weight != "auto", f"none, balanced or {PAIR}")


PAIR = f"two positive numbers, {described('class_weight')}, for favourable and unfavourable rows"


def _is_pair(value: object) -> bool:
    return (
        isinstance(value, tuple) and len(value) == 2 and all(is_number(one, *NUMBERS["class_weight"]) for one in value)
    )


@dataclass(frozen=True, slots=True)
class Tolerances:
    """What a fairer model may cost, and in which gap it has to be fairer.

    Parameters
    ----------
    metric
        The gap.
    eps
        Largest relative loss of objective: of the problem that is left when examples are left out.
    max_performance_drop
        Largest loss of performance on the selection split.
    performance
        What counts as performance.
    max_loss
        Largest relative rise of the loss on all training rows; None for any.
    guards
        What else must not get worse, as options say it: exactly these. What an audit guards by default is
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
        check_options(self, {"metric": get_args(Gap)}, {}, limits, (), optional=("max_loss",))
        object.__setattr__(self, "performance", str(PerformanceMeasure.of(self.performance)))
        object.__setattr__(self, "guards", stated_guards(canonical_guards(self.guards)))

    @property
    def guardrails(self) -> tuple[Guard, ...]:
        """What must not get worse."""
        return tuple(map(Guard.of, self.guards))

    @property
    def measure(self) -> PerformanceMeasure:
        """What counts as performance."""
        return PerformanceMeasure.of(self.performance)

    @property
    def allowed_loss(self) -> float:
        """Largest rise of the loss of a model that has no objective to lose of: max_loss or, without it, eps."""
        return self.eps if self.max_loss is None else self.max_loss
