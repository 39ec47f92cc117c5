"""Populations of known gaps, and how often verdicts and intervals about samples of them are right.

Every figure that docs/statistics.md gives is computed here, from fixed seeds; how often changes are seen, in power.py.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from fairenum.auditing.choosing import strip_alone
from fairenum.auditing.selection_bias import expected_optimism
from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import GapChange
from fairenum.document.terms import GAPS, Gap, Verdict
from fairenum.document.training import Tolerances
from fairenum.document.value import Estimate, Parts
from fairenum.enumeration.fairest import candidate_scores
from fairenum.metrics import Decisions, Groups, accuracy_changes, compare, gap_intervals, rate_intervals, score
from fairenum.metrics.claims import ChosenComparison, Errors, compare_chosen, compare_pair, fixed_pairs, is_one_pair

PARITY: Gap = "demographic_parity_difference"
Floats = NDArray[np.float64]
CONFIG = AuditConfig(same_within=0.0)


def grouped(sizes: Sequence[int]) -> NDArray[np.intp]:
    return np.repeat(np.arange(len(sizes)), sizes)


def named(codes: NDArray[np.intp], groups: int) -> Groups:
    return Groups(codes, tuple(f"g{code}" for code in range(groups)))


def decided(rng: np.random.Generator, thresholds: Floats, agreement: float) -> NDArray[np.uint8]:
    """Let models decide by normal scores, those of a model and of model 1 of this correlation.

    Parameters
    ----------
    thresholds
        Above which the decision is favourable, shape (models, rows).
    """
    models, rows = thresholds.shape
    base, common = rng.normal(size=(2, rows))
    latent = agreement * base + np.sqrt((1 - agreement**2) / 2) * (common + rng.normal(size=(models, rows)))
    latent[0] = base
    return (latent > thresholds).astype(np.uint8)


# --- errors where every gap is that of model 1 ---

NULL_GROUPS = {2: (0.55, 0.40), 5: (0.58, 0.54, 0.50, 0.46, 0.42)}
NULL_ROWS = (200, 1000, 8000)
RUNS = 500


def false_among_all(groups: int, rows: int, runs: int = RUNS, models: int = 50) -> int:
    """How many runs call one of 50 models fairer or less fair, while all have one gap, every other in reverse."""
    rng, codes = np.random.default_rng(rows + groups), grouped([rows // groups] * groups)
    rates = np.asarray(NULL_GROUPS[groups])
    rates = stats.norm.isf(rates)
    thresholds = np.stack([rates[::-1][codes] if model % 2 else rates[codes] for model in range(models)])
    labels, wrong = np.ones(len(codes), dtype=np.uint8), 0
    for _ in range(runs):
        decisions = Decisions(decided(rng, thresholds, 0.9), labels, named(codes, groups))
        verdicts = compare(decisions, PARITY, rng, replications=300).verdicts
        wrong += not {Verdict.FAIRER, Verdict.LESS_FAIR}.isdisjoint(verdicts)
    return wrong


def cells(columns: Sequence[str]) -> tuple[GapChange, ...]:
    """A strip to be judged, demographic parity in the first column its claim."""
    some = Estimate(0.0, -1.0, 1.0)
    return tuple(
        GapChange(column, gap, (column, gap) == (columns[0], PARITY), some, some, some, 0.95, None)
        for column in columns
        for gap in GAPS
    )


def false_in_strip(truth: str, groups: int, rows: int, runs: int = RUNS) -> int:
    """How many runs say something false in a strip of two columns and four gaps.

    Parameters
    ----------
    truth
        Of the first column: "same" rates in both models, "reversed" ones, or a "fairer" model 2. The second column, of
        three groups, has the same rates in both models.
    """
    rng, wrong = np.random.default_rng(rows + groups), 0
    first = np.asarray(NULL_GROUPS[groups]) - np.mean(NULL_GROUPS[groups])
    second = {"same": first, "reversed": first[::-1], "fairer": 0.1 * first}[truth]
    for _ in range(runs):
        selection, holdout = (_two_columns(rng, first, second, rows) for _ in range(2))
        by_column = {column: Parts(selection[column], holdout[column]) for column in selection}
        strip = strip_alone(cells(("a", "b")), by_column, 1, CONFIG)
        wrong += any(_is_false(cell, truth) for cell in strip)
    return wrong


def _two_columns(rng: np.random.Generator, first: Floats, second: Floats, rows: int) -> dict[str, Decisions]:
    """Draw rows in groups of a first column, with these rates under both models, and in three of a second column."""
    groups = len(first)
    a, b, labels = rng.integers(0, groups, rows), rng.integers(0, 3, rows), rng.integers(0, 2, rows)
    base = 0.35 + 0.3 * labels + np.array([-0.06, 0.0, 0.06])[b]
    predictions = decided(rng, stats.norm.isf([base + first[a], base + second[a]]), 0.9)
    return {
        column: Decisions(predictions, labels, named(codes, number))
        for column, codes, number in (("a", a, groups), ("b", b, 3))
    }


def _is_false(cell: GapChange, truth: str) -> bool:
    is_narrower = truth == "fairer" and cell.column == "a"
    return cell.verdict is Verdict.LESS_FAIR or (cell.verdict is Verdict.FAIRER and not is_narrower)


# --- one model alone, by pairs of groups fixed on rows of their own ---


def gap_alone(selection: Decisions, holdout: Decisions, errors: Errors) -> ChosenComparison:
    """Judge the gap of the second model over all groups."""
    pairs = fixed_pairs(selection, 1, PARITY)
    assert pairs is not None
    return compare_chosen(holdout, 1, PARITY, pairs, errors)


def claim_alone(selection: Decisions, holdout: Decisions, errors: Errors) -> ChosenComparison:
    """Judge the claim about the second model: the gap of the widest pair of groups, if there are several pairs."""
    pairs = fixed_pairs(selection, 1, PARITY)
    assert pairs is not None
    if is_one_pair(holdout, PARITY):
        return compare_chosen(holdout, 1, PARITY, pairs, errors)
    return compare_pair(holdout, 1, pairs.first, errors)


# --- coverage ---

CHANGES = {
    2: [
        ((0.58, 0.42), (0.525, 0.475)),
        ((0.58, 0.42), (0.5, 0.5)),
        ((0.5, 0.5), (0.5, 0.5)),
        ((0.5, 0.4), (0.4, 0.5)),
        ((0.3, 0.14), (0.19, 0.24)),
    ],
    5: [
        ((0.58, 0.54, 0.5, 0.46, 0.42), (0.525, 0.51, 0.5, 0.49, 0.475)),
        ((0.5,) * 5, (0.5,) * 5),
        ((0.5, 0.5, 0.5, 0.5, 0.34), (0.34, 0.5, 0.5, 0.5, 0.5)),
    ],
}


def change_coverage(groups: int, rows: int, agreement: float, runs: int = 500) -> list[float]:
    """How often the interval of a model judged alone holds the true change, one truth after the other."""
    rng, codes, shares = np.random.default_rng(rows), grouped([rows // groups] * groups), []
    labels = np.ones(len(codes), dtype=np.uint8)
    for first, second in CHANGES[groups]:
        thresholds = stats.norm.isf([np.asarray(first)[codes], np.asarray(second)[codes]])
        truth, held = np.ptp(second) - np.ptp(first), 0
        for _ in range(runs):
            both = (Decisions(decided(rng, thresholds, agreement), labels, named(codes, groups)) for _ in range(2))
            change = gap_alone(*both, Errors(0.025, 0.025)).change
            held += bool(change.lower <= truth + 1e-12 and truth - 1e-12 <= change.upper)
        shares.append(held / runs)
    return shares


GAP_CHANCES = {
    "all alike": lambda groups: np.full(groups, 0.4),
    "evenly spread": lambda groups: np.linspace(0.6, 0.3, groups),
    "one apart": lambda groups: np.r_[0.25, np.full(groups - 1, 0.5)],
}


def gap_coverage(groups: int, rows: int, samples: int = 4000) -> dict[str, float]:
    """How often the interval of a gap holds the truth, with groups of unequal size, the smallest of a twentieth."""
    rng, shares = np.random.default_rng(rows + groups), np.linspace(3, 1, groups)
    sizes = np.round(rows * shares / shares.sum()).astype(int)
    codes, held = grouped(sizes), {}
    for name, chances_of in GAP_CHANCES.items():
        chances = chances_of(groups)
        # each "model" is a sample of its own
        drawn = rng.random((samples, len(codes))) < chances[codes]
        found = gap_intervals(score(Decisions(drawn, np.zeros(len(codes), int), named(codes, groups))), PARITY)
        truth = np.ptp(chances)
        held[name] = float(np.mean((found.lower <= truth + 1e-12) & (truth <= found.upper + 1e-12)))
    return held


def parity_refuted(trials: int, chance: float, samples: int = 4000) -> float:
    """How often a gap is shown between a group of so few rows, nine more of them, and 500 others, all treated alike."""
    rng, codes = np.random.default_rng(trials), grouped([500, *[trials] * 10])
    drawn = rng.random((samples, len(codes))) < chance
    found = gap_intervals(score(Decisions(drawn, np.zeros(len(codes), int), named(codes, 11))), PARITY)
    return float(np.mean(found.lower > 0.0))


# --- optimism ---


def optimism(better: float, rows: int = 300, models: int = 30, runs: int = 200) -> tuple[float, float]:
    """What choosing flatters by, and what it is expected to, on average.

    All models have a gap of 0.2 in truth, but for one whose gap is smaller by `better`.
    """
    rng, codes = np.random.default_rng(3), grouped([rows // 2, rows // 2])
    chances = np.tile(np.array([0.6, 0.4])[codes], (models, 1))
    chances[1] = np.array([0.6 - better / 2, 0.4 + better / 2])[codes]
    thresholds = stats.norm.isf(chances)
    true = np.where(np.arange(models) == 1, -better, 0.0)
    losses, tolerances = np.zeros(models), Tolerances(max_performance_drop=1.0)
    found = np.zeros((runs, 2))
    for run in range(runs):
        predictions = decided(rng, thresholds, 0.95)
        decisions = Decisions(predictions, rng.integers(0, 2, rows), named(codes, 2))
        stands = candidate_scores(decisions, predictions - 0.5, losses, tolerances)
        chosen = max(int(stands.fairest(tolerances)), 0)
        expected = expected_optimism(decisions, predictions - 0.5, losses, tolerances, rng, 200)
        found[run] = true[chosen] - (stands.gap[chosen] - stands.gap[0]), expected
    real, expected = found.mean(0)
    return float(real), float(expected)


# --- the tables of docs/statistics.md, row by row ---


def together_row(groups: int) -> str:
    shares = " | ".join(f"{false_among_all(groups, rows) / RUNS:.3f}" for rows in NULL_ROWS)
    return f"| all 50 models, half of them reversed | {groups} | {shares} |"


STRIP_TRUTHS = {
    "same": "the strip, the same rates",
    "reversed": "the strip, the claim reversed",
    "fairer": "the strip, the claim fairer in truth",
}


def strip_row(truth: str, groups: int) -> str:
    shares = " | ".join(f"{false_in_strip(truth, groups, rows) / RUNS:.3f}" for rows in NULL_ROWS)
    return f"| {STRIP_TRUTHS[truth]} | {groups} | {shares} |"


def gap_row(groups: int, rows: int) -> str:
    shares = " | ".join(f"{share:.3f}" for share in gap_coverage(groups, rows).values())
    return f"| {groups} | {rows} | {shares} |"


def optimism_row(better: float) -> str:
    real, expected = optimism(better)
    return f"| {better:g} | {real:.3f} | {expected:.3f} |"


# --- weighted rows of known rates ---


def weighted_coverage(seeds: Iterable[int], rows: int = 500, tied: float = 0.0) -> dict[str, float]:
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
        spans = gap_intervals(scores, PARITY)
        expected = abs(truth["first"][0] - truth["first"][1])
        hits["gap"].append(spans.lower[0] <= expected <= spans.upper[0])
        change = compare(decisions, PARITY, rng, replications=100).difference_change
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
