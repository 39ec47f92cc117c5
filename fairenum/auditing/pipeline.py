"""The whole order of an audit, stage by stage: the only place that knows it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fairenum.auditing import facts, members
from fairenum.auditing.anatomy import anatomy, flips
from fairenum.auditing.baselines import baselines
from fairenum.auditing.choice import choose, choose_again
from fairenum.auditing.classifier import pipeline
from fairenum.auditing.disagreement import disagreement
from fairenum.auditing.dividing import divided
from fairenum.auditing.explanation import explanation
from fairenum.auditing.field import Field
from fairenum.auditing.guarding import guarded
from fairenum.auditing.guiding import join_guided, watched_rows
from fairenum.auditing.impact import in_detail
from fairenum.auditing.incumbent import InPlace, in_place, with_incumbent
from fairenum.auditing.judging import judge_first
from fairenum.auditing.lineup import Lineup
from fairenum.auditing.listing import Listing, enumerate_models
from fairenum.auditing.ranked import model_scores
from fairenum.auditing.reachable import possible_range
from fairenum.auditing.scorecard import score_part, stream
from fairenum.auditing.screening import screen
from fairenum.auditing.tilting import join_tilted
from fairenum.auditing.together import together
from fairenum.auditing.training import Training, load
from fairenum.auditing.weighting import train_machine
from fairenum.dataset import Dataset
from fairenum.dataset.naming import Names
from fairenum.document.audit import AuditDocument
from fairenum.document.audit_config import AuditConfig
from fairenum.document.cautions import cautions
from fairenum.document.choice import ReferenceCheck, Selection
from fairenum.document.environment import environment
from fairenum.document.incumbent import Incumbent
from fairenum.document.machine import Tolerances
from fairenum.document.models import AuditedModel, Baseline, GuidedRun, Multiplicity
from fairenum.document.possible import PossibleRange
from fairenum.document.screening import Screening
from fairenum.document.tilted import TiltedRun
from fairenum.document.training import Tuning
from fairenum.document.value import Parts
from fairenum.experiment import PARTS, Division
from fairenum.optimism import expected_optimism
from fairenum.progress import Progress
from fairenum.selection import guard_excess
from fairenum.solvers.registry import solver_version
from fairenum.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.pipeline import Pipeline


@dataclass(frozen=True, slots=True, eq=False)
class LiveRun:
    """What a run still holds of its rows and models, and a saved document does not.

    Attributes
    ----------
    asked, config
        The options as they were given, and as they were resolved.
    """

    asked: AuditConfig
    config: AuditConfig
    division: Division
    training: Training
    listing: Listing
    incumbent: InPlace | None = None

    @property
    def lineup(self) -> Lineup:
        """Who is scored together."""
        return Lineup(self.division, self.listing, self.incumbent, self.config.against == "incumbent")

    def estimator(self, rank: int) -> Pipeline:
        """Build the scikit-learn pipeline of a model."""
        label = self.division.dataset.label
        classes = (label.unfavourable, label.favourable)
        cut = self.listing.cuts[rank - 1].value
        return pipeline(self.listing.models[rank - 1], self.division.encoding, classes, cut)

    def choose_again(self, document: AuditDocument, tolerances: Tolerances, rank: int | None) -> AuditDocument:
        """Return the document with another choice, explained, and with what choosing is expected to flatter by."""
        chosen = self.weighed(self.explained(choose_again(document, tolerances, rank)))
        return chosen.redacted() if document.is_redacted else chosen

    def explained(self, document: AuditDocument) -> AuditDocument:
        """Add what the models go by and, if another than model 1 was selected, why it is fairer and what it changes."""
        selection = document.selection
        parts = anatomy(self.division, self.listing, selection.shortlist, self.config)
        document = document.but(anatomy=parts, scores=model_scores(document, self.lineup))
        if selection.outcome != "selected" or selection.rank is None:
            return document.but(explanation=None, flips=None)
        found, metric = None, selection.tolerances.metric
        if selection.rank > 1:  # model 1 leaves nothing out
            found = explanation(self.division, self.training, self.listing, selection.rank, metric)
        return document.but(explanation=found, flips=flips(self.lineup, selection.rank))

    def weighed(self, document: AuditDocument) -> AuditDocument:
        """Add how much of the gain choosing is expected to have feigned, by choosing again on rows drawn again.

        A model that was searched for was made to look fair on these rows, which drawing them again cannot undo; one
        that was asked for by its rank was not chosen by the rule. Against a model in use the holdout's own answer is
        all there is.
        """
        selection, chosen = document.selection, document.selected
        is_ruled = selection.reason == "smallest_gap" and not document.is_against_incumbent
        if not is_ruled or selection.optimism is None or chosen is None or chosen.is_searched:
            return document
        values = self.listing.values["selection"]
        expected = expected_optimism(
            self.listing.decisions(self.division, "selection", self.division.column),
            values,
            self.listing.objective_ratio,
            selection.tolerances,
            stream(self.config, len(PARTS)),
            self.config.replications,
            loss_ratio=self.listing.loss_ratio,
            excess=guard_excess(self.division.selection, values, selection.tolerances),
        )
        return document.but(selection=selection.but(optimism=selection.optimism.but(expected=expected)))


@one_thread()
def run_audit(
    data: str | Path | pd.DataFrame | Dataset,
    label: str | None,
    favourable: object,
    sensitive: Names | None,
    config: AuditConfig,
    progress: Progress,
    in_use: object = None,
) -> tuple[AuditDocument, LiveRun]:
    """Audit a table: list the near-optimal SVMs, score and compare them, and select the fairest.

    The document is marked as partial if the enumeration was interrupted from the keyboard.
    """
    clock = _Clock(progress)
    with clock.stage("load"):
        dataset = load(data, label, favourable, sensitive, config, in_use)
        incumbent = in_place(dataset, config)
    with clock.stage("divide"):
        division = divided(dataset, config)
    asked, config = config, with_incumbent(config, incumbent, division)
    with clock.stage("tune"):
        training, tuning = train_machine(division, config, progress)
    config = facts.resolved(config, division, training)
    listing, guided, tilted = _searched(division, training, config, incumbent, clock)
    with clock.stage("baselines"):
        others = baselines(division, training, listing, config, progress)
    with clock.stage("screen"):
        screening = screen(division, listing, config)
    live = LiveRun(asked, config, division, training, listing, incumbent)
    with clock.stage("score"):
        models, row_0 = _scored(live)
    with clock.stage("disagree"):
        multiplicity = disagreement(division, listing)
    with clock.stage("range"):
        reachable = possible_range(division, training, listing, config)
    with clock.stage("choose"):
        selection = _chosen(live, models, row_0)
    found = _Findings(tuning, guided, tilted, others, screening, models, row_0, multiplicity, reachable, selection)
    document = _stated(live, found)
    with clock.stage("explain"):
        document = live.explained(document)
    with clock.stage("weigh"):
        document = live.weighed(document)
    return document.but(timings=clock.timings()), live


def _searched(
    division: Division, training: Training, config: AuditConfig, incumbent: InPlace | None, clock: _Clock
) -> tuple[Listing, GuidedRun | None, TiltedRun | None]:
    """List the models best first, and those that are searched for among them."""
    progress = clock.progress
    with clock.stage("enumerate"):
        listing = enumerate_models(division, training, config, progress)
    with clock.stage("guide"):
        watched = watched_rows(division, listing.point, config, incumbent)
        listing, guided = join_guided(listing, division, training, watched, config, progress)
    with clock.stage("tilt"):
        listing, tilted = join_tilted(listing, guided, division, training, watched, config, progress)
    return listing, guided, tilted


def _scored(live: LiveRun) -> tuple[tuple[AuditedModel, ...], Incumbent | None]:
    """Score the models on both splits, beside what is proven about them, and the model in use."""
    lineup = live.lineup
    scores = {part: score_part(lineup, part, live.config) for part in PARTS}
    limits = together(lineup, live.config)
    scores["holdout"] = [one.but(together=own) for one, own in zip(scores["holdout"], limits, strict=True)]
    row_0 = None
    if live.incumbent is not None:
        place = lineup.ranks.index(0)
        own = Parts(*(scores[part].pop(place) for part in PARTS))
        row_0 = members.incumbent(live.incumbent, lineup, own, live.config)
    return members.audited_models(live.division, live.training, live.listing, scores), row_0


def _chosen(live: LiveRun, models: tuple[AuditedModel, ...], row_0: Incumbent | None) -> Selection:
    """Choose by the selection split, and judge the choice by the holdout."""
    config, column = live.config, live.division.column
    rival = row_0 if config.against == "incumbent" else None
    sensitive = facts.sensitive_columns(config, live.division)
    field = Field(models, sensitive, rival, live.division.is_exploratory)
    judged = judge_first(choose(field, column, config.tolerances), field, live.lineup, config)
    return guarded(judged, field, config.confidence)


@dataclass(frozen=True, slots=True)
class _Findings:
    """What the stages have found, in their order."""

    tuning: Tuning | None
    guided: GuidedRun | None
    tilted: TiltedRun | None
    baselines: tuple[Baseline, ...] | None
    screening: Screening
    models: tuple[AuditedModel, ...]
    incumbent: Incumbent | None
    multiplicity: Multiplicity
    reachable: PossibleRange | None
    selection: Selection


def _stated(live: LiveRun, found: _Findings) -> AuditDocument:
    """State all that was found, and what follows from it."""
    division, training, listing = live.division, live.training, live.listing
    config = live.config
    table = facts.table_facts(config, division, training)
    document = AuditDocument(
        environment=environment(solver=solver_version(training.machine.solver)),
        status="interrupted" if listing.stopped == "interrupted" else "complete",
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
    document = in_detail(document)
    return document.but(warnings=cautions(document))


@dataclass(slots=True)
class _Clock:
    """Seconds by stage, and the announcement of each."""

    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)
    now: Callable[[], float] = time.perf_counter

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self.progress(name, 0, None)
        started = self.now()
        yield
        self.seconds[name] = self.now() - started

    def timings(self) -> dict[str, float]:
        return {**self.seconds, "total": sum(self.seconds.values())}
