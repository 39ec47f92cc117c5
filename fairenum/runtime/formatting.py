"""Numbers and names as text: few digits, intervals in brackets, a dash for what is undefined, long names shortened."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from typing import Protocol

ELLIPSIS = "…"


def plain(text: object) -> str:
    """Show controls, direction marks and lone surrogates as escapes; all else stays as it is."""
    shown = str(text)
    return shown if shown.isprintable() else "".join(map(_visible, shown))  # most names need no second look


def shortened(text: object, width: int) -> str:
    """Fit a text into a number of columns; of a long text the beginning and the end are kept."""
    from rich.cells import cell_len, set_cell_size  # late, as whoever reads documents may not show any

    shown = plain(text)
    # some marks take no column, so the number of characters is limited, too
    if cell_len(shown) <= width and len(shown) <= 4 * width:
        return shown
    end = (width - 1) // 3
    start = width - 1 - end
    beginning = set_cell_size(shown[: 4 * start], start).rstrip()
    return beginning + ELLIPSIS + set_cell_size(shown[: -4 * end - 1 : -1], end).rstrip()[::-1]


def file_name(name: str, ending: str) -> str:
    """Name a file after a table, in characters that every file system accepts."""
    safe = "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in name)
    short = safe[:60].encode()[:120].decode(errors="ignore")  # a file's name has 255 bytes, not signs
    return f"fairenum-{short}.{ending}"


def sentence_list(parts: Iterable[str]) -> str:
    """Join parts as in a sentence: a, b and c."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def capitalised(text: str) -> str:
    """Begin with a capital letter; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def _visible(sign: str) -> str:
    # Cc controls, Cf formats (with the direction marks), Cs surrogates, Co private, Zl and Zp line ends; and Unicode's
    # noncharacters, of which XML forbids some
    is_none = ord(sign) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(sign) <= 0xFDEF
    if is_none or unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"):
        return sign.encode("unicode_escape").decode("ascii")
    return sign


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
    """Show a change or a signed difference; without a sign if it rounds to 0."""
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
    """Show a p value; values below a thousandth as <0.001."""
    if value is None:
        return UNDEFINED
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def three_digits(number: float) -> str:
    """Show a time or a ratio with about three digits."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def counted(number: int, noun: str) -> str:
    """Count things: 1 row, 2 rows."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def difference(old: float | None, new: float | None) -> float | None:
    """Subtract the old value from the new one where both are defined."""
    return None if old is None or new is None else new - old
