"""The paper's experiments on tables: the best models of a random split, their test losses and running times."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice

import numpy as np

from fairenum.document.reading import NONE
from fairenum.document.research_documents import CLOCKED, MODELS, SHARES, TIMED, PrintedRun, Refusal
from fairenum.document.training import SvmSettings
from fairenum.enumeration.division import FOLDS, GRID, Division, EncodedRows, best_cost, divide, pose
from fairenum.enumeration.model import Model
from fairenum.enumeration.search import Enumeration, Limits
from fairenum.errors import FairenumError
from fairenum.estimator import EnumSVC
from fairenum.research.race import enumerate_timed, paper_contestant
from fairenum.solvers.protocol import SolverPlugin
from fairenum.solvers.registry import load_solver, open_workspace
from fairenum.svm.problem import FloatArray, IntArray, SvmProblem
from fairenum.svm.sparse_or_dense import Matrix
from fairenum.tables import Dataset, load_dataset


@cache
def path_solver() -> SolverPlugin:
    """Return the path solver; cached, because looking it up takes longer than a small fit."""
    return load_solver("path")


def plain_problem(X: Matrix, y: FloatArray, cost: float) -> SvmProblem:
    """Return the SVM problem of the paper: with a linear kernel, and without merging identical rows."""
    return pose(X, y, SvmSettings(C=cost, rows=True)).problem


def choose_cost(X: Matrix, y: FloatArray, seed: int) -> float:
    """Return the C of highest mean accuracy in five-fold cross-validation, skipping those at which the solver fails."""
    from sklearn.model_selection import StratifiedKFold

    folds = tuple(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y))
    accuracy: dict[float, float] = {}
    for cost in GRID:
        try:
            shares = [_accuracy(X, y, learnt, judged, cost) for learnt, judged in folds]
        except FairenumError:
            continue
        accuracy[cost] = float(np.mean(shares))
    return best_cost(accuracy)


def _accuracy(X: Matrix, y: FloatArray, learnt: IntArray, judged: IntArray, cost: float) -> float:
    best = next(Enumeration(open_workspace(path_solver(), plain_problem(X[learnt], y[learnt], cost))))
    return float((best.predict(X[judged]) == y[judged]).mean())


@dataclass(frozen=True, slots=True, eq=False)
class SplitMeasures:
    """Measures of the best models of a split; arrays have one number for each model, in order of rank.

    `shortfalls` are relative differences between the objectives of model 1 and of each model; `losses` are test losses
    divided by that of model 1, and `errors` test error rates. `other_half` is the relative loss of a model on test rows
    that had no part in its choice (see the function `other_half`). `seconds` are CPU seconds until the models of the
    ranks in `CLOCKED` were found; None if not timed. `undetermined` is the share of test decisions that depend on which
    of several optimal biases is used.
    """

    C: float
    shortfalls: FloatArray
    losses: FloatArray
    errors: FloatArray
    other_half: float
    seconds: tuple[float, ...] | None
    undetermined: float


@dataclass(frozen=True, slots=True, eq=False)
class SplitRecord:
    """Results of one split, with standardised and with raw columns, or the message if the solver failed."""

    table: str
    seed: int
    variants: Mapping[str, SplitMeasures | Refusal]


@dataclass(frozen=True, slots=True)
class PrintedRecord:
    """Results of the algorithm that the paper prints, on one split of a table."""

    table: str
    run: PrintedRun


@cache
def table(name: str) -> Dataset:
    """Return a bundled table as the paper describes it: all columns are features, and texts become rank numbers."""
    return load_dataset(name, use_sensitive=True, categorical="ordinal", incumbent=NONE)


def divided(name: str, seed: int, *, standardise: bool) -> Division:
    """Return a random split of a table into 70 % training rows and 30 % test rows, which are called holdout."""
    return divide(table(name), SHARES, seed, standardise=standardise)


def run_split(name: str, seed: int) -> SplitRecord:
    """Return measures of the 50 best models of a split, with standardised columns and with raw columns.

    With standardised columns, a thousand models are listed to measure the time.
    """
    variants = {
        "standardised": _variant(divided(name, seed, standardise=True), seed, is_timed=True),
        "raw": _variant(divided(name, seed, standardise=False), seed, is_timed=False),
    }
    return SplitRecord(name, seed, variants)


def _variant(division: Division, seed: int, *, is_timed: bool) -> SplitMeasures | Refusal:
    train, test = division.train, division.holdout
    cost = choose_cost(train.X, train.y, seed)
    try:
        models, seconds = _clocked(train, cost, TIMED if is_timed else MODELS)
    except FairenumError as error:
        return Refusal(seed, str(error), cost)
    values = np.array([model.decision_function(test.X) for model in models])
    losses = np.maximum(0.0, 1.0 - test.y * values)
    return SplitMeasures(
        C=cost,
        shortfalls=np.array([1.0 - model.objective / models[0].objective for model in models]),
        losses=losses.mean(1) / losses[0].mean(),
        errors=((values >= 0.0) != (test.y > 0.0)).mean(1),
        other_half=other_half(losses, seed),
        seconds=seconds if is_timed else None,
        undetermined=float(np.mean([model.undetermined(test.X).mean() for model in models])),
    )


def _clocked(train: EncodedRows, cost: float, count: int) -> tuple[list[Model], tuple[float, ...]]:
    models: list[Model] = []
    seconds: list[float] = []
    started = time.process_time()
    for model in islice(_proven(train, cost), count):
        if model.rank in CLOCKED:
            seconds.append(time.process_time() - started)
        if model.rank <= MODELS:
            models.append(model)
    return models, tuple(seconds)


def _proven(train: EncodedRows, cost: float) -> Iterator[Model]:
    return EnumSVC(C=cost, solver=path_solver()).stream(train.X, train.y)


def other_half(losses: FloatArray, seed: int) -> float:
    """Return the loss, relative to model 1, that a model chosen on half of the test rows has on the other half.

    The model of least loss on one half is judged on the other half; the result is the mean over both halves. `losses`
    holds the loss of each model (row) on each test row (column).
    """
    rows = np.random.default_rng([seed, 2]).permutation(losses.shape[1])
    halves = np.array_split(rows, 2)
    ratios = []
    for choosing, judging in (halves, halves[::-1]):
        chosen = losses[:, choosing].mean(1).argmin()
        ratios.append(losses[chosen, judging].mean() / losses[0, judging].mean())
    return float(np.mean(ratios))


def run_printed(name: str, seed: int, seconds: float) -> PrintedRecord:
    """Run the paper's algorithm on a split, up to a time limit, and count the models it lists at their true rank."""
    train = divided(name, seed, standardise=True).train
    cost = choose_cost(train.X, train.y, seed)
    problem, limits = plain_problem(train.X, train.y, cost), Limits(models=TIMED, seconds=seconds)
    run = enumerate_timed(paper_contestant(), problem, limits)
    proven = islice(_proven(train, cost), len(run.supports))
    in_place = sum(model.support.tobytes() == theirs for model, theirs in zip(proven, run.supports, strict=True))
    return PrintedRecord(name, PrintedRun(cost, run.seconds, run.nodes, in_place))
