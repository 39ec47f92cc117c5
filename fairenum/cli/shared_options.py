"""Command-line options made from the declarations of configurations, with readers and completions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial, reduce
from typing import Any, TypeVar

import rich_click as click
from click.shell_completion import CompletionItem

from fairenum.document.options import DATA, TINY, Option, Options, all_declared, declared, shown, spelled_flag, within

Command = TypeVar("Command", bound=Callable[..., object])
Added = Callable[[Command], Command]
ALL = "all"
JOBS = (-1, 1024)


class Whole(click.IntRange):
    """A whole number whose range help shows; the range is checked here only if no configuration checks it."""

    kind, what, type_name = int, "a whole number", "integer"

    def __init__(self, low: float, high: float, *, is_checked: bool = True) -> None:
        super().__init__(int(low), int(high))
        self.is_checked = is_checked

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a whole number."""
        return int(_converted(self, value, param, ctx))


class Number(click.FloatRange):
    """A number whose range help shows; the range is checked here only if no configuration checks it."""

    kind, what, type_name = float, "a number", "float"

    def __init__(self, low: float, high: float, *, is_checked: bool = True) -> None:
        super().__init__(0.0 if low == TINY else low, high, min_open=low == TINY)
        self.is_checked = is_checked

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number."""
        return _converted(self, value, param, ctx)


def _converted(
    range_: Whole | Number, value: object, param: click.Parameter | None, ctx: click.Context | None
) -> float:
    try:
        number = range_.kind(str(value))
    except ValueError:  # also of more digits than Python reads
        range_.fail(f"{shown(value)} is not a valid {range_.type_name}", param, ctx)
    low, high = range_.min or 0, range_.max or 0
    is_within = low < number <= high if range_.min_open else low <= number <= high
    if range_.is_checked and not is_within:
        least = TINY if range_.min_open else low
        range_.fail(f"{shown(number)} is not {within(range_.what, least, high)}", param, ctx)
    return number


class NumberOr(click.ParamType[float | str | None]):
    """A number or a word; the configuration checks the range, and "none" is None."""

    name = "number"

    def __init__(self, option: Option) -> None:
        self.words = words_of(option)
        self.is_whole = option.kind == "whole"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float | str | None:
        """Read a word or a number."""
        if value in self.words:
            return None if value == "none" else str(value)
        try:
            return (int if self.is_whole else float)(str(value))
        except ValueError:
            number, words = "whole number" if self.is_whole else "number", " or ".join(self.words)
            must = f"neither a {number} nor {words}" if words else f"no {number}"
            self.fail(f"{shown(value)} is {must}", param, ctx)


def words_of(option: Option) -> list[str]:
    """The words that an option takes on the command line, with "none" for None as the last."""
    return [word for word in option.words if word is not None] + ["none"] * (None in option.words)


class Parsed(click.ParamType[object]):
    """A text that the option reads itself, or a word."""

    name = "text"

    def __init__(self, option: Option) -> None:
        self.option = option

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """Read a word, or what the option reads."""
        if value in self.option.words or self.option.parse is None:
            return value
        try:
            return self.option.parse(str(value))
        except ValueError as error:
            words = "".join(f"{word} nor " for word in self.option.words)
            self.fail(f"{shown(value)} is neither {words}{error}" if words else str(error), param, ctx)


def gathered(gather: Callable[[Any], object]) -> Callable[[click.Context, click.Parameter, Any], object]:
    """Turn a function that joins the values of a repeatable option into a callback."""

    def callback(context: click.Context, parameter: click.Parameter, values: Any) -> object:
        try:
            return gather(values)
        except ValueError as error:
            raise click.BadParameter(str(error), context, parameter) from error

    return callback


def check_jobs(context: click.Context, parameter: click.Parameter, jobs: int | None) -> int | None:
    """Refuse 0 processes before anything is computed."""
    if jobs == 0:
        raise click.BadParameter("0 is no number of processes; -1 is for all processors", context, parameter)
    return jobs


def all_defences(names: tuple[str, ...]) -> tuple[str, ...]:
    """Replace "all" by the names of all defences."""
    if ALL not in names:
        return names
    from fairenum.attack.defences import DEFENCES

    return tuple(dict.fromkeys(one for name in names for one in (DEFENCES if name == ALL else (name,))))


def complete_data(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the names of bundled datasets; the shell completes files."""
    return complete_dataset(_context, _parameter, begun) or [CompletionItem(begun, type="file")]


