"""From a table to an SVM problem: rows split and encoded without leakage, and the SVM posed on the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fairenum.document.audit_config import SHARES
from fairenum.document.feature_facts import EncodingComparison
from fairenum.document.terms import Features, Gap, Part
from fairenum.document.training import Decide, SvmSettings
from fairenum.metrics import Decisions, score
from fairenum.metrics.operating_point import SIGN, OperatingPoint
from fairenum.svm.problem import FloatArray, IntArray, Kernel, SvmProblem
from fairenum.svm.sparse_or_dense import Matrix, variance
from fairenum.tables import Dataset, Encoding, Groups, Split, merge_identical, split
from fairenum.tables.groups import named_groups
from fairenum.tables.splitting import drawn_share

PARTS: tuple[Part, Part] = ("selection", "holdout")

# The costs that cross-validation chooses among, and its folds.
GRID = tuple(10.0**power for power in range(-2, 4))
FOLDS = 5


@dataclass(frozen=True, slots=True, eq=False)
class EncodedRows:
    """Encoded rows with their labels (+1 favourable, -1 unfavourable), groups and optional weights.

    Attributes
    ----------
    groups
        The group of each row, in the column that models are selected by.
    others
        The groups of each row in every other sensitive column and in the intersection of all, for guardrails.
    drawn
        These rows as a share of their table, if they are a sample stratified by label and group; else 1.
    clusters
        The person, firm or the like that each row belongs to, as a number; None if rows are independent.
    """

    X: Matrix = field(repr=False)
    y: FloatArray = field(repr=False)
    groups: Groups = field(repr=False)
    weights: FloatArray | None = field(default=None, repr=False)
    others: tuple[Groups, ...] = field(default=(), repr=False)
    drawn: float = 1.0
    clusters: IntArray | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def labels(self) -> NDArray[np.uint8]:
        """The labels as 0 (unfavourable) and 1 (favourable)."""
        return (self.y > 0.0).astype(np.uint8)

    def take(self, rows: IntArray | slice) -> EncodedRows:
        """Return the rows at the given indices."""
        weights = None if self.weights is None else self.weights[rows]
        others = tuple(groups.take(rows) for groups in self.others)
        clusters = None if self.clusters is None else self.clusters[rows]
        return EncodedRows(self.X[rows], self.y[rows], self.groups.take(rows), weights, others, clusters=clusters)

    @property
    def counting(self) -> FloatArray:
        """The weight of each row; 1 for all rows without weights."""
        return np.ones(len(self)) if self.weights is None else self.weights

    def decisions(self, values: FloatArray) -> Decisions:
        """Return the decisions of models about these rows, favourable where a decision value is at least 0.

        `values` are decision values, or their signs, of shape (models, rows).
        """
        decided = (values >= 0.0).astype(np.uint8)
        return Decisions(decided, self.labels, self.groups, self.weights, self.drawn, self.clusters)

    def gaps(self, values: FloatArray, metric: Gap) -> FloatArray:
        """Return the gap of each model by `metric`, given decision values of shape (models, rows)."""
        return np.asarray(getattr(score(self.decisions(values)).gaps, metric))


def encode(
    dataset: Dataset,
    parts: Sequence[IntArray],
    primary: Groups | None,
    *,
    others: Sequence[Groups] = (),
    standardise: bool = True,
    features: Features = "linear",
) -> tuple[Encoding, list[EncodedRows]]:
    """Return the encoding fitted to the first of several parts of a table, and all parts encoded by it.

    A part is given by its row numbers. `primary` has the groups that models are selected by; if None, all rows are in
    one group. `others` has further groups, for guardrails.
    """
    encoding = Encoding.fit(dataset, parts[0], standardise=standardise, features=features)
    groups = primary or Groups.everyone(len(dataset))
    encoded = [
        EncodedRows(
            encoding.transform(dataset, rows),
            dataset.signs[rows],
            groups.take(rows),
            dataset.relative(rows),
            tuple(one.take(rows) for one in others),
            clusters=None if dataset.members is None else dataset.members[rows],
        )
        for rows in parts
    ]
    return encoding, encoded


@dataclass(frozen=True, slots=True, eq=False)
class Division:
    """A table split into training, selection and holdout rows, and encoded.

    ``columns`` has the groups of every sensitive column and, if there are several, of their intersection; ``primary``
    is the one of them that models are selected by. ``rows`` holds the row numbers of the selection and the holdout
    rows. A division is exploratory if selection and holdout rows are not separate from each other or from the training
    rows. ``features`` says how numbers are encoded, and ``comparison`` why, if that was chosen by a comparison.
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
    features: Features = "linear"
    comparison: EncodingComparison | None = None

    def part(self, part: Part) -> EncodedRows:
        """Return the encoded rows of the selection split or of the holdout."""
        return self.selection if part == "selection" else self.holdout

    @property
    def column(self) -> str | None:
        """The name of the sensitive column that models are selected by; None without one."""
        return self.primary.column if self.primary else None


