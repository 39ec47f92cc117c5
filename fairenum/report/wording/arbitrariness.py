"""The words on whose decision depends on which of the near-optimal models is used."""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.arbitrariness import Arbitrariness, BoundedShare, Discrepancy, FlippedColumn, PriceEffort
from fairenum.document.audit import AuditDocument
from fairenum.document.choice import Caution
from fairenum.phrases import option
from fairenum.rendering.numbers import UNDEFINED, counted, percent, share
from fairenum.rendering.text import shortened
from fairenum.report.wording import GROUP_WIDTH, short

TITLE = "Whose decision depends on the choice of model"
CURVE_CAPTION = (
    "The more a model may lose, the more people some model decides otherwise. Bands: intervals; dashed: the loss that "
    "this audit calls near-optimal."
)
NOT_WRONG = (
    "This does not say that a decision is wrong. It says that the training rows do not settle it: whoever picks one of "
    "these models picks the outcome of these people, too."
)
IN_TABLES = "The run and its tables (--tables) list the loss at which each examined person's decision first changes."


def loss(eps: float) -> str:
    """Say what counts as near-optimal."""
    return f"{100 * eps:.3g} %"


def bounded(found: BoundedShare) -> str:
    """Show a share, or between what it lies, with its limits."""
    if found.least is None or found.most is None or found.low is None or found.high is None:
        return UNDEFINED
    value = percent(found.least) if found.is_exact else f"{100 * found.least:.1f} to {percent(found.most)}"
    return f"{value} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def bounded_gap(found: BoundedShare) -> str:
    """Show a gap, or between what it lies, with its limits, as other gaps are shown."""
    value = share(found.least) if found.is_exact else f"{share(found.least)} to {share(found.most)}"
    return f"{value} [{share(found.low)}, {share(found.high)}]"


def finding(document: AuditDocument, found: Arbitrariness) -> str:
    """Say for how many people the decision depends on the choice of model."""
    one, weighted = found.overall, " by weight" if document.dataset.weights else ""
    examined = f"{one.rows} examined people" if found.is_sample else f"{one.rows} people"
    if not one.flipped and not one.open:
        return (
            f"For none of {examined} in the holdout does the decision depend on which of the near-optimal models is "
            f"used ({bounded(one.ambiguity)}{weighted}): every model whose training loss is at most {loss(found.eps)} "
            "above the least, listed or not, decides as model 1 does."
        )
    return (
        f"For {one.flipped} of {examined} in the holdout the decision depends on which of the near-optimal models is "
        f"used ({bounded(one.ambiguity)}{weighted}): some model whose training loss is at most {loss(found.eps)} above "
        "the least decides otherwise than model 1."
    )


def explained(document: AuditDocument, found: Arbitrariness) -> Iterator[str]:
    """Say what that means, for all models and for those of the list, and how far a single one goes."""
    yield finding(document, found)
    if found.is_sample:
        more = min(10 * found.overall.rows, found.holdout)
        yield (
            f"Of {found.holdout} people in the holdout {found.overall.rows} were examined, drawn at random: intervals "
            f"allow for it, and {option('price_rows', more, 'price-rows', str(more))} would narrow them."
        )
    if document.config.rate is not None:
        yield "Models of the list are cut each at its own decision value; here all are cut where model 1 is."
    if found.overall.flipped or found.overall.open:
        yield from _depending(found)


def _depending(found: Arbitrariness) -> Iterator[str]:
    """Say what is proven about the others, what the list would have shown, and whom it meets more often."""
    one = found.overall
    settled = one.rows - one.flipped - one.open
    others = (
        f"For {settled} every such model decides as model 1 does" if settled else "There is nobody about whom all agree"
    )
    open_rows = f", and of {one.open} {'person' if one.open == 1 else 'people'} neither is proven" if one.open else ""
    yield f"{others}{open_rows}. That is proven for all models of this kernel, listed or not."
    if found.models > 1:
        yield f"The {found.models} listed models within this loss show it for {percent(one.listed)} of these people."
    else:
        yield "Of the listed models model 1 alone is within this loss, so that the list shows nothing of this."
    yield discrepancy(found.discrepancy, found.eps)
    yield from (gap(column, groups) for column, groups in found.by_column.items())
    yield NOT_WRONG


def discrepancy(found: Discrepancy, eps: float) -> str:
    """Say how many decisions a single model changes."""
    who = "model 1 with another bias" if found.rank is None else f"model {found.rank}"
    attained = f"at least {percent(found.attained)} ({who}) and " if found.attained else ""
    return (
        f"The model within {loss(eps)} that changes the most decisions at once changes {attained}at most "
        f"{percent(found.bound)} of them (discrepancy)."
    )


def gap(column: str, found: FlippedColumn) -> str:
    """Say whether it meets groups alike."""
    ends = _ends(found)
    if ends is None:
        return f"By {short(column)} fewer than two groups can be compared."
    verdict = (
        "some groups are shown to be met more often than others"
        if (found.gap.low or 0.0) > 0.0
        else "these rows do not show that groups are met differently"
    )
    return f"By {short(column)} this is so for {ends}, an arbitrariness gap of {bounded_gap(found.gap)}: {verdict}."


def _ends(found: FlippedColumn) -> str | None:
    """Name the groups that it meets most and least often; None where there are not two."""
    shares = [(one.ambiguity.least, one) for one in found.groups if one.is_compared and one.ambiguity.least is not None]
    if len(shares) < 2:
        return None
    ordered = sorted(shares, key=lambda one: one[0])
    most, least = (
        f"{percent(value)} of group {shortened(one.group, GROUP_WIDTH)}" for value, one in ordered[:: 1 - len(ordered)]
    )
    return f"{most} and {least}"


def arbitrary_gap(document: AuditDocument, caution: Caution) -> str:
    """Warn that the choice of model decides about one group more often than about another."""
    column = caution.column or ""
    found = document.arbitrariness.by_column.get(column) if document.arbitrariness else None
    if found is None:
        return f"which model is used matters more to some groups by {short(column)} than to others"
    return (
        f"by {short(column)} the decision depends on which of the near-optimal models is used for {_ends(found)}: an "
        f"arbitrariness gap of {bounded_gap(found.gap)}"
    )


def effort(found: PriceEffort) -> str:
    """Say how the losses were found."""
    return (
        f"of {counted(found.distinct, 'different row')}, {found.screened} were settled by what is proven for others, "
        f"{found.listed} by models that are known already, and {found.walked} by a problem of their own"
    )


def notes(found: Arbitrariness, *, is_weighted: bool, has_aside: bool) -> Iterator[str]:
    """Say how to read the table of groups."""
    yield f"depends: some model within a loss of {loss(found.eps)} decides otherwise than model 1"
    yield "by the list: what the listed models within that loss show"
    if found.overall.open:
        yield "open: neither proven; the share lies between the two numbers"
    if is_weighted:
        yield "examined and depends are rows; shares are weighted"
    if has_aside:
        yield "set aside: too few rows, or no value; no part in the gap"
