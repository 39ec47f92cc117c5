"""Machines that pay for the difference of mean decision values between two groups: planes tilted towards parity.

For a price v the tilted machine is ``min P(w, b) + v z(w)``, with P the loss on all examples and ``z(w) = w'd`` the
stand-in of `fairenum.enumeration.reach`: d is the difference of the two groups' means over watched rows. With
``w = sum_i alpha_i y_i x_i - v d`` its dual is that of the machine itself with another linear term, ``p_i = 1 + v y_i
x_i'd``; so any solver answers it, and the certificate of that problem proves the answer. No example is left out, and
its loss P is exact. The price is raised until the loss is what is allowed; then some prices in between are tried.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from fairenum.document.terms import TiltedEnd, TiltRate
from fairenum.enumeration.guided import PENALTY, ROUNDING_DIGITS, Found
from fairenum.enumeration.model import Axis, Model, Tilt
from fairenum.enumeration.reach import between_means, first_price, is_nothing, next_price
from fairenum.enumeration.unfairness import Watched
from fairenum.errors import SolverError
from fairenum.experiment import EncodedRows
from fairenum.problem import FloatArray, Kernel, Solution, SvmProblem
from fairenum.scoring import score
from fairenum.scoring.pareto import pareto_front
from fairenum.scoring.rates import GAP_RATES
from fairenum.solvers.certified import CertifiedWorkspace

# The labels of the rows that a rate is about. Precision is about those that a model selects: each has others.
LABELS: dict[TiltRate, tuple[int, ...]] = {
    "selection_rate": (0, 1),
    "true_positive_rate": (1,),
    "false_positive_rate": (0,),
}
CLOSE = 0.95  # of the allowed rise of the loss: enough for the highest price
BRACKETING = 6  # solves to find it
STEPS = 8  # equal ones up to the highest price: the difference falls about in line with it
REFINEMENTS = 4  # prices between those, around the best of them
SOLVES, WORK = (8, BRACKETING + STEPS + REFINEMENTS), 1e7


def widest_axis(watched: Watched, values: FloatArray, kernel: Kernel) -> Axis | None:
    """Return the axis between the compared groups that lie farthest apart in a rate of the gap; None if there is none.

    Parameters
    ----------
    watched
        The rows, and the gap that is watched there.
    values
        Decision values of model 1 on them, minus its cut.
    kernel
        What makes features of rows.
    """
    rows = watched.rows
    by_group = score(rows.decisions(values[None])).by_group
    widest, found = 0.0, None
    for rate in (rate for rate in LABELS if rate in GAP_RATES[watched.metric]):
        shares = np.where(rows.groups.compared, getattr(by_group, rate)[0], np.nan)
        if np.isnan(shares).all():
            continue
        high, low = int(np.nanargmax(shares)), int(np.nanargmin(shares))
        if shares[high] - shares[low] > widest:
            widest, found = float(shares[high] - shares[low]), (rate, high, low)
    return None if found is None else _axis(rows, kernel, *found)


def _axis(rows: EncodedRows, kernel: Kernel, rate: TiltRate, high: int, low: int) -> Axis:
    concerned = np.isin(rows.labels, LABELS[rate])
    first, second = (rows.take(np.flatnonzero(concerned & (rows.groups.codes == code))) for code in (high, low))
    names = rows.groups.names
    direction = between_means(kernel, first.X, second.X, first.weights, second.weights)
    return Axis(rate, (names[high], names[low]), direction)


@dataclass(frozen=True, slots=True, eq=False)
class _Rung:
    """An answer for one price, with its loss and its difference z."""

    price: float
    loss: float
    difference: float
    solution: Solution
    found: Found
    merit: float


@dataclass(eq=False)
class TiltedSearch:
    """An iterator over tilted models within the allowed loss; any prefix is a valid answer.

    Parameters
    ----------
    opened
        Opens a problem in a solver.
    problem, best
        The machine, and its best answer.
    watched
        The rows and the gap by which planes are tilted and models are judged.
    rise
        Largest rise of the loss on all examples, as a share of the best.
    performance_drop
        Largest loss of performance on the watched rows; prices are refined around the least gap within it.
    seconds
        Time; unlike the other bounds this one makes results depend on the machine.

    Attributes
    ----------
    axis
        Between whom planes are tilted; None if there is nothing to tilt.
    solves, most_solves
        Problems solved so far, and after which the search stops.
    """

    opened: Callable[[SvmProblem], CertifiedWorkspace]
    problem: SvmProblem
    best: Solution
    watched: Watched
    rise: float = 0.05
    performance_drop: float = 0.01
    seconds: float | None = None
    solves: int = 0
    axis: Axis | None = None
    stopped: TiltedEnd | None = None
    _rungs: list[_Rung] = field(default_factory=list)

    def __post_init__(self) -> None:
        problem, kernel = self.problem, self.problem.kernel
        self.most_solves = problem.affordable(WORK, *SOLVES)
        self._least, self._started = self.best.certificate.objective, time.monotonic()
        first = Model(problem, 1, self.best.alpha, self.best.certificate, {}, True, 0.0)
        axis = widest_axis(self.watched, self._centred(first), kernel)
        if axis is not None:
            along, square = axis.direction.along(kernel, problem.X), axis.direction.square(kernel)
            if not is_nothing(along, square):
                self.axis, self._along, self._square = axis, problem.y * along, square
                self._rungs.append(self._rung(0.0, first, self.best))
        self._models = self._search()

    def __iter__(self) -> Iterator[Found]:
        return self

    def __next__(self) -> Found:
        return next(self._models)

    @property
    def front(self) -> list[Found]:
        """The tilted models so far that none equals or beats in loss, gap and performance together, least loss first.

        Model 1 is one of those to beat; constant models do not count.
        """
        usable = [one.found for one in self._rungs if not one.found.is_constant and not math.isnan(one.found.gap)]
        costs = np.array([[one.model.loss_ratio, one.gap, -one.performance] for one in usable]).reshape(-1, 3)
        return [usable[place] for place in pareto_front(costs) if usable[place].model.tilt is not None]

    def _search(self) -> Iterator[Found]:
        if self.axis is None:
            self.stopped = "no_direction"
            return
        if self.rise > 0.0:
            yield from self._up_to_the_allowed_loss()
        highest = self._rungs[-1].price
        for step in range(STEPS - 1, 0, -1):
            yield from self._within(highest * step / STEPS)
        for _ in range(REFINEMENTS):
            if (price := self._between()) is not None:
                yield from self._within(price)
        self.stopped = self.stopped or "exhausted"

    def _up_to_the_allowed_loss(self) -> Iterator[Found]:
        """Raise the price until the loss is nearly what is allowed, and keep what is within."""
        most = (1.0 + self.rise) * self._least
        outside: _Rung | None = None
        price = first_price(self._least, self.rise, self._square)
        for _ in range(BRACKETING):
            rung = self._solved(price)
            if rung is None:
                return
            if rung.loss > most:
                outside = rung
            else:
                yield self._kept(rung)
            inside = self._rungs[-1]
            if inside.loss >= self._least + CLOSE * (most - self._least):
                return
            price = next_price(inside, outside, self._least, most)

    def _within(self, price: float) -> Iterator[Found]:
        """Solve for a price below the highest, where the loss cannot be larger than it is there."""
        if price > 0.0 and (rung := self._solved(price)) is not None:
            yield self._kept(rung)

    def _kept(self, rung: _Rung) -> Found:
        self._rungs = sorted([*self._rungs, rung], key=lambda one: one.price)
        return rung.found

    def _between(self) -> float | None:
        """Return a price next to the best one so far, in the middle of the wider side; None if it stands alone."""
        rungs = self._rungs
        place = min(range(len(rungs)), key=lambda at: (round(rungs[at].merit, ROUNDING_DIGITS), at))
        sides = [(rungs[at].price, rungs[at + 1].price) for at in (place - 1, place) if 0 <= at < len(rungs) - 1]
        low, high = max(sides, key=lambda side: side[1] - side[0], default=(0.0, 0.0))
        return 0.5 * (low + high) if high > low else None

    def _is_spent(self) -> bool:
        if self.solves >= self.most_solves:
            self.stopped = "solves"
        elif self.seconds is not None and time.monotonic() - self._started >= self.seconds:
            self.stopped = "time"
        return self.stopped is not None

    def _solved(self, price: float) -> _Rung | None:
        """Solve the machine for a price, from the nearest that is known; None where nothing is proven, or spent."""
        if self._is_spent() or self.axis is None:
            return None
        self.solves += 1
        problem = tilted_problem(self.problem, price * self._along)
        near = min(self._rungs, key=lambda one: abs(one.price - price))
        try:
            solution = self.opened(problem).solve(problem.upper, near.solution)
        except SolverError:  # one price of many: what cannot be proven is no model
            return None
        model = Model(problem, self.solves, solution.alpha, solution.certificate, {}, True, 0.0)
        return self._rung(price, replace(model, tilt=Tilt(price, self.axis)), solution)

    def _rung(self, price: float, model: Model, solution: Solution) -> _Rung:
        """Take the loss on all examples, the difference, and the standing on the watched rows of an answer."""
        alpha, certificate = solution.alpha, solution.certificate
        charged = float(alpha @ self._along)
        quadratic = float(model.problem.linear @ alpha) - certificate.objective  # of what the examples give alone
        norm = quadratic - price * charged + 0.5 * price**2 * self._square
        loss = norm + float(self.problem.upper @ solution.slack)
        model = replace(model, loss_ratio=loss / self._least - 1.0)
        gap, performance, is_constant = self.watched.standing(self._centred(model))
        least = (self._rungs[0].found.performance if self._rungs else performance) - self.performance_drop
        merit = math.inf if math.isnan(gap) else gap + PENALTY * max(0.0, least - performance)
        found = Found(model, gap, performance, is_constant)
        return _Rung(price, loss, charged - price * self._square, solution, found, merit)

    def _centred(self, model: Model) -> FloatArray:
        values = model.decision_function(self.watched.rows.X)
        return self.watched.point.cut(values).centred(values)


def tilted_problem(problem: SvmProblem, charge: FloatArray) -> SvmProblem:
    """Return the machine that pays for a direction, given ``price * y_i x_i'd`` of every example."""
    return SvmProblem(
        problem.X, problem.y, problem.cost, problem.copies, problem.kernel, problem.linear + charge, problem.ridge
    )
