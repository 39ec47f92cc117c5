"""How far apart the selection rates of groups can be for *any* machine that is nearly as good, listed or not.

Three steps, each of which is proven and tightens the one before. First, a row whose flip price is above eps is decided
as model 1 decides it; only the others are in doubt. Second, these cannot all go the same way at once: the envelope of
`fairenum.enumeration.neighbourhood` bounds the difference of two groups' rates in one convex programme. Third,
decisions are held one by one (`fairenum.enumeration.branching`) as far as the work allows. Every plane on the way is
looked at, with all its allowed biases: what they attain lies inside what is proven.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations

import numpy as np
import numpy.typing as npt

from fairenum.budget import OutOfTime
from fairenum.document.anatomy import ROUNDING
from fairenum.enumeration.branching import MostFavourable
from fairenum.enumeration.crowd import Crowd
from fairenum.enumeration.neighbourhood import Neighbourhood
from fairenum.enumeration.tally import Tally
from fairenum.problem import FloatArray, Solution, SvmProblem

BoolArray = npt.NDArray[np.bool_]

LEAST_EPS = 1e-8  # below which a loss cannot be told from the least
SOLVE_NUMBERS = 40_000  # that any solve is worth
FEWEST_SOLVES, MOST_SOLVES = 16, 1000  # with fewer the envelope says nothing; more add little
MEASURING = 0.6  # of the solves, to find how far decision values go
PORTION = 32  # solves of one pair of groups before it is asked again which pair matters most


@dataclass(frozen=True, slots=True)
class Extent:
    """Between what a number is proven to lie, and between what it was attained: ``low <= least <= most <= high``."""

    low: float
    least: float
    most: float
    high: float

    def within(self, wider: Extent) -> Extent:
        """Take over what is proven within a larger loss, too, up to what is attained: beyond that it is rounding."""
        low, high = min(max(self.low, wider.low), self.least), max(min(self.high, wider.high), self.most)
        return Extent(low, self.least, self.most, high)

    def beyond(self, narrower: Extent) -> Extent:
        """Take over what is attained within a smaller loss already."""
        least, most = min(self.least, narrower.least), max(self.most, narrower.most)
        return Extent(min(self.low, least), least, most, max(self.high, most))


@dataclass(frozen=True, slots=True)
class Parity:
    """What no machine within a loss goes beyond.

    Attributes
    ----------
    eps
        The relative loss.
    gap
        The largest difference of two groups' selection rates.
    rates
        Of each group.
    by_rows, by_envelope
        Between what the gap is proven to lie by the rows in doubt alone, and with the envelope; None where there was no
        work for the latter.
    doubtful
        Rows of these groups that are in doubt.
    solves, branches
        What it took.
    work
        The numbers that these solves went through.
    """

    eps: float
    gap: Extent
    rates: tuple[Extent, ...]
    by_rows: tuple[float, float]
    by_envelope: tuple[float, float] | None
    doubtful: int
    solves: int
    branches: int
    work: float


def nested(levels: Sequence[Parity]) -> list[Parity]:
    """Let losses, from the smallest to the largest, share what was found: each allows what smaller ones do, or more."""
    result = list(levels)
    for place in range(1, len(result)):
        result[place] = _joined(result[place], result[place - 1], Extent.beyond)
    for place in range(len(result) - 1, 0, -1):
        result[place - 1] = _joined(result[place - 1], result[place], Extent.within)
    return result


def _joined(level: Parity, other: Parity, join: Callable[[Extent, Extent], Extent]) -> Parity:
    rates = tuple(map(join, level.rates, other.rates))
    return replace(level, gap=join(level.gap, other.gap), rates=rates)


class Attained:
    """The rates and gaps that planes were seen to have."""

    def __init__(self, worth: FloatArray, fixed: FloatArray) -> None:
        self.worth, self.fixed = worth, fixed
        self.least, self.most = np.full(len(fixed), np.inf), np.full(len(fixed), -np.inf)
        self.least_gap, self.most_gap = math.inf, -math.inf

    def note(self, decisions: BoolArray) -> FloatArray:
        """Take decisions, one row for each plane, and return the rates."""
        rates = self.fixed + decisions @ self.worth
        self.least, self.most = np.minimum(self.least, rates.min(axis=0)), np.maximum(self.most, rates.max(axis=0))
        gaps = np.ptp(rates, axis=1)
        self.least_gap, self.most_gap = min(self.least_gap, float(gaps.min())), max(self.most_gap, float(gaps.max()))
        return np.asarray(rates)


class _Ranges:
    """Bounds of every group's rate and every pair's difference, tightened where that matters."""

    def __init__(self, crowd: Crowd, favourable: BoolArray, doubtful: BoolArray, listed: BoolArray) -> None:
        self.doubtful, self._measuring = np.flatnonzero(doubtful), 0
        self.attained = Attained(crowd.worth[self.doubtful], crowd.worth[favourable & ~doubtful].sum(axis=0))
        groups = range(crowd.worth.shape[1])
        self.pairs = {(a, b): self._most(crowd, {a: 1.0, b: -1.0}) for a, b in permutations(groups, 2)}
        self.highs = [self._most(crowd, {a: 1.0}) for a in groups]
        self.lows = [self._most(crowd, {a: -1.0}) for a in groups]
        decided = np.vstack([favourable, listed])[:, self.doubtful]
        self.look(np.array([*{row.tobytes(): row for row in decided}.values()]))  # each pattern once

    def _most(self, crowd: Crowd, signs: Mapping[int, float]) -> MostFavourable:
        """Return the search for the largest sum of groups' rates, each with its sign."""
        return MostFavourable(partial(self._tally, signs), crowd.grid(signs), self.look)

    def _tally(self, signs: Mapping[int, float]) -> Tally:
        groups, sides = [*signs], np.array([*signs.values()])
        worth, fixed = self.attained.worth[:, groups] @ sides, float(self.attained.fixed[groups] @ sides)
        return Tally(worth, fixed, np.zeros(len(worth), np.int8))

    def look(self, decisions: BoolArray) -> None:
        """Take decisions that planes within the limit have, one row for each: every search is told."""
        if not len(decisions):
            return
        rates = self.attained.note(decisions)
        above = [(rates[:, [a]] - rates).max(axis=0).tolist() for a in range(len(self.highs))]
        for (a, b), one in self.pairs.items():
            one.attain(above[a][b])
        for a, (high, low) in enumerate(zip(self.highs, self.lows, strict=True)):
            high.attain(float(rates[:, a].max()))
            low.attain(-float(rates[:, a].min()))

    @property
    def all(self) -> Iterator[MostFavourable]:
        """Yield every search."""
        yield from (*self.pairs.values(), *self.highs, *self.lows)

    @property
    def differences(self) -> FloatArray:
        """What the rate of each group is at most above that of each other one."""
        high, low = (np.array([one.bound for one in some]) for some in (self.highs, self.lows))
        bounds = high[:, None] + low
        for place, one in self.pairs.items():
            bounds[place] = min(bounds[place], one.bound)
        np.fill_diagonal(bounds, np.nan)
        return np.asarray(bounds)

    @property
    def gap(self) -> tuple[float, float]:
        """Between what the gap is proven to lie."""
        bounds = self.differences
        return max(0.0, -float(np.nanmin(bounds))), max(0.0, float(np.nanmax(bounds)))

    def within(self, area: Neighbourhood, most_solves: int) -> tuple[float, float] | None:
        """Tighten by the envelope, and then by holding decisions; return what the envelope alone has proven."""
        envelope = None
        try:
            while (one := self._next(only_new=True)) and self.solves < most_solves:
                self._measuring += area.measure(one.tally(), int(MEASURING * (most_solves - self.solves)))
                one.by_envelope(area)
            envelope = self.gap
            for one in (*self.highs, *self.lows):
                if self.solves < most_solves:
                    one.by_envelope(area)
            while (one := self._next()) and self.solves < most_solves:
                if one.is_enveloped:
                    one.by_branching(min(PORTION, most_solves - self.solves))
                else:
                    one.by_envelope(area)
        except OutOfTime:
            pass  # what is proven stays proven
        return envelope

    def _next(self, *, only_new: bool = False) -> MostFavourable | None:
        """Return the pair whose bound is the gap's, at the upper or the lower end, if it may still be bettered."""
        bounds = self.differences
        highest, lowest = (self.pairs[divmod(int(end(bounds)), len(bounds))] for end in (np.nanargmax, np.nanargmin))
        # a pair of which some plane has no difference, or one the other way, bounds the gap by nothing
        wanted = [highest, lowest] if lowest.attained < 0.0 else [highest]
        usable = [one for one in wanted if not (one.is_over or (only_new and one.is_enveloped))]
        return min(usable, key=lambda one: one.solves, default=None)

    @property
    def solves(self) -> int:
        """Problems that were solved."""
        return self._measuring + sum(one.solves for one in self.all)

    @property
    def branches(self) -> int:
        """Decisions that were held."""
        return sum(one.branches for one in self.all)

    def extents(self) -> tuple[Extent, tuple[Extent, ...]]:
        """Return the gap's extent and those of the rates."""
        found, (low, high) = self.attained, self.gap
        ends = zip(self.lows, found.least.tolist(), found.most.tolist(), self.highs, strict=True)
        rates = tuple(_extent(-one.bound, least, most, other.bound) for one, least, most, other in ends)
        return _extent(low, found.least_gap, found.most_gap, high), rates


