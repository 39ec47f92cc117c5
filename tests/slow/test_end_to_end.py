"""Whole audits of populations that are known: how often what a run says is true."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from scipy import stats
from support.simulation.populations import POPULATIONS, Truth, audited, truth

from fairenum.document.choice import GapChange
from fairenum.document.terms import Verdict

RUNS = {1000: 120, 4000: 60, 16_000: 20}  # samples of each population, by rows
CONFIDENCE = 0.95
PARITY = "demographic_parity_difference"


@dataclass(frozen=True)
class Said:
    """What one run said, and whether it was true.

    Attributes
    ----------
    is_covered
        Whether the interval of the selected model's gap holds the gap of the population.
    is_false
        Whether any verdict of the strip is.
    is_fairer, is_proposed
        Whether the claim was confirmed, and the model proposed.
    is_as_good, is_falsely_as_good
        Whether the model was said to perform nearly as well, and whether that was false.
    """

    is_covered: bool
    is_false: bool
    is_fairer: bool
    is_proposed: bool
    is_as_good: bool
    is_falsely_as_good: bool


def one_run(name: str, rows: int, seed: int) -> Said | None:
    """Audit one sample; None if no other model was selected."""
    result = audited(name, rows, seed)
    document, selection = result.document, result.document.selection
    if selection.outcome != "selected":
        return None
    known, margin = truth(name, result, selection.rank), document.config.same_within
    gap = document.selected.scores.holdout.gap(PARITY)
    performance = getattr(known, selection.tolerances.performance)
    drop, floor = selection.tolerances.max_performance_drop, selection.performance_floor
    is_as_good = floor is not None and floor >= -drop
    return Said(
        is_covered=gap.low <= known.gaps["sex", PARITY][1] <= gap.high,
        is_false=any(is_false(cell, known, margin) for cell in selection.strip),
        is_fairer=selection.is_fairer,
        is_proposed=selection.answer == "proposed",
        is_as_good=is_as_good,
        is_falsely_as_good=is_as_good and performance[1] - performance[0] < -drop,
    )


def is_false(cell: GapChange, known: Truth, margin: float) -> bool:
    """Tell whether a verdict says what is not so in the population."""
    change = known.change(cell.column, cell.metric)
    match cell.verdict:
        case Verdict.FAIRER:
            return change >= 0.0
        case Verdict.LESS_FAIR:
            return change <= 0.0
        case Verdict.SAME:
            return abs(change) > margin
    return False


@pytest.fixture(scope="module")
def runs() -> dict[tuple[str, int], list[Said]]:
    found = {}
    with ProcessPoolExecutor(2) as pool:
        for rows, samples in RUNS.items():
            for name in POPULATIONS:
                said = pool.map(partial(one_run, name, rows), range(samples))
                found[name, rows] = [one for one in said if one is not None]
    return found


def share(said: list[Said], what: str) -> float:
    return float(np.mean([getattr(one, what) for one in said]))


def is_at_most(said: list[Said], what: str, limit: float) -> bool:
    """Tell whether so many would be no surprise (one in a thousand) at the limit."""
    return sum(getattr(one, what) for one in said) <= stats.binom.ppf(0.999, len(said), limit)


def is_expected(said: list[Said], surprise: float) -> bool:
    """Tell whether as many intervals hold the truth as 95 of 100 would, but for a chance of so much either way."""
    low, high = stats.binom.interval(1 - surprise, len(said), CONFIDENCE)
    return bool(low <= sum(one.is_covered for one in said) <= high)


def pooled(runs: dict[tuple[str, int], list[Said]], wanted: str | int | None = None) -> list[Said]:
    """Put the selections of one population or size, or all, together."""
    return [one for key, some in runs.items() if wanted is None or wanted in key for one in some]


def test_the_interval_of_the_selected_gap_holds_the_truth_in_95_of_100_audits(runs):
    said = pooled(runs)
    print(f"all, {len(said)} selections: {figures(said)}")
    assert len(said) >= 500  # so that 0.98 would be as much of a surprise as 0.92
    assert is_expected(said, 0.01)
    for name in POPULATIONS:
        assert is_expected(pooled(runs, name), 0.001), name


@pytest.mark.parametrize("rows", RUNS)
def test_what_whole_audits_say_is_true(runs, rows):
    said = pooled(runs, rows)
    for name in POPULATIONS:
        some = runs[name, rows]
        print(f"{name}, {rows} rows, {len(some)} selections: " + figures(some))
    print(f"all, {rows} rows, {len(said)} selections: {figures(said)}")
    assert is_expected(said, 0.001)
    assert is_at_most(said, "is_false", 0.05)
    assert is_at_most(said, "is_falsely_as_good", 0.05)


def figures(said: list[Said]) -> str:
    return ", ".join(f"{name} {share(said, name):.3f}" for name in Said.__dataclass_fields__)
