"""One experiment: a table divided and encoded without a leak, and the machine posed on its training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fairenum.dataset import Dataset, Encoding, Groups, Split, merge_identical, split
from fairenum.dataset.groups import named_groups
from fairenum.dataset.splitting import drawn_share
from fairenum.document.audit_config import SHARES
from fairenum.document.deciding import Decide
from fairenum.document.machine import Machine
from fairenum.document.terms import Gap, Part
from fairenum.matrices import Matrix, variance
from fairenum.problem import FloatArray, IntArray, Kernel, SvmProblem
from fairenum.scoring import Decisions, score
from fairenum.scoring.operating import SIGN, OperatingPoint

PARTS: tuple[Part, Part] = ("selection", "holdout")
# The costs that cross-validation chooses among, and its folds.
GRID = tuple(10.0**power for power in range(-2, 4))
FOLDS = 5


@dataclass(frozen=True, slots=True, eq=False)
class EncodedRows:
    """Encoded rows with their labels (+1 favourable, -1 unfavourable), groups and, if they differ, weights.

    Attributes
    ----------
    groups
        Of the column that models are selected by.
    others
        The groups of other sensitive columns, and of their intersection, which guardrails look at.
    drawn
        The share of the table that the rows are, if they were drawn with labels and groups in its proportions; else 1.
    """

    X: Matrix = field(repr=False)
    y: FloatArray = field(repr=False)
    groups: Groups = field(repr=False)
    weights: FloatArray | None = field(default=None, repr=False)
    others: tuple[Groups, ...] = field(default=(), repr=False)
    drawn: float = 1.0

    def __len__(self) -> int:
        return len(self.y)

    @property
    def labels(self) -> NDArray[np.uint8]:
        """The labels as 0 and 1."""
        return (self.y > 0.0).astype(np.uint8)

    def take(self, rows: IntArray | slice) -> EncodedRows:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        others = tuple(groups.take(rows) for groups in self.others)
        return EncodedRows(self.X[rows], self.y[rows], self.groups.take(rows), weights, others)

    @property
    def counting(self) -> FloatArray:
        """What each row counts."""
        return np.ones(len(self)) if self.weights is None else self.weights

    def decisions(self, values: FloatArray) -> Decisions:
        """Turn decision values, or signs, of shape (models, rows) into decisions about these rows."""
        return Decisions((values >= 0.0).astype(np.uint8), self.labels, self.groups, self.weights, self.drawn)

    def gaps(self, values: FloatArray, metric: Gap) -> FloatArray:
        """Measure the gap of each model, given its decision values on these rows."""
        return np.asarray(getattr(score(self.decisions(values)).gaps, metric))


def encode(
    dataset: Dataset,
    parts: Sequence[IntArray],
    primary: Groups | None,
    *,
    others: Sequence[Groups] = (),
    standardise: bool = True,
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
    others
        The groups of other columns.
    standardise
        Scale numbers to mean 0 and variance 1.
    """
    encoding = Encoding.fit(dataset, parts[0], standardise=standardise)
    groups = primary or Groups.everyone(len(dataset))
    encoded = [
        EncodedRows(
            encoding.transform(dataset, rows),
            dataset.signs[rows],
            groups.take(rows),
            dataset.relative(rows),
            tuple(one.take(rows) for one in others),
        )
        for rows in parts
    ]
    return encoding, encoded


