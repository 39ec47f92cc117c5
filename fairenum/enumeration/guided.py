"""Guided search: leaves training examples out to reduce the gap on watched rows, the rows that guide the search.

Best-first enumeration finds models that hardly differ from the optimum. Starting from a model, this search ranks all
examples by their first-order effect on the smoothed gap (`Influence`) relative to their slack; examples whose removal
would violate a guardrail rank lower. It leaves out ever larger batches in that order, puts back those left-out examples
whose absence widens the gap, and also chooses afresh, from all examples, which to leave out. An example stands for
identical training rows, its copies, and a box says how many copies of each example are allowed. The SVM of each box is
solved exactly, and dropped if its loss on all examples is beyond the bound; the search continues from the model of
least gap within the bounds on performance and guardrails. Every model is certified as in the enumeration, and its
left-out examples explain it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from fairenum.document.choice import ROUNDING_DIGITS
from fairenum.enumeration.influence import Influence
from fairenum.enumeration.model import Model, model_of
from fairenum.enumeration.search import MEMORY_LIMIT, ready_states, size_of
from fairenum.enumeration.unfairness import ScoredModel, Watched
from fairenum.errors import ProblemError, SolverError
from fairenum.metrics.guardrails import Measured
from fairenum.metrics.pareto import NOISE, pareto_front, tied_ranks
from fairenum.solvers.certified import CertifiedWorkspace
from fairenum.svm.problem import FloatArray, IntArray, Solution, SvmProblem, affordable, read_only


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of a guided search.

    Parameters
    ----------
    loss
        Largest relative rise of the loss on all training examples, left out or not, above that of the best model.
    performance_drop
        Largest loss of performance against the best model, on the rows that guide the search; more is penalised, not
        excluded.
    left_out
        Largest share of the training records left out.
    solves
        Number of SVMs solved; None for a number that falls with the size of the problem.
    seconds
        Running time in seconds; unlike the other bounds this one makes results depend on the computer.
    """

    loss: float = 0.05
    performance_drop: float = 0.01
    left_out: float = 0.2
    solves: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("loss", "performance_drop", "left_out"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ProblemError(f"the bound on {name} must lie between 0 and 1, not {getattr(self, name)!r}")
        if self.solves is not None and self.solves < 1:
            raise ProblemError(f"the bound on solves must be at least 1, not {self.solves!r}")


def front(found: Sequence[ScoredModel]) -> list[ScoredModel]:
    """Return the Pareto front of models in loss, gap and performance, least loss first.

    Models that decide all rows alike or have no defined gap are left out, and so are those beyond a guardrail, except
    the first of `found`, which is the best model.
    """
    usable = [one for place, one in enumerate(found) if one.is_usable and (place == 0 or one.is_within_guardrails)]
    costs = np.array([[one.model.loss_ratio, one.gap, -one.performance] for one in usable]).reshape(-1, 3)
    return [usable[place] for place in pareto_front(costs)]


SOFTNESS = 0.25  # of the sigmoid, in standard deviations of the decision values of model 1
OUTLOOK = 0.3  # of the gap: guardrails that a reduction by this much runs into are priced
LEAST_SLACK = 0.1  # so that examples on the margin, which cost nothing, are not infinitely cheap


@dataclass(frozen=True, slots=True, eq=False)
class ChangeOrder:
    """Examples to leave out (sign -1) or to put back (+1), most promising first.

    ``copies`` is how many of the identical training rows behind each example can be left out or put back.
    """

    examples: IntArray
    copies: IntArray
    sign: int

    @property
    def size(self) -> int:
        """Total number of training rows that can be left out or put back."""
        return int(self.copies.sum())

    def box(self, upper: FloatArray, cost: FloatArray, batch: int) -> FloatArray:
        """Return the upper bounds of alpha after the first `batch` training rows are left out or put back.

        `upper` are the bounds before, and `cost` is the bound that one training row adds to its example.
        """
        taken = np.diff(np.minimum(np.cumsum(self.copies), batch), prepend=0)
        counts = np.rint(upper / cost)
        counts[self.examples] += self.sign * taken
        return np.asarray(counts * cost)


@dataclass(frozen=True, slots=True, eq=False)
class BoxRange:
    """For each example the number of training rows that a search may use (``allowed``) and must keep (``floor``)."""

    allowed: IntArray
    floor: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class ChangeOrders:
    """Three orders of examples: to leave out of a model, to put back into it, and to leave out of the first model."""

    leave_out: ChangeOrder
    put_back: ChangeOrder
    choose_anew: ChangeOrder


class Ranking:
    """Ranks examples by how much leaving them out narrows the gap on rows that guide the search, per unit of slack."""

    def __init__(
        self, problem: SvmProblem, watched: Watched, first_values: FloatArray, first: Measured, span: BoxRange
    ) -> None:
        self._problem, self._watched, self._first, self._span = problem, watched, first, span
        self._influence = Influence(problem, watched.rows.X)
        self._softness = SOFTNESS * float(first_values.std()) or 1.0

    def orders(self, solution: Solution, model: Model, values: FloatArray, price: float) -> ChangeOrders:
        """Return orders in which to leave examples out of a model or to put them back, most promising first.

        Examples are ranked by their first-order effect on the model's smoothed gap. `values` are the model's decision
        values, minus its cutoff, on the rows that guide the search; `price` is how much gap a unit of performance is
        worth.
        """
        problem = self._problem
        decided = model.decision_function(problem.X)
        slope = self._slope(solution.upper, decided, values, price)
        effect = self._influence.of_leaving_out(solution.upper, decided, slope)
        slack = np.maximum(0.0, problem.linear - problem.y * decided)
        inside, span = problem.counted(solution.upper), self._span
        worth, helps = effect / (slack + LEAST_SLACK), effect < -NOISE * np.abs(effect).max()
        return ChangeOrders(
            leave_out=_order(worth, helps & (solution.alpha > 0.0), inside - span.floor, -1),
            put_back=_order(-effect, ~helps, span.allowed - inside, 1),
            choose_anew=_order(worth, helps & (slack > NOISE), span.allowed - span.floor, -1),
        )

    def _slope(self, upper: FloatArray, decided: FloatArray, values: FloatArray, price: float) -> FloatArray:
        """Return the derivative of the gap plus penalties by the decision value of each row that guides the search.

        The penalties are -`price` times the performance and, for each limit of a guardrail, the limited quantity times
        the price of this limit (`Influence.prices`). `values` are the decision values of these rows, `decided` those of
        the training examples, and `upper` are the upper bounds of alpha.
        """
        watched, slope = self._watched, self._watched.slope(values, self._softness, price)
        limits = watched.limits(values, self._softness, self._first)
        gap = watched.standing(values)[0]
        if not limits.rooms.size or not gap > 0.0:
            return slope
        return np.asarray(slope + self._influence.prices(upper, decided, slope, OUTLOOK * gap, limits) @ limits.slopes)


def _order(key: FloatArray, useful: np.ndarray, copies: IntArray, sign: int) -> ChangeOrder:
    examples = np.flatnonzero(useful & (copies > 0))
    examples = examples[np.argsort(tied_ranks(key[examples]), kind="stable")]
    return ChangeOrder(examples, copies[examples], sign)


Stop = Literal["solves", "time", "exhausted", "caller"]
PRICES = (1.5, 2.0, 3.0)  # of performance, in units of gap; every predictor gets one turn with each
SMALLEST_BATCH = 64  # so many of the smallest batches make up the limit on examples left out
GROWTH = 2.0
REFINEMENTS = 3  # batches between those of a growing series, around the best of it
MOST_PATHS = 4  # examples whose removal paths are followed one after the other; more are solved at once
SOLVES, WORK = (20, 450), 8.5e4  # where no number of solves is given: how many, times the root of a problem's numbers


def usual_solves(numbers: int) -> int:
    """Return the default number of SVMs to solve, which falls with the `numbers` in the problem's table or kernel.

    On a table of a few hundred rows the search gains from the largest number; on thousands of rows half as many solves
    find nearly as much.
    """
    return affordable(math.isqrt(numbers), WORK, *SOLVES)


def limit_reached(
    solves: int, most_solves: int, started: float, seconds: float | None
) -> Literal["solves", "time"] | None:
    """Return the limit that a search has reached, of solves or of seconds since it started; None for neither."""
    if solves >= most_solves:
        return "solves"
    return "time" if seconds is not None and time.monotonic() - started >= seconds else None


@dataclass(slots=True, eq=False)
class _Node:
    """A solved SVM of the search: its scored model, and its merit, the quantity that the search minimises.

    ``values`` are its decision values on the rows that guide the search, ``records_out`` is the number of training rows
    left out. ``solution`` is None while its compact form is stored in ``parked``.
    """

    solution: Solution | None
    found: ScoredModel
    merit: float
    records_out: int
    values: FloatArray
    parked: object = None

    @property
    def decisions(self) -> bytes:
        """The model's decisions about the rows that guide the search, as bytes; equal for models that decide alike."""
        return (self.values >= 0.0).tobytes()


@dataclass(eq=False)
class GuidedSearch:
    """A guided search, as an iterator over the models that it finds within its bounds; `stopped` says why it ended.

    The first model is the best of all. The iteration may be stopped after any model.

    Parameters
    ----------
    workspace
        The problem, opened in a solver.
    watched
        The rows and the gap that guide the search.
    bounds
        The limits of the search.
    root
        The solution to start from, if known: with all training rows or with fewer. Rows left out there are left out of
        every model.
    floor
        For each example, the number of training rows that are never left out, at most as many as the root allows; 0 if
        not given.
    best
        The least loss on all examples, which losses are measured against; that of the root if not given. If the root
        itself loses more than the bounds allow, models may lose as much as it does.
    memory
        Bytes of solver states to keep; less costs time, never correctness.

    Attributes
    ----------
    solves, most_solves
        Number of SVMs solved so far, and the number after which the search stops.
    """

    workspace: CertifiedWorkspace
    watched: Watched
    bounds: Bounds = field(default_factory=Bounds)
    root: Solution | None = None
    floor: IntArray | None = None
    best: float | None = None
    memory: int = MEMORY_LIMIT
    stopped: Stop | None = None
    solves: int = 0

    def __post_init__(self) -> None:
        problem = self.problem
        self.most_solves = self.bounds.solves or usual_solves(problem.numbers)
        allowed = problem.copies if self.root is None else problem.counted(self.root.upper)
        self._span = BoxRange(allowed, np.zeros_like(allowed) if self.floor is None else self.floor)
        # examples that the root leaves out do not count against the limit
        self._room = int(self.bounds.left_out * int(allowed.sum())) + int((problem.copies - allowed).sum())
        self._seen = {allowed.tobytes()}
        self._nodes: list[_Node] = []
        self._ready: list[_Node] = []  # those whose solution is not parked, the oldest first, without the root
        self._turns: dict[bytes, int] = {}
        self._started = time.monotonic()
        self._first: Measured | None = None
        self._models = self._search()

    @property
    def problem(self) -> SvmProblem:
        """The SVM problem whose examples the search leaves out."""
        return self.workspace.problem

    def __iter__(self) -> Iterator[ScoredModel]:
        return self

    def __next__(self) -> ScoredModel:
        return next(found for found in self._models if found is not None)

    def advance(self, solves: int) -> list[ScoredModel]:
        """Continue until `solves` SVMs are solved in all or the search ends; return the models found meanwhile."""
        found: list[ScoredModel] = []
        while self.solves < solves and self.stopped is None:
            one = next(self._models, None)
            found += [] if one is None else [one]
        return found

    @property
    def front(self) -> list[ScoredModel]:
        """The Pareto front of the models found so far, as returned by the function `front`."""
        return front([node.found for node in self._nodes])  # empty if time ran out before the first was scored

    def _search(self) -> Iterator[ScoredModel | None]:
        solution = self.root or self.workspace.solve(self.problem.upper)
        root, self._room_of_states = self._scored(solution), ready_states(size_of(solution), self.memory)
        self._first = self.watched.against or self.watched.measured(root.values)
        self.solves = 1
        ranking = Ranking(self.problem, self.watched, root.values, self._first, self._span)
        self._most_loss = max(self.bounds.loss, root.found.model.loss_ratio)
        self._nodes.append(root)
        yield root.found
        if not root.found.gap > 0.0:
            self.stopped = "exhausted"  # there is no gap to reduce
        while self.stopped is None and (node := self._next()) is not None:
            for base, order in self._orders(ranking, node):
                yield from self._along(base, order)
        self.stopped = self.stopped or "exhausted"

    def _is_spent(self) -> bool:
        limit = limit_reached(self.solves, self.most_solves, self._started, self.bounds.seconds)
        self.stopped = limit or self.stopped
        return self.stopped is not None

    def _next(self) -> _Node | None:
        """Return the node to continue from, that of least merit (gap plus penalties); None if none is left.

        Ties go to the fewest training rows left out. Of models that decide alike only the one of least loss counts, as
        it is farthest from the limit.
        """
        best: dict[bytes, _Node] = {}
        for node in self._nodes:
            rival = best.setdefault(node.decisions, node)
            if node.found.model.loss_ratio < rival.found.model.loss_ratio - NOISE:
                best[node.decisions] = node
        waiting = [node for mark, node in best.items() if self._turns.get(mark, 0) < len(PRICES)]
        return min(waiting, key=lambda node: (round(node.merit, ROUNDING_DIGITS), node.records_out), default=None)

    def _orders(self, ranking: Ranking, node: _Node) -> Iterator[tuple[_Node, ChangeOrder]]:
        turn = self._turns.get(node.decisions, 0)
        self._turns[node.decisions] = turn + 1
        orders = ranking.orders(self._solution(node), node.found.model, node.values, PRICES[turn])
        yield node, orders.leave_out
        yield node, orders.put_back
        if node.records_out:
            yield self._nodes[0], orders.choose_anew

    def _along(self, node: _Node, order: ChangeOrder) -> Iterator[ScoredModel | None]:
        """Leave out or put back ever more rows in an order, then numbers near the best one; yield the models found."""
        most = min(order.size, self._room - node.records_out) if order.sign < 0 else order.size
        merits, batch = {0: node.merit}, max(1, self._room // SMALLEST_BATCH)
        while batch <= most:
            merit = yield from self._after(node, order, batch)
            if merit is None:
                most = batch  # larger batches lose even more
                break
            merits[batch] = merit
            batch = math.ceil(GROWTH * batch)
        for _ in range(REFINEMENTS):
            # of equals the largest: on discrete data a plane stays where it is until many examples are gone
            best = min(merits, key=lambda tried: (round(merits[tried], ROUNDING_DIGITS), -tried))
            above = min((tried for tried in merits if tried > best), default=most + 1)
            below = max((tried for tried in merits if tried < best), default=best)
            middle = (best + above) // 2 if above - best >= best - below else (best + below) // 2
            if middle in merits:
                return
            merit = yield from self._after(node, order, middle)
            merits[middle] = math.inf if merit is None else merit

    def _after(self, node: _Node, order: ChangeOrder, batch: int) -> Generator[ScoredModel | None, None, float | None]:
        """Yield the model after `batch` rows are left out or put back, or None if none is allowed; return its merit.

        None is yielded so that a caller may pause after every solve. The merit is infinite if there is no new model,
        and None if the model loses too much or the search has reached a limit.
        """
        upper = order.box(self._solution(node).upper, self.problem.cost, batch)
        if self._is_spent():
            return None
        child = self._child(node, upper)
        if child is None:
            yield None
            return math.inf
        if round(child.found.model.loss_ratio - self._most_loss, ROUNDING_DIGITS) > 0.0:
            yield None
            return None
        self._nodes.append(child)
        self._ready.append(child)
        self._park_states(node)
        yield child.found
        return child.merit

    def _park_states(self, node: _Node) -> None:
        """Store the oldest solutions, but not that of `node`, in compact form until the others fit into memory."""
        while len(self._ready) > self._room_of_states:
            oldest = self._ready.pop(1 if self._ready[0] is node else 0)
            oldest.parked, oldest.solution = self.workspace.park(self._solution(oldest)), None

    def _solution(self, node: _Node) -> Solution:
        if node.solution is None:
            box = read_only(node.found.model.kept * self.problem.cost)
            node.solution, node.parked = self.workspace.resume(node.parked, box), None
            self._ready.append(node)
        return node.solution

    def _child(self, node: _Node, upper: FloatArray) -> _Node | None:
        """Return the solved node of the box `upper`; None if it was seen before, has only one label, or no proof."""
        problem = self.problem
        mark = problem.counted(upper).tobytes()
        if mark in self._seen or len(np.unique(problem.y[upper > 0.0])) < 2:
            return None
        self._seen.add(mark)
        self.solves += 1
        try:
            start = self._solution(node)
            return self._scored(self._walked(start, upper) or self.workspace.solve(upper, start))
        except SolverError:  # one box of many: an answer that cannot be proven is no model
            return None

    def _walked(self, start: Solution, upper: FloatArray) -> Solution | None:
        """Return the solution in the box `upper` by paths; None unless few bounds change, each to below its alpha."""
        changed = np.flatnonzero(start.upper != upper)
        is_smaller = (start.alpha[changed] > upper[changed]).all()
        if not self.workspace.removes or len(changed) > MOST_PATHS or not is_smaller:
            return None
        solution: Solution | None = start
        for example in changed:
            if solution is not None:
                solution = self.workspace.remove(solution, int(example), float(upper[example])).tighten(-math.inf)
        return solution

    def _scored(self, solution: Solution) -> _Node:
        root = self._nodes[0].found if self._nodes else None
        best = root.model.objective if root else solution.certificate.objective
        model = model_of(self.problem, solution, self.solves, self.best or best)
        values = self.watched.values_of(model)
        found = self.watched.scored(model, values, self._first)
        merit = self.watched.merit(found, root or found, self.bounds.performance_drop)
        return _Node(solution, found, merit, sum(model.left_out.values()), values)
