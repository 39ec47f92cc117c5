"""What is trained: the table as it was asked for, C by cross-validation, and the machine posed on the training rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairenum.dataset import Dataset, load_dataset
from fairenum.dataset.naming import Names, listed
from fairenum.document.audit_config import AuditConfig
from fairenum.document.machine import Machine
from fairenum.document.reading import Reading, spelled
from fairenum.document.training import ClassWeights, TriedCost, Tuning
from fairenum.enumeration.model import model_of
from fairenum.enumeration.pinning import records_to_move
from fairenum.errors import ConfigError, ProblemError
from fairenum.experiment import FOLDS, GRID, PARTS, Division, EncodedRows, best_cost, class_weights, kernel_for, pose
from fairenum.matrices import squares
from fairenum.phrases import quoted
from fairenum.problem import IntArray, Kernel, Solution, SvmProblem
from fairenum.progress import Progress
from fairenum.solvers.certified import CertifiedWorkspace
from fairenum.solvers.guarding import watching
from fairenum.solvers.registry import open_workspace

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.svm import SVC

Fold = tuple[IntArray, IntArray]

# Enough for any table on which the cost matters; beyond it libsvm crawls towards a digit that no fold can see.
MOST_ITERATIONS = 20_000
FARTHEST = 1e200  # of a row's kernel with itself: decision values are squared, and so are sums of them
# The work of an enumeration whose limit is "auto": far more than 50 models of a few thousand rows need.
WORK = 2.5e8
FEWEST_NODES, NODES_OF_MODEL, ENOUGH_NODES = 100, 15, 1000  # at least, for each model that is asked for, and for many
# Models in a row that may be nothing new where the limit is "auto": few where each takes long, or none will be new.
HANDFUL, MOST_PATIENCE, PATIENCE_WORK = 20, 1000, 5e7


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
        With C and gamma as numbers, and its class weight chosen.
    class_weights
        What a violated margin costs by label.
    max_nodes, patience
        The limits of solved boxes and of models in a row that are nothing new, as resolved.
    workspace
        The problem, opened in the solver.
    best
        Its answer: model 1.
    """

    problem: SvmProblem
    records: tuple[IntArray, ...]
    machine: Machine
    class_weights: ClassWeights
    max_nodes: int | None
    patience: int
    workspace: CertifiedWorkspace
    best: Solution


def load(
    data: str | Path | pd.DataFrame | Dataset,
    label: str | None,
    favourable: object,
    sensitive: Names | None,
    config: AuditConfig,
    in_use: object = None,
) -> Dataset:
    """Load what is to be audited: a bundled name, a file, a frame, or a dataset that is ready."""
    if isinstance(data, Dataset):
        _refuse_reading_options(config, label, favourable, sensitive, in_use)
        dataset = data
    elif isinstance(data, str | Path):
        dataset = load_dataset(data, label, favourable, sensitive, reading=config.reading, in_use=in_use)
    else:
        names = listed(sensitive or ())
        dataset = Dataset.from_frame(data, label, favourable, names, reading=config.reading, in_use=in_use)
    if config.baselines and dataset.weights:
        raise ConfigError(
            f"baselines=True (--baselines) takes rows that count alike; leave it out, or {spelled('weight')}"
        )
    return dataset


def _refuse_reading_options(config: AuditConfig, *parts: object) -> None:
    plain, asked = Reading(), config.reading
    changed = [option.name for option in fields(plain) if getattr(asked, option.name) != getattr(plain, option.name)]
    names = ("label", "favourable", "sensitive", "incumbent")
    changed += [name for name, part in zip(names, parts, strict=True) if part is not None]
    if changed:
        raise ConfigError(f"a Dataset is read already; give {quoted(changed)} when it is built")


def tune(
    train: EncodedRows, config: AuditConfig, progress: Progress, members: IntArray | None = None
) -> tuple[Machine, Tuning | None]:
    """Resolve gamma and C; where C is to be chosen, say how each cost fared on folds of the training rows.

    Where classes are weighted, balanced accuracy counts: accuracy would have the weights do nothing. Rows of one member
    (person, firm) are in one fold: a machine that knows some of them by heart would know the others.
    """
    machine = replace(config.machine, gamma=kernel_for(config.machine, train.X, train.weights).gamma)
    if machine.C != "auto":
        return machine, None
    folds = _folds(train, config.seed, members)
    if len(folds) < 2:
        rows = "training rows" if members is None else f"training rows, of different {spelled('group_column')},"
        raise ConfigError(f"C='auto' needs at least two {rows} of each label; give C as a number")
    accuracy = _accuracy_by_cost(train, machine, folds, progress)
    tuning = Tuning(len(folds), tuple(TriedCost(cost, share) for cost, share in accuracy.items()))
    return replace(machine, C=best_cost(accuracy)), tuning


