"""How far the training rows settle the decision about one person."""

from __future__ import annotations

from itertools import chain

import numpy as np

from fairenum.auditing.training import Training
from fairenum.dataset import Dataset
from fairenum.document.anatomy import EncodedFeature
from fairenum.document.audit import AuditDocument
from fairenum.document.person import Person
from fairenum.document.tolerance import FlippingMachine, FlipTolerance, MovedExample, ValueRange, WeightChange
from fairenum.enumeration.model import model_of
from fairenum.enumeration.prices import FlippingPlane, flipping_plane, value_ranges
from fairenum.experiment import Division
from fairenum.problem import FloatArray, IntArray

MOST_WEIGHTS, MOST_EXAMPLES = 10, 20
SAME = 1e-9  # weights that differ by less are equal


def encoded(features: tuple[EncodedFeature, ...], person: Person) -> FloatArray:
    """Encode a person as the machine's rows are: a table of one."""
    cells = (one.encoded(person.values[one.name]) for one in features)
    return np.array([[*chain.from_iterable(cells)]])


def settled(document: AuditDocument, person: Person, division: Division, training: Training) -> Person:
    """Add to a person how far the training rows settle what model 1 decides; without rows if the document has none."""
    row = encoded(division.encoding.described(), person)
    found = tolerance(division, training, row, document.config.eps, document.first.cut)
    if document.is_redacted:
        found = found.but(machine=found.machine.redacted)
    return person.but(tolerance=found)


def tolerance(division: Division, training: Training, row: FloatArray, eps: float, threshold: float) -> FlipTolerance:
    """Find how much worse a machine has to be to decide a person otherwise, and what machines within eps say.

    Parameters
    ----------
    division, training
        What was trained on, and the machine.
    row
        The person, encoded: a table of one.
    eps
        The relative loss within which machines count as near-optimal.
    threshold
        Where model 1 is cut, and every other machine, too.
    """
    nearest = flipping_plane(training.problem, training.best, row, threshold=threshold)
    machine = _machine(nearest, division, training)
    return FlipTolerance(eps, nearest.low, nearest.high, machine, _values(training, row, eps, threshold))


def _values(training: Training, row: FloatArray, eps: float, threshold: float) -> ValueRange | None:
    if not eps > 0.0:
        return None
    found = value_ranges(training.problem, training.best, row, eps)
    ends = (found.low_bound, found.low_attained, found.high_attained, found.high_bound)
    values = [float(end[0]) - threshold for end in ends]
    return ValueRange(*values) if np.isfinite(values).all() else None


def _machine(found: FlippingPlane, division: Division, training: Training) -> FlippingMachine:
    return FlippingMachine(
        weights=() if found.weights is None else _weights(found.weights, division, training),
        dropped=len(found.left),
        added=len(found.joined),
        examples=_examples(found.left[:MOST_EXAMPLES], division.dataset, training),
    )


def _weights(weights: FloatArray, division: Division, training: Training) -> tuple[WeightChange, ...]:
    """Name the weights that differ most from those of model 1."""
    first = model_of(training.problem, training.best, 1, training.best.certificate.objective).plane
    features = division.encoding.described()
    columns = [(one.name, level) for one in features for level in (one.columns or (None,))]
    order = np.argsort(-np.abs(weights - first), kind="stable")[:MOST_WEIGHTS]
    return tuple(
        WeightChange(columns[place][0], columns[place][1], float(first[place]), float(weights[place]))
        for place in order
        if abs(weights[place] - first[place]) > SAME
    )


def _examples(examples: IntArray, dataset: Dataset, training: Training) -> tuple[MovedExample, ...]:
    label = dataset.label
    records = [training.records[example] for example in examples]
    return tuple(
        MovedExample(
            int(dataset.numbered(rows).min()), label.favourable if label.y[rows[0]] == 1 else label.unfavourable
        )
        for rows in records
    )
