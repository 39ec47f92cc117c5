"""From a table to what is trained on and what is audited: load, split, encode, choose C, merge identical rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from fairenum.audit.config import AuditConfig
from fairenum.dataset import Dataset, Encoding, Groups, Split, load_dataset, merge_identical
from fairenum.dataset import split as split_rows
from fairenum.dataset.groups import named_groups
from fairenum.dataset.naming import Names, listed, quoted
from fairenum.errors import ConfigError
from fairenum.problem import FloatArray, IntArray, Kernel, SvmProblem

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[str, int, int | None], None]
Part = Literal["selection", "holdout"]
PARTS: tuple[Part, Part] = ("selection", "holdout")

GRID = tuple(10.0**power for power in range(-2, 4))
FOLDS = 5
# Enough for any table on which the cost matters; beyond it libsvm crawls towards a digit that no fold can see.
MOST_ITERATIONS = 20_000
# The work of an enumeration whose limit is "auto": far more than 50 models of a few thousand rows need.
WORK = 2.5e8
FEWEST_NODES = 100


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A table, divided and encoded.

    Attributes
    ----------
    columns
        The sensitive columns and, if they are several, their intersection; the primary one is `primary`.
    rows
        The rows of the selection split and of the holdout.
    train, audited
        The encoded rows: of the training split, and of the other two.
    is_exploratory
        Whether selection and holdout are not separate from each other, or from the training rows.
    """

    dataset: Dataset
    split: Split
    encoding: Encoding
    columns: tuple[Groups, ...]
    primary: Groups | None
    rows: dict[Part, IntArray]
    train: FloatArray
    audited: dict[Part, FloatArray]
    is_exploratory: bool


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """The SVM to enumerate.

    Attributes
    ----------
    records
        For each example the rows of the table that it stands for.
    C, gamma, max_nodes
        As resolved.
    tuning
        Accuracy by C where it was chosen by cross-validation.
    folds
        How many folds that took.
    """

    problem: SvmProblem
    records: tuple[IntArray, ...]
    C: float
    gamma: float
    max_nodes: int | None
    tuning: dict[float, float] | None = None
    folds: int = 0


def load(
    data: str | Path | pd.DataFrame | Dataset,
    label: str | None,
    favourable: object,
    sensitive: Names | None,
    config: AuditConfig,
) -> Dataset:
    """Load what is to be audited: a bundled name, a file, a frame, or a dataset that is ready."""
    if isinstance(data, Dataset):
        _refuse_reading_options(config, label, favourable, sensitive)
        return data
    reading = {"drop": config.drop, "bands": dict(config.bands), "use_sensitive": config.use_sensitive}
    if isinstance(data, str | Path):
        return load_dataset(
            data,
            label,
            favourable,
            sensitive,
            categorical=config.categorical,
            delimiter=config.delimiter,
            **reading,  # type: ignore[arg-type]
        )
    return Dataset.from_frame(
        data,
        label,
        favourable,
        listed(sensitive or ()),
        categorical=config.categorical,
        **reading,  # type: ignore[arg-type]
    )


def _refuse_reading_options(config: AuditConfig, *parts: object) -> None:
    plain = AuditConfig()
    names = ("drop", "bands", "use_sensitive", "categorical", "delimiter")
    changed = [name for name in names if getattr(config, name) != getattr(plain, name)]
    changed += [
        name for name, part in zip(("label", "favourable", "sensitive"), parts, strict=True) if part is not None
    ]
    if changed:
        raise ConfigError(f"a Dataset is read already; give {quoted(changed)} when it is built")


def prepare(dataset: Dataset, config: AuditConfig) -> Prepared:
    """Divide and encode a table; the encoding sees the training rows alone."""
    split = split_rows(dataset, config.sizes, config.seed)
    encoding = Encoding.fit(dataset, split.train, standardise=config.standardise)
    columns = dataset.columns
    selection, holdout = split.selection, split.holdout
    # A run without one of the three parts still answers, from rows that are not separate, and says so.
    chosen = next(part for part in (selection, holdout, split.train) if part.size)
    reported = holdout if holdout.size else chosen
    return Prepared(
        dataset=dataset,
        split=split,
        encoding=encoding,
        columns=columns,
        primary=named_groups(columns, config.primary) if columns or config.primary else None,
        rows={"selection": chosen, "holdout": reported},
        train=encoding.transform(dataset, split.train),
        audited={part: encoding.transform(dataset, rows) for part, rows in zip(PARTS, (chosen, reported), strict=True)},
        is_exploratory=not (selection.size and holdout.size),
    )


def pose(prepared: Prepared, config: AuditConfig, progress: Progress) -> Training:
    """Pose the SVM: resolve gamma and C, and merge identical rows unless they are to be left out one by one."""
    X, signs, rows = prepared.train, prepared.dataset.signs[prepared.split.train], prepared.split.train
    gamma = _gamma(config, X)
    tuning, folds = _tuned(X, signs, gamma, config, progress) if config.C == "auto" else (None, 0)
    cost = float(config.C) if tuning is None else best_cost(tuning)
    kernel = Kernel(config.kernel, gamma, config.degree, config.coef0)
    if config.rows:
        problem, records = SvmProblem(X, signs, cost, kernel=kernel), tuple(rows[:, None])
    else:
        merged = merge_identical(X, signs)
        problem = SvmProblem(merged.X, merged.y, cost, merged.copies, kernel)
        records = tuple(np.split(rows[np.argsort(merged.inverse, kind="stable")], np.cumsum(merged.copies)[:-1]))
    return Training(problem, records, cost, gamma, _max_nodes(config, problem), tuning, folds)


def _max_nodes(config: AuditConfig, problem: SvmProblem) -> int | None:
    """Resolve the limit of solved boxes: one costs as much as the numbers that each of its steps goes through."""
    if config.max_nodes != "auto":
        return config.max_nodes
    return problem.affordable(WORK, FEWEST_NODES)


def _gamma(config: AuditConfig, X: FloatArray) -> float:
    """Resolve gamma as scikit-learn does."""
    if config.gamma == "scale":
        variance = float(X.var())
        return 1.0 / (X.shape[1] * variance) if variance else 1.0
    return 1.0 / X.shape[1] if config.gamma == "auto" else float(config.gamma)


def best_cost(tuning: dict[float, float]) -> float:
    """Take the C of the highest accuracy; ties go to the smaller one, which is the simpler model."""
    return min(tuning, key=lambda cost: (-round(tuning[cost], 12), cost))


def _tuned(
    X: FloatArray, signs: FloatArray, gamma: float, config: AuditConfig, progress: Progress
) -> tuple[dict[float, float], int]:
    """Measure the accuracy of each C on folds of the training rows."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.svm import SVC

    folds = min(FOLDS, int(np.unique(signs, return_counts=True)[1].min()))
    if folds < 2:
        raise ConfigError("C='auto' needs at least two training rows of each label; give C as a number")
    parts = StratifiedKFold(folds, shuffle=True, random_state=config.seed)
    machine = SVC(kernel=config.kernel, gamma=gamma, degree=config.degree, coef0=config.coef0, max_iter=MOST_ITERATIONS)
    accuracy: dict[float, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for done, cost in enumerate(GRID):
            progress("tune", done, len(GRID))
            accuracy[cost] = float(cross_val_score(machine.set_params(C=cost), X, signs, cv=parts).mean())
    progress("tune", len(GRID), len(GRID))
    return accuracy, folds
