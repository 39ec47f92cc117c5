"""The whole order of an audit, stage by stage: the only place that knows it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from fairenum.auditing import facts, members
from fairenum.auditing.baselines import baselines
from fairenum.auditing.choice import choose
from fairenum.auditing.course import Course
from fairenum.auditing.disagreement import disagreement
from fairenum.auditing.estimate import finishing_seconds
from fairenum.auditing.field import Field
from fairenum.auditing.guarding import guarded
from fairenum.auditing.guiding import join_guided, watched_rows
from fairenum.auditing.impact import in_detail
from fairenum.auditing.incumbent import InPlace
from fairenum.auditing.judging import judge_first
from fairenum.auditing.listing import Listing, enumerate_models
from fairenum.auditing.live import LiveRun
from fairenum.auditing.multiplicity import arbitrariness, examined
from fairenum.auditing.preparing import Prepared, prepare
from fairenum.auditing.reachable import possible_range
from fairenum.auditing.scored import scored_in_time
from fairenum.auditing.screening import screen
from fairenum.auditing.tilting import join_tilted
from fairenum.auditing.training import Training
from fairenum.budget import Budget
from fairenum.dataset import Dataset
from fairenum.dataset.naming import Names
from fairenum.document.arbitrariness import Arbitrariness
from fairenum.document.audit import AuditDocument
from fairenum.document.audit_config import AuditConfig
from fairenum.document.cautions import cautions
from fairenum.document.choice import ReferenceCheck, Selection
from fairenum.document.environment import environment
from fairenum.document.incumbent import Incumbent
from fairenum.document.models import AuditedModel, Baseline, GuidedRun, Multiplicity
from fairenum.document.possible import PossibleRange
from fairenum.document.screening import Screening
from fairenum.document.table import TableFacts
from fairenum.document.terms import Origin
from fairenum.document.tilted import TiltedRun
from fairenum.document.training import Tuning
from fairenum.experiment import Division
from fairenum.progress import Progress
from fairenum.solvers.guarding import watching
from fairenum.solvers.registry import solver_version
from fairenum.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd

Search = TypeVar("Search", GuidedRun, TiltedRun)

CUT = ("cut_short", "no_time")  # what keeps the guided search from starting where the run itself was cut


@one_thread()
def run_audit(
    data: str | Path | pd.DataFrame | Dataset,
    label: str | None,
    favourable: object,
    sensitive: Names | None,
    config: AuditConfig,
    progress: Progress,
    in_use: object = None,
    budget: Budget | None = None,
) -> tuple[AuditDocument, LiveRun]:
    """Audit a table: list the near-optimal SVMs, score and compare them, and select the fairest.

    What is optional ends with its share of the time, or where the user interrupts; the document says so, and is marked
    as partial in the latter case. Before model 1 is there, nothing is kept.
    """
    course = Course.of(config, budget or Budget(config.max_seconds), progress)
    with watching(config.machine):
        return _run(prepare(data, label, favourable, sensitive, config, course, in_use), course)


def _run(prepared: Prepared, course: Course) -> tuple[AuditDocument, LiveRun]:
    """Search for models, and conclude."""
    with course.budget.listening():
        listing, guided, tilted = _searched(
            prepared.division, prepared.training, prepared.config, prepared.incumbent, course
        )
        return conclude(prepared, listing, course, guided=guided, tilted=tilted)


def conclude(
    prepared: Prepared,
    listing: Listing,
    course: Course,
    *,
    guided: GuidedRun | None = None,
    tilted: TiltedRun | None = None,
    rank: int | None = None,
) -> tuple[AuditDocument, LiveRun]:
    """Score and compare listed models on both splits, select one, and judge it by the holdout.

    Where the user has asked to come to an end, these may be fewer than were listed.

    Parameters
    ----------
    prepared, listing
        The table, and the models.
    course
        Told of every stage.
    guided, tilted
        How models were searched for, if they were.
    rank
        Take this model instead of the one that the rule chooses.
    """
    live = LiveRun(prepared.asked, prepared.config, prepared.division, prepared.training, listing, prepared.incumbent)
    live, found = _found(live, prepared.tuning, guided, tilted, course, rank)
    with course.stage("state"):
        document = _stated(live, found, prepared.table)
    document = live.explained(document, course)
    document = course.optional("weigh", partial(live.weighed, document)) or document
    return _timed(document.but(lapse=live.training.workspace.lapse), course), live


def _searched(
    division: Division, training: Training, config: AuditConfig, incumbent: InPlace | None, course: Course
) -> tuple[Listing, GuidedRun | None, TiltedRun | None]:
    """List the models best first, and those that are searched for among them."""
    progress = course.progress
    course.reserve(finishing_seconds(division, 1))
    with course.limited("enumerate") as deadline:
        listing = enumerate_models(division, training, config, progress, deadline)
    course.ended("enumerate", listing.stopped)
    course.reserve(finishing_seconds(division, len(listing.models)))
    if config.search == "exact":
        return listing, None, None
    watched = watched_rows(division, listing.point, config, incumbent)
    with course.limited("guide"):
        longer, guided = join_guided(listing, division, training, watched, config, progress)
    _note_guided(course, guided)
    course.reserve(finishing_seconds(division, len(longer.models)))
    with course.limited("tilt"):
        longest, tilted = join_tilted(longer, guided, division, training, watched, config, progress)
    if tilted:
        course.ended("tilt", tilted.stopped)
    elif guided and guided.obstacle in (None, *CUT):
        course.ended("tilt", "time", is_skipped=True)
    course.reserve(finishing_seconds(division, len(longest.models)))
    return longest, guided, tilted


def _note_guided(course: Course, guided: GuidedRun | None) -> None:
    """Note how the guided search ended, or that it was not begun for want of time."""
    if guided and guided.obstacle is None:
        course.ended("guide", guided.stopped)
    elif guided and guided.obstacle in CUT:
        course.ended("guide", "time", is_skipped=True)


def _found(
    live: LiveRun,
    tuning: Tuning | None,
    guided: GuidedRun | None,
    tilted: TiltedRun | None,
    course: Course,
    rank: int | None,
) -> tuple[LiveRun, _Findings]:
    """Score the models, compare and choose; what is optional as far as there is time, and of fewer models in haste."""
    division, training, listing, config = live.division, live.training, live.listing, live.config
    others = None
    if config.baselines:
        others = course.optional("baselines", partial(baselines, division, training, listing, config, course.progress))
    screening = course.optional("screen", partial(screen, division, listing, config))
    with course.stage("score"):
        live, models, row_0 = scored_in_time(live, course, is_free=rank is None)
    if live.listing is not listing:
        listing, guided, tilted = live.listing, _kept(guided, live), _kept(tilted, live)
    course.reserve(finishing_seconds(division, 0))
    multiplicity = course.optional("disagree", partial(disagreement, division, listing))
    found = reachable = None
    if config.prices:
        found = course.optional("prices", partial(examined, division, training, listing, config))
    priced = arbitrariness(division, training, listing, config, found)
    if found and config.range:
        reachable = course.optional("range", partial(possible_range, division, training, listing, config, found))
    with course.stage("choose"):
        selection = _chosen(live, models, row_0, rank)
    disagreed = (multiplicity, priced, reachable)
    return live, _Findings(tuning, guided, tilted, others, screening, models, row_0, *disagreed, selection)


def _kept(search: Search | None, live: LiveRun) -> Search | None:
    """Say how many models of a search were kept."""
    origin: Origin = "guided" if isinstance(search, GuidedRun) else "tilted"
    return search and search.but(models=live.listing.origins.count(origin))


def _timed(document: AuditDocument, course: Course) -> AuditDocument:
    """State how the audit kept to its time, and what follows from that."""
    status = "interrupted" if course.budget.is_interrupted else document.status
    document = document.but(status=status, spending=course.spending(), timings=course.timings())
    return document.but(warnings=cautions(document))


def _chosen(live: LiveRun, models: tuple[AuditedModel, ...], row_0: Incumbent | None, rank: int | None) -> Selection:
    """Choose by the selection split, or take a model by its rank, and judge the choice by the holdout."""
    config, column = live.config, live.division.column
    rival = row_0 if config.against == "incumbent" else None
    sensitive = facts.sensitive_columns(config, live.division)
    field = Field(models, sensitive, rival, live.division.is_exploratory)
    judged = judge_first(choose(field, column, config.tolerances, rank), field, live.lineup, config)
    return guarded(judged, field, config.confidence)


@dataclass(frozen=True, slots=True)
class _Findings:
    """What the stages have found, in their order."""

    tuning: Tuning | None
    guided: GuidedRun | None
    tilted: TiltedRun | None
    baselines: tuple[Baseline, ...] | None
    screening: Screening | None
    models: tuple[AuditedModel, ...]
    incumbent: Incumbent | None
    multiplicity: Multiplicity | None
    arbitrariness: Arbitrariness | None
    reachable: PossibleRange | None
    selection: Selection


def _stated(live: LiveRun, found: _Findings, table: TableFacts) -> AuditDocument:
    """State all that was found."""
    division, training, listing = live.division, live.training, live.listing
    config = live.config
    document = AuditDocument(
        environment=environment(solver=solver_version(training.machine.solver)),
        config=config,
        requested=facts.requested(live.asked),
        is_exploratory=division.is_exploratory,
        dataset=table,
        tuning=found.tuning,
        class_weights=training.class_weights,
        enumeration=facts.enumeration(listing),
        guided=found.guided,
        tilted=found.tilted,
        models=found.models,
        examples=members.examples(division, training, listing),
        multiplicity=found.multiplicity,
        arbitrariness=found.arbitrariness,
        range=found.reachable,
        baselines=found.baselines,
        screening=found.screening,
        selection=found.selection,
        explanation=None,
        group_tables=(),
        reference_check=ReferenceCheck("", (), 0, 0.0),
        warnings=(),
        incumbent=found.incumbent,
    )
    return in_detail(document)
