"""The words on the model in use: where its decisions come from, and what to beware of about it."""

from __future__ import annotations

from fairenum.document.audit import AuditDocument
from fairenum.document.choice import Caution
from fairenum.document.incumbent import Incumbent
from fairenum.phrases import without
from fairenum.rendering.numbers import counted, percent
from fairenum.rendering.text import sentence_list, shortened
from fairenum.report.wording import IN_USE, TABLE_WIDTH, performance_of, reference_name, short

MOST_NAMED = 3
TRAINED = (
    "Nobody has told this audit what the model in use was made with. If it has seen these rows, or their labels, its "
    "performance here flatters it, and that of the models, which have not seen the holdout, does not."
)


def about(document: AuditDocument, incumbent: Incumbent) -> str:
    """Say where the decisions of the model in use come from, and who is compared with it."""
    return (
        f"The model in use {_source(incumbent)}. No machine has learned from it. Its decision is the label in "
        f"{percent(incumbent.agreement)} of all rows. It is scored on the same rows as the models, which are compared "
        f"with {reference_name(document) if not document.is_against_incumbent else 'it'}."
    )


def _source(incumbent: Incumbent) -> str:
    name = short(incumbent.name)
    if incumbent.cutoff is not None:
        side = "up to" if incumbent.is_lower_better else "from"
        return f"is known by its score, {name}: {side} {incumbent.cutoff:g} it selects"
    favourable = "" if incumbent.favourable is None else f": {short(incumbent.favourable)} is favourable"
    return f"{'was asked' if incumbent.source == 'model' else 'is known by its decisions'}, {name}{favourable}"


def rule(document: AuditDocument, metric: str) -> str:
    """Say which model is selected where there is one in use."""
    tolerances, performance = document.selection.tolerances, performance_of(document)
    return (
        f"The selected model is the one of least {metric} gap on the selection split among those that lose at most "
        f"{tolerances.eps:g} of model 1's objective and {tolerances.max_performance_drop:g} of {performance} against "
        f"{IN_USE} there; that is kept unless a smaller gap than its own is found. Ties go to model 1, else to the "
        f"one of higher {performance}."
    )


def undecided(document: AuditDocument, _caution: Caution) -> str:
    """Tell of rows that the model in use never decided."""
    rows = document.incumbent.undecided if document.incumbent else 0
    return (
        f"the model in use never decided {counted(rows, 'row')}, which were left out of this audit of "
        f"{document.dataset.rows}: whom it leaves undecided is no part of these numbers"
    )


def label(_document: AuditDocument, _caution: Caution) -> str:
    """Tell of decisions that are the label."""
    return (
        "the model in use decides every row as the label has it: check that its decisions were not made from the "
        "label, or the label from them; no other model can be as accurate"
    )


def copies(document: AuditDocument, _caution: Caution) -> str:
    """Name features that tell what the model in use decides."""
    names = document.incumbent.copies[:MOST_NAMED] if document.incumbent else ()
    listed = sentence_list(repr(shortened(name, TABLE_WIDTH)) for name in names)
    verb, them = ("tells", "it") if len(names) == 1 else ("tell", "them")
    return (
        f"{listed} {verb} the decisions of the model in use nearly alone, so that machines can learn what it does; "
        f"leave {them} out with {without(*names)}"
    )


def rate(document: AuditDocument, _caution: Caution) -> str:
    """Tell of models that select another share than the model in use."""
    own, first = (document.member(rank).scores.holdout.selection_rate.value for rank in (0, 1))
    return (
        f"model 1 selects {percent(first)} of the holdout and the model in use {percent(own)}, so that they are not "
        "compared at one rate; decide='like-incumbent' (--decide like-incumbent) lets every model select as many as "
        "that does"
    )


def constant(_document: AuditDocument, _caution: Caution) -> str:
    """Tell of a model in use that decides nothing."""
    return "the model in use decides all rows of the selection split alike, where any gap is 0: nothing can be fairer"
