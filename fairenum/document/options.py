"""The common part of configurations: options changed by name, and checked when they are built."""

from __future__ import annotations

import math
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from numbers import Integral, Real
from typing import ClassVar, Self

from fairenum.errors import ConfigError
from fairenum.runtime.hints import did_you_mean

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


WHOLE: WholeRanges = {
    "k": (1, 100_000),
    "patience": (1, 1_000_000_000),
    "max_nodes": (1, 1_000_000_000),
    "price_rows": (1, 1_000_000_000),
    "degree": (1, 20),
    "seed": (0, 2**31 - 1),  # a trial adds its number, and scikit-learn takes 32 bits
    "min_group_size": (0, 1_000_000_000),
    "replications": (10, 100_000),
    "max_levels": (1, 1_000_000),
    "trials": (1, 100_000),
    "splits": (1, 10_000),
    "draws": (1, 100_000),
    "printed_draws": (0, 100_000),
    "rows": (2, 1_000_000_000),
    "row": (0, 2**53 - 1),
    "rank": (1, 1_000_000_000),
    "jobs": (-1, 1024),
}
NUMBERS: Ranges = {
    "C": (1e-9, 1e9),
    "class_weight": (1e-9, 1e9),
    "cost": (1e-9, 1e9),
    "gamma": (1e-30, 1e30),
    "coef0": (0.0, 1e6),
    "min_difference": (TINY, 1.0),
    "max_seconds": (TINY, 1e9),
    "solver_timeout": (TINY, 1e6),
    "printed_seconds": (0.0, 1e9),
    "max_left_out": (0.0, 1.0),
    "eps": (0.0, 1.0),
    "max_performance_drop": (0.0, 1.0),
    "max_loss": (0.0, 1e9),
    "same_within": (0.0, 1.0),
    "confidence": (0.5, 1.0 - 1e-9),
    "idle": (0.0, 1e6),
}
MOST_ROWS = 1_000_000_000  # of a split, or to flip
FARTHEST_CUT = 1e300  # of a score or a decision value
LONGEST_BANDS = 1000  # ends of the bands of one column


def whole(*names: str) -> WholeRanges:
    """Return the ranges of some whole-number options."""
    return {name: WHOLE[name] for name in names}


def numbers(*names: str) -> Ranges:
    """Return the ranges of some numeric options."""
    return {name: NUMBERS[name] for name in names}


def described(name: str) -> str:
    """Return the range of an option as a short text, such as ``1e-09 to 1e+09``."""
    low, high = WHOLE[name] if name in WHOLE else NUMBERS[name]
    return f"{low:g} to {high:g}"


Sizes = tuple[int | float, int | float, int | float]


# Options with the data owner's statements, and their names on the command line.
ABOUT_DATA = {"data_source": "data-source", "data_dates": "data-dates"}


class Options:
    """A configuration; some of its options stand in values that it contains, such as its SVM settings."""

    __slots__ = ()
    subject: ClassVar[str]

    def but(self, **options: object) -> Self:
        """Return the configuration with some options changed, including those of its parts; refuse unknown ones."""
        parts = {name: value for name, value in _named(self).items() if is_dataclass(value)}
        refuse_unknown(self.subject, options, [*parts, *self.options])
        for name, part in parts.items():
            whole = options.pop(name, part)
            require_part(whole, name, type(part))
            changes = {option: options.pop(option) for option in _named(part) if option in options}
            options[name] = replace(whole, **changes)  # type: ignore[type-var]  # checked when it is built
        return replace(self, **options)  # type: ignore[type-var]

    @property
    def options(self) -> dict[str, object]:
        """Every option by its name, including those of its parts."""
        found: dict[str, object] = {}
        for name, value in _named(self).items():
            found |= _named(value) if is_dataclass(value) else {name: value}
        return found


def _named(config: object) -> dict[str, object]:
    return {option.name: getattr(config, option.name) for option in fields(config)}  # type: ignore[arg-type]


def require_part(value: object, name: str, kind: type) -> None:
    """Refuse a part of a configuration that has the wrong type."""
    if not isinstance(value, kind):
        raise ConfigError(f"option {name!r} must be a {kind.__name__}, not {shown(value)}")


def make_tuples(config: object, names: Iterable[str]) -> None:
    """Turn single values and lists into tuples."""
    for name in names:
        value = getattr(config, name)
        is_single = isinstance(value, str) or not isinstance(value, Iterable)
        object.__setattr__(config, name, (value,) if is_single else tuple(value))


def require_three_sizes(config: object, sizes: Sequence[float]) -> None:
    """Refuse split sizes that are not three numbers."""
    is_three = len(sizes) == 3 and all(is_number(size, 0, HUGE) for size in sizes)
    require(config, "sizes", is_three, "three numbers: train, selection and holdout")
    require(config, "sizes", max(sizes) <= MOST_ROWS, f"three numbers of at most {MOST_ROWS}")
