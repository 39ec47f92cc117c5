"""Options: each is declared once, with its valid values, its descriptions and its command-line flag.

A configuration is a dataclass whose fields are declared by `whole`, `number`, `choice`, `flag`, `line`, `text`,
`names`, `mapping`, `like` or `part`. It checks itself when it is built. The command line, the configuration file, the
typed keyword arguments and the documentation are made from the same declarations.
"""

from __future__ import annotations

import csv
import math
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, TypeVar

from fairenum.errors import ConfigError
from fairenum.runtime.hints import did_you_mean

T = TypeVar("T")
TINY, HUGE = math.ulp(0.0), sys.float_info.max
LONGEST_TEXT, LONGEST_SHOWN = 500, 60
CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")  # categories of control characters, line ends among them
MOST_ROWS = 1_000_000_000
FARTHEST_CUT = 1e300  # largest absolute value of the cutoff of a score or a decision value

Kind = Literal["whole", "number", "choice", "flag", "line", "text", "names"]
Sizes = tuple[int | float, int | float, int | float]

# Panels of the help page.
DATA, IN_USE, MODELS, ATTACK = "Data", "The model in use", "Models", "Attack"
SELECTION, TRIALS, STATISTICS = "Selection and statistics", "Trials and statistics", "Statistics"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """The declaration of an option: its valid values, its descriptions and its command-line flag.

    Attributes
    ----------
    kind
        A "whole" or other "number" between `low` and `high`; a "choice" of `words`; a "flag", true or false; a "line",
        one line of printable text; any "text"; or "names", a list of texts.
    words
        The choices, or the words that are valid beside numbers or texts; None is spelled "none" on the command line.
    is_optional
        Whether None is accepted even if it is not among `words`; true exactly where None is the default.
    test, must
        Function that tells whether a value of kind "text" or "names" is valid, and a description of valid values for
        the error message.
    read
        Function that converts a valid value to the form in which it is stored, or refuses it.
    keyword
        Type of the keyword argument, where it is wider than the type of the field.
    alias
        Another name by which the option can be given.
    help, doc
        Description of the option on the command line, and in Python and the JSON Schema; an empty `doc` stands for
        `help`. ``{range}`` stands for the limits.
    unset
        What a default of None means, in words.
    panel, flags, metavar
        The panel of the help page, the command-line flags, and the placeholder of the value.
    parse, gather
        Function that converts a text from the command line, and function that joins the values of a repeatable option.
        Both raise ValueError.
    """

    kind: Kind = "text"
    low: float = 0
    high: float = 0
    words: tuple[Any, ...] = ()
    is_optional: bool = False
    test: Callable[[Any], bool] | None = None
    must: str = ""
    read: Callable[[Any], object] | None = None
    keyword: str = ""
    alias: str = ""
    help: str = ""
    doc: str = ""
    unset: str = ""
    panel: str = DATA
    flags: str = ""
    metavar: str | None = None
    parse: Callable[[str], object] | None = None
    gather: Callable[[Any], object] | None = None

    @property
    def range(self) -> str:
        """The limits as a short text, such as ``1e-09 to 1e+09``."""
        return f"{self.low:g} to {self.high:g}"

    @property
    def description(self) -> str:
        """The description of the option in Python and in the JSON Schema."""
        text = self.doc or (f"{self.help.removesuffix('.')}; by default {self.unset}." if self.unset else self.help)
        return text.replace("{range}", self.range) + (f" Also accepted as {self.alias}." if self.alias else "")

    def checked(self, name: str, value: Any) -> object:  # whatever a user gives
        """Return a value in the form in which it is stored; refuse an invalid value of the option called `name`."""
        if self.kind == "names":
            value = as_tuple(value)
        is_unset = value is None and self.is_optional
        if not is_unset and not self._holds(value):
            flag = f" ({self.flags or spelled_flag(name)})" if self.kind == "line" else ""
            raise refusal(name, self.must or self._must(), value, flag)
        require(name, value, _is_writable(value), "a text that UTF-8 can write")
        return value if is_unset or self.read is None else self.read(value)

    def _holds(self, value: object) -> bool:
        match self.kind:
            case "whole":
                return value in self.words or is_whole(value, self.low, self.high)
            case "number":
                return value in self.words or is_number(value, self.low, self.high)
            case "choice":
                return value in self.words
            case "flag":
                return isinstance(value, bool)
            case "line":
                return _is_line(value)
        return self.test is None or value in self.words or self.test(value)

    def _must(self) -> str:
        match self.kind:
            case "choice":
                return f"one of {', '.join(self.words)}"
            case "flag":
                return "true or false"
            case "line":
                return f"one line of 1 to {LONGEST_TEXT} signs without control characters"
        number = within("a whole number" if self.kind == "whole" else "a number", self.low, self.high)
        return " or ".join((number, *map(str, self.words)))


@dataclass(frozen=True, slots=True)
class Part:
    """The declaration of a field that holds a configuration; `changed` replaces declarations of options in it."""

    config: type
    doc: str
    changed: Mapping[str, Option]


