"""How likely the holdout is to confirm a model, predicted before the holdout is looked at.

The prediction rests on the selection split and, for cross-fitted models, on the training rows, too: the rows that are
*at hand*. Let x be a change there (a fall of the gap, or a change of performance plus its tolerance), s its standard
error, and h = s / sqrt(r) that on a holdout with r times as many rows. The holdout shows a change if its
estimate exceeds z h, with z the critical value of the test. As the true change is uncertain by s, that estimate is
predicted to be normal around x with variance s^2 + h^2, which gives the probability P(Z < (x - z h) / sqrt(s^2 + h^2)).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Self

import numpy as np
from scipy import stats

from fairenum.auditing.scored_set import ScoredSet
from fairenum.document.audit_config import AuditConfig
from fairenum.document.models import AuditedModel, Incumbent, Prospect
from fairenum.document.terms import GAPS, Gap
from fairenum.document.training import Tolerances
from fairenum.metrics import Decisions
from fairenum.metrics.changes import change_errors, rate_changes
from fairenum.metrics.claims import FixedPairs, fixed_pairs
from fairenum.metrics.guardrails import GroupCounter, Measured, Subject
from fairenum.metrics.intervals import plain
from fairenum.metrics.performance import performance, performance_errors
from fairenum.metrics.rates import GAP_RATES, score
from fairenum.svm.problem import FloatArray, IntArray
from fairenum.tables.groups import Groups

NORMAL = NormalDist()
# Standard errors by which gap and performance of models of the guided search get worse on new rows.
FLATTERY = (1.0, 0.5)
FARTHEST, TINY = 3.0, 1e-9  # standard errors between training rows and selection split, beyond which they disagree


@dataclass(frozen=True, slots=True, eq=False)
class RowsAtHand:
    """The decisions of some models, the reference first, about rows that may speak for a choice.

    `everyone` has all rows in one group, `by_column` the groups of each sensitive column, and `primary` names the one
    that models are selected by. `values` are the models' decision values minus their cutoffs.
    """

    everyone: Decisions
    by_column: Mapping[str, Decisions]
    primary: str
    values: FloatArray

    @classmethod
    def of_selection(cls, scored_set: ScoredSet) -> Self:
        """Return the decisions of all models about the selection split."""
        columns = scored_set.division.columns
        by_column = {groups.column: scored_set.decisions("selection", groups.column) for groups in columns}
        everyone, values = scored_set.decisions("selection", None), scored_set.values("selection")
        return cls(everyone, by_column, str(scored_set.division.column), values)

    @classmethod
    def with_training(cls, scored_set: ScoredSet, crossed: FloatArray, places: IntArray) -> Self:
        """Return the decisions of some models, by their places, about the selection split and the training rows.

        `crossed` has the decision values of all models about the training rows, each by models that did not learn from
        them; that of the model in use is not used.
        """
        division = scored_set.division
        rows = np.concatenate([division.rows["selection"], division.split.train])
        values = np.hstack([scored_set.values("selection")[places], crossed[places]])
        decided = (values >= 0.0).astype(np.uint8)
        if scored_set.is_against_incumbent and scored_set.incumbent is not None:
            decided[0], values[0] = scored_set.incumbent.bits[rows], scored_set.incumbent.values[rows]
        dataset = division.dataset
        members = None if dataset.members is None else dataset.members[rows]
        plain_rows = Groups.everyone(len(rows))
        labels = (dataset.signs[rows] > 0.0).astype(np.uint8)
        everyone = Decisions(decided, labels, plain_rows, dataset.relative(rows), clusters=members)
        by_column = {groups.column: replace(everyone, groups=groups.take(rows)) for groups in division.columns}
        return cls(everyone, by_column, str(division.column), values)

    def __len__(self) -> int:
        return len(self.everyone.labels)

    @property
    def decisions(self) -> Decisions:
        """The decisions, grouped by the column that models are selected by."""
        return self.by_column[self.primary]

    def measured(self, performances: FloatArray, metric: Gap) -> Measured:
        """Return every quantity that a guardrail can limit."""
        ordered = sorted(self.by_column.values(), key=lambda one: one.groups.column != self.primary)
        counter = GroupCounter(self.everyone.labels, [one.groups for one in ordered], self.everyone.weights)
        decided = self.everyone.predictions.astype(np.bool_)
        return counter.measured(decided, performances, metric, counter.count(decided))


def prospects(scored_set: ScoredSet, config: AuditConfig) -> list[Prospect | None]:
    """Return the prospect of each listed model; None for the reference, and for all models of an exploratory run."""
    division, models = scored_set.division, len(scored_set.ranks)
    if division.is_exploratory or division.column is None:
        return [None] * len(scored_set.listing.models)
    selection = RowsAtHand.of_selection(scored_set)
    pairs = fixed_pairs(selection.decisions, 0, config.metric, config.control)
    holdout = len(division.rows["holdout"])
    found = dict(enumerate(_prospects(selection, pairs, config, holdout)))
    for place, origin in enumerate(scored_set.origins):
        if origin == "guided":
            found[place] = _deflated(found[place])
    crossed = scored_set.crossed
    if crossed is not None:
        places = np.flatnonzero(~np.isnan(crossed[:, 0]) | (np.arange(models) == 0))
        more = RowsAtHand.with_training(scored_set, crossed, places)
        share = len(selection) / len(more)
        for place, one in zip(places.tolist(), _prospects(more, pairs, config, holdout), strict=True):
            if _agree(one, found[place], share):
                found[place] = one.but(is_crossed=True)
    kept = (found[place] for place in range(models))
    prospect = [
        one if one.is_crossed or origin == "guided" else one.but(whole_gap_change=None, performance_change=None)
        for one, origin in zip(kept, scored_set.origins, strict=True)
    ]
    return [None if place == 0 else prospect[place] for place, rank in enumerate(scored_set.ranks) if rank]


def _deflated(one: Prospect) -> Prospect:
    """Return the prospect of a model that was fitted to the rows at hand, whose changes are smaller on new rows."""
    if one.gap_change is None or one.whole_gap_change is None or one.performance_change is None:
        return one
    gap, performs = FLATTERY[0] * (one.gap_error or 0.0), FLATTERY[1] * (one.performance_error or 0.0)
    return one.but(
        gap_change=one.gap_change + gap,
        whole_gap_change=one.whole_gap_change + gap,
        performance_change=one.performance_change - performs,
    )


def _agree(pooled: Prospect, selection: Prospect, share: float) -> bool:
    """Tell whether training rows and selection split, a `share` of the pooled rows, agree on a model up to chance.

    On tables of few distinct rows planes jump as the price rises, and not at the same price on other rows.
    """
    pairs = (
        (pooled.gap_change, selection.gap_change, pooled.gap_error, selection.gap_error),
        (
            pooled.performance_change,
            selection.performance_change,
            pooled.performance_error,
            selection.performance_error,
        ),
    )
    for both, own, error, own_error in pairs:
        if both is None or own is None or error is None or own_error is None:
            return False
        apart = (both - own) / (1.0 - share)  # between the training rows alone and the selection split
        if abs(apart) > FARTHEST * np.hypot(error / np.sqrt(1.0 - share), own_error) + TINY:
            return False
    return True


def _prospects(rows: RowsAtHand, pairs: FixedPairs | None, config: AuditConfig, holdout: int) -> list[Prospect]:
    """Return the prospect of each model by the rows at hand."""
    measure, ratio = config.tolerances.measure, holdout / len(rows)
    change, error = _pair_changes(rows.decisions, pairs)
    performances = performance(rows.everyone, rows.values, measure)
    performance_error = performance_errors(rows.everyone, rows.values, measure)
    gaps = np.asarray(getattr(score(rows.decisions).gaps, config.metric))
    guards = _guard_chances(rows, rows.measured(performances, config.metric), config.tolerances, ratio)
    return [
        Prospect(
            gap_change=plain(change[place]),
            gap_error=plain(error[place]),
            performance_error=plain(performance_error[place]),
            guards=float(guards[place]),
            holdout=ratio,
            whole_gap_change=plain(gaps[place] - gaps[0]),
            performance_change=plain(performances[place] - performances[0]),
        )
        for place in range(len(performances))
    ]


def _pair_changes(decisions: Decisions, pairs: FixedPairs | None) -> tuple[FloatArray, FloatArray]:
    """Return each model's change of the gap between the widest pair of the first model, and its standard error."""
    nothing = np.full(len(decisions.predictions), np.nan)
    if pairs is None:
        return nothing, nothing
    compared, (rate, higher, lower) = decisions.compared(), pairs.first
    a, b = (compared.groups.names.index(name) for name in (higher, lower))
    shares = score(compared).by_group.shares[rate]
    gaps = np.abs(shares[:, a] - shares[:, b])
    return gaps - gaps[0], change_errors(compared, (rate,))[:, 0, a, b]


