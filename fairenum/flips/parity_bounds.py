"""Bounds on selection rates and the parity gap over *all* near-optimal SVMs, listed or not.

Three steps, each proven and each tightening the one before. First, a row whose flip price is above eps is decided as
model 1 decides it; only the others are in doubt. Second, these cannot all go the same way at once: the envelope of
`fairenum.flips.near_optimal` bounds the difference of two groups' rates in one convex programme. Third, decisions are
held one by one, in a branch and bound, as far as the work allows (`MostFavourable`). The decisions of every plane found
on the way, with all its allowed biases, give the attained range inside the proven one.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import permutations

import numpy as np
import numpy.typing as npt

from fairenum.document.feature_facts import ROUNDING
from fairenum.enumeration.convex_price import next_price
from fairenum.flips.near_optimal import FAVOURABLE, FREE, UNFAVOURABLE, Crowd, Neighbourhood, Plane, Tally, Tried
from fairenum.runtime.budget import OutOfTime, checkpoint
from fairenum.svm.problem import FloatArray, Solution, SvmProblem

BoolArray = npt.NDArray[np.bool_]
Look = Callable[[BoolArray], None]


CLOSE = 0.1  # of the allowed rise of the loss: a price for which the loss comes so near is as good as any


ROOT_SOLVES, NODE_SOLVES = 8, 2  # to find a price, without held decisions and with some


STEPS = (0.25, 0.5, 0.75, 1.0)  # of the way to a plane, at which decisions are looked at
SAME = 1e-12  # between equal tallies
STALLED = 0.02  # of the open range: a portion of branches that narrows it by less is the last
GRID_ROUNDING = 1e-6  # of the grid: a bound so near below a multiple may be that multiple
NEXT_TO_NOTHING = 1e-6  # of a price
MARGIN = 1e-4  # of the SVM's margin: how far on its side a held decision must be for a plane to attain it


@dataclass(order=True, slots=True)
class Branch:
    """A node of the branch and bound: held decisions, a bound on the tally, and where its search ended."""

    key: float
    number: int
    tally: Tally = field(compare=False)
    bound: float = field(compare=False)
    price: float = field(compare=False)
    values: FloatArray = field(compare=False)
    gradient: FloatArray | None = field(compare=False)


@dataclass(eq=False, slots=True)
class MostFavourable:
    """A search for the largest tally, which may be stopped at any time without losing what is proven.

    ``tally`` is a factory, since most of many searches never begin. All tallies are multiples of ``grid`` (0 if
    unknown). ``look`` receives the decisions of planes within the limit, one line each. ``bound`` and ``attained`` are
    the proven and the attained tally. ``is_stalled`` tells whether the last portion of branches hardly narrowed the gap
    between them.
    """

    tally: Callable[[], Tally]
    grid: float
    look: Look
    bound: float = math.inf
    attained: float = -math.inf
    solves: int = 0
    branches: int = 0
    is_stalled: bool = False
    _area: Neighbourhood | None = None
    _open: list[Branch] = field(default_factory=list)
    _stuck: float = -math.inf  # what branches come to that cannot be divided any further

    def __post_init__(self) -> None:
        self.bound = self._rounded(self.tally().top)

    def attain(self, tally: float) -> None:
        """Record a tally that some plane attains."""
        self.attained = max(self.attained, tally)
        self.bound = max(self.bound, self.attained)  # the two differ by rounding alone where it is beyond

    @property
    def is_closed(self) -> bool:
        """Whether the bound is attained."""
        return self.bound <= self.attained + max(0.5 * self.grid, SAME)

    @property
    def is_enveloped(self) -> bool:
        """Whether the envelope has been applied."""
        return self._area is not None

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to branch on, or branching hardly helps."""
        return self.is_closed or self.is_stalled or (self.is_enveloped and not self._open)

    def by_envelope(self, area: Neighbourhood) -> None:
        """Bound the tally by the envelope over a neighbourhood."""
        self._area = area
        if not self.is_closed:
            tally = self.tally()
            self._open = [self._branch(area, tally, _first_price(area, tally), None, ROOT_SOLVES)]
            self._settle()

    def by_branching(self, most_solves: int) -> None:
        """Hold decisions until the bound is attained or `most_solves` problems are solved."""
        end, before = self.solves + most_solves, self.bound - self.attained
        while self._area and self._open and not self.is_closed and self.solves < end:
            checkpoint()
            for child in self._divided(self._area, self._open[0]):  # which stays open until its children are
                heapq.heappush(self._open, child)
            self._settle()
        self.is_stalled = self.bound - self.attained > (1.0 - STALLED) * before

    def _settle(self) -> None:
        """Lower the bound to the largest of all open branches."""
        while self._open and self._open[0].bound <= self.attained:
            heapq.heappop(self._open)
        bound = max(self.attained, self._stuck, self._open[0].bound if self._open else -math.inf)
        self.bound = min(self.bound, bound)

    def _rounded(self, bound: float) -> float:
        return math.floor(bound / self.grid + GRID_ROUNDING) * self.grid if self.grid else bound

    def _branch(self, area: Neighbourhood, tally: Tally, price: float, near: FloatArray | None, most: int) -> Branch:
        """Search for the price that gives the least bound."""
        top = tally.top
        bound, values, chosen = math.inf, np.empty(0), price
        inside, outside = Tried(0.0, area.least, math.inf), None
        for _ in range(most):
            found = area.solved(tally, price, near)
            self.solves += 1
            now = self._rounded(top + (area.limit - found.least) / price)
            own = area.scores(found.plane) + found.bias
            if now <= bound:
                bound, values, chosen, near = now, own, price, found.gradient
            self._attain(area, found.plane)
            if bound <= self.attained:
                break
            loss = area.loss_at(found.plane, found.bias)
            tried = Tried(price, loss, float(area.shortfall(tally, own).sum()))
            inside, outside = (tried, outside) if loss <= area.limit else (inside, tried)
            if abs(loss - area.limit) <= CLOSE * (area.limit - area.least):
                break
            price = next_price(inside, outside, area.least, area.limit)
        return Branch(-bound, self.branches, tally, bound, chosen, values, near)

    def _attain(self, area: Neighbourhood, plane: Plane) -> None:
        """Look at the decisions on the way to a plane, as far as the loss is allowed."""
        back = area.drawn_back(plane)
        for share in STEPS if self.branches == 0 else STEPS[-1:]:
            self.look(area.decisions(area.best.towards(back, share)))

    def _child(self, area: Neighbourhood, branch: Branch, row: int, decision: int) -> Branch:
        """Return the branch with one more held decision."""
        self.branches += 1
        tally = branch.tally.holding(row, decision)
        child = self._branch(area, tally, branch.price, branch.gradient, NODE_SOLVES)
        bound = min(child.bound, branch.bound)  # what holds for all machines holds for those of the branch
        return replace(child, key=-bound, bound=bound)

    def _conclude(self, area: Neighbourhood, branch: Branch) -> None:
        """Find a model for decisions that are all held, or prove that there is none."""
        self.solves += 2
        if area.solved(branch.tally, NEXT_TO_NOTHING * branch.price, branch.gradient).least <= area.limit:
            self._attain(area, area.solved(branch.tally, branch.price, branch.gradient, MARGIN).plane)
            self._stuck = max(self._stuck, branch.bound)

    def _divided(self, area: Neighbourhood, branch: Branch) -> list[Branch]:
        """Close a branch; return its children, which hold the most doubtful row's decision to either side."""
        row, children = _most_doubtful(area, branch), list[Branch]()
        if row is None:
            self._conclude(area, branch)
        else:
            children = [self._child(area, branch, row, decision) for decision in (FAVOURABLE, UNFAVOURABLE)]
        heapq.heappop(self._open)
        return children


