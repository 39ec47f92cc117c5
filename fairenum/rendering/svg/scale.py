"""Scales: from numbers to pixels, with ticks at round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
MOST_DECIMALS, MOST_DIGITS = 4, 6  # a tick with more is written with a power of ten
SCIENTIFIC_DIGITS = 4
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight or logarithmic map of numbers onto pixels.

    Parameters
    ----------
    low, high
        The numbers at its ends, low < high; both above 0 if it is logarithmic.
    start, end
        The pixels there.
    is_log
        Whether equal ratios are equally far apart.
    """

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """Return the pixel of a number; those outside stop at the end."""
        place = (self._form(value) - self._form(self.low)) / (self._form(self.high) - self._form(self.low))
        return self.start + min(max(place, 0.0), 1.0) * (self.end - self.start)

    def _form(self, value: float) -> float:
        return math.log10(max(value, 5e-324)) if self.is_log else value

    def ticks(self, count: int = 5) -> tuple[float, ...]:
        """Return about so many round numbers within the ends."""
        return _decades(self.low, self.high, count) if self.is_log else round_numbers(self.low, self.high, count)


def round_numbers(low: float, high: float, count: int = 5) -> tuple[float, ...]:
    """Return about so many multiples of 1, 2, 2.5 or 5 times a power of ten between two numbers."""
    step = round_step((high - low) / max(count, 1))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(place * step + 0.0 for place in range(first, last + 1))


def round_step(rough: float) -> float:
    """Return the smallest round step that is no smaller than this one."""
    power = 10.0 ** math.floor(math.log10(rough))
    return power * next(step for step in STEPS if step * power >= rough * (1 - 1e-9))


def _decades(low: float, high: float, count: int) -> tuple[float, ...]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    stride = max(1, math.ceil((last - first + 1) / count))
    if last - first < 1:
        return round_numbers(low, high, count)
    return tuple(10.0**power for power in range(first, last + 1, stride))


def reach(values: Iterable[float | None], *, margin: float = 0.05, least: float = 0.0) -> tuple[float, float]:
    """Return ends that leave some room around the numbers; None and infinite ones do not count.

    Parameters
    ----------
    values
        The numbers to show.
    margin
        Room on both sides, as a share of their spread.
    least
        The smallest spread; numbers closer together are shown closer together, not blown up.
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    spread = max(high - low, least, abs(high) * 1e-9, 1e-12)
    middle = (low + high) / 2
    half = spread * (0.5 + margin)
    return middle - half, middle + half


def labels(ticks: Iterable[float]) -> tuple[str, ...]:
    """Write ticks with as many decimals as tell them apart, or with a power of ten."""
    numbers = tuple(ticks)
    largest = max(map(abs, numbers), default=0.0)
    steps = [b - a for a, b in pairwise(numbers)]
    decimals = max(map(_decimals, steps or [largest]))
    magnitude = math.floor(math.log10(largest)) if largest else 0
    is_short = magnitude + decimals < SCIENTIFIC_DIGITS
    if is_short and (decimals > MOST_DECIMALS or magnitude > MOST_DIGITS):
        return tuple(map(scientific, numbers))
    return tuple(f"{number:.{max(decimals, 0)}f}" for number in numbers)


def decade_labels(ticks: Iterable[float]) -> tuple[str, ...]:
    """Write the ticks of a logarithmic scale: each by itself, as they have no step in common."""
    numbers = tuple(ticks)
    texts = tuple(labels([number])[0] for number in numbers)
    plain = all(text.replace(".", "").isdecimal() for text in texts)
    return texts if plain else tuple(map(scientific, numbers))


def _decimals(number: float) -> int:
    """Count the decimals that a number needs; fewer than none for whole tens and hundreds."""
    exponent = Decimal(f"{number:.6g}").normalize().as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def scientific(value: float) -> str:
    """Write a number with a power of ten: 2.5×10⁻⁵."""
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.{SCIENTIFIC_DIGITS - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".").replace("-", "−")
    power = f"10{str(int(exponent)).translate(SUPERSCRIPTS)}"
    return power if mantissa == "1" else f"{mantissa}×{power}"
