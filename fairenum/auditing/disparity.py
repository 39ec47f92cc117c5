"""The gap of the reference on all rows that it was not trained on, which may leave nothing to reduce."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fairenum.auditing.scored_set import ScoredSet
from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import Disparity
from fairenum.enumeration.division import PARTS
from fairenum.metrics import Decisions, gap_intervals, score
from fairenum.metrics.inference import detectable_gap
from fairenum.metrics.intervals import estimates, plain


def disparity(scored_set: ScoredSet, config: AuditConfig) -> Disparity | None:
    """Return the gap, by the metric of the run, of the model that others are compared with.

    The model in use is measured on all rows, model 1 on selection split and holdout. None for an exploratory run,
    without a sensitive column, and for a model that decides all rows alike, which has no gap and no use.
    """
    division = scored_set.division
    if division.primary is None or division.is_exploratory:
        return None
    decisions = _all_rows(scored_set) if scored_set.is_against_incumbent else _untrained_rows(scored_set)
    if decisions.is_constant[0]:
        return None
    scores = score(decisions)
    gap = estimates(gap_intervals(scores, config.metric, config.confidence))[0]
    detectable = plain(detectable_gap(scores, config.metric, config.confidence))
    return Disparity(len(decisions.labels), gap, detectable, config.same_within)


def _all_rows(scored_set: ScoredSet) -> Decisions:
    """Return the decisions of the model in use about every row of the table that counts."""
    dataset, incumbent, groups = scored_set.division.dataset, scored_set.incumbent, scored_set.division.primary
    assert incumbent is not None  # noqa: S101 - models are compared with it
    assert groups is not None  # noqa: S101 - checked by the caller
    rows = np.arange(len(dataset)) if dataset.weights is None else np.flatnonzero(dataset.weights.values > 0.0)
    return Decisions(
        incumbent.bits[None, rows],
        dataset.y[rows].astype(np.uint8),
        groups.take(rows),
        dataset.relative(rows),
        clusters=None if dataset.members is None else dataset.members[rows],
    )


def _untrained_rows(scored_set: ScoredSet) -> Decisions:
    """Return the decisions of model 1 about selection split and holdout together."""
    division = scored_set.division
    first = division.part(PARTS[0]).decisions(scored_set.listing.values[PARTS[0]][:1])
    values = np.concatenate([scored_set.listing.values[part][:1] for part in PARTS], axis=1)
    rows = np.concatenate([division.rows[part] for part in PARTS])
    dataset = division.dataset
    assert division.primary is not None  # noqa: S101 - checked by the caller
    return replace(
        first,
        predictions=(values >= 0.0).astype(np.uint8),
        labels=dataset.y[rows].astype(np.uint8),
        groups=division.primary.take(rows),
        weights=dataset.relative(rows),
        drawn=sum(division.part(part).drawn for part in PARTS) if first.drawn < 1.0 else 1.0,
        clusters=None if dataset.members is None else dataset.members[rows],
    )
