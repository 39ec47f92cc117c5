"""Scores of all models on one split, as blocks of the document."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, get_args

import numpy as np

from fairenum.audit.config import AuditConfig
from fairenum.audit.listing import Listing
from fairenum.audit.preparation import PARTS, Part, Prepared
from fairenum.problem import FloatArray
from fairenum.scoring import Decisions, Gap, Gaps, Interval, Scores, accuracy_changes, compare, gap_intervals, score
from fairenum.scoring.counts import Confusion
from fairenum.scoring.inference import rate_intervals
from fairenum.scoring.intervals import difference, normal_critical, wilson
from fairenum.scoring.rates import FRACTIONS, GAP_RATES

DIFFERENCES: tuple[Gap, ...] = get_args(Gap)
RATIOS = tuple(field.name for field in fields(Gaps) if field.name.endswith("ratio"))
UNDEFINED = {"value": None, "low": None, "high": None}

Block = dict[str, Any]


def plain(number: float) -> float | None:
    """Return a number as the document holds it: null for what is undefined or infinite, and no -0."""
    return float(number) + 0.0 if math.isfinite(number) else None


def estimate(value: float, low: float = math.nan, high: float = math.nan) -> Block:
    """Return an estimate with its limits."""
    return {"value": plain(value), "low": plain(low), "high": plain(high)}


def estimates(interval: Interval) -> list[Block]:
    """Return the estimates of all models."""
    return list(map(estimate, interval.estimate, interval.lower, interval.upper))


def score_part(prepared: Prepared, listing: Listing, part: Part, config: AuditConfig) -> list[Block]:
    """Score all models on one split: overall, and between the groups of every sensitive column."""
    blocks = _overall(listing, listing.decisions(prepared, part, None), part, config)
    columns = {
        groups.column: scored_gaps(listing.decisions(prepared, part, groups.column), (PARTS.index(part), place), config)
        for place, groups in enumerate(prepared.columns)
    }
    for model, block in enumerate(blocks):
        by_column = {column: scores[model] for column, scores in columns.items()}
        primary = by_column[prepared.primary.column] if prepared.primary else {}
        block |= {gap: primary.get(gap, {**UNDEFINED, "change": None, "verdict": None}) for gap in DIFFERENCES}
        block |= {ratio: primary.get(ratio, UNDEFINED) for ratio in RATIOS}
        block["by_column"] = by_column
    return blocks


def without_verdicts(scores: Block) -> Block:
    """Return scores that claim nothing: those of a model that was searched for on the rows it is scored on."""
    mute: Block = {gap: {**scores[gap], "verdict": None} for gap in DIFFERENCES}
    if "by_column" in scores:
        mute["by_column"] = {column: without_verdicts(block) for column, block in scores["by_column"].items()}
    return {**scores, **mute}


def stream(config: AuditConfig, *place: int) -> np.random.Generator:
    """Open the stream of random numbers of one place in the audit, whatever the other places draw."""
    return np.random.default_rng([config.seed, *place])


def _overall(listing: Listing, decisions: Decisions, part: Part, config: AuditConfig) -> list[Block]:
    scores = score(decisions, decision_values=listing.values[part])
    counts, level = scores.counts.overall(), config.confidence
    changes = accuracy_changes(
        decisions, stream(config, PARTS.index(part)), confidence=level, replications=config.replications
    )
    losses = scores.overall.hinge_loss if scores.overall.hinge_loss is not None else np.array([])
    accuracy = estimates(rate_intervals(counts, "accuracy", level))
    balanced = estimates(_balanced_accuracy(counts, level))
    selected = estimates(rate_intervals(counts, "selection_rate", level))
    return [
        {
            "rows": len(decisions.labels),
            "accuracy": {**accuracy[model], "change": change},
            "balanced_accuracy": balanced[model],
            "selection_rate": selected[model],
            "hinge_loss": estimate(losses[model]),
        }
        for model, change in enumerate(estimates(changes))
    ]


def _balanced_accuracy(counts: Confusion, confidence: float) -> Interval:
    """Bound (1 + TPR - FPR) / 2: the two rates are of different rows."""
    youden = difference(
        rate_intervals(counts, "true_positive_rate", confidence),
        rate_intervals(counts, "false_positive_rate", confidence),
    )
    return Interval((1 + youden.estimate) / 2, (1 + youden.lower) / 2, (1 + youden.upper) / 2)


def scored_gaps(decisions: Decisions, place: tuple[int, ...], config: AuditConfig) -> list[Block]:
    """Score all models between the groups of one column."""
    scores = score(decisions)
    blocks: list[Block] = [{} for _ in decisions.predictions]
    for number, gap in enumerate(DIFFERENCES):
        comparison = compare(
            decisions,
            gap,
            stream(config, *place, number),
            confidence=config.confidence,
            replications=config.replications,
            minimum_size=config.min_group_size,
        )
        own = estimates(gap_intervals(scores, gap, config.confidence))
        for block, value, change, verdict in zip(
            blocks, own, estimates(comparison.gap_change), comparison.verdicts, strict=True
        ):
            block[gap] = {**value, "change": change, "verdict": str(verdict)}
    for ratio in RATIOS:
        for block, value in zip(blocks, estimates(_ratio_intervals(scores, ratio, config.confidence)), strict=True):
            block[ratio] = value
    for block, selected in zip(blocks, scores.counts.selected.astype(int), strict=True):
        block |= {"selected": selected.sum(-1).tolist(), "true_positives": selected[:, 1].tolist()}
    return blocks


def _ratio_intervals(scores: Scores, ratio: str, confidence: float) -> Interval:
    """Bound the ratio of the smallest to the largest rate.

    With limits l and u of each group's rate that hold together (Bonferroni), every ratio of two groups lies between
    l_a / u_b and u_a / l_b, so the smallest lies between the smallest of these.
    """
    present = scores.by_group.count > 0
    rates = GAP_RATES[ratio.replace("ratio", "difference")]  # type: ignore[index]  # the names go in pairs
    critical = normal_critical(1 - (1 - confidence) / (len(rates) * max(int(present.sum()), 1)))
    lower, upper = [], []
    for rate in rates:
        limits = wilson(*FRACTIONS[rate](scores.counts), critical)
        low, high = limits.lower[:, present], limits.upper[:, present]
        lower.append(_smallest_ratio(low, high))
        upper.append(np.minimum(_smallest_ratio(high, low), 1.0))
    return Interval(getattr(scores.gaps, ratio), np.min(lower, axis=0), np.min(upper, axis=0))


def _smallest_ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Take the smallest above_a / below_b over two different groups; 1 for a single group."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = above[:, :, None] / below[:, None, :]
    others = ~np.eye(above.shape[1], dtype=np.bool_)
    return np.asarray(np.fmin.reduce(ratios[:, others], axis=1, initial=np.inf).clip(max=1.0))
