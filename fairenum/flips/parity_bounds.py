"""Bounds on selection rates and the parity gap over *all* near-optimal SVMs, listed or not.

Bounds are proven in three steps, each of which tightens the bounds before. First, a row whose flip price is above eps
is decided by every model within eps as model 1 decides it; only the other rows are doubtful. Second, the doubtful rows
cannot all be decided favourably at once: the convex upper bound of `fairenum.flips.near_optimal`, called the envelope,
bounds the difference of two groups' rates. Third, a branch and bound holds (fixes) decisions about doubtful rows one by
one, as far as the allowed work goes (`CountMaximiser`). The decisions of every plane found on the way, with all biases
of allowed loss, give the attained range inside the proven one.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import permutations

import numpy as np
import numpy.typing as npt

from fairenum.document.feature_facts import ROUNDING
from fairenum.document.flip_facts import Extent
from fairenum.enumeration.convex_price import next_price
from fairenum.flips.engines import decision_values
from fairenum.flips.near_optimal import (
    FAVOURABLE,
    FREE,
    UNFAVOURABLE,
    CountObjective,
    GroupedRows,
    NearOptimalModels,
    Plane,
    PricedPlane,
)
from fairenum.runtime.budget import OutOfTime, checkpoint
from fairenum.svm.problem import FloatArray, Solution, SvmProblem

BoolArray = npt.NDArray[np.bool_]
Observe = Callable[[BoolArray], None]

CLOSE = 0.1  # of the allowed rise of the loss: a price for which the loss comes so near is as good as any
ROOT_SOLVES, NODE_SOLVES = 8, 2  # to find a price, without held decisions and with some
STEPS = (0.25, 0.5, 0.75, 1.0)  # of the way to a plane, at which decisions are observed
SAME = 1e-12  # between equal counts
STALLED = 0.02  # of the open range: a portion of branches that narrows it by less is the last
GRID_ROUNDING = 1e-6  # of the grid: a bound so near below a multiple may be that multiple
LEAST_PRICE = 1e-6  # of a price: in effect no price
MARGIN = 1e-4  # of the SVM's margin: how far on its side a held decision must be for a plane to attain it
LEAST_EPS = 1e-8  # below which a loss cannot be distinguished from the least
SOLVE_NUMBERS = 40_000  # the fixed cost of a solve, in numbers gone through
FEWEST_SOLVES, MOST_SOLVES = 16, 1000  # with fewer the envelope proves nothing; more add little
VALUE_SHARE = 0.6  # of the solves, to bound decision values
PORTION = 32  # solves of one pair of groups before the pair that matters most is chosen again


@dataclass(order=True, slots=True)
class Node:
    """A node of the branch and bound: an objective with held (fixed) decisions, and an upper bound on its count.

    ``price`` is the price of the rows' hinges (see `NearOptimalModels.solve`) that gave the bound; ``values`` and
    ``gradient`` are those of the plane found with this price. ``key`` is minus the bound, so that the node of the
    largest bound comes first in a heap; ``number`` breaks ties.
    """

    key: float
    number: int
    objective: CountObjective = field(compare=False)
    bound: float = field(compare=False)
    price: float = field(compare=False)
    values: FloatArray = field(compare=False)
    gradient: FloatArray | None = field(compare=False)


@dataclass(eq=False, slots=True)
class CountMaximiser:
    """A search for the largest weighted count of favourable decisions, which may be stopped at any time.

    ``objective`` is called whenever the objective is needed, in most searches only once. All counts are multiples of
    ``grid`` (0 if unknown). ``observe`` is called with decisions of planes within the loss limit, one line per plane.
    ``bound`` is a proven upper bound on the count, ``attained`` the largest count found; ``is_stalled`` says that the
    last call of `branch` hardly narrowed the gap between the two.
    """

    objective: Callable[[], CountObjective]
    grid: float
    observe: Observe
    bound: float = math.inf
    attained: float = -math.inf
    solves: int = 0
    branches: int = 0
    is_stalled: bool = False
    _models: NearOptimalModels | None = None
    _open: list[Node] = field(default_factory=list)
    _closed: float = -math.inf  # the largest bound of nodes that cannot be divided any further

    def __post_init__(self) -> None:
        self.bound = self._rounded(self.objective().upper_limit)

    def attain(self, count: float) -> None:
        """Record the count of some plane within the loss limit."""
        self.attained = max(self.attained, count)
        self.bound = max(self.bound, self.attained)  # only rounding makes an attained count exceed the bound

    @property
    def is_closed(self) -> bool:
        """Whether the proven bound is attained, so that the largest count is known."""
        return self.bound <= self.attained + max(0.5 * self.grid, SAME)

    @property
    def is_enveloped(self) -> bool:
        """Whether `apply_envelope` has been called."""
        return self._models is not None

    @property
    def is_over(self) -> bool:
        """Whether the largest count is known, no node is left to branch on, or branching hardly helps."""
        return self.is_closed or self.is_stalled or (self.is_enveloped and not self._open)

    def apply_envelope(self, models: NearOptimalModels) -> None:
        """Lower the bound on the count by the envelope, a convex programme over all near-optimal models."""
        self._models = models
        if not self.is_closed:
            objective = self.objective()
            self._open = [self._best_priced(models, objective, _first_price(models, objective), None, ROOT_SOLVES)]
            self._settle()

    def branch(self, most_solves: int) -> None:
        """Fix decisions about more and more rows until the bound is attained or `most_solves` more solves are done."""
        end, before = self.solves + most_solves, self.bound - self.attained
        while self._models and self._open and not self.is_closed and self.solves < end:
            checkpoint()
            for child in self._children(self._models, self._open[0]):  # which stays open until its children are solved
                heapq.heappush(self._open, child)
            self._settle()
        self.is_stalled = self.bound - self.attained > (1.0 - STALLED) * before

    def _settle(self) -> None:
        """Drop nodes that cannot exceed the attained count; lower the bound to the largest bound of the nodes left."""
        while self._open and self._open[0].bound <= self.attained:
            heapq.heappop(self._open)
        bound = max(self.attained, self._closed, self._open[0].bound if self._open else -math.inf)
        self.bound = min(self.bound, bound)

    def _rounded(self, bound: float) -> float:
        return math.floor(bound / self.grid + GRID_ROUNDING) * self.grid if self.grid else bound

    def _best_priced(
        self, models: NearOptimalModels, objective: CountObjective, price: float, near: FloatArray | None, most: int
    ) -> Node:
        """Try up to `most` prices of the rows' hinges; return a node with the least upper bound that they prove."""
        upper_limit = objective.upper_limit
        bound, values, chosen = math.inf, np.empty(0), price
        inside, outside = PricedPlane(0.0, models.least, math.inf), None
        for _ in range(most):
            found = models.solve(objective, price, near)
            self.solves += 1
            now = self._rounded(upper_limit + (models.limit - found.least) / price)
            own = models.scores(found.plane) + found.bias
            if now <= bound:
                bound, values, chosen, near = now, own, price, found.gradient
            self._observe(models, found.plane)
            if bound <= self.attained:
                break
            loss = models.loss_at(found.plane, found.bias)
            found_plane = PricedPlane(price, loss, float(models.shortfall(objective, own).sum()))
            inside, outside = (found_plane, outside) if loss <= models.limit else (inside, found_plane)
            if abs(loss - models.limit) <= CLOSE * (models.limit - models.least):
                break
            price = next_price(inside, outside, models.least, models.limit)
        return Node(-bound, self.branches, objective, bound, chosen, values, near)

    def _observe(self, models: NearOptimalModels, plane: Plane) -> None:
        back = models.within_limit(plane)
        for share in STEPS if self.branches == 0 else STEPS[-1:]:
            self.observe(models.decisions(models.best.towards(back, share)))

    def _child(self, models: NearOptimalModels, node: Node, row: int, decision: int) -> Node:
        self.branches += 1
        objective = node.objective.holding(row, decision)
        child = self._best_priced(models, objective, node.price, node.gradient, NODE_SOLVES)
        bound = min(child.bound, node.bound)  # the bound of the parent holds for the child
        return replace(child, key=-bound, bound=bound)

    def _conclude(self, models: NearOptimalModels, node: Node) -> None:
        """Look for a plane that makes all decisions fixed in a node, unless it is proven that no plane does."""
        self.solves += 2
        if models.solve(node.objective, LEAST_PRICE * node.price, node.gradient).least <= models.limit:
            self._observe(models, models.solve(node.objective, node.price, node.gradient, MARGIN).plane)
            self._closed = max(self._closed, node.bound)

    def _children(self, models: NearOptimalModels, node: Node) -> list[Node]:
        """Remove the first node; return its children, which fix one more decision either way; none if all are fixed."""
        row, children = _most_doubtful(models, node), list[Node]()
        if row is None:
            self._conclude(models, node)
        else:
            children = [self._child(models, node, row, decision) for decision in (FAVOURABLE, UNFAVOURABLE)]
        heapq.heappop(self._open)
        return children


