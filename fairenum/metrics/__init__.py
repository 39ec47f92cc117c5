"""Scores of all models at once: rates, gaps between groups, their uncertainty, and how far models disagree."""

from fairenum.document.terms import Gap, Verdict
from fairenum.metrics.comparison import Comparison, accuracy_changes, compare
from fairenum.metrics.counts import Confusion, Decisions
from fairenum.metrics.disagreement import (
    DecisionMultiplicity,
    ScoreMultiplicity,
    decision_multiplicity,
    pairwise_disagreement,
    score_multiplicity,
)
from fairenum.metrics.inference import (
    detectable_differences,
    gap_intervals,
    parity_p_values,
    rate_intervals,
    signed_differences,
)
from fairenum.metrics.intervals import Interval
from fairenum.metrics.rates import Gaps, Rate, Rates, Scores, fairlearn_metrics, score, undefined_groups
from fairenum.tables.groups import Groups

__all__ = [
    "Comparison",
    "Confusion",
    "DecisionMultiplicity",
    "Decisions",
    "Gap",
    "Gaps",
    "Groups",
    "Interval",
    "Rate",
    "Rates",
    "ScoreMultiplicity",
    "Scores",
    "Verdict",
    "accuracy_changes",
    "compare",
    "decision_multiplicity",
    "detectable_differences",
    "fairlearn_metrics",
    "gap_intervals",
    "pairwise_disagreement",
    "parity_p_values",
    "rate_intervals",
    "score",
    "score_multiplicity",
    "signed_differences",
    "undefined_groups",
]
