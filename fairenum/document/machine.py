"""What audits and attacks train, and what a fairer model may cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from fairenum.checking import TINY, check_options, is_number, require
from fairenum.document.terms import Gap, KernelName


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
    """

    C: float | Literal["auto"] = 1.0
    kernel: KernelName = "linear"
    gamma: float | Literal["scale", "auto"] = "scale"
    degree: int = 3
    coef0: float = 0.0
    solver: str = "path"
    rows: bool = False

    def __post_init__(self) -> None:
        words = {"kernel": get_args(KernelName)}
        check_options(self, words, {"degree": (1, math.inf)}, {"coef0": (0.0, math.inf)}, ("rows",))
        is_cost = self.C == "auto" or is_number(self.C, TINY, math.inf)
        require(self, "C", is_cost, "a positive number or auto")
        is_gamma = self.gamma in ("scale", "auto") or is_number(self.gamma, TINY, math.inf)
        require(self, "gamma", is_gamma, "a positive number, scale or auto")
        require(self, "solver", isinstance(self.solver, str), "the name of a solver")

    @property
    def cost(self) -> float:
        """C as a number; refuse to go on where it has not been chosen yet."""
        require(self, "C", self.C != "auto", "a positive number")
        return float(self.C)


@dataclass(frozen=True, slots=True)
class Tolerances:
    """What a fairer model may cost, and in which gap it has to be fairer.

    Parameters
    ----------
    metric
        The gap.
    eps
        Largest relative loss of objective.
    max_accuracy_drop
        Largest loss of accuracy on the selection split.
    """

    metric: Gap = "demographic_parity_difference"
    eps: float = 0.05
    max_accuracy_drop: float = 0.01

    def __post_init__(self) -> None:
        limits = {"eps": (0.0, 1.0), "max_accuracy_drop": (0.0, 1.0)}
        check_options(self, {"metric": get_args(Gap)}, {}, limits, ())
