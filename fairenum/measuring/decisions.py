"""What decisions do to the groups of a sensitive column: rates, ratios, gaps, and how they differ from the first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from msgspec.structs import asdict

from fairenum.dataset import Groups
from fairenum.document.impact import GroupTable
from fairenum.document.measure import ColumnMeasures, GroupMeasures
from fairenum.document.measure_config import MeasureConfig
from fairenum.document.scores import ColumnScores, GapEstimate, GroupScores
from fairenum.document.terms import Gap, Ratio
from fairenum.document.value import Estimate
from fairenum.scoring import Comparison, Decisions, Scores, compare, gap_intervals, rate_intervals, score
from fairenum.scoring.adverse import Headcount, impact_table
from fairenum.scoring.estimates import estimate, estimates
from fairenum.scoring.ratios import impact_ratios, ratio_intervals

GAPS: tuple[Gap, ...] = get_args(Gap)
RATIOS: tuple[Ratio, ...] = get_args(Ratio)
UNLABELLED = ("demographic_parity_difference", "demographic_parity_ratio")  # what needs no label

Comparisons = Mapping[Gap, Comparison]


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """One sensitive column, and how decisions are measured in it.

    Attributes
    ----------
    place
        Of the column among all: its bootstrap has a stream of its own.
    reference
        The group that others are compared with.
    has_label
        Whether labels are known, and not all counted as unfavourable.
    """

    groups: Groups
    place: int
    reference: str
    has_label: bool
    config: MeasureConfig

    def measures(self, name: Gap | Ratio) -> bool:
        """Say whether a gap or a ratio can be measured with what is known."""
        return self.has_label or name in UNLABELLED


def measured_column(decisions: Decisions, setting: Setting) -> list[ColumnMeasures]:
    """Measure all decisions between the groups of one column, and compare them with the first."""
    comparisons = _comparisons(decisions, setting) if len(decisions.predictions) > 1 else {}
    found = []
    for number, bits in enumerate(decisions.predictions):
        scores = score(replace(decisions, predictions=bits[None]))
        table = impact(number + 1, scores, setting, has_label=setting.has_label)
        gaps = {gap: _gap(scores, gap, number, comparisons, setting) for gap in GAPS}
        found.append(ColumnMeasures(table, _groups(scores, table, setting), _scores(scores, gaps, setting)))
    return found


def impact(rank: int, scores: Scores, setting: Setting, *, has_label: bool) -> GroupTable:
    """Return the adverse-impact table of one set of decisions."""
    groups, config = setting.groups, setting.config
    heads = Headcount(groups.sizes, scores.counts.selected[0].sum(-1), groups.small(config.min_group_size))
    return impact_table(
        rank,
        scores,
        heads,
        column=groups.column,
        reference=setting.reference,
        confidence=config.confidence,
        has_label=has_label,
    )


def ratios_to_best(scores: Scores, table: GroupTable, confidence: float) -> list[Estimate]:
    """Bound the impact ratio of each group; without values where nobody is selected."""
    if table.most_selected is None:
        return [Estimate()] * len(table.groups)
    best = scores.groups.names.index(table.most_selected)
    return estimates(impact_ratios(scores, best, confidence=confidence)[0])


def _comparisons(decisions: Decisions, setting: Setting) -> Comparisons:
    config = setting.config
    return {
        gap: compare(
            decisions,
            gap,
            np.random.default_rng([config.seed, setting.place, number]),
            confidence=config.confidence,
            replications=config.replications,
            minimum_size=config.min_group_size,
            margin=config.same_within,
        )
        for number, gap in enumerate(GAPS)
        if setting.measures(gap)
    }


def _gap(scores: Scores, gap: Gap, number: int, comparisons: Comparisons, setting: Setting) -> GapEstimate:
    if not setting.measures(gap):
        return GapEstimate()
    (own,) = estimates(gap_intervals(scores, gap, setting.config.confidence))
    if gap not in comparisons or number == 0:
        return GapEstimate(own.value, own.low, own.high)
    comparison = comparisons[gap]
    change = comparison.gap_change[number]
    limits = estimate(float(change.estimate), float(change.lower), float(change.upper))
    if not comparison.is_comparable[number]:
        limits = Estimate(limits.value)
    return GapEstimate(own.value, own.low, own.high, limits, comparison.verdicts[number])


def _scores(scores: Scores, gaps: Mapping[Gap, GapEstimate], setting: Setting) -> ColumnScores:
    selected, confidence = scores.counts.selected[0].astype(int), setting.config.confidence
    ratios = [
        estimates(ratio_intervals(scores, ratio, confidence))[0] if setting.measures(ratio) else Estimate()
        for ratio in RATIOS
    ]
    own = GroupScores(*(gaps[gap] for gap in GAPS), *ratios)
    by_group, found = tuple(selected.sum(-1).tolist()), tuple(selected[:, 1].tolist())
    return ColumnScores(**asdict(own), selected=by_group, true_positives=found)


def _groups(scores: Scores, table: GroupTable, setting: Setting) -> tuple[GroupMeasures, ...]:
    names, confidence = scores.groups.names, setting.config.confidence
    ratios = ratios_to_best(scores, table, confidence)
    if not setting.has_label:
        return tuple(map(GroupMeasures, names, ratios))
    positives = scores.counts.total[0, :, 1].astype(int).tolist()
    accuracy = estimates(rate_intervals(scores.counts, "accuracy", confidence)[0])
    return tuple(map(GroupMeasures, names, ratios, positives, accuracy))