def _extent(low: float, least: float, most: float, high: float) -> Extent:
    """Put numbers in order that sums may have rounded out of it, or out of what a share can be."""
    numbers = (min(low, least), least, most, max(high, most))
    return Extent(*(min(max(number, 0.0), 1.0) for number in numbers))


def parity_range(
    problem: SvmProblem,
    best: Solution,
    crowd: Crowd,
    prices: FloatArray,
    eps: float,
    *,
    threshold: float = 0.0,
    listed: BoolArray | None = None,
    work: float = math.inf,
) -> Parity:
    """Bound the selection rates of groups, and the gap between them, over all machines within a loss.

    Parameters
    ----------
    problem, best
        The machine, and its best answer: model 1.
    crowd
        The rows, of two groups at least.
    prices
        What the flip price of each row is proven to be at least; 0 where nothing is known.
    eps
        How much more than the least loss a machine may have, as a share of it.
    threshold
        Decision values of at least this are favourable.
    listed
        Decisions about the rows of machines within the loss that are known already, one row for each.
    work
        How many numbers may be gone through for what tightens the bounds; none of it leaves them wide, never wrong.
    """
    within, support = max(eps, LEAST_EPS), best.support
    values = problem.decide(crowd.rows, support, problem.y[support] * best.alpha[support]) + best.certificate.bias
    favourable, doubtful = values - threshold >= -ROUNDING, ~(prices[crowd.first] > within + LEAST_EPS)
    known = np.empty((0, len(values)), bool) if listed is None else listed[:, crowd.first]
    ranges = _Ranges(crowd, favourable, doubtful, known)
    by_rows, by_envelope, numbers = ranges.gap, None, _numbers(problem, len(ranges.doubtful))
    if doubtful.any() and not problem.ridge and is_tightened(numbers, work):
        area = Neighbourhood(problem, best, crowd.rows[ranges.doubtful], within, threshold)
        by_envelope = ranges.within(area, int(min(work / (SOLVE_NUMBERS + numbers), MOST_SOLVES)))
    gap, rates = ranges.extents()
    counted = int(crowd.copies[ranges.doubtful].sum())
    return Parity(
        eps,
        gap,
        rates,
        by_rows,
        by_envelope,
        counted,
        ranges.solves,
        ranges.branches,
        ranges.solves * (SOLVE_NUMBERS + numbers),
    )


def is_tightened(numbers: int, work: float) -> bool:
    """Tell whether some work is enough to solve machines of so many numbers, or for what the rows prove alone."""
    return FEWEST_SOLVES * (SOLVE_NUMBERS + numbers) <= work


def _numbers(problem: SvmProblem, rows: int) -> int:
    """Return the numbers that a solve goes through, with so many rows beside the examples."""
    size = problem.size + 2 * rows
    return int(size * (problem.X.shape[1] if problem.kernel.name == "linear" else size))
