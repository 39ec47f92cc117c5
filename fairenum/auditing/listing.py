"""The list of near-optimal models, from the exact enumeration, the guided search and the tilted search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fairenum.auditing.incumbent_rows import IncumbentDecisions
from fairenum.auditing.model_training import Training
from fairenum.auditing.schedule import scoring_seconds
from fairenum.document.audit_config import AuditConfig
from fairenum.document.models import GuidedRun, MarginTies, TiltedRun
from fairenum.document.terms import ListingEnd, Obstacle, Origin, Part, TiltedEnd
from fairenum.document.training import Decide
from fairenum.document.words import OBSTACLES
from fairenum.enumeration.distinct import DistinctModels
from fairenum.enumeration.division import PARTS, Division, operating_point
from fairenum.enumeration.guided import Bounds, GuidedSearch
from fairenum.enumeration.model import Model, TiltAxis, model_of
from fairenum.enumeration.search import Enumeration, Limits
from fairenum.enumeration.tilted import TiltedSearch, tilt_axes
from fairenum.enumeration.unfairness import Watched
from fairenum.errors import ConfigError, ProblemError, SolverError
from fairenum.metrics import Decisions
from fairenum.metrics.operating_point import Cut, Operating, OperatingPoint
from fairenum.metrics.pareto import tied_ranks
from fairenum.runtime.budget import (
    NEVER,
    Deadline,
    OutOfTime,
    Progress,
    checkpoint,
    how_ended,
    is_time_over,
    seconds_left,
)
from fairenum.solvers.certified import CertifiedWorkspace
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import FloatArray, IntArray, SvmProblem
from fairenum.svm.sparse_or_dense import distinct, stacked
from fairenum.tables import Groups


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """The listed models, best first, with their origin, decision thresholds and decision values."""

    models: tuple[Model, ...]
    origins: tuple[Origin, ...]  # how each was found: exact, guided or tilted
    # number of sets of support vectors found that decide as each model does; 1 for a model of a search
    sizes: tuple[int, ...]
    # point, cuts: the rule that sets decision thresholds, and the threshold of each model
    point: OperatingPoint
    cuts: tuple[Cut, ...]
    # decision values minus the threshold, by split, shape (models, rows): values of at least 0 are favourable
    values: dict[Part, FloatArray]
    stopped: ListingEnd  # why the enumeration ended
    nodes: int
    ties: MarginTies | None  # why most sets of support vectors decide like another, if they do
    audited_rows: int  # rows by whose decisions models are distinguished
    # decision values about the training rows, of models that were trained without them; NaN for models without such
    crossed: FloatArray | None = None

    def taken(self, places: IntArray) -> Listing:
        """Return the listing with only the models at the given indices."""
        return replace(
            self,
            models=tuple(self.models[place] for place in places),
            origins=tuple(self.origins[place] for place in places),
            sizes=tuple(self.sizes[place] for place in places),
            cuts=tuple(self.cuts[place] for place in places),
            values={part: values[places] for part, values in self.values.items()},
            crossed=None if self.crossed is None else self.crossed[places],
        )

    @property
    def objective_ratio(self) -> FloatArray:
        """Objective of each model divided by that of model 1; NaN for a tilted model, which solves another problem."""
        first = self.models[0].objective
        return np.array([np.nan if model.tilt else model.objective / first for model in self.models])

    @property
    def loss_ratio(self) -> FloatArray:
        """Relative excess of each model's loss over that of model 1, on all training examples."""
        return np.array([model.loss_ratio for model in self.models])

    def uncut(self, part: Part) -> FloatArray:
        """Return the original decision values of a split, without the threshold subtracted, shape (models, rows)."""
        return np.asarray(self.values[part] + np.array([[cut.value] for cut in self.cuts]))

    def decisions(self, division: Division, part: Part, column: str | None) -> Decisions:
        """Return all models' decisions about a split, grouped by a column or, if that is None, all in one group."""
        decisions, rows = division.part(part).decisions(self.values[part]), division.rows[part]
        if column is None:
            return replace(decisions, groups=Groups.everyone(len(rows)))
        return replace(decisions, groups=next(one for one in division.columns if one.column == column).take(rows))


