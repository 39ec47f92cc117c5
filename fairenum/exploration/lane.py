"""Models of one box as they come, kept as far as they were asked for: taking a step back and again costs nothing.

What a lane holds depends on its box alone (and, for a guided one, on the tolerances), never on the way that led there.
So a record that is replayed meets the same models, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from fairenum.document.decision_record import StepEnd
from fairenum.document.terms import Distinctness
from fairenum.enumeration.found import Found, front
from fairenum.enumeration.guided import GuidedSearch
from fairenum.enumeration.model import Model
from fairenum.enumeration.search import WHOLE_COPY, Enumeration
from fairenum.errors import SolverError
from fairenum.problem import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Passed:
    """A support that the enumeration has passed.

    Attributes
    ----------
    mark
        What tells supports apart.
    decided
        What it decides about the audited rows, eight rows to a byte.
    nodes
        Boxes solved up to it.
    model
        None if one that decides alike was passed before: there can be thousands.
    """

    mark: bytes
    decided: bytes
    nodes: int
    model: Model | None


class Lane:
    """The models of one box, best first.

    Parameters
    ----------
    opened
        Opens the enumeration, the same one every time.
    decide
        Says what a model decides about the audited rows, eight rows to a byte.
    notion
        What counts as another model.
    """

    def __init__(
        self, opened: Callable[[], Enumeration], decide: Callable[[Model], bytes], notion: Distinctness
    ) -> None:
        self._opened, self._decide, self._notion = opened, decide, notion
        self._enumeration: Enumeration | None = None
        self._passed: list[Passed] = []
        self._known: set[bytes] = set()
        self.end: StepEnd | None = None

    def nodes(self, place: int) -> int:
        """Return how many boxes were solved up to a place."""
        return self._passed[place - 1].nodes if place else 0

    def at(self, place: int) -> Passed | None:
        """Return what was passed at a place, looking no further ahead; None if the lane ends before it."""
        while len(self._passed) <= place and self.end is None:
            self._advance()
        return self._passed[place] if place < len(self._passed) else None

    def _advance(self) -> None:
        enumeration = self._enumeration or self._caught_up()
        try:
            model = next(enumeration, None)
        except SolverError:
            self.end = "solver"  # what was passed stays; beyond it nothing can be proven
            raise
        except BaseException:
            self._enumeration = None  # an interrupted generator does not go on; a new one takes the same way
            raise
        self._enumeration = enumeration
        if model is None:
            self.end = "exhausted"
            return
        self._passed.append(self._noted(model, enumeration.nodes))

    def _caught_up(self) -> Enumeration:
        enumeration = self._opened()
        for _ in self._passed:
            next(enumeration)
        return enumeration

    def _noted(self, model: Model, nodes: int) -> Passed:
        decided = self._decide(model)
        is_repeated = self._notion == "predictions" and decided in self._known
        self._known.add(decided)
        return Passed(support_mark(model), decided, nodes, None if is_repeated else model)


class GuidedLane:
    """The models of a guided search within one box and under the same tolerances, and how far it has come."""

    def __init__(self, search: GuidedSearch) -> None:
        self._search = search
        self._found: list[Found] = []

    def advance(self, solves: int) -> None:
        """Go on until so many boxes are solved, unless that was done before, or the search ends."""
        self._found += self._search.advance(solves)

    def front(self, solves: int) -> tuple[list[Found], StepEnd | None]:
        """Return the models that none beats once so many boxes are solved, and whether the search has ended by then."""
        search = self._search
        known = [one for one in self._found if one.model.rank <= solves]
        return front(known), "exhausted" if search.stopped and search.solves <= solves else None


def support_mark(model: Model) -> bytes:
    """Return what tells the support of a model, and the copies that it uses, from others."""
    return blake2b(used_copies(model).tobytes(), digest_size=16).digest()


def used_copies(model: Model) -> IntArray:
    """Return how many copies of each example a model uses."""
    return np.ceil(model.alpha / model.problem.cost - WHOLE_COPY).astype(np.intp)
