"""The box within which models are searched: which training rows every one leaves out, and which every one keeps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fairenum.auditing.training import Training
from fairenum.dataset import Dataset
from fairenum.enumeration.model import Model
from fairenum.errors import ExplorationError
from fairenum.experiment import Division
from fairenum.exploration.lane import used_copies
from fairenum.problem import FloatArray, IntArray, SvmProblem, read_only


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """How many copies of each example are allowed, and how many of these every model keeps."""

    allowed: IntArray
    floor: IntArray

    @property
    def key(self) -> bytes:
        """What tells boxes apart."""
        return self.allowed.tobytes() + self.floor.tobytes()

    def holds(self, model: Model) -> bool:
        """Tell whether a model is one of the box: it uses no more than is allowed, and leaves out nothing to be kept.

        What it leaves out beside that it may as well not: it would be the same model.
        """
        problem = model.problem
        kept = problem.copies.copy()
        for example, copies in model.left_out.items():
            kept[example] -= copies
        return bool((used_copies(model) <= self.allowed).all() and (kept >= self.floor).all())

    def upper(self, problem: SvmProblem) -> FloatArray:
        """Return the box as solvers know it."""
        return read_only(self.allowed * problem.cost)


class TrainingRows:
    """The training rows as their owner counts them, and the examples that they are copies of."""

    def __init__(self, division: Division, training: Training) -> None:
        self._dataset, self._problem = division.dataset, training.problem
        self._example = {
            number: example
            for example, records in enumerate(training.records)
            for number in division.dataset.numbered(records).tolist()
        }

    def checked(self, rows: Iterable[int]) -> tuple[int, ...]:
        """Return row numbers in order, each once; refuse what is no training row."""
        found = sorted({int(row) for row in rows})
        if not found:
            raise ExplorationError("no row was named; give the numbers of training rows, counted from 0")
        for row in found:
            if row not in self._example:
                raise ExplorationError(f"row {row} {self._why_not(self._dataset, row)}; only those can stay or go")
        return tuple(found)

    @staticmethod
    def _why_not(dataset: Dataset, row: int) -> str:
        return "is no row of the table" if dataset.placed(row) is None else "is no training row"

    def box(self, left_out: frozenset[int], pinned: frozenset[int]) -> Box:
        """Return the box that leaves some rows out and keeps others; refuse one without rows of both labels."""
        copies = self._problem.copies
        allowed, floor = copies - self._counted(left_out), self._counted(pinned)
        if len(np.unique(self._problem.y[allowed > 0])) < 2:
            raise ExplorationError("no training row of one label would be left; leave out fewer rows")
        return Box(allowed, floor)

    def _counted(self, rows: frozenset[int]) -> IntArray:
        examples = np.array([self._example[row] for row in sorted(rows)], dtype=np.intp)
        return np.bincount(examples, minlength=self._problem.size).astype(np.intp)
