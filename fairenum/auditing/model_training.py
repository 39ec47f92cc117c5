"""Loading of the table, choice of C by cross-validation, and training of the SVM on the training rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairenum.document.audit_config import AuditConfig
from fairenum.document.reading import Reading, spelled
from fairenum.document.training import ClassWeights, SvmSettings, TriedCost, Tuning
from fairenum.enumeration.distinct import records_to_move
from fairenum.enumeration.division import (
    FOLDS,
    GRID,
    PARTS,
    Division,
    EncodedRows,
    best_cost,
    class_weights,
    kernel_for,
    pose,
)
from fairenum.enumeration.model import model_of
from fairenum.errors import ConfigError, ProblemError
from fairenum.runtime.budget import Progress
from fairenum.runtime.hints import quoted
from fairenum.solvers.certified import CertifiedWorkspace
from fairenum.solvers.isolation import solver_run
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import FloatArray, IntArray, Kernel, Solution, SvmProblem
from fairenum.svm.sparse_or_dense import Matrix, squares
from fairenum.tables import Dataset, load_dataset
from fairenum.tables.naming import Names, listed

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.svm import SVC

Fold = tuple[IntArray, IntArray]
EncodeFold = Callable[[Fold], tuple[Matrix, Matrix]]

# Enough for any table on which the cost matters; further iterations of libsvm would not change the accuracy of a fold.
MOST_ITERATIONS = 20_000
FARTHEST = 1e200  # for the kernel of a row with itself, as sums of decision values are squared

# The work of an enumeration whose limit is "auto": far more than 50 models of a few thousand rows need.
WORK = 2.5e8
FEWEST_NODES, NODES_OF_MODEL, ENOUGH_NODES = 100, 15, 1000  # in any case, for each model asked for, and for many

# Consecutive repeats of known models before an enumeration with the limit "auto" ends; few where each takes long.
HANDFUL, MOST_PATIENCE, PATIENCE_WORK = 20, 1000, 5e7


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """The SVM whose near-optimal solutions are enumerated: its problem, its settings, and the best solution."""

    problem: SvmProblem
    records: tuple[IntArray, ...]  # for each example the rows of the table that it stands for
    svm: SvmSettings  # with C and gamma as numbers, and its class weight chosen
    class_weights: ClassWeights  # factor of C by label
    # max_nodes, patience: limits on solved subproblems and on consecutive repeats of known models, as resolved
    max_nodes: int | None
    patience: int
    workspace: CertifiedWorkspace  # the problem, opened in the solver
    best: Solution  # its solution: model 1


def load(
    data: str | Path | pd.DataFrame | Dataset,
    label: str | None,
    favourable: object,
    sensitive: Names | None,
    config: AuditConfig,
    incumbent_object: object = None,
) -> Dataset:
    """Return the dataset to audit, given the name of a bundled one, a file, a frame, or a `Dataset`."""
    if isinstance(data, Dataset):
        _refuse_reading_options(config, label, favourable, sensitive, incumbent_object)
        dataset = data
    elif isinstance(data, str | Path):
        dataset = load_dataset(
            data, label, favourable, sensitive, reading=config.reading, incumbent_object=incumbent_object
        )
    else:
        names = listed(sensitive or ())
        dataset = Dataset.from_frame(
            data, label, favourable, names, reading=config.reading, incumbent_object=incumbent_object
        )
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
    train: EncodedRows,
    config: AuditConfig,
    progress: Progress,
    members: IntArray | None = None,
    encode_fold: EncodeFold | None = None,
) -> tuple[SvmSettings, Tuning | None]:
    """Return the SVM settings with gamma and C as numbers, and the cross-validated accuracy of each C tried.

    There are no accuracies (None) if C was given. With class weights, accuracy means balanced accuracy, as plain
    accuracy would undo the weights. `members` are codes of persons or firms: all rows of one member are in one fold, as
    a model trained on some of them would recognise the others. `encode_fold`, if the encoding depends on the labels,
    encodes the rows of a fold anew, by what its rows to learn from show.
    """
    svm = replace(config.svm, gamma=kernel_for(config.svm, train.X, train.weights).gamma)
    if svm.C != "auto":
        return svm, None
    found = folds(train.y, config.seed, members)
    if len(found) < 2:
        rows = "training rows" if members is None else f"training rows, of different {spelled('group_column')},"
        raise ConfigError(f"C='auto' needs at least two {rows} of each label; give C as a number")
    accuracy = _accuracy_by_cost(train, svm, found, progress, encode_fold)
    tuning = Tuning(len(found), tuple(TriedCost(cost, share) for cost, share in accuracy.items()))
    return replace(svm, C=best_cost(accuracy)), tuning


def folds(y: FloatArray, seed: int, members: IntArray | None, most: int = FOLDS) -> list[Fold]:
    """Return stratified cross-validation folds, each a pair of rows to learn from and rows to test on.

    All rows of one member are in one fold. There are fewer than two folds if the labels `y` do not allow two.
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    owners = np.arange(len(y)) if members is None else members
    most = min(most, *(len(np.unique(owners[y == sign])) for sign in (1.0, -1.0)))
    if most < 2:
        return []
    kind = StratifiedKFold if members is None else StratifiedGroupKFold
    found = kind(most, shuffle=True, random_state=seed).split(y, y, members)
    # large members may leave a fold without rows, or without a label to learn
    return [(learnt, tried) for learnt, tried in found if tried.size and np.ptp(y[learnt]) > 0.0]


