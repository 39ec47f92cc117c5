"""Search for the fairest near-optimal model over the same lattice of left-out examples, guided by unfairness.

Best first finds near-copies of the optimum. This search walks towards less unfairness on watched rows instead: from a
model it ranks all examples by their first-order effect on the smoothed gap (`Influence`) for the objective they cost,
leaves out ever larger batches along that order, puts examples back that do harm outside, chooses anew among all
examples by what the model has shown, solves each box exactly, and goes on from the model of least gap whose performance
is in bounds and which is within its guardrails: examples whose leaving out would run into one are ranked lower. Every
model is certified as in the enumeration, and its left-out examples are the explanation.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from fairenum.enumeration.bounds import Bounds
from fairenum.enumeration.found import ROUNDING_DIGITS, Found, front
from fairenum.enumeration.model import Model, model_of
from fairenum.enumeration.ranking import Order, Ranking, Span
from fairenum.enumeration.states import MEMORY_LIMIT, ready_states, size_of
from fairenum.enumeration.unfairness import Watched
from fairenum.errors import SolverError
from fairenum.problem import FloatArray, IntArray, Solution, SvmProblem, affordable, read_only
from fairenum.scoring.ties import NOISE
from fairenum.solvers.certified import CertifiedWorkspace

Stop = Literal["solves", "time", "exhausted", "caller"]

PRICES = (1.5, 2.0, 3.0)  # of performance, in units of gap; every predictor gets one turn with each
PENALTY = 4.0  # of performance lost beyond the bound, and of what is beyond a guardrail, in units of gap
SMALLEST_BATCH = 64  # of them fill the bound on examples left out
GROWTH = 2.0
REFINEMENTS = 3  # batches between those of a growing series, around the best of it
MOST_PATHS = 4  # examples whose removal paths are followed one after the other; more are solved at once
SOLVES, WORK = (20, 450), 8.5e4  # where no number of solves is given: how many, times the root of a problem's numbers


def usual_solves(numbers: int) -> int:
    """Return how many boxes to solve, given the numbers of a problem: fewer where each takes long.

    On a table of a few hundred rows the search can use the most; on one of thousands half as many find nearly as much.
    """
    return affordable(math.isqrt(numbers), WORK, *SOLVES)


@dataclass(slots=True, eq=False)
class _Node:
    """A solved box, whose solution may be parked: what it decides about the watched rows, and how to judge that."""

    solution: Solution | None
    found: Found
    merit: float
    records_out: int
    values: FloatArray
    parked: object = None

    @property
    def decisions(self) -> bytes:
        """What tells predictors apart."""
        return (self.values >= 0.0).tobytes()


@dataclass(eq=False)
class GuidedSearch:
    """An iterator over the models that the search solves within its bounds; `stopped` says why it ended.

    The first one is the best model of all, and any prefix is a valid answer.

    Parameters
    ----------
    workspace
        The problem, opened in a solver.
    watched
        The rows and the gap that guide the search.
    bounds
        How far it may go.
    root
        The workspace's answer to the whole problem, if it is known already; or to a smaller box, within which models
        are then searched.
    floor
        Copies of each example that every box keeps, of those that the root allows; none if not given.
    best
        What losses are measured against: the objective of the whole problem; that of the root if not given.
    memory
        Bytes of solver states to keep; less costs time, never correctness.

    Attributes
    ----------
    solves, most_solves
        Boxes solved so far, and after which the search stops.
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
        self._span = Span(allowed, np.zeros_like(allowed) if self.floor is None else self.floor)
        # what the root leaves out was not left out by the search
        self._room = int(self.bounds.left_out * int(allowed.sum())) + int((problem.copies - allowed).sum())
        self._seen = {allowed.tobytes()}
        self._nodes: list[_Node] = []
        self._ready: list[_Node] = []  # those whose solution is not parked, the oldest first, without the root
        self._turns: dict[bytes, int] = {}
        self._started = time.monotonic()
        self._first = self.watched.against
        self._models = self._search()

    @property
    def problem(self) -> SvmProblem:
        """The problem whose examples are left out."""
        return self.workspace.problem

    def __iter__(self) -> Iterator[Found]:
        return self

    def __next__(self) -> Found:
        return next(found for found in self._models if found is not None)

    def advance(self, solves: int) -> list[Found]:
        """Go on until so many boxes are solved, or the search ends, and return the models found on the way."""
        found: list[Found] = []
        while self.solves < solves and self.stopped is None:
            one = next(self._models, None)
            found += [] if one is None else [one]
        return found

    @property
    def front(self) -> list[Found]:
        """The models so far that none equals or beats; see `front`."""
        return front([node.found for node in self._nodes])  # none if it was cut before the first was judged

    def _search(self) -> Iterator[Found | None]:
        solution = self.root or self.workspace.solve(self.problem.upper)
        root, self._room_of_states = self._scored(solution), ready_states(size_of(solution), self.memory)
        self._first = self.watched.against or self.watched.measured(root.values)
        self.solves = 1
        ranking = Ranking(self.problem, self.watched, root.values, self._span)
        best = root.found.model.objective
        self._least_objective = best - self.bounds.loss * abs(best)
        self._nodes.append(root)
        yield root.found
        if not root.found.gap > 0.0:
            self.stopped = "exhausted"  # there is nothing to make smaller
        while self.stopped is None and (node := self._next()) is not None:
            for base, order in self._orders(ranking, node):
                yield from self._along(base, order)
        self.stopped = self.stopped or "exhausted"

    def _is_spent(self) -> bool:
        seconds = self.bounds.seconds
        if self.solves >= self.most_solves:
            self.stopped = "solves"
        elif seconds is not None and time.monotonic() - self._started >= seconds:
            self.stopped = "time"
        return self.stopped is not None

    def _next(self) -> _Node | None:
        """Choose the model to go on from: least merit, then fewest examples left out.

        Of models that decide alike, the one of the best objective stands for all: it has the most left to lose.
        """
        best: dict[bytes, _Node] = {}
        for node in self._nodes:
            rival = best.setdefault(node.decisions, node)
            if node.found.model.objective > (1.0 + NOISE) * rival.found.model.objective:
                best[node.decisions] = node
        waiting = [node for mark, node in best.items() if self._turns.get(mark, 0) < len(PRICES)]
        return min(waiting, key=lambda node: (round(node.merit, ROUNDING_DIGITS), node.records_out), default=None)

    def _orders(self, ranking: Ranking, node: _Node) -> Iterator[tuple[_Node, Order]]:
        """Say in which orders to change the boxes of which nodes, and count the turn of what this node decides."""
        turn = self._turns.get(node.decisions, 0)
        self._turns[node.decisions] = turn + 1
        orders = ranking.orders(self._solution(node), node.found.model, node.values, PRICES[turn])
        yield node, orders.leave_out
        yield node, orders.put_back
        if node.records_out:
            yield self._nodes[0], orders.choose_anew

    def _along(self, node: _Node, order: Order) -> Iterator[Found | None]:
        """Solve growing batches along an order, then look closer around the best of them."""
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

    def _after(self, node: _Node, order: Order, batch: int) -> Generator[Found | None, None, float | None]:
        """Solve the box after a batch and return its merit; None if it loses too much.

        A box that gives no model yields None: whoever drives the search may pause after every one.
        """
        upper = order.box(self._solution(node).upper, self.problem.cost, batch)
        if self._is_spent() or self._bound(node, upper) < self._least_objective:
            return None
        child = self._child(node, upper)
        if child is None:
            yield None
            return math.inf
        if child.found.model.objective < self._least_objective or self._loses_too_much(child.found.model):
            yield None
            return None
        self._nodes.append(child)
        self._ready.append(child)
        self._park_states(node)
        yield child.found
        return child.merit

    def _park_states(self, node: _Node) -> None:
        """Park the oldest states where there are too many, but for that of the model which the search goes on from."""
        while len(self._ready) > self._room_of_states:
            oldest = self._ready.pop(1 if self._ready[0] is node else 0)
            oldest.parked, oldest.solution = self.workspace.park(self._solution(oldest)), None

    def _solution(self, node: _Node) -> Solution:
        if node.solution is None:
            box = read_only(node.found.model.kept * self.problem.cost)
            node.solution, node.parked = self.workspace.resume(node.parked, box), None
            self._ready.append(node)
        return node.solution

    def _loses_too_much(self, model: Model) -> bool:
        most = self.bounds.training_loss
        return most is not None and round(model.loss_ratio - most, ROUNDING_DIGITS) > 0.0

    def _bound(self, node: _Node, upper: FloatArray) -> float:
        """Bound the objective of a smaller box without solving it: what its slack no longer costs is lost."""
        solution = self._solution(node)
        freed = solution.upper - upper
        return solution.certificate.bound - float(freed @ solution.slack) if (freed >= 0.0).all() else math.inf

    def _child(self, node: _Node, upper: FloatArray) -> _Node | None:
        """Solve a box; None if it was seen before, holds one label only, or has no proven answer."""
        problem = self.problem
        mark = problem.counted(upper).tobytes()
        if mark in self._seen or len(np.unique(problem.y[upper > 0.0])) < 2:
            return None
        self._seen.add(mark)
        self.solves += 1
        try:
            start = self._solution(node)
            return self._scored(self._walked(start, upper) or self.workspace.solve(upper, start))
        except SolverError:  # one box of many: what cannot be proven is no model
            return None

    def _walked(self, start: Solution, upper: FloatArray) -> Solution | None:
        """Follow removal paths to a box that is smaller in a few used examples; None if it is not like that."""
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
        values = model.decision_function(self.watched.rows.X)
        values = self.watched.point.cut(values).centred(values)
        gap, performance, is_constant = self.watched.standing(values)
        least = self.watched.floor(root.performance if root else performance, self.bounds.performance_drop)
        excess = self._excess(values)
        merit = math.inf if math.isnan(gap) else gap + PENALTY * (max(0.0, least - performance) + excess)
        found = Found(model, gap, performance, is_constant, excess)
        return _Node(solution, found, merit, sum(model.left_out.values()), values)

    def _excess(self, values: FloatArray) -> float:
        """Return how far a model is beyond the guardrails, all together."""
        watched = self.watched
        if not watched.guards:
            return 0.0
        measured = watched.measured(values)
        return float(measured.excess(watched.guards, self._first or measured).sum())
