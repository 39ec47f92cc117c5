"""The choice of a model from the document alone, when a run ends and whenever tolerances change, and its verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairenum.auditing.candidates import Candidates, field_of, guarded, measured
from fairenum.auditing.group_tables import in_detail
from fairenum.auditing.scorecard import stream
from fairenum.auditing.scored_set import ScoredSet
from fairenum.document.audit_config import AuditConfig
from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import cautions
from fairenum.document.choice import GapChange, Optimism, Selection, reason_for
from fairenum.document.models import Incumbent
from fairenum.document.terms import ACCURACY, GAPS, Gap, Outcome, PerformanceMeasure, Verdict
from fairenum.document.training import Tolerances
from fairenum.document.value import Estimate, Parts
from fairenum.enumeration.division import PARTS
from fairenum.enumeration.fairest import CandidateScores, IncumbentTarget
from fairenum.errors import ResultError
from fairenum.metrics import Decisions
from fairenum.metrics.comparison import compare_chosen, is_coarse
from fairenum.metrics.intervals import estimates
from fairenum.metrics.performance import performance_changes

CLAIM = 0.8  # share of the error that the claim has
PLACE = len(PARTS) + 3  # of the random numbers


def judge_first(selection: Selection, field: Candidates, scored_set: ScoredSet, config: AuditConfig) -> Selection:
    """Judge the first choice of a run by itself, or with all models together where the holdout took part in it."""
    division = scored_set.division
    if division.is_exploratory or selection.outcome != "selected" or selection.rank is None:
        return judge_again(selection, field, config).but(is_in_sight=division.is_exploratory)
    place = scored_set.ranks.index(selection.rank)
    decisions = {groups.column: scored_set.decisions("holdout", groups.column) for groups in division.columns}
    strip = strip_alone(_strip(selection, field, config), decisions, place, config)
    everyone, values = scored_set.decisions("holdout", None), scored_set.values("holdout")[[0, place]]
    pair = replace(everyone, predictions=everyone.predictions[[0, place]])

    def changed(measure: PerformanceMeasure, confidence: float) -> Estimate:
        found = performance_changes(pair, values, measure, stream(config, PLACE), confidence=confidence)
        return estimates(found)[1]

    measure, confidence = selection.tolerances.measure, config.confidence
    floor = changed(measure, 2.0 * confidence - 1.0).low if confidence > 0.5 else None
    performance = changed(measure, confidence), changed(ACCURACY, confidence)
    return _told(selection.but(performance_floor=floor), field, strip, *performance)


def judge_again(selection: Selection, field: Candidates, config: AuditConfig) -> Selection:
    """Judge a choice made with the holdout in sight, by the document's limits for all models together."""
    selection = selection.but(is_in_sight=True)
    if selection.outcome != "selected" or selection.rank is None:
        return selection.but(confirmed=_confirmed(selection, field))
    scores = field.model(selection.rank).scores.holdout
    performance, accuracy = (one.change or Estimate() for one in (scores.performance, scores.accuracy))
    strip = _strip(selection, field, config)
    return _told(selection.but(performance_floor=performance.low), field, strip, performance, accuracy)


