"""Sentences on the choice of an audit: the reason for it, whether the model is proposed, and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import LIKELY, GuardCheck
from fairenum.document.consequences import (
    claim_of,
    is_nothing_comparable,
    other_model,
    other_shown_gaps,
    strip_of,
    whole_of,
)
from fairenum.document.models import AuditedModel
from fairenum.document.split_power import SECOND_SPLIT, helpful_split, spelled_sizes
from fairenum.document.terms import Reason, Verdict
from fairenum.document.words import (
    GAP_NAMES,
    IN_USE,
    allowed_loss,
    groups_between,
    guard_name,
    performance_of,
    reference_name,
    short,
    with_article,
)
from fairenum.report.headline import answer_of, how_far_apart, why_not
from fairenum.runtime.formatting import counted, estimate, percent, sentence_list, share, signed

TOGETHER = "all models judged together"
NAMED = 3  # the most guardrails, or models, that a sentence names
LEFT_OUT = (
    "What would be used is the model, not the list: the records that were left out tell how it was found. They are no "
    "recipe for deleting people from a table."
)
TILTED = "It leaves nothing out; it was found by putting a price on the difference between group means."
PROPOSED = (
    "Proposed: the holdout shows that the gap{groups} is smaller and that no more {measure} is lost than {drop}; "
    "{guards}."
)
BY_FEATURES = "`--features additive`, as linear models rarely match a model in use that is not linear"
BY_SCORE = f"`--around incumbent`, whose models correct the score of {IN_USE}"
EQUAL_RATES = "Next: a new audit with `--decide like-incumbent` compares models at the rate of the model in use."
REASONS: Mapping[Reason, str] = {
    "all_constant": (
        "no model within the tolerances decides anything: each gives all rows of the selection split one outcome"
    ),
    "no_sensitive_column": "no sensitive column was named, so there is no gap to reduce; {kept} is kept",
}


def how_judged(document: AuditDocument) -> str:
    """Return a phrase: whether confidence limits hold for the selected model alone, or for all models together."""
    selection = document.selection
    is_alone = bool(selection.strip) and not selection.is_in_sight
    return "judged alone" if is_alone else TOGETHER


def reason(document: AuditDocument) -> str:
    """Return the reason for the choice, as a clause without capital and full stop."""
    found = document.selection.reason
    if found in WORDED:
        return WORDED[found](document)
    return REASONS[found].format(kept=reference_name(document))


def _no_disparity(document: AuditDocument) -> str:
    """Return a clause on a gap that is not shown, or is hardly one, and on other gaps that are."""
    selection, found = document.selection, other_shown_gaps(document)
    whose = (
        f"{GAP_NAMES[selection.tolerances.metric]} gap of {reference_name(document)} by {short(str(selection.column))}"
    )
    disparity = selection.disparity
    is_small = disparity is not None and bool(disparity.gap.low)
    says = f"the {whose} is within {disparity.margin:g}" if disparity and is_small else f"no {whose} is shown"
    named = [f"{GAP_NAMES[gap]} by {short(column)} {estimate(value)}" for column, gap, value in found[:NAMED]]
    named += [f"{len(found) - NAMED} more"] if len(found) > NAMED else []
    others = f". Other gaps are shown on the holdout, each by itself: {sentence_list(named)}" if found else ""
    return f"{says}, so it is kept, and no fairer model was looked for (`--always-search` does){others}"


def _asked_for(document: AuditDocument) -> str:
    if explored := document.exploration:
        return f"{short(explored.author)} decided for model {document.selection.rank}"
    return f"model {document.selection.rank} was asked for by its rank"


def _only_model(document: AuditDocument) -> str:
    kept, supports = reference_name(document), document.enumeration.supports
    alike = f"all {supports} models that were found decide the audited rows alike"
    found = alike if supports > 1 else "one was listed"
    return f"there is no other model to choose: {found}; {kept} is kept"


def _no_candidate(document: AuditDocument) -> str:
    """Return a clause on models none of which may replace the reference: beyond a limit, or beyond comparison."""
    selection, kept = document.selection, reference_name(document)
    if is_nothing_comparable(document):
        return f"no model can be compared with {kept}: {how_far_apart(document)}"
    if selection.incomparable:
        return f"no model can be compared at equal rates: {how_far_apart(document)}; {kept} is kept"
    if not document.is_against_incumbent:
        return f"no other model is within the tolerances; {kept} is kept"
    guards = " and guardrails" if selection.tolerances.guards else ""
    return f"no model is within the tolerances{guards}; {kept} is kept"


def _no_smaller_gap(document: AuditDocument) -> str:
    metric, kept = document.selection.tolerances.metric, reference_name(document)
    others = set(document.selection.candidates) - {document.reference.rank}
    gap = document.reference.scores.selection.gap(metric).value
    other = "" if document.is_against_incumbent else "other "
    has = f"none of the {len(others)} {other}models within the tolerances has"
    if len(others) == 1:
        has = f"the only {other}model within the tolerances does not have"
    return (
        f"{has} a smaller {metric.replace('_', ' ')} on the selection split than {kept} ({_known(gap)}); {kept} is kept"
    )


def _smaller_gap(document: AuditDocument, chosen: AuditedModel) -> str:
    """Return a clause that compares the gaps of the selected model and the reference model on both splits."""
    first, selection, metric = document.reference, document.selection, document.selection.tolerances.metric
    there, here = (
        [_known(model.scores.of(part).gap(metric).value) for model in (chosen, first)]
        for part in ("selection", "holdout")
    )
    performance = [_known(model.scores.holdout.performance.value) for model in (chosen, first)]
    constant = " (which decides all rows alike)" if first.is_constant else ""
    at = with_article(performance_of(document))
    least = f"of {len(selection.candidates)} models within the tolerances, model {chosen.rank} {_rule_met(document)}"
    if selection.candidates == (chosen.rank,):
        least = f"model {chosen.rank}, the only one within the tolerances, has the smaller"
    return (
        f"{least} {metric.replace('_', ' ')} on the selection split: {there[0]} against {there[1]} of "
        f"{reference_name(document)}{constant}; on the holdout {here[0]} against {here[1]}, {_verdict(document)}, at "
        f"{at} of {performance[0]} against {performance[1]}"
    )


WORDED: Mapping[Reason, Callable[[AuditDocument], str]] = {
    "smallest_gap": lambda document: _smaller_gap(document, document.selected or document.first),
    "only_model": _only_model,
    "no_disparity": _no_disparity,
    "no_smaller_gap": _no_smaller_gap,
    "no_other_candidate": _no_candidate,
    "asked_for": _asked_for,
}


def _verdict(document: AuditDocument) -> Verdict | None:
    """Return the verdict on the gap over all groups by which models are selected."""
    claim = claim_of(document)
    whole = whole_of(claim, strip_of(document)) if claim else None
    return whole.verdict if whole else document.selection.verdict


def _rule_met(document: AuditDocument) -> str:
    """Return a verb phrase that leads to the gap of the selected model: what distinguishes it from the others."""
    selection, metric = document.selection, document.selection.tolerances.metric
    gaps = {rank: document.member(rank).scores.selection.gap(metric).value for rank in selection.candidates}
    known = [gap for gap in gaps.values() if gap is not None]
    if selection.chance is None or gaps.get(selection.rank or 0) == min(known, default=None):
        return "has the smallest"
    chance = percent(selection.chance, 0)
    if selection.chance >= LIKELY:
        return f"is the fairest that the holdout was likely to confirm ({chance}); it has a smaller"
    return f"had the best chance to be confirmed by the holdout ({chance}); it has a smaller"


def _known(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def tolerances_and_choice(document: AuditDocument) -> str:
    """Return a sentence on the tolerances of the run and the model that it chose."""
    tolerances, selection = document.selection.tolerances, document.selection
    kept = f"kept {IN_USE}" if selection.outcome == "kept" else "chose none"
    kept = f"found none to compare with {IN_USE}" if is_nothing_comparable(document) else kept
    chose = kept if selection.rank is None else f"chose model {selection.rank}"
    against = f" against {IN_USE}" if document.is_against_incumbent else ""
    return (
        f"The run allowed a training loss {allowed_loss(document)} above the best and a loss of "
        f"{tolerances.max_performance_drop:g} of {performance_of(document)}{against}, and {chose}."
    )


def proposal_status(document: AuditDocument) -> str:
    """Return a sentence: whether the selected model is proposed, and why; empty if no model replaces the reference."""
    match answer_of(document):
        case "proposed":
            drop = f"{document.selection.tolerances.max_performance_drop:g}"
            claim, guards = claim_of(document), _guards_kept(document)
            groups = groups_between(claim, ()) if claim else ""
            return PROPOSED.format(groups=groups, measure=performance_of(document), drop=drop, guards=guards)
        case "candidate":
            return f"A candidate, not a proposal: {why_not(document)}."
        case "not proposed" | "no disparity":
            return f"Not proposed: {why_not(document)}."
        case _:
            return ""


def _guards_kept(document: AuditDocument) -> str:
    """Return a clause on the guardrails of a proposed model: which are shown to hold, and which only as measured."""
    checks = document.selection.guards
    if not checks:
        return "no guardrail was set"
    unsure = [guard_name(one) for one in checks if one.status != "holds"]
    if not unsure:
        return "every guardrail is shown to hold"
    more = [f"{len(unsure) - NAMED} more"] if len(unsure) > NAMED else []
    return f"no guardrail is exceeded, though chance may hide it in {sentence_list([*unsure[:NAMED], *more])}"


def guarded_estimate(check: GuardCheck) -> str:
    """Return text with the holdout value, and its interval, of a measure that a guardrail limits."""
    return estimate(check.holdout, signed if check.is_change else share)


def claims_made(document: AuditDocument) -> Iterator[str]:
    """Yield a sentence on the error of several claims that were fixed in advance and judged by the same holdout."""
    selection, error = document.selection, 1.0 - document.config.confidence
    if selection.is_in_sight or not (selection.is_in_advance or selection.claims > 1):
        return
    stated = "It was stated that this choice was fixed before anybody saw the holdout. "
    yield (
        f"{stated if selection.is_in_advance else ''}This run knows of {counted(selection.claims, 'claim')} that the "
        f"same holdout judges alone: each is false with a probability of at most {percent(error)}, any of them with at "
        f"most {percent(min(selection.claims * error, 1.0))}. Claims in copies of the run are not counted, and add "
        f"{percent(error)} each."
    )


def other_confirmed(document: AuditDocument) -> Iterator[str]:
    """Yield a sentence that names unselected models which the holdout confirms as fairer than the reference model.

    Yield nothing if there are none, or if the holdout confirms the selected model.
    """
    selection = document.selection
    others = [rank for rank in selection.confirmed if rank != selection.rank]
    if selection.is_fairer or not others:
        return
    if len(others) == 1:
        yield (
            f"Model {others[0]}, which was not selected, is confirmed as fairer by the holdout, all models judged "
            f"together: `fairenum select RUN --rank {others[0]}`."
        )
        return
    named = sentence_list(map(str, others[:NAMED]))
    these = f"{named} among them" if len(others) > NAMED else named
    yield (
        f"{len(others)} models that were not selected are confirmed as fairer by the holdout, all models judged "
        f"together: {these}; `fairenum select RUN --rank {others[0]}` shows one."
    )


def next_step(document: AuditDocument) -> Iterator[str]:
    """Yield a sentence that suggests the next command, if there is something left to do."""
    chosen, selection = other_model(document), document.selection
    if chosen is None:
        if selection.reason == "no_other_candidate" and document.is_against_incumbent and not selection.candidates:
            yield from _towards_candidates(document)
        return
    if answer_of(document) == "proposed":
        yield (
            "Next: look at the grid of rates, group by group; then `fairenum select RUN --data DATA --export "
            "model.skops` writes the model."
        )
    elif selection.answer is None:
        yield "Next: `fairenum select RUN` says whether the model may be proposed."
    elif document.is_exploratory:
        if document.dataset.origin.how == "random":
            yield "Next: a new audit with `--split auto`; its holdout can confirm a choice."
    elif stronger := helpful_split(document):
        yield (
            f"Next: a new audit with `--split {spelled_sizes(stronger.sizes)}` has "
            f"{counted(stronger.holdout, 'row')} to confirm a choice. {SECOND_SPLIT}."
        )


def _towards_candidates(document: AuditDocument) -> Iterator[str]:
    """Yield sentences on what would bring models within the limits, or near enough to the model in use."""
    apart, looser = {one.measure for one in document.selection.incomparable}, document.selection.looser
    is_elsewhere = "selection_rate" in apart and document.deciding_rule != "like-incumbent"
    if is_elsewhere:
        yield EQUAL_RATES
    ways = [*_ways_to_perform(document)] if "performance" in apart else []
    if ways:
        yield f"Next: a new audit with {', or with '.join(ways)}."
    if looser and not is_elsewhere:
        yield (
            f"{'Or' if ways else 'Next'}: `fairenum select RUN {looser.options}` lets a model through, and a new audit "
            "with these options searches under them."
        )


def _ways_to_perform(document: AuditDocument) -> Iterator[str]:
    """Yield options by which models may reach the performance of the model in use."""
    options, incumbent = document.config.options, document.incumbent
    if options.get("features") != "additive" and document.config.svm.kernel == "linear":
        yield BY_FEATURES
    if options.get("around") != "incumbent" and incumbent is not None and incumbent.has_score:
        yield BY_SCORE


def proposal_heading(document: AuditDocument) -> str:
    """Return the heading of a memo's section on the choice, which says whether an alternative is proposed."""
    match answer_of(document):
        case "proposed":
            return f"The proposed alternative: model {document.selection.rank}"
        case "candidate":
            return f"No alternative is proposed; model {document.selection.rank} is a candidate"
        case _ if is_nothing_comparable(document):
            return f"Nothing was found that can be compared with {IN_USE}"
        case _:
            return "No alternative is proposed"


def how_found(model: AuditedModel) -> str:
    """Return sentences that explain how a model was found: by leaving training records out, or by a penalty.

    The penalty is on the difference between group means. The text is empty for a model found in neither way.
    """
    if model.origin == "tilted":
        return TILTED
    return LEFT_OUT if model.left_out else ""


def constant_model_remedies(document: AuditDocument) -> Iterator[str]:
    """Yield a sentence with options to try, if model 1 decides all rows of the selection split alike."""
    if not document.first.is_constant:
        return
    svm, asked = document.config.svm, document.requested
    untried = {
        "class_weight='balanced' (--class-weight balanced)": svm.class_weight == "none",
        "C='auto' (--C auto)": asked.C != "auto",
        "kernel='rbf' (--kernel rbf)": svm.kernel == "linear",
        "decide='base-rate' (--decide base-rate)": document.config.decide == "sign",
    }
    options = [name for name, is_untried in untried.items() if is_untried]
    yield (
        "Model 1 decides all rows of the selection split alike: try "
        f"{', '.join([*options, 'more rows'])}, or columns that tell the two labels apart."
    )
