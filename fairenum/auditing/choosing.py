"""The choice of a model, at the end of a run or under changed tolerances, and the verdicts on the chosen model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fairenum.auditing.candidates import Candidates, candidates_of, measured, with_guards
from fairenum.auditing.group_tables import document_counts, shortlist_tables, shortlisted
from fairenum.auditing.prospects import confirmation_chance
from fairenum.auditing.scored_set import ScoredSet
from fairenum.document.audit_config import AuditConfig
from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import cautions
from fairenum.document.choice import (
    ROUNDING_DIGITS,
    GapChange,
    Incomparable,
    LooserLimits,
    Optimism,
    Selection,
    ShownEvidence,
    in_steps,
    reason_for,
)
from fairenum.document.consequences import rates_by_group
from fairenum.document.guards import Guard
from fairenum.document.models import AuditedModel, ComparedPair, Incumbent, OwnVerdict
from fairenum.document.scores import ColumnScores
from fairenum.document.table_facts import SensitiveColumn
from fairenum.document.terms import ACCURACY, GAPS, Gap, Outcome, PerformanceMeasure, Verdict
from fairenum.document.training import Tolerances
from fairenum.document.value import Estimate, Parts
from fairenum.enumeration.division import PARTS
from fairenum.enumeration.fairest import CandidateScores, IncumbentTarget
from fairenum.errors import ResultError
from fairenum.metrics import Decisions
from fairenum.metrics.claims import (
    ChosenComparison,
    Errors,
    FixedPair,
    FixedPairs,
    compare_chosen,
    compare_pair,
    fixed_pairs,
    is_one_pair,
    is_pair_coarse,
    others_against,
    pair_gaps,
)
from fairenum.metrics.comparison import is_coarse
from fairenum.metrics.guardrails import Measured, Subject
from fairenum.metrics.intervals import estimates
from fairenum.metrics.performance import performance_changes
from fairenum.metrics.rates import FRACTIONS, share
from fairenum.runtime.random_streams import stream
from fairenum.svm.problem import FloatArray

CLAIM = 0.8  # share of the error of false verdicts "fairer" for the claim, the gap that the choice is to reduce
PERFORMANCE, RATE = Subject("performance"), Subject("selection_rate")
MOST_TRIED = 20  # wider tolerances that are looked at
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
    rows = {
        groups.column: Parts(*(scored_set.decisions(part, groups.column) for part in PARTS))
        for groups in division.columns
    }
    strip = strip_alone(_strip(selection, candidates, config), rows, place, config)
    everyone, values = scored_set.decisions("holdout", None), scored_set.values("holdout")
    measure = selection.tolerances.measure
    ends = _performance_limits(everyone, values, place, measure, config)
    performance = (
        _performance_change(everyone, values, place, one, config.seed, config.confidence) for one in (measure, ACCURACY)
    )
    limited = selection.but(performance_floor=ends.low, performance_ceiling=ends.high)
    return _with_gains(limited, candidates, strip, *performance)


def judge_by_seen_holdout(selection: Selection, candidates: Candidates, config: AuditConfig) -> Selection:
    """Return a choice made after the holdout was seen, with verdicts that are simultaneous over all models."""
    selection = selection.but(is_in_sight=True)
    if selection.outcome != "selected" or selection.rank is None:
        return selection.but(confirmed=_confirmed(selection, candidates))
    scores = candidates.model(selection.rank).scores.holdout
    performance, accuracy = (one.change or Estimate() for one in (scores.performance, scores.accuracy))
    strip = _strip(selection, candidates, config)
    limited = selection.but(performance_floor=performance.low, performance_ceiling=performance.high)
    return _with_gains(limited, candidates, strip, performance, accuracy)


def strip_alone(
    strip: Sequence[GapChange], rows: dict[str, Parts[Decisions]], place: int, config: AuditConfig
) -> tuple[GapChange, ...]:
    """Return the gap changes of the selected model with intervals and verdicts for this model alone.

    Half of the error probability is for false verdicts "fairer", half for false verdicts "less fair". Of the first
    half, the share `CLAIM` is for the claim, the rest for the other gaps, which get all of it once the claim is shown.
    Within each half, gaps are tested by Holm's procedure. Where the gap of the claim has more than two groups or rates,
    the claim is about the widest pair of groups, and the gap over all groups follows it.

    `strip` has one change for each gap and sensitive column; its intervals and verdicts are replaced. `rows` are the
    decisions of all models by sensitive column: those about the selection split fix the pairs of groups, those about
    the holdout are judged. `place` is the index of the selected model among them.
    """
    half = (1.0 - config.confidence) / 2.0
    cases = [case for cell in strip for case in _cases(cell, rows[cell.column], place, config)]
    harms = _stepped([case for case in cases if case.is_open], half, lambda case, error: case.is_less_fair(error))
    claims, others = ([case for case in cases if case.cell.is_claim is is_claim] for is_claim in (True, False))
    gains = dict.fromkeys(claims, CLAIM * half)
    is_shown = any(case.is_open and case.is_fairer(gains[case]) for case in claims)
    left = half if is_shown else (1.0 - CLAIM) * half
    gains |= _stepped([case for case in others if case.is_open], left, lambda case, error: case.is_fairer(error))
    return tuple(case.judged(Errors(gains.get(case, half), harms.get(case, half))) for case in cases)


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """The change of one gap, with the rows that judge it.

    Attributes
    ----------
    pairs
        The groups that are farthest apart on the selection split; None if the gap is undefined there.
    """

    cell: GapChange
    holdout: Decisions
    place: int
    pairs: FixedPairs | None
    margin: float

    @property
    def is_open(self) -> bool:
        """Whether the change can be judged: it is defined, and no group has too few rows."""
        return self.pairs is not None and self.cell.change.low is not None and not self.cell.is_coarse

    def is_fairer(self, error: float) -> bool:
        """Tell whether the gap is shown to be smaller, with this probability of error."""
        return bool(self._compared(Errors(error, 0.5)).change.upper < 0.0)

    def is_less_fair(self, error: float) -> bool:
        """Tell whether the gap is shown to be larger, with this probability of error."""
        return bool(self._compared(Errors(0.5, error)).change.lower > 0.0)

    def judged(self, errors: Errors) -> GapChange:
        """Return the change with its interval and verdict, of these probabilities of error."""
        if self.pairs is None or self.cell.change.low is None:
            return self.cell
        found = self._compared(errors)
        verdict = found.verdict and Verdict.OPEN if self.cell.is_coarse else found.verdict
        return self.cell.but(change=estimates(found.change[None])[0], verdict=verdict, confidence=1.0 - sum(errors))

    def _compared(self, errors: Errors) -> ChosenComparison:
        assert self.pairs is not None  # noqa: S101 - asked of judgeable cases alone
        if self.cell.pair:
            return compare_pair(self.holdout, self.place, self.pairs.first, errors, margin=self.margin)
        return compare_chosen(self.holdout, self.place, self.cell.metric, self.pairs, errors, margin=self.margin)


def _cases(cell: GapChange, rows: Parts[Decisions], place: int, config: AuditConfig) -> Iterator[_Case]:
    """Yield the case of a gap; for the claim in a gap of many pairs first that of its widest pair, then several others.

    These are the gap over all groups, and that of each other group against the control: the group that was named, or
    the group of the higher rate in the widest pair.
    """
    pairs = fixed_pairs(rows.selection, place, cell.metric, config.control if cell.is_claim else None)
    few = is_coarse(rows.holdout, place, cell.metric, config.min_group_size)
    is_few = cell.change.low is not None and few
    whole = cell.but(is_coarse=is_few and not cell.is_claim)
    if not cell.is_claim or pairs is None or is_one_pair(rows.holdout, cell.metric):
        yield _Case(whole, rows.holdout, place, pairs, config.same_within)
        return
    first, chosen = pair_gaps(rows.holdout, place, pairs.first, config.confidence)
    pair = ComparedPair(*pairs.first)
    own = cell.but(first=first, selected=chosen, pair=pair)
    yield _Case(own, rows.holdout, place, FixedPairs(pairs.first, pairs.first), config.same_within)
    yield _Case(whole.but(is_claim=False, is_coarse=is_few), rows.holdout, place, pairs, config.same_within)
    for watched in others_against(rows.selection, pairs.first, config.control or pairs.first.higher):
        first, chosen = pair_gaps(rows.holdout, place, watched, config.confidence)
        other = cell.but(
            is_claim=False,
            first=first,
            selected=chosen,
            pair=ComparedPair(*watched),
            is_coarse=_is_few(rows.holdout, watched, place, config),
        )
        yield _Case(other, rows.holdout, place, FixedPairs(watched, watched), config.same_within)


def _is_few(decisions: Decisions, pair: FixedPair, place: int, config: AuditConfig) -> bool:
    """Tell whether one of two groups has too few rows for a verdict on the gap between them."""
    return is_pair_coarse(decisions, place, pair, config.min_group_size)


def _stepped(cases: Sequence[_Case], error: float, is_shown: Callable[[_Case, float], bool]) -> dict[_Case, float]:
    """Return the error probability of each case by Holm's procedure, at which its limit agrees with its verdict.

    Each case starts with an equal share of the error; whenever some are shown, the others share all of it.
    """
    levels: dict[_Case, float] = {}
    while left := [case for case in cases if case not in levels]:
        share = error / len(left)
        shown = [case for case in left if is_shown(case, share)]
        levels |= dict.fromkeys(shown or left, share)
    return levels


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


def choose(
    candidates: Candidates, column: str | None, tolerances: Tolerances, confidence: float, rank: int | None = None
) -> Selection:
    """Return the choice of the fairest model within the tolerances, or of the model of the given rank.

    `column` is the sensitive column, or intersection of columns, whose gap is to be small. `tolerances` limit what a
    fairer model may cost in loss and performance, and hold the guardrails. `confidence` is that of the
    tests by which the holdout confirms a choice.
    """
    found, reference = (
        measured(some, candidates.sensitive, "selection", column, tolerances.metric)
        for some in (candidates.models, [candidates.reference])
    )

    def rule(limits: Tolerances) -> CandidateScores:
        chances = _chances(candidates, limits, confidence)
        return _standing(candidates, found, reference, limits, chances)

    standing = rule(tolerances)
    chances = standing.chance
    within = _ranks(np.flatnonzero(standing.candidates(tolerances)))
    place = chosen_place(standing, column, tolerances) if rank is None else rank - 1
    chosen = None if place is None else place + 1
    outcome = _outcome(candidates, standing, chosen)
    models, others = (
        len(candidates.models) + (candidates.incumbent is not None),
        {*within} - {candidates.reference.rank},
    )
    reason = "asked_for" if rank is not None else reason_for(outcome, column, models, others)
    is_empty = reason == "no_other_candidate" and not within and candidates.incumbent is not None
    return Selection(
        rank=chosen,
        outcome=outcome,
        reason=reason,
        column=column,
        tolerances=tolerances,
        candidates=within,
        pareto_front=_ranks(standing.pareto_front()),
        chance=None if chances is None or chosen is None or outcome != "selected" else float(chances[chosen - 1]),
        incomparable=() if rank is not None or others else incomparable(standing, found, reference, tolerances),
        looser=_looser_limits(standing, rule, tolerances) if is_empty else None,
    )


def _looser_limits(
    standing: CandidateScores, rule: Callable[[Tolerances], CandidateScores], tolerances: Tolerances
) -> LooserLimits | None:
    """Return the limits nearest to the tolerances under which the rule selects a model; None if there are none.

    It is applied with wider tolerances of performance (the least first), without guardrails, and with both.
    """
    short = np.nan_to_num(standing.target.performance - standing.performance) if standing.target else np.empty(0)
    beyond = {in_steps(float(one)) for one in short if one > tolerances.max_performance_drop}
    drops = [None, *sorted(beyond)[:MOST_TRIED]]
    tried = [LooserLimits(drop, is_free) for is_free in (False, True) for drop in drops if is_free or drop is not None]
    for limits in sorted(tried, key=lambda one: one.is_unguarded and one.max_performance_drop is not None):
        if _is_enough(limits, rule, tolerances):
            return limits
    return None


def _is_enough(limits: LooserLimits, rule: Callable[[Tolerances], CandidateScores], tolerances: Tolerances) -> bool:
    """Tell whether the rule selects a model under looser limits."""
    drop = tolerances.max_performance_drop if limits.max_performance_drop is None else limits.max_performance_drop
    guards = () if limits.is_unguarded else tolerances.guards
    wider = replace(tolerances, max_performance_drop=drop, guards=guards)
    return int(rule(wider).fairest(wider)) >= 0


def unless_alike(selection: Selection, candidates: Candidates, *, always_search: bool) -> Selection:
    """Return a choice by the rule, or one that keeps the reference, if that has no gap that is shown.

    A model that was asked for by its rank stays chosen, and so does every model if the options ask for a search. Where
    every model decides all rows alike, none is chosen: they have no gap for that reason alone.
    """
    found, is_settled = selection.disparity, selection.reason == "asked_for" or selection.outcome == "none"
    if found is None or found.is_shown or always_search or is_settled:
        return selection
    rank = None if candidates.incumbent is not None else 1
    return selection.but(rank=rank, outcome="kept", reason="no_disparity", chance=None)


def _chances(candidates: Candidates, tolerances: Tolerances, confidence: float) -> FloatArray | None:
    """Return for each model the chance that the holdout confirms it; None if no model has a prospect."""
    if not any(model.prospect for model in candidates.models):
        return None
    alpha = 1.0 - confidence
    errors = CLAIM * alpha / 2.0, alpha
    found = [confirmation_chance(one, candidates.reference, tolerances, errors) for one in candidates.models]
    return np.array(found)


def _ranks(places: np.ndarray) -> tuple[int, ...]:
    return tuple(int(place) + 1 for place in places)


def _outcome(candidates: Candidates, standing: CandidateScores, chosen: int | None) -> Outcome:
    if candidates.incumbent is not None:
        is_nothing = bool(standing.is_constant.all()) and candidates.incumbent.is_constant
        return "selected" if chosen is not None else "none" if is_nothing else "kept"
    return "none" if chosen is None else "kept" if chosen == 1 else "selected"


def _standing(
    candidates: Candidates,
    found: Measured,
    reference: Measured,
    tolerances: Tolerances,
    chances: FloatArray | None,
) -> CandidateScores:
    models = candidates.models
    standing = candidate_standing(
        found,
        reference,
        np.array([model.loss_ratio for model in models]),
        tolerances,
        is_in_use=candidates.incumbent is not None,
        chance=chances,
    )
    return standing if chances is None else _expected(standing, models, reference)


def _expected(standing: CandidateScores, models: Sequence[AuditedModel], reference: Measured) -> CandidateScores:
    """Return the scores with gap and performance as expected on new rows, where the selection split alone misleads."""
    gap, performance, target = standing.gap.copy(), standing.performance.copy(), target_of(reference)
    for place, model in enumerate(models):
        prospect = model.prospect
        if prospect is None or prospect.whole_gap_change is None or prospect.performance_change is None:
            continue
        gap[place] = target.gap + prospect.whole_gap_change
        if prospect.is_crossed:
            performance[place] = target.performance + prospect.performance_change
    return replace(standing, gap=gap, performance=performance)


def candidate_standing(
    models: Measured,
    reference: Measured,
    loss_ratio: FloatArray,
    tolerances: Tolerances,
    *,
    is_in_use: bool,
    chance: FloatArray | None = None,
) -> CandidateScores:
    """Return the scores by which the rule of choice compares models, given their measures on the selection split.

    `is_in_use` says whether `reference` is the model in use; otherwise it is model 1. `chance` is the probability that
    the holdout confirms a model, if it is known.
    """
    return CandidateScores(
        loss_ratio=loss_ratio,
        performance=models.values[PERFORMANCE],
        gap=_gaps(models),
        is_constant=models.is_constant,
        excess=models.excess(tolerances.guardrails, reference).max(axis=0, initial=0.0),
        target=target_of(reference) if is_in_use else None,
        chance=chance,
    )


def incomparable(
    standing: CandidateScores, models: Measured, reference: Measured, tolerances: Tolerances
) -> tuple[Incomparable, ...]:
    """Return the measures that make all models incomparable with the reference, given that none is a candidate.

    Empty without a sensitive column, as there is no gap to compare.
    """
    if models.primary is None:
        return ()
    by_rate, expected = (
        rate_difference(standing, models, reference, tolerances),
        performance_difference(standing, tolerances),
    )
    # what is expected of a model may differ from what it reaches on these rows: neither may be within the tolerance
    reached = replace(standing, performance=models.values[PERFORMANCE])
    found = by_rate, expected and performance_difference(reached, tolerances)
    return tuple(one for one in found if one is not None)


def performance_difference(standing: CandidateScores, tolerances: Tolerances) -> Incomparable | None:
    """Return the performances that make all models incomparable with the model in use; None if some are comparable.

    They are incomparable if no near-optimal model performs within the tolerance of the model in use. Models that decide
    all rows alike do not count unless all do. An undefined performance rules out no model.
    """
    if standing.target is None:
        return None
    near = standing.is_near_optimal(tolerances)
    usable = near & ~standing.is_constant
    usable = usable if usable.any() else near
    known = np.where(usable, standing.performance, np.nan)
    if (usable & standing.is_performing(tolerances)).any() or np.isnan(known).all():
        return None
    return Incomparable(
        "performance", standing.target.performance, float(np.nanmax(known)), tolerances.max_performance_drop
    )


def rate_difference(
    standing: CandidateScores, models: Measured, reference: Measured, tolerances: Tolerances
) -> Incomparable | None:
    """Return the selection rates that make all models incomparable with the reference, given that none is a candidate.

    They are incomparable if all of them break a guardrail on the change of `selection_rate`, or if one that breaks it
    would be a candidate without guardrails on selection rates. Models that decide all rows alike do not count, and if
    all do, none is comparable.
    """
    guards = [guard for guard in tolerances.guardrails if guard.quantity == RATE.measure and guard.is_relative]
    beyond = models.excess(guards, reference).max(axis=0, initial=0.0)
    is_far, is_other = np.round(beyond, ROUNDING_DIGITS) > 0.0, np.ones(len(beyond), np.bool_)
    if standing.target is None:
        is_other[0] = False  # model 1, the reference
    if reference.is_constant[0] or not is_other.any():
        return None
    is_alike = bool(models.is_constant[is_other].all())
    is_other &= is_alike | ~models.is_constant
    if not is_alike and not (is_far & is_other).any():
        return None
    kept = [guard for guard in tolerances.guardrails if not (guard.is_relative and guard.quantity in RATE_GUARDS)]
    excess = models.excess(kept, reference).max(axis=0, initial=0.0)
    is_suitable = replace(standing, excess=excess).candidates(tolerances) & is_far & is_other
    if not is_alike and not is_suitable.any() and not is_far[is_other].all():
        return None
    rate, rates = float(reference.values[RATE][0]), models.values[RATE]
    place = int(np.where(is_other & (is_far | is_alike), np.abs(rates - rate), np.inf).argmin())
    closest = float(rates[place])
    return Incomparable("selection_rate", rate, closest, _allowed(guards, is_more=closest > rate))


def _allowed(guards: Sequence[Guard], *, is_more: bool) -> float:
    """Return by how much guardrails allow a model to select more, or fewer, than the reference."""
    ends = [guard.high if is_more else guard.low for guard in guards]
    return min((abs(end) for end in ends if end is not None), default=1.0)


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


def own_verdicts(scored_set: ScoredSet, config: AuditConfig) -> list[OwnVerdict | None]:
    """Return for each listed model the verdict of the holdout on it alone; None for the reference.

    All are None in an exploratory run, and without a sensitive column.
    """
    division = scored_set.division
    if division.is_exploratory or division.column is None:
        return [None] * len(scored_set.listing.models)
    rows = Parts(*(scored_set.decisions(part, division.column) for part in PARTS))
    half = (1.0 - config.confidence) / 2.0
    errors, everyone = Errors(CLAIM * half, half), scored_set.decisions("holdout", None)
    values, found = scored_set.values("holdout"), []
    for place, rank in enumerate(scored_set.ranks):
        if rank == 0:
            continue
        is_reference = place == 0
        found.append(None if is_reference else _own_verdict(rows, everyone, values, place, errors, config))
    return found


def _own_verdict(
    rows: Parts[Decisions], everyone: Decisions, values: FloatArray, place: int, errors: Errors, config: AuditConfig
) -> OwnVerdict | None:
    """Return the verdict of the holdout on one model alone, by the pair of groups that the selection split fixes."""
    pairs = fixed_pairs(rows.selection, place, config.metric, config.control)
    if pairs is None:
        return None
    is_whole = is_one_pair(rows.holdout, config.metric)
    judge = partial(compare_chosen, rows.holdout, place, config.metric, pairs)
    judged = judge if is_whole else partial(compare_pair, rows.holdout, place, pairs.first)
    found = judged(errors, margin=config.same_within)
    limits = _performance_limits(everyone, values, place, config.tolerances.measure, config)
    pair = None if is_whole else ComparedPair(*pairs.first)
    return OwnVerdict(estimates(found.change[None])[0], 1.0 - sum(errors), found.verdict, limits, pair)


def _performance_limits(
    everyone: Decisions, values: FloatArray, place: int, measure: PerformanceMeasure, config: AuditConfig
) -> Estimate:
    """Return a model's change of performance on the holdout, with limits that are one-sided at the confidence."""
    return _performance_change(everyone, values, place, measure, config.seed, max(2.0 * config.confidence - 1.0, 1e-9))


