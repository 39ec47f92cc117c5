"""The guided models of an audit, joined to the listed ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fairenum.auditing.listing import Listing, cut_values
from fairenum.auditing.training import Training
from fairenum.document.audit_config import AuditConfig
from fairenum.document.models import GuidedRun
from fairenum.document.terms import Obstacle, Origin
from fairenum.enumeration.guided import Bounds, GuidedSearch
from fairenum.enumeration.model import Model
from fairenum.enumeration.unfairness import Watched
from fairenum.errors import ConfigError, SolverError
from fairenum.experiment import PARTS, Division
from fairenum.progress import Progress
from fairenum.scoring.operating import OperatingPoint
from fairenum.scoring.ties import tied_ranks

NEEDS = {
    "no_sensitive_column": "no sensitive column was named",
    "no_holdout": "it looks at the rows that models are selected by, so it needs a holdout apart from them",
    "cut_short": "the enumeration was cut short",
}


def join_guided(
    listing: Listing, division: Division, training: Training, config: AuditConfig, progress: Progress
) -> tuple[Listing, GuidedRun | None]:
    """Search for fairer models on the selection split and list them with the others, best objective first.

    A guided model that decides all audited rows as a listed one does is nothing new.
    """
    if config.search == "exact":
        return listing, None
    if obstacle := _obstacle(division, listing):
        if config.search == "guided":
            raise ConfigError(f"search='guided' is not possible: {NEEDS[obstacle]}")
        return listing, GuidedRun("skipped", obstacle=obstacle)
    search, stopped = _run(division, training, listing.point, config, progress)
    front = search.front
    joined = _joined(listing, [found.model for found in front], division)
    if stopped == "interrupted":
        joined = replace(joined, stopped="interrupted")
    return joined, GuidedRun(stopped, search.solves, len(front), len(joined.models) - len(listing.models))


def _obstacle(division: Division, listing: Listing) -> Obstacle | None:
    """Say why there is nothing to guide a search; None if there is."""
    if division.primary is None:
        return "no_sensitive_column"
    if division.is_exploratory:
        return "no_holdout"
    return "cut_short" if listing.stopped in ("interrupted", "solver") else None


def _run(
    division: Division, training: Training, point: OperatingPoint, config: AuditConfig, progress: Progress
) -> tuple[GuidedSearch, str]:
    """Search until a bound is reached, the user interrupts, or the solver fails; what was proven by then stays."""
    tolerances = config.tolerances
    bounds = Bounds(
        config.eps,
        config.max_performance_drop,
        config.max_left_out,
        seconds=config.max_seconds,
        training_loss=config.max_loss,
    )
    watched = Watched(division.selection, config.metric, tolerances.measure, point, tolerances.guardrails)
    search = GuidedSearch(training.workspace, watched, bounds, root=training.best)
    try:
        for _ in search:
            progress("guide", search.solves, search.most_solves)
    except (KeyboardInterrupt, SolverError) as reason:
        return search, "solver" if isinstance(reason, SolverError) else "interrupted"
    return search, str(search.stopped)


def _joined(listing: Listing, candidates: list[Model], division: Division) -> Listing:
    """List guided models with the exact ones, by objective; of equal ones the exact come first."""
    models, listed = [*listing.models, *candidates], len(listing.models)
    cuts, found = cut_values(candidates, division, listing.point)
    cuts = (*listing.cuts, *cuts)
    values = {part: np.array([*listing.values[part], *found[part]]) for part in PARTS}
    decided = np.hstack([values[part] >= 0.0 for part in PARTS])
    fresh = [place for place in range(listed, len(models)) if not (decided[:place] == decided[place]).all(1).any()]
    ranks = tied_ranks(-np.array([model.objective for model in models]))
    order = sorted([*range(listed), *fresh], key=lambda place: (ranks[place], place))
    origins: list[Origin] = ["exact" if place < listed else "guided" for place in order]
    return replace(
        listing,
        models=_certified([models[place] for place in order], origins),
        origins=tuple(origins),
        sizes=tuple(listing.sizes[place] if place < listed else 1 for place in order),
        cuts=tuple(cuts[place] for place in order),
        values={part: values[part][order] for part in PARTS},
    )


def _certified(models: list[Model], origins: list[Origin]) -> tuple[Model, ...]:
    """Say of each model that has got a new neighbour whether the intervals prove that it comes after it."""
    result = models[:1]
    for place in range(1, len(models)):
        model, is_new = models[place], "guided" in origins[place - 1 : place + 1]
        is_below = model.certificate.bound < models[place - 1].objective
        result.append(replace(model, is_order_certified=is_below) if is_new else model)
    return tuple(result)