def _first_price(area: Neighbourhood, tally: Tally) -> float:
    """Return a first price: the one whose loss would be what is allowed if it rose with the square of the price."""
    low, high = area.biases(area.best) or (0.0, 0.0)
    short = area.shortfall(tally, area.scores(area.best) + 0.5 * (low + high)).sum()
    return 2.0 * max(area.limit - area.least, 1e-9 * area.least) / max(float(short), 1e-6)


def _most_doubtful(area: Neighbourhood, branch: Branch) -> int | None:
    """Return the row whose envelope is farthest from either decision, weighted by worth; None if all are held.

    Where all rows are as good as decided, it is the one nearest to the threshold.
    """
    tally, values = branch.tally, branch.values
    worth = np.abs(tally.worth)
    is_free = (tally.held == FREE) & (worth > 0.0)
    if not is_free.any():
        return None
    short = (area.shortfall(tally, values) / np.where(is_free, worth, 1.0)).clip(0.0, 1.0)
    doubt = np.where(is_free, worth * short * (1.0 - short), -1.0)
    if doubt.max() > 0.0:
        return int(doubt.argmax())
    return int(np.where(is_free, np.abs(values), np.inf).argmin())


LEAST_EPS = 1e-8  # below which a loss cannot be told from the least
SOLVE_NUMBERS = 40_000  # that any solve is worth


FEWEST_SOLVES, MOST_SOLVES = 16, 1000  # with fewer the envelope says nothing; more add little


MEASURING = 0.6  # of the solves, to find how far decision values go
PORTION = 32  # solves of one pair of groups before the pair that matters most is chosen again


@dataclass(frozen=True, slots=True)
class Extent:
    """A proven and an attained range of one number: ``low <= least <= most <= high``."""

    low: float
    least: float
    most: float
    high: float

    def within(self, wider: Extent) -> Extent:
        """Tighten the proven range by that of a larger loss, up to the attained range."""
        low, high = min(max(self.low, wider.low), self.least), max(min(self.high, wider.high), self.most)
        return Extent(low, self.least, self.most, high)

    def beyond(self, narrower: Extent) -> Extent:
        """Widen the attained range by that of a smaller loss."""
        least, most = min(self.least, narrower.least), max(self.most, narrower.most)
        return Extent(min(self.low, least), least, most, max(self.high, most))


