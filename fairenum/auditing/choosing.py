"""The choice of a model when a run ends and whenever tolerances change, and the verdicts on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from fairenum.auditing.candidates import Candidates, candidates_of, measured, with_guards
from fairenum.auditing.group_tables import shortlist_tables, shortlisted
from fairenum.auditing.scored_set import ScoredSet
from fairenum.document.audit_config import AuditConfig
from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import cautions
from fairenum.document.choice import GapChange, Optimism, Selection, reason_for
from fairenum.document.terms import ACCURACY, GAPS, Gap, Outcome, PerformanceMeasure, Verdict
from fairenum.document.training import Tolerances
from fairenum.document.value import Estimate, Parts
from fairenum.enumeration.fairest import CandidateScores, IncumbentTarget
from fairenum.errors import ResultError
from fairenum.metrics import Decisions
from fairenum.metrics.comparison import compare_chosen, is_coarse
from fairenum.metrics.guardrails import Measured, Subject
from fairenum.metrics.intervals import estimates
from fairenum.metrics.performance import performance_changes
from fairenum.runtime.random_streams import stream
from fairenum.svm.problem import FloatArray

CLAIM = 0.8  # share of the error probability that goes to the claim
PERFORMANCE = Subject("performance")


def judge_by_fresh_holdout(
    selection: Selection, candidates: Candidates, scored_set: ScoredSet, config: AuditConfig
) -> Selection:
    """Judge the first choice of a run by itself, or with all models together where the holdout took part in it."""
    division = scored_set.division
    if division.is_exploratory or selection.outcome != "selected" or selection.rank is None:
        return judge_by_seen_holdout(selection, candidates, config).but(is_in_sight=division.is_exploratory)
    place = scored_set.ranks.index(selection.rank)
    decisions = {groups.column: scored_set.decisions("holdout", groups.column) for groups in division.columns}
    strip = strip_alone(_strip(selection, candidates, config), decisions, place, config)
    everyone, values = scored_set.decisions("holdout", None), scored_set.values("holdout")[[0, place]]
    pair = replace(everyone, predictions=everyone.predictions[[0, place]])

    def changed(measure: PerformanceMeasure, confidence: float) -> Estimate:
        found = performance_changes(pair, values, measure, stream(config.seed, "choice"), confidence=confidence)
        return estimates(found)[1]

    measure, confidence = selection.tolerances.measure, config.confidence
    floor = changed(measure, 2.0 * confidence - 1.0).low if confidence > 0.5 else None
    performance = changed(measure, confidence), changed(ACCURACY, confidence)
    return _with_gains(selection.but(performance_floor=floor), candidates, strip, *performance)


def judge_by_seen_holdout(selection: Selection, candidates: Candidates, config: AuditConfig) -> Selection:
    """Judge a choice made after the holdout was seen, by the document's limits for all models together."""
    selection = selection.but(is_in_sight=True)
    if selection.outcome != "selected" or selection.rank is None:
        return selection.but(confirmed=_confirmed(selection, candidates))
    scores = candidates.model(selection.rank).scores.holdout
    performance, accuracy = (one.change or Estimate() for one in (scores.performance, scores.accuracy))
    strip = _strip(selection, candidates, config)
    return _with_gains(selection.but(performance_floor=performance.low), candidates, strip, performance, accuracy)


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
    # a gap that rests on a handful of rows is left open, and takes no share of the error from the others
    judgeable = sum(cell.change.low is not None and not cell.is_coarse for cell in others)
    share = (1.0 - CLAIM / 2.0 if is_shown else 1.0 - CLAIM) / max(judgeable, 1)
    return (*claim, *(judged(cell, share * alpha) for cell in others))


def strip_cells(columns: Iterable[str], primary: str | None, metric: Gap) -> list[tuple[str, Gap]]:
    """List every gap in every sensitive column; the claim, one gap of the primary column, and its column come first."""
    cells = [(column, gap) for column in sorted(columns, key=lambda column: column != primary) for gap in GAPS]
    return sorted(cells, key=lambda cell: cell != (primary, metric))


def _strip(selection: Selection, candidates: Candidates, config: AuditConfig) -> tuple[GapChange, ...]:
    """List every gap in every sensitive column, with limits for all models together; the claim and its column first."""
    claim = selection.column, selection.tolerances.metric
    first, chosen = (one.scores.holdout for one in (candidates.reference, candidates.model(selection.rank or 1)))

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

    return tuple(shown(*cell) for cell in strip_cells(chosen.by_column, *claim))


def _with_gains(
    selection: Selection,
    candidates: Candidates,
    strip: tuple[GapChange, ...],
    performance: Estimate,
    accuracy: Estimate,
) -> Selection:
    """Add the gains of the selected model, on the selection split and on the holdout."""
    scores = candidates.model(selection.rank or 1).scores
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
        confirmed=_confirmed(selection, candidates),
    )


def _confirmed(selection: Selection, candidates: Candidates) -> tuple[int, ...]:
    """List the other candidates that the holdout shows to be fairer, all models judged together."""
    metric = selection.tolerances.metric
    return tuple(
        rank
        for rank in selection.candidates
        if rank not in (selection.rank, candidates.reference.rank)
        if candidates.model(rank).scores.holdout.gap(metric).verdict is Verdict.FAIRER
    )


