"""What else a user would pick, and what no machine can go beyond: blocks of the document beside the models."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

import numpy as np

from fairenum.audit.config import AuditConfig
from fairenum.audit.listing import Listing, rows_of, watched_rows
from fairenum.audit.preparation import PARTS, Prepared, Progress, Training
from fairenum.audit.scorecard import DIFFERENCES, Block, estimates, scored_gaps, stream
from fairenum.baselines import Outcome, Stage, WeightedSvm, try_mitigations
from fairenum.enumeration.reach import reach
from fairenum.enumeration.unfairness import Watched
from fairenum.errors import SolverError
from fairenum.scoring import Decisions, accuracy_changes, rate_intervals, score
from fairenum.selection import Tolerances
from fairenum.solvers.registry import open_workspace

SOLVES, WORK = (2, 16), 1e7


def baselines(
    prepared: Prepared, training: Training, listing: Listing, config: AuditConfig, progress: Progress
) -> list[Block] | None:
    """Try other mitigations on the same machine and splits, and score them on the holdout beside model 1."""
    if not config.baselines or prepared.primary is None:
        return None
    stage = Stage(
        machine=WeightedSvm(training.C, training.problem.kernel, config.solver),
        first=listing.models[0],
        train=rows_of(prepared, prepared.train, prepared.split.train, config.metric),
        selection=watched_rows(prepared, "selection", config.metric),
        holdout=watched_rows(prepared, "holdout", config.metric),
        tolerances=Tolerances(config.metric, config.eps, config.max_accuracy_drop),
    )
    outcomes = try_mitigations(stage, partial(progress, "baselines"))
    decided = [_draw(outcome, place, config) for place, outcome in enumerate(outcomes)]
    scores = iter(_scores(listing, stage.holdout, [bits for bits in decided if bits is not None], config))
    return [
        {
            "name": outcome.name,
            "title": outcome.mitigation.title,
            "is_randomised": outcome.mitigation.is_randomised,
            "needs_groups": outcome.mitigation.needs_groups,
            "error": outcome.error,
            "scores": None if bits is None else next(scores),
        }
        for outcome, bits in zip(outcomes, decided, strict=True)
    ]


def _draw(outcome: Outcome, place: int, config: AuditConfig) -> np.ndarray | None:
    """Decide each row of the holdout by its chance, once."""
    if outcome.chances is None:
        return None
    lots = stream(config, len(PARTS) + 1, place).random(len(outcome.chances))
    return (lots < outcome.chances).astype(np.uint8)


def _scores(listing: Listing, holdout: Watched, decided: list[np.ndarray], config: AuditConfig) -> list[Block]:
    first = (listing.values["holdout"][0] >= 0.0).astype(np.uint8)
    decisions = Decisions(np.array([first, *decided]), holdout.labels, holdout.groups)
    place = (len(PARTS) + 1, len(decided))
    counts = score(decisions).counts.overall()
    changes = accuracy_changes(
        decisions, stream(config, *place), confidence=config.confidence, replications=config.replications
    )
    accuracy = estimates(rate_intervals(counts, "accuracy", config.confidence))
    selected = estimates(rate_intervals(counts, "selection_rate", config.confidence))
    gaps = scored_gaps(decisions, place, config)
    blocks = [
        {
            "rows": len(holdout.labels),
            "accuracy": {**accuracy[model], "change": change},
            "selection_rate": selected[model],
            **{gap: gaps[model][gap] for gap in DIFFERENCES},
        }
        for model, change in enumerate(estimates(changes))
    ]
    return blocks[1:]


def possible_range(prepared: Prepared, training: Training, listing: Listing, config: AuditConfig) -> Block | None:
    """Bound the difference of mean decision values on the holdout for any machine nearly as good as model 1.

    The two groups are those that lie farthest apart for model 1. Nearly as good is what is within the eps of the audit
    or, if a listed model loses more than that on all training rows, what it loses: so every model lies in the range.
    """
    column = prepared.primary.column if prepared.primary else None
    watched = watched_rows(prepared, "holdout", config.metric)
    groups = watched.groups
    present = np.flatnonzero(groups.sizes)
    if column is None or len(present) < 2:
        return None
    values = listing.values["holdout"]
    means = np.array([values[:, groups.codes == code].mean(axis=1) for code in present])
    high, low = int(means[:, 0].argmax()), int(means[:, 0].argmin())
    first, second = (watched.X[groups.codes == present[place]] for place in (high, low))
    eps = max(config.eps, *(model.loss_ratio for model in listing.models))
    try:
        best = open_workspace(config.solver, training.problem).solve()
        solves = training.problem.affordable(WORK, *SOLVES)
        found = reach(training.problem, best, first, second, eps, config.solver, solves)
    except SolverError:
        return None
    return {
        "column": column,
        "groups": [groups.names[present[high]], groups.names[present[low]]],
        **asdict(found),
        "models": [
            {
                "rank": place + 1,
                "value": float(means[high, place] - means[low, place]),
                "loss_ratio": model.loss_ratio,
                "is_within": model.loss_ratio <= eps,
            }
            for place, model in enumerate(listing.models)
        ],
    }
