"""Scores of all models at once: rates, gaps between groups, their uncertainty, and how far models disagree."""

from fairenum.document.terms import Gap
from fairenum.metrics.comparison import Comparison, accuracy_changes, compare
from fairenum.metrics.counts import Confusion, Decisions
from fairenum.metrics.disagreement import decision_multiplicity, score_multiplicity
from fairenum.metrics.inference import gap_intervals, parity_p_values, rate_intervals
from fairenum.metrics.rates import Gaps, Rate, Scores, fairlearn_metrics, score
from fairenum.tables.groups import Groups

__all__ = [
    "Comparison",
    "Confusion",
    "Decisions",
    "Gap",
    "Gaps",
    "Groups",
    "Rate",
    "Scores",
    "accuracy_changes",
    "compare",
    "decision_multiplicity",
    "fairlearn_metrics",
    "gap_intervals",
    "parity_p_values",
    "rate_intervals",
    "score",
    "score_multiplicity",
]