def _accuracy_by_cost(
    train: EncodedRows, svm: SvmSettings, found: list[Fold], progress: Progress, encode_fold: EncodeFold | None
) -> dict[float, float]:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import accuracy_score, balanced_accuracy_score
    from sklearn.svm import SVC

    from fairenum.estimator import by_label

    weights = by_label(svm.class_weight)
    measure = accuracy_score if weights is None else balanced_accuracy_score
    kernel = {"kernel": svm.kernel, "gamma": svm.gamma, "degree": svm.degree, "coef0": svm.coef0}
    parts = [_parts(train, fold, encode_fold) for fold in found]
    accuracy: dict[float, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for done, cost in enumerate(GRID):
            progress("tune", done, len(GRID))
            svc = SVC(C=cost, class_weight=weights, max_iter=MOST_ITERATIONS, **kernel)
            shares = [_fold_share(svc, measure, *pair) for pair in parts]
            accuracy[cost] = float(np.mean(shares))
    progress("tune", len(GRID), len(GRID))
    return accuracy


def _parts(train: EncodedRows, fold: Fold, encode_fold: EncodeFold | None) -> tuple[EncodedRows, EncodedRows]:
    """Return the rows of a fold to learn from and to test on; rows keep their audit weights."""
    ours, others = (train.take(rows) for rows in fold)
    if encode_fold is None:
        return ours, others
    X, tested = encode_fold(fold)
    return replace(ours, X=X), replace(others, X=tested)


def _fold_share(svc: SVC, measure: Callable[..., float], ours: EncodedRows, others: EncodedRows) -> float:
    """Train on our rows, and return the accuracy on the others."""
    decided = svc.fit(ours.X, ours.y, sample_weight=ours.weights).predict(others.X)
    return float(measure(others.y, decided, sample_weight=others.weights))


def trained(division: Division, svm: SvmSettings, config: AuditConfig) -> Training:
    """Train the SVM on the training rows, and return it with the resolved limits of the enumeration."""
    found = pose(division.train.X, division.train.y, svm, weights=division.train.weights)
    _refuse_far_rows(found.problem.kernel, division)
    records = tuple(division.split.train[rows] for rows in found.rows_of)
    # the work of one subproblem is measured by the numbers that each of its steps reads
    fewest = min(max(FEWEST_NODES, NODES_OF_MODEL * config.k), ENOUGH_NODES)
    nodes = found.problem.affordable(WORK, fewest) if config.max_nodes == "auto" else config.max_nodes
    weights = ClassWeights(*class_weights(svm, division.train.y, division.train.weights))
    with solver_run(svm):
        workspace = open_workspace(svm.solver, found.problem)
    best = workspace.solve()
    patience = _patience(found.problem, best) if config.patience == "auto" else config.patience
    return Training(found.problem, records, svm, weights, nodes, patience, workspace, best)


def _refuse_far_rows(kernel: Kernel, division: Division) -> None:
    """Refuse rows so far from the training rows that squares of their decision values would overflow."""
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
    """Return how many consecutive models may repeat known ones before the enumeration ends.

    It is `HANDFUL` if leaving out any one training row provably changes no decision, as the next models then repeat the
    best one; otherwise as many as there are solves in `PATIENCE_WORK`, from `HANDFUL` to `MOST_PATIENCE`.
    """
    if records_to_move(model_of(problem, best, 1, best.certificate.objective)) > 1:
        return HANDFUL
    return problem.affordable(PATIENCE_WORK, HANDFUL, MOST_PATIENCE)