def _performance_change(
    everyone: Decisions, values: FloatArray, place: int, measure: PerformanceMeasure, seed: int, confidence: float
) -> Estimate:
    """Return a model's change of performance on the holdout, with limits of this confidence."""
    pair = replace(everyone, predictions=everyone.predictions[[0, place]])
    found = performance_changes(pair, values[[0, place]], measure, stream(seed, "choice"), confidence=confidence)
    return estimates(found)[1]


def selection_again(
    document: AuditDocument, tolerances: Tolerances, rank: int | None = None, *, in_advance: bool = False
) -> Selection:
    """Return another choice among the models of a document.

    What the holdout showed of a model alone stays shown if it is chosen again, by the same metric: an interval holds
    for every tolerance. With `in_advance`, another model is one claim more that is judged alone; otherwise its verdicts
    are simultaneous over all models.
    """
    if rank is not None and not 1 <= rank <= len(document.models):
        raise ResultError(f"the result has no model of rank {rank}; its ranks are 1 to {len(document.models)}")
    candidates, config, last = candidates_of(document), document.config, document.selection
    disparity = last.disparity if tolerances.metric == last.tolerances.metric else None
    chosen = choose(candidates, document.column, tolerances, config.confidence, rank).but(disparity=disparity)
    chosen = unless_alike(chosen, candidates, always_search=config.always_search)
    known = [*last.shown, *([last.evidence] if last.evidence else [])]
    kept = next((one for one in known if _is_about(one, chosen)), None)
    chosen = chosen.but(shown=tuple(one for one in known if one is not kept), claims=max(len(known), 1))
    if kept is not None:
        judged = _with_evidence(chosen, kept, candidates)
    else:
        judged = judge_by_seen_holdout(chosen, candidates, config)
        judged = _claimed_in_advance(judged, candidates, config) if in_advance else judged
    return with_guards(judged, candidates, config.confidence)


