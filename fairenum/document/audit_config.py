"""The options of an audit, checked when they are built; its document keeps them as they were resolved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from fairenum.checking import TINY, Ranges, check_options, is_whole, require
from fairenum.document.machine import Machine, Tolerances
from fairenum.document.options import Options, Sizes, make_tuples, require_part, require_three_sizes
from fairenum.document.reading import Reading, ReadingOptions
from fairenum.document.terms import Distinctness, Gap, KernelName, Search

SHARES = (0.6, 0.2, 0.2)


@dataclass(frozen=True, slots=True)
class AuditConfig(Options):
    """What an audit does, apart from the table it is about.

    Parameters
    ----------
    machine
        The support vector machine whose near-optimal models are listed.
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
    """

    subject: ClassVar[str] = "an audit"

    machine: Machine = field(default_factory=Machine)
    reading: Reading = field(default_factory=Reading)
    k: int = 50
    distinct: Distinctness = "predictions"
    min_difference: float = 0.01
    patience: int = 1000
    max_nodes: int | Literal["auto"] | None = "auto"
    max_seconds: float | None = None
    search: Search = "both"
    max_left_out: float = 0.2
    baselines: bool = False
    eps: float = 0.05
    max_accuracy_drop: float = 0.01
    metric: Gap = "demographic_parity_difference"
    primary: str | None = None
    reference: str | None = None
    seed: int = 0
    sizes: Sizes = SHARES
    confidence: float = 0.95
    min_group_size: int = 30
    replications: int = 1000
    standardise: bool = True

    def __post_init__(self) -> None:
        require_part(self.machine, "machine", Machine)
        require_part(self.reading, "reading", Reading)
        make_tuples(self, ("sizes",))
        flags = ("baselines", "standardise")
        check_options(self, AUDIT_WORDS, AUDIT_WHOLE, AUDIT_NUMBERS, flags, optional=("max_seconds",))
        is_nodes = self.max_nodes in (None, "auto") or is_whole(self.max_nodes, 1, math.inf)
        require(self, "max_nodes", is_nodes, "a whole number of at least 1, auto or None")
        require_three_sizes(self, self.sizes)

    @property
    def tolerances(self) -> Tolerances:
        """What a fairer model may cost."""
        return Tolerances(self.metric, self.eps, self.max_accuracy_drop)


AUDIT_WORDS: Mapping[str, tuple[str, ...]] = {
    "distinct": get_args(Distinctness),
    "search": get_args(Search),
    "metric": get_args(Gap),
}
AUDIT_WHOLE: Ranges = {
    "k": (1, math.inf),
    "patience": (1, math.inf),
    "seed": (0, math.inf),
    "min_group_size": (0, math.inf),
    "replications": (10, math.inf),
}
AUDIT_NUMBERS: Ranges = {
    "min_difference": (TINY, 1.0),
    "max_seconds": (TINY, math.inf),
    "max_left_out": (0.0, 1.0),
    "eps": (0.0, 1.0),
    "max_accuracy_drop": (0.0, 1.0),
    "confidence": (0.5, 1.0 - 1e-9),
}


class AuditOptions(ReadingOptions, total=False):
    """Every option of an audit, of its machine and of its reading by name, for those who give them one by one."""

    C: float | Literal["auto"]
    kernel: KernelName
    gamma: float | Literal["scale", "auto"]
    degree: int
    coef0: float
    solver: str
    rows: bool
    machine: Machine
    reading: Reading
    k: int
    distinct: Distinctness
    min_difference: float
    patience: int
    max_nodes: int | Literal["auto"] | None
    max_seconds: float | None
    search: Search
    max_left_out: float
    baselines: bool
    eps: float
    max_accuracy_drop: float
    metric: Gap
    primary: str | None
    reference: str | None
    seed: int
    sizes: Sequence[float]
    confidence: float
    min_group_size: int
    replications: int
    standardise: bool
