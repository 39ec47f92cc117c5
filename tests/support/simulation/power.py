"""How often changes are seen that are there, by the package and by the literal rules, on the same samples.

The grid was fixed before anything was drawn: four changes of a gap, three centres of the rates, five agreements of the
models, and every combination of them.
"""

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from scipy import stats

from fairenum.auditing.choosing import CLAIM
from fairenum.document.terms import Verdict
from fairenum.metrics import Decisions, compare
from fairenum.metrics.claims import Errors
from support.oracles.literal_rules import Sample, change_of_gap, change_of_one
from support.simulation.known_gaps import PARITY, claim_alone, decided, grouped, named

CENTRES = (0.2, 0.35, 0.5)
AGREEMENTS = (0.5, 0.8, 0.9, 0.95, 0.99)
ALPHA = 0.05
MODELS = 50
DRAWS = 300


@dataclass(frozen=True)
class Change:
    """A gap of model 1, and the one that the second of 50 models has instead; the others have the rates of model 1."""

    first: float
    other: float
    sizes: tuple[int, ...]
    runs: int

    @property
    def verdict(self) -> Verdict:
        return Verdict.FAIRER if abs(self.other) < abs(self.first) else Verdict.LESS_FAIR

    @property
    def what(self) -> str:
        return f"{self.first:g} to {self.other:g} | {len(self.sizes)} | {sum(self.sizes)}"


CHANGES = (
    Change(0.16, 0.05, (250, 250), 200),
    Change(0.16, -0.05, (1000, 1000), 200),
    Change(0.054, -0.245, (1624, 290), 200),
    Change(0.16, 0.05, (1600,) * 5, 120),
)
Limit = float | np.ndarray
RULES = ("added", "together", "all models", "alone", "claim")


@cache
def seen(change: Change, centre: float, agreement: float) -> tuple[np.ndarray, np.ndarray]:
    """Tell by which rules the change is seen, and by which anything is said that is false, shape (runs, rules)."""
    rng, other, codes = np.random.default_rng(15), np.random.default_rng(16), grouped(change.sizes)
    spread = np.linspace(0.5, -0.5, len(change.sizes))[codes]
    chances = np.tile(centre + change.first * spread, (MODELS, 1))
    chances[1] = centre + change.other * spread
    thresholds, groups = stats.norm.isf(chances), named(codes, len(change.sizes))
    labels, found = np.ones(len(codes), dtype=np.uint8), []
    for _ in range(change.runs):
        predictions = decided(rng, thresholds, agreement)
        decisions, sample = Decisions(predictions, labels, groups), Sample.of(predictions, codes)
        together, added = change_of_gap(sample, rng, DRAWS)
        ours = compare(decisions, PARITY, rng, replications=DRAWS).gap_change
        selection = Decisions(decided(other, thresholds[:2], agreement), labels, groups)
        claim = claim_alone(selection, decisions, Errors(CLAIM * ALPHA / 2, ALPHA / 2)).change
        alone = change_of_one(sample, 1, rng, DRAWS)
        bounds = (added, together, (ours.lower, ours.upper), alone, (claim.lower, claim.upper))
        found.append([_said(*limits, change.verdict) for limits in bounds])
    both = np.array(found, dtype=bool)
    return both[..., 0], both[..., 1]


def _said(low: Limit, high: Limit, verdict: Verdict) -> tuple[bool, bool]:
    """Tell whether the change of the second model is seen, and whether anything false is said of any.

    Parameters
    ----------
    low, high
        Of all models, or of the second one alone.
    """
    fairer, less_fair = (np.atleast_1d(said) for said in (np.less(high, 0.0), np.greater(low, 0.0)))
    if len(fairer) == 1:
        fairer, less_fair = np.r_[False, fairer], np.r_[False, less_fair]
    right, wrong = (fairer, less_fair) if verdict is Verdict.FAIRER else (less_fair, fairer)
    return bool(right[1]), bool(wrong[1] or fairer[2:].any() or less_fair[2:].any())


GRID = tuple(product(CHANGES, AGREEMENTS))


def weaker(change: Change, centre: float, agreement: float, literal: str, ours: str) -> float:
    """Return how probable it is that so many more changes are seen by the literal rule alone than by ours alone.

    If both were as sharp, either would be as probable in a sample that only one of them sees (McNemar's exact test).
    """
    found, _ = seen(change, centre, agreement)
    theirs, own = found[:, RULES.index(literal)], found[:, RULES.index(ours)]
    only, other = int(np.sum(theirs & ~own)), int(np.sum(own & ~theirs))
    return float(stats.binom.sf(only - 1, only + other, 0.5)) if only else 1.0


def power_row(change: Change, agreement: float) -> str:
    """A row of the table in docs/statistics.md: by each rule but the claim, the shares seen at the three centres."""
    found = [seen(change, centre, agreement) for centre in CENTRES]
    shares = [" / ".join(f"{right[:, rule].mean():.2f}" for right, _ in found) for rule in range(len(RULES) - 1)]
    false = max(wrong[:, RULES.index("all models")].mean() for _, wrong in found)
    return f"| {change.what} | {agreement:g} | {' | '.join(shares)} | {false:.3f} |"