@dataclass(frozen=True, slots=True)
class Parity:
    """The parity range: rates and gap over all models within a loss.

    Attributes
    ----------
    eps
        The relative loss.
    gap
        The largest difference of two groups' selection rates.
    rates
        The selection rate of each group.
    by_rows, by_envelope
        The range of the gap proven by the doubtful rows alone, and with the envelope; None where there was no work for
        the latter.
    doubtful
        Number of rows of these groups that are in doubt.
    solves, branches, work
        Problems solved, decisions held, and the numbers that the solves went through.
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
    """Share findings between levels of growing loss: each contains the models of all smaller ones."""
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
        """Record decisions, one line per plane, and return the rates."""
        rates = self.fixed + decisions @ self.worth
        self.least, self.most = np.minimum(self.least, rates.min(axis=0)), np.maximum(self.most, rates.max(axis=0))
        gaps = np.ptp(rates, axis=1)
        self.least_gap, self.most_gap = min(self.least_gap, float(gaps.min())), max(self.most_gap, float(gaps.max()))
        return np.asarray(rates)


class _Ranges:
    """Bounds on every group's rate and every pair's difference, tightened where it matters."""

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
        """Return the search for the largest signed sum of groups' rates."""
        return MostFavourable(partial(self._tally, signs), crowd.grid(signs), self.look)

    def _tally(self, signs: Mapping[int, float]) -> Tally:
        groups, sides = [*signs], np.array([*signs.values()])
        worth, fixed = self.attained.worth[:, groups] @ sides, float(self.attained.fixed[groups] @ sides)
        return Tally(worth, fixed, np.zeros(len(worth), np.int8))

    def look(self, decisions: BoolArray) -> None:
        """Report decisions of planes within the limit, one line each, to every search."""
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
        """Upper bounds on the difference of rates for each ordered pair of groups."""
        high, low = (np.array([one.bound for one in some]) for some in (self.highs, self.lows))
        bounds = high[:, None] + low
        for place, one in self.pairs.items():
            bounds[place] = min(bounds[place], one.bound)
        np.fill_diagonal(bounds, np.nan)
        return np.asarray(bounds)

    @property
    def gap(self) -> tuple[float, float]:
        """The proven range of the gap."""
        bounds = self.differences
        return max(0.0, -float(np.nanmin(bounds))), max(0.0, float(np.nanmax(bounds)))

    def within(self, area: Neighbourhood, most_solves: int) -> tuple[float, float] | None:
        """Tighten by the envelope, then by holding decisions; return the gap's range proven by the envelope alone."""
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
        """Return the pair that determines an end of the gap's range, if it can still be improved."""
        bounds = self.differences
        highest, lowest = (self.pairs[divmod(int(end(bounds)), len(bounds))] for end in (np.nanargmax, np.nanargmin))
        # a pair of which some plane has no difference, or one the other way, bounds the gap by nothing
        wanted = [highest, lowest] if lowest.attained < 0.0 else [highest]
        usable = [one for one in wanted if not (one.is_over or (only_new and one.is_enveloped))]
        return min(usable, key=lambda one: one.solves, default=None)

    @property
    def solves(self) -> int:
        """Number of problems solved."""
        return self._measuring + sum(one.solves for one in self.all)

    @property
    def branches(self) -> int:
        """Number of decisions held."""
        return sum(one.branches for one in self.all)

    def extents(self) -> tuple[Extent, tuple[Extent, ...]]:
        """Return the extents of the gap and of the rates."""
        found, (low, high) = self.attained, self.gap
        ends = zip(self.lows, found.least.tolist(), found.most.tolist(), self.highs, strict=True)
        rates = tuple(_extent(-one.bound, least, most, other.bound) for one, least, most, other in ends)
        return _extent(low, found.least_gap, found.most_gap, high), rates


def _extent(low: float, least: float, most: float, high: float) -> Extent:
    """Return an extent with its numbers put in order and into [0, 1] after rounding."""
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
    """Bound the selection rates of groups, and the gap between them, over all models within a loss.

    Parameters
    ----------
    problem, best
        The SVM problem, and its best answer: model 1.
    crowd
        The rows, of two groups at least.
    prices
        Proven lower bound on each row's flip price; 0 where nothing is known.
    eps
        Allowed loss beyond the least, as a share of it.
    threshold
        Decision values of at least this are favourable.
    listed
        Decisions about the rows by known models within the loss, one line each.
    work
        How many numbers may be gone through to tighten the bounds; less leaves them wider, never wrong.
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
    """Tell whether the work suffices to tighten the bounds beyond what the rows prove alone."""
    return FEWEST_SOLVES * (SOLVE_NUMBERS + numbers) <= work


def _numbers(problem: SvmProblem, rows: int) -> int:
    """Return the numbers that a solve goes through with so many rows beside the examples."""
    size = problem.size + 2 * rows
    return int(size * (problem.X.shape[1] if problem.kernel.name == "linear" else size))
