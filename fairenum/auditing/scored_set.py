"""The listed models and the model in use as one set: their scores, and the disagreement of their decisions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from fairenum.auditing.incumbent_rows import IncumbentDecisions
from fairenum.auditing.listing import Listing
from fairenum.auditing.scorecard import DecidedSplit, column_scores, overall_estimates, split_scores
from fairenum.document.audit_config import AuditConfig
from fairenum.document.models import GroupDisagreement, Multiplicity
from fairenum.document.scores import ColumnScores, SplitScores
from fairenum.document.terms import GAPS, RATIOS, Measure, Origin, Part
from fairenum.document.value import Estimate
from fairenum.enumeration.division import Division
from fairenum.metrics import Decisions, decision_multiplicity, gap_intervals, score, score_multiplicity
from fairenum.metrics.comparison import gap_critical
from fairenum.metrics.impact_ratios import ratio_intervals
from fairenum.metrics.intervals import estimates, plain
from fairenum.metrics.performance import auc_intervals, calibrate, performance_intervals
from fairenum.runtime.random_streams import stream
from fairenum.svm.problem import FloatArray

T = TypeVar("T")
SEARCHED: tuple[Origin, ...] = ("guided", "tilted", "steered")


@dataclass(frozen=True, slots=True, eq=False)
class ScoredSet:
    """The listed models and the model in use; the model that all others are compared with comes first."""

    division: Division
    listing: Listing
    incumbent: IncumbentDecisions | None = None
    is_against_incumbent: bool = False  # whether models are compared with the model in use, and not with model 1

    @property
    def ranks(self) -> list[int]:
        """The ranks of all models, in the order of this set; the model in use has rank 0."""
        return self._joined(range(1, len(self.listing.models) + 1), 0)

    @property
    def origins(self) -> list[Origin | None]:
        """How each model was found, in the order of this set; None for the model in use."""
        return self._joined(self.listing.origins, None)

    def rows(self, part: Part) -> DecidedSplit:
        """Return the decisions of all models about a split, with their decision values."""
        has_score = self.incumbent is not None and self.incumbent.answers.scores is not None
        is_ranked = [rank > 0 or has_score for rank in self.ranks]
        return DecidedSplit(self.decisions(part, None), self.values(part), self.uncut(part), is_ranked)

    def values(self, part: Part) -> FloatArray:
        """Return the values that rank the rows of a split, shape (models, rows)."""
        own = None if self.incumbent is None else self.incumbent.values[self.division.rows[part]]
        return np.array(self._joined(self.listing.values[part], own))

    def uncut(self, part: Part) -> FloatArray:
        """Return decision values without the threshold subtracted, shape (models, rows); NaN for the model in use."""
        models = self.listing.uncut(part)
        return np.array(self._joined(models, np.full(models.shape[1], np.nan)))

    @property
    def crossed(self) -> FloatArray | None:
        """Decision values about the training rows, of models that did not learn from them; NaN rows where unknown."""
        models = self.listing.crossed
        if models is None:
            return None
        return np.array(self._joined(models, np.full(models.shape[1], np.nan)))

    def decisions(self, part: Part, column: str | None) -> Decisions:
        """Return all models' decisions about a split, grouped by a column or, if that is None, all in one group."""
        models = self.listing.decisions(self.division, part, column)
        own = None if self.incumbent is None else self.incumbent.bits[self.division.rows[part]]
        predictions = np.array(self._joined(models.predictions, own))
        return replace(models, predictions=predictions)

    def _joined(self, models: Iterable[T], incumbent: T) -> list[T]:
        if self.incumbent is None:
            return [*models]
        return [incumbent, *models] if self.is_against_incumbent else [*models, incumbent]