def enumerate_models(
    division: Division, training: Training, config: AuditConfig, progress: Progress, deadline: Deadline = NEVER
) -> Listing:
    """Return the near-optimal models of the exact enumeration; an interrupt or a deadline keeps those found so far.

    Models are distinguished by their decisions about the rows of selection split and holdout; labels of these rows are
    not used.
    """
    audited = distinct(stacked([division.part(part).X for part in PARTS]))
    # The list ends where the objective is beyond eps, as that of the paper does. Neither bound implies the other: with
    # the slack s of model 1's plane, the objective without the rows I is at most P - sum of s over I, however little
    # the loss on all rows rises. So a listed model may lose more than eps on all rows, and is then no candidate.
    limits = Limits(None, config.tolerances.eps, training.max_nodes)
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
        ties=None if ended == "interrupted" else stream.ties,  # the user does not want to wait for them
        audited_rows=sum(len(division.rows[part]) for part in PARTS),
    )


def cut_values(
    models: list[Model], division: Division, point: OperatingPoint
) -> tuple[tuple[Cut, ...], dict[Part, FloatArray]]:
    """Return each model's decision threshold, set on the selection split, and decision values by split.

    The values have the threshold subtracted, and shape (models, rows).
    """
    values = {part: [model.decision_function(division.part(part).X) for model in models] for part in PARTS}
    cuts = tuple(map(point.cut, values["selection"]))
    centred = {
        part: np.array([cut.centred(row) for cut, row in zip(cuts, values[part], strict=True)]) for part in PARTS
    }
    return cuts, centred


