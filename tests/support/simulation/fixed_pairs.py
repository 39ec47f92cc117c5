"""Five groups of unequal sizes: how often the claim about a pair, and the gap over all groups, is shown to be smaller.

The table of docs/statistics.md that says why a claim is about a pair is computed here, from fixed seeds.
"""

from functools import cache

import numpy as np
from scipy import stats

from fairenum.document.terms import Gap
from fairenum.metrics import Decisions, Groups
from fairenum.metrics.claims import Errors, compare_chosen, compare_pair, fixed_pairs

PARITY: Gap = "demographic_parity_difference"
SHARES = (0.40, 0.25, 0.17, 0.10, 0.08)
SPREAD = np.array([0.5, 0.25, 0.0, -0.25, -0.5])
AGREEMENT = 0.9
ROWS = (800, 2400, 6000)
RUNS = 1000
ERRORS = Errors(0.02, 0.025)
GAPS = {"smaller": (0.18, 0.07), "equal": (0.0, 0.0), "same": (0.18, 0.18), "reversed": (0.18, -0.18)}


def drawn(rng: np.random.Generator, rows: int, truth: str) -> Decisions:
    """Draw rows that two models decide by normal scores; signed gaps of their rates are `GAPS[truth]`."""
    codes, base = rng.choice(len(SHARES), rows, p=SHARES), rng.normal(size=rows)
    other = AGREEMENT * base + np.sqrt(1 - AGREEMENT**2) * rng.normal(size=rows)
    first, second = (stats.norm.isf(0.5 + gap * SPREAD[codes]) for gap in GAPS[truth])
    predictions = np.stack([base > first, other > second]).astype(np.uint8)
    return Decisions(predictions, np.ones(rows, np.uint8), Groups(codes, tuple("abcde")))


@cache
def called_fairer(truth: str, rows: int, runs: int = RUNS) -> tuple[float, float]:
    """Return the shares of runs that call the pair, and the gap over all groups, fairer on `rows` of a holdout."""
    rng, found = np.random.default_rng(rows), []
    for _ in range(runs):
        selection, holdout = drawn(rng, rows // 2, truth), drawn(rng, rows, truth)
        pairs = fixed_pairs(selection, 1, PARITY)
        assert pairs is not None
        both = (
            compare_pair(holdout, 1, pairs.first, ERRORS).change,
            compare_chosen(holdout, 1, PARITY, pairs, ERRORS).change,
        )
        found.append([bool(change.upper < 0.0) for change in both])
    pair, whole = np.mean(found, axis=0)
    return float(pair), float(whole)


def power_rows() -> list[str]:
    """The two rows of the table on how often a smaller gap is shown."""
    shares = np.array([called_fairer("smaller", rows) for rows in ROWS]).T
    names = "the pair", "the gap over all groups"
    return [
        f"| gap 0.18 to 0.07: {name} | {' | '.join(f'{share:.2f}' for share in own)} |"
        for name, own in zip(names, shares, strict=True)
    ]


def null_row(truth: str) -> str:
    """A row of the table on how often a gap is falsely shown to be smaller: the pair, the gap over all groups."""
    name = {"same": "the same gap of 0.18", "reversed": "the gap of 0.18 reversed"}[truth]
    cells = " | ".join("{:.3f}, {:.3f}".format(*called_fairer(truth, rows)) for rows in ROWS)
    return f"| falsely, {name}: the pair, the gap | {cells} |"
