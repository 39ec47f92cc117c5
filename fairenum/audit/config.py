"""The options of an audit, checked when they are built."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, Literal, Self, get_args

from fairenum.dataset.splitting import SHARES
from fairenum.enumeration.distinct import Distinctness
from fairenum.errors import ConfigError
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
        for name, choices in CHOICES.items():
            _require(getattr(self, name) in choices, name, f"one of {', '.join(choices)}", getattr(self, name))
        for name, (low, high) in WHOLE.items():
            _require(_is_whole(getattr(self, name), low, high), name, _range("a whole number", low, high), self)
        for name, (low, high) in NUMBERS.items():
            _require(_is_number(getattr(self, name), low, high), name, _range("a number", low, high), self)
        for name in ("rows", "standardise", "use_sensitive"):
            _require(isinstance(getattr(self, name), bool), name, "true or false", self)
        self._check_words()

    def _check_words(self) -> None:
        _require(self.C == "auto" or _is_number(self.C, TINY, math.inf), "C", "a positive number or auto", self)
        is_gamma = self.gamma in ("scale", "auto") or _is_number(self.gamma, TINY, math.inf)
        _require(is_gamma, "gamma", "a positive number, scale or auto", self)
        is_nodes = self.max_nodes in (None, "auto") or _is_whole(self.max_nodes, 1, math.inf)
        _require(is_nodes, "max_nodes", "a whole number of at least 1, auto or None", self)
        sizes = len(self.sizes) == 3 and all(_is_number(size, 0, math.inf) for size in self.sizes)
        _require(sizes, "sizes", "three numbers: train, selection and holdout", self)

    def but(self, **options: Any) -> Self:
        """Return the configuration with some options changed; refuse unknown ones."""
        known = [option.name for option in fields(self)]
        for name in options:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(known)}"
                raise ConfigError(f"an audit has no option {name!r}{hint}")
        return replace(self, **options)


TINY = math.ulp(0.0)
CHOICES: Mapping[str, tuple[str, ...]] = {
    "kernel": ("linear", "rbf", "poly"),
    "distinct": get_args(Distinctness),
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
    "eps": (0.0, 1.0),
    "max_accuracy_drop": (0.0, 1.0),
    "confidence": (0.5, 1.0 - 1e-9),
}


def _is_whole(value: object, low: float, high: float) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and low <= int(value) <= high


def _is_number(value: object, low: float, high: float) -> bool:
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    return is_real and math.isfinite(value) and low <= value <= high  # type: ignore[arg-type, operator]


def _range(what: str, low: float, high: float) -> str:
    start = "above 0" if low == TINY else f"of at least {low:g}"
    return f"{what} {start}" + ("" if math.isinf(high) else f" and at most {high:g}")


def _require(holds: bool, name: str, what: str, value: object) -> None:
    value = getattr(value, name) if isinstance(value, AuditConfig) else value
    if not holds and not (name == "max_seconds" and value is None):
        raise ConfigError(f"option {name!r} must be {what}, not {value!r}")
