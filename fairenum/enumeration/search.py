"""Exact best-first enumeration of models by the training rows they leave out (Lawler's scheme), evaluated lazily.

An example stands for identical training rows, its copies. A node of the search tree is a box, which says how many
copies of each example are allowed, with a floor, which says how many of them all nodes below must keep. Each child of a
solved node allows one copy fewer of one support vector than the node's solution uses, and must keep the support vectors
that are costlier to leave out. So no box is visited twice, and the cheap subtrees, which are visited first, are the
small ones. A child enters the heap with an upper bound on its objective instead of a solution, and is worked on only
while this bound is the best on the heap. A model is reported when its objective is exact and the best on the heap.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

import numpy as np

from fairenum.document.terms import EnumerationEnd
from fairenum.enumeration.model import Model, model_of
from fairenum.solvers.certified import CertifiedWorkspace
from fairenum.solvers.protocol import Removal
from fairenum.svm.certificate import Copies, child_bounds
from fairenum.svm.problem import FloatArray, IntArray, Solution, SvmProblem, read_only

MEMORY_LIMIT = 512 * 2**20  # bytes of solver states
STRETCHED = 4  # times the limit is allowed for a few large states: compressing and restoring them takes too long
FEW, FEWEST = 64, 16  # states to keep if the stretched limit allows it, and in any case
VECTORS, NUMBER = 8, 8  # vectors of n numbers that one state may hold, and bytes of a number


def size_of(solution: Solution) -> int:
    """Return the approximate bytes of the state that a solver keeps for a solution."""
    inside = int(np.count_nonzero((solution.alpha > 0.0) & (solution.alpha < solution.upper)))
    return state_bytes(len(solution.alpha), inside)


def state_bytes(examples: int, inside: int) -> int:
    """Return the approximate bytes that a solver keeps for one solution with `inside` examples in the margin set."""
    return NUMBER * (VECTORS * examples + (inside + 1) ** 2)


def ready_states(size: int, memory: int = MEMORY_LIMIT) -> int:
    """Return how many solver states to keep ready, given the bytes of one; a few large ones may exceed `memory`."""
    return max(memory // size, min(FEW, STRETCHED * memory // size), FEWEST)


# An alpha within this share of a multiple of its cost uses exactly that many copies.
WHOLE_COPY = 1e-9

# Bounds within this share of the best objective are ties: their order cannot be certified.
TIE = 1e-13


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of an enumeration; the first limit that is reached ends it.

    Parameters
    ----------
    models
        Number of models.
    loss
        Largest relative loss of objective against the best model.
    nodes
        Number of SVMs solved.
    seconds
        Running time in seconds.
    """

    models: int | None = 50
    loss: float | None = None
    nodes: int | None = None
    seconds: float | None = None


@dataclass(slots=True, eq=False)
class _Node:
    """A solved box of the search tree, with its solution and, for each example, three numbers of training rows.

    ``allowed`` is how many rows the box allows, ``used`` how many the solution needs to hold alpha, and ``floor`` how
    many all boxes below this one must keep. ``solution`` is None while its compact form is stored in ``parked``.
    """

    allowed: Copies
    used: Copies
    floor: Copies
    solution: Solution | None
    parked: object = None


@dataclass(slots=True, eq=False)
class _Siblings:
    """The children of a search node, best bound on the objective first; those from index ``place`` are not started."""

    node: _Node
    examples: IntArray
    copies: Copies
    bounds: FloatArray
    place: int = 0


@dataclass(slots=True, eq=False)
class _Child:
    """A child of a search node that is being solved; ``removal`` is the solver's progress, or None to begin again."""

    siblings: _Siblings
    place: int
    bound: float
    removal: Removal[Solution] | None = None

    @property
    def node(self) -> _Node:
        return self.siblings.node  # the parent


