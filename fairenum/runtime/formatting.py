"""Numbers and texts as reports show them: few digits, intervals in brackets, control characters as escapes."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from typing import Protocol

ELLIPSIS, UNDEFINED = "…", "–"


def plain(text: object) -> str:
    """Return a text with control characters, direction marks and lone surrogates written as escapes."""
    shown = str(text)
    return shown if shown.isprintable() else "".join(map(_visible, shown))


def shortened(text: object, width: int) -> str:
    """Return a text that fits into `width` terminal columns; a long text loses its middle."""
    from rich.cells import cell_len, set_cell_size  # late, as a program that reads documents may not show any

    shown = plain(text)
    # combining marks take no column, so the number of characters is limited, too
    if cell_len(shown) <= width and len(shown) <= 4 * width:
        return shown
    end = (width - 1) // 3
    start = width - 1 - end
    beginning = set_cell_size(shown[: 4 * start], start).rstrip()
    return beginning + ELLIPSIS + set_cell_size(shown[: -4 * end - 1 : -1], end).rstrip()[::-1]


def file_name(name: str, ending: str) -> str:
    """Return a file name made from the name of a table, in characters that every file system allows."""
    safe = "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in name)
    short = safe[:60].encode()[:120].decode(errors="ignore")  # the name of a file has at most 255 bytes
    return f"fairenum-{short}.{ending}"


def sentence_list(parts: Iterable[str]) -> str:
    """Return parts joined as in a sentence: a, b and c."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def capitalised(text: str) -> str:
    """Return a text with its first letter as a capital."""
    return text[:1].upper() + text[1:]


def _visible(sign: str) -> str:
    # Cc controls, Cf formats (with the direction marks), Cs surrogates, Co private, Zl and Zp line ends; and Unicode's
    # noncharacters, some of which XML forbids
    is_noncharacter = ord(sign) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(sign) <= 0xFDEF
    if is_noncharacter or unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"):
        return sign.encode("unicode_escape").decode("ascii")
    return sign


class Estimated(Protocol):
    """A value with its lower and upper limit, each of which is None if it is undefined."""

    @property
    def value(self) -> float | None:
        """The estimate itself, such as a rate, a gap or a mean; None if it is undefined."""

    @property
    def low(self) -> float | None:
        """The lower end of the interval around `value`, in the same unit; None if there is no interval."""

    @property
    def high(self) -> float | None:
        """The upper end of the interval around `value`, in the same unit; None if there is no interval."""


def share(value: float | None) -> str:
    """Return the text of a rate or a gap, with three decimals."""
    return UNDEFINED if value is None else f"{value:.3f}"


def signed(value: float | None) -> str:
    """Return the text of a change, with three decimals and its sign; without a sign if it rounds to 0."""
    if value is None:
        return UNDEFINED
    return f"{value:+.3f}" if round(value, 3) else "0.000"


def estimate(numbers: Estimated, show: Callable[[float | None], str] = share) -> str:
    """Return the text of a value, followed by its limits in brackets if it has them; `show` formats each number."""
    if numbers.low is None or numbers.high is None:
        return show(numbers.value)
    return f"{show(numbers.value)} [{show(numbers.low)}, {show(numbers.high)}]"


def percent(value: float | None, digits: int = 1) -> str:
    """Return the text of a share in percent."""
    return UNDEFINED if value is None else f"{100 * value:.{digits}f} %"


def rate(numbers: Estimated) -> str:
    """Return the text of a share in percent, followed by its limits in brackets if it has them."""
    if numbers.low is None or numbers.high is None:
        return percent(numbers.value)
    return f"{percent(numbers.value)} [{100 * numbers.low:.1f}, {100 * numbers.high:.1f}]"


def p_value(value: float | None) -> str:
    """Return the text of a p-value, with three decimals; <0.001 if it is smaller."""
    if value is None:
        return UNDEFINED
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def three_digits(number: float) -> str:
    """Return the text of a number with three significant digits; from 100 on, rounded to a whole number."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def counted(number: int, noun: str) -> str:
    """Return a number followed by a noun, with an s unless the number is 1: 1 row, 2 rows."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def difference(old: float | None, new: float | None) -> float | None:
    """Return the new value minus the old value; None if either is None."""
    return None if old is None or new is None else new - old
