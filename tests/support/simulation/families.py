"""Families of verdicts about populations with known gaps: false verdicts, power, and coverage with clusters.

A population has groups, labels and the decisions of two models by latent normal scores. Rows of one cluster (a person)
share part of every score.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from fairenum.auditing.choosing import CLAIM, strip_alone
from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import GapChange
from fairenum.document.terms import GAPS, Gap, Verdict
from fairenum.document.value import Estimate, Parts
from fairenum.metrics import Decisions, Groups
from fairenum.metrics.claims import Errors, compare_pair, fixed_pairs
from fairenum.metrics.inference import gap_intervals, rate_intervals
from fairenum.metrics.intervals import estimates
from fairenum.metrics.rates import score

PARITY: Gap = "demographic_parity_difference"
CONFIG = AuditConfig(same_within=0.0, min_group_size=0)
SOME = Estimate(0.0, -1.0, 1.0)


@dataclass(frozen=True)
class Population:
    """Rates at which two models select, by group, and how rows come.

    Attributes
    ----------
    first, second
        Selection rates of model 1 and of the other model, by group.
    shares
        Shares of the groups.
    agreement
        Correlation of the scores by which both models decide.
    largest
        Rows of a cluster are 1 to so many; 1 for independent rows.
    alike
        Share of the variance of a score that the rows of a cluster have in common.
    is_weighted
        Whether rows have lognormal weights.
    is_spread
        Whether the rows of a cluster are of different groups.
    """

    first: tuple[float, ...]
    second: tuple[float, ...]
    shares: tuple[float, ...]
    agreement: float = 0.9
    largest: int = 1
    alike: float = 0.6
    is_weighted: bool = False
    is_spread: bool = False

    def drawn(self, rng: np.random.Generator, rows: int) -> Decisions:
        """Return the decisions of both models about a sample of about this number of rows."""
        people = max(2 * rows // (1 + self.largest), 2)
        cluster = np.repeat(np.arange(people), rng.integers(1, self.largest + 1, people))
        count = len(cluster)
        groups = rng.choice(len(self.shares), count if self.is_spread else people, p=self.shares)
        codes = groups if self.is_spread else groups[cluster]

        def latent() -> np.ndarray:
            own, shared = rng.normal(size=count), rng.normal(size=people)[cluster]
            return np.sqrt(1 - self.alike) * own + np.sqrt(self.alike) * shared if self.largest > 1 else own

        base, common = latent(), latent()
        other = self.agreement * base + np.sqrt(1 - self.agreement**2) * latent()
        truth = 0.5 * (base + other) / np.sqrt((1 + self.agreement) / 2) + np.sqrt(0.75) * common
        limits = [stats.norm.isf(np.array(rates))[codes] for rates in (self.first, self.second)]
        decided = np.array([base > limits[0], other > limits[1]]).astype(np.uint8)
        names = tuple(f"g{code}" for code in range(len(self.shares)))
        weights = rng.lognormal(sigma=0.5, size=count) if self.is_weighted else None
        clusters = cluster if self.largest > 1 else None
        return Decisions(decided, (truth > 0).astype(np.uint8), Groups(codes, names), weights, clusters=clusters)


def strip(population: Population, rng: np.random.Generator, rows: int) -> tuple[GapChange, ...]:
    """Return the judged strip of a sample: the claim is demographic parity, the selection split half of the holdout."""
    split = Parts(population.drawn(rng, rows // 2), population.drawn(rng, rows))
    cells = [GapChange("a", gap, gap == PARITY, SOME, SOME, SOME, 0.95, None) for gap in GAPS]
    return strip_alone(cells, {"a": split}, 1, CONFIG)


def false_share(population: Population, rows: int, runs: int, seed: int = 0) -> float:
    """Return the share of runs with any verdict "fairer" or "less fair", for a population without any change."""
    rng, said = np.random.default_rng(seed), (Verdict.FAIRER, Verdict.LESS_FAIR)
    return float(np.mean([any(cell.verdict in said for cell in strip(population, rng, rows)) for _ in range(runs)]))


def power(population: Population, rows: int, runs: int, seed: int = 0) -> tuple[float, float]:
    """Return how often the claim is shown, and how often a test of a pair that is known beforehand shows it."""
    rng, half, shown = np.random.default_rng(seed), (1 - CONFIG.confidence) / 2, []
    for _ in range(runs):
        selection, holdout = population.drawn(rng, rows // 2), population.drawn(rng, rows)
        cells = [GapChange("a", PARITY, True, SOME, SOME, SOME, 0.95, None)]
        claim, *_ = strip_alone(cells, {"a": Parts(selection, holdout)}, 1, CONFIG)
        pairs = fixed_pairs(selection, 1, PARITY)
        known = compare_pair(holdout, 1, pairs.first, Errors(CLAIM * half, half))
        shown.append((claim.verdict is Verdict.FAIRER, known.verdict is Verdict.FAIRER))
    return tuple(np.mean(shown, axis=0))


def coverage(population: Population, rows: int, runs: int, seed: int = 0) -> dict[str, float]:
    """Return how often 95 % intervals hold the truth: of the first group's rate, and of the gap of model 1."""
    rng = np.random.default_rng(seed)
    large = score(replace(population.drawn(np.random.default_rng(99), 2_000_000), clusters=None, weights=None))
    rate, gap = float(large.by_group.selection_rate[0, 0]), float(getattr(large.gaps, PARITY)[0])
    held = []
    for _ in range(runs):
        scores = score(population.drawn(rng, rows))
        first, whole = estimates(rate_intervals(scores.counts)[0])[0], estimates(gap_intervals(scores, PARITY))[0]
        held.append((first.low <= rate <= first.high, whole.low <= gap <= whole.high))
    return dict(zip(("rate", "gap"), np.mean(held, axis=0).tolist(), strict=True))
