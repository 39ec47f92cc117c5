"""Why a choice came out as it did, and what it was allowed to cost."""

from __future__ import annotations

from collections.abc import Mapping

from fairenum.document.audit import AuditDocument
from fairenum.document.models import AuditedModel
from fairenum.document.terms import Reason
from fairenum.rendering.numbers import percent
from fairenum.report.wording import IN_USE, performance_of, reference_name, short


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
    """Say that no model is left to choose; many fail a guardrail against a model in use, which selects otherwise."""
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
    """Say what the selected model has less of, where it was looked for and where it was checked."""
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
    """Say what the run allowed a model to cost, and what it chose."""
    tolerances, selection = document.selection.tolerances, document.selection
    kept = f"kept {IN_USE}" if selection.outcome == "kept" else "chose none"
    chose = kept if selection.rank is None else f"chose model {selection.rank}"
    against = f" against {IN_USE}" if document.is_against_incumbent else ""
    loss = "" if tolerances.max_loss is None else f", {percent(tolerances.max_loss)} of training loss"
    return (
        f"The run allowed {tolerances.eps:g} of the objective{loss} and {tolerances.max_performance_drop:g} of "
        f"{performance_of(document)}{against}, and {chose}."
    )
