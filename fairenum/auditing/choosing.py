"""The choice of a model, at the end of a run or under changed tolerances, and the verdicts on the chosen model."""

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
from fairenum.document.choice import ROUNDING_DIGITS, GapChange, Optimism, RateDifference, Selection, reason_for
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

CLAIM = 0.8  # share of the error probability for the claim, the gap that the choice is to reduce
PERFORMANCE, RATE = Subject("performance"), Subject("selection_rate")
RATE_GUARDS = ("selection_rate", "group_selection_rates", "worst_group_selection_rate")


def judge_by_fresh_holdout(
    selection: Selection, candidates: Candidates, scored_set: ScoredSet, config: AuditConfig
) -> Selection:
    """Return the first choice of a run with its changes of gap and performance, and verdicts, on the holdout.

    They are for the chosen model alone or, if the holdout took part in the choice, simultaneous over all models.
    """
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
    """Return a choice made after the holdout was seen, with verdicts that are simultaneous over all models."""
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
    """Return the gap changes of the selected model with intervals and verdicts for this model alone.

    The gap that the choice is to reduce (the claim) comes first and gets the share `CLAIM` of the error probability.
    The other gaps divide the rest and, if the claim has a clear verdict, also half of the claim's share.

    `strip` has one change for each gap and sensitive column; its intervals and verdicts are replaced. `decisions` are
    those of all models about the holdout, by sensitive column; `place` is the index of the selected model among them.
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
    """Return all pairs of sensitive column and gap: the primary column first, and there `metric` first."""
    cells = [(column, gap) for column in sorted(columns, key=lambda column: column != primary) for gap in GAPS]
    return sorted(cells, key=lambda cell: cell != (primary, metric))


def _strip(selection: Selection, candidates: Candidates, config: AuditConfig) -> tuple[GapChange, ...]:
    """Return the change of every gap in every sensitive column, in the order of `strip_cells`.

    Changes are from the reference model to the selected one, on the holdout, with intervals that are simultaneous over
    all models.
    """
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
    """Return a selection with its changes of gap, performance and accuracy, and the verdict on the gap."""
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
    """Return the ranks of unselected candidates that the holdout shows to be fairer than the reference model."""
    metric = selection.tolerances.metric
    return tuple(
        rank
        for rank in selection.candidates
        if rank not in (selection.rank, candidates.reference.rank)
        if candidates.model(rank).scores.holdout.gap(metric).verdict is Verdict.FAIRER
    )


def _observed(changes: Parts[Estimate]) -> Estimate:
    """Return the selected model's change of gap on the holdout minus its change of gap on the selection split.

    The second change counts as a known number, so the interval is that of the first, shifted.
    """
    shown = changes.selection.value
    ends = (changes.holdout.value, changes.holdout.low, changes.holdout.high)
    return Estimate(*(None if shown is None or end is None else end - shown for end in ends))


def choose(candidates: Candidates, column: str | None, tolerances: Tolerances, rank: int | None = None) -> Selection:
    """Return the choice of the fairest model within the tolerances, or of the model of the given rank.

    `column` is the sensitive column, or intersection of columns, whose gap is to be small. `tolerances` limit what a
    fairer model may cost in objective, loss and performance, and hold the guardrails.
    """
    found, reference = (
        measured(some, candidates.sensitive, "selection", column, tolerances.metric)
        for some in (candidates.models, [candidates.reference])
    )
    standing = _standing(candidates, found, reference, tolerances)
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
        incomparable=None if rank is not None or others else rate_difference(standing, found, reference, tolerances),
    )


def _ranks(places: np.ndarray) -> tuple[int, ...]:
    return tuple(int(place) + 1 for place in places)


def _outcome(candidates: Candidates, standing: CandidateScores, chosen: int | None) -> Outcome:
    if candidates.incumbent is not None:
        is_nothing = bool(standing.is_constant.all()) and candidates.incumbent.is_constant
        return "selected" if chosen is not None else "none" if is_nothing else "kept"
    return "none" if chosen is None else "kept" if chosen == 1 else "selected"


def _standing(candidates: Candidates, found: Measured, reference: Measured, tolerances: Tolerances) -> CandidateScores:
    models = candidates.models
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
    """Return the scores by which the rule of choice compares models, given their measures on the selection split.

    `is_in_use` says whether `reference` is the model in use; otherwise it is model 1.
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


