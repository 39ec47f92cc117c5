"""Numbers as a report shows them: few digits, intervals in brackets, a dash for what is undefined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

UNDEFINED = "–"


def share(value: float | None) -> str:
    """Show a rate or a gap with three decimals."""
    return UNDEFINED if value is None else f"{value:.3f}"


def signed(value: float | None) -> str:
    """Show a change or a signed difference; no sign where nothing is left after rounding."""
    if value is None:
        return UNDEFINED
    return f"{value:+.3f}" if round(value, 3) else "0.000"


def estimate(numbers: Mapping[str, Any], show: Any = share) -> str:
    """Show a value with its limits, if it has any."""
    if numbers["low"] is None or numbers["high"] is None:
        return str(show(numbers["value"]))
    return f"{show(numbers['value'])} [{show(numbers['low'])}, {show(numbers['high'])}]"


def percent(value: float | None) -> str:
    """Show a share in percent."""
    return UNDEFINED if value is None else f"{100 * value:.1f} %"


def p_value(value: float | None) -> str:
    """Show a p value; below a thousandth only that it is."""
    if value is None:
        return UNDEFINED
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def counted(number: int, noun: str) -> str:
    """Count things: 1 row, 2 rows."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
