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

# Performance of all models on resampled rows, given the counts of the sample and how often each row was drawn.
Performs = Callable[[Confusion, FloatArray], FloatArray]

# Share of the rows to choose by; the others measure the bias of choosing.
CHOOSING = 2.0 / 3.0


def expected_optimism(
    decisions: Decisions,
    values: FloatArray,
    loss_ratio: FloatArray,
    tolerances: Tolerances,
    rng: np.random.Generator,
    replications: int = 1000,
    *,
    excess: FloatArray | None = None,
) -> float:
    """Return the expected selection bias: by how much choosing a model on these rows overstates its change of gap.

    Each replication applies the rule of choice to a random two thirds of the rows. It subtracts the chosen model's
    change of gap against model 1 on those rows from its change on the remaining third, which took no part in the
    choice. The bias is proportional to one over the square root of the number of rows, so the mean is scaled by
    sqrt(2/3). Changes are compared, and not gaps, as a gap is a largest minus a smallest rate, and so is larger on
    fewer rows, whatever the choice.

    If models are truly equal, the estimate is right within a tenth (a bootstrap with replacement would be a quarter to
    a third too low). If one is truly fairer, the estimate is too high, as two thirds of the rows miss that model more
    often. The bias of a search on these rows cannot be estimated from them.

    `decisions` and `values` are those of all models on the selection split. The other arguments are those of the rule
    of choice; `excess` over guardrails is measured once, on all rows.
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
        draws = CandidateScores(loss_ratio, performed, gaps, decisions.is_constant, excess)
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
    """Return three values: the distinct rows to draw from, the number of rows identical to each, and their weights.

    Rows are identical if group, label and all decisions are. With `by_row`, or with weights, no rows are merged.
    """
    if by_row or decisions.weights is not None:
        counting = 1.0 if decisions.weights is None else decisions.weights
        return decisions, np.ones(len(decisions.labels)), counting
    kinds, copies, _ = decisions.distinct()
    return kinds, copies, 1.0


def _ranking(values: FloatArray, decisions: Decisions) -> Performs:
    """Return a function that approximates the AUC of all models on resampled rows, to first order."""
    found = ranked(values, decisions.labels, decisions.weights)
    return lambda _counts, drawn: found.auc + drawn @ found.parts.T


def _gap(counts: Confusion, metric: Gap) -> FloatArray:
    """Return the gap of each model, shape (models,), or (replications, models) if the counts have replications."""
    rates = [share(*FRACTIONS[rate](counts)) for rate in GAP_RATES[metric]]
    return np.asarray(np.max([np.fmax.reduce(rate, axis=-1) - np.fmin.reduce(rate, axis=-1) for rate in rates], axis=0))
