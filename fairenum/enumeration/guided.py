"""Search for the fairest near-optimal model over the same lattice of left-out examples, guided by unfairness.

Best first finds near-copies of the optimum. This search walks towards less unfairness on watched rows instead: from a
model it ranks all examples by their first-order effect on the smoothed gap (`Influence`), leaves out ever larger
batches along that order, puts examples back that do harm outside, solves each box exactly, and goes on from the model
of least gap whose accuracy is in bounds. Every model is certified as in the enumeration, and its left-out examples are
the explanation.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from fairenum.enumeration.influence import Influence
from fairenum.enumeration.model import Model, model_of, proof
from fairenum.enumeration.unfairness import Watched
from fairenum.errors import ProblemError
from fairenum.problem import FloatArray, IntArray, SvmProblem
from fairenum.solvers.certified import CertifiedWorkspace
from fairenum.solvers.protocol import Solution

Stop = Literal["solves", "time", "exhausted", "caller"]

SOFTNESS = 0.5  # of the sigmoid, in standard deviations of the decision values of model 1
PRICES = (2.0, 4.0)  # of accuracy in units of gap: a model is expanded at the first, and later at the second
PENALTY = 4.0  # of accuracy lost beyond the bound, in units of gap
SMALLEST_BATCH = 64  # of them fill the bound on examples left out
GROWTH = 2.0
LEAST_SLACK = 0.3  # so that examples on the margin, which cost nothing, are not infinitely cheap
DISAPPOINTMENTS = 2  # batches in a row that make things worse before an order is given up
ROUNDING_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far the search may go.

    Parameters
    ----------
    loss
        Largest relative loss of objective against the best model.
    accuracy_drop
        Largest loss of accuracy on the watched rows against the best model; the search looks a little beyond it.
    left_out
        Largest share of the training records left out.
    solves
        Number of solved boxes.
    seconds
        Time; unlike the other bounds this one makes results depend on the machine.
    """

    loss: float = 0.05
    accuracy_drop: float = 0.01
    left_out: float = 0.2
    solves: int = 100
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("loss", "accuracy_drop", "left_out"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ProblemError(f"the bound on {name} must lie between 0 and 1, not {getattr(self, name)!r}")
        if self.solves < 1:
            raise ProblemError(f"the bound on solves must be at least 1, not {self.solves!r}")


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A model with what it does to the watched rows.

    Attributes
    ----------
    gap, accuracy
        On the watched rows: the search has looked at them, so both flatter.
    is_constant
        Whether it decides all of them alike.
    """

    model: Model
    gap: float
    accuracy: float
    is_constant: bool


@dataclass(slots=True, eq=False)
class _Node:
    """A solved box, and how often the search went on from it."""

    solution: Solution
    found: Found
    merit: float
    records_out: int
    values: FloatArray
    turns: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _Order:
    """Examples to leave out or to put back, most promising first, and how many copies of each there are."""

    examples: IntArray
    copies: IntArray
    sign: int

    def box(self, upper: FloatArray, cost: FloatArray, batch: int) -> FloatArray:
        """Return the box with the first `batch` copies left out or put back."""
        taken = np.diff(np.minimum(np.cumsum(self.copies), batch), prepend=0)
        counts = np.rint(upper / cost)
        counts[self.examples] += self.sign * taken
        return np.asarray(counts * cost)


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

    Attributes
    ----------
    solves
        Boxes solved so far.
    """

    workspace: CertifiedWorkspace
    watched: Watched
    bounds: Bounds = field(default_factory=Bounds)
    stopped: Stop | None = None
    solves: int = 0

    def __post_init__(self) -> None:
        problem = self.problem
        self._influence = Influence(problem, self.watched.X)
        self._room = int(self.bounds.left_out * int(problem.copies.sum()))
        self._seen = {problem.copies.tobytes()}
        self._nodes: list[_Node] = []
        self._started = time.monotonic()
        self._models = self._search()

    @property
    def problem(self) -> SvmProblem:
        """The problem whose examples are left out."""
        return self.workspace.problem

    def __iter__(self) -> Iterator[Found]:
        return self

    def __next__(self) -> Found:
        return next(self._models)

    @property
    def front(self) -> list[Found]:
        """The models so far that none equals or beats in objective, gap and accuracy together, best first."""
        return pareto_front([node.found for node in self._nodes])

    def _search(self) -> Iterator[Found]:
        root = self._root = self._solved(self.problem.upper, None)
        self._softness = SOFTNESS * float(root.values.std()) or 1.0
        self._nodes.append(root)
        yield root.found
        while self.stopped is None and (node := self._next()) is not None:
            for order in self._orders(node):
                yield from self._along(node, order)
        self.stopped = self.stopped or "exhausted"

    def _is_spent(self) -> bool:
        seconds = self.bounds.seconds
        if self.solves >= self.bounds.solves:
            self.stopped = "solves"
        elif seconds is not None and time.monotonic() - self._started >= seconds:
            self.stopped = "time"
        return self.stopped is not None

    def _next(self) -> _Node | None:
        """Choose the model to go on from: least merit, then fewest examples left out."""
        waiting = [node for node in self._nodes if node.turns < len(PRICES)]
        return min(waiting, key=lambda node: (round(node.merit, ROUNDING_DIGITS), node.records_out), default=None)

    def _orders(self, node: _Node) -> list[_Order]:
        """Rank what to leave out, by effect and by effect for the objective it costs, and what to put back."""
        problem, solution = self.problem, node.solution
        slope = self.watched.slope(node.values, self._softness, PRICES[node.turns])
        node.turns += 1
        decided = node.found.model.decision_function(problem.X)
        effect = self._influence.of_leaving_out(solution, decided, slope)
        slack = np.maximum(0.0, problem.linear - problem.y * decided)
        inside = np.rint(solution.upper / problem.cost).astype(np.intp)
        useful = (effect < 0.0) & (solution.alpha > 0.0)
        leave = [_order(key, useful, inside, -1) for key in (effect, effect / (slack + LEAST_SLACK))]
        return [*leave, _order(-effect, effect > 0.0, problem.copies - inside, 1)]

    def _along(self, node: _Node, order: _Order) -> Iterator[Found]:
        """Solve growing batches along an order until they leave the bounds or disappoint."""
        available = int(order.copies.sum())
        most = min(available, self._room - node.records_out) if order.sign < 0 else available
        batch, best, disappointments = max(1, self._room // SMALLEST_BATCH), node.merit, 0
        while batch <= most and disappointments < DISAPPOINTMENTS and not self._is_spent():
            child = self._child(node, order, batch)
            batch = math.ceil(GROWTH * batch)
            if child is None:
                continue
            if self._is_near(child):
                self._nodes.append(child)
                disappointments = disappointments + 1 if child.merit > best else 0
                best = min(best, child.merit)
                yield child.found
            elif order.sign < 0:
                return

    def _is_near(self, node: _Node) -> bool:
        best = self._root.found.model.objective
        return node.found.model.objective >= best - self.bounds.loss * abs(best)

    def _child(self, node: _Node, order: _Order, batch: int) -> _Node | None:
        """Solve the box after a batch; None if that was done before, or if it holds one label only."""
        problem = self.problem
        upper = order.box(node.solution.upper, problem.cost, batch)
        mark = np.rint(upper / problem.cost).astype(np.intp).tobytes()
        if mark in self._seen or len(np.unique(problem.y[upper > 0.0])) < 2:
            return None
        self._seen.add(mark)
        return self._solved(upper, node.solution)

    def _solved(self, upper: FloatArray, start: Solution | None) -> _Node:
        solution = self.workspace.solve(upper, start)
        self.solves += 1
        root = self._nodes[0].found if self._nodes else None
        best = root.model.objective if root else proof(solution)[0].objective
        model = model_of(self.problem, solution, self.solves, best)
        values = model.decision_function(self.watched.X)
        gap, accuracy, is_constant = self.watched.standing(values)
        least = (root.accuracy if root else accuracy) - self.bounds.accuracy_drop
        merit = gap + PENALTY * max(0.0, least - accuracy)
        return _Node(solution, Found(model, gap, accuracy, is_constant), merit, sum(model.left_out.values()), values)


def pareto_front(found: Sequence[Found]) -> list[Found]:
    """Keep the models that no other equals or beats in objective, gap and accuracy together.

    Constant models do not count. Of models that are equal in all three, the first stands for all.
    """
    usable = [one for one in found if not one.is_constant and not math.isnan(one.gap)]
    marks = np.round([[-one.model.objective, one.gap, -one.accuracy] for one in usable], ROUNDING_DIGITS)
    places = [
        place
        for place, mark in enumerate(marks)
        if not any(
            (other <= mark).all() and ((other < mark).any() or rival < place) for rival, other in enumerate(marks)
        )
    ]
    return sorted((usable[place] for place in places), key=lambda one: -one.model.objective)


def _order(key: FloatArray, useful: np.ndarray, copies: IntArray, sign: int) -> _Order:
    """Sort the useful examples by their key, the least first."""
    examples = np.flatnonzero(useful & (copies > 0))
    examples = examples[np.argsort(key[examples], kind="stable")]
    return _Order(examples, copies[examples], sign)
