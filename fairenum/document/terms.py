"""The words that values are made of: metrics, splits, verdicts and outcomes, named once for everybody."""

from enum import StrEnum
from typing import Literal

Gap = Literal[
    "demographic_parity_difference",
    "equal_opportunity_difference",
    "equalized_odds_difference",
    "predictive_parity_difference",
]
Ratio = Literal["demographic_parity_ratio", "equal_opportunity_ratio", "equalized_odds_ratio"]
Performance = Literal["accuracy", "balanced_accuracy", "auc", "performance", "selection_rate"]
Measure = Performance | Gap | Ratio

Part = Literal["selection", "holdout"]
Status = Literal["complete", "interrupted"]
KernelName = Literal["linear", "rbf", "poly"]
Distinctness = Literal["support", "predictions", "diverse"]
Categorical = Literal["onehot", "ordinal"]
Search = Literal["exact", "guided", "both"]
Origin = Literal["exact", "guided"]
Direction = Literal["unfavourable", "favourable"]
Sight = Literal["train", "audit"]
Basis = Literal["measured", "extrapolated", "at least"]
GrowthAxis = Literal["n", "d", "k"]
ClaimVerdict = Literal["holds", "holds sometimes", "does not hold", "not tried"]

# Why an enumeration ended; interrupted and solver are what an audit adds.
EnumerationEnd = Literal["models", "objective", "nodes", "time", "exhausted", "caller", "alike"]
ListingEnd = EnumerationEnd | Literal["interrupted", "solver"]
# What kept the guided search from starting.
Obstacle = Literal["no_sensitive_column", "no_holdout", "cut_short"]

Outcome = Literal["selected", "kept", "none"]
Reason = Literal[
    "smallest_gap",
    "asked_for",
    "all_constant",
    "no_sensitive_column",
    "only_model",
    "no_other_candidate",
    "no_smaller_gap",
]
CautionCode = Literal[
    "interrupted",
    "exploratory",
    "guided_skipped",
    "few_predictors",
    "solver_failed",
    "budget_spent",
    "imputed",
    "missing",
    "dropped",
    "unseen",
    "unscaled",
    "sensitive_features",
    "straddling",
    "related_rows",
    "uneven_weights",
    "no_sensitive",
    "small_group",
    "single_group",
    "low_power",
    "constant",
    "missed_rate",
    "undetermined",
    "order",
    "not_confirmed",
    "other_column",
    "reference",
]


class Verdict(StrEnum):
    """What the holdout says about a model's gap against that of model 1."""

    FAIRER = "fairer"
    NOT_FAIRER = "not fairer"
    NOT_DISTINGUISHABLE = "not distinguishable"