def _is_about(evidence: ShownEvidence, chosen: Selection) -> bool:
    """Tell whether evidence is about the chosen model, and the gap that it was chosen by."""
    found = evidence.rank, "selected", evidence.metric
    return found == (chosen.rank, chosen.outcome, chosen.tolerances.metric)


def _with_evidence(chosen: Selection, evidence: ShownEvidence, candidates: Candidates) -> Selection:
    """Return a choice with what the holdout showed of the model before, and models that it confirms besides."""
    fields = {name: getattr(evidence, name) for name in evidence.__struct_fields__ if name not in ("rank", "metric")}
    return chosen.but(**fields, confirmed=_confirmed(chosen, candidates))


def _claimed_in_advance(judged: Selection, candidates: Candidates, config: AuditConfig) -> Selection:
    """Return a choice with the claim of a model that was fixed in advance: its gap and performance, judged alone."""
    own = candidates.model(judged.rank).own if judged.rank and judged.outcome == "selected" else None
    if own is None or judged.tolerances.metric != config.metric:
        return judged
    strip = tuple(
        one
        for cell in judged.strip
        for one in (
            _claimed(cell, own, candidates, judged.rank or 1, config.control)
            if cell.is_claim
            else (cell.but(is_joint=True),)
        )
    )
    changes = judged.gap_change and Parts(judged.gap_change.selection, own.change)
    return judged.but(
        strip=strip,
        verdict=own.verdict,
        gap_change=changes,
        performance_floor=own.performance.low,
        performance_ceiling=own.performance.high,
        is_in_sight=False,
        is_in_advance=True,
        claims=len(judged.shown) + 1,
    )