def score_part(scored_set: ScoredSet, part: Part, config: AuditConfig) -> list[SplitScores]:
    """Return each model's scores on one split, overall and between the groups of every sensitive column.

    Models that were found by a search on the selection split get no verdicts there.
    """
    division = scored_set.division
    is_searched = [part == "selection" and origin in SEARCHED for origin in scored_set.origins]
    columns = {}
    for groups in division.columns:
        decisions = scored_set.decisions(part, groups.column)
        found = column_scores(decisions, config, ("scores", part, decisions.groups.column), has_shared=True)
        columns[groups.column] = [
            _without_verdicts(own) if searched else own for own, searched in zip(found, is_searched, strict=True)
        ]
    return split_scores(scored_set.rows(part), columns, division.column, config, ("scores", part))


def _without_verdicts(scores: ColumnScores) -> ColumnScores:
    return scores.but(**{gap: scores.gap(gap).but(verdict=None) for gap in GAPS})


def joint_limits(scored_set: ScoredSet, config: AuditConfig) -> list[dict[Measure, Estimate]]:
    """Return each model's measures on the holdout, with confidence intervals that are simultaneous over all models."""
    everyone, values, column = (
        scored_set.decisions("holdout", None),
        scored_set.values("holdout"),
        scored_set.division.column,
    )
    confidence = 1.0 - (1.0 - config.confidence) / len(values)
    found = overall_estimates(everyone, confidence)
    found["auc"] = estimates(auc_intervals(values, everyone.labels, confidence, everyone.weights, everyone.clusters))
    found["performance"] = estimates(performance_intervals(everyone, values, config.tolerances.measure, confidence))
    if column:
        found |= _between_groups(scored_set.decisions("holdout", column), confidence, config)
    return [{name: column[model] for name, column in found.items()} for model in range(len(values))]


def _between_groups(decisions: Decisions, confidence: float, config: AuditConfig) -> dict[Measure, list[Estimate]]:
    scores, compared = score(decisions), decisions.compared()
    found: dict[Measure, list[Estimate]] = {}
    for gap in GAPS:
        critical = gap_critical(
            compared,
            gap,
            stream(config.seed, "joint limits", gap),
            confidence=config.confidence,
            replications=config.replications,
        )
        found[gap] = estimates(gap_intervals(scores, gap, critical=critical))
    return found | {ratio: estimates(ratio_intervals(scores, ratio, confidence)) for ratio in RATIOS}


def disagreement(division: Division, listing: Listing) -> Multiplicity:
    """Return how far the listed models disagree about the holdout, overall and in every group.

    Probabilities are calibrated on the selection split.
    """
    chances = calibrate(listing.values["selection"], division.selection.labels, listing.values["holdout"])
    decisions = listing.decisions(division, "holdout", None)
    decided = decision_multiplicity(decisions)
    scored = score_multiplicity(chances, decisions.groups, decisions.weights)
    return Multiplicity(
        rows=len(decisions.labels),
        models=len(listing.models),
        flipped=int(decided.is_flipped.sum()),
        ambiguity=decided.ambiguity,
        discrepancy=decided.discrepancy,
        disagreement=decided.disagreement,
        viable_range=scored.mean_range,
        capacity=scored.mean_capacity,
        by_column={groups.column: _by_group(division, listing, chances, groups.column) for groups in division.columns},
    )


def _by_group(division: Division, listing: Listing, chances: FloatArray, column: str) -> tuple[GroupDisagreement, ...]:
    decisions = listing.decisions(division, "holdout", column)
    groups = decisions.groups
    decided, scored = decision_multiplicity(decisions), score_multiplicity(chances, groups, decisions.weights)
    flipped = np.bincount(groups.codes, decided.is_flipped, len(groups.names)).astype(int)
    return tuple(
        GroupDisagreement(
            group=name,
            rows=int(groups.sizes[code]),
            flipped=int(flipped[code]),
            ambiguity=plain(decided.group_ambiguity[code]),
            discrepancy=plain(decided.group_discrepancy[code]),
            disagreement=plain(decided.group_disagreement[code]),
            viable_range=plain(scored.group_range[code]),
            capacity=plain(scored.group_capacity[code]),
        )
        for code, name in enumerate(groups.names)
    )
