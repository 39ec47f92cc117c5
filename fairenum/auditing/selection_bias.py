"""The expected selection bias: how much of a gain in fairness comes from choosing the model on the same rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fairenum.document.terms import PerformanceMeasure
from fairenum.document.training import Tolerances
from fairenum.enumeration.fairest import CandidateScores
from fairenum.metrics import Decisions, Gap
from fairenum.metrics.counts import Confusion, FloatArray, blocks, confusion
from fairenum.metrics.performance import ranked
from fairenum.metrics.rates import FRACTIONS, GAP_RATES, decided_performance, share

# Performance of all models on rows drawn again, given their counts and how often each row was drawn.
Performs = Callable[[Confusion, FloatArray], FloatArray]

# Share of the rows to choose by; the others measure the bias of choosing.
CHOOSING = 2.0 / 3.0


def expected_optimism(
    decisions: Decisions,
    values: FloatArray,
    objective_ratio: FloatArray,
    tolerances: Tolerances,
    rng: np.random.Generator,
    replications: int = 1000,
    *,
    loss_ratio: FloatArray | None = None,
    excess: FloatArray | None = None,
) -> float:
    """Estimate how much worse the change of the gap will be on other rows, because these rows chose the model.

    Each replication chooses by the rule on two thirds of the rows, drawn at random, and compares the change of gap
    against model 1 that the chosen model shows there with the one it shows on the others, which did not choose it.
    The bias grows as the root of the number of rows falls, so the mean is scaled by sqrt(2/3). The change is compared,
    not the gap: a gap is largest minus smallest, and so large on few rows, whatever the choice. Where models are truly
    equal, the estimate is right within a tenth (rows drawn with replacement would give a quarter to a third too little,
    as models differ alike in every replication); where one is truly fairer, the estimate is too high, as two thirds of
    the rows miss that model more often. A search on these rows adds a bias of its own, which no part of them can
    measure: for its models, the holdout's estimate is the only one without a bias.

    `decisions` and `values` are those of all models on the selection split, and the other arguments are as for the
    choice; `excess` over guardrails is that of all rows, however they are drawn.
    """
    is_ranked = tolerances.measure.name == "auc"
    whole = decisions.folded()
    kinds, copies, counting = _drawable(whole, by_row=is_ranked)
    performs = _ranking(values, decisions) if is_ranked else _deciding(tolerances.measure)
    bias = []
    for block in blocks(replications, len(copies)):
        size = len(range(replications)[block]), len(copies)
        part = rng.binomial(copies.astype(np.int64), CHOOSING, size).astype(np.float64)
        counts, others = (confusion(kinds, np.asarray(rows * counting)) for rows in (part, copies - part))
        gaps, elsewhere = (_gap(some.of_groups(whole.groups.compared), tolerances.metric) for some in (counts, others))
        performed = performs(counts, part / CHOOSING)
        draws = CandidateScores(objective_ratio, performed, gaps, decisions.is_constant, loss_ratio, excess)
        chosen = draws.fairest(tolerances)
        seen, met = (
            np.take_along_axis(_changes(gap), np.maximum(chosen, 0)[:, None], axis=1)[:, 0] for gap in (gaps, elsewhere)
        )
        bias.append(np.where(chosen > 0, met - seen, 0.0))
    found = np.concatenate(bias)
    return float(np.nanmean(found) * np.sqrt(CHOOSING)) if not np.isnan(found).all() else 0.0


def _changes(gap: FloatArray) -> FloatArray:
    return np.asarray(gap - gap[..., :1])


def _deciding(measure: PerformanceMeasure) -> Performs:
    return lambda counts, _drawn: decided_performance(counts.overall(), measure)


def _drawable(decisions: Decisions, *, by_row: bool) -> tuple[Decisions, FloatArray, FloatArray | float]:
    """Return the kinds of rows to draw from, the number of rows of each, and their weights.

    Where the order of rows matters, or they have weights, each row is a kind of its own.
    """
    if by_row or decisions.weights is not None:
        counting = 1.0 if decisions.weights is None else decisions.weights
        return decisions, np.ones(len(decisions.labels)), counting
    kinds, copies, _ = decisions.distinct()
    return kinds, copies, 1.0


def _ranking(values: FloatArray, decisions: Decisions) -> Performs:
    """Return a first-order approximation of the AUC of redrawn rows."""
    found = ranked(values, decisions.labels, decisions.weights)
    return lambda _counts, drawn: found.auc + drawn @ found.parts.T


def _gap(counts: Confusion, metric: Gap) -> FloatArray:
    """Compute a gap from counts that may have replications on their first axis."""
    rates = [share(*FRACTIONS[rate](counts)) for rate in GAP_RATES[metric]]
    return np.asarray(np.max([np.fmax.reduce(rate, axis=-1) - np.fmin.reduce(rate, axis=-1) for rate in rates], axis=0))
