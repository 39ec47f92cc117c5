"""Trials in numbers: means, quantiles and shares with intervals over draws, never one draw.

Trials of one number share their draw, so strategies and budgets are compared on the same rows. A mean has Student's
interval, a share that of Clopper and Pearson.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from scipy import stats

from fairenum.attack.config import AttackConfig, budget
from fairenum.attack.trial import Record, measured
from fairenum.problem import FloatArray

Block = dict[str, Any]

QUANTILES = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}


def summary(records: Sequence[Record], config: AttackConfig, is_partial: bool) -> Block:
    """Sum up the records of all trials as the block that the schema describes."""
    level = config.confidence
    clean = [record["clean"] for record in records if record["clean"]]
    return {
        "status": "interrupted" if is_partial else "complete",
        "config": {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(config).items()},
        "clean": {"trials": len(clean), **_levels(clean, level)},
        "curves": [
            {
                "strategy": strategy,
                "points": [_point(records, strategy, flips, config) for flips in config.flips],
            }
            for strategy in config.strategies
        ],
        "failures": [
            {"trial": record["trial"], "seed": record["seed"], **failure}
            for record in records
            for failure in record["failures"]
        ],
    }


def _point(records: Iterable[Record], strategy: str, flips: float, config: AttackConfig) -> Block:
    """Sum up one strategy at one budget."""
    pairs = [
        (record["clean"], attack)
        for record in records
        for attack in record["attacks"]
        if (attack["strategy"], attack["flips"]) == (strategy, flips)
    ]
    level, train = config.confidence, config.rows_trained
    rows = budget(flips, train)
    attacks = [attack for _, attack in pairs]
    changes = {name: _changes(pairs, name) for name in ("gap", "error", "train_gap")}
    return {
        "flips": rows,
        "share": rows / train,
        "trials": len(pairs),
        **_levels(attacks, level),
        "gap_change": change(changes["gap"], level),
        "gap_change_quantiles": quantiles(changes["gap"]),
        "error_change": change(changes["error"], level),
        "train_gap_change": change(changes["train_gap"], level),
        "raised": share(_known(changes["gap"]) > 0.0, level),
        "recovery": _recovery(pairs, level),
        "predictors": mean(_column(attacks, "predictors"), level, least=1.0, most=float(config.k)),
        "one_predictor": share(_column(attacks, "predictors") == 1, level),
        "all_differ": share(_column(attacks, "predictors") == _column(attacks, "models"), level),
        "all_tied": share(_column(attacks, "tied") == _column(attacks, "models"), level),
        "detection": _detection([attack["detection"] for attack in attacks if attack["detection"]], level),
        "defences": [_defence(name, pairs, level) for name in config.defences],
    }


def _levels(measures: Sequence[Mapping[str, Any]], level: float) -> Block:
    gaps = _column(measures, "gap")
    return {
        "gap": mean(gaps, level),
        "gap_quantiles": quantiles(gaps),
        "error": mean(_column(measures, "error"), level),
        "train_gap": mean(_column(measures, "train_gap"), level),
    }


def _recovery(pairs: Sequence[tuple[Record, Record]], level: float) -> Block:
    """Say how often a listed model makes good for the attack; where it did no harm there is nothing to make good."""
    raised = [attack for clean, attack in pairs if measured(attack, "gap") > measured(clean, "gap")]
    ranks = {
        name: np.array([attack["recovery"][name] or np.inf for _, attack in pairs], dtype=np.float64)
        for name in ("rank", "paper_rank")
    }
    found = ranks["rank"][np.isfinite(ranks["rank"])]
    return {
        "share": share(np.isfinite(ranks["rank"]), level),
        "at_rank_1": share(ranks["rank"] == 1, level),
        "of_raised": share(np.array([attack["recovery"]["rank"] is not None for attack in raised]), level),
        "rank_quantiles": quantiles(found),
        "paper_share": share(np.isfinite(ranks["paper_rank"]), level),
    }


def _detection(found: Sequence[Mapping[str, Any]], level: float) -> Block | None:
    if not found:
        return None
    names = ("precision", "recall", "chance", "support_chance")
    return {"trials": len(found), **{name: mean(_column(found, name), level) for name in names}}


def _defence(name: str, pairs: Sequence[tuple[Record, Record]], level: float) -> Block:
    """Sum up one defence; changes are against the undefended model of the same trial."""
    done = [(attack, attack["defences"][name]) for _, attack in pairs if attack["defences"][name]["failure"] is None]
    failures = [attack["defences"][name]["failure"] for _, attack in pairs if attack["defences"][name]["failure"]]
    defended = [defence for _, defence in done]
    return {
        "name": name,
        "trials": len(done),
        "gap": mean(_column(defended, "gap"), level),
        "gap_change": change(_changes(done, "gap"), level),
        "error": mean(_column(defended, "error"), level),
        "error_change": change(_changes(done, "error"), level),
        "failed": len(failures),
        "failure": failures[0] if failures else None,
    }


def _column(measures: Sequence[Mapping[str, Any]], name: str) -> FloatArray:
    return np.array([measured(measure, name) for measure in measures], dtype=np.float64)


def _changes(pairs: Sequence[tuple[Record, Record]], name: str) -> FloatArray:
    return _column([after for _, after in pairs], name) - _column([before for before, _ in pairs], name)


def _known(values: FloatArray) -> FloatArray:
    return values[~np.isnan(values)]


def mean(values: FloatArray, level: float, least: float = 0.0, most: float = 1.0) -> Block:
    """Return the mean of what is defined, with Student's limits within what is possible; none for one value alone."""
    known = _known(values)
    if len(known) == 0:
        return {"value": None, "low": None, "high": None}
    centre = float(known.mean())
    if len(known) == 1:
        return {"value": centre, "low": None, "high": None}
    radius = float(stats.t.ppf((1.0 + level) / 2.0, len(known) - 1) * known.std(ddof=1) / np.sqrt(len(known)))
    return {"value": centre, "low": max(centre - radius, least), "high": min(centre + radius, most)}


def change(values: FloatArray, level: float) -> Block:
    """Return the mean of changes of what lies between 0 and 1."""
    return mean(values, level, least=-1.0)


def share(marks: Any, level: float) -> Block:
    """Return the share of trials that are marked, with the limits of Clopper and Pearson."""
    trials, successes = len(marks), int(np.count_nonzero(marks))
    if trials == 0:
        return {"value": None, "low": None, "high": None}
    limits = stats.binomtest(successes, trials).proportion_ci(level, method="exact")
    return {"value": successes / trials, "low": float(limits.low), "high": float(limits.high)}


def quantiles(values: FloatArray) -> Block | None:
    """Return a few quantiles of what is defined; None if nothing is."""
    known = _known(values)
    if len(known) == 0:
        return None
    return {name: float(np.quantile(known, q)) for name, q in QUANTILES.items()}
