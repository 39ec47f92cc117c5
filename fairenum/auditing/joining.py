"""Models that were searched for, joined to the listed ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairenum.auditing.listing import Listing, cut_values
from fairenum.document.terms import Origin
from fairenum.enumeration.model import Model
from fairenum.experiment import PARTS, Division
from fairenum.problem import IntArray
from fairenum.scoring.ties import tied_ranks


def joined(listing: Listing, candidates: Sequence[Model], origin: Origin, division: Division) -> Listing:
    """List more models with those that there are; one that decides all audited rows as another does is nothing new.

    The best objective comes first. Tilted models, which have none to compare, follow after the others, the least loss
    first. Of equal ones those that were listed before come first.
    """
    if not candidates:
        return listing
    models, listed = [*listing.models, *candidates], len(listing.models)
    cuts, found = cut_values([*candidates], division, listing.point)
    cuts = (*listing.cuts, *cuts)
    values = {part: np.array([*listing.values[part], *found[part]]) for part in PARTS}
    decided = np.hstack([values[part] >= 0.0 for part in PARTS])
    order = [
        place for place in _order(models) if place < listed or not (decided[:place] == decided[place]).all(1).any()
    ]
    origins = [listing.origins[place] if place < listed else origin for place in order]
    return replace(
        listing,
        models=_certified([models[place] for place in order], origins),
        origins=tuple(origins),
        sizes=tuple(listing.sizes[place] if place < listed else 1 for place in order),
        cuts=tuple(cuts[place] for place in order),
        values={part: values[part][order] for part in PARTS},
    )


def _order(models: Sequence[Model]) -> IntArray:
    is_tilted = np.array([model.tilt is not None for model in models])
    costs = np.array([model.loss_ratio if model.tilt else -model.objective for model in models])
    ranks = np.zeros(len(models), dtype=np.intp)
    for kind in (is_tilted, ~is_tilted):
        ranks[kind] = tied_ranks(costs[kind])
    return np.lexsort((ranks, is_tilted))


def _certified(models: Sequence[Model], origins: Sequence[Origin]) -> tuple[Model, ...]:
    """Say of each model that has got a new neighbour whether the intervals prove that it comes after it.

    The place of a tilted model is that of its loss, which is known without an interval.
    """
    result = [*models[:1]]
    for place in range(1, len(models)):
        model, is_new = models[place], "guided" in origins[place - 1 : place + 1]
        is_below = model.certificate.bound < models[place - 1].objective
        result.append(replace(model, is_order_certified=is_below) if is_new and not model.tilt else model)
    return tuple(result)
