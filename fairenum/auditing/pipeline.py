"""The stages of an audit in their order, which only this module knows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from fairenum.auditing import model_facts
from fairenum.auditing.ambiguity_stage import ambiguity_facts, examined, proven_range
from fairenum.auditing.candidates import Candidates, guarded
from fairenum.auditing.choosing import choose, judge_first
from fairenum.auditing.feature_screening import screen
from fairenum.auditing.group_tables import in_detail
from fairenum.auditing.incumbent_rows import IncumbentDecisions
from fairenum.auditing.listing import Listing, enumerate_models, join_guided, join_tilted, watched_rows
from fairenum.auditing.mitigations import baselines
from fairenum.auditing.model_training import Training
from fairenum.auditing.preparing import Prepared, prepare
from fairenum.auditing.run_state import RunState, scored_in_time
from fairenum.auditing.schedule import Schedule, finishing_seconds
from fairenum.auditing.scorecard import disagreement
from fairenum.document.audit_config import AuditConfig
from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import cautions
from fairenum.document.choice import ReferenceCheck, Selection
from fairenum.document.feature_facts import Screening
from fairenum.document.flip_facts import AmbiguityFacts, ParityRange
from fairenum.document.header import environment
from fairenum.document.models import AuditedModel, Baseline, GuidedRun, Incumbent, Multiplicity, TiltedRun
from fairenum.document.table_facts import TableFacts
from fairenum.document.terms import Origin
from fairenum.document.training import Tuning
from fairenum.enumeration.division import Division
from fairenum.runtime.budget import Budget, Progress
from fairenum.runtime.parallel import one_thread
from fairenum.solvers.isolation import solver_run
from fairenum.solvers.registry import solver_version
from fairenum.tables import Dataset
from fairenum.tables.naming import Names

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
    incumbent_object: object = None,
    budget: Budget | None = None,
) -> tuple[AuditDocument, RunState]:
    """Audit a table: list the near-optimal SVMs, score and compare them, and select the fairest.

    Optional stages end with their share of the time, or when the user interrupts; the document says so, and is marked
    as partial in the latter case. Before model 1 is trained, nothing is kept.
    """
    schedule = Schedule.of(config, budget or Budget(config.max_seconds), progress)
    with solver_run(config.svm):
        return _run(prepare(data, label, favourable, sensitive, config, schedule, incumbent_object), schedule)


def _run(prepared: Prepared, schedule: Schedule) -> tuple[AuditDocument, RunState]:
    """Search for models, and conclude the audit."""
    with schedule.budget.listening():
        listing, guided, tilted = _searched(
            prepared.division, prepared.training, prepared.config, prepared.incumbent, schedule
        )
        return conclude(prepared, listing, schedule, guided=guided, tilted=tilted)


def conclude(
    prepared: Prepared,
    listing: Listing,
    schedule: Schedule,
    *,
    guided: GuidedRun | None = None,
    tilted: TiltedRun | None = None,
    rank: int | None = None,
) -> tuple[AuditDocument, RunState]:
    """Score and compare listed models on both splits, select one, and judge it by the holdout.

    After an interrupt, fewer models than were listed may be scored. `guided` and `tilted` tell how models were searched
    for, and `rank` takes that model instead of the one that the rule chooses.
    """
    live = RunState(prepared.asked, prepared.config, prepared.division, prepared.training, listing, prepared.incumbent)
    live, found = _found(live, prepared.tuning, guided, tilted, schedule, rank)
    with schedule.stage("state"):
        document = _stated(live, found, prepared.table)
    document = live.explained(document, schedule)
    document = schedule.optional("weigh", partial(live.weighed, document)) or document
    return _timed(document.but(lapse=live.training.workspace.lapse), schedule), live


def _searched(
    division: Division,
    training: Training,
    config: AuditConfig,
    incumbent: IncumbentDecisions | None,
    schedule: Schedule,
) -> tuple[Listing, GuidedRun | None, TiltedRun | None]:
    """List the models best first, including those of the guided and the tilted search."""
    progress = schedule.progress
    schedule.reserve(finishing_seconds(division, 1))
    with schedule.limited("enumerate") as deadline:
        listing = enumerate_models(division, training, config, progress, deadline)
    schedule.ended("enumerate", listing.stopped)
    schedule.reserve(finishing_seconds(division, len(listing.models)))
    if config.search == "exact":
        return listing, None, None
    watched = watched_rows(division, listing.point, config, incumbent)
    with schedule.limited("guide"):
        longer, guided = join_guided(listing, division, training, watched, config, progress)
    _note_guided(schedule, guided)
    schedule.reserve(finishing_seconds(division, len(longer.models)))
    with schedule.limited("tilt"):
        longest, tilted = join_tilted(longer, guided, division, training, watched, config, progress)
    if tilted:
        schedule.ended("tilt", tilted.stopped)
    elif guided and guided.obstacle in (None, *CUT):
        schedule.ended("tilt", "time", is_skipped=True)
    schedule.reserve(finishing_seconds(division, len(longest.models)))
    return longest, guided, tilted


def _note_guided(schedule: Schedule, guided: GuidedRun | None) -> None:
    """Note how the guided search ended, or that it was skipped for lack of time."""
    if guided and guided.obstacle is None:
        schedule.ended("guide", guided.stopped)
    elif guided and guided.obstacle in CUT:
        schedule.ended("guide", "time", is_skipped=True)


def _found(
    live: RunState,
    tuning: Tuning | None,
    guided: GuidedRun | None,
    tilted: TiltedRun | None,
    schedule: Schedule,
    rank: int | None,
) -> tuple[RunState, _Findings]:
    """Score, compare and choose models, with optional stages as time allows; fewer models after an interrupt."""
    division, training, listing, config = live.division, live.training, live.listing, live.config
    others = None
    if config.baselines:
        others = schedule.optional(
            "baselines", partial(baselines, division, training, listing, config, schedule.progress)
        )
    screening = schedule.optional("screen", partial(screen, division, listing, config))
    with schedule.stage("score"):
        live, models, row_0 = scored_in_time(live, schedule, is_free=rank is None)
    if live.listing is not listing:
        listing, guided, tilted = live.listing, _kept(guided, live), _kept(tilted, live)
    schedule.reserve(finishing_seconds(division, 0))
    multiplicity = schedule.optional("disagree", partial(disagreement, division, listing))
    found = parity_range = None
    if config.prices:
        found = schedule.optional("prices", partial(examined, division, training, listing, config))
    priced = ambiguity_facts(division, training, listing, config, found)
    if found and config.range:
        parity_range = schedule.optional("range", partial(proven_range, division, training, listing, config, found))
    with schedule.stage("choose"):
        selection = _chosen(live, models, row_0, rank)
    disagreed = (multiplicity, priced, parity_range)
    return live, _Findings(tuning, guided, tilted, others, screening, models, row_0, *disagreed, selection)


def _kept(search: Search | None, live: RunState) -> Search | None:
    """Correct the number of models of a search to those that were kept."""
    origin: Origin = "guided" if isinstance(search, GuidedRun) else "tilted"
    return search and search.but(models=live.listing.origins.count(origin))


def _timed(document: AuditDocument, schedule: Schedule) -> AuditDocument:
    """Add status, timings and time spent to the document, and the cautions that follow."""
    status = "interrupted" if schedule.budget.is_interrupted else document.status
    document = document.but(status=status, spending=schedule.spending(), timings=schedule.timings())
    return document.but(warnings=cautions(document))


def _chosen(live: RunState, models: tuple[AuditedModel, ...], row_0: Incumbent | None, rank: int | None) -> Selection:
    """Choose by the selection split, or take a model by its rank, and judge the choice by the holdout."""
    config, column = live.config, live.division.column
    rival = row_0 if config.against == "incumbent" else None
    sensitive = model_facts.sensitive_columns(config, live.division)
    field = Candidates(models, sensitive, rival, live.division.is_exploratory)
    judged = judge_first(choose(field, column, config.tolerances, rank), field, live.scored_set, config)
    return guarded(judged, field, config.confidence)


@dataclass(frozen=True, slots=True)
class _Findings:
    """Results of the stages, in their order."""

    tuning: Tuning | None
    guided: GuidedRun | None
    tilted: TiltedRun | None
    baselines: tuple[Baseline, ...] | None
    screening: Screening | None
    models: tuple[AuditedModel, ...]
    incumbent: Incumbent | None
    multiplicity: Multiplicity | None
    ambiguity: AmbiguityFacts | None
    parity_range: ParityRange | None
    selection: Selection


def _stated(live: RunState, found: _Findings, table: TableFacts) -> AuditDocument:
    """Make the document of all results."""
    division, training, listing = live.division, live.training, live.listing
    config = live.config
    document = AuditDocument(
        environment=environment(solver=solver_version(training.svm.solver)),
        config=config,
        requested=model_facts.requested(live.asked),
        is_exploratory=division.is_exploratory,
        dataset=table,
        tuning=found.tuning,
        class_weights=training.class_weights,
        enumeration=model_facts.enumeration(listing),
        guided=found.guided,
        tilted=found.tilted,
        models=found.models,
        examples=model_facts.examples(division, training, listing),
        multiplicity=found.multiplicity,
        ambiguity=found.ambiguity,
        parity_range=found.parity_range,
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
