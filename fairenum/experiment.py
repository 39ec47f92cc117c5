"""One experiment: a table divided and encoded without a leak, and the machine posed on its training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairenum.dataset import Dataset, Encoding, Groups, Split, merge_identical, split
from fairenum.dataset.groups import named_groups
from fairenum.document.audit_config import SHARES
from fairenum.document.deciding import Decide
from fairenum.document.machine import Machine
from fairenum.document.terms import Gap, Part
from fairenum.problem import FloatArray, IntArray, Kernel, SvmProblem
from fairenum.scoring import Decisions, score
from fairenum.scoring.operating import SIGN, OperatingPoint

PARTS: tuple[Part, Part] = ("selection", "holdout")
# The costs that cross-validation chooses among, and its folds.
GRID = tuple(10.0**power for power in range(-2, 4))
FOLDS = 5


@dataclass(frozen=True, slots=True, eq=False)
class EncodedRows:
    """Encoded rows with their labels (+1 favourable, -1 unfavourable), groups and, if they differ, weights."""

    X: FloatArray = field(repr=False)
    y: FloatArray = field(repr=False)
    groups: Groups = field(repr=False)
    weights: FloatArray | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def labels(self) -> NDArray[np.uint8]:
        """The labels as 0 and 1."""
        return (self.y > 0.0).astype(np.uint8)

    def take(self, rows: IntArray | slice) -> EncodedRows:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return EncodedRows(self.X[rows], self.y[rows], self.groups.take(rows), weights)

    @property
    def counting(self) -> FloatArray:
        """What each row counts."""
        return np.ones(len(self)) if self.weights is None else self.weights

    def decisions(self, values: FloatArray) -> Decisions:
        """Turn decision values, or signs, of shape (models, rows) into decisions about these rows."""
        return Decisions((values >= 0.0).astype(np.uint8), self.labels, self.groups, self.weights)

    def gaps(self, values: FloatArray, metric: Gap) -> FloatArray:
        """Measure the gap of each model, given its decision values on these rows."""
        return np.asarray(getattr(score(self.decisions(values)).gaps, metric))


def encode(
    dataset: Dataset, parts: Sequence[IntArray], primary: Groups | None, *, standardise: bool = True
) -> tuple[Encoding, list[EncodedRows]]:
    """Encode parts of a table.

    Parameters
    ----------
    dataset
        The table.
    parts
        Row numbers of each part. The first is trained on: the encoding sees its rows alone.
    primary
        The groups of all rows; everyone is in one if not given.
    standardise
        Scale numbers to mean 0 and variance 1.
    """
    encoding = Encoding.fit(dataset, parts[0], standardise=standardise)
    groups = primary or Groups.everyone(len(dataset))
    encoded = [
        EncodedRows(encoding.transform(dataset, rows), dataset.signs[rows], groups.take(rows), dataset.relative(rows))
        for rows in parts
    ]
    return encoding, encoded


@dataclass(frozen=True, slots=True, eq=False)
class Division:
    """A table, divided into rows to train on, to choose by and to report on, and encoded.

    Attributes
    ----------
    primary
        The sensitive column, or intersection, whose groups the encoded rows have; None if there is none.
    rows
        The row numbers of the selection split and of the holdout.
    is_exploratory
        Whether selection and holdout are not separate from each other, or from the training rows.
    """

    dataset: Dataset
    split: Split
    encoding: Encoding
    primary: Groups | None
    train: EncodedRows
    selection: EncodedRows
    holdout: EncodedRows
    rows: dict[Part, IntArray]
    is_exploratory: bool

    def part(self, part: Part) -> EncodedRows:
        """Return the encoded rows of one split."""
        return self.selection if part == "selection" else self.holdout

    @property
    def columns(self) -> tuple[Groups, ...]:
        """The groups of every sensitive column and, if there are several, of their intersection."""
        return self.dataset.columns

    @property
    def column(self) -> str | None:
        """The name of the primary column."""
        return self.primary.column if self.primary else None


def divide(
    dataset: Dataset,
    sizes: Sequence[float] = SHARES,
    seed: int = 0,
    *,
    primary: str | None = None,
    standardise: bool = True,
) -> Division:
    """Divide and encode a table; the encoding sees the training rows alone.

    Parameters
    ----------
    dataset
        The table.
    sizes, seed
        Of the split, as in `fairenum.dataset.split`.
    primary
        The sensitive column, or intersection, to group rows by; the first if not given.
    standardise
        Scale numbers to mean 0 and variance 1.
    """
    parts = split(dataset, sizes, seed)
    # A run without one of the three parts still answers, from rows that are not separate, and says so.
    chosen = next(rows for rows in (parts.selection, parts.holdout, parts.train) if rows.size)
    reported = parts.holdout if parts.holdout.size else chosen
    groups = named_groups(dataset.columns, primary) if dataset.columns or primary else None
    encoding, encoded = encode(dataset, (parts.train, chosen, reported), groups, standardise=standardise)
    train, selection, holdout = encoded
    return Division(
        dataset=dataset,
        split=parts,
        encoding=encoding,
        primary=groups,
        train=train,
        selection=selection,
        holdout=holdout,
        rows={"selection": chosen, "holdout": reported},
        is_exploratory=not (parts.selection.size and parts.holdout.size),
    )


def operating_point(decide: Decide, train: EncodedRows) -> OperatingPoint:
    """Return where models are cut; the base rate is that of the training rows."""
    match decide.rule, decide.number:
        case "base-rate", _:
            return OperatingPoint(float(np.average(train.labels, weights=train.weights)))
        case "rate", share:
            return OperatingPoint(share)
        case "threshold", float(threshold):
            return OperatingPoint(threshold=threshold)
        case _:
            return SIGN


@dataclass(frozen=True, slots=True, eq=False)
class Posed:
    """A machine posed on training rows.

    Attributes
    ----------
    problem
        The SVM to solve.
    rows_of
        For each example the training rows that it stands for.
    """

    problem: SvmProblem
    rows_of: tuple[IntArray, ...]


def pose(
    X: FloatArray, y: FloatArray, machine: Machine, *, weights: FloatArray | None = None, ridge: float = 0.0
) -> Posed:
    """Pose a machine on rows: resolve its gamma, and merge identical rows unless they are examples of their own.

    Parameters
    ----------
    X, y
        The training rows and their labels, +1 and -1.
    machine
        What to train; its C is a number.
    weights
        What each row counts, where they differ: a weighted example has no copies that could be left out.
    ridge
        Added to the diagonal of the kernel matrix.
    """
    kernel, cost = kernel_for(machine, X), machine.cost
    if machine.rows:
        costs = cost if weights is None else cost * weights
        return Posed(SvmProblem(X, y, costs, kernel=kernel, ridge=ridge), tuple(np.arange(len(y))[:, None]))
    merged = merge_identical(X, y)
    if weights is None:
        problem = SvmProblem(merged.X, merged.y, cost, merged.copies, kernel, ridge=ridge)
    else:
        problem = SvmProblem(
            merged.X, merged.y, cost * np.bincount(merged.inverse, weights), kernel=kernel, ridge=ridge
        )
    rows_of = np.split(np.argsort(merged.inverse, kind="stable"), np.cumsum(merged.copies)[:-1])
    return Posed(problem, tuple(rows_of))


def kernel_for(machine: Machine, X: FloatArray) -> Kernel:
    """Return the kernel with gamma as a number, as scikit-learn resolves it for these rows."""
    if machine.gamma == "scale":
        variance = float(X.var())
        gamma = 1.0 / (X.shape[1] * variance) if variance else 1.0
    else:
        gamma = 1.0 / X.shape[1] if machine.gamma == "auto" else float(machine.gamma)
    return Kernel(machine.kernel, gamma, machine.degree, machine.coef0)


def best_cost(accuracy: dict[float, float]) -> float:
    """Take the C of the highest accuracy; ties go to the smaller one, which is the simpler model."""
    return min(accuracy, key=lambda cost: (-round(accuracy[cost], 12), cost))