def _field(default: T, about: Option) -> T:
    return field(default=default, metadata={"option": replace(about, is_optional=default is None)})


def whole(default: T, low: int, high: int, **about: Any) -> T:  # the other attributes of `Option`
    """Declare an option that is a whole number between two limits."""
    return _field(default, Option(kind="whole", low=low, high=high, **about))


def number(default: T, low: float, high: float, **about: Any) -> T:
    """Declare an option that is a number between two limits."""
    return _field(default, Option(kind="number", low=low, high=high, **about))


def choice(default: T, words: tuple[str, ...], **about: Any) -> T:
    """Declare an option whose value is one of several words."""
    return _field(default, Option(kind="choice", words=words, **about))


def flag(default: T, **about: Any) -> T:
    """Declare an option that is true or false; if it is true by default, its usual flag is --no-NAME."""
    return _field(default, Option(kind="flag", **about))


def line(default: T, **about: Any) -> T:
    """Declare an option that is one line of printable text."""
    return _field(default, Option(kind="line", **about))


def text(default: T, **about: Any) -> T:
    """Declare an option that is a text, or any value that the given `test` and `read` accept."""
    return _field(default, Option(**about))


def names(default: T, **about: Any) -> T:
    """Declare an option that is a list of texts; a single text counts as a list of one."""
    return _field(default, Option(kind="names", **about))


def like(config: type, name: str, default: Any = MISSING, **changes: Any) -> Any:
    """Declare an option as another configuration does, except for the given default and attributes."""
    (found,) = (one for one in fields(config) if one.name == name)
    changes = {"doc": "", **changes} if "help" in changes else changes
    return _field(found.default if default is MISSING else default, replace(found.metadata["option"], **changes))


def part(config: type[T], doc: str, changes: Mapping[str, Mapping[str, Any]] | None = None, **defaults: object) -> T:
    """Declare a field that holds another configuration, with the given defaults and changes to its declared options."""
    changed = {name: replace(declared(config)[name], **change) for name, change in (changes or {}).items()}
    return field(default_factory=partial(config, **defaults), metadata={"part": Part(config, doc, changed)})


def mapping(**about: Any) -> Any:
    """Declare an option that is a mapping, empty by default."""
    return field(default_factory=dict, metadata={"option": Option(**about)})


def declared(config: type) -> Mapping[str, Option]:
    """Return the options of a configuration by name, without those of configurations that it contains."""
    return {one.name: one.metadata["option"] for one in fields(config) if "option" in one.metadata}


def parts_of(config: type) -> Mapping[str, Part]:
    """Return the declarations of the fields that hold other configurations, by name."""
    return {one.name: one.metadata["part"] for one in fields(config) if "part" in one.metadata}


def all_declared(config: type) -> Mapping[str, Option]:
    """Return the options of a configuration, and of the configurations that it contains, by name."""
    inner: dict[str, Option] = {}
    for one in parts_of(config).values():
        inner |= {**declared(one.config), **one.changed}
    return {**inner, **declared(config)}


def documented(config: type[T]) -> type[T]:
    """Add the descriptions of all options to the docstring of a configuration."""
    described = {name: one.doc for name, one in parts_of(config).items()}
    described |= {name: one.description for name, one in declared(config).items()}
    lines = (
        f"{name}\n{textwrap.indent(textwrap.fill(about, 116, break_on_hyphens=False), '    ')}"
        for name, about in described.items()
    )
    config.__doc__ = "\n".join((f"{config.__doc__}\n", "Parameters", "----------", *lines))
    return config


class Options:
    """The base class of configurations, which checks the values of all options when a configuration is built."""

    __slots__ = ()
    subject: ClassVar[str] = "a configuration"

    def __post_init__(self) -> None:
        for name, part in parts_of(type(self)).items():
            value = getattr(self, name)
            require_part(value, name, part.config)
            for inner, option in part.changed.items():
                option.checked(inner, getattr(value, inner))
        for name, option in declared(type(self)).items():
            object.__setattr__(self, name, option.checked(name, getattr(self, name)))

    def but(self, **options: object) -> Self:
        """Return a copy with some options changed, also those of contained configurations; refuse unknown options."""
        options = without_aliases(type(self), options)
        parts = {name: getattr(self, name) for name in parts_of(type(self))}
        refuse_unknown(self.subject, options, [*parts, *self.options])
        for name, value in parts.items():
            whole = options.pop(name, value)
            require_part(whole, name, type(value))
            changes = {option: options.pop(option) for option in declared(type(value)) if option in options}
            options[name] = replace(whole, **changes)  # type: ignore[type-var]  # checked when it is built
        return replace(self, **options)  # type: ignore[type-var]

    @property
    def options(self) -> dict[str, object]:
        """The values of all options by name, those of contained configurations included."""
        found: dict[str, object] = {}
        for one in fields(self):  # type: ignore[arg-type]  # a configuration is a dataclass
            value = getattr(self, one.name)
            found |= value.options if isinstance(value, Options) else {one.name: value}
        return found


