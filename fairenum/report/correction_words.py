"""How models shift the score of the model in use, where they correct it: sentences, and a table of shifts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairenum.document.correction_facts import Correction, ScoreShift
from fairenum.document.words import GROUP_WIDTH, TITLE_WIDTH, short
from fairenum.render.page import Table
from fairenum.runtime.formatting import UNDEFINED, counted, sentence_list, shortened, signed, three_digits

Weights = tuple[str, tuple[float, ...]]  # an encoded column, or a feature, with its weight in each model
LARGEST_SHIFTS = 3


def _title(found: Correction) -> str:
    return shortened(found.feature, GROUP_WIDTH)


def sentences(found: Correction, rows: Sequence[Weights]) -> Iterator[str]:
    """Yield a sentence for each model that `found` has a shift of: what becomes of the score.

    `rows` are the weights of the other columns in these models.
    """
    for place, shift in enumerate(found.shifts):
        if shift.typical is not None:
            yield _kept(found, shift, [(name, weights[place]) for name, weights in rows])
        else:
            yield (
                f"Model {shift.rank} gives the {_title(found)} no weight of its own: it replaces the score "
                "instead of shifting it."
            )


def _kept(found: Correction, shift: ScoreShift, weights: Sequence[tuple[str, float]]) -> str:
    """Return a sentence on a model that keeps the score, with the columns that shift it most."""
    per_unit = _per_unit(found, shift)
    largest = sorted(weights, key=lambda one: -abs(one[1]))[:LARGEST_SHIFTS]
    named = [f"{short(name)} ({signed(weight / per_unit)})" for name, weight in largest if weight]
    most = f", most by {sentence_list(named)}" if named else ""
    return (
        f"Model {shift.rank} keeps the {_title(found)}, with {three_digits(shift.weight)} of the weight at which "
        f"it decides by itself; all other columns together shift it up or down, by "
        f"{three_digits(shift.typical or 0.0)} {found.units} on average (selection split){most}."
    )


def _per_unit(found: Correction, shift: ScoreShift) -> float:
    """Return how much a rise of the score by one unit adds to the decision value of a model."""
    return shift.weight * found.alone * abs(found.unit)


def shift_table(found: Correction, rows: Sequence[Weights], most: int) -> Table | None:
    """Return a table of the `most` largest shifts of the score by the other columns; None if no model keeps the score.

    `rows` are the weights of the other columns in the models that `found` has a shift of.
    """
    if all(shift.typical is None for shift in found.shifts):
        return None
    hidden = len(rows) - most
    notes = [
        f"in {found.units}; above 0 in the favourable direction",
        *([f"not shown: {counted(hidden, 'smaller one')}; the run's JSON has all weights"] if hidden > 0 else []),
    ]
    return Table(
        f"How far the {_title(found)} is shifted",
        ("encoded feature", *(f"model {shift.rank}" for shift in found.shifts)),
        tuple((shortened(name, TITLE_WIDTH), *_cells(found, weights)) for name, weights in rows[:most]),
        notes=tuple(notes),
    )


def _cells(found: Correction, weights: Sequence[float]) -> Iterator[str]:
    for weight, shift in zip(weights, found.shifts, strict=True):
        yield UNDEFINED if shift.typical is None else signed(weight / _per_unit(found, shift))
