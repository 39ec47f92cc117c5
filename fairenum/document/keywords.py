"""Options as typed keyword arguments; docs/reference.py writes them from their declarations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from fairenum.document.reading import Reading
from fairenum.document.terms import (
    Against,
    Categorical,
    DecimalSign,
    Distinctness,
    KernelName,
    RequestedFeatures,
    RequestedPerformance,
    Search,
    SmallGroups,
)
from fairenum.document.training import ClassWeight, DecideText, SvmSettings

GapName = Literal[
    "demographic_parity_difference",
    "equal_opportunity_difference",
    "equalized_odds_difference",
    "predictive_parity_difference",
]


class ReadingOptions(TypedDict, total=False):
    """Options of `Reading` as keyword arguments."""

    use_sensitive: bool
    drop: Sequence[str]
    bands: Mapping[str, Sequence[float]]
    categorical: Categorical
    categorical_columns: Sequence[str]
    max_levels: int
    decimal: DecimalSign | None
    delimiter: str | None
    sheet: str | None
    merge: Mapping[str, Sequence[str]]
    only: Sequence[str]
    exclude: Sequence[str]
    tidy_groups: bool
    split_column: str | None
    time_column: str | None
    group_column: str | None
    weight: str | None
    incumbent: object
    incumbent_favourable: str | None
    incumbent_score: str | None
    incumbent_model: str | None
    incumbent_cutoff: str | float | None
    incumbent_lower_is_better: bool


class AuditOptions(ReadingOptions, total=False):
    """Options of an audit, its SVM and its reading, as keyword arguments."""

    svm: SvmSettings
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
    features: RequestedFeatures
    always_search: bool
    explanation: bool
    eps: float | Literal["auto"]
    performance: RequestedPerformance
    max_performance_drop: float
    max_accuracy_drop: float
    guards: Sequence[str]
    same_within: float
    decide: DecideText
    metric: GapName
    primary: str | None
    control: str | None
    seed: int
    sizes: Sequence[float] | Literal["auto"]
    confidence: float
    min_group_size: int
    small_groups: SmallGroups
    replications: int
    standardise: bool
    against: Against | None
    scores: bool
    data_source: str | None
    data_dates: str | None


class MeasureOptions(TypedDict, total=False):
    """Options of a measurement and its reading, as keyword arguments."""

    reading: Reading
    bands: Mapping[str, Sequence[float]]
    decimal: DecimalSign | None
    delimiter: str | None
    sheet: str | None
    merge: Mapping[str, Sequence[str]]
    only: Sequence[str]
    exclude: Sequence[str]
    tidy_groups: bool
    group_column: str | None
    given: Sequence[str]
    group_probabilities: Mapping[str, str]
    by: str | None
    baseline: int | None
    limit: float | None
    cutoff: str | float | None
    lower_is_better: bool
    metric: GapName
    primary: str | None
    control: str | None
    seed: int
    confidence: float
    min_group_size: int
    small_groups: SmallGroups
    same_within: float
    replications: int
    data_source: str | None
    data_dates: str | None


class CompareOptions(TypedDict, total=False):
    """Options of a comparison, as keyword arguments."""

    metric: GapName | None
    confidence: float
    same_within: float
