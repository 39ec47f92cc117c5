"""What may be made of the selected model: proposed or a candidate, why, which other is confirmed, what to do next."""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.audit import AuditDocument
from fairenum.document.choice import GuardCheck
from fairenum.document.consequences import broken_guards, other_model
from fairenum.document.models import AuditedModel
from fairenum.document.terms import Verdict
from fairenum.rendering.numbers import estimate, share, signed
from fairenum.rendering.text import sentence_list, shortened
from fairenum.report.wording import GAPS, GROUP_WIDTH, TABLE_WIDTH, reference_name, reference_own
from fairenum.report.wording.exploration import OPENED_SHORT
from fairenum.report.wording.headline import proposal_of

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
    """Say what may be made of the selected model, and why; nothing where none is to take the place of another."""
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
        named = sentence_list(map(guard, broken[:NAMED]))
        more = f" and {len(broken) - NAMED} more" if len(broken) > NAMED else ""
        reasons.append(f"on the holdout it goes beyond {named}{more}")
    return ", and ".join(reasons) or UNCHECKED


def not_apart(document: AuditDocument) -> str:
    """Say why no rows confirm a choice: there were none, or they had been looked at."""
    is_seen = document.exploration is not None and document.exploration.look > 1
    return OPENED_SHORT if is_seen else NOT_APART


def guard(check: GuardCheck) -> str:
    """Name a guardrail with what it was broken by."""
    value = guarded(check, check.holdout.value)
    return f"{shortened(check.guard, TABLE_WIDTH)} ({guarded_thing(check)}: {value})"


def guarded_thing(check: GuardCheck) -> str:
    """Name what of all that a guardrail guards is meant."""
    return thing(check.subject)


def thing(subject: str) -> str:
    """Name what can be guarded: a measure, by its column, or of a group."""
    measure, _, place = subject.partition("@")
    column, _, group = place.partition(": ")
    name = GAPS[measure] if measure in GAPS else measure.replace("_", " ")  # type: ignore[index]  # one of its words
    of = f" of {shortened(group, GROUP_WIDTH)}" if group else f" by {shortened(column, GROUP_WIDTH)}" if column else ""
    return shortened(f"{name}{of}", TABLE_WIDTH + GROUP_WIDTH)


def guarded(check: GuardCheck, value: float | None) -> str:
    """Show what a guardrail is about: a change has its sign."""
    return signed(value) if is_relative(check) else share(value)


def guarded_estimate(check: GuardCheck) -> str:
    """Show the same with its limits on the holdout."""
    return estimate(check.holdout, signed if is_relative(check) else share)


def is_relative(check: GuardCheck) -> bool:
    """Tell whether a guardrail is about a change against model 1, as its sign says."""
    return any(sign in check.guard for sign in ("=+", "=-"))


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
    """Say what leaving records out means, or that none is left out."""
    if model.origin == "tilted":
        return TILTED
    return PLANE if model.left_out else ""
