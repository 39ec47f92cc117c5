"""The stages of an audit, in the order in which they run."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fairenum.auditing import model_facts
from fairenum.auditing.ambiguity_stage import ambiguity_facts, holdout_prices, proven_range
from fairenum.auditing.candidates import Candidates, with_guards
from fairenum.auditing.choosing import choose, judge_by_fresh_holdout, unless_alike
from fairenum.auditing.correcting import with_shifts
from fairenum.auditing.cross_fitting import with_cross_fitting
from fairenum.auditing.disparity import disparity as disparity_of
from fairenum.auditing.feature_screening import screen
from fairenum.auditing.group_tables import incumbent_measures, shortlist_tables, shortlisted
from fairenum.auditing.listing import Listing, by_loss, enumerate_models, join_guided, join_tilted, watched_rows
from fairenum.auditing.mitigations import baselines
from fairenum.auditing.preparing import Prepared, prepare
from fairenum.auditing.run_state import RunState, scored_in_time
from fairenum.auditing.schedule import Schedule, finishing_seconds
from fairenum.auditing.scored_set import disagreement
from fairenum.document.audit_config import AuditConfig
from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import cautions
from fairenum.document.choice import Disparity, Selection
from fairenum.document.header import environment
from fairenum.document.models import AuditedModel, GuidedRun, Incumbent, TiltedRun
from fairenum.document.terms import Origin
from fairenum.runtime.budget import Budget, Progress
from fairenum.runtime.parallel import one_thread
from fairenum.solvers.isolation import solver_run
from fairenum.solvers.registry import solver_version
from fairenum.tables import Dataset
from fairenum.tables.naming import Names

if TYPE_CHECKING:
    import pandas as pd

Search = TypeVar("Search", GuidedRun, TiltedRun)
CUT = ("cut_short", "no_time")  # obstacles of the guided search for lack of time, or after an interrupt


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

    Returns the document to save, and the rows and models that it does not hold. Optional stages end when their share of
    the time limit is used up, or when the user interrupts; the document names these stages, and is marked as partial
    after an interrupt. An interrupt before model 1 is trained gives no result.
    """
    schedule = Schedule.of(config, budget or Budget(config.max_seconds), progress)
    with solver_run(config.svm):
        prepared = prepare(data, label, favourable, sensitive, config, schedule, incumbent_object)
        with schedule.budget.listening():
            listing, guided, tilted, found = _searched(prepared, schedule)
            return conclude(prepared, listing, schedule, guided=guided, tilted=tilted, disparity=found)


def conclude(
    prepared: Prepared,
    listing: Listing,
    schedule: Schedule,
    *,
    guided: GuidedRun | None = None,
    tilted: TiltedRun | None = None,
    rank: int | None = None,
    disparity: Disparity | None = None,
) -> tuple[AuditDocument, RunState]:
    """Score the listed models, select one, judge it by the holdout, and return the document and its run state.

    After an interrupt, fewer models than were listed may be scored. `guided` and `tilted` are the facts about the two
    searches, for the document. `rank` selects the model of that rank instead of the one that the rule chooses.
    `disparity` is the gap of the reference before the search.
    """
    config, division, training = prepared.config, prepared.division, prepared.training
    state = RunState.of(prepared, listing)
    found = _beside_models(state, schedule)
    with schedule.stage("score"):
        state, models, incumbent = scored_in_time(state, schedule, is_free=rank is None)
    guided, tilted = guided and _of_kept_models(guided, state), tilted and _of_kept_models(tilted, state)
    schedule.reserve(finishing_seconds(division, 0))
    found |= _disagreement(state, schedule)
    sensitive = prepared.table.sensitive
    with schedule.stage("choose"):
        selection = _selection(state, models, incumbent, rank, disparity)
    with schedule.stage("state"):
        shown = shortlisted((incumbent, *models) if incumbent else models, selection)
        found |= shortlist_tables(prepared.table, shown, config)
        found["correction"] = with_shifts(prepared.correction, state)
        found["incumbent_measures"] = incumbent_measures(prepared.incumbent, division, prepared.table, config)
        found["examples"] = model_facts.examples(division, training, state.listing)
    found |= state.selection_details(selection, sensitive, schedule)
    selection = schedule.optional("weigh", partial(state.with_expected_bias, selection)) or selection
    document = AuditDocument(
        environment=environment(solver=solver_version(training.svm.solver)),
        status="interrupted" if schedule.budget.is_interrupted else "complete",
        config=config,
        requested=model_facts.requested(prepared.asked),
        is_exploratory=division.is_exploratory,
        dataset=prepared.table,
        tuning=prepared.tuning,
        features=model_facts.feature_encoding(division),
        class_weights=training.class_weights,
        enumeration=model_facts.enumeration(state.listing),
        guided=guided,
        tilted=tilted,
        models=models,
        incumbent=incumbent,
        selection=selection,
        lapse=training.workspace.lapse,
        spending=schedule.spending(),
        timings=schedule.timings(),
        warnings=(),
        **found,
    )
    return document.but(warnings=cautions(document)), state


