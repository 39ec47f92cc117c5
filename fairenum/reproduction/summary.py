"""From the records of splits and draws to what a reader sees of them: quantiles by rank, and a line for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fairenum.attack.summary import QUANTILES, mean, quantiles
from fairenum.problem import FloatArray
from fairenum.reproduction.plan import CLOCKED, MODELS

Record = Mapping[str, Any]
Block = dict[str, Any]

LEVEL = 0.95
DIGITS, SMALLEST = 6, 1e-12
ROUNDING = 1e-9  # a loss ratio nearer to 1 is that of a model which decides alike
# From here to the last model the growth of the running time is measured; before, the first solve weighs.
FROM_RANK = 50


def splits_block(records: Sequence[Record]) -> Block:
    """Sum up the splits of a table, with standardised and with raw columns."""
    return {"variants": {name: _split_variant(records, name) for name in records[0]["variants"]}}


def _split_variant(records: Sequence[Record], name: str) -> Block:
    found = [(record["seed"], record["variants"][name]) for record in records]
    kept = [(seed, one) for seed, one in found if one["refused"] is None]
    ones = [one for _, one in kept]
    return {
        "splits": [{"seed": seed, **_split_line(one)} for seed, one in kept],
        "refused": [{"seed": seed, "C": one["C"], "reason": one["refused"]} for seed, one in found if one["refused"]],
        "shortfall": bands([one["shortfalls"] for one in ones], MODELS),
        "loss": bands([one["losses"] for one in ones], MODELS),
        "other_half": mean(np.array([one["other_half"] for one in ones]), LEVEL),
        "undetermined": mean(np.array([one["undetermined"] for one in ones]), LEVEL),
        "time": _time([one["seconds"] for one in ones if one["seconds"]]),
    }


def _split_line(one: Record) -> Block:
    losses, errors, seconds = np.array(one["losses"]), np.array(one["errors"]), one["seconds"]
    return {
        "C": one["C"],
        "spread": rounded(one["shortfalls"][-1]),
        "best_rank": int(losses.argmin()) + 1,
        "best_loss": rounded(losses.min()),
        "lower": int((losses < 1.0 - ROUNDING).sum()),
        "losses": [rounded(loss) for loss in losses],
        "fewer_errors": int((errors < errors[0]).sum()),
        "growth": None if seconds is None else rounded(growth(seconds)),
    }


def growth(seconds: Sequence[float]) -> float:
    """Return p of the time T(1) + c (k - 1)^p, fitted to the logarithms from model 50 on."""
    ranks = np.array(CLOCKED[: len(seconds)])
    is_late = ranks >= FROM_RANK
    times = np.array(seconds) - seconds[0]
    return float(np.polyfit(np.log(ranks[is_late] - 1), np.log(times[is_late]), 1)[0])


def _time(seconds: Sequence[Sequence[float]]) -> Block | None:
    if not seconds:
        return None
    return {"ranks": list(CLOCKED), **bands(seconds, len(CLOCKED))}


def bands(rows: Sequence[Sequence[float | None]], length: int) -> Block:
    """Return quantiles over splits at each place; shorter rows and undefined values do not count."""
    table = np.full((len(rows), length), np.nan)
    for place, row in enumerate(rows):
        known = np.array([np.nan if value is None else value for value in row][:length], dtype=float)
        table[place, : len(known)] = known
    return {name: [_quantile(column, q) for column in table.T] for name, q in QUANTILES.items()}


def _quantile(values: FloatArray, q: float) -> float | None:
    known = values[~np.isnan(values)]
    return rounded(np.quantile(known, q)) if len(known) else None


def injection_block(records: Sequence[Record]) -> Block:
    """Sum up the draws of COMPAS in each variant."""
    return {"variants": {name: _injection_variant(records, name) for name in records[0]["variants"]}}


def _injection_variant(records: Sequence[Record], name: str) -> Block:
    found = [(record["seed"], record["variants"][name]) for record in records]
    kept = [(seed, one) for seed, one in found if one["refused"] is None]
    ones = [one for _, one in kept]
    printed = [one["printed"] for one in ones if one["printed"]]
    return {
        "draws": [{"seed": seed, **_draw_line(one)} for seed, one in kept],
        "refused": [{"seed": seed, "reason": one["refused"]} for seed, one in found if one["refused"]],
        **_by_rank([one["test"] for one in ones]),
        "clean_gap": quantiles(_column([one["test"] for one in ones], "clean_gap")),
        "clean_error": quantiles(_column([one["test"] for one in ones], "clean_error")),
        "sampling_error": _sampling_error(ones),
        "printed": _printed(printed) if printed else None,
    }


def _by_rank(tests: Sequence[Record]) -> Block:
    return {
        "gap": bands([test["gaps"] for test in tests], MODELS),
        "error": bands([test["errors"] for test in tests], MODELS),
    }


def _draw_line(one: Record) -> Block:
    test, rest = one["test"], one["rest"]
    return {
        **{name: one[name] for name in ("C", "tied", "predictors", "tied_predictors", "holding")},
        "models": len(test["gaps"]),
        "shortfall": rounded(one["shortfall"]),
        "open_rows": rounded(one["open_rows"]),
        "gap": rounded(test["gaps"][0]),
        **{name: rounded(test[name]) for name in ("clean_gap", "untouched_gap", "clean_error")},
        **{name: test[name] for name in ("fairer", "fairer_than_untouched")},
        "rest_gap": rounded(rest["gaps"][0]),
        "rest_clean_gap": rounded(rest["clean_gap"]),
    }


def _sampling_error(ones: Sequence[Record]) -> float | None:
    """Return how far, as a standard deviation, the clean gap on 50 rows strays from that on all other rows."""
    strays = _column([one["test"] for one in ones], "clean_gap") - _column([one["rest"] for one in ones], "clean_gap")
    known = strays[~np.isnan(strays)]
    return rounded(np.sqrt(np.mean(known**2))) if len(known) else None


def _printed(ones: Sequence[Record]) -> Block:
    return {
        "draws": [
            {
                **{name: one[name] for name in ("models", "is_descending", "predictors")},
                "shortfall": rounded(one["shortfall"]),
                **{name: one["test"][name] for name in ("fairer", "fairer_than_untouched")},
            }
            for one in ones
        ],
        **_by_rank([one["test"] for one in ones]),
    }


def _column(records: Iterable[Record], name: str) -> FloatArray:
    return np.array([np.nan if record[name] is None else record[name] for record in records], dtype=float)


def rounded(value: float | None) -> float | None:
    """Keep six digits, what a reader or a plot can see; what is below all of them is rounding."""
    if value is None or np.isnan(value):
        return None
    return 0.0 if abs(value) < SMALLEST else float(f"{value:.{DIGITS}g}")