def _observed(changes: Parts[Estimate]) -> Estimate:
    """Subtract the change on the selection split from the change on the holdout.

    The former is a fact; only the true change is unknown, and its limits are those of the holdout.
    """
    shown = changes.selection.value
    ends = (changes.holdout.value, changes.holdout.low, changes.holdout.high)
    return Estimate(*(None if shown is None or end is None else end - shown for end in ends))


def choose(candidates: Candidates, column: str | None, tolerances: Tolerances, rank: int | None = None) -> Selection:
    """Choose a model by the rule, or take the one of the given rank.

    `column` is the sensitive column, or intersection, whose gap is to be small; `tolerances` say what a fairer model
    may cost, and what it must not make worse.
    """
    standing = _standing(candidates, column, tolerances)
    within = _ranks(np.flatnonzero(standing.candidates(tolerances)))
    place = chosen_place(standing, column, tolerances) if rank is None else rank - 1
    chosen = None if place is None else place + 1
    outcome = _outcome(candidates, standing, chosen)
    models, others = (
        len(candidates.models) + (candidates.incumbent is not None),
        {*within} - {candidates.reference.rank},
    )
    return Selection(
        rank=chosen,
        outcome=outcome,
        reason="asked_for" if rank is not None else reason_for(outcome, column, models, others),
        column=column,
        tolerances=tolerances,
        candidates=within,
        pareto_front=_ranks(standing.pareto_front()),
    )


def _ranks(places: np.ndarray) -> tuple[int, ...]:
    return tuple(int(place) + 1 for place in places)


def _outcome(candidates: Candidates, standing: CandidateScores, chosen: int | None) -> Outcome:
    if candidates.incumbent is not None:
        is_nothing = bool(standing.is_constant.all()) and candidates.incumbent.is_constant
        return "selected" if chosen is not None else "none" if is_nothing else "kept"
    return "none" if chosen is None else "kept" if chosen == 1 else "selected"


def _standing(candidates: Candidates, column: str | None, tolerances: Tolerances) -> CandidateScores:
    models = candidates.models
    found, reference = (
        measured(some, candidates.sensitive, "selection", column, tolerances.metric)
        for some in (models, [candidates.reference])
    )
    return candidate_standing(
        found,
        reference,
        np.array([model.objective_ratio for model in models], dtype=np.float64),
        np.array([model.loss_ratio for model in models]),
        tolerances,
        is_in_use=candidates.incumbent is not None,
    )


def candidate_standing(
    models: Measured,
    reference: Measured,
    objective_ratio: FloatArray,
    loss_ratio: FloatArray,
    tolerances: Tolerances,
    *,
    is_in_use: bool,
) -> CandidateScores:
    """Return the scores by which the rule of choice compares models, from all that was measured on the selection split.

    `is_in_use` says whether the reference is the model in use, and not model 1.
    """
    return CandidateScores(
        objective_ratio=objective_ratio,
        performance=models.values[PERFORMANCE],
        gap=_gaps(models),
        is_constant=models.is_constant,
        loss_ratio=loss_ratio,
        excess=models.excess(tolerances.guardrails, reference).max(axis=0, initial=0.0),
        target=target_of(reference) if is_in_use else None,
    )


def target_of(reference: Measured) -> IncumbentTarget:
    """Return performance and gap of the model that others are compared with."""
    return IncumbentTarget(float(reference.values[PERFORMANCE][0]), float(_gaps(reference)[0]))


def _gaps(models: Measured) -> FloatArray:
    """Return the gap that models are selected by; NaN without groups."""
    unknown = np.full(len(models.is_constant), np.nan)
    return models.values.get(Subject(models.metric, models.primary), unknown)


def chosen_place(standing: CandidateScores, column: str | None, tolerances: Tolerances) -> int | None:
    """Return the place of the fairest candidate; None if there is none, or the model in use is no less fair.

    Without groups there is no gap to reduce, and model 1, or the model in use, is kept.
    """
    if column is None and (standing.target is not None or not standing.is_constant[0]):
        return None if standing.target is not None else 0
    place = int(standing.fairest(tolerances))
    return None if place < 0 else place


def selection_again(document: AuditDocument, tolerances: Tolerances, rank: int | None = None) -> Selection:
    """Choose again from a document whose holdout was seen, and judge the choice."""
    if rank is not None and not 1 <= rank <= len(document.models):
        raise ResultError(f"the result has no model of rank {rank}; its ranks are 1 to {len(document.models)}")
    candidates, config = candidates_of(document), document.config
    judged = judge_by_seen_holdout(choose(candidates, document.column, tolerances, rank), candidates, config)
    return with_guards(judged, candidates, config.confidence)


def choose_again(document: AuditDocument, tolerances: Tolerances, rank: int | None = None) -> AuditDocument:
    """Return the document with another choice; an explanation stays if model and metric do."""
    last, selection = document.selection, selection_again(document, tolerances, rank)
    is_same = (last.rank, last.tolerances.metric) == (selection.rank, tolerances.metric)
    return with_selection(
        document,
        selection,
        explanation=document.explanation if is_same else None,
        flips=document.flips if last.rank == selection.rank else None,
    )


def with_selection(document: AuditDocument, selection: Selection, **details: object) -> AuditDocument:
    """Return the document with another selection, its tables, its details and its cautions."""
    tables = shortlist_tables(document.dataset, shortlisted(document.members, selection), document.config)
    fresh = document.but(selection=selection, **tables, **details)
    return fresh.but(warnings=cautions(fresh))
