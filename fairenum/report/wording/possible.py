"""What no machine that is nearly as good goes beyond, in words."""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.audit import AuditDocument
from fairenum.document.possible import Extent, ParityRange, PossibleRange
from fairenum.document.terms import Gap
from fairenum.rendering.numbers import counted, share
from fairenum.rendering.text import shortened
from fairenum.report.wording import GROUP_WIDTH, IN_USE

TITLE = "What any model as good could do"
GAP: Gap = "demographic_parity_difference"
MUCH = 0.5  # the share of rows that nobody examined from which on they are the reason that a bound is weak
PLAIN_KEY = "(. not ruled out, = machines were found; {marks})"
MARKS = {"1": "model 1", "S": "the selected model", "U": IN_USE}


def loss(eps: float) -> str:
    """Write a loss."""
    return f"{100 * eps:g} %"


def between(low: float, high: float) -> str:
    """Write a range of gaps or rates."""
    return share(low) if share(low) == share(high) else f"{share(low)} to {share(high)}"


def explained(document: AuditDocument, found: PossibleRange) -> Iterator[str]:
    """Say what is proven, what was found, where the bound is too weak to tell, and who stands where."""
    widest = found.levels[-1]
    yield (
        "This is about every support vector machine of the same kernel, listed or not, whose training loss is within "
        f"{loss(widest.eps)} of the least: which demographic parity gap by {shortened(found.column, GROUP_WIDTH)} can "
        "it have on the holdout?"
    )
    for level in found.levels:
        yield _level(level)
    if refuted := refutation(found):
        yield refuted
    yield from _standing(document, found)
    if found.unexamined:
        yield unexamined(found)


def _level(level: ParityRange) -> str:
    gap, name = level.gap, f"Within {loss(level.eps)} of the least loss"
    if level.doubtful == 0:
        return f"{name} every machine has a gap of {share(gap.low)}: none decides otherwise than model 1."
    if between(gap.low, gap.high) == between(gap.least, gap.most):
        return f"{name} the gap is {between(gap.low, gap.high)}: nothing beyond is possible, and both ends were found."
    if is_weak(gap):
        return (
            f"{name} the bound is too weak to tell: the gap could be anything from {share(gap.low)} to "
            f"{share(gap.high)}; the search found {between(gap.least, gap.most)}."
        )
    return (
        f"{name} the gap is proven to lie between {share(gap.low)} and {share(gap.high)}; the search found "
        f"{between(gap.least, gap.most)}."
    )


def is_weak(gap: Extent) -> bool:
    """Tell whether most of what is not ruled out is neither known to be possible."""
    return gap.high - gap.low > 2.0 * (gap.most - gap.least) + 0.01


def refutation(found: PossibleRange) -> str:
    """Say below which gap no machine is, for the largest loss for which that can be said; empty if it cannot."""
    level = refuting(found)
    if level is None:
        return ""
    return (
        f"No support vector machine of this kernel on these features whose training loss is within {loss(level.eps)} "
        f"of the least has a gap below {share(level.gap.low)} on the holdout. That is proven for all of them: none was "
        "overlooked."
    )


def refuting(found: PossibleRange) -> ParityRange | None:
    """Return the largest loss within which it is proven that there is a gap, as far as digits are shown."""
    return next((level for level in reversed(found.levels) if share(level.gap.low) > share(0.0)), None)


def _standing(document: AuditDocument, found: PossibleRange) -> Iterator[str]:
    widest = found.levels[-1]
    if (selected := document.selected) and selected.rank > 1 and selected.loss_ratio > widest.eps:
        yield (
            f"Model {selected.rank} has a training loss of {100 * selected.loss_ratio:.1f} % above the least, and is "
            "no part of this."
        )
    used = document.incumbent.scores.holdout.gap(GAP).value if document.incumbent else None
    if used is None:
        return
    if used > widest.gap.high:
        yield f"Every machine within {loss(widest.eps)} has a smaller gap than {IN_USE} ({share(used)})."
    elif used < widest.gap.low:
        yield f"No machine within {loss(widest.eps)} has as small a gap as {IN_USE} ({share(used)})."


def unexamined(found: PossibleRange) -> str:
    """Say that the bound is weak because there was no time for the rows."""
    weak = " The bound is too weak to tell for that reason." if found.unexamined > MUCH * found.rows else ""
    return (
        f"Of {counted(found.rows, 'row')} of the holdout, {found.unexamined} were not examined, and count as open: "
        f"they make the bound wider than it need be.{weak}"
    )


def caption(found: PossibleRange) -> str:
    """Say what the bars show."""
    return (
        f"Demographic parity gap by {shortened(found.column, GROUP_WIDTH)} on the holdout, for every machine within a "
        "training loss. Light: not ruled out. Dark: machines were found. Beyond the bar no such machine exists."
    )


def table_notes() -> tuple[str, ...]:
    """Say how to read the table of bounds."""
    return (
        "proven: no machine within the loss is beyond; found: machines that were found",
        "in doubt: rows that are not proven to be decided as model 1 decides them",
    )
