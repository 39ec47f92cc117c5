"""The words that values are made of: metrics, splits, verdicts and outcomes, named once for everybody."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

Gap = Literal[
    "demographic_parity_difference",
    "equal_opportunity_difference",
    "equalized_odds_difference",
    "predictive_parity_difference",
]
# Rates of a group, and which of them each gap spans: the widest distance between two groups in one of them.
GapRate = Literal["selection_rate", "true_positive_rate", "false_positive_rate", "precision"]
Rate = Literal[GapRate, "accuracy"]
GAP_RATES: Mapping[Gap, tuple[GapRate, ...]] = {
    "demographic_parity_difference": ("selection_rate",),
    "equal_opportunity_difference": ("true_positive_rate",),
    "equalized_odds_difference": ("true_positive_rate", "false_positive_rate"),
    "predictive_parity_difference": ("precision",),
}
Ratio = Literal["demographic_parity_ratio", "equal_opportunity_ratio", "equalized_odds_ratio"]
Performance = Literal["accuracy", "balanced_accuracy", "auc", "performance", "selection_rate"]
Measure = Performance | Gap | Ratio

Part = Literal["selection", "holdout"]
Status = Literal["complete", "interrupted"]
KernelName = Literal["linear", "rbf", "poly"]
Distinctness = Literal["support", "predictions", "diverse"]
Categorical = Literal["onehot", "ordinal"]
SmallGroups = Literal["set-aside", "keep"]
DecimalSign = Literal["point", "comma"]
Search = Literal["exact", "guided", "both"]
Origin = Literal["exact", "guided", "tilted", "steered"]
Against = Literal["incumbent", "best"]
# The rates that a plane can be tilted by: those of a part of the rows that is the same for every model.
TiltRate = Literal["selection_rate", "true_positive_rate", "false_positive_rate"]
# Why no more prices were tried; interrupted is what an audit adds.
TiltedEnd = Literal["exhausted", "solves", "time", "no_direction", "interrupted"]
Direction = Literal["unfavourable", "favourable"]
Sight = Literal["train", "audit"]
Basis = Literal["measured", "extrapolated", "at least"]
GrowthAxis = Literal["n", "d", "k"]
ClaimVerdict = Literal["holds", "holds sometimes", "does not hold", "not tried"]

# Why an enumeration ended; interrupted and solver are what an audit adds.
EnumerationEnd = Literal["models", "objective", "nodes", "time", "exhausted", "caller", "alike"]
ListingEnd = EnumerationEnd | Literal["interrupted", "solver"]
# What kept the guided search from starting.
Obstacle = Literal["no_sensitive_column", "no_holdout", "cut_short", "no_time"]

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
# What is noticed about a column, or a file, while a table is read.
RemarkKind = Literal[
    "guessed_delimiter",
    "guessed_encoding",
    "row_numbers",
    "constant_column",
    "empty_column",
    "date_column",
    "identifier_text",
    "free_text",
    "object_column",
    "identifier_number",
    "written_numbers",
    "code_numbers",
]
# What to beware of, by what it means for the reader: whether to rely on the run at all, what the selected model makes
# worse, what groups and columns are, what became of the table, and last how the search went.
AuditCaution = Literal[
    "reference",
    "interrupted",
    "exploratory",
    "incumbent_label",
    "incumbent_constant",
    "not_confirmed",
    "broken_guard",
    "wider_gap",
    "reversed",
    "levelled_down",
    "moved_selection",
    "lost_balance",
    "other_column",  # of older runs: a wider gap in another column
    "incumbent_rate",
    "incumbent_copies",
    "incumbent_undecided",
    "arbitrary_gap",
    "small_group",
    "few_trials",
    "single_group",
    "low_power",
    "no_sensitive",
    "set_aside",
    "no_intersection",
    "straddling",
    "related_rows",
    "uneven_weights",
    "leak",
    "one_column",
    "proxy",
    "sensitive_features",
    "regrouped",
    "alike_groups",
    "unused_rows",
    "class_weighted",
]
TableCaution = Literal["imputed", "missing", "dropped", "unseen", "pooled", "unscaled"]
SearchCaution = Literal[
    "missed_rate",
    "undetermined",
    "solver_failed",
    "solver_replaced",
    "over_time",
    "time_spent",
    "budget_spent",
    "guided_skipped",
    "constant",
    "few_predictors",
    "order",
]
CautionCode = Literal[AuditCaution, RemarkKind, TableCaution, SearchCaution]


# What the holdout says about a guardrail, and what an auditor may make of a selected model.
GuardStatus = Literal["holds", "broken", "open"]
Proposal = Literal["proposed", "candidate"]


class Verdict(StrEnum):
    """What rows say about a model's gap against that of the reference; "same" is within a declared margin."""

    FAIRER = "fairer"
    LESS_FAIR = "less fair"
    SAME = "same"
    OPEN = "open"

    @classmethod
    def _missing_(cls, value: object) -> Verdict | None:
        """Understand the words of older runs."""
        return {"not fairer": cls.LESS_FAIR, "not distinguishable": cls.OPEN}.get(str(value))
