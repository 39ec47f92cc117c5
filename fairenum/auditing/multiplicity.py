"""Whose decision depends on which of the near-optimal machines is used, over all of them, listed or not."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from fairenum.auditing.listing import Listing
from fairenum.auditing.sampling import rows_to_examine
from fairenum.auditing.scorecard import stream
from fairenum.auditing.training import Training
from fairenum.budget import OutOfTime
from fairenum.dataset import Groups
from fairenum.document import arbitrariness as documents
from fairenum.document.arbitrariness import (
    Arbitrariness,
    CurvePoint,
    Discrepancy,
    FlippedColumn,
    FlippedShare,
    GroupFlipped,
    PricedRows,
    PriceEffort,
)
from fairenum.document.audit_config import AuditConfig
from fairenum.enumeration.prices import FlipPrices, Listed, flip_prices
from fairenum.enumeration.shifting import bias_range
from fairenum.errors import SolverError
from fairenum.experiment import PARTS, Division
from fairenum.problem import FloatArray, IntArray
from fairenum.scoring import Decisions
from fairenum.scoring.counts import BoolArray
from fairenum.scoring.estimates import plain
from fairenum.scoring.flippable import BoundedShare, ambiguity, flipped, largest_share
from fairenum.scoring.rates import score

PLACE = len(PARTS) + 4  # of its random numbers
CURVE = (0.001, 0.002, 0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1)
BEYOND = 1.001  # prices are looked for a little beyond the last tolerance, so that what is not found is proven there


@dataclass(frozen=True, slots=True, eq=False)
class Examined:
    """Rows of the holdout, in its order, and what is proven about their prices.

    Attributes
    ----------
    places
        Where they are in the holdout.
    low, high
        What is proven about their prices.
    values
        The decision values of the listed models, minus the cut of model 1: shape (models, rows).
    is_within
        The listed models whose loss is within eps.
    """

    places: IntArray
    low: FloatArray
    high: FloatArray
    values: FloatArray
    is_within: BoolArray
    effort: PriceEffort

    @property
    def changed(self) -> BoolArray:
        """Rows that each of the listed models within eps decides otherwise than model 1."""
        decided = self.values >= 0.0
        return np.asarray(decided[self.is_within] != decided[0])


def examined(division: Division, training: Training, listing: Listing, config: AuditConfig) -> Examined | None:
    """Find for rows of the holdout what flipping them costs; None where the solver failed.

    All rows are examined or, where that takes too long, a random sample of them: a part of a permutation, from its
    beginning. All machines are cut where model 1 is.
    """
    problem, threshold = training.problem, listing.cuts[0].value
    everybody = len(division.holdout)
    rows = rows_to_examine(config.price_rows, problem.size, problem.numbers, everybody)
    order = stream(config, PLACE).permutation(everybody)[:rows]
    values = listing.uncut("holdout")[:, order] - threshold
    try:
        prices = flip_prices(
            problem,
            training.best,
            division.holdout.X[order],
            threshold=threshold,
            ceiling=BEYOND * max(config.eps, *CURVE),
            listed=Listed(values + threshold, listing.loss_ratio),
        )
    except SolverError:
        return None
    kept = np.flatnonzero(prices.is_examined)
    if not kept.size:
        raise OutOfTime
    kept = kept[np.argsort(order[kept])]
    is_within = listing.loss_ratio <= max(config.eps, listing.loss_ratio[0])  # model 1 is, whatever rounding says
    return Examined(order[kept], prices.low[kept], prices.high[kept], values[:, kept], is_within, _effort(prices))


def arbitrariness(
    division: Division, training: Training, listing: Listing, config: AuditConfig, found: Examined | None
) -> Arbitrariness | None:
    """Say how many of the rows that were examined flip within the eps of the audit; None if none were."""
    if found is None:
        return None
    checked = _Counting(division, found, config)
    return Arbitrariness(
        eps=config.eps,
        threshold=listing.cuts[0].value,
        holdout=len(division.holdout),
        overall=checked.overall(),
        by_column={groups.column: checked.column(groups) for groups in division.columns},
        models=int(found.is_within.sum()),
        curve=checked.curve(),
        discrepancy=_discrepancy(training, listing, found, checked),
        priced=priced(division, found),
        effort=found.effort,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Counting:
    """Counts what was examined."""

    division: Division
    found: Examined
    config: AuditConfig

    def rows(self, groups: Groups | None = None) -> Decisions:
        """Return the rows that were examined, with the groups of a column, or everyone in one."""
        holdout, places = self.division.holdout, self.found.places
        kept = holdout if len(places) == len(holdout) else holdout.take(places)
        own = Groups.everyone(len(places)) if groups is None else groups.take(self.division.rows["holdout"][places])
        return replace(kept.decisions(self.found.values[:1]), groups=own)

    def overall(self) -> FlippedShare:
        """Count all rows."""
        rows = self.rows()
        share_of = ambiguity(rows, self.found.low, self.found.high, [self.config.eps], self.config.confidence).overall
        return FlippedShare(*self._counts(rows)[0], _share(share_of, 0), plain(self._listed(rows)[0]))

    def column(self, groups: Groups) -> FlippedColumn:
        """Count the rows of each group."""
        rows = self.rows(groups)
        measured = ambiguity(rows, self.found.low, self.found.high, [self.config.eps], self.config.confidence)
        counts, listed = self._counts(rows), self._listed(rows)
        return FlippedColumn(
            tuple(
                GroupFlipped(
                    *counts[code],
                    _share(measured.by_group, (0, code)),
                    plain(listed[code]),
                    group=name,
                    is_compared=bool(groups.compared[code]),
                )
                for code, name in enumerate(groups.names)
            ),
            _share(measured.gap, 0),
        )

    def curve(self) -> tuple[CurvePoint, ...]:
        """Measure ambiguity over many losses, and by group of the column that models are selected by."""
        rows, confidence = self.rows(self.division.primary), self.config.confidence
        measured = ambiguity(rows, self.found.low, self.found.high, CURVE, confidence)
        shown = np.flatnonzero((rows.groups.sizes > 0) & rows.groups.compared).tolist()
        return tuple(
            CurvePoint(
                eps,
                _share(measured.overall, place),
                tuple(_share(measured.by_group, (place, code)) for code in shown if self.division.primary),
            )
            for place, eps in enumerate(CURVE)
        )

    def _counts(self, rows: Decisions) -> list[tuple[int, int, int]]:
        """Count rows, those that are flipped and those that are open, by group."""
        codes, names, eps = rows.groups.codes, rows.groups.names, [self.config.eps]
        is_flipped, is_possible = (flipped(prices, eps)[0] for prices in (self.found.high, self.found.low))
        marks = (np.ones(len(codes)), is_flipped, is_possible & ~is_flipped)
        counts = [np.bincount(codes, one, len(names)).astype(int).tolist() for one in marks]
        return list(zip(*counts, strict=True))

    def _listed(self, rows: Decisions) -> FloatArray:
        """Return the share of rows, by group, that listed models within eps flip."""
        is_flipped = np.asarray(self.found.changed.any(0, keepdims=True), dtype=np.uint8)
        return np.asarray(score(replace(rows, predictions=is_flipped)).by_group.selection_rate[0])


def _share(found: BoundedShare, place: int | tuple[int, int]) -> documents.BoundedShare:
    parts = (found.least, found.most, found.lower, found.upper)
    return documents.BoundedShare(*(plain(part[place]) for part in parts))


def _discrepancy(training: Training, listing: Listing, found: Examined, checked: _Counting) -> Discrepancy:
    """Find a machine that decides many rows otherwise: a listed model, or model 1 with another bias."""
    eps, first = checked.config.eps, found.values[0]
    biases = np.array(bias_range(training.problem, training.best, eps)) - listing.models[0].intercept
    shifted = (first + biases[:, None] >= 0.0) != (first >= 0.0)
    ranks = [*(np.flatnonzero(found.is_within) + 1).tolist(), None, None]
    place, attained = largest_share(checked.rows(), np.concatenate([found.changed, shifted]))
    bound = checked.overall().ambiguity.most
    return Discrepancy(attained, ranks[place] if attained else None, 1.0 if bound is None else bound)


def priced(division: Division, found: Examined) -> PricedRows:
    """List the rows that were examined."""
    rows = division.rows["holdout"][found.places]
    return PricedRows(
        rows=tuple(division.dataset.numbered(rows).tolist()),
        is_favourable=tuple((found.values[0] >= 0.0).tolist()),
        low=tuple(found.low.tolist()),
        high=tuple(price if math.isfinite(price) else None for price in found.high.tolist()),
        groups={groups.column: tuple(groups.codes[rows].tolist()) for groups in division.dataset.sensitive},
    )


def _effort(prices: FlipPrices) -> PriceEffort:
    effort = prices.effort
    return PriceEffort(effort.distinct, effort.screened, effort.listed, effort.walked)
