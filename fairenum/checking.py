"""Options of a configuration, checked when it is built: what was wrong, what was received, what to do."""

from __future__ import annotations

import math
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from numbers import Integral, Real

from fairenum.errors import ConfigError
from fairenum.phrases import did_you_mean

TINY, HUGE = math.ulp(0.0), sys.float_info.max
Ranges = Mapping[str, tuple[float, float]]
WholeRanges = Mapping[str, tuple[int, int]]
LONGEST_TEXT, LONGEST_SHOWN = 500, 60
CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")  # categories of signs that steer and show nothing, line ends among them


def is_whole(value: object, low: float, high: float) -> bool:
    """Tell whether a value is a whole number within limits; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool) and low <= int(value) <= high


def is_number(value: object, low: float, high: float) -> bool:
    """Tell whether a value is a finite number within limits; True and False are none."""
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    return is_real and low <= value <= min(high, HUGE)  # type: ignore[operator]


def require(config: object, name: str, holds: bool, what: str) -> None:
    """Refuse an option that is not what it must be."""
    if not holds:
        raise ConfigError(f"option {name!r} must be {what}, not {shown(getattr(config, name))}")


def shown(value: object) -> str:
    """Show what was received, the beginning of it if it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def check_options(
    config: object,
    choices: Mapping[str, tuple[str, ...]],
    whole: WholeRanges,
    numbers: Ranges,
    flags: tuple[str, ...],
    optional: tuple[str, ...] = (),
) -> None:
    """Check the options that are words, numbers in a range, or flags; optional ones may be None."""
    for name, words in choices.items():
        require(config, name, _is_absent(config, name, optional) or getattr(config, name) in words, _one_of(words))
    for ranges, is_such, what in ((whole, is_whole, "a whole number"), (numbers, is_number, "a number")):
        for name, (low, high) in ranges.items():
            holds = _is_absent(config, name, optional) or is_such(getattr(config, name), low, high)
            require(config, name, holds, within(what, low, high))
    for name in flags:
        require(config, name, isinstance(getattr(config, name), bool), "true or false")
    for option in fields(config):  # type: ignore[arg-type]  # a configuration is a dataclass
        require(config, option.name, _is_writable(getattr(config, option.name)), "a text that UTF-8 can write")


def _is_writable(value: object) -> bool:
    """Tell whether all texts in a value can be written: none holds half of a pair of surrogates."""
    match value:
        case str():
            return not any(0xD800 <= ord(sign) <= 0xDFFF for sign in value)
        case Mapping():
            return all(_is_writable(key) and _is_writable(part) for key, part in value.items())
        case list() | tuple():
            return all(map(_is_writable, value))
    return True


def check_texts(config: object, flags: Mapping[str, str]) -> None:
    """Check the options that are a line of text to be shown, by their names on the command line; all may be None."""
    for name, flag in flags.items():
        text = getattr(config, name)
        if text is not None and not _is_line(text):
            raise ConfigError(
                f"option {name!r} (--{flag}) must be one line of 1 to {LONGEST_TEXT} signs without control characters, "
                f"not {shown(text)}"
            )


def _is_line(text: object) -> bool:
    is_short = isinstance(text, str) and len(text.strip()) > 0 and len(text) <= LONGEST_TEXT
    return is_short and not any(unicodedata.category(sign) in CONTROLS for sign in str(text))


def refuse_unknown(subject: str, options: Iterable[str], known: Sequence[str]) -> None:
    """Refuse options that a configuration does not have."""
    for name in options:
        if name not in known:
            hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise ConfigError(f"{subject} has no option {name!r}{hint}")


def _is_absent(config: object, name: str, optional: tuple[str, ...]) -> bool:
    return name in optional and getattr(config, name) is None


def _one_of(words: tuple[str, ...]) -> str:
    return f"one of {', '.join(words)}"


def within(what: str, low: float, high: float) -> str:
    """Say of what kind a number is, and between what it lies."""
    start = "above 0" if low == TINY else f"of at least {_written(low)}"
    return f"{what} {start} and at most {_written(high)}"


def _written(limit: float) -> str:
    return str(limit) if isinstance(limit, int) else f"{limit:g}"