def divide(
    dataset: Dataset,
    sizes: Sequence[float] = SHARES,
    seed: int = 0,
    *,
    primary: str | None = None,
    standardise: bool = True,
    fewest: int | None = None,
    features: Features = "linear",
) -> Division:
    """Split and encode a table; the encoding is fitted to the training rows alone.

    Parameters
    ----------
    dataset
        The table.
    sizes, seed
        Sizes of the three parts and random seed of the split, as in `fairenum.tables.split`.
    primary, standardise, fewest, features
        As in `encode_split`.
    """
    parts = split(dataset, sizes, seed)
    return encode_split(dataset, parts, primary=primary, standardise=standardise, fewest=fewest, features=features)


def encode_split(
    dataset: Dataset,
    parts: Split,
    *,
    primary: str | None = None,
    standardise: bool = True,
    fewest: int | None = None,
    features: Features = "linear",
) -> Division:
    """Encode a table that is split; the encoding is fitted to the training rows alone.

    Parameters
    ----------
    dataset, parts
        The table, and its split.
    primary
        The sensitive column, or intersection, to group rows by; the first if not given.
    standardise
        Scale numbers to mean 0 and variance 1.
    features
        Whether the encoding of numbers is linear or additive, with 0/1 columns for cut points.
    fewest
        Groups with fewer rows in the selection split or in the holdout are excluded from comparisons, as are rows
        without a value; all groups are compared if not given.
    """
    # Without one of the three parts a run is exploratory: it uses the same rows for two purposes.
    chosen = next(rows for rows in (parts.selection, parts.holdout, parts.train) if rows.size)
    reported = parts.holdout if parts.holdout.size else chosen
    columns = dataset.columns
    if fewest is not None:
        columns = tuple(groups.setting_aside(fewest, (chosen, reported)) for groups in columns)
    groups = named_groups(columns, primary) if columns or primary else None
    others = [one for one in columns if one is not groups]
    encoding, (train, selection, holdout) = encode(
        dataset,
        (parts.train, chosen, reported),
        groups,
        others=others,
        standardise=standardise,
        features=features,
    )
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
        features=features,
    )


def operating_point(decide: Decide, train: EncodedRows) -> OperatingPoint:
    """Return how each model's cutoff is set under a rule; a base rate is the share of favourable labels in `train`."""
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
class PosedProblem:
    """An SVM problem posed on training rows; ``rows_of`` has for each example the indices of its identical rows."""

    problem: SvmProblem
    rows_of: tuple[IntArray, ...]


def pose(
    X: Matrix, y: FloatArray, svm: SvmSettings, *, weights: FloatArray | None = None, ridge: float = 0.0
) -> PosedProblem:
    """Return the SVM problem of given settings on training rows, with identical rows merged into one example.

    The hinge loss of a row costs C times the class weight of its label times the row's own weight. Rows with different
    weights are not merged, so the rows behind an example, its copies, share one cost and can be left out one by one.
    Nothing is merged if the settings take rows as examples. C must be a number, and class weights must be chosen; gamma
    is computed from the rows where the settings do not give a number.
    """
    kernel, price = kernel_for(svm, X, weights), svm.cost * row_class_weights(svm, y, weights)
    cost = price if weights is None else price * weights
    if svm.rows:
        return PosedProblem(SvmProblem(X, y, cost, kernel=kernel, ridge=ridge), tuple(np.arange(len(y))[:, None]))
    merged = merge_identical(X, y, weights)
    first = merged.first
    problem = SvmProblem(X[first], y[first], cost[first], merged.copies, kernel, ridge=ridge)
    rows_of = np.split(np.argsort(merged.inverse, kind="stable"), np.cumsum(merged.copies)[:-1])
    return PosedProblem(problem, tuple(rows_of))


def row_class_weights(svm: SvmSettings, y: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the class weight of each row's label."""
    favourable, unfavourable = class_weights(svm, y, weights)
    return np.where(y > 0.0, favourable, unfavourable)


def class_weights(svm: SvmSettings, y: FloatArray, weights: FloatArray | None = None) -> tuple[float, float]:
    """Return the cost of a violated margin for favourable and unfavourable labels, as multiples of C.

    Balanced weights give both labels the same total, as in scikit-learn; a row of weight 2 counts as two rows.
    """
    svm.require_class_weight()
    if svm.class_weight == "none":
        return 1.0, 1.0
    if svm.class_weight != "balanced":
        return float(svm.class_weight[0]), float(svm.class_weight[1])
    counted = np.ones(len(y)) if weights is None else weights
    counts = [float(counted[y == sign].sum()) for sign in (1.0, -1.0)]
    favourable, unfavourable = (sum(counts) / (2.0 * count) if count else np.inf for count in counts)
    return favourable, unfavourable


def kernel_for(svm: SvmSettings, X: Matrix, weights: FloatArray | None = None) -> Kernel:
    """Return the kernel of the settings; a gamma of "scale" or "auto" is computed from rows as in scikit-learn."""
    if svm.gamma == "scale":
        spread = variance(X, weights)
        gamma = 1.0 / (X.shape[1] * spread) if spread else 1.0
    else:
        gamma = 1.0 / X.shape[1] if svm.gamma == "auto" else float(svm.gamma)
    return Kernel(svm.kernel, gamma, svm.degree, svm.coef0)


def best_cost(accuracy: dict[float, float]) -> float:
    """Return the cost C of highest accuracy; of several such costs the smallest, which gives the simplest model."""
    return min(accuracy, key=lambda cost: (-round(accuracy[cost], 12), cost))