def strip_alone(
    strip: Sequence[GapChange], decisions: dict[str, Decisions], place: int, config: AuditConfig
) -> tuple[GapChange, ...]:
    """Judge the gaps of the selected model one by one, the claim first, each at its share of the error.

    `strip` holds one cell for each gap and column; its limits and verdicts are replaced. `decisions` are those of all
    models about the holdout, by sensitive column, and `place` is the position of the selected model.
    """

    def marked(cell: GapChange) -> GapChange:
        is_few = is_coarse(decisions[cell.column], place, cell.metric, config.min_group_size)
        return cell.but(is_coarse=cell.change.low is not None and is_few)

    def judged(cell: GapChange, error: float) -> GapChange:
        if cell.change.low is None:
            return cell
        confidence = 1.0 - error
        found = compare_chosen(
            decisions[cell.column], place, cell.metric, confidence=confidence, margin=config.same_within
        )
        verdict = found.verdict and Verdict.OPEN if cell.is_coarse else found.verdict
        return cell.but(change=estimates(found.change[None])[0], verdict=verdict, confidence=confidence)

    alpha = 1.0 - config.confidence
    claim = [judged(cell, CLAIM * alpha) for cell in strip if cell.is_claim]
    is_shown = any(cell.verdict in (Verdict.FAIRER, Verdict.LESS_FAIR) for cell in claim)
    others = [marked(cell) for cell in strip if not cell.is_claim]
    # what rests on a handful of rows is left open, and takes no share from what can be told
    told = sum(cell.change.low is not None and not cell.is_coarse for cell in others)
    share = (1.0 - CLAIM / 2.0 if is_shown else 1.0 - CLAIM) / max(told, 1)
    return (*claim, *(judged(cell, share * alpha) for cell in others))


def _strip(selection: Selection, field: Candidates, config: AuditConfig) -> tuple[GapChange, ...]:
    """List every gap in every sensitive column, with limits for all models together; the claim and its column first."""
    claim = selection.column, selection.tolerances.metric
    first, chosen = (one.scores.holdout for one in (field.reference, field.model(selection.rank or 1)))
    columns = sorted(chosen.by_column, key=lambda column: column != selection.column)
    cells = [(column, metric) for column in columns for metric in GAPS]

    def shown(column: str, metric: Gap) -> GapChange:
        gap = chosen.by_column[column].gap(metric)
        return GapChange(
            column=column,
            metric=metric,
            is_claim=(column, metric) == claim,
            first=first.by_column[column].gap(metric).alone,
            selected=gap.alone,
            change=gap.change or Estimate(),
            confidence=config.confidence,
            verdict=gap.verdict,
        )

    return tuple(shown(*cell) for cell in sorted(cells, key=lambda cell: cell != claim))


def _told(
    selection: Selection, field: Candidates, strip: tuple[GapChange, ...], performance: Estimate, accuracy: Estimate
) -> Selection:
    """State what the selected model gains, on the selection split and on the holdout."""
    scores = field.model(selection.rank or 1).scores
    gaps = Parts(*(part.gap(selection.tolerances.metric) for part in (scores.selection, scores.holdout)))
    claim = next((cell for cell in strip if cell.is_claim), None)
    changes = Parts(gaps.selection.change or Estimate(), claim.change if claim else Estimate())
    return selection.but(
        gap_change=changes,
        performance_change=Parts(scores.selection.performance.change or Estimate(), performance),
        accuracy_change=Parts(scores.selection.accuracy.change or Estimate(), accuracy),
        verdict=claim.verdict if claim else None,
        optimism=Optimism(Parts(gaps.selection.alone, gaps.holdout.alone), _observed(changes), expected=None),
        strip=strip,
        confirmed=_confirmed(selection, field),
    )


def _confirmed(selection: Selection, field: Candidates) -> tuple[int, ...]:
    """List the other candidates that the holdout shows to be fairer, all models judged together."""
    metric = selection.tolerances.metric
    return tuple(
        rank
        for rank in selection.candidates
        if rank not in (selection.rank, field.reference.rank)
        if field.model(rank).scores.holdout.gap(metric).verdict is Verdict.FAIRER
    )


def _observed(changes: Parts[Estimate]) -> Estimate:
    """Subtract the change on the selection split from the change on the holdout.

    The former is a fact; only the true change is unknown, and its limits are those of the holdout.
    """
    shown = changes.selection.value
    ends = (changes.holdout.value, changes.holdout.low, changes.holdout.high)
    return Estimate(*(None if shown is None or end is None else end - shown for end in ends))


