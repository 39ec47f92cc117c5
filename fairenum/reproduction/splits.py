"""One random split of a table: its best models, what they lose on the test rows, and how long they take."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice

import numpy as np

from fairenum.bench.contest import enumerate_timed, paper_contestant
from fairenum.dataset import Dataset, load_dataset
from fairenum.document.paper import CLOCKED, MODELS, SHARES, TIMED
from fairenum.document.reading import NONE
from fairenum.document.reproduction import PrintedRun, Refusal
from fairenum.enumeration.model import Model
from fairenum.enumeration.search import Limits
from fairenum.errors import FairenumError
from fairenum.estimator import EnumSVC
from fairenum.experiment import Division, EncodedRows, divide
from fairenum.problem import FloatArray
from fairenum.reproduction.tuning import choose_cost, path_solver, plain_problem


@dataclass(frozen=True, slots=True, eq=False)
class SplitMeasures:
    """The best models of a split, by rank.

    Attributes
    ----------
    shortfalls
        How far each objective falls short of the first, as a share of it.
    losses
        Test loss over that of model 1.
    errors
        Share of test rows decided wrongly.
    other_half
        Loss ratio of the model chosen by one half of the test rows, on the other half.
    seconds
        CPU seconds until the models at which the clock is looked at; None where time was not taken.
    undetermined
        Share of test decisions that the bias leaves open.
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
    """One split of a table, by variant; what could not be proven says why."""

    table: str
    seed: int
    variants: Mapping[str, SplitMeasures | Refusal]


@dataclass(frozen=True, slots=True)
class PrintedRecord:
    """The paper's own algorithm on one split of a table."""

    table: str
    run: PrintedRun


@cache
def table(name: str) -> Dataset:
    """Load a table as the paper describes it: every column is a feature, and texts are codes."""
    return load_dataset(name, use_sensitive=True, categorical="ordinal", incumbent=NONE)


def divided(name: str, seed: int, *, standardise: bool) -> Division:
    """Split a table at random, 70 to 30; the rows to be judged by are the holdout."""
    return divide(table(name), SHARES, seed, standardise=standardise)


def run_split(name: str, seed: int) -> SplitRecord:
    """Enumerate one split with standardised columns, timed to the thousandth model, and with raw ones."""
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
    """Enumerate models; keep the first fifty, and the CPU seconds until those at which the clock is looked at."""
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
    """Choose the model of least loss on one half of the test rows, and return its loss ratio on the other half.

    That is what is left of a gain once it is not measured on the rows that it was found by; the mean of both ways.
    """
    rows = np.random.default_rng([seed, 2]).permutation(losses.shape[1])
    halves = np.array_split(rows, 2)
    ratios = []
    for choosing, judging in (halves, halves[::-1]):
        chosen = losses[:, choosing].mean(1).argmin()
        ratios.append(losses[chosen, judging].mean() / losses[0, judging].mean())
    return float(np.mean(ratios))


def run_printed(name: str, seed: int, seconds: float) -> PrintedRecord:
    """Run the paper's own algorithm on one standardised split for some time, beside the proven models."""
    train = divided(name, seed, standardise=True).train
    cost = choose_cost(train.X, train.y, seed)
    problem, limits = plain_problem(train.X, train.y, cost), Limits(models=TIMED, seconds=seconds)
    run = enumerate_timed(paper_contestant(), problem, limits)
    proven = islice(_proven(train, cost), len(run.supports))
    in_place = sum(model.support.tobytes() == theirs for model, theirs in zip(proven, run.supports, strict=True))
    return PrintedRecord(name, PrintedRun(cost, run.seconds, run.nodes, in_place))
