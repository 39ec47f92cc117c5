"""What no machine that is nearly as good goes beyond."""

from __future__ import annotations

import numpy as np

from fairenum.auditing.listing import Listing
from fairenum.auditing.multiplicity import Examined
from fairenum.auditing.sampling import RANGE_WORK
from fairenum.auditing.training import Training
from fairenum.document.audit_config import AuditConfig
from fairenum.document.possible import Extent, GroupExtent, ParityRange, PossibleRange
from fairenum.enumeration import parity
from fairenum.enumeration.crowd import Crowd
from fairenum.enumeration.parity import Parity, nested, parity_range
from fairenum.errors import SolverError
from fairenum.experiment import Division
from fairenum.problem import FloatArray

LOSSES = (0.001, 0.01)  # beside what the audit allows


def possible_range(
    division: Division, training: Training, listing: Listing, config: AuditConfig, found: Examined
) -> PossibleRange | None:
    """Bound the demographic parity difference on the holdout for any machine nearly as good as model 1.

    Nearly as good is what is within the loss that the audit allows and, to see what that is due to, within smaller
    ones. None without two groups to compare, and where every machine has a cut of its own.
    """
    groups = division.holdout.groups
    present = np.flatnonzero((groups.sizes > 0) & groups.compared)
    if division.column is None or len(present) < 2 or listing.point.share is not None:
        return None
    codes = np.full(len(groups.names), -1)
    codes[present] = np.arange(len(present))
    codes = codes[groups.codes]
    allowed = config.tolerances.allowed_loss
    losses = sorted({*(eps for eps in LOSSES if eps < allowed), allowed})
    crowd = Crowd.of(division.holdout.X, codes, division.holdout.weights)
    prices = np.zeros(len(codes))
    prices[found.places] = found.low
    levels: list[Parity] = []
    try:
        for eps in losses:
            left = (RANGE_WORK - sum(level.work for level in levels)) / (len(losses) - len(levels))
            levels.append(_level(training, listing, crowd, prices, eps, left))
    except SolverError:
        return None
    examined = np.zeros(len(codes), bool)
    examined[found.places] = True
    names = [(groups.names[code], int(groups.sizes[code])) for code in present]
    return PossibleRange(
        column=division.column,
        rows=int((codes >= 0).sum()),
        unexamined=int(((codes >= 0) & ~examined).sum()),
        levels=tuple(_stated(level, names) for level in nested(levels)),
    )


def _level(training: Training, listing: Listing, crowd: Crowd, prices: FloatArray, eps: float, work: float) -> Parity:
    return parity_range(
        training.problem,
        training.best,
        crowd,
        prices,
        eps,
        threshold=listing.point.threshold,
        listed=listing.values["holdout"][listing.loss_ratio <= eps] >= 0.0,
        work=work,
    )


def _stated(found: Parity, groups: list[tuple[str, int]]) -> ParityRange:
    return ParityRange(
        eps=found.eps,
        gap=_extent(found.gap),
        groups=tuple(
            GroupExtent(name, rows, _extent(rate)) for (name, rows), rate in zip(groups, found.rates, strict=True)
        ),
        doubtful=found.doubtful,
        by_rows=found.by_rows,
        by_envelope=found.by_envelope,
        solves=found.solves,
        branches=found.branches,
    )


def _extent(found: parity.Extent) -> Extent:
    return Extent(found.low, found.least, found.most, found.high)