def choose(field: Candidates, column: str | None, tolerances: Tolerances, rank: int | None = None) -> Selection:
    """Choose a model by the rule, or take the one of the given rank.

    `column` is the sensitive column, or intersection, whose gap is to be small; `tolerances` say what a fairer model
    may cost, and what it must not make worse.
    """
    standing = _standing(field, column, tolerances)
    candidates = _ranks(np.flatnonzero(standing.candidates(tolerances)))
    chosen = _ruled(standing, column, tolerances) if rank is None else rank
    outcome = _outcome(field, standing, chosen)
    is_asked, models = rank is not None, len(field.models) + (field.incumbent is not None)
    return Selection(
        rank=chosen,
        outcome=outcome,
        reason="asked_for" if is_asked else reason_for(outcome, column, models, {*candidates} - {field.reference.rank}),
        column=column,
        tolerances=tolerances,
        candidates=candidates,
        pareto_front=_ranks(standing.pareto_front()),
    )


def _outcome(field: Candidates, standing: CandidateScores, chosen: int | None) -> Outcome:
    if field.incumbent is not None:
        is_nothing = bool(standing.is_constant.all()) and field.incumbent.is_constant
        return "selected" if chosen is not None else "none" if is_nothing else "kept"
    return "none" if chosen is None else "kept" if chosen == 1 else "selected"


def _ruled(standing: CandidateScores, column: str | None, tolerances: Tolerances) -> int | None:
    """Return the rank of the fairest candidate; None if there is none, or the model in use is no less fair.

    Without groups there is no gap to reduce, and model 1, or the model in use, is kept.
    """
    if column is None and (standing.target is not None or not standing.is_constant[0]):
        return None if standing.target is not None else 1
    place = int(standing.fairest(tolerances))
    return None if place < 0 else place + 1


def choose_again(document: AuditDocument, tolerances: Tolerances, rank: int | None = None) -> AuditDocument:
    """Return the document with another choice; an explanation stays if model and metric do."""
    if rank is not None and not 1 <= rank <= len(document.models):
        raise ResultError(f"the result has no model of rank {rank}; its ranks are 1 to {len(document.models)}")
    field, config = field_of(document), document.config
    judged = judge_again(choose(field, document.column, tolerances, rank), field, config)
    last, selection = document.selection, guarded(judged, field, config.confidence)
    is_same = (last.rank, last.tolerances.metric) == (selection.rank, tolerances.metric)
    fresh = in_detail(
        document.but(
            selection=selection,
            explanation=document.explanation if is_same else None,
            flips=document.flips if last.rank == selection.rank else None,
        )
    )
    return fresh.but(warnings=cautions(fresh))


def _standing(field: Candidates, column: str | None, tolerances: Tolerances) -> CandidateScores:
    models, incumbent = field.models, field.incumbent
    scores = [model.scores.selection for model in models]
    found, first = (
        measured(some, field.sensitive, "selection", column, tolerances.metric) for some in (models, [field.reference])
    )
    return CandidateScores(
        objective_ratio=np.array([model.objective_ratio for model in models], dtype=np.float64),
        performance=np.array([one.performance.value for one in scores], dtype=np.float64),
        gap=np.array([one.gap(tolerances.metric).value for one in scores], dtype=np.float64),
        is_constant=np.array([model.is_constant for model in models]),
        loss_ratio=np.array([model.loss_ratio for model in models]),
        excess=found.excess(tolerances.guardrails, first).max(axis=0, initial=0.0),
        target=None if incumbent is None else _target(incumbent, tolerances),
    )


def _target(incumbent: Incumbent, tolerances: Tolerances) -> IncumbentTarget:
    scores = incumbent.scores.selection
    known = (scores.performance.value, scores.gap(tolerances.metric).value)
    return IncumbentTarget(*(math.nan if number is None else number for number in known))


def _ranks(places: np.ndarray) -> tuple[int, ...]:
    return tuple(int(place) + 1 for place in places)
