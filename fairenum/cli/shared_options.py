"""Command-line options made from the fields of configuration classes, with value parsers and shell completion."""

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
    """Click type of a whole number, with its range in the help text.

    The range is checked only if `is_checked`; otherwise the configuration class checks it.
    """

    kind, what, type_name = int, "a whole number", "integer"

    def __init__(self, low: float, high: float, *, is_checked: bool = True) -> None:
        super().__init__(int(low), int(high))
        self.is_checked = is_checked

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the value as an integer; refuse other texts and, if checked, numbers outside the range."""
        return int(_converted(self, value, param, ctx))


class Number(click.FloatRange):
    """Click type of a number, with its range in the help text.

    The range is checked only if `is_checked`; otherwise the configuration class checks it.
    """

    kind, what, type_name = float, "a number", "float"

    def __init__(self, low: float, high: float, *, is_checked: bool = True) -> None:
        super().__init__(0.0 if low == TINY else low, high, min_open=low == TINY)
        self.is_checked = is_checked

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the value as a float; refuse other texts and, if checked, numbers outside the range."""
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
    """Click type of a number or one of the words that an option allows; the configuration class checks the range."""

    name = "number"

    def __init__(self, option: Option) -> None:
        self.words = words_of(option)
        self.is_whole = option.kind == "whole"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float | str | None:
        """Return the value as a number or an allowed word, where "none" becomes None; refuse other texts."""
        if value in self.words:
            return None if value == "none" else str(value)
        try:
            return (int if self.is_whole else float)(str(value))
        except ValueError:
            number, words = "whole number" if self.is_whole else "number", " or ".join(self.words)
            must = f"neither a {number} nor {words}" if words else f"no {number}"
            self.fail(f"{shown(value)} is {must}", param, ctx)


def words_of(option: Option) -> list[str]:
    """Return the words that an option allows on the command line, with "none" as the last if it allows None."""
    return [word for word in option.words if word is not None] + ["none"] * (None in option.words)


class Parsed(click.ParamType[object]):
    """Click type of an option with a parser of its own, or one of the words that the option allows."""

    name = "text"

    def __init__(self, option: Option) -> None:
        self.option = option

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """Return an allowed word as it is, and any other text as parsed by the option; refuse what it cannot parse."""
        if value in self.option.words or self.option.parse is None:
            return value
        try:
            return self.option.parse(str(value))
        except ValueError as error:
            words = "".join(f"{word} nor " for word in self.option.words)
            self.fail(f"{shown(value)} is neither {words}{error}" if words else str(error), param, ctx)


def gathered(gather: Callable[[Any], object]) -> Callable[[click.Context, click.Parameter, Any], object]:
    """Return a click callback that calls `gather` with the values of an option; its ValueError is a usage error."""

    def callback(context: click.Context, parameter: click.Parameter, values: Any) -> object:
        try:
            return gather(values)
        except ValueError as error:
            raise click.BadParameter(str(error), context, parameter) from error

    return callback


def check_jobs(context: click.Context, parameter: click.Parameter, jobs: int | None) -> int | None:
    """Return the number of processes; refuse 0."""
    if jobs == 0:
        raise click.BadParameter("0 is no number of processes; -1 is for all processors", context, parameter)
    return jobs


def all_defences(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of defences with "all" replaced by the names of all of them, without duplicates."""
    if ALL not in names:
        return names
    from fairenum.attack.defences import DEFENCES

    return tuple(dict.fromkeys(one for name in names for one in (DEFENCES if name == ALL else (name,))))


def complete_data(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the bundled datasets whose names begin with `begun`; if there are none, let the shell complete files."""
    return complete_dataset(_context, _parameter, begun) or [CompletionItem(begun, type="file")]


def complete_dataset(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the bundled datasets whose names begin with `begun`."""
    from fairenum.tables import list_datasets

    return [CompletionItem(card.name, help=card.title) for card in list_datasets() if card.name.startswith(begun)]


def complete_solver(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the solvers whose names begin with `begun`."""
    from fairenum.solvers.registry import list_solvers

    return [CompletionItem(info.name) for info in list_solvers() if info.name.startswith(begun)]


def complete_strategy(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the attack strategies whose names begin with `begun`."""
    from fairenum.attack import list_strategies

    return [CompletionItem(name) for name in list_strategies() if name.startswith(begun)]


# Settings that need click, or packages that the configuration classes must not import.
SPECIAL: dict[str, dict[str, Any]] = {
    "solver": {"shell_complete": complete_solver},
    "fallback": {"shell_complete": complete_solver},
    "strategies": {"shell_complete": complete_strategy},
    "defences": {"callback": gathered(all_defences)},
    "incumbent_model": {"type": click.Path(exists=True, dir_okay=False)},
}


def click_option(name: str, option: Option, default: object = None, **settings: Any) -> Added[Any]:
    """Return the click option of a configuration field; `settings` take precedence over those of the field."""
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
    """Return the click type of an option; one without a range if the help text already states the range."""
    if option.kind in ("whole", "number"):
        if option.words or "{range}" in option.help:
            return NumberOr(option)
        return (Whole if option.kind == "whole" else Number)(option.low, option.high, is_checked=False)
    if option.kind == "choice":
        return click.Choice(option.words)
    return Parsed(option) if option.parse else None


def checked(config: type[Options], name: str) -> Whole | Number:
    """Return a click type that checks a number against the limits of a configuration field."""
    option = declared(config)[name]
    return (Whole if option.kind == "whole" else Number)(option.low, option.high)


def options_of(
    given: Mapping[str, Added[Any]], *configs: type[Options], order: str, without: Iterable[str] = ()
) -> dict[str, Added[Any]]:
    """Return the click options of configuration classes by name, in the order in which the help text shows them.

    `given` are further options, which take precedence. `order` lists names of options, separated by blanks; an option
    that is not listed follows the last one of its help panel, or is left out if it is in `without`.
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

# Names of options in the order of the help text: for groups, for reading a file, for a table, for listing models.
GROUPING, FILE = "bands merge only exclude tidy_groups", "decimal sheet delimiter"
TABLE = (
    f"label favourable sensitive primary {GROUPING} drop use_sensitive categorical categorical_columns max_levels "
    f"standardise {FILE}"
)
LISTED = (
    "k C class_weight kernel gamma degree coef0 solver solver_timeout fallback distinct min_difference rows patience"
)


def added(options: Iterable[Added[Any]]) -> Added[Any]:
    """Return a decorator that adds options to a command; the help text shows them in the given order."""
    last_first = [*options][::-1]
    return lambda command: reduce(lambda made, add: add(made), last_first, command)