def _first_price(models: NearOptimalModels, objective: CountObjective) -> float:
    """Return a first price of the rows' hinges: twice the allowed rise of the loss, divided by model 1's sum of hinges.

    The bias of model 1 is here the middle of all biases within the loss limit.
    """
    low, high = models.biases(models.best) or (0.0, 0.0)
    short = models.shortfall(objective, models.scores(models.best) + 0.5 * (low + high)).sum()
    return 2.0 * max(models.limit - models.least, 1e-9 * models.least) / max(float(short), 1e-6)


def _most_doubtful(models: NearOptimalModels, node: Node) -> int | None:
    """Return the index of the row of least certain decision among those not fixed; None if all are fixed.

    Let s be the row's penalty at the node's plane (`NearOptimalModels.shortfall`), divided by the row's ``|worth|``.
    The row with the largest ``|worth| s (1 - s)`` is taken or, if all these are 0, the row nearest to the threshold.
    """
    objective, values = node.objective, node.values
    worth = np.abs(objective.worth)
    is_free = (objective.held == FREE) & (worth > 0.0)
    if not is_free.any():
        return None
    short = (models.shortfall(objective, values) / np.where(is_free, worth, 1.0)).clip(0.0, 1.0)
    doubt = np.where(is_free, worth * short * (1.0 - short), -1.0)
    if doubt.max() > 0.0:
        return int(doubt.argmax())
    return int(np.where(is_free, np.abs(values), np.inf).argmin())