def rate_difference(
    standing: CandidateScores, models: Measured, reference: Measured, tolerances: Tolerances
) -> RateDifference | None:
    """Return the selection rates that make all models incomparable with the reference, given that none is a candidate.

    They are incomparable if all of them break a guardrail on the change of `selection_rate`, or if one that breaks it
    would be a candidate without guardrails on selection rates. Models that decide all rows alike do not count.
    """
    guards = [guard for guard in tolerances.guardrails if guard.quantity == RATE.measure and guard.is_relative]
    beyond = models.excess(guards, reference).max(axis=0, initial=0.0)
    is_far, is_other = np.round(beyond, ROUNDING_DIGITS) > 0.0, ~models.is_constant
    if standing.target is None:
        is_other[0] = False  # model 1, the reference
    if not (is_far & is_other).any():
        return None
    kept = [guard for guard in tolerances.guardrails if not (guard.is_relative and guard.quantity in RATE_GUARDS)]
    excess = models.excess(kept, reference).max(axis=0, initial=0.0)
    is_suitable = replace(standing, excess=excess).candidates(tolerances) & is_far & is_other
    if not is_suitable.any() and not is_far[is_other].all():
        return None
    place = int(np.where(is_far & is_other, beyond, np.inf).argmin())
    rate, closest = float(reference.values[RATE][0]), float(models.values[RATE][place])
    return RateDifference(rate, closest, round(abs(closest - rate) - float(beyond[place]), ROUNDING_DIGITS))


def target_of(reference: Measured) -> IncumbentTarget:
    """Return the performance and the gap of the model that others are compared with."""
    return IncumbentTarget(float(reference.values[PERFORMANCE][0]), float(_gaps(reference)[0]))


def _gaps(models: Measured) -> FloatArray:
    unknown = np.full(len(models.is_constant), np.nan)
    return models.values.get(Subject(models.metric, models.primary), unknown)


def chosen_place(standing: CandidateScores, column: str | None, tolerances: Tolerances) -> int | None:
    """Return the index of the fairest candidate; None if there is no candidate, or the model in use is kept.

    Without a sensitive column there is no gap to reduce: model 1, or the model in use, is kept.
    """
    if column is None and (standing.target is not None or not standing.is_constant[0]):
        return None if standing.target is not None else 0
    place = int(standing.fairest(tolerances))
    return None if place < 0 else place


def selection_again(document: AuditDocument, tolerances: Tolerances, rank: int | None = None) -> Selection:
    """Return another choice among the models of a document, with verdicts simultaneous over all models."""
    if rank is not None and not 1 <= rank <= len(document.models):
        raise ResultError(f"the result has no model of rank {rank}; its ranks are 1 to {len(document.models)}")
    candidates, config = candidates_of(document), document.config
    judged = judge_by_seen_holdout(choose(candidates, document.column, tolerances, rank), candidates, config)
    return with_guards(judged, candidates, config.confidence)


def choose_again(document: AuditDocument, tolerances: Tolerances, rank: int | None = None) -> AuditDocument:
    """Return the document with another choice; its explanation is kept if model and metric stay the same."""
    last, selection = document.selection, selection_again(document, tolerances, rank)
    is_same = (last.rank, last.tolerances.metric) == (selection.rank, tolerances.metric)
    return with_selection(
        document,
        selection,
        explanation=document.explanation if is_same else None,
        flips=document.flips if last.rank == selection.rank else None,
    )


def with_selection(document: AuditDocument, selection: Selection, **details: object) -> AuditDocument:
    """Return the document with another selection and the fields `details`; tables and warnings are made again."""
    tables = shortlist_tables(document.dataset, shortlisted(document.members, selection), document.config)
    fresh = document.but(selection=selection, **tables, **details)
    return fresh.but(warnings=cautions(fresh))
