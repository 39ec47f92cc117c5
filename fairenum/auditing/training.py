"""What is trained: the table as it was asked for, C by cross-validation, and the machine posed on the training rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairenum.dataset import Dataset, load_dataset
from fairenum.dataset.naming import Names, listed
from fairenum.document.audit_config import AuditConfig
from fairenum.document.machine import Machine
from fairenum.document.models import TriedCost, Tuning
from fairenum.document.reading import Reading
from fairenum.errors import ConfigError
from fairenum.experiment import FOLDS, GRID, Division, EncodedRows, best_cost, kernel_for, pose
from fairenum.phrases import quoted
from fairenum.problem import IntArray, SvmProblem
from fairenum.progress import Progress

if TYPE_CHECKING:
    import pandas as pd

# Enough for any table on which the cost matters; beyond it libsvm crawls towards a digit that no fold can see.
MOST_ITERATIONS = 20_000
# The work of an enumeration whose limit is "auto": far more than 50 models of a few thousand rows need.
WORK = 2.5e8
FEWEST_NODES = 100


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """The SVM to enumerate.

    Attributes
    ----------
    problem
        What is solved.
    records
        For each example the rows of the table that it stands for.
    machine
        With C and gamma as numbers.
    max_nodes
        The limit of solved boxes, as resolved.
    """

    problem: SvmProblem
    records: tuple[IntArray, ...]
    machine: Machine
    max_nodes: int | None


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
    if isinstance(data, str | Path):
        return load_dataset(data, label, favourable, sensitive, reading=config.reading)
    return Dataset.from_frame(data, label, favourable, listed(sensitive or ()), reading=config.reading)


def _refuse_reading_options(config: AuditConfig, *parts: object) -> None:
    plain, asked = Reading(), config.reading
    changed = [option.name for option in fields(plain) if getattr(asked, option.name) != getattr(plain, option.name)]
    changed += [
        name for name, part in zip(("label", "favourable", "sensitive"), parts, strict=True) if part is not None
    ]
    if changed:
        raise ConfigError(f"a Dataset is read already; give {quoted(changed)} when it is built")


def tune(train: EncodedRows, config: AuditConfig, progress: Progress) -> tuple[Machine, Tuning | None]:
    """Resolve gamma and C; where C is to be chosen, say how each cost fared on folds of the training rows."""
    machine = replace(config.machine, gamma=kernel_for(config.machine, train.X).gamma)
    if machine.C != "auto":
        return machine, None
    folds = min(FOLDS, int(np.unique(train.y, return_counts=True)[1].min()))
    if folds < 2:
        raise ConfigError("C='auto' needs at least two training rows of each label; give C as a number")
    accuracy = _accuracy_by_cost(train, machine, folds, config.seed, progress)
    tuning = Tuning(folds, tuple(TriedCost(cost, share) for cost, share in accuracy.items()))
    return replace(machine, C=best_cost(accuracy)), tuning


def _accuracy_by_cost(
    train: EncodedRows, machine: Machine, folds: int, seed: int, progress: Progress
) -> dict[float, float]:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.svm import SVC

    parts = StratifiedKFold(folds, shuffle=True, random_state=seed)
    kernel = {"kernel": machine.kernel, "gamma": machine.gamma, "degree": machine.degree, "coef0": machine.coef0}
    accuracy: dict[float, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for done, cost in enumerate(GRID):
            progress("tune", done, len(GRID))
            svc = SVC(C=cost, max_iter=MOST_ITERATIONS, **kernel)
            accuracy[cost] = float(cross_val_score(svc, train.X, train.y, cv=parts).mean())
    progress("tune", len(GRID), len(GRID))
    return accuracy


def posed(division: Division, machine: Machine, config: AuditConfig) -> Training:
    """Pose the machine on the training rows, and resolve how many boxes may be solved."""
    found = pose(division.train.X, division.train.y, machine)
    records = tuple(division.split.train[rows] for rows in found.rows_of)
    # one box costs as much as the numbers that each of its steps goes through
    nodes = found.problem.affordable(WORK, FEWEST_NODES) if config.max_nodes == "auto" else config.max_nodes
    return Training(found.problem, records, machine, nodes)