def without_aliases(config: type, options: Mapping[str, object]) -> dict[str, object]:
    """Return options with each alias replaced by the proper name; refuse an option that is given by both names."""
    given = dict(options)
    for name, option in all_declared(config).items():
        if option.alias in given:
            if name in given:
                raise ConfigError(f"options {option.alias!r} and {name!r} are one and the same; give the second alone")
            given[name] = given.pop(option.alias)
    return given


def refuse_unknown(subject: str, options: Iterable[str], known: Sequence[str]) -> None:
    """Refuse options that a configuration does not have."""
    for name in options:
        if name not in known:
            hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise ConfigError(f"{subject} has no option {name!r}{hint}")


def require(name: str, value: object, holds: bool, must: str) -> None:
    """Refuse the value of an option if a condition does not hold; `must` says in words which values are valid."""
    if not holds:
        raise refusal(name, must, value)


def refusal(name: str, must: str, value: object, flag: str = "") -> ConfigError:
    """Return the error for an invalid value, which names the option, the valid values and the value received."""
    return ConfigError(f"option {name!r}{flag} must be {must}, not {shown(value)}")


def require_part(value: object, name: str, kind: type) -> None:
    """Refuse a value of the wrong type for a part of a configuration."""
    if not isinstance(value, kind):
        raise refusal(name, f"a {kind.__name__}", value)


def shown(value: object) -> str:
    """Return the text of a received value for an error message, shortened if it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def spelled_flag(name: str) -> str:
    """Return the command-line flag of an option that declares no flag of its own."""
    return f"--{name.replace('_', '-')}"


def is_whole(value: object, low: float, high: float) -> bool:
    """Tell whether a value is a whole number within limits; True and False do not count as numbers."""
    return isinstance(value, Integral) and not isinstance(value, bool) and low <= int(value) <= high


def is_number(value: object, low: float, high: float) -> bool:
    """Tell whether a value is a finite number within limits; True and False do not count as numbers."""
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    return is_real and low <= value <= min(high, HUGE)  # type: ignore[operator]


def is_text(value: object) -> bool:
    """Tell whether a value is a text."""
    return isinstance(value, str)


def within(what: str, low: float, high: float) -> str:
    """Return a phrase for a number and its limits, such as "a number above 0 and at most 1"."""
    start = "above 0" if low == TINY else f"of at least {_written(low)}"
    return f"{what} {start} and at most {_written(high)}"


def _written(limit: float) -> str:
    return str(limit) if isinstance(limit, int) else f"{limit:g}"


def _is_writable(value: object) -> bool:
    """Tell whether all texts in a value can be encoded as UTF-8, as none contains a lone surrogate."""
    match value:
        case str():
            return not any(0xD800 <= ord(sign) <= 0xDFFF for sign in value)
        case Mapping():
            return all(_is_writable(key) and _is_writable(part) for key, part in value.items())
        case list() | tuple():
            return all(map(_is_writable, value))
    return True


def _is_line(text: object) -> bool:
    is_short = isinstance(text, str) and len(text.strip()) > 0 and len(text) <= LONGEST_TEXT
    return is_short and not any(unicodedata.category(sign) in CONTROLS for sign in str(text))


def as_tuple(value: object) -> tuple[Any, ...]:
    """Return a list as a tuple, and a single value as a tuple of one."""
    is_single = isinstance(value, str) or not isinstance(value, Iterable)
    return (value,) if is_single else tuple(value)  # type: ignore[arg-type]


def three_sizes(value: object) -> tuple[float, ...]:
    """Return the sizes of train, selection and holdout as a tuple; refuse anything but three numbers."""
    sizes = as_tuple(value)
    is_three = len(sizes) == 3 and all(is_number(size, 0, HUGE) for size in sizes)
    require("sizes", sizes, is_three, "three numbers: train, selection and holdout")
    require("sizes", sizes, max(sizes) <= MOST_ROWS, f"three numbers of at most {MOST_ROWS}")
    return sizes


def parse_sizes(text: str) -> tuple[float, ...]:
    """Return the sizes of train, selection and holdout from a comma-separated text."""
    try:
        sizes = parse_numbers(text)
    except ValueError:
        sizes = ()
    if len(sizes) != 3 or not all(size >= 0 for size in sizes):
        raise ValueError(f"{shown(text)} is not train, selection and holdout, such as 0.6,0.2,0.2 or 600,200,200")
    return sizes


def parse_numbers(text: str) -> tuple[float, ...]:
    """Return the numbers in a comma-separated text; a number written in digits alone is an int."""
    return tuple(int(one) if one.isdecimal() else float(one) for one in map(str.strip, text.split(",")))


def split_names(text: str) -> list[str]:
    """Return the names in a comma-separated text; a name that contains a comma needs double quotes."""
    try:
        names = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        why = "it holds a line break outside of double quotes, or is far too long"
        raise ValueError(f"{shown(text)} is no list of names: {why}") from error
    return [name.strip() for name in names if name.strip()]


def all_names(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the names in several comma-separated texts."""
    return tuple(name for text in texts for name in split_names(text))
