"""The most that a tally comes to for any nearly optimal machine: proven from above, attained from below.

A price of the hinges is searched for at which the plane has just the allowed loss: there the envelope's bound is at its
least. Then the decision of one row after another is held, to either side (best first, as in any branch and bound): what
all open branches are at most, the tally is at most. A branch ends where its bound is no more than what some plane
attains.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from fairenum.budget import checkpoint
from fairenum.enumeration.neighbourhood import Neighbourhood
from fairenum.enumeration.pricing import next_price
from fairenum.enumeration.tally import FAVOURABLE, FREE, UNFAVOURABLE, Plane, Tally, Tried
from fairenum.problem import FloatArray

BoolArray = npt.NDArray[np.bool_]
Look = Callable[[BoolArray], None]

CLOSE = 0.1  # of the allowed rise of the loss: a price for which the loss comes so near is as good as any
ROOT_SOLVES, NODE_SOLVES = 8, 2  # to find a price, without held decisions and with some
STEPS = (0.25, 0.5, 0.75, 1.0)  # of the way to a plane, at which decisions are looked at
SAME = 1e-12  # between tallies that are one and the same
STALLED = 0.02  # of what is open: a portion that narrows it by less is the last
GRID_ROUNDING = 1e-6  # of the least difference between tallies: what is so near to the next one may be it
NEXT_TO_NOTHING = 1e-6  # of a price
MARGIN = 1e-4  # of the machine's own: how far on its side a decision is to be that a plane shall attain


@dataclass(order=True, slots=True)
class Branch:
    """Decisions that are held, what the tally is then at most, and where its search ended."""

    key: float
    number: int
    tally: Tally = field(compare=False)
    bound: float = field(compare=False)
    price: float = field(compare=False)
    values: FloatArray = field(compare=False)
    gradient: FloatArray | None = field(compare=False)


@dataclass(eq=False, slots=True)
class MostFavourable:
    """A search for the largest tally; it may be stopped at any time, and what it has proven stays proven.

    Parameters
    ----------
    tally
        Makes what counts, a number for each row: of many searches most are never begun, and hold none.
    grid
        All tallies are multiples of it; 0 if nothing is known.
    look
        Told of decisions that planes within the limit have, one row for each; it tells what they attain.

    Attributes
    ----------
    bound, attained
        What the tally is at most, and what some plane is known to attain.
    solves, branches
        What it took.
    is_stalled
        Whether the last portion of branches has hardly narrowed what is open.
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
        """Take what some plane attains."""
        self.attained = max(self.attained, tally)
        self.bound = max(self.bound, self.attained)  # the two differ by rounding alone where it is beyond

    @property
    def is_closed(self) -> bool:
        """Whether the bound is attained."""
        return self.bound <= self.attained + max(0.5 * self.grid, SAME)

    @property
    def is_enveloped(self) -> bool:
        """Whether the envelope has had its say."""
        return self._area is not None

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to divide, or dividing hardly helps."""
        return self.is_closed or self.is_stalled or (self.is_enveloped and not self._open)

    def by_envelope(self, area: Neighbourhood) -> None:
        """Bound by the envelope over some machines."""
        self._area = area
        if not self.is_closed:
            tally = self.tally()
            self._open = [self._branch(area, tally, _first_price(area, tally), None, ROOT_SOLVES)]
            self._settle()

    def by_branching(self, most_solves: int) -> None:
        """Hold decisions until the bound is attained, or so many problems were solved."""
        end, before = self.solves + most_solves, self.bound - self.attained
        while self._area and self._open and not self.is_closed and self.solves < end:
            checkpoint()
            for child in self._divided(self._area, self._open[0]):  # which stays open until its children are
                heapq.heappush(self._open, child)
            self._settle()
        self.is_stalled = self.bound - self.attained > (1.0 - STALLED) * before

    def _settle(self) -> None:
        """Take what all open branches are at most, and never more than what was known before."""
        while self._open and self._open[0].bound <= self.attained:
            heapq.heappop(self._open)
        bound = max(self.attained, self._stuck, self._open[0].bound if self._open else -math.inf)
        self.bound = min(self.bound, bound)

    def _rounded(self, bound: float) -> float:
        return math.floor(bound / self.grid + GRID_ROUNDING) * self.grid if self.grid else bound

    def _branch(self, area: Neighbourhood, tally: Tally, price: float, near: FloatArray | None, most: int) -> Branch:
        """Search the price of the least bound."""
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
        """Hold one more decision."""
        self.branches += 1
        tally = branch.tally.holding(row, decision)
        child = self._branch(area, tally, branch.price, branch.gradient, NODE_SOLVES)
        bound = min(child.bound, branch.bound)  # what holds for all machines holds for those of the branch
        return replace(child, key=-bound, bound=bound)

    def _conclude(self, area: Neighbourhood, branch: Branch) -> None:
        """Find a machine for decisions that are all held, or prove that there is none."""
        self.solves += 2
        if area.solved(branch.tally, NEXT_TO_NOTHING * branch.price, branch.gradient).least <= area.limit:
            self._attain(area, area.solved(branch.tally, branch.price, branch.gradient, MARGIN).plane)
            self._stuck = max(self._stuck, branch.bound)

    def _divided(self, area: Neighbourhood, branch: Branch) -> list[Branch]:
        """Hold the decision of the row that is the most in doubt, to either side, and close the branch."""
        row, children = _most_doubtful(area, branch), list[Branch]()
        if row is None:
            self._conclude(area, branch)
        else:
            children = [self._child(area, branch, row, decision) for decision in (FAVOURABLE, UNFAVOURABLE)]
        heapq.heappop(self._open)
        return children


def _first_price(area: Neighbourhood, tally: Tally) -> float:
    """Return a price to begin with: where the loss would be what is allowed if it rose with the price's square."""
    low, high = area.biases(area.best) or (0.0, 0.0)
    short = area.shortfall(tally, area.scores(area.best) + 0.5 * (low + high)).sum()
    return 2.0 * max(area.limit - area.least, 1e-9 * area.least) / max(float(short), 1e-6)


def _most_doubtful(area: Neighbourhood, branch: Branch) -> int | None:
    """Return the row of which the envelope is farthest from either decision, by what it is worth; None if all are held.

    Where it is as good as decided about all of them, it is the one that is nearest to the threshold.
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
