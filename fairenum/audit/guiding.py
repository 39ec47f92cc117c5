"""The guided models of an audit, joined to the listed ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fairenum.audit.config import AuditConfig
from fairenum.audit.listing import Listing, Origin, watched_rows
from fairenum.audit.preparation import PARTS, Prepared, Progress, Training
from fairenum.enumeration.guided import Bounds, GuidedSearch
from fairenum.enumeration.model import Model
from fairenum.errors import ConfigError, SolverError
from fairenum.solvers.registry import open_workspace


@dataclass(frozen=True, slots=True)
class Guidance:
    """How the guided search went.

    Attributes
    ----------
    stopped
        Why it ended; ``skipped`` if there was nothing to guide it.
    solves
        Boxes solved.
    front
        Models that none beats in objective, gap and accuracy together, model 1 among them.
    models
        Those of them that joined the list.
    note
        Why it was skipped; empty otherwise.
    """

    stopped: str
    solves: int = 0
    front: int = 0
    models: int = 0
    note: str = ""


def join_guided(
    listing: Listing, prepared: Prepared, training: Training, config: AuditConfig, progress: Progress
) -> tuple[Listing, Guidance | None]:
    """Search for fairer models on the selection split and list them with the others, best objective first.

    A guided model that decides all audited rows as a listed one does is nothing new.
    """
    if config.search == "exact":
        return listing, None
    if note := _obstacle(prepared, listing):
        if config.search == "guided":
            raise ConfigError(f"search='guided' is not possible: {note}")
        return listing, Guidance("skipped", note=note)
    search, stopped = _run(prepared, training, config, progress)
    front = search.front
    joined = _joined(listing, [found.model for found in front], prepared)
    if stopped == "interrupted":
        joined = replace(joined, stopped="interrupted")
    return joined, Guidance(stopped, search.solves, len(front), len(joined.models) - len(listing.models))


def _obstacle(prepared: Prepared, listing: Listing) -> str:
    """Say why there is nothing to guide a search; empty if there is."""
    if prepared.primary is None:
        return "no sensitive column was named"
    if prepared.is_exploratory:
        return "it looks at the rows that models are selected by, so it needs a holdout apart from them"
    if listing.stopped in ("interrupted", "solver"):
        return "the enumeration was cut short"
    return ""


def _run(prepared: Prepared, training: Training, config: AuditConfig, progress: Progress) -> tuple[GuidedSearch, str]:
    """Search until a bound is reached, the user interrupts, or the solver fails; what was proven by then stays."""
    bounds = Bounds(config.eps, config.max_accuracy_drop, config.max_left_out, seconds=config.max_seconds)
    search = GuidedSearch(
        open_workspace(config.solver, training.problem), watched_rows(prepared, "selection", config.metric), bounds
    )
    try:
        for _ in search:
            progress("guide", search.solves, search.most_solves)
    except (KeyboardInterrupt, SolverError) as reason:
        return search, "solver" if isinstance(reason, SolverError) else "interrupted"
    return search, str(search.stopped)


def _joined(listing: Listing, candidates: list[Model], prepared: Prepared) -> Listing:
    """List guided models with the exact ones, by objective; of equal ones the exact come first."""
    models, listed = [*listing.models, *candidates], len(listing.models)
    found = {part: [model.decision_function(prepared.audited[part]) for model in candidates] for part in PARTS}
    values = {part: np.array([*listing.values[part], *found[part]]) for part in PARTS}
    decided = np.hstack([values[part] >= 0.0 for part in PARTS])
    fresh = [place for place in range(listed, len(models)) if not (decided[:place] == decided[place]).all(1).any()]
    order = sorted([*range(listed), *fresh], key=lambda place: -models[place].objective)
    origins: list[Origin] = ["exact" if place < listed else "guided" for place in order]
    return replace(
        listing,
        models=_certified([models[place] for place in order], origins),
        origins=tuple(origins),
        sizes=tuple(listing.sizes[place] if place < listed else 1 for place in order),
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
