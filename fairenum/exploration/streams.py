"""What solvers have done, kept: the answer to every box that was entered, and the models that follow it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from fairenum.auditing.guiding import NEEDS
from fairenum.auditing.preparing import Prepared
from fairenum.document.machine import Tolerances
from fairenum.enumeration.bounds import Bounds
from fairenum.enumeration.guided import GuidedSearch
from fairenum.enumeration.search import Enumeration, Limits
from fairenum.enumeration.unfairness import Watched
from fairenum.errors import ExplorationError
from fairenum.exploration.box import Box
from fairenum.exploration.lane import GuidedLane, Lane
from fairenum.exploration.scorer import Scorer
from fairenum.exploration.state import Shown
from fairenum.problem import Solution

NO_LIMIT = Limits(models=None)
MOST_SOLVES = 10**9  # of a guided search: whoever drives it says when to stop

GuidedKey = tuple[bytes, Tolerances]


class Streams:
    """The lanes of an exploration. Each depends on its box (and tolerances) alone, whatever way led there."""

    def __init__(self, prepared: Prepared, scorer: Scorer) -> None:
        self._prepared, self._scorer, training = prepared, scorer, prepared.training
        self._best = training.best.certificate.objective
        self._roots = {training.problem.copies.tobytes(): training.best}
        self._lanes: dict[bytes, Lane] = {}
        self._guided: dict[GuidedKey, GuidedLane] = {}

    def lane(self, box: Box) -> Lane:
        """Return the models of a box, best first."""
        if box.key not in self._lanes:
            workspace, root = self._prepared.training.workspace, self._root(box)
            opened = partial(Enumeration, workspace, NO_LIMIT, root=root, floor=box.floor, best=self._best)
            self._lanes[box.key] = Lane(opened, self._scorer.decided, self._prepared.config.distinct)
        return self._lanes[box.key]

    def guided(self, box: Box, tolerances: Tolerances, first: Shown) -> GuidedLane:
        """Return the models of a guided search within a box, steered by tolerances and guardrails."""
        key = (box.key, tolerances)
        if key not in self._guided:
            self._refuse_guiding()
            self._guided[key] = GuidedLane(self._search(box, tolerances, first))
        return self._guided[key]

    def nodes(self, places: Mapping[bytes, int]) -> int:
        """Return how many boxes were solved up to some places in the lanes."""
        return sum(self._lanes[key].nodes(place) for key, place in places.items())

    def _root(self, box: Box) -> Solution:
        """Solve a box from the answer to the whole problem, wherever one comes from: so it is the same every time."""
        key = box.allowed.tobytes()
        if key not in self._roots:
            training = self._prepared.training
            self._roots[key] = training.workspace.solve(box.upper(training.problem), training.best)
        return self._roots[key]

    def _search(self, box: Box, tolerances: Tolerances, first: Shown) -> GuidedSearch:
        bounds = Bounds(
            tolerances.eps,
            tolerances.max_performance_drop,
            self._prepared.config.max_left_out,
            MOST_SOLVES,
            training_loss=tolerances.max_loss,
        )
        workspace, watched = self._prepared.training.workspace, self._watched(tolerances, first)
        return GuidedSearch(workspace, watched, bounds, self._root(box), box.floor, self._best)

    def _watched(self, tolerances: Tolerances, first: Shown) -> Watched:
        """Watch the selection split, beside model 1 or the model in use: the best of a smaller box is neither."""
        division, found = self._prepared.division, self._prepared.incumbent
        watched = Watched(
            division.selection, tolerances.metric, tolerances.measure, self._scorer.point, tolerances.guardrails
        )
        if found is None or self._prepared.config.against != "incumbent":
            return watched.compared_with((first.values >= 0.0).astype(np.uint8), first.values)
        rows = division.rows["selection"]
        return watched.compared_with(found.bits[rows], found.values[rows])

    def _refuse_guiding(self) -> None:
        division = self._prepared.division
        if division.primary is None:
            raise ExplorationError(f"there is nothing to search for: {NEEDS['no_sensitive_column']}")
        if division.is_exploratory:
            raise ExplorationError(f"a guided search is not possible: {NEEDS['no_holdout']}")
