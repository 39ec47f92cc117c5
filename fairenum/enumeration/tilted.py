"""Tilted models: SVMs of least loss plus a price times the difference of mean decision values between two groups.

For a price v the tilted SVM is ``min P(w, b) + v z(w)``, with P the loss on all examples and ``z(w) = w'd`` the
stand-in for the parity gap of `fairenum.enumeration.convex_price`: d is the difference of the two groups' mean features
over the training rows, so that the rows that later choose a price had no part in it. With
``w = sum_i alpha_i y_i x_i - v d`` its dual is that of the SVM itself with the linear term ``p_i = 1 + v y_i x_i'd``;
so any solver can solve it, and the certificate of that problem proves the solution. No example is left out, and the
loss P is exact. The price rises until the loss is as large as allowed; then prices in between are tried.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from fairenum.document.choice import ROUNDING_DIGITS
from fairenum.document.terms import RATES, TiltedEnd, TiltRate
from fairenum.enumeration.convex_price import APART, between_means, first_price, is_zero_direction, next_price
from fairenum.enumeration.division import EncodedRows
from fairenum.enumeration.guided import limit_reached
from fairenum.enumeration.model import Model, PlaneTilt, TiltAxis
from fairenum.enumeration.unfairness import ScoredModel, Watched
from fairenum.errors import SolverError
from fairenum.metrics import score
from fairenum.metrics.pareto import NOISE
from fairenum.metrics.rates import GAP_RATES
from fairenum.runtime.budget import checkpoint
from fairenum.solvers.certified import CertifiedWorkspace
from fairenum.svm.gram import share_gram
from fairenum.svm.problem import FloatArray, Kernel, Solution, SvmProblem

# The labels of the rows that a rate is about. Precision is left out: its rows are those that a model selects.
LABELS: dict[TiltRate, tuple[int, ...]] = {
    rate.key: (0, 1) if rate.trials.label is None else (rate.trials.label,)
    for rate in RATES.values()
    if not rate.depends_on_model
}


MOST_AXES = 3  # directions to tilt along: for gaps of more groups, or of two rates
WIDE = 0.5  # of the largest difference between two groups: smaller ones are not tilted against


def tilt_axes(watched: Watched, rows: EncodedRows, values: FloatArray, kernel: Kernel) -> list[TiltAxis]:
    """Return the directions to tilt planes along, each with a rate and two groups, the largest difference first.

    Rates are those that the gap compares, groups the compared ones. A difference counts if, under model 1, it is at
    least `WIDE` times the largest. Of one rate and group, the difference to the group of the highest or lowest rate is
    taken. The directions are between mean features of `rows`; `values` are the decision values of model 1, minus its
    cutoff, on the rows that guide the search.
    """
    by_group, compared = score(watched.rows.decisions(values[None])).by_group, watched.rows.groups.compared
    found: list[tuple[float, TiltRate, int, int]] = []
    for rate in (rate for rate in LABELS if rate in GAP_RATES[watched.metric]):
        shares = np.where(compared, getattr(by_group, rate)[0], np.nan)
        found += [(float(shares[high] - shares[low]), rate, high, low) for high, low in _wide_pairs(shares)]
    found.sort(key=lambda one: -round(one[0], ROUNDING_DIGITS))
    names = watched.rows.groups.names
    axes = (
        axis_between(rows, kernel, rate, (names[high], names[low]))
        for difference, rate, high, low in found
        if difference >= WIDE * found[0][0]
    )
    return [axis for axis in axes if axis is not None][:MOST_AXES]


def _wide_pairs(shares: FloatArray) -> list[tuple[int, int]]:
    """Return the pairs of groups in which one has the highest or the lowest of all rates, and the other differs."""
    if np.isnan(shares).all():
        return []
    top, bottom = int(np.nanargmax(shares)), int(np.nanargmin(shares))
    pairs = {(top, low) for low in range(len(shares)) if shares[low] < shares[top]}
    return sorted(pairs | {(high, bottom) for high in range(len(shares)) if shares[high] > shares[bottom]})


def axis_between(rows: EncodedRows, kernel: Kernel, rate: TiltRate, groups: tuple[str, str]) -> TiltAxis | None:
    """Return the direction between the means of two groups over the rows that a rate is about; None without any."""
    concerned, names = np.isin(rows.labels, LABELS[rate]), rows.groups.names
    places = [np.flatnonzero(concerned & (rows.groups.codes == names.index(group))) for group in groups]
    if not all(place.size for place in places):
        return None
    first, second = map(rows.take, places)
    return TiltAxis(rate, groups, between_means(kernel, first.X, second.X, first.weights, second.weights))


CLOSE = 0.9  # of the allowed rise of the loss: a price that reaches it is high enough
BRACKETING, STEP = 8, 4.0  # solves to find the highest price, and the largest factor by which it grows
BISECTIONS = 12  # to find the last plane of a jump
STEPS = 8  # planes between model 1 and that of the highest price
REFINEMENTS = 4  # planes around the best of these
SOLVES, WORK = (8, BRACKETING + STEPS + REFINEMENTS), 1e8


@dataclass(frozen=True, slots=True, eq=False)
class _Rung:
    """The tilted SVM for one price, with its loss, its merit and its difference of mean decision values between groups.

    ``merit`` is the quantity that the search minimises (`Watched.merit`).
    """

    price: float
    loss: float
    difference: float
    solution: Solution
    found: ScoredModel
    merit: float


@dataclass(eq=False)
class TiltedSearch:
    """An iterator over tilted models of allowed loss, each for one price on the difference between two groups.

    A tilted model minimises its loss plus the price times the difference of the two groups' mean decision values.

    Parameters
    ----------
    opened
        A function that opens a problem in a solver.
    problem, best
        The SVM problem, and its optimal solution.
    watched
        The rows and the gap by which models are judged.
    axis
        The direction along which planes are tilted, with its rate and groups; None if there is nothing to tilt.
    rise
        Largest rise of the loss on all examples, as a share of the least loss.
    performance_drop
        Performance on the watched rows that a model may lose without a penalty in its merit (`Watched.merit`); more
        prices are tried around that of the least merit.
    seconds
        Running time; unlike the other bounds this one makes results depend on the computer.

    Attributes
    ----------
    solves, most_solves
        Number of problems solved so far, and the number after which the search stops.
    """

    opened: Callable[[SvmProblem], CertifiedWorkspace]
    problem: SvmProblem
    best: Solution
    watched: Watched
    axis: TiltAxis | None
    rise: float = 0.05
    performance_drop: float = 0.01
    seconds: float | None = None
    solves: int = 0
    stopped: TiltedEnd | None = None
    _rungs: list[_Rung] = field(default_factory=list)

    def __post_init__(self) -> None:
        problem, kernel = self.problem, self.problem.kernel
        self.most_solves = problem.affordable(WORK, *SOLVES)
        self._least, self._started = self.best.certificate.objective, time.monotonic()
        self._most = (1.0 + self.rise) * self._least
        first = Model(problem, 1, self.best.alpha, self.best.certificate, {}, True, 0.0)
        first_values = self.watched.values_of(first)
        self._first = self.watched.measured(first_values)
        if self.axis is not None:
            along, square = self.axis.direction.along(kernel, problem.X), self.axis.direction.square(kernel)
            self._along, self._square = problem.y * along, square
            if is_zero_direction(along, square):
                self.axis = None
            else:
                self._rungs.append(self._rung(0.0, problem, self.best))
        self._models = self._search()

    def __iter__(self) -> Iterator[ScoredModel]:
        return self

    def __next__(self) -> ScoredModel:
        return next(self._models)

    @property
    def usable(self) -> list[ScoredModel]:
        """The tilted models found so far, lowest price first, without constant ones and those beyond a guardrail."""
        found = [one.found for one in self._rungs if one.found.model.tilt is not None]
        return [one for one in found if one.is_usable and one.is_within_guardrails]

    def _search(self) -> Iterator[ScoredModel]:
        if self.axis is None:
            self.stopped = "no_direction"
        elif self.rise > 0.0:
            outside = yield from self._up_to_the_allowed_loss()
            if outside is not None:
                yield from self._across_a_jump(outside)
            for step in range(STEPS + REFINEMENTS) if len(self._rungs) > 1 else ():
                yield from self._halved(self._pairs() if step < STEPS else self._beside_the_best())
        self.stopped = self.stopped or "exhausted"

    def _up_to_the_allowed_loss(self) -> Generator[ScoredModel, None, _Rung | None]:
        """Raise the price until the loss is nearly as large as allowed, and yield the models within the allowed loss.

        Return the nearest solution beyond the allowed loss, or None if one within it came near enough.
        """
        outside: _Rung | None = None
        price = self._first_price()
        for _ in range(BRACKETING):
            rung = self._solved(price)
            if rung is None:
                break
            if rung.loss > self._most:
                outside = rung
            else:
                yield self._kept(rung)
            inside = self._rungs[-1]
            if inside.loss >= self._least + CLOSE * (self._most - self._least):
                return None
            if outside is not None and _are_as_good_as_equal(inside.price, outside.price):
                break
            price = min(next_price(inside, outside, self._least, self._most), STEP * price)
        return outside

    def _first_price(self) -> float:
        """Return the first price to try, the geometric mean of a rather low and a rather high one.

        The low one is that of `first_price`. The high one follows from the plane w = 0, which has a known loss and no
        difference between the groups: if the loss rose with the square of the distance from the best plane towards w =
        0, the high price would raise it as far as allowed.
        """
        y, upper, difference = self.problem.y, self.problem.upper, self._rungs[0].difference
        farthest = 2.0 * min(float(upper[y > 0].sum()), float(upper[y < 0].sum())) - self._least
        low = first_price(self._least, self.rise, self._square)
        if difference <= 0.0 or farthest <= 0.0:
            return low
        high = 2.0 * math.sqrt(self.rise * self._least * farthest) / difference
        return math.sqrt(low * high)

    def _across_a_jump(self, outside: _Rung) -> Iterator[ScoredModel]:
        """Yield the model of just the allowed loss, between the last solution with less loss and `outside`, with more.

        On discrete data the plane stays the same up to some price, and jumps there: at this price, every plane between
        the two is optimal, too.
        """
        inside, near, far = self._rungs[-1], 0.0, 1.0
        for _ in range(BISECTIONS):
            share = 0.5 * (near + far)
            near, far = (share, far) if self._between(inside, outside, share).loss <= self._most else (near, share)
        yield self._kept(self._between(inside, outside, near))

    def _between(self, inside: _Rung, outside: _Rung, share: float) -> _Rung:
        """Return the solution a `share` of the way from one solution to another, linear in alpha and in price."""
        checkpoint()
        alpha = (1.0 - share) * inside.solution.alpha + share * outside.solution.alpha
        price = (1.0 - share) * inside.price + share * outside.price
        problem = tilted_problem(self.problem, price * self._along)
        certificate, slack = problem.judge(alpha, problem.upper, problem.product(alpha))
        return self._rung(price, problem, Solution(alpha, problem.upper, certificate, slack))

    def _halved(self, pairs: list[tuple[_Rung, _Rung]]) -> Iterator[ScoredModel]:
        """Yield a model between two solutions: the pair that differs most in its difference of group means.

        At the price for which both solutions are equally good, either a better plane exists, and is yielded, or every
        plane between the two is as good, and the one halfway between them is yielded.
        """
        scale = max(math.ulp(0.0), *(abs(one.difference) for one in self._rungs))
        # of equals the first, whichever way a processor rounds
        low, high = max(pairs, key=lambda pair: round(_apart(*pair) / scale, ROUNDING_DIGITS - 3))
        if _apart(low, high) <= NOISE * scale:
            return
        price = (high.loss - low.loss) / _apart(low, high)
        if _are_as_good_as_equal(low.price, price) or _are_as_good_as_equal(price, high.price):
            yield self._kept(self._between(low, high, 0.5))
        elif (rung := self._solved(price)) is not None:
            yield self._kept(rung)

    def _kept(self, rung: _Rung) -> ScoredModel:
        self._rungs = sorted([*self._rungs, rung], key=lambda one: one.price)
        return rung.found

    def _pairs(self) -> list[tuple[_Rung, _Rung]]:
        return list(pairwise(self._rungs))

    def _beside_the_best(self) -> list[tuple[_Rung, _Rung]]:
        best = min(self._rungs, key=lambda one: (round(one.merit, ROUNDING_DIGITS), -one.price))
        return [pair for pair in self._pairs() if best in pair]

    def _is_spent(self) -> bool:
        self.stopped = limit_reached(self.solves, self.most_solves, self._started, self.seconds) or self.stopped
        return self.stopped is not None

    def _solved(self, price: float) -> _Rung | None:
        """Solve the SVM for a price, from the solution of the nearest price; None at a limit or without a proof."""
        if self._is_spent() or self.axis is None:
            return None
        self.solves += 1
        problem = tilted_problem(self.problem, price * self._along)
        near = min(self._rungs, key=lambda one: abs(one.price - price))
        try:
            solution = self.opened(problem).solve(problem.upper, near.solution)
        except SolverError:  # one price of many: an answer that cannot be proven is no model
            return None
        return self._rung(price, problem, solution)

    def _rung(self, price: float, problem: SvmProblem, solution: Solution) -> _Rung:
        """Return a solution with its loss on all examples, its difference of group means, and its scored model."""
        alpha, certificate = solution.alpha, solution.certificate
        charged = float(alpha @ self._along)
        quadratic = float(problem.linear @ alpha) - certificate.objective  # of the part of w from the examples
        norm = quadratic - price * charged + 0.5 * price**2 * self._square
        loss = norm + float(self.problem.upper @ solution.slack)
        tilt = PlaneTilt(price, self.axis) if self.axis and price else None
        model = Model(problem, self.solves, alpha, certificate, {}, True, loss / self._least - 1.0, tilt=tilt)
        found = self.watched.scored(model, self.watched.values_of(model), self._first)
        merit = self.watched.merit(found, self._rungs[0].found if self._rungs else found, self.performance_drop)
        return _Rung(price, loss, charged - price * self._square, solution, found, merit)


def _apart(low: _Rung, high: _Rung) -> float:
    return low.difference - high.difference


def _are_as_good_as_equal(low: float, high: float) -> bool:
    """Tell whether two prices are too close for another price in between."""
    return high <= (1.0 + 2.0 * APART) * low


def tilted_problem(problem: SvmProblem, charge: FloatArray) -> SvmProblem:
    """Return the SVM problem of a tilted model: `problem` with `charge` added to the linear term of each example.

    For example i, `charge` is the price times ``y_i x_i'd``, with d the direction of the tilt.
    """
    tilted = SvmProblem(
        problem.X, problem.y, problem.cost, problem.copies, problem.kernel, problem.linear + charge, problem.ridge,
        problem.unit,
    )  # fmt: skip
    share_gram(problem, tilted)
    return tilted