def _folds(train: EncodedRows, seed: int, members: IntArray | None) -> list[Fold]:
    """Divide training rows into folds alike in label: rows to learn from, and rows to try that on."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    owners = np.arange(len(train)) if members is None else members
    most = min(FOLDS, *(len(np.unique(owners[train.y == sign])) for sign in (1.0, -1.0)))
    if most < 2:
        return []
    kind = StratifiedKFold if members is None else StratifiedGroupKFold
    folds = kind(most, shuffle=True, random_state=seed).split(train.X, train.y, members)
    # large members may leave a fold without rows, or without a label to learn
    return [(learnt, tried) for learnt, tried in folds if tried.size and np.ptp(train.y[learnt]) > 0.0]


def _accuracy_by_cost(
    train: EncodedRows, machine: Machine, folds: list[Fold], progress: Progress
) -> dict[float, float]:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import accuracy_score, balanced_accuracy_score
    from sklearn.svm import SVC

    from fairenum.estimator import by_label

    weights = by_label(machine.class_weight)
    measure = accuracy_score if weights is None else balanced_accuracy_score
    kernel = {"kernel": machine.kernel, "gamma": machine.gamma, "degree": machine.degree, "coef0": machine.coef0}
    accuracy: dict[float, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for done, cost in enumerate(GRID):
            progress("tune", done, len(GRID))
            svc = SVC(C=cost, class_weight=weights, max_iter=MOST_ITERATIONS, **kernel)
            shares = [_fold_share(svc, train, measure, *fold) for fold in folds]
            accuracy[cost] = float(np.mean(shares))
    progress("tune", len(GRID), len(GRID))
    return accuracy


def _fold_share(
    svc: SVC, train: EncodedRows, measure: Callable[..., float], learnt: IntArray, tried: IntArray
) -> float:
    """Train on some rows, and measure on others what is decided rightly; rows count as they do in the audit."""
    ours, others = train.take(learnt), train.take(tried)
    decided = svc.fit(ours.X, ours.y, sample_weight=ours.weights).predict(others.X)
    return float(measure(others.y, decided, sample_weight=others.weights))


def trained(division: Division, machine: Machine, config: AuditConfig) -> Training:
    """Train the machine on the training rows, and resolve how many boxes may be solved."""
    found = pose(division.train.X, division.train.y, machine, weights=division.train.weights)
    _refuse_far_rows(found.problem.kernel, division)
    records = tuple(division.split.train[rows] for rows in found.rows_of)
    # one box costs as much as the numbers that each of its steps goes through
    fewest = min(max(FEWEST_NODES, NODES_OF_MODEL * config.k), ENOUGH_NODES)
    nodes = found.problem.affordable(WORK, fewest) if config.max_nodes == "auto" else config.max_nodes
    weights = ClassWeights(*class_weights(machine, division.train.y, division.train.weights))
    with watching(machine):
        workspace = open_workspace(machine.solver, found.problem)
    best = workspace.solve()
    patience = _patience(found.problem, best) if config.patience == "auto" else config.patience
    return Training(found.problem, records, machine, weights, nodes, patience, workspace, best)


def _refuse_far_rows(kernel: Kernel, division: Division) -> None:
    """Refuse rows so far from those that are trained on that decision values of them could not be squared."""
    for part in PARTS:
        with np.errstate(over="ignore"):
            square = float(squares(division.part(part).X).max(initial=0.0))
            own = (kernel.gamma * np.float64(square) + kernel.coef0) ** kernel.degree if kernel.name == "poly" else 0.0
        if not max(square, own) <= FARTHEST:
            raise ProblemError(
                f"a row of the {part} split is so far from the training rows that no {kernel.name} kernel of it can be "
                "computed; correct its cells, or leave the row or the column out"
            )


def _patience(problem: SvmProblem, best: Solution) -> int:
    """Return how many models in a row may be nothing new.

    They are a handful where it is proven that leaving out any one record changes no decision: what is next in the order
    are more of the same. Else they are as many as do not take long.
    """
    if records_to_move(model_of(problem, best, 1, best.certificate.objective)) > 1:
        return HANDFUL
    return problem.affordable(PATIENCE_WORK, HANDFUL, MOST_PATIENCE)
