"""Weighted rows of known rates, and how often intervals hold the truth about them."""

from collections.abc import Iterable

import numpy as np

from fairenum.dataset.groups import Groups
from fairenum.scoring import Decisions, accuracy_changes, compare, gap_intervals, rate_intervals, score

GAP = "demographic_parity_difference"


def coverage(seeds: Iterable[int], rows: int = 500, tied: float = 0.0) -> dict[str, float]:
    """Draw rows of known rates whose weights differ, and count how often intervals hold the truth."""
    hits: dict[str, list[object]] = {"rate": [], "gap": [], "change": [], "accuracy": []}
    for seed in seeds:
        rng = np.random.default_rng(seed)
        codes = (rng.random(rows) < 0.4).astype(int)
        labels = rng.random(rows) < np.where(codes == 1, 0.4, 0.6)
        first = rng.random(rows) < np.where(labels, 0.7, 0.3) - 0.1 * codes
        second = np.where(rng.random(rows) < 0.1, ~first, first)
        # weights may go with the outcome; the truth is that of the weighted population
        weights = rng.lognormal(0, 0.5, rows) * np.where(first, 1.0 + tied, 1.0)
        decisions = Decisions(
            np.array([first, second]).astype(np.uint8), labels.astype(np.uint8), Groups(codes, ("a", "b")), weights
        )
        truth = true_rates(tied)
        scores = score(decisions)
        found = rate_intervals(scores.counts, "selection_rate")
        hits["rate"].append((found.lower[0] <= truth["first"]) & (truth["first"] <= found.upper[0]))
        spans = gap_intervals(scores, GAP)
        expected = abs(truth["first"][0] - truth["first"][1])
        hits["gap"].append(spans.lower[0] <= expected <= spans.upper[0])
        change = compare(decisions, GAP, rng, replications=100).difference_change
        moved = (truth["second"] - truth["first"]) - (truth["second"] - truth["first"])[0]
        hits["change"].append(change.lower[1, 0, 1] <= moved[1] <= change.upper[1, 0, 1])
        shift = accuracy_changes(decisions, rng, replications=100)
        hits["accuracy"].append(shift.lower[1] <= truth["accuracy"] <= shift.upper[1])
    return {name: float(np.mean(one)) for name, one in hits.items()}


def true_rates(tied: float) -> dict[str, np.ndarray]:
    """Work out the weighted rates of both models by hand: a weight of 1 + tied for those whom the first selects."""
    base, chance = np.array([0.6, 0.4]), np.array([[0.3, 0.7], [0.2, 0.6]])
    first = (1 - base) * chance[:, 0] + base * chance[:, 1]
    weighed = first * (1 + tied) / (first * (1 + tied) + 1 - first)
    second = weighed * 0.9 + (1 - weighed) * 0.1
    share = np.array([0.6, 0.4])
    mass = sum(share * (first * (1 + tied) + 1 - first))
    right = sum(share * (base * chance[:, 1] * (1 + tied) + (1 - base) * (1 - chance[:, 0])))
    accuracy = right / mass
    return {"first": weighed, "second": second, "accuracy": (accuracy * 0.9 + (1 - accuracy) * 0.1) - accuracy}