def _guard_chances(rows: RowsAtHand, measured: Measured, tolerances: Tolerances, ratio: float) -> FloatArray:
    """Return for each model the probability that it keeps, on the holdout, the guardrail that it is closest to."""
    chances, guards = np.ones(len(rows.values)), [guard for guard in tolerances.guardrails if guard.is_relative]
    errors = _errors(rows) if guards else {}
    for guard in guards:
        for subject in measured.first.subjects(guard):
            beyond = measured.beyond(guard, subject, measured.first)
            error = errors.get(subject)
            if error is None:
                continue
            spread = error * np.sqrt(1.0 + 1.0 / ratio)
            with np.errstate(divide="ignore", invalid="ignore"):
                own = stats.norm.cdf(-beyond / spread)
            chances = np.fmin(chances, own)
    return chances


def _errors(rows: RowsAtHand) -> Mapping[Subject, FloatArray]:
    """Return the standard error of the change of every gap and selection rate that a guardrail can limit."""
    found = {Subject("selection_rate"): _half_width(rows.everyone)[:, 0]}
    for column, decisions in rows.by_column.items():
        compared = decisions.compared()
        by_group = _half_width(decisions)
        for code, name in enumerate(decisions.groups.names):
            found[Subject("selection_rate", column, name)] = by_group[:, code]
        if len(compared.groups.names) < 2:
            continue
        for gap in GAPS:
            found[Subject(gap, column)] = _widest_error(compared, gap)
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
    change = own - other if prospect.performance_change is None else prospect.performance_change
    room = change + tolerances.max_performance_drop
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
