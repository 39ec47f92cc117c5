"""The models of an audit: enumerated, told apart by their decisions, and interrupted without loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fairenum.audit.config import AuditConfig
from fairenum.audit.preparation import PARTS, Part, Prepared, Progress, Training
from fairenum.enumeration.distinct import DistinctModels
from fairenum.enumeration.model import Model
from fairenum.enumeration.search import Enumeration, Limits
from fairenum.enumeration.unfairness import Watched
from fairenum.errors import SolverError
from fairenum.problem import FloatArray, IntArray
from fairenum.scoring import Decisions, Gap, Groups
from fairenum.solvers.registry import open_workspace

Origin = Literal["exact", "guided"]

EVERYONE = "everyone"


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """The models, best first, and how they were found.

    Attributes
    ----------
    origins
        How each was found: exact or guided.
    sizes
        How many supports decide as each model does; 1 for a guided one, as nobody counted.
    values
        Decision values by split, shape (models, rows).
    stopped
        Why the enumeration ended.
    audited_rows
        Rows whose decisions tell models apart.
    """

    models: tuple[Model, ...]
    origins: tuple[Origin, ...]
    sizes: tuple[int, ...]
    values: dict[Part, FloatArray]
    stopped: str
    nodes: int
    note: str
    audited_rows: int

    @property
    def objective_ratio(self) -> FloatArray:
        """Objective of each model as a share of that of model 1."""
        objectives = np.array([model.objective for model in self.models])
        return np.asarray(objectives / objectives[0])

    def decisions(self, prepared: Prepared, part: Part, column: str | None) -> Decisions:
        """Return what the models decide about a split, with the groups of a column, or everyone in one."""
        predictions = (self.values[part] >= 0.0).astype(np.uint8)
        rows = prepared.rows[part]
        return Decisions(predictions, _labels(prepared, rows), _groups(prepared, rows, column))


def _labels(prepared: Prepared, rows: IntArray) -> NDArray[np.uint8]:
    return prepared.dataset.y[rows].astype(np.uint8)


def _groups(prepared: Prepared, rows: IntArray, column: str | None) -> Groups:
    """Return the groups of some rows by a column, or everyone in one."""
    if column is None:
        return Groups(np.zeros(len(rows), dtype=np.intp), (EVERYONE,))
    named = {groups.column: groups for groups in prepared.columns}
    return Groups(named[column].codes[rows], named[column].names)


def watched_rows(prepared: Prepared, part: Part, metric: Gap) -> Watched:
    """Return a split as it is watched for a gap between the groups of the primary column."""
    return rows_of(prepared, prepared.audited[part], prepared.rows[part], metric)


def rows_of(prepared: Prepared, X: FloatArray, rows: IntArray, metric: Gap) -> Watched:
    """Return some encoded rows with their labels and their groups by the primary column."""
    column = prepared.primary.column if prepared.primary else None
    return Watched(X, _labels(prepared, rows), _groups(prepared, rows, column), metric)


def enumerate_models(prepared: Prepared, training: Training, config: AuditConfig, progress: Progress) -> Listing:
    """List the near-optimal models; what an interrupted enumeration has found by then is kept.

    Models are told apart on the rows whose decisions are audited, by their features alone: no label of the selection
    split or the holdout has a say.
    """
    audited = np.unique(np.vstack([prepared.audited[part] for part in PARTS]), axis=0)
    limits = Limits(None, config.eps, training.max_nodes, config.max_seconds)
    enumeration = Enumeration(open_workspace(config.solver, training.problem), limits)
    k = 1 if config.search == "guided" else config.k
    stream = DistinctModels(enumeration, config.distinct, audited, k, config.min_difference, config.patience)
    models, ended = _collect(stream, k, progress)
    return Listing(
        models=tuple(models),
        origins=tuple("exact" for _ in models),
        sizes=tuple(stream.sizes[: len(models)]),
        values={
            part: np.array([model.decision_function(prepared.audited[part]) for model in models]) for part in PARTS
        },
        stopped=ended or str(stream.stopped),
        nodes=enumeration.nodes,
        note=stream.note,
        audited_rows=sum(len(prepared.rows[part]) for part in PARTS),
    )


def _collect(stream: DistinctModels, k: int, progress: Progress) -> tuple[list[Model], str]:
    """Take models until the stream ends, the user interrupts, or the solver fails; say which, if not the first.

    What was proven by then stays proven. Without a single model there is nothing to keep.
    """
    models: list[Model] = []
    progress("enumerate", 0, k)
    try:
        for model in stream:
            models.append(model)
            progress("enumerate", len(models), k)
    except (KeyboardInterrupt, SolverError) as reason:
        if not models:
            raise
        return models, "solver" if isinstance(reason, SolverError) else "interrupted"
    return models, ""
