"""What models rank people by: the score of the model in use, and decision values of machines, on the holdout."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fairenum.auditing.lineup import Lineup
from fairenum.document.audit import AuditDocument
from fairenum.document.audit_config import AuditConfig
from fairenum.document.measure_config import MeasureConfig
from fairenum.document.measured_score import ModelScore
from fairenum.measuring.decisions import Setting
from fairenum.measuring.scores import measured_score


def model_scores(document: AuditDocument, lineup: Lineup) -> tuple[ModelScore, ...]:
    """Measure scores as `fairenum measure` does; rows that count differently have no such tables."""
    if not document.dataset.sensitive or lineup.division.holdout.weights is not None:
        return ()
    return tuple(_measured(rank, document, lineup) for rank in _wanted(document))


def _wanted(document: AuditDocument) -> Iterable[int]:
    incumbent = document.incumbent
    own = (0,) if incumbent is not None and incumbent.has_score else ()
    return (*own, *(document.selection.shortlist if document.config.scores else ()))


def _measured(rank: int, document: AuditDocument, lineup: Lineup) -> ModelScore:
    told, place = document.incumbent if rank == 0 else None, lineup.ranks.index(rank)
    rows, labels = lineup.division.rows["holdout"], lineup.division.holdout.labels
    measuring = _config(document.config, is_lower_better=told is not None and told.is_lower_better)
    values = lineup.values("holdout")[place] if told else lineup.uncut("holdout")[place]
    settings = [
        Setting(groups.take(rows), number, column.reference, True, measuring)
        for number, (groups, column) in enumerate(zip(lineup.division.columns, document.dataset.sensitive, strict=True))
    ]
    name = told.name if told else f"decision value of model {rank}"
    return ModelScore(rank, measured_score(name, np.asarray(values), labels, settings))


def _config(config: AuditConfig, *, is_lower_better: bool) -> MeasureConfig:
    """Measure as the audit does."""
    return MeasureConfig(
        lower_is_better=is_lower_better,
        seed=config.seed,
        confidence=config.confidence,
        min_group_size=config.min_group_size,
        small_groups=config.small_groups,
        replications=config.replications,
    )
