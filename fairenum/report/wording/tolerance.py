"""The words on how far the decision about one person is settled, over all models that are near-optimal."""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.tolerance import FlippingMachine, FlipTolerance, ValueRange
from fairenum.rendering.numbers import counted, signed
from fairenum.rendering.text import sentence_list
from fairenum.report.wording import short

NO_DATA = (
    "What all other near-optimal models decide is not known from the run alone: it takes the training rows; name the "
    "data of the run, too: --data DATA."
)
TITLE = "The nearest model that decides otherwise"
NOTE = "a weight times the person's encoded value is what the feature adds to the decision value"
MOST_NAMED = 5
TOLD = 5e-4  # decision values that are closer look the same


def loss(price: float) -> str:
    """Show a relative loss in percent, with as many digits as tell it from 0."""
    return f"{100 * price:.3g} %"


def settled(found: FlipTolerance) -> Iterator[str]:
    """Say whether the decision depends on the choice of model, by how much, and on what."""
    yield _standing(found)
    if found.values:
        yield _values(found.values, found.eps)
    yield from _machine(found.machine)


def _standing(found: FlipTolerance) -> str:
    eps = loss(found.eps)
    if found.standing == "flips":
        return (
            f"This decision depends on which of the near-optimal models is used: some model decides otherwise from a "
            f"training loss of {loss(found.high)} above the least on, and up to {eps} count as near-optimal."
        )
    if found.standing == "settled":
        return (
            f"All models within a training loss of {eps} above the least decide this alike, listed or not; it takes "
            f"{loss(found.high)} to decide otherwise."
        )
    return (
        f"Whether some model within a training loss of {eps} above the least decides otherwise is not proven: it takes "
        f"at least {loss(found.low)} and at most {loss(found.high)}."
    )


def _values(found: ValueRange, eps: float) -> str:
    is_tight = found.low_attained - found.low_bound < TOLD and found.high_bound - found.high_attained < TOLD
    attained = "" if is_tight else f" ({signed(found.low_attained)} to {signed(found.high_attained)} were found)"
    return (
        f"Over all models within {loss(eps)} the decision value lies between {signed(found.low_bound)} and "
        f"{signed(found.high_bound)}{attained}; from 0 on the decision is favourable."
    )


def _machine(found: FlippingMachine) -> Iterator[str]:
    named = [f"{_name(one.feature, one.level)} ({signed(one.first)} to {signed(one.other)})" for one in found.weights]
    if named:
        yield f"The nearest model that decides otherwise weighs differently most of all: {sentence_list(named[:3])}."
    if found.dropped:
        rows = [f"{one.row} ({short(one.label)})" for one in found.examples[:MOST_NAMED]]
        hidden = found.dropped - len(rows)
        listed = [*rows, *([f"{hidden} more"] if hidden else [])] if rows else []
        which = f": rows {sentence_list(listed)}" if listed else ""
        yield f"It does without {counted(found.dropped, 'training example')} that model 1 rests on{which}."


def _name(feature: str, level: str | None) -> str:
    return short(feature) if level is None else f"{short(feature)} = {short(level)}"


def weight_rows(found: FlippingMachine) -> tuple[tuple[str, str, str, str], ...]:
    """Show the weights that change most: column, model 1, the other, change."""
    return tuple(
        (_name(one.feature, one.level), signed(one.first), signed(one.other), signed(one.other - one.first))
        for one in found.weights
    )
