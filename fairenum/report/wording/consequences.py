"""What the selected model makes worse, in words."""

from __future__ import annotations

from collections.abc import Sequence

from fairenum.document.audit import AuditDocument
from fairenum.document.choice import Caution, GapChange
from fairenum.document.consequences import (
    EVERYBODY,
    NOBODY,
    Moved,
    balance_lost,
    broken_guards,
    claim_of,
    column_named,
    few_trials,
    reversals,
    selection_moved,
    wider,
)
from fairenum.document.terms import Verdict
from fairenum.rendering.numbers import counted, percent, share, signed
from fairenum.rendering.text import sentence_list
from fairenum.report.wording import GAPS, reference_name, reference_own, short
from fairenum.report.wording.standing import guard
from fairenum.report.wording.strip import RATES, reversal

NAMED = 3
NONE = Moved(0.0, 0.0)


def not_confirmed(document: AuditDocument, _caution: Caution) -> str:
    """Say that the holdout does not bear out what the selection split promised."""
    claim, margin = claim_of(document), document.config.same_within
    match document.selection.verdict:
        case Verdict.LESS_FAIR:
            found = "it is less fair on the holdout"
        case Verdict.SAME:
            found = f"it has the gap of {reference_name(document)} within {margin:g} on the holdout"
        case _:
            is_larger = claim is not None and (claim.change.value or 0.0) > 0.0
            larger = f"its gap on the holdout is larger than {reference_own(document)}"
            found = larger if is_larger else "the holdout leaves that open"
    return f"the selected model looks fairer on the rows it was selected by, but {found}"


def broken_guard(document: AuditDocument, _caution: Caution) -> str:
    """Name the guardrails that the selected model goes beyond on the holdout."""
    broken = broken_guards(document)
    how = "is shown to break" if any(check.status == "broken" for check in broken) else "goes beyond"
    return f"on the holdout the selected model {how} {sentence_list(map(guard, broken))}"


def wider_gap(document: AuditDocument, caution: Caution) -> str:
    """Tell of gaps that the model was not selected by: what helps in one may cost in another."""
    cells = wider(document, caution.column)
    proven = [cell for cell in cells if cell.verdict is Verdict.LESS_FAIR]
    doubtful = [cell for cell in cells if cell not in proven]
    parts = [f"{verb} wider in {_gaps(some)}" for verb, some in (("is", proven), ("looks", doubtful)) if some]
    found = "; it ".join(parts)
    models = f"from {reference_name(document)} to model {document.selection.rank}"
    return f"{caution.column}: {models} the gap on the holdout {found}"


def _gaps(cells: Sequence[GapChange]) -> str:
    return sentence_list(
        f"{GAPS[cell.metric]} ({share(cell.first.value)} to {share(cell.selected.value)})" for cell in cells
    )


def reversed_order(document: AuditDocument, caution: Caution) -> str:
    """Tell of groups whose order is reversed, though the gap may not look it."""
    return f"{caution.column}: {'; '.join(map(reversal, reversals(document, caution.column)))}"


def levelled_down(_document: AuditDocument, caution: Caution) -> str:
    """Tell of a gap that is smaller because those who were better off lost."""
    return (
        f"{caution.column}: levelling down: the gap is smaller because the group that was best off lost, and no group "
        "has gained"
    )


def moved_selection(document: AuditDocument, _caution: Caution) -> str:
    """Tell of a model that selects many more, or many fewer."""
    moved = selection_moved(document) or NONE
    whom = "more" if moved.change > 0.0 else "fewer"
    extreme = "; it selects nearly everybody, where any gap is small" if moved.selected >= EVERYBODY else ""
    extreme = "; it selects nearly nobody, where any gap is small" if moved.selected <= NOBODY else extreme
    return (
        f"the selected model selects {whom}: {percent(moved.selected)} of the holdout instead of "
        f"{percent(moved.first)}{extreme}; {_at_equal_rates(document)}"
    )


def _at_equal_rates(document: AuditDocument) -> str:
    decide = "like-incumbent" if document.is_against_incumbent else "base-rate"
    return f"decide={decide!r} (--decide {decide}) compares models at equal rates"


def lost_balance(document: AuditDocument, _caution: Caution) -> str:
    """Tell of balanced accuracy that accuracy does not show the loss of."""
    moved = balance_lost(document) or NONE
    return (
        f"balanced accuracy changes by {signed(moved.change)} on the holdout, from {share(moved.first)} to "
        f"{share(moved.selected)}; performance='balanced_accuracy' (--performance balanced_accuracy) limits that loss"
    )


def few_rows(document: AuditDocument, caution: Caution) -> str:
    """Name groups of which few rows stand behind a rate."""
    found = few_trials(document, column_named(document, str(caution.column)))
    named = [f"{RATES[rate]} of {short(name)} ({counted(trials, 'row')})" for name, trials, rate in found[:NAMED]]
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    least = document.config.min_group_size
    return f"{caution.column}: less than {least} rows of the holdout stand behind {', '.join(named)}{more}"
