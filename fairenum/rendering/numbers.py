"""Numbers as a report shows them: few digits, intervals in brackets, a dash for what is undefined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

UNDEFINED = "–"


class Estimated(Protocol):
    """A value with its limits, each of which may be undefined."""

    @property
    def value(self) -> float | None:
        """The value."""

    @property
    def low(self) -> float | None:
        """Its lower limit."""

    @property
    def high(self) -> float | None:
        """Its upper limit."""


def share(value: float | None) -> str:
    """Show a rate or a gap with three decimals."""
    return UNDEFINED if value is None else f"{value:.3f}"


def signed(value: float | None) -> str:
    """Show a change or a signed difference; no sign where nothing is left after rounding."""
    if value is None:
        return UNDEFINED
    return f"{value:+.3f}" if round(value, 3) else "0.000"


def estimate(numbers: Estimated, show: Callable[[float | None], str] = share) -> str:
    """Show a value with its limits, if it has any."""
    if numbers.low is None or numbers.high is None:
        return show(numbers.value)
    return f"{show(numbers.value)} [{show(numbers.low)}, {show(numbers.high)}]"


def percent(value: float | None, digits: int = 1) -> str:
    """Show a share in percent."""
    return UNDEFINED if value is None else f"{100 * value:.{digits}f} %"


def rate(numbers: Estimated) -> str:
    """Show a share in percent with its limits, if it has any."""
    if numbers.low is None or numbers.high is None:
        return percent(numbers.value)
    return f"{percent(numbers.value)} [{100 * numbers.low:.1f}, {100 * numbers.high:.1f}]"


def p_value(value: float | None) -> str:
    """Show a p value; below a thousandth only that it is."""
    if value is None:
        return UNDEFINED
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def three_digits(number: float) -> str:
    """Show a time or a ratio in plain digits, about as many as were measured."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def counted(number: int, noun: str) -> str:
    """Count things: 1 row, 2 rows."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def difference(old: float | None, new: float | None) -> float | None:
    """Subtract the old value from the new one where both are defined."""
    return None if old is None or new is None else new - old
