"""Parts of a measurement about periods: rates and gaps one by one, and an alarm that holds at every look."""

from __future__ import annotations

from fairenum.document.terms import Gap, Rate
from fairenum.document.value import Estimate, Value


class MeasuredPeriod(Value, frozen=True):
    """The rates of one period; each interval holds by itself.

    Attributes
    ----------
    n, selected
        Number of rows, and of selected rows, of each group, in the order of the adverse-impact table.
    rates
        The rate of each group; of a metric with two rates, the first.
    gap
        The gap between the compared groups that have rows in this period.
    is_baseline
        Whether the period is one of the first that set the limits, and is not watched.
    """

    period: str
    n: tuple[int, ...]
    selected: tuple[int, ...]
    rates: tuple[Estimate, ...]
    gap: Estimate
    is_baseline: bool


class WatchedRate(Value, frozen=True):
    """A rate of one group that is watched: whether it differs from that of the control group by more than a limit.

    Attributes
    ----------
    rate
        The rate that is compared, such as the selection rate.
    limit
        The limit of the absolute difference: the given one, or the upper limit of the difference in the first periods;
        null if a group has no rows there, so that nothing is watched.
    evidence
        Evidence that the difference exceeds the limit, after each watched period: a martingale that starts at 1.
    threshold
        The evidence from which there is an alarm.
    alarm
        The period after which there was an alarm for the first time; null without an alarm.
    since
        The period from which the difference most likely exceeds the limit; null without an alarm.
    """

    group: str
    rate: Rate
    limit: float | None
    evidence: tuple[float, ...]
    threshold: float
    alarm: str | None = None
    since: str | None = None


class PeriodMeasures(Value, frozen=True):
    """Rates and gaps of one sensitive column by period, and the alarm.

    Attributes
    ----------
    by
        The column of periods.
    metric
        The gap that is measured in each period.
    control
        The group that others are compared with in the alarm: the option ``reference``, or the group that is most
        selected in the first periods.
    error
        The probability that any alarm of the document is false, however often one looks.
    periods
        All periods, in order of time.
    watched
        The watched rates of all other compared groups; empty if rows are not independent (option ``group_column``).
    """

    by: str
    metric: Gap
    control: str
    error: float
    periods: tuple[MeasuredPeriod, ...]
    watched: tuple[WatchedRate, ...] = ()

    @property
    def alarms(self) -> tuple[WatchedRate, ...]:
        """The watched rates with an alarm, the earliest first."""
        names = [one.period for one in self.periods]
        return tuple(sorted((one for one in self.watched if one.alarm), key=lambda one: names.index(str(one.alarm))))

    @property
    def looks(self) -> int:
        """The number of watched periods."""
        return sum(not one.is_baseline for one in self.periods)
