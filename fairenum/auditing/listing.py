"""The models of an audit: enumerated, told apart by their decisions, and interrupted without loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fairenum.auditing.estimate import scoring_seconds
from fairenum.auditing.training import Training
from fairenum.budget import NEVER, Deadline, OutOfTime, checkpoint, how_ended
from fairenum.dataset import Groups
from fairenum.document.audit_config import AuditConfig
from fairenum.document.deciding import Decide
from fairenum.document.models import MarginTies
from fairenum.document.terms import ListingEnd, Origin, Part
from fairenum.enumeration.distinct import DistinctModels
from fairenum.enumeration.model import Model, model_of
from fairenum.enumeration.search import Enumeration, Limits
from fairenum.errors import SolverError
from fairenum.experiment import PARTS, Division, operating_point
from fairenum.matrices import distinct, stacked
from fairenum.problem import FloatArray, IntArray
from fairenum.progress import Progress
from fairenum.scoring import Decisions
from fairenum.scoring.operating import Cut, Operating, OperatingPoint


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """The models, best first, and how they were found.

    Attributes
    ----------
    origins
        How each was found: exact, guided or tilted.
    sizes
        How many supports decide as each model does; 1 for one that was searched for, as nobody counted.
    point, cuts
        Where models are cut, and where that is for each of them.
    values
        Decision values by split, shape (models, rows), minus the cut: what is at least 0 is favourable.
    stopped
        Why the enumeration ended.
    ties
        Why most supports repeat the decisions of another, if they do.
    audited_rows
        Rows whose decisions tell models apart.
    """

    models: tuple[Model, ...]
    origins: tuple[Origin, ...]
    sizes: tuple[int, ...]
    point: OperatingPoint
    cuts: tuple[Cut, ...]
    values: dict[Part, FloatArray]
    stopped: ListingEnd
    nodes: int
    ties: MarginTies | None
    audited_rows: int

    def taken(self, places: IntArray) -> Listing:
        """Keep some of the models, in their order."""
        return replace(
            self,
            models=tuple(self.models[place] for place in places),
            origins=tuple(self.origins[place] for place in places),
            sizes=tuple(self.sizes[place] for place in places),
            cuts=tuple(self.cuts[place] for place in places),
            values={part: values[places] for part, values in self.values.items()},
        )

    @property
    def objective_ratio(self) -> FloatArray:
        """Objective of each model as a share of that of model 1; NaN for a tilted one, which has none."""
        first = self.models[0].objective
        return np.array([np.nan if model.tilt else model.objective / first for model in self.models])

    @property
    def loss_ratio(self) -> FloatArray:
        """Loss of each model on all training examples, against that of model 1, minus 1."""
        return np.array([model.loss_ratio for model in self.models])

    def uncut(self, part: Part) -> FloatArray:
        """Return the decision values of a split as the models give them."""
        return np.asarray(self.values[part] + np.array([[cut.value] for cut in self.cuts]))

    def decisions(self, division: Division, part: Part, column: str | None) -> Decisions:
        """Return what the models decide about a split, with the groups of a column, or everyone in one."""
        decisions, rows = division.part(part).decisions(self.values[part]), division.rows[part]
        if column is None:
            return replace(decisions, groups=Groups.everyone(len(rows)))
        return replace(decisions, groups=next(one for one in division.columns if one.column == column).take(rows))


def enumerate_models(
    division: Division, training: Training, config: AuditConfig, progress: Progress, deadline: Deadline = NEVER
) -> Listing:
    """List the near-optimal models; what has been found when the user interrupts, or at a deadline, is kept.

    Models are told apart on the rows whose decisions are audited, by their features alone: no label of the selection
    split or the holdout has a say.
    """
    audited = distinct(stacked([division.part(part).X for part in PARTS]))
    limits = Limits(None, config.eps, training.max_nodes)
    enumeration = Enumeration(training.workspace, limits, root=training.best)
    k = 1 if config.search == "guided" else config.k
    point = replace(operating_point(Decide.of(config.decide), division.train), weights=division.selection.weights)
    operating = None if point.is_sign else Operating(point, division.selection.X)
    stream = DistinctModels(
        enumeration, config.distinct, audited, k, config.min_difference, training.patience, operating
    )
    later = partial(deadline.bring_forward, scoring_seconds(division))
    models, ended = _collect(stream, k, progress, later)
    if not models:
        models = [model_of(training.problem, training.best, 1, training.best.certificate.objective)]
    cuts, values = cut_values(models, division, point)
    return Listing(
        models=tuple(models),
        origins=tuple("exact" for _ in models),
        sizes=tuple(stream.sizes[: len(models)]) or (1,),
        point=point,
        cuts=cuts,
        values=values,
        stopped=ended or stream.stopped or "caller",
        nodes=enumeration.nodes,
        ties=None if ended == "interrupted" else stream.ties,  # which nobody waits for any more
        audited_rows=sum(len(division.rows[part]) for part in PARTS),
    )


def cut_values(
    models: list[Model], division: Division, point: OperatingPoint
) -> tuple[tuple[Cut, ...], dict[Part, FloatArray]]:
    """Cut models by the selection split, and return their decision values on both, shape (models, rows)."""
    values = {part: [model.decision_function(division.part(part).X) for model in models] for part in PARTS}
    cuts = tuple(map(point.cut, values["selection"]))
    centred = {
        part: np.array([cut.centred(row) for cut, row in zip(cuts, values[part], strict=True)]) for part in PARTS
    }
    return cuts, centred


def _collect(
    stream: DistinctModels, k: int, progress: Progress, later: Callable[[], None]
) -> tuple[list[Model], ListingEnd | None]:
    """Take models until the stream ends, time is over, the user interrupts, or the solver fails; say which.

    What was proven by then stays proven. Every model also takes time later, when it is scored.
    """
    models: list[Model] = []
    progress("enumerate", 0, k)
    try:
        for model in stream:
            models.append(model)
            progress("enumerate", len(models), k)
            later()
            if len(models) < k:
                checkpoint()
    except SolverError:
        if not models:
            raise
        return models, "solver"
    except (KeyboardInterrupt, OutOfTime) as reason:
        return models, how_ended(reason)
    return models, None