def complete_dataset(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the names of bundled datasets."""
    from fairenum.tables import list_datasets

    return [CompletionItem(card.name, help=card.title) for card in list_datasets() if card.name.startswith(begun)]


def complete_solver(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the names of solvers."""
    from fairenum.solvers.registry import list_solvers

    return [CompletionItem(info.name) for info in list_solvers() if info.name.startswith(begun)]


def complete_strategy(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the names of attack strategies."""
    from fairenum.attack import list_strategies

    return [CompletionItem(name) for name in list_strategies() if name.startswith(begun)]


# Settings that take click, or rooms that a declaration cannot know.
SPECIAL: dict[str, dict[str, Any]] = {
    "solver": {"shell_complete": complete_solver},
    "fallback": {"shell_complete": complete_solver},
    "strategies": {"shell_complete": complete_strategy},
    "defences": {"callback": gathered(all_defences)},
    "incumbent_model": {"type": click.Path(exists=True, dir_okay=False)},
}


def click_option(name: str, option: Option, default: object = None, **settings: Any) -> Added[Any]:
    """Make the click option of a declared option; settings win over the declaration."""
    made = _flag_settings(option, default) if option.kind == "flag" else _value_settings(option, default)
    help_text = option.help.replace("{range}", option.range) + (f"  [default: {option.unset}]" if option.unset else "")
    if made.get("flag_value") is False:
        help_text = f"Do not {help_text[0].lower()}{help_text[1:]}"
    made |= {"help": help_text, "panel": option.panel}
    return click.option(*_flags(name, option, default), name, **(made | SPECIAL.get(name, {}) | settings))


def _flags(name: str, option: Option, default: object) -> list[str]:
    if option.flags:
        return option.flags.split()
    is_negated = option.kind == "flag" and default is True
    return [spelled_flag(one) for one in (f"no_{name}" if is_negated else name, option.alias) if one]


def _flag_settings(option: Option, default: object) -> dict[str, Any]:
    if "/" in option.flags:
        return {"default": default, "show_default": True}
    return {"is_flag": True} | ({"flag_value": False, "default": True} if default is True else {})


def _value_settings(option: Option, default: object) -> dict[str, Any]:
    is_repeatable = option.kind == "names" or option.gather is not None
    made: dict[str, Any] = {"type": _type(option), "show_default": True, "multiple": is_repeatable}
    if default not in (None, (), {}):
        is_list = isinstance(default, tuple) and not is_repeatable
        made["default"] = ",".join(map(str, default)) if is_list else default  # type: ignore[call-overload]
    if option.gather:
        made["callback"] = gathered(option.gather)
    has_words = option.kind in ("whole", "number") and option.words
    made["metavar"] = "|".join(("NUMBER", *words_of(option))) if has_words else option.metavar
    return made


def _type(option: Option) -> click.ParamType[Any] | None:
    """The click type of an option; a range that its help text names is not shown a second time."""
    if option.kind in ("whole", "number"):
        if option.words or "{range}" in option.help:
            return NumberOr(option)
        return (Whole if option.kind == "whole" else Number)(option.low, option.high, is_checked=False)
    if option.kind == "choice":
        return click.Choice(option.words)
    return Parsed(option) if option.parse else None


def checked(config: type[Options], name: str) -> Whole | Number:
    """The click type for a number with the limits of a declared option, where no configuration checks it."""
    option = declared(config)[name]
    return (Whole if option.kind == "whole" else Number)(option.low, option.high)


def options_of(
    given: Mapping[str, Added[Any]], *configs: type[Options], order: str, without: Iterable[str] = ()
) -> dict[str, Added[Any]]:
    """Make the click options of configurations, and put them in the order in which help shows them.

    `order` has names of options, and of those `given`, separated by blanks. An option that it does not name follows
    the last one of its panel.
    """
    options = {name: option for config in configs for name, option in all_declared(config).items()}
    defaults = {name: default for config in configs for name, default in config().options.items()}
    panels = {name: option.panel for name, option in options.items()} | dict.fromkeys(given, DATA)
    names = order.split()
    for name in (one for one in options if one not in names and one not in without):
        last = max((place for place, one in enumerate(names, 1) if panels[one] == panels[name]), default=len(names))
        names.insert(last, name)
    made = {name: click_option(name, options[name], defaults[name]) for name in names if name in options}
    return {name: given.get(name) or made[name] for name in names}


table = partial(click.option, panel=DATA)
column = partial(table, metavar="COLUMN")
LABELLED = {
    "label": column("--label", help="Column to predict; a file needs it."),
    "favourable": table("--favourable", metavar="VALUE", help="Favourable value of the label; a file needs it."),
    "sensitive": column("--sensitive", multiple=True, help="Column whose groups are compared; repeatable."),
}

# Orders of help: groups, file, table, and listed models.
GROUPING, FILE = "bands merge only exclude tidy_groups", "decimal sheet delimiter"
TABLE = (
    f"label favourable sensitive primary {GROUPING} drop use_sensitive categorical categorical_columns max_levels "
    f"standardise {FILE}"
)
LISTED = (
    "k C class_weight kernel gamma degree coef0 solver solver_timeout fallback distinct min_difference rows patience"
)


def added(options: Iterable[Added[Any]]) -> Added[Any]:
    """Add options to a command in the order in which its help shows them."""
    last_first = [*options][::-1]
    return lambda command: reduce(lambda made, add: add(made), last_first, command)
