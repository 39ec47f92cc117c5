"""What configurations do alike: options are changed by name, and checked when they are built."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import ClassVar, Self

from fairenum.checking import HUGE, is_number, refuse_unknown, require, shown
from fairenum.document.ranges import MOST_ROWS
from fairenum.errors import ConfigError

Sizes = tuple[int | float, int | float, int | float]
# What the owner of the data says about them, and what that is called on the command line.
ABOUT_DATA = {"data_source": "data-source", "data_dates": "data-dates"}


class Options:
    """A configuration, some of whose options stand in values that it contains, such as its machine."""

    __slots__ = ()
    subject: ClassVar[str]

    def but(self, **options: object) -> Self:
        """Return the configuration with some options changed, those of its parts among them; refuse unknown ones."""
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
        """Every option by its name, those of its parts among them."""
        found: dict[str, object] = {}
        for name, value in _named(self).items():
            found |= _named(value) if is_dataclass(value) else {name: value}
        return found


def _named(config: object) -> dict[str, object]:
    return {option.name: getattr(config, option.name) for option in fields(config)}  # type: ignore[arg-type]


def require_part(value: object, name: str, kind: type) -> None:
    """Refuse a part of a configuration that is none."""
    if not isinstance(value, kind):
        raise ConfigError(f"option {name!r} must be a {kind.__name__}, not {shown(value)}")


def make_tuples(config: object, names: Iterable[str]) -> None:
    """Take single values and lists for tuples."""
    for name in names:
        value = getattr(config, name)
        is_single = isinstance(value, str) or not isinstance(value, Iterable)
        object.__setattr__(config, name, (value,) if is_single else tuple(value))


def require_three_sizes(config: object, sizes: Sequence[float]) -> None:
    """Refuse sizes of splits that are not three numbers."""
    is_three = len(sizes) == 3 and all(is_number(size, 0, HUGE) for size in sizes)
    require(config, "sizes", is_three, "three numbers: train, selection and holdout")
    require(config, "sizes", max(sizes) <= MOST_ROWS, f"three numbers of at most {MOST_ROWS}")
