"""What is known of a model that was chosen with the holdout in sight: limits that hold for all models together.

The least of thirty gaps on the holdout is small by chance as well, and its plain interval lies wholly below the truth
far more often than it says. Gaps have max-t limits, the other measures those of Bonferroni: each model at its share of
the error.
"""

from __future__ import annotations

from fairenum.auditing.lineup import Lineup
from fairenum.auditing.scorecard import BALANCED, GAPS, RATIOS, stream
from fairenum.document.audit_config import AuditConfig
from fairenum.document.terms import Measure
from fairenum.document.value import Estimate
from fairenum.experiment import PARTS
from fairenum.scoring import Decisions, gap_intervals, rate_intervals, score
from fairenum.scoring.auc import auc_intervals
from fairenum.scoring.comparison import gap_critical
from fairenum.scoring.estimates import estimates
from fairenum.scoring.performance import decided_intervals, performance_intervals
from fairenum.scoring.ratios import ratio_intervals

PLACE = len(PARTS) + 2  # of their random numbers


def together(lineup: Lineup, config: AuditConfig) -> list[dict[Measure, Estimate]]:
    """Return, for all of a lineup, their measures on the holdout with limits that hold for all models together."""
    everyone, values, column = lineup.decisions("holdout", None), lineup.values("holdout"), lineup.division.column
    confidence = 1.0 - (1.0 - config.confidence) / len(values)
    counts = score(everyone).counts.overall()
    found: dict[Measure, list[Estimate]] = {
        "accuracy": estimates(rate_intervals(counts, "accuracy", confidence)),
        "balanced_accuracy": estimates(decided_intervals(counts, BALANCED, confidence)),
        "selection_rate": estimates(rate_intervals(counts, "selection_rate", confidence)),
        "auc": estimates(auc_intervals(values, everyone.labels, confidence, everyone.weights)),
        "performance": estimates(performance_intervals(everyone, values, config.tolerances.measure, confidence)),
    }
    if column:
        found |= _of_groups(lineup.decisions("holdout", column), confidence, config)
    return [{name: column[model] for name, column in found.items()} for model in range(len(values))]


def _of_groups(decisions: Decisions, confidence: float, config: AuditConfig) -> dict[Measure, list[Estimate]]:
    scores, compared = score(decisions), decisions.compared()
    found: dict[Measure, list[Estimate]] = {}
    for number, gap in enumerate(GAPS):
        critical = gap_critical(
            compared,
            gap,
            stream(config, PLACE, number),
            confidence=config.confidence,
            replications=config.replications,
        )
        found[gap] = estimates(gap_intervals(scores, gap, critical=critical))
    return found | {ratio: estimates(ratio_intervals(scores, ratio, confidence)) for ratio in RATIOS}
