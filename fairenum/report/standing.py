"""Remedies for a model 1 that decides all rows alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import GuardCheck
from fairenum.document.consequences import broken_guards, other_model
from fairenum.document.models import AuditedModel
from fairenum.document.terms import Reason, Verdict
from fairenum.document.words import (
    IN_USE,
    guard_name,
    performance_of,
    reference_name,
    reference_own,
    short,
)
from fairenum.report.exploration_words import OPENED_SHORT
from fairenum.report.headline import proposal_of
from fairenum.runtime.formatting import estimate, percent, sentence_list, share, signed


def judged(document: AuditDocument) -> str:
    """Say for which models the limits of a change hold: one that was chosen unseen, or any that may be chosen."""
    selection = document.selection
    is_alone = bool(selection.strip) and not selection.is_in_sight
    return "judged alone" if is_alone else "all models judged together"


def reason(document: AuditDocument) -> str:
    """Say why the choice came out as it did."""
    match document.selection.reason:
        case "smallest_gap":
            return _praise(document, document.selected or document.first)
        case "only_model":
            kept = reference_name(document)
            return f"there is no other model to choose: {_alike(document.enumeration.supports)}; {kept} is kept"
        case "no_smaller_gap":
            return _no_smaller_gap(document)
        case "asked_for" if told := document.exploration:
            return f"{short(told.author)} decided for model {document.selection.rank}"
        case "asked_for":
            return f"model {document.selection.rank} was asked for by its rank"
        case plain_reason:
            return REASONS[plain_reason].format(kept=reference_name(document), none=_none_within(document))


def _none_within(document: AuditDocument) -> str:
    """Say that no candidate is left; many fail a guardrail against a model in use with another selection rate."""
    if not document.is_against_incumbent:
        return "no other model is within the tolerances"
    return f"no model is within the tolerances{' and guardrails' if document.selection.tolerances.guards else ''}"


REASONS: Mapping[Reason, str] = {
    "all_constant": (
        "no model within the tolerances decides anything: each gives all rows of the selection split one outcome"
    ),
    "no_sensitive_column": "no sensitive column was named, so there is no gap to reduce; {kept} is kept",
    "no_other_candidate": "{none}; {kept} is kept",
}


def _alike(supports: int) -> str:
    if supports > 1:
        return f"all {supports} models that were found decide the audited rows alike"
    return "one was listed"


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


def _praise(document: AuditDocument, chosen: AuditedModel) -> str:
    """State the smaller gap of the selected model, on the selection split and on the holdout."""
    first, selection, metric = document.reference, document.selection, document.selection.tolerances.metric
    there, here = (
        [_known(model.scores.of(part).gap(metric).value) for model in (chosen, first)]
        for part in ("selection", "holdout")
    )
    performance = [_known(model.scores.holdout.performance.value) for model in (chosen, first)]
    constant = " (which decides all rows alike)" if first.is_constant else ""
    at = with_article(performance_of(document))
    least = f"of {len(selection.candidates)} models within the tolerances, model {chosen.rank} has the smallest"
    if selection.candidates == (chosen.rank,):
        least = f"model {chosen.rank}, the only one within the tolerances, has the smaller"
    return (
        f"{least} {metric.replace('_', ' ')} on the selection split: {there[0]} against {there[1]} of "
        f"{reference_name(document)}{constant}; on the holdout {here[0]} against {here[1]}, {selection.verdict}, at "
        f"{at} of {performance[0]} against {performance[1]}"
    )


def with_article(noun: str) -> str:
    """Put the article before a noun."""
    return f"{'an' if noun[0] in 'aA' else 'a'} {noun}"


def _known(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def allowance(document: AuditDocument) -> str:
    """State the tolerances of the run, and its choice."""
    tolerances, selection = document.selection.tolerances, document.selection
    kept = f"kept {IN_USE}" if selection.outcome == "kept" else "chose none"
    chose = kept if selection.rank is None else f"chose model {selection.rank}"
    against = f" against {IN_USE}" if document.is_against_incumbent else ""
    loss = "" if tolerances.max_loss is None else f", {percent(tolerances.max_loss)} of training loss"
    return (
        f"The run allowed {tolerances.eps:g} of the objective{loss} and {tolerances.max_performance_drop:g} of "
        f"{performance_of(document)}{against}, and {chose}."
    )


NAMED = 3
PLANE = (
    "What would be used is the plane, not the list: the records that were left out tell how it was found. They are no "
    "recipe for deleting people from a table."
)
TILTED = "It leaves nothing out; it was found by putting a price on the difference between group means."
PROPOSED = "Proposed: the holdout shows the gap to be smaller, and every guardrail is kept there."
UNGUARDED = "Proposed: the holdout shows the gap to be smaller; no guardrail was set."
OTHER_LIMITS = (
    "Next: `fairenum select RUN --guard none` or `--max-performance-drop ...` shows what other limits would let "
    "through; a new audit searches under them."
)
NOT_APART = "no rows were kept apart from those that it was chosen by, so that nothing confirms it"
UNCHECKED = "this run did not ask whether it may be proposed (`fairenum select RUN` does)"


def standing(document: AuditDocument) -> str:
    """State whether the selected model is proposed, and why; empty where no model is to replace another."""
    match proposal_of(document):
        case "proposed":
            return PROPOSED if document.selection.guards else UNGUARDED
        case "candidate":
            return f"A candidate, not a proposal: {why_candidate(document)}."
        case _:
            return ""


def why_candidate(document: AuditDocument) -> str:
    """Say what keeps the selected model from being proposed."""
    selection, broken = document.selection, broken_guards(document)
    reasons = [not_apart(document)] if document.is_exploratory else []
    if selection.verdict is Verdict.LESS_FAIR:
        reasons.append(f"the holdout shows it to be less fair than {reference_name(document)}")
    elif not selection.is_fairer:
        reasons.append(f"the holdout does not confirm that its gap is smaller than {reference_own(document)}")
    if broken:
        named = sentence_list(map(guard_name, broken[:NAMED]))
        more = f" and {len(broken) - NAMED} more" if len(broken) > NAMED else ""
        reasons.append(f"on the holdout it goes beyond {named}{more}")
    return ", and ".join(reasons) or UNCHECKED


def not_apart(document: AuditDocument) -> str:
    """Say why no rows confirm a choice: there were none, or they had been looked at."""
    is_seen = document.exploration is not None and document.exploration.look > 1
    return OPENED_SHORT if is_seen else NOT_APART


def guarded_estimate(check: GuardCheck) -> str:
    """Show the guarded value on the holdout with its limits."""
    return estimate(check.holdout, signed if check.is_change else share)


def confirmed(document: AuditDocument) -> Iterator[str]:
    """Name other models that the holdout confirms, where the selected one is not confirmed."""
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
    """Say in one line what to do next, where there is something to do."""
    chosen, selection = other_model(document), document.selection
    if chosen is None:
        if selection.reason == "no_other_candidate" and document.is_against_incumbent and not selection.candidates:
            yield OTHER_LIMITS
        return
    if proposal_of(document) == "proposed":
        yield (
            "Next: look at the grid of rates, group by group; then `fairenum select RUN --data DATA --export "
            "model.skops` writes the model."
        )
    elif selection.proposal is None:
        yield "Next: `fairenum select RUN` says whether the model may be proposed."
    elif document.is_exploratory:
        yield "Next: a new audit in three parts; its holdout can confirm a choice."
    elif selection.is_fairer:
        yield "Next: `fairenum select RUN --guard ...` chooses under other guardrails; a new audit searches under them."
    elif not selection.confirmed:
        yield (
            "Next: more rows in the holdout would tell; `fairenum select RUN --max-performance-drop ...` chooses under "
            "other tolerances."
        )


def proposal(document: AuditDocument) -> str:
    """Head the choice in a memo."""
    match proposal_of(document):
        case "proposed":
            return f"The proposed alternative: model {document.selection.rank}"
        case "candidate":
            return f"No alternative is proposed; model {document.selection.rank} is a candidate"
        case _:
            return "No alternative is proposed"


def how_found(model: AuditedModel) -> str:
    """Explain what leaving records out means, or that none is left out."""
    if model.origin == "tilted":
        return TILTED
    return PLANE if model.left_out else ""


def remedies(document: AuditDocument) -> Iterator[str]:
    """Say in one sentence what to try if model 1 decides all rows alike."""
    if not document.first.is_constant:
        return
    svm, asked = document.config.svm, document.requested
    untried = {
        "class_weight='balanced' (--class-weight balanced)": svm.class_weight == "none",
        "C='auto' (--C auto)": asked.C != "auto",
        "kernel='rbf' (--kernel rbf)": svm.kernel == "linear",
        "decide='base-rate' (--decide base-rate)": asked.decide == "sign",
    }
    options = [name for name, is_untried in untried.items() if is_untried]
    yield (
        "Model 1 decides all rows of the selection split alike: try "
        f"{', '.join([*options, 'more rows'])}, or columns that tell the two labels apart."
    )
