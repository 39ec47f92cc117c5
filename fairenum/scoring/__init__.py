"""Score all models at once: rates and gaps, statistics that hold, and how far the models disagree."""

from fairenum.dataset.groups import Groups
from fairenum.document.terms import Gap, Verdict
from fairenum.scoring.comparison import Comparison, accuracy_changes, compare
from fairenum.scoring.counts import Confusion, Decisions
from fairenum.scoring.inference import (
    detectable_differences,
    gap_intervals,
    parity_p_values,
    rate_intervals,
    signed_differences,
)
from fairenum.scoring.intervals import Interval
from fairenum.scoring.multiplicity import (
    DecisionMultiplicity,
    ScoreMultiplicity,
    decision_multiplicity,
    pairwise_disagreement,
    score_multiplicity,
)
from fairenum.scoring.rates import (
    Gaps,
    Rate,
    Rates,
    Scores,
    fairlearn_metrics,
    score,
    undefined_groups,
)

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