def _collect(
    stream: DistinctModels, k: int, progress: Progress, later: Callable[[], None]
) -> tuple[list[Model], ListingEnd | None]:
    """Return the models of a stream, and why the stream was cut short: time, interrupt or solver; None if it was not.

    `later` is called after every model: it brings the deadline forward by the time that scoring the model will take.
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


def joined(listing: Listing, candidates: Sequence[Model], origin: Origin, division: Division) -> Listing:
    """Return a listing with further models, except those that decide all audited rows as another model does.

    Models are ordered by their loss on all training rows (`by_loss`). Of models with equal loss, those listed before
    come first.
    """
    if not candidates:
        return listing
    models, listed = [*listing.models, *candidates], len(listing.models)
    cuts, found = cut_values([*candidates], division, listing.point)
    cuts = (*listing.cuts, *cuts)
    values = {part: np.array([*listing.values[part], *found[part]]) for part in PARTS}
    decided = np.hstack([values[part] >= 0.0 for part in PARTS])
    is_known = [place >= listed and (decided[:place] == decided[place]).all(1).any() for place in range(len(models))]
    everyone = replace(
        listing,
        models=tuple(models),
        origins=(*listing.origins, *(origin for _ in candidates)),
        sizes=(*listing.sizes, *(1 for _ in candidates)),
        cuts=cuts,
        values=values,
    )
    return by_loss(everyone.taken(np.flatnonzero(~np.array(is_known))))


def by_loss(listing: Listing) -> Listing:
    """Return the listing in ascending order of the loss on all training rows, which is known exactly; model 1 first."""
    order = loss_order(listing.models)
    sure = tuple(replace(listing.models[place], is_order_certified=True) for place in order)
    return replace(listing.taken(order), models=sure)


def loss_order(models: Sequence[Model]) -> IntArray:
    """Return the indices of models in ascending order of loss; of equal losses the first comes first."""
    return np.argsort(tied_ranks(np.array([1.0 + model.loss_ratio for model in models])), kind="stable")


def watched_rows(
    division: Division, point: OperatingPoint, config: AuditConfig, incumbent: IncumbentDecisions | None = None
) -> Watched:
    """Return the selection split, on which searches measure gaps, with the model in use if that is the reference."""
    tolerances = config.tolerances
    watched = Watched(division.selection, config.metric, tolerances.measure, point, tolerances.guardrails)
    if incumbent is None or config.against != "incumbent":
        return watched
    rows = division.rows["selection"]
    return watched.compared_with(incumbent.bits[rows], incumbent.values[rows])


def join_guided(
    listing: Listing, division: Division, training: Training, watched: Watched, config: AuditConfig, progress: Progress
) -> tuple[Listing, GuidedRun | None]:
    """Return two values: the listing with the models of the guided search, and facts about that search.

    The search is for fairness on the selection split; its facts are None if it was not asked for.
    """
    if config.search == "exact":
        return listing, None
    if obstacle := _obstacle(division, listing):
        if config.search == "guided" and obstacle not in ("cut_short", "no_time"):
            raise ConfigError(f"search='guided' is not possible: {OBSTACLES[obstacle]}")
        return listing, GuidedRun("skipped", obstacle=obstacle)
    search, stopped = _guided_run(training, watched, config, progress)
    front = search.front
    longer = joined(listing, [found.model for found in front], "guided", division)
    return longer, GuidedRun(stopped, search.solves, len(front), len(longer.models) - len(listing.models))


def _obstacle(division: Division, listing: Listing) -> Obstacle | None:
    """Return the reason why a guided search cannot be run; None if it can."""
    if division.primary is None:
        return "no_sensitive_column"
    if division.is_exploratory:
        return "no_holdout"
    if listing.stopped in ("interrupted", "solver"):
        return "cut_short"
    return "no_time" if is_time_over() else None


def _guided_run(
    training: Training, watched: Watched, config: AuditConfig, progress: Progress
) -> tuple[GuidedSearch, str]:
    """Run the guided search, and return it with the reason why it ended: a limit, an interrupt or the solver."""
    bounds = Bounds(config.tolerances.eps, config.max_performance_drop, config.max_left_out, seconds=seconds_left())
    search = GuidedSearch(training.workspace, watched, bounds, root=training.best)
    try:
        for _ in search:
            progress("guide", search.solves, search.most_solves)
    except SolverError:
        return search, "solver"
    except (KeyboardInterrupt, OutOfTime) as reason:
        return search, how_ended(reason)
    return search, str(search.stopped)


NATIVE = "path"


def join_tilted(
    listing: Listing,
    guided: GuidedRun | None,
    division: Division,
    training: Training,
    watched: Watched,
    config: AuditConfig,
    progress: Progress,
) -> tuple[Listing, TiltedRun | None]:
    """Return two values: the listing with the models of the tilted search at its end, and facts about that search.

    Tilted models minimise the loss plus a factor times the difference of two groups' mean decision values; the search
    tries many factors, for up to `MOST_AXES` pairs of groups or rates. It is not run, and its facts are None, if the
    guided search was not asked for or was skipped, or if no time is left.
    """
    if guided is None or guided.obstacle or is_time_over():
        return listing, None
    rise, stopped, solves = config.tolerances.eps, None, 0
    found: list[Model] = []
    values, kernel = watched.values_of(listing.models[0]), training.problem.kernel
    axes: list[TiltAxis | None] = [*tilt_axes(watched, division.train, values, kernel)]
    for axis in axes or [None]:
        search = TiltedSearch(
            partial(opened, solver=training.svm.solver),
            training.problem,
            training.best,
            watched,
            axis,
            rise,
            config.max_performance_drop,
            seconds_left(),
        )
        stopped = _tilted_run(search, progress)
        found, solves = [*found, *(one.model for one in search.usable)], solves + search.solves
        if stopped in ("time", "interrupted"):
            break
    longer = joined(listing, found, "tilted", division)
    added = len(longer.models) - len(listing.models)
    return longer, TiltedRun(stopped or "no_direction", rise, solves, added)


def opened(problem: SvmProblem, solver: str) -> CertifiedWorkspace:
    """Return a solver workspace for a tilted problem, in which each example has its own margin.

    The native solver is used if the audit's solver takes only problems with one margin for all examples.
    """
    try:
        return open_workspace(solver, problem)
    except ProblemError:
        return open_workspace(NATIVE, problem)


def _tilted_run(search: TiltedSearch, progress: Progress) -> TiltedEnd:
    try:
        for _ in search:
            progress("tilt", search.solves, search.most_solves)
    except (KeyboardInterrupt, OutOfTime) as reason:
        return how_ended(reason)
    return search.stopped or "exhausted"