def _searched(
    prepared: Prepared, schedule: Schedule
) -> tuple[Listing, GuidedRun | None, TiltedRun | None, Disparity | None]:
    """Return the models of all searches as one listing, and facts: two searches, and the disparity of the reference.

    The guided and the tilted search are skipped if there is no disparity to reduce, unless the options ask for them.
    Models are in the order of the enumeration, best objective first, if that was asked for alone, else by loss.
    """
    division, training, config = prepared.division, prepared.training, prepared.config
    progress = schedule.progress
    schedule.reserve(finishing_seconds(division, 1))
    with schedule.limited("enumerate") as deadline:
        listing = enumerate_models(division, training, config, progress, deadline)
    schedule.ended("enumerate", listing.stopped)
    schedule.reserve(finishing_seconds(division, len(listing.models)))
    found = disparity_of(RunState.of(prepared, listing).scored_set, config)
    is_idle = found is not None and not found.is_shown and not config.always_search
    if config.search != "exact":
        listing = by_loss(listing)
    if config.search == "exact" or is_idle:
        return listing, None, None, found
    watched = watched_rows(division, listing.point, config, prepared.incumbent)
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
        schedule.ended("cross", "time", is_skipped=True)
    schedule.reserve(finishing_seconds(division, len(longest.models)))
    if tilted and (tilted.models or config.against == "incumbent"):
        cross = partial(with_cross_fitting, longest, division, training, config, progress)
        longest = schedule.optional("cross", cross) or longest
    return longest, guided, tilted, found


def _note_guided(schedule: Schedule, guided: GuidedRun | None) -> None:
    """Note in the schedule how the guided search ended, or that it was skipped for lack of time."""
    if guided and guided.obstacle is None:
        schedule.ended("guide", guided.stopped)
    elif guided and guided.obstacle in CUT:
        schedule.ended("guide", "time", is_skipped=True)


def _beside_models(state: RunState, schedule: Schedule) -> dict[str, Any]:
    """Return the document fields `baselines` and `screening`; None for a stage that was not run."""
    work = partial(baselines, state, schedule.progress)
    screening = partial(screen, state.division, state.listing, state.config)
    return {
        "baselines": schedule.optional("baselines", work) if state.config.baselines else None,
        "screening": schedule.optional("screen", screening),
    }


def _of_kept_models(search: Search, state: RunState) -> Search:
    """Return the facts about a search, in which only those of its models count that are still in the listing."""
    origin: Origin = "guided" if isinstance(search, GuidedRun) else "tilted"
    return search.but(models=state.listing.origins.count(origin))


def _disagreement(state: RunState, schedule: Schedule) -> dict[str, Any]:
    """Return the document fields `multiplicity`, `ambiguity` and `parity_range`; None for a stage that was not run."""
    multiplicity = schedule.optional("disagree", partial(disagreement, state.division, state.listing))
    prices = ambiguity = parity_range = None
    if state.config.prices:
        prices = schedule.optional("prices", partial(holdout_prices, state))
    if prices:
        ambiguity = ambiguity_facts(state, prices)
    if prices and state.config.range:
        parity_range = schedule.optional("range", partial(proven_range, state, prices))
    return {"multiplicity": multiplicity, "ambiguity": ambiguity, "parity_range": parity_range}


def _selection(
    state: RunState,
    models: tuple[AuditedModel, ...],
    incumbent: Incumbent | None,
    rank: int | None,
    disparity: Disparity | None,
) -> Selection:
    """Return the model chosen by the selection split, or that of the given rank, with its verdicts by the holdout."""
    config, division = state.config, state.division
    rival = incumbent if config.against == "incumbent" else None
    candidates = Candidates(models, state.table.sensitive, rival, division.is_exploratory)
    chosen = choose(candidates, division.column, config.tolerances, config.confidence, rank).but(disparity=disparity)
    chosen = unless_alike(chosen, candidates, always_search=config.always_search)
    judged = judge_by_fresh_holdout(chosen, candidates, state.scored_set, config)
    return with_guards(judged, candidates, config.confidence)