@dataclass(frozen=True, slots=True)
class ParityBounds:
    """Ranges of each group's selection rate, and of the gap, over all models within a relative loss of eps.

    ``by_rows`` is the range of the gap proven by flip prices alone, ``by_envelope`` that proven with the envelope (a
    convex upper bound) as well, None where no envelope was computed. ``doubtful`` is the number of rows in the groups
    that these models may decide either way; ``solves`` counts the problems solved, ``branches`` the decisions fixed to
    branch, and ``work`` the table or kernel entries that the solves went through.
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


def nested(levels: Sequence[ParityBounds]) -> list[ParityBounds]:
    """Return the bounds for ascending tolerances eps, each tightened by those for the other tolerances.

    Every model within a smaller eps is within a larger one, too. So what is attained at a smaller eps is attained at a
    larger one, and what is proven at a larger eps is proven at a smaller one.
    """
    result = list(levels)
    for place in range(1, len(result)):
        result[place] = _joined(result[place], result[place - 1], _widened)
    for place in range(len(result) - 1, 0, -1):
        result[place - 1] = _joined(result[place - 1], result[place], _tightened)
    return result


def _joined(level: ParityBounds, other: ParityBounds, join: Callable[[Extent, Extent], Extent]) -> ParityBounds:
    rates = tuple(map(join, level.rates, other.rates))
    return replace(level, gap=join(level.gap, other.gap), rates=rates)


def _tightened(own: Extent, wider: Extent) -> Extent:
    """Return `own` with its proven range cut to that of a larger eps, `wider`, but not below its attained range."""
    return own.but(low=min(max(own.low, wider.low), own.least), high=max(min(own.high, wider.high), own.most))


def _widened(own: Extent, narrower: Extent) -> Extent:
    """Return `own` with its attained range widened by that of a smaller eps (`narrower`)."""
    least, most = min(own.least, narrower.least), max(own.most, narrower.most)
    return Extent(min(own.low, least), least, most, max(own.high, most))


class AttainedRates:
    """The smallest and the largest selection rates and gaps among observed decisions."""

    def __init__(self, worth: FloatArray, fixed: FloatArray) -> None:
        self.worth, self.fixed = worth, fixed
        self.least, self.most = np.full(len(fixed), np.inf), np.full(len(fixed), -np.inf)
        self.least_gap, self.most_gap = math.inf, -math.inf

    def add(self, decisions: BoolArray) -> FloatArray:
        """Record decisions about doubtful rows, one line per plane; return selection rates, shape (planes, groups)."""
        rates = self.fixed + decisions @ self.worth
        self.least, self.most = np.minimum(self.least, rates.min(axis=0)), np.maximum(self.most, rates.max(axis=0))
        gaps = np.ptp(rates, axis=1)
        self.least_gap, self.most_gap = min(self.least_gap, float(gaps.min())), max(self.most_gap, float(gaps.max()))
        return np.asarray(rates)


class _RangeSearch:
    """Searches for each group's largest and smallest rate, and the largest difference in rates of each pair of groups.

    Of these, only the searches for pairs of groups that set an end of the gap's range go on to branch.
    """

    def __init__(self, rows: GroupedRows, favourable: BoolArray, doubtful: BoolArray, listed: BoolArray) -> None:
        self.doubtful, self._value_solves = np.flatnonzero(doubtful), 0
        self.attained = AttainedRates(rows.worth[self.doubtful], rows.worth[favourable & ~doubtful].sum(axis=0))
        groups = range(rows.worth.shape[1])
        self.pairs = {(a, b): self._most(rows, {a: 1.0, b: -1.0}) for a, b in permutations(groups, 2)}
        self.highs = [self._most(rows, {a: 1.0}) for a in groups]
        self.lows = [self._most(rows, {a: -1.0}) for a in groups]
        decided = np.vstack([favourable, listed])[:, self.doubtful]
        self.observe(np.array([*{row.tobytes(): row for row in decided}.values()]))  # each pattern once

    def _most(self, rows: GroupedRows, signs: Mapping[int, float]) -> CountMaximiser:
        """Return a search for the largest signed sum of selection rates; `signs` maps each group in it to 1 or -1."""
        return CountMaximiser(partial(self._objective, signs), rows.grid(signs), self.observe)

    def _objective(self, signs: Mapping[int, float]) -> CountObjective:
        groups, sides = [*signs], np.array([*signs.values()])
        worth, fixed = self.attained.worth[:, groups] @ sides, float(self.attained.fixed[groups] @ sides)
        return CountObjective(worth, fixed, np.zeros(len(worth), np.int8))

    def observe(self, decisions: BoolArray) -> None:
        """Record the decisions of planes within the loss limit, one line per plane, in every search."""
        if not len(decisions):
            return
        rates = self.attained.add(decisions)
        above = [(rates[:, [a]] - rates).max(axis=0).tolist() for a in range(len(self.highs))]
        for (a, b), one in self.pairs.items():
            one.attain(above[a][b])
        for a, (high, low) in enumerate(zip(self.highs, self.lows, strict=True)):
            high.attain(float(rates[:, a].max()))
            low.attain(-float(rates[:, a].min()))

    @property
    def all(self) -> tuple[CountMaximiser, ...]:
        """All searches: for rate differences between two groups, for groups' largest and for their smallest rates."""
        return (*self.pairs.values(), *self.highs, *self.lows)

    @property
    def differences(self) -> FloatArray:
        """Upper bounds on the rate of group a minus that of group b, at index (a, b); NaN where a is b."""
        high, low = (np.array([one.bound for one in some]) for some in (self.highs, self.lows))
        bounds = high[:, None] + low
        for place, one in self.pairs.items():
            bounds[place] = min(bounds[place], one.bound)
        np.fill_diagonal(bounds, np.nan)
        return np.asarray(bounds)

    @property
    def gap(self) -> tuple[float, float]:
        """Proven lower and upper bound on the gap, which is the largest minus the smallest rate of a group."""
        bounds = self.differences
        return max(0.0, -float(np.nanmin(bounds))), max(0.0, float(np.nanmax(bounds)))

    def tighten(self, models: NearOptimalModels, most_solves: int) -> tuple[float, float] | None:
        """Tighten bounds by the envelope (a convex upper bound), then by branching, in at most `most_solves` solves.

        Return the range of the gap proven before branching; None if time ran out before this range was found.
        """
        envelope = None
        try:
            while (one := self._next(only_new=True)) and self.solves < most_solves:
                self._value_solves += models.bound_values(
                    one.objective(), int(VALUE_SHARE * (most_solves - self.solves))
                )
                one.apply_envelope(models)
            envelope = self.gap
            for one in (*self.highs, *self.lows):
                if self.solves < most_solves:
                    one.apply_envelope(models)
            while (one := self._next()) and self.solves < most_solves:
                if one.is_enveloped:
                    one.branch(min(PORTION, most_solves - self.solves))
                else:
                    one.apply_envelope(models)
        except OutOfTime:
            pass  # bounds proven so far stay valid
        return envelope

    def _next(self, *, only_new: bool = False) -> CountMaximiser | None:
        """Return the search of a pair of groups that sets an end of the gap's range; None if no end can be improved.

        With `only_new`, searches to which the envelope has been applied are left out.
        """
        bounds = self.differences
        highest, lowest = (self.pairs[divmod(int(end(bounds)), len(bounds))] for end in (np.nanargmax, np.nanargmin))
        # a pair that some plane decides alike, or the other way round, gives no lower bound on the gap
        wanted = [highest, lowest] if lowest.attained < 0.0 else [highest]
        usable = [one for one in wanted if not (one.is_over or (only_new and one.is_enveloped))]
        return min(usable, key=lambda one: one.solves, default=None)

    @property
    def solves(self) -> int:
        """Number of problems solved in all searches."""
        return self._value_solves + sum(one.solves for one in self.all)

    @property
    def branches(self) -> int:
        """Number of decisions fixed to branch in all searches."""
        return sum(one.branches for one in self.all)

    def extents(self) -> tuple[Extent, tuple[Extent, ...]]:
        """Return the proven and attained ranges of the gap, and those of each group's rate."""
        found, (low, high) = self.attained, self.gap
        ends = zip(self.lows, found.least.tolist(), found.most.tolist(), self.highs, strict=True)
        rates = tuple(_extent(-one.bound, least, most, other.bound) for one, least, most, other in ends)
        return _extent(low, found.least_gap, found.most_gap, high), rates