def _claimed(
    cell: GapChange, own: OwnVerdict, candidates: Candidates, rank: int, control: str | None
) -> Iterator[GapChange]:
    """Yield the claim about a model alone and, if it is about two groups, the gap over all groups and other pairs.

    Other pairs have no intervals: the document has none.
    """
    claim = cell.but(change=own.change, confidence=own.confidence, verdict=own.verdict, pair=own.pair)
    if own.pair is None:
        yield claim
        return
    table = next(one for one in candidates.sensitive if one.column == cell.column)
    members = candidates.reference, candidates.model(rank)
    scores = [member.scores.holdout.by_column[cell.column] for member in members]

    def between(one: GapChange, pair: ComparedPair) -> GapChange:
        return one.but(first=_between(pair, table, scores[0]), selected=_between(pair, table, scores[1]), pair=pair)

    yield between(claim, own.pair)
    yield cell.but(is_claim=False, is_joint=True)
    for pair in _watched_pairs(own.pair, table, candidates.reference, control or own.pair.higher):
        other = between(cell.but(is_claim=False, verdict=None), pair)
        yield other.but(change=_change(other.first, other.selected))


def _watched_pairs(
    pair: ComparedPair, column: SensitiveColumn, reference: AuditedModel | Incumbent, control: str
) -> list[ComparedPair]:
    """Return the pairs of the control with every other compared group, each in its order on the selection split."""
    counts = document_counts([reference.scores.selection.by_column[column.column]], column, "selection")
    rates = share(*np.broadcast_arrays(*FRACTIONS[pair.rate](counts)))[0]
    found = {one.name: rate for one, rate in zip(column.groups, rates, strict=True) if one.is_compared and one.holdout}
    others = [name for name in found if control in found and name not in (pair.higher, pair.lower, control)]
    return [ComparedPair(pair.rate, *sorted((control, name), key=lambda one: -found[one])) for name in others]


def _change(first: Estimate, selected: Estimate) -> Estimate:
    """Return the change from one gap to another, without an interval."""
    return Estimate(None if first.value is None or selected.value is None else selected.value - first.value)


def _between(pair: ComparedPair, column: SensitiveColumn, scores: ColumnScores) -> Estimate:
    """Return the gap between two groups in one rate on the holdout, without an interval."""
    found = {one.group.name: one.rates for one in rates_by_group(column, scores)}
    higher, lower = found[pair.higher][pair.rate], found[pair.lower][pair.rate]
    return Estimate(None if higher is None or lower is None else abs(higher - lower))


def choose_again(
    document: AuditDocument, tolerances: Tolerances, rank: int | None = None, *, in_advance: bool = False
) -> AuditDocument:
    """Return the document with another choice; its explanation is kept if model and metric stay the same.

    `in_advance` is as in `selection_again`.
    """
    last, selection = document.selection, selection_again(document, tolerances, rank, in_advance=in_advance)
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
