"""Other mitigations on the audited machine and splits, scored on the holdout beside model 1."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fairenum.auditing.listing import Listing
from fairenum.auditing.scorecard import GAPS, changed_performances, scored_gaps, stream
from fairenum.auditing.training import Training
from fairenum.document.audit_config import AuditConfig
from fairenum.document.models import Baseline
from fairenum.document.scores import BaselineScores
from fairenum.experiment import PARTS, Division
from fairenum.mitigation.methods import MitigationOutcome, MitigationTask, try_mitigations
from fairenum.problem import FloatArray
from fairenum.progress import Progress
from fairenum.scoring import Decisions, rate_intervals, score
from fairenum.scoring.estimates import estimates

Bits = NDArray[np.uint8]
PLACE = len(PARTS) + 1  # of their random numbers


def baselines(
    division: Division, training: Training, listing: Listing, config: AuditConfig, progress: Progress
) -> tuple[Baseline, ...] | None:
    """Try other mitigations, if that is asked for and there are groups.

    Groups that are set aside count as one for them, so that none is a constraint of its own.
    """
    if not config.baselines or division.primary is None:
        return None
    train, selection, holdout = (
        replace(rows, groups=rows.groups.folded()) for rows in (division.train, division.selection, division.holdout)
    )
    task = MitigationTask(
        machine=training.machine,
        first=listing.models[0],
        train=train,
        selection=selection,
        holdout=holdout,
        tolerances=config.tolerances,
        point=listing.point,
    )
    outcomes = try_mitigations(task, partial(progress, "baselines"))
    drawn = {number: bits for number, one in enumerate(outcomes) if (bits := _drawn(one, number, config)) is not None}
    values = [one.decided.values for one in outcomes if one.decided]
    scores = dict(zip(drawn, _scores(listing, division, list(drawn.values()), values, config), strict=True))
    return tuple(
        Baseline(
            name=outcome.name,
            is_randomised=outcome.is_randomised,
            needs_groups=outcome.mitigation.needs_groups,
            error=outcome.error,
            scores=scores.get(number),
        )
        for number, outcome in enumerate(outcomes)
    )


def _drawn(outcome: MitigationOutcome, number: int, config: AuditConfig) -> Bits | None:
    """Decide each row of the holdout by its chance, once."""
    if outcome.decided is None:
        return None
    chances = outcome.decided.chances
    return (stream(config, PLACE, number).random(len(chances)) < chances).astype(np.uint8)


def _scores(
    listing: Listing, division: Division, decided: list[Bits], values: list[FloatArray], config: AuditConfig
) -> list[BaselineScores]:
    first = (listing.values["holdout"][0] >= 0.0).astype(np.uint8)
    rows = division.holdout
    decisions = Decisions(np.array([first, *decided]), rows.labels, rows.groups, drawn=rows.drawn)
    place = (PLACE, len(decided))
    counts = score(decisions).counts.overall()
    ranked = np.array([listing.values["holdout"][0], *values])
    accuracy, performance = changed_performances(decisions, ranked, place, config)
    selected = estimates(rate_intervals(counts, "selection_rate", config.confidence))
    gaps = scored_gaps(decisions, place, config)
    return [
        BaselineScores(
            **{gap: gaps[method].gap(gap) for gap in GAPS},
            rows=len(rows),
            accuracy=accuracy[method],
            selection_rate=selected[method],
            performance=performance[method],
        )
        for method in range(1, len(decided) + 1)
    ]