def _extent(low: float, least: float, most: float, high: float) -> Extent:
    """Return an `Extent` whose numbers are in ascending order and within [0, 1] despite rounding."""
    numbers = (min(low, least), least, most, max(high, most))
    return Extent(*(min(max(number, 0.0), 1.0) for number in numbers))


def parity_range(
    problem: SvmProblem,
    best: Solution,
    rows: GroupedRows,
    prices: FloatArray,
    eps: float,
    *,
    threshold: float = 0.0,
    listed: BoolArray | None = None,
    work: float = math.inf,
) -> ParityBounds:
    """Bound the selection rates of groups, and the gap between them, over all models within a relative loss of eps.

    Parameters
    ----------
    problem, best
        The SVM problem, and its optimal solution: model 1.
    rows
        The rows whose decisions count, of at least two groups.
    prices
        Proven lower bound on the flip price of each row, identical rows not merged; 0 where nothing is known.
    eps
        Allowed rise of the loss, as a share of the least loss.
    threshold
        Decision values of at least this are favourable.
    listed
        Decisions about the rows, identical rows not merged, by known models within eps; one line per model.
    work
        Table or kernel entries that solves may go through to tighten the bounds; with fewer the bounds are wider, never
        wrong.
    """
    within, values = max(eps, LEAST_EPS), decision_values(problem, best, rows.rows)
    favourable, doubtful = values - threshold >= -ROUNDING, ~(prices[rows.first] > within + LEAST_EPS)
    known = np.empty((0, len(values)), bool) if listed is None else listed[:, rows.first]
    ranges = _RangeSearch(rows, favourable, doubtful, known)
    by_rows, by_envelope, numbers = ranges.gap, None, _numbers(problem, len(ranges.doubtful))
    if doubtful.any() and not problem.ridge and is_tightened(numbers, work):
        models = NearOptimalModels(problem, best, rows.rows[ranges.doubtful], within, threshold)
        by_envelope = ranges.tighten(models, int(min(work / (SOLVE_NUMBERS + numbers), MOST_SOLVES)))
    gap, rates = ranges.extents()
    work = ranges.solves * (SOLVE_NUMBERS + numbers)
    counted = int(rows.copies[ranges.doubtful].sum())
    return ParityBounds(eps, gap, rates, by_rows, by_envelope, counted, ranges.solves, ranges.branches, work)


def is_tightened(numbers: int, work: float) -> bool:
    """Tell whether the allowed work suffices to tighten bounds by the envelope, a convex upper bound.

    `numbers` is how many table or kernel entries one solve goes through, `work` how many all solves may.
    """
    return FEWEST_SOLVES * (SOLVE_NUMBERS + numbers) <= work


def _numbers(problem: SvmProblem, rows: int) -> int:
    """Return how many features (linear kernel) or kernel values one solve reads if `rows` doubtful rows are added."""
    size = problem.size + 2 * rows
    return int(size * (problem.X.shape[1] if problem.kernel.name == "linear" else size))
