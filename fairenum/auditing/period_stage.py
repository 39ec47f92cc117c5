"""Rates and gaps of decisions period by period, and the alarm about a gap that exceeds its limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fairenum.document.measure_document import MeasureConfig
from fairenum.document.period_facts import MeasuredPeriod, PeriodMeasures, WatchedRate
from fairenum.document.terms import Gap
from fairenum.errors import ConfigError
from fairenum.metrics import Decisions, Scores, gap_intervals, rate_intervals, score
from fairenum.metrics.counts import BoolArray, IntArray
from fairenum.metrics.impact_ratios import most_selected
from fairenum.metrics.intervals import estimates, plain
from fairenum.metrics.monitoring import Watched, monitored
from fairenum.metrics.rates import FRACTIONS, GAP_RATES, Rate
from fairenum.tables.periods import Periods

MOST_EVIDENCE = 1e12  # evidence beyond it is written as this


@dataclass(frozen=True, slots=True)
class Watch:
    """How decisions are watched: their periods and metric, and the error that each watched rate may have."""

    periods: Periods
    metric: Gap
    share: float
    config: MeasureConfig
    control: str | None  # the control group of this column, if it is named

    @property
    def baseline(self) -> int:
        """The number of first periods that are not watched; refuse as many as there are."""
        if self.config.baseline is not None:
            first = self.config.baseline
        else:
            first = 0 if self.config.limit is not None and self.control is not None else 1
        if first >= len(self.periods.names):
            raise ConfigError(
                f"the baseline (--baseline) takes {first} periods, and {self.periods.column!r} has "
                f"{len(self.periods.names)}; give fewer, so that some are left to watch"
            )
        return max(first, 0 if self.control is not None else 1)


def watched_rates(decisions: Decisions, metric: Gap) -> int:
    """Return the number of rates that are watched in one column: of every compared group but one."""
    groups = decisions.groups
    others = max(int(np.count_nonzero(groups.compared & (groups.sizes > 0))) - 1, 0)
    return others * len(GAP_RATES[metric]) * len(decisions.predictions)


def period_measures(decisions: Decisions, watch: Watch) -> PeriodMeasures:
    """Return rates and gaps by period, and the alarm, of one set of decisions between the groups of one column."""
    scores = [score(part) for part in _parts(decisions, watch.periods.codes, len(watch.periods.names))]
    baseline, groups = watch.baseline, decisions.groups
    control = watch.control or _most_selected(decisions, watch.periods.codes < max(baseline, 1))
    is_watched = watch.config.reading.group_column is None
    return PeriodMeasures(
        by=watch.periods.column,
        metric=watch.metric,
        control=control,
        error=float(1 - watch.config.confidence),
        periods=tuple(_periods(scores, watch, baseline)),
        watched=tuple(_watched(scores, watch, baseline, groups.names.index(control))) if is_watched else (),
    )


def _parts(decisions: Decisions, codes: IntArray, periods: int) -> Iterator[Decisions]:
    for period in range(periods):
        yield _of_rows(decisions, np.flatnonzero(codes == period))


def _of_rows(decisions: Decisions, rows: IntArray) -> Decisions:
    clusters = None if decisions.clusters is None else decisions.clusters[rows]
    return Decisions(
        decisions.predictions[:, rows], decisions.labels[rows], decisions.groups.take(rows), clusters=clusters
    )


def _most_selected(decisions: Decisions, first: BoolArray) -> str:
    """Return the compared group of highest selection rate in the first periods."""
    part = _of_rows(decisions, np.flatnonzero(first))
    groups = part.groups
    best = most_selected(score(part).by_group.selection_rate[0], groups.compared, groups.small())
    return groups.names[groups.reference() if best is None else best]


def _periods(scores: list[Scores], watch: Watch, baseline: int) -> Iterator[MeasuredPeriod]:
    confidence, rate = watch.config.confidence, GAP_RATES[watch.metric][0]
    for place, (name, found) in enumerate(zip(watch.periods.names, scores, strict=True)):
        gap = estimates(gap_intervals(found, watch.metric, confidence))[0]
        yield MeasuredPeriod(
            period=name,
            n=tuple(found.groups.sizes.tolist()),
            selected=tuple(found.counts.selected[0].sum(-1).astype(int).tolist()),
            rates=tuple(estimates(rate_intervals(found.counts, rate, confidence)[0])),
            gap=gap,
            is_baseline=place < baseline,
        )


def _watched(scores: list[Scores], watch: Watch, baseline: int, control: int) -> Iterator[WatchedRate]:
    names, groups = watch.periods.names[baseline:], scores[0].groups
    for rate in GAP_RATES[watch.metric]:
        counts = [np.broadcast_arrays(*FRACTIONS[rate](one.counts)) for one in scores]
        outcomes, trials = (np.stack([part[place][0] for part in counts]) for place in (0, 1))
        for code in np.flatnonzero(groups.compared).tolist():
            pair = [code, control]
            if code != control and trials[:, code].any():
                found = Watched(outcomes[:, pair].astype(float), trials[:, pair].astype(float))
                yield _watched_rate(groups.names[code], rate, found, watch, names)


def _watched_rate(group: str, rate: Rate, found: Watched, watch: Watch, names: tuple[str, ...]) -> WatchedRate:
    baseline = len(watch.periods.names) - len(names)
    result = monitored(found, baseline, watch.share, watch.config.limit)
    return WatchedRate(
        group=group,
        rate=rate,
        limit=plain(result.limit),
        evidence=tuple(np.minimum(np.exp(np.minimum(result.log_evidence, 50.0)), MOST_EVIDENCE).tolist()),
        threshold=float(np.exp(result.threshold)),
        alarm=None if result.alarm is None else names[result.alarm],
        since=None if result.since is None else names[result.since],
    )