@dataclass(eq=False)
class Enumeration:
    """An iterator over the models of a problem, best first; `stopped` says why it ended.

    Parameters
    ----------
    workspace
        The problem, opened in a solver.
    limits
        When to stop.
    memory
        Bytes of solver states to keep; less costs time, never correctness.
    root
        The solution to start from, if known: with all training rows or with fewer. Rows left out there are left out of
        every model.
    floor
        For each example, the number of training rows that are never left out, at most as many as the root allows; 0 if
        not given.
    best
        The objective that losses are measured against; that of the root if not given.
    """

    workspace: CertifiedWorkspace
    limits: Limits = field(default_factory=Limits)
    memory: int = MEMORY_LIMIT
    root: Solution | None = None
    floor: IntArray | None = None
    best: float | None = None
    stopped: EnumerationEnd | None = None
    nodes: int = 0

    def __post_init__(self) -> None:
        self._heap: list[tuple[int, int, int, float, _Node | _Siblings | _Child]] = []
        self._best = self._tie = 0.0
        self._order = itertools.count(0, -1)
        self._counts = np.min_scalar_type(int(self.problem.copies.max()))
        self._room = self._ready = 0  # states to keep, and states made or resumed since some were parked
        self._models = self._search()

    @property
    def problem(self) -> SvmProblem:
        """The SVM problem whose models are enumerated."""
        return self.workspace.problem

    def __iter__(self) -> Iterator[Model]:
        return self

    def __next__(self) -> Model:
        return next(self._models)

    def close(self) -> None:
        """Stop the enumeration at the caller's request; `stopped` becomes "caller" unless it has ended before."""
        self._models.close()
        self._heap.clear()
        self.stopped = self.stopped or "caller"

    def _search(self) -> Generator[Model, None, None]:
        started = time.monotonic()
        problem = self.problem
        root = self.root or self.workspace.solve(problem.upper)
        self._room = ready_states(size_of(root), self.memory)
        best = root.certificate.objective
        self._best, self._tie = best, max(TIE * abs(best), np.finfo(float).tiny)
        floor = np.zeros(problem.size, self._counts) if self.floor is None else self.floor.astype(self._counts)
        self._push(best, self._node(root, np.rint(root.upper / problem.cost).astype(self._counts), floor))
        seen: set[bytes] = set()
        previous = math.inf
        while self._heap:
            *_, bound, item = heapq.heappop(self._heap)
            if (reason := self._limit_reached(bound, best, len(seen), started)) is not None:
                self.stopped = reason
                return
            if isinstance(item, _Node):
                solution = self._solution(item)
                if (mark := item.used.tobytes()) not in seen:
                    seen.add(mark)
                    model = model_of(self.problem, solution, len(seen), self.best or best, previous)
                    previous = model.objective
                    yield model
                self._push_children(item, solution, bound)
            elif isinstance(item, _Siblings):
                self._start_child(item)
            else:
                self._work_on(item)
            if self._ready > self._room:
                self._park_states()
        self.stopped = "exhausted"

    def _limit_reached(self, bound: float, best: float, found: int, started: float) -> EnumerationEnd | None:
        limits = self.limits
        if found == 0:
            return None  # the best model is always reported
        if limits.models is not None and found >= limits.models:
            return "models"
        if limits.loss is not None and bound < best - limits.loss * abs(best):
            return "objective"
        if limits.nodes is not None and self.nodes >= limits.nodes:
            return "nodes"
        if limits.seconds is not None and time.monotonic() - started >= limits.seconds:
            return "time"
        return None

    def _push(self, bound: float, item: _Node | _Siblings | _Child, turn: int = 1) -> None:
        """Queue an item, best bound on the objective first; ties go to the lower `turn`, then to the latest item."""
        loss = round((self._best - bound) / self._tie)
        heapq.heappush(self._heap, (loss, turn, next(self._order), bound, item))

    def _park_states(self) -> None:
        """Store all but the most promising solutions in compact form; they are restored when their turn comes."""
        queue = [item for *_, item in sorted(self._heap)]
        nodes = [item if isinstance(item, _Node) else item.node for item in queue]
        self._ready = self._room // 2
        kept = {id(node) for node in nodes[: self._ready]}
        for item, node in zip(queue[self._ready :], nodes[self._ready :], strict=True):
            if isinstance(item, _Child):
                item.removal = None
            if node.solution is not None and id(node) not in kept:
                node.parked, node.solution = self.workspace.park(node.solution), None

    def _next_bound(self) -> float:
        """Return an upper bound on the objectives of all items in the queue; -inf if it is empty."""
        return self._heap[0][3] + self._tie if self._heap else -math.inf

    def _node(self, solution: Solution, allowed: Copies, floor: Copies) -> _Node:
        used = np.ceil(solution.alpha / self.problem.cost - WHOLE_COPY)
        return _Node(allowed, used.astype(self._counts), floor, solution)

    def _push_children(self, node: _Node, solution: Solution, bound: float) -> None:
        """Queue the children of a node one at a time: the next child enters the heap when the one before leaves it.

        `bound` is the parent's bound on the objective. If rounding has raised a child's bound above it, the child gets
        the parent's bound, so that tied children wait for their turn.
        """
        examples, copies, bounds = child_bounds(
            node.used, node.floor, self.problem.cost, solution.alpha, solution.upper, solution.slack,
            solution.certificate.bound, self._best, self._tie,
        )  # fmt: skip
        if len(examples):
            bounds = np.minimum(bounds, bound)
            self._push(float(bounds[0]), _Siblings(node, examples, copies, bounds))

    def _start_child(self, siblings: _Siblings) -> None:
        place = siblings.place
        siblings.place += 1
        if siblings.place < len(siblings.examples):
            self._push(float(siblings.bounds[siblings.place]), siblings)
        self._work_on(_Child(siblings, place, float(siblings.bounds[place])))

    def _work_on(self, child: _Child) -> None:
        """Tighten the bound on a child's objective until the child is solved or is no longer the best on the heap."""
        removal = self._removal(child)
        self._ready += 1
        solution = removal.tighten(self._next_bound() - 2.0 * self._tie)
        if solution is None:
            child.bound = min(child.bound, removal.bound)
            self._push(child.bound, child)
            return
        child.removal = None
        self.nodes += 1
        node = self._node(solution, *self._counts_of(child))
        if np.count_nonzero(node.used):
            # An answer that uses less than its floor is also found elsewhere: among ties it comes last.
            turn = 2 if np.count_nonzero(node.used < node.floor) else 0
            self._push(min(child.bound, removal.bound), node, turn)

    def _counts_of(self, child: _Child) -> tuple[Copies, Copies]:
        """Return how many training rows of each example a child allows, and how many all boxes below it must keep."""
        siblings, place = child.siblings, child.place
        allowed, floor = siblings.node.allowed.copy(), siblings.node.floor.copy()
        allowed[siblings.examples[place]] = siblings.copies[place] - 1
        floor[siblings.examples[place + 1 :]] = siblings.copies[place + 1 :]
        return allowed, floor

    def _removal(self, child: _Child) -> Removal[Solution]:
        if child.removal is None:
            siblings = child.siblings
            example = int(siblings.examples[child.place])
            box = float(self.problem.cost[example] * (int(siblings.copies[child.place]) - 1))
            child.removal = self.workspace.remove(self._solution(siblings.node), example, box)
        return child.removal

    def _solution(self, node: _Node) -> Solution:
        if node.solution is None:
            box = read_only(node.allowed * self.problem.cost)
            node.solution, node.parked = self.workspace.resume(node.parked, box), None
            self._ready += 1
        return node.solution
