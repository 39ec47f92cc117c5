"""The smallest part of what a model leaves out that still gives most of what it gains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fairenum.budget import OutOfTime
from fairenum.enumeration.model import Model, model_of
from fairenum.errors import SolverError
from fairenum.problem import FloatArray, Solution, SvmProblem
from fairenum.solvers.certified import CertifiedWorkspace

Gain = Callable[[Model], float]


@dataclass(frozen=True, slots=True, eq=False)
class Core:
    """A model that leaves out a part of what another one does, solved and certified, and its share of the gain."""

    model: Model
    share: float
    solves: int


class _Parts:
    """Models that leave out parts of what one model leaves out, solved one after the other up to a limit."""

    def __init__(
        self, workspace: CertifiedWorkspace, whole: Model, gain: Gain, most: int, root: Solution | None
    ) -> None:
        self._workspace, self._whole, self._gain, self._left = workspace, whole, gain, most
        self._start = root or workspace.solve()
        self._best = self._start.certificate.objective
        self.solves = 1

    @property
    def is_spent(self) -> bool:
        return self.solves >= self._left

    def tried(self, examples: Sequence[int]) -> tuple[Model, float]:
        """Solve with these examples left out, as many copies of each as the whole model leaves out."""
        problem: SvmProblem = self._workspace.problem
        counts = problem.copies.astype(np.float64)
        for example in examples:
            counts[example] -= self._whole.left_out[example]
        self._start = self._workspace.solve(counts * problem.cost, self._start)
        self.solves += 1
        model = model_of(problem, self._start, self.solves, self._best)
        return model, self._gain(model)


def smallest_core(
    workspace: CertifiedWorkspace,
    model: Model,
    gain: Gain,
    effects: FloatArray,
    share: float = 0.8,
    most_solves: int = 60,
    root: Solution | None = None,
) -> Core:
    """Look for the fewest of the left-out examples whose leaving out alone gives a share of the model's gain.

    Parameters
    ----------
    workspace
        The problem, opened in a solver.
    model
        The model whose left-out examples are to be thinned out.
    gain
        What a model gains; more is better, and `model` gains something.
    effects
        How much each example of the problem is thought to contribute: the least is put back first.
    share
        How much of the gain is to be kept.
    most_solves
        Where to stop; the answer is then small, but perhaps not the smallest to be found.
    root
        The workspace's answer to the whole problem, if it is known already.

    Returns
    -------
    Core
        From which no example can be put back, nor any tried run of them, without losing too much: a minimum by
        inclusion, unless `most_solves` was reached or time was over.
    """
    parts, whole = _Parts(workspace, model, gain, most_solves, root), gain(model)
    kept = sorted(model.left_out, key=lambda example: (-effects[example], example))
    found, gained, run = model, whole, len(kept)
    while run and not parts.is_spent:
        run = max(run // 2, 1)
        shrunk = False
        for end in range(len(kept), 0, -run):  # the least important stand last, and are put back first
            trial = kept[: max(end - run, 0)] + kept[end:]
            if not trial or parts.is_spent:
                continue
            try:
                candidate, value = parts.tried(trial)
            except SolverError:  # one box of many: what cannot be proven is no core
                continue
            except OutOfTime:
                return Core(found, gained / whole if whole else 1.0, parts.solves)
            if value >= share * whole:
                kept, found, gained, shrunk = trial, candidate, value, True
        if run == 1 and not shrunk:
            break
    return Core(found, gained / whole if whole else 1.0, parts.solves)
