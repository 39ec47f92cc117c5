"""How likely the holdout is to confirm a model, predicted from the selection split before the holdout is looked at.

Let x be a change on the selection split (a fall of the gap, or a change of performance plus its tolerance), s its
standard error there, and h = s / sqrt(r) that on a holdout with r times as many rows. The holdout shows a change if its
estimate exceeds z h, with z the critical value of the test. As the true change is uncertain by s, that estimate is
predicted to be normal around x with variance s^2 + h^2, which gives the probability P(Z < (x - z h) / sqrt(s^2 + h^2)).
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import NormalDist

import numpy as np
from scipy import stats

from fairenum.auditing.scored_set import ScoredSet
from fairenum.document.audit_config import AuditConfig
from fairenum.document.models import AuditedModel, Incumbent, Prospect
from fairenum.document.terms import GAPS, Gap
from fairenum.document.training import Tolerances
from fairenum.metrics import Decisions
from fairenum.metrics.changes import change_errors, rate_changes
from fairenum.metrics.claims import fixed_pairs
from fairenum.metrics.guardrails import GroupCounter, Subject
from fairenum.metrics.intervals import plain
from fairenum.metrics.performance import performance, performance_errors
from fairenum.metrics.rates import GAP_RATES, score
from fairenum.svm.problem import FloatArray

NORMAL = NormalDist()


def prospects(scored_set: ScoredSet, config: AuditConfig) -> list[Prospect | None]:
    """Return the prospect of each listed model; None for the reference, and for all models of an exploratory run."""
    division, reference = scored_set.division, scored_set.ranks[0]
    if division.is_exploratory or division.column is None:
        return [None] * len(scored_set.listing.models)
    decisions, values = scored_set.decisions("selection", division.column), scored_set.values("selection")
    change, error = _pair_changes(decisions, config.metric, config.control)
    measure = config.tolerances.measure
    performance_error = performance_errors(scored_set.decisions("selection", None), values, measure)
    ratio = len(division.rows["holdout"]) / len(division.rows["selection"])
    guards = _guard_chances(scored_set, config, ratio)
    found = [
        None
        if rank == reference
        else Prospect(
            gap_change=plain(change[place]),
            gap_error=plain(error[place]),
            performance_error=plain(performance_error[place]),
            guards=float(guards[place]),
            holdout=ratio,
        )
        for place, rank in enumerate(scored_set.ranks)
    ]
    return [one for rank, one in zip(scored_set.ranks, found, strict=True) if rank]


def _pair_changes(decisions: Decisions, gap: Gap, control: str | None) -> tuple[FloatArray, FloatArray]:
    """Return each model's change of the gap between the widest pair of the first model, and its standard error."""
    nothing = np.full(len(decisions.predictions), np.nan)
    pairs = fixed_pairs(decisions, 0, gap, control)
    if pairs is None:
        return nothing, nothing
    compared, (rate, higher, lower) = decisions.compared(), pairs.first
    a, b = (compared.groups.names.index(name) for name in (higher, lower))
    shares = score(compared).by_group.shares[rate]
    gaps = np.abs(shares[:, a] - shares[:, b])
    return gaps - gaps[0], change_errors(compared, (rate,))[:, 0, a, b]


def _guard_chances(scored_set: ScoredSet, config: AuditConfig, ratio: float) -> FloatArray:
    """Return for each model the probability that it keeps, on the holdout, the guardrail that it is closest to."""
    rows, guards = scored_set.division.selection, config.tolerances.guardrails
    values = scored_set.values("selection")
    chances = np.ones(len(values))
    if not guards:
        return chances
    counter = GroupCounter(rows.labels, (rows.groups, *rows.others), rows.weights)
    decided = scored_set.decisions("selection", None).predictions.astype(np.bool_)
    performances = performance(scored_set.decisions("selection", None), values, config.tolerances.measure)
    measured = counter.measured(decided, performances, config.metric, counter.count(decided))
    errors = _errors(scored_set)
    for guard in guards:
        for subject in measured.first.subjects(guard):
            beyond = measured.beyond(guard, subject, measured.first)
            error = errors.get(subject)
            if error is None or not guard.is_relative:
                continue
            spread = error * np.sqrt(1.0 + 1.0 / ratio)
            with np.errstate(divide="ignore", invalid="ignore"):
                own = stats.norm.cdf(-beyond / spread)
            chances = np.fmin(chances, own)
    return chances


def _errors(scored_set: ScoredSet) -> Mapping[Subject, FloatArray]:
    """Return the standard error of the change of every gap and selection rate that a guardrail can limit."""
    found: dict[Subject, FloatArray] = {}
    everyone = scored_set.decisions("selection", None)
    found[Subject("selection_rate")] = _half_width(everyone)[:, 0]
    for groups in scored_set.division.columns:
        decisions = scored_set.decisions("selection", groups.column)
        compared = decisions.compared()
        by_group = _half_width(decisions)
        for code, name in enumerate(groups.names):
            found[Subject("selection_rate", groups.column, name)] = by_group[:, code]
        if len(compared.groups.names) < 2:
            continue
        for gap in GAPS:
            found[Subject(gap, groups.column)] = _widest_error(compared, gap)
    return found


def _half_width(decisions: Decisions) -> FloatArray:
    """Return the standard error of the change of each group's selection rate, shape (models, groups)."""
    changes = rate_changes(decisions, ("selection_rate",), 1.0)[:, 0]
    return np.asarray((changes.upper - changes.lower) / 2.0)


def _widest_error(decisions: Decisions, gap: Gap) -> FloatArray:
    """Return the standard error of each model's change of the signed difference that is its gap."""
    rates, scores = GAP_RATES[gap], score(decisions)
    shares = np.stack([scores.by_group.shares[rate] for rate in rates], axis=1)
    signed = np.nan_to_num(shares[..., :, None] - shares[..., None, :], nan=-1.0)
    errors = change_errors(decisions, rates)
    models = len(signed)
    widest = signed.reshape(models, -1).argmax(1)
    return np.asarray(errors.reshape(models, -1)[np.arange(models), widest])


def confirmation_chance(
    model: AuditedModel, reference: AuditedModel | Incumbent, tolerances: Tolerances, errors: tuple[float, float]
) -> float:
    """Return the probability that the holdout shows a model to be fairer and as good, and within the guardrails.

    `errors` are the error probabilities of the two tests: that the gap is smaller, and that no more performance is lost
    than the tolerance. The probability is that of the least likely of the three.
    """
    prospect = model.prospect
    own, other = (one.scores.selection.performance.value for one in (model, reference))
    if prospect is None or prospect.gap_change is None or own is None or other is None:
        return 0.0
    room = own - other + tolerances.max_performance_drop
    return min(
        _chance(-prospect.gap_change, prospect.gap_error, prospect.holdout, errors[0]),
        _chance(room, prospect.performance_error, prospect.holdout, errors[1]),
        prospect.guards,
    )


def _chance(change: float, error: float | None, ratio: float, level: float) -> float:
    """Return the probability of this module's docstring that the holdout shows a change."""
    if not error:
        return float(change > 0.0)
    ahead = error / np.sqrt(ratio)
    return NORMAL.cdf((change - NORMAL.inv_cdf(1.0 - level) * ahead) / float(np.hypot(error, ahead)))
