"""The options of an audit, checked when they are built."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self, get_args

from fairenum.checking import TINY, changed, check_options, is_number, is_whole, require
from fairenum.dataset.splitting import SHARES
from fairenum.enumeration.distinct import Distinctness
from fairenum.scoring import Gap


@dataclass(frozen=True, slots=True)
class AuditConfig:
    """What an audit does, apart from the table it is about.

    Parameters
    ----------
    k
        How many models to list.
    C
        Price of a violated margin; "auto" chooses it by cross-validation on the training rows.
    kernel, gamma, degree, coef0
        The kernel, as in scikit-learn's `SVC`; gamma is "scale", "auto" or a number.
    solver
        Name of a solver plugin.
    distinct
        What counts as another model: other ``predictions`` on the audited rows, another ``support``, or ``diverse``
        predictions.
    min_difference
        The share of audited rows that a ``diverse`` model must decide otherwise.
    rows
        Leave identical rows out one by one, instead of copy by copy of one example.
    patience
        Give up after so many models in a row that are nothing new.
    max_nodes
        Solved boxes after which the enumeration stops; "auto" for as many as keep a large table to minutes, None for
        no limit.
    max_seconds
        Seconds after which it stops. Unlike the other limits this one makes results depend on the machine.
    search
        How models are found: ``exact`` lists them best first, ``guided`` searches for less unfairness on the selection
        split, ``both`` does both.
    max_left_out
        Largest share of the training records that the guided search may leave out.
    baselines
        Try other mitigations on the same machine and splits, too.
    eps
        Largest relative loss of objective of a near-optimal model.
    max_accuracy_drop
        Largest loss of accuracy on the selection split that a fairer model may cost.
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
        Groups with fewer rows are flagged, never dropped.
    replications
        Of the bootstrap.
    standardise
        Scale numbers to mean 0 and variance 1.
    use_sensitive, drop, bands, categorical, delimiter
        How the table is read; see `load_dataset`.
    """

    k: int = 50
    C: float | Literal["auto"] = 1.0
    kernel: Literal["linear", "rbf", "poly"] = "linear"
    gamma: float | Literal["scale", "auto"] = "scale"
    degree: int = 3
    coef0: float = 0.0
    solver: str = "path"
    distinct: Distinctness = "predictions"
    min_difference: float = 0.01
    rows: bool = False
    patience: int = 1000
    max_nodes: int | Literal["auto"] | None = "auto"
    max_seconds: float | None = None
    search: Literal["exact", "guided", "both"] = "both"
    max_left_out: float = 0.2
    baselines: bool = False
    eps: float = 0.05
    max_accuracy_drop: float = 0.01
    metric: Gap = "demographic_parity_difference"
    primary: str | None = None
    reference: str | None = None
    seed: int = 0
    sizes: tuple[float, float, float] = SHARES
    confidence: float = 0.95
    min_group_size: int = 30
    replications: int = 1000
    standardise: bool = True
    use_sensitive: bool = False
    drop: tuple[str, ...] = ()
    bands: Mapping[str, Sequence[float]] = field(default_factory=dict)
    categorical: Literal["onehot", "ordinal"] = "onehot"
    delimiter: str | None = None

    def __post_init__(self) -> None:
        for name in ("drop", "sizes"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))
        flags = ("rows", "baselines", "standardise", "use_sensitive")
        check_options(self, CHOICES, WHOLE, NUMBERS, flags, optional=("max_seconds",))
        self._check_words()

    def _check_words(self) -> None:
        is_cost = self.C == "auto" or is_number(self.C, TINY, math.inf)
        require(self, "C", is_cost, "a positive number or auto")
        is_gamma = self.gamma in ("scale", "auto") or is_number(self.gamma, TINY, math.inf)
        require(self, "gamma", is_gamma, "a positive number, scale or auto")
        is_nodes = self.max_nodes in (None, "auto") or is_whole(self.max_nodes, 1, math.inf)
        require(self, "max_nodes", is_nodes, "a whole number of at least 1, auto or None")
        sizes = len(self.sizes) == 3 and all(is_number(size, 0, math.inf) for size in self.sizes)
        require(self, "sizes", sizes, "three numbers: train, selection and holdout")

    def but(self, **options: Any) -> Self:
        """Return the configuration with some options changed; refuse unknown ones."""
        return changed(self, "an audit", options)


CHOICES: Mapping[str, tuple[str, ...]] = {
    "kernel": ("linear", "rbf", "poly"),
    "distinct": get_args(Distinctness),
    "search": ("exact", "guided", "both"),
    "metric": get_args(Gap),
    "categorical": ("onehot", "ordinal"),
}
WHOLE: Mapping[str, tuple[float, float]] = {
    "k": (1, math.inf),
    "degree": (1, math.inf),
    "patience": (1, math.inf),
    "seed": (0, math.inf),
    "min_group_size": (0, math.inf),
    "replications": (10, math.inf),
}
NUMBERS: Mapping[str, tuple[float, float]] = {
    "coef0": (0.0, math.inf),
    "min_difference": (TINY, 1.0),
    "max_seconds": (TINY, math.inf),
    "max_left_out": (0.0, 1.0),
    "eps": (0.0, 1.0),
    "max_accuracy_drop": (0.0, 1.0),
    "confidence": (0.5, 1.0 - 1e-9),
}
