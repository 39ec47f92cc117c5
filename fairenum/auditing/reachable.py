"""What no machine that is nearly as good goes beyond."""

from __future__ import annotations

import numpy as np

from fairenum.auditing.listing import Listing
from fairenum.auditing.training import Training
from fairenum.document.audit_config import AuditConfig
from fairenum.document.possible import PossibleRange, RangeEnd, RangeModel
from fairenum.enumeration.reach import End, reach
from fairenum.errors import SolverError
from fairenum.experiment import Division

SOLVES, WORK = (4, 16), 2e7


def possible_range(
    division: Division, training: Training, listing: Listing, config: AuditConfig
) -> PossibleRange | None:
    """Bound the difference of mean decision values on the holdout for any machine nearly as good as model 1.

    The two groups are those of the compared ones that lie farthest apart for model 1. Nearly as good is what is within
    the eps of the audit or, if a listed model loses more than that on all training rows, what it loses: so every model
    lies in the range. It is about rows that count alike, and left out where they do not.
    """
    rows, groups = division.holdout, division.holdout.groups
    present = np.flatnonzero((groups.sizes > 0) & groups.compared)
    if division.column is None or len(present) < 2 or rows.weights is not None:
        return None
    values = listing.values["holdout"]
    means = np.array([values[:, groups.codes == code].mean(axis=1) for code in present])
    high, low = int(means[:, 0].argmax()), int(means[:, 0].argmin())
    first, second = (rows.X[groups.codes == present[place]] for place in (high, low))
    eps = max(config.eps, *(model.loss_ratio for model in listing.models))
    try:
        solves = training.problem.affordable(WORK, *SOLVES)
        found = reach(training.problem, training.best, first, second, eps, solves)
    except SolverError:
        return None
    models = (
        RangeModel(place + 1, float(means[high, place] - means[low, place]), model.loss_ratio, model.loss_ratio <= eps)
        for place, model in enumerate(listing.models)
    )
    return PossibleRange(
        column=division.column,
        groups=(groups.names[present[high]], groups.names[present[low]]),
        eps=found.eps,
        low=_end(found.low),
        high=_end(found.high),
        models=tuple(models),
    )


def _end(found: End) -> RangeEnd:
    return RangeEnd(found.bound, found.attained, found.solves)
