"""The verdict of an audit in one sentence: gain, harms and cost of the selected model, and whether it is proposed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import Disparity, GapChange
from fairenum.document.consequences import (
    EVERYBODY,
    NOBODY,
    Moved,
    broken_guards,
    claim_of,
    is_levelled_down,
    is_nothing_comparable,
    less_fair,
    other_model,
    other_shown_gaps,
    reversals,
    selection_moved,
    strip_of,
    wider,
)
from fairenum.document.models import AuditedModel
from fairenum.document.terms import Answer, AnswerReason, PerformanceName, Verdict
from fairenum.document.words import (
    GAP_NAMES,
    IN_USE,
    apart,
    groups_between,
    guard_name,
    performance_of,
    reference_name,
    reference_own,
    reference_title,
    short,
)
from fairenum.report.exploration_words import OPENED_SHORT
from fairenum.runtime.formatting import counted, estimate, percent, sentence_list, share, signed

NAMED = 3  # the most gaps that the sentence names
HALF = (0.45, 0.55)  # a gap that shrinks to a share between these is called halved
AS_GOOD: Mapping[PerformanceName, str] = {
    "accuracy": "nearly as accurate",
    "balanced_accuracy": "nearly as accurate on average over both labels",
    "auc": "ranks nearly as well",
    "cost": "makes mistakes that cost hardly more",
}
WITHIN: Mapping[PerformanceName, str] = {
    "accuracy": "is as accurate",
    "balanced_accuracy": "is as accurate on average over both labels",
    "auc": "ranks as well",
    "cost": "makes mistakes that cost no more",
}
# Against a model in use, which a listed model may also outperform.
AS_GOOD_AS: Mapping[PerformanceName, str] = {
    "accuracy": f"is nearly as accurate as {IN_USE}",
    "balanced_accuracy": f"is nearly as accurate on average over both labels as {IN_USE}",
    "auc": f"ranks nearly as well as {IN_USE}",
    "cost": f"makes mistakes that cost hardly more than those of {IN_USE}",
}
BETTER: Mapping[PerformanceName, str] = {
    "accuracy": f"is more accurate than {IN_USE}",
    "balanced_accuracy": f"is more accurate on average over both labels than {IN_USE}",
    "auc": f"ranks better than {IN_USE}",
    "cost": f"makes mistakes that cost less than those of {IN_USE}",
}
STANDINGS: Mapping[Answer, str] = {
    "proposed": "it is proposed",
    "candidate": "it is a candidate, as",
    "not proposed": "it is not proposed, as",
    "no disparity": "it is not needed, as",
}
NO_HOLDOUT = "no rows were kept apart from those that it was chosen by, so that nothing confirms it"
WHY: Mapping[AnswerReason, str] = {
    "fairness_not_shown": "the holdout does not show that it is fairer",
    "performance_not_shown": "the holdout does not show that it loses at most {drop} of {measure}",
    "guardrail_not_shown": "the holdout does not show that it keeps {doubtful}",
    "no_holdout": "{unseen}",
    "less_fair": "the holdout shows it to be less fair than {reference}",
    "same_gap": "the holdout shows its gap to be the same within {margin} points",
    "hardly_fairer": "the holdout shows it to be fairer by less than {margin} points, which counts as the same",
    "gap_within_margin": "the {gap} gap of {reference} by {column} is within {margin} points",
    "performance_lost": "it loses {lost} of {measure}, and {drop} is allowed",
    "guardrail_broken": "it breaks {broken}",
}
UNCHECKED = "this run did not ask whether it may be proposed (`fairenum select RUN` does)"


def headline(document: AuditDocument) -> str:
    """Return the verdict of an audit in one sentence."""
    return f"{'Interrupted: ' if document.is_partial else ''}{_outcome(document)}."


def answer_of(document: AuditDocument) -> Answer | None:
    """Return the answer about the selected model; None if only the reference, or nothing, was selected."""
    return (document.selection.answer or "candidate") if other_model(document) else None


def standing(document: AuditDocument) -> str:
    """Return a clause: whether the selected model is proposed and, if not, what is missing or shown against it."""
    answer = answer_of(document) or "candidate"
    return STANDINGS[answer] if answer == "proposed" else f"{STANDINGS[answer]} {why_not(document)}"


def why_not(document: AuditDocument) -> str:
    """Return a clause with the reasons why the selected model is not proposed."""
    return " and ".join(_why(document, one) for one in document.selection.reasons) or UNCHECKED


def _why(document: AuditDocument, reason: AnswerReason) -> str:
    """Return one reason of the answer as a clause."""
    selection = document.selection
    changes, is_seen = selection.performance_change, document.exploration is not None and document.exploration.look > 1
    lost = None if changes is None or changes.holdout.value is None else -changes.holdout.value
    words = WHY.get(reason, "no {gap} gap of {reference} by {column} is shown")
    return words.format(
        gap=GAP_NAMES[selection.tolerances.metric],
        column=short(str(selection.column)),
        drop=f"{selection.tolerances.max_performance_drop:g}",
        measure=performance_of(document),
        lost=share(lost),
        reference=reference_title(document),
        doubtful=guards_named(document, is_shown=False),
        broken=guards_named(document, is_shown=True),
        margin=f"{100 * document.config.same_within:g}",
        unseen=OPENED_SHORT if is_seen else NO_HOLDOUT,
    )


def guards_named(document: AuditDocument, *, is_shown: bool) -> str:
    """Return a list of guardrails in words: those shown to be broken, or those beyond their limit as measured."""
    checks = [one for one in broken_guards(document) if (one.status == "broken") is is_shown]
    named = [*map(guard_name, checks[:NAMED]), *([f"{len(checks) - NAMED} more"] if len(checks) > NAMED else [])]
    return sentence_list(named) if named else ""


def is_good_news(document: AuditDocument) -> bool:
    """Tell whether a model is proposed and the holdout shows no gap to be wider."""
    verdicts = {cell.verdict for cell in strip_of(document)}
    return answer_of(document) == "proposed" and Verdict.LESS_FAIR not in verdicts


def _outcome(document: AuditDocument) -> str:
    chosen = other_model(document)
    if document.selection.outcome == "none":
        return "No model can be selected"
    if chosen is not None:
        return _sentence(document, chosen)
    return f"Model 1 {_asked(document)}" if document.selection.reason == "asked_for" else _kept(document)


def _kept(document: AuditDocument) -> str:
    """Return a sentence on an audit that keeps the reference, with the reason."""
    selection, kept = document.selection, reference_title(document)
    if selection.column is None:
        return f"No sensitive column was named, so no gap was measured; {kept} is kept"
    if selection.answer == "no disparity" and selection.disparity:
        return _no_disparity(document, selection.disparity)
    if selection.incomparable:
        return f"Not comparable: {nothing_comparable(document)}"
    none = "No model" if document.is_against_incumbent else "No other model"
    return f"{none} within the tolerances was found to be fairer than {kept}, which is kept"


def nothing_comparable(document: AuditDocument) -> str:
    """Return a clause on a search in which no model can be compared with the reference, and by how much all miss it."""
    missed = how_far_apart(document)
    return (
        f"this search says nothing about {reference_title(document)}: {missed}"
        if is_nothing_comparable(document)
        else missed
    )


def how_far_apart(document: AuditDocument) -> str:
    """Return a clause on the measures in which no model comes near enough to the reference to be compared with it."""
    selection, name = document.selection, "it" if is_nothing_comparable(document) else reference_name(document)
    return apart(selection.incomparable, name, selection.tolerances.measure.name)


def _no_disparity(document: AuditDocument, found: Disparity) -> str:
    """Return a sentence on a reference without a gap that is shown."""
    gap = f"the {GAP_NAMES[document.selection.tolerances.metric]} gap by {short(str(document.selection.column))}"
    whose = f"{gap} of {reference_title(document)} is {estimate(found.gap)} in {counted(found.rows, 'row')}"
    if found.gap.low:
        return f"Hardly a disparity: {whose}, which is within {found.margin:g}{_other_gaps(document)}"
    seen = "" if found.detectable is None else f"; from {share(found.detectable)} on it would probably have been seen"
    return f"No disparity shown: {whose}{seen}{_other_gaps(document)}"


def _other_gaps(document: AuditDocument) -> str:
    """Return a clause on the gaps of the reference that are shown besides the one that was looked at, if any."""
    found = other_shown_gaps(document)
    if not found:
        return ""
    if len(found) > 1:
        return f"; {len(found)} other gaps are shown"
    (one,) = found
    by = "" if one.column == document.selection.column else f" by {short(one.column)}"
    return f"; the {GAP_NAMES[one.metric]} gap{by} is shown, at {estimate(one.value)}"


def _sentence(document: AuditDocument, chosen: AuditedModel) -> str:
    """Return a sentence on the gain, the harms and the cost of the selected model, and on whether it is proposed."""
    claim, harms = claim_of(document), _joined([*_harms(document)])
    if claim is None:  # without groups there is no gap to select a model by
        return f"Model {chosen.rank} {_asked(document)}; no gap was measured"
    if claim.verdict is not Verdict.FAIRER:
        worse = f"; it {harms}" if harms else ""
        return f"Model {chosen.rank} {_unconfirmed(document, claim)}{worse}; {standing(document)}"
    asked = f", which {_asked(document)}," if document.selection.reason == "asked_for" else ""
    against = f" against {reference_title(document)}" if document.is_against_incumbent else ""
    narrowed = f"{_narrowed(claim)}{against}"
    parts = [f"{narrowed} but {harms}" if harms else narrowed, _cost(document, chosen), standing(document)]
    return f"Model {chosen.rank}{asked} " + "; ".join(part for part in parts if part)


def _asked(document: AuditDocument) -> str:
    return "was decided for by hand" if document.exploration else "was asked for"


def _narrowed(claim: GapChange) -> str:
    """Return a verb phrase on how much smaller the gap is on the holdout, such as "halves the ... gap"."""
    low, high = HALF
    ratio = (claim.selected.value or 0.0) / (claim.first.value or 1.0)
    verb = "narrows" if ratio > high else "halves" if ratio >= low else "more than halves"
    return f"{verb} the {claimed_gap(claim)} ({_numbers(claim)})"


def claimed_gap(claim: GapChange) -> str:
    """Return the gap of a claim in words, with the two groups that it is between if there are others."""
    return f"{GAP_NAMES[claim.metric]} gap by {short(claim.column)}{groups_between(claim, ())}"


def _unconfirmed(document: AuditDocument, claim: GapChange) -> str:
    """Return a verb phrase on the gap of a model that the holdout does not show to be fairer than the reference."""
    gap = claimed_gap(claim)
    asked_for, selected = _findings(document, claim, f"({_numbers(claim)})")
    if document.selection.reason == "asked_for":
        return f"{_asked(document)}; on the holdout its {gap} {asked_for}"
    return f"had a smaller {gap} than {reference_title(document)} on the selection split, {selected}"


def _findings(document: AuditDocument, claim: GapChange, numbers: str) -> tuple[str, str]:
    """Return two clauses on the selected model's gap on the holdout, of which the caller uses one.

    The first is for a model that a person asked for, the second for one that was selected by its gap.
    """
    margin = document.config.same_within
    match claim.verdict:
        case Verdict.LESS_FAIR:
            return f"is wider, so it is less fair {numbers}", f"but is less fair on the holdout {numbers}"
        case Verdict.SAME:
            same = f"the same one within {margin:g}"
            return f"is {same} {numbers}", f"but {same} on the holdout {numbers}"
        case None:
            return "cannot be compared", "but one that cannot be compared on the holdout"
    if (claim.change.value or 0.0) > 0.0:
        return f"looks larger than {reference_own(document)} {numbers}", f"but a larger one on the holdout {numbers}"
    return (
        f"cannot be told from that of {reference_name(document)} {numbers}",
        f"which the holdout does not confirm {numbers}",
    )


def _numbers(cell: GapChange) -> str:
    return f"{share(cell.first.value)} to {share(cell.selected.value)}"


def _harms(document: AuditDocument) -> Iterator[str]:
    """Yield the harms of the selected model as verb phrases, such as "levels down"."""
    proven = less_fair(document)
    if proven:
        yield f"is less fair in {_gaps(document, proven)}"
    # a wider gap between groups of very few rows is left to a warning
    if doubtful := [cell for cell in wider(document) if cell not in proven and not cell.is_coarse]:
        yield f"looks wider in {_gaps(document, doubtful)}"
    if is_levelled_down(document):
        yield "levels down (no group gains)"
    if moved := selection_moved(document):
        yield f"selects {_nearly_all_or_none(moved)}{percent(moved.selected, 0)} instead of {percent(moved.first, 0)}"


def _joined(verbs: Sequence[str]) -> str:
    *most, last = verbs or [""]
    return f"{', '.join(most)}, and {last}" if most else last


def _nearly_all_or_none(moved: Moved) -> str:
    if moved.selected >= EVERYBODY:
        return "nearly everybody: "
    return "nearly nobody: " if moved.selected <= NOBODY else ""


def _gaps(document: AuditDocument, cells: Sequence[GapChange]) -> str:
    """Return a list of gaps in words, with numbers for the first and for those that reverse the order of groups."""
    turned, every = [one.cell for one in reversals(document)], strip_of(document)
    names = []
    for place, cell in enumerate(cells[:NAMED]):
        column = "" if cell.column == document.selection.column else f" by {short(cell.column)}"
        order = ", in the reverse order" if cell in turned else ""
        name = f"{GAP_NAMES[cell.metric]}{column}{groups_between(cell, every)}"
        names.append(f"{name} ({_numbers(cell)}{order})" if not place or order else name)
    hidden = len(cells) - NAMED
    return sentence_list([*names, *([f"{hidden} more"] if hidden > 0 else [])])


def _cost(document: AuditDocument, chosen: AuditedModel) -> str:
    """Return a clause on the performance and the training loss that the selected model costs.

    The clause says "as accurate", or the like, only if a test of non-inferiority on the holdout shows that.
    """
    tolerances, margin = document.selection.tolerances, document.selection.tolerances.max_performance_drop
    is_near = chosen.loss_ratio <= document.near_optimal
    loss = f"at a training loss {percent(chosen.loss_ratio)} higher"
    if document.is_against_incumbent:
        return _cost_against_incumbent(document, chosen)
    if document.selection.is_as_good:
        if is_near:
            return f"it is near-optimal and {AS_GOOD[tolerances.measure.name]} (at most {margin:g} less)"
        return f"it {WITHIN[tolerances.measure.name]} within the tolerance of {margin:g}, {loss}"
    changes = document.selection.performance_change
    if changes is None or changes.holdout.value is None:
        return "" if is_near else f"it comes {loss}"
    change = f"its {performance_of(document)} changes by {estimate(changes.holdout, signed)}"
    return change if is_near else f"{change}, {loss}"


def _cost_against_incumbent(document: AuditDocument, chosen: AuditedModel) -> str:
    """Return a clause on performance against the model in use, and on training loss against model 1."""
    selection, tolerances = document.selection, document.selection.tolerances
    is_near = chosen.loss_ratio <= document.near_optimal
    loss = "near-optimal in training loss"
    if chosen.rank == 1:
        loss = "optimal in training loss"
    elif not is_near:
        loss = f"{percent(chosen.loss_ratio)} above model 1 in training loss"
    if selection.is_as_good:
        is_better = (selection.performance_floor or 0.0) > 0.0
        almost = f"{AS_GOOD_AS[tolerances.measure.name]} (at most {tolerances.max_performance_drop:g} less)"
        return f"it {BETTER[tolerances.measure.name] if is_better else almost}, and is {loss}"
    changes = selection.performance_change
    if changes is None or changes.holdout.value is None:
        return f"it is {loss}"
    return f"its {performance_of(document)} changes by {estimate(changes.holdout, signed)}, and it is {loss}"