@dataclass(frozen=True, slots=True, eq=False)
class Division:
    """A table, divided into rows to train on, to choose by and to report on, and encoded.

    Attributes
    ----------
    columns
        The groups of every sensitive column and, if there are several, of their intersection.
    primary
        The one of them whose groups the encoded rows have; None if there is none.
    rows
        The row numbers of the selection split and of the holdout.
    is_exploratory
        Whether selection and holdout are not separate from each other, or from the training rows.
    """

    dataset: Dataset
    split: Split
    encoding: Encoding
    columns: tuple[Groups, ...]
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
    fewest: int | None = None,
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
    fewest
        Rows of the selection split and of the holdout below which a group is set aside, as are those without a value;
        all groups are compared if not given.
    """
    parts = split(dataset, sizes, seed)
    # A run without one of the three parts still answers, from rows that are not separate, and says so.
    chosen = next(rows for rows in (parts.selection, parts.holdout, parts.train) if rows.size)
    reported = parts.holdout if parts.holdout.size else chosen
    columns = dataset.columns
    if fewest is not None:
        columns = tuple(groups.setting_aside(fewest, (chosen, reported)) for groups in columns)
    groups = named_groups(columns, primary) if columns or primary else None
    others = [one for one in columns if one is not groups]
    encoding, encoded = encode(dataset, (parts.train, chosen, reported), groups, others=others, standardise=standardise)
    train, selection, holdout = encoded
    return Division(
        dataset=dataset,
        split=parts,
        encoding=encoding,
        columns=columns,
        primary=groups,
        train=train,
        selection=replace(selection, drawn=drawn_share(dataset, chosen)),
        holdout=replace(holdout, drawn=drawn_share(dataset, reported)),
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


def pose(X: Matrix, y: FloatArray, machine: Machine, *, weights: FloatArray | None = None, ridge: float = 0.0) -> Posed:
    """Pose a machine on rows: resolve its gamma, and merge identical rows unless they are examples of their own.

    A row costs C times the weight of its label times its own. Rows are identical if their weights are, too: so copies
    of one example share one price, and can be left out one by one.

    Parameters
    ----------
    X, y
        The training rows and their labels, +1 and -1.
    machine
        What to train; its C is a number, and the weights of its classes are chosen.
    weights
        What each row counts, where they differ; all positive.
    ridge
        Added to the diagonal of the kernel matrix.
    """
    kernel, price = kernel_for(machine, X, weights), machine.cost * label_weights(machine, y, weights)
    cost = price if weights is None else price * weights
    if machine.rows:
        return Posed(SvmProblem(X, y, cost, kernel=kernel, ridge=ridge), tuple(np.arange(len(y))[:, None]))
    merged = merge_identical(X, y, weights)
    first = merged.first
    problem = SvmProblem(X[first], y[first], cost[first], merged.copies, kernel, ridge=ridge)
    rows_of = np.split(np.argsort(merged.inverse, kind="stable"), np.cumsum(merged.copies)[:-1])
    return Posed(problem, tuple(rows_of))


def label_weights(machine: Machine, y: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the weight of each row's label."""
    favourable, unfavourable = class_weights(machine, y, weights)
    return np.where(y > 0.0, favourable, unfavourable)


def class_weights(machine: Machine, y: FloatArray, weights: FloatArray | None = None) -> tuple[float, float]:
    """Return what a violated margin costs by label, favourable and unfavourable, as multiples of C.

    Balanced weights give both labels the same total, as scikit-learn does. A row that counts several times is as good
    as several rows.
    """
    machine.require_class_weight()
    if machine.class_weight == "none":
        return 1.0, 1.0
    if machine.class_weight != "balanced":
        return float(machine.class_weight[0]), float(machine.class_weight[1])
    counted = np.ones(len(y)) if weights is None else weights
    counts = [float(counted[y == sign].sum()) for sign in (1.0, -1.0)]
    favourable, unfavourable = (sum(counts) / (2.0 * count) if count else np.inf for count in counts)
    return favourable, unfavourable


def kernel_for(machine: Machine, X: Matrix, weights: FloatArray | None = None) -> Kernel:
    """Return the kernel with gamma as a number, as scikit-learn resolves it for rows that count so often."""
    if machine.gamma == "scale":
        spread = variance(X, weights)
        gamma = 1.0 / (X.shape[1] * spread) if spread else 1.0
    else:
        gamma = 1.0 / X.shape[1] if machine.gamma == "auto" else float(machine.gamma)
    return Kernel(machine.kernel, gamma, machine.degree, machine.coef0)


def best_cost(accuracy: dict[float, float]) -> float:
    """Take the C of the highest accuracy; ties go to the smaller one, which is the simpler model."""
    return min(accuracy, key=lambda cost: (-round(accuracy[cost], 12), cost))
