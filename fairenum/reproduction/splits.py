"""One random split of a table: its best models, what they lose on the test rows, and how long they take."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from fairenum.bench import baseline, enumerate_timed
from fairenum.dataset import Dataset, Encoding, load_dataset, split
from fairenum.enumeration.model import Model
from fairenum.enumeration.search import Limits
from fairenum.errors import FairenumError
from fairenum.estimator import EnumSVC
from fairenum.problem import FloatArray, SvmProblem
from fairenum.reproduction.plan import CLOCKED, MODELS, SHARES, TIMED
from fairenum.reproduction.tuning import choose_cost, solver

Record = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A split: the encoded rows to train on with their labels, and those to be judged by with theirs."""

    X: FloatArray
    y: FloatArray
    judged: FloatArray
    answers: FloatArray


@cache
def table(name: str) -> Dataset:
    """Load a table as the paper describes it: every column is a feature, and texts are codes."""
    return load_dataset(name, use_sensitive=True, categorical="ordinal")


def divided(name: str, seed: int, *, standardise: bool) -> Rows:
    """Split a table at random, 70 to 30, and encode it; the encoding sees the training rows alone."""
    dataset = table(name)
    parts = split(dataset, SHARES, seed)
    encoding = Encoding.fit(dataset, parts.train, standardise=standardise)
    encoded = (encoding.transform(dataset, rows) for rows in (parts.train, parts.holdout))
    X, judged = encoded
    return Rows(X, dataset.signs[parts.train], judged, dataset.signs[parts.holdout])


def run_split(name: str, seed: int) -> Record:
    """Enumerate one split with standardised columns, timed to the thousandth model, and with raw ones."""
    variants = {
        "standardised": _variant(divided(name, seed, standardise=True), seed, TIMED),
        "raw": _variant(divided(name, seed, standardise=False), seed, MODELS),
    }
    return {"experiment": name, "seed": seed, "variants": variants}


def _variant(rows: Rows, seed: int, count: int) -> Record:
    cost = choose_cost(rows.X, rows.y, seed)
    try:
        models, seconds = _clocked(rows, cost, count)
    except FairenumError as error:
        return {"C": cost, "refused": str(error)}
    values = np.array([model.decision_function(rows.judged) for model in models])
    losses = np.maximum(0.0, 1.0 - rows.answers * values)
    errors = ((values >= 0.0) != (rows.answers > 0.0)).mean(1)
    return {
        "C": cost,
        "refused": None,
        "shortfalls": [1.0 - model.objective / models[0].objective for model in models],
        "losses": (losses.mean(1) / losses[0].mean()).tolist(),
        "errors": errors.tolist(),
        "other_half": _other_half(losses, seed),
        "seconds": seconds if count == TIMED else None,
        "undetermined": float(np.mean([model.undetermined(rows.judged).mean() for model in models])),
    }


def _clocked(rows: Rows, cost: float, count: int) -> tuple[list[Model], list[float]]:
    """Enumerate models; keep the first fifty, and the CPU seconds until those at which the clock is looked at."""
    models: list[Model] = []
    seconds: list[float] = []
    started = time.process_time()
    for model in islice(EnumSVC(C=cost, solver=solver()).stream(rows.X, rows.y), count):
        if model.rank in CLOCKED:
            seconds.append(time.process_time() - started)
        if model.rank <= MODELS:
            models.append(model)
    return models, seconds


def _other_half(losses: FloatArray, seed: int) -> float:
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


def run_printed(name: str, seed: int, seconds: float) -> Record:
    """Run the paper's own algorithm on one standardised split for some time, beside the proven models."""
    rows = divided(name, seed, standardise=True)
    cost = choose_cost(rows.X, rows.y, seed)
    problem, limits = SvmProblem(rows.X, rows.y, cost=cost), Limits(models=TIMED, seconds=seconds)
    run = enumerate_timed(baseline(), problem, limits)
    proven = islice(EnumSVC(C=cost, solver=solver()).stream(rows.X, rows.y), len(run.supports))
    in_place = sum(model.support.tobytes() == theirs for model, theirs in zip(proven, run.supports, strict=True))
    printed = {"C": cost, "seconds": list(run.seconds), "fits": run.nodes, "in_place": in_place}
    return {"experiment": name, "seed": seed, "printed": printed}
