"""Command-line options that several commands share, with their readers and completions."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import rich_click as click
from click.shell_completion import CompletionItem

from fairenum.document.metric_registry import metric_keys
from fairenum.document.options import NUMBERS, TINY, WHOLE, described, shown, within

if TYPE_CHECKING:
    from fairenum.document.reading import Reading


class Whole(click.IntRange):
    """A whole number; help shows its range, and the configuration checks it."""

    def __init__(self, option: str) -> None:
        low, high = WHOLE[option]
        super().__init__(low, high)

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a whole number."""
        try:
            return int(str(value))
        except ValueError:  # also of more digits than Python reads
            self.fail(f"{shown(value)} is not a valid integer", param, ctx)


class Number(click.FloatRange):
    """A number; help shows its range, and the configuration checks it."""

    def __init__(self, option: str) -> None:
        low, high = NUMBERS[option]
        super().__init__(0.0 if low == TINY else low, high, min_open=low == TINY)

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number."""
        try:
            return float(str(value))
        except ValueError:
            self.fail(f"{shown(value)} is not a valid float", param, ctx)


class CheckedWhole(Whole):
    """A whole number checked here, as it is not part of a configuration."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a whole number; refuse a number out of range."""
        number, low, high = super().convert(value, param, ctx), int(self.min or 0), int(self.max or 0)
        if not low <= number <= high:
            self.fail(f"{shown(number)} is not {within('a whole number', low, high)}", param, ctx)
        return number


class CheckedNumber(Number):
    """A number checked here, as it is not part of a configuration."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number; refuse a number out of range."""
        number, low, high = super().convert(value, param, ctx), self.min or 0.0, self.max or 0.0
        if not low <= number <= high or (self.min_open and number == low):
            self.fail(f"{shown(number)} is not {within('a number', TINY if self.min_open else low, high)}", param, ctx)
        return number


class NumberOr(click.ParamType[float | str]):
    """A number or a keyword; the configuration checks the range."""

    name = "number"

    def __init__(self, *words: str, kind: type[float] = float) -> None:
        self.words, self.kind = words, kind

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """Read a keyword or a number."""
        if value in self.words:
            return str(value)
        try:
            return self.kind(str(value))
        except ValueError:
            number = "whole number" if self.kind is int else "number"
            self.fail(f"{shown(value)} is neither a {number} nor {' or '.join(self.words)}", param, ctx)


class ClassWeights(click.ParamType[tuple[float, float] | str]):
    """A keyword, or two class weights such as 1:4."""

    name = "weights"

    def __init__(self, *words: str) -> None:
        self.words = words

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float] | str:
        """Read a keyword, or the weights of favourable and unfavourable rows."""
        if value in self.words:
            return str(value)
        favourable, _, unfavourable = str(value).partition(":")
        try:
            return float(favourable), float(unfavourable)
        except ValueError:
            self.fail(f"{shown(value)} is neither {' nor '.join(self.words)} nor two weights such as 1:4", param, ctx)


class Sizes(click.ParamType[tuple[float, ...]]):
    """Three comma-separated sizes: rows if all are whole, else shares."""

    name = "sizes"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """Read three numbers."""
        texts = [text.strip() for text in str(value).split(",")]
        try:
            sizes = tuple(int(text) if text.isdecimal() else float(text) for text in texts)
        except ValueError:  # also of more digits than Python reads
            sizes = ()
        if len(sizes) != 3 or not all(size >= 0 for size in sizes):
            self.fail(
                f"{shown(value)} is not train, selection and holdout, such as 0.6,0.2,0.2 or 600,200,200", param, ctx
            )
        return sizes


class Budgets(click.ParamType[tuple[float, ...]]):
    """Comma-separated budgets: whole numbers are rows, others shares."""

    name = "budgets"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """Read one or more numbers."""
        texts = [text.strip() for text in str(value).split(",")]
        try:
            return tuple(int(text) if text.isdecimal() else float(text) for text in texts)
        except ValueError:
            self.fail(f"{shown(value)} is no list of rows or shares to flip, such as 10 or 0.01,0.05", param, ctx)


class Band(click.ParamType[tuple[str, list[float]]]):
    """A numeric column and the upper ends of its bands."""

    name = "band"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, list[float]]:
        """Read ``column=end,end``."""
        column, _, ends = str(value).rpartition("=")
        try:
            numbers = [float(end) for end in ends.split(",")]
        except ValueError:
            numbers = []
        if column and numbers:
            return column, numbers
        raise click.BadParameter(
            f"{shown(value)} is not a column and the upper ends of its bands, such as age=25 or age=25,60", ctx, param
        )


class Merge(click.ParamType[tuple[str, list[str]]]):
    """A new group and the groups that it joins."""

    name = "merge"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, list[str]]:
        """Read ``name=group,group``."""
        name, _, members = str(value).partition("=")
        if name.strip() and (groups := split_names(members)):
            return name.strip(), groups
        raise click.BadParameter(
            f"{shown(value)} is not a new group and those that it joins, such as Other=a,b or race:Other=a,b",
            ctx,
            param,
        )


def split_names(text: str) -> list[str]:
    """Split at commas; a name that contains a comma needs double quotes."""
    try:
        names = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        why = "it holds a line break outside of double quotes, or is far too long"
        raise click.BadParameter(f"{shown(text)} is no list of names: {why}") from error
    return [name.strip() for name in names if name.strip()]


Command = TypeVar("Command", bound=Callable[..., object])
Bands = tuple[tuple[str, list[float]], ...]


METRICS = metric_keys()
ALL = "all"
EPS_HELP = "Largest relative loss of the objective, that of the problem without the left-out rows."
MAX_LOSS_HELP = "Largest relative rise of the loss on all training rows, left out or not.  [default: any]"
MAX_DROP_HELP = "Largest loss of performance on rows that were not trained on."
METRIC_HELP = f"The gap to make small: {', '.join(METRICS)}."


def read_merges(
    context: click.Context, parameter: click.Parameter, merges: tuple[tuple[str, list[str]], ...]
) -> dict[str, list[str]]:
    """Collect the --merge options into a mapping of new group to the groups it joins."""
    names = [name for name, _ in merges]
    if len({*names}) < len(names):
        raise click.BadParameter("a new group is named twice; list all that it joins in one option", context, parameter)
    return dict(merges)


def read_groups(_context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Read group names from comma-separated lists in one option or several."""
    return tuple(name for text in texts for name in split_names(text))


def merged_bands(bands: Bands) -> dict[str, list[float]]:
    """The band ends of each column, in ascending order."""
    merged: dict[str, list[float]] = {}
    for column, ends in bands:
        merged[column] = sorted({*merged.get(column, []), *ends})
    return merged


def taken_reading(options: dict[str, object], bands: Bands) -> Reading:
    """Take the options that say how a table is read out of a command's options."""
    from fairenum.document.reading import Reading

    names = [option.name for option in fields(Reading) if option.name in options]
    return Reading(bands=merged_bands(bands), **{name: options.pop(name) for name in names})  # type: ignore[arg-type]


def read_limit(_context: click.Context, _parameter: click.Parameter, limit: float | str) -> float | str | None:
    """Read a limit; "none" is no limit."""
    return None if limit == "none" else limit


def check_jobs(context: click.Context, parameter: click.Parameter, jobs: int | None) -> int | None:
    """Refuse 0 processes before anything is computed."""
    if jobs == 0:
        raise click.BadParameter("0 is no number of processes; -1 is for all processors", context, parameter)
    return jobs


def read_defences(_context: click.Context, _parameter: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Read the names of defences; "all" stands for every defence."""
    if ALL not in names:
        return names
    from fairenum.attack.defences import DEFENCES

    return tuple(dict.fromkeys(one for name in names for one in (DEFENCES if name == ALL else (name,))))


def read_delimiter(_context: click.Context, _parameter: click.Parameter, text: str | None) -> str | None:
    """Read a delimiter; the words for a tab stand for a tab."""
    return "\t" if text in ("tab", "\\t") else text


def complete_data(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the names of bundled datasets; the shell completes files."""
    from fairenum.tables import list_datasets

    cards = [card for card in list_datasets() if card.name.startswith(begun)]
    named = [CompletionItem(card.name, help=card.title) for card in cards]
    return named or [CompletionItem(begun, type="file")]


def complete_solver(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the names of solvers."""
    from fairenum.solvers.registry import list_solvers

    return [CompletionItem(info.name) for info in list_solvers() if info.name.startswith(begun)]


table = partial(click.option, panel="Data")
column = partial(table, metavar="COLUMN")
groups = partial(table, multiple=True)
model = partial(click.option, panel="Models", show_default=True)


GROUPING = (
    table("--band", "bands", type=Band(), multiple=True, metavar="COLUMN=END,..", help="Groups of a numeric column."),
    groups("--merge", type=Merge(), metavar="NAME=GROUP,..", callback=read_merges, help="Join groups; repeatable."),
    groups("--only", metavar="GROUP,..", callback=read_groups, help="Keep the rows of these groups alone."),
    groups("--exclude", metavar="GROUP,..", callback=read_groups, help="Leave out the rows of these groups."),
    table("--tidy-groups", is_flag=True, help="Join groups that differ by case or blanks only."),
)
ABOUT = (
    table("--data-source", metavar="TEXT", help="Where the data come from, for a bias audit and a model card."),
    table("--data-dates", metavar="TEXT", help="Period of the data, for a bias audit and a model card."),
)
FILE = (
    table("--decimal", type=click.Choice(["point", "comma"]), help="Decimal sign, where 1,234 or 1.234 is unclear."),
    table("--sheet", metavar="NAME", help="Sheet of a spreadsheet.  [default: the first]"),
    table("--delimiter", metavar="SIGN", callback=read_delimiter, help="What separates the cells of a CSV file."),
)


def added(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    """Add options to a command in the order in which its help shows them."""
    for add in reversed(options):
        command = add(command)
    return command


def table_options(command: Command) -> Command:
    """Add the options that say how a table is read."""
    options = (
        column("--label", help="Column to predict; a file needs it."),
        table("--favourable", metavar="VALUE", help="Favourable value of the label; a file needs it."),
        column("--sensitive", multiple=True, help="Column whose groups are compared; repeatable."),
        column("--primary", help="Sensitive column to select by, or 'a & b'.  [default: the first]"),
        *GROUPING,
        column("--drop", multiple=True, help="Column to leave out; repeatable."),
        table("--use-sensitive", is_flag=True, help="Let models also learn from the sensitive columns."),
        table("--categorical", type=click.Choice(["onehot", "ordinal"]), default="onehot", help="How to code text."),
        column(
            "--categorical-column",
            "categorical_columns",
            multiple=True,
            help="Read as texts: codes, dates; repeatable.",
        ),
        table(
            "--max-levels",
            type=Whole("max_levels"),
            metavar="N",
            default=100,
            show_default=True,
            help="Number of texts of a column that are kept apart; rarer texts count as one.",
        ),
        table("--standardise/--raw", default=True, help="Whether to scale numbers.  [default: standardise]"),
        *FILE,
    )
    return added(command, options)


def about_options(command: Command) -> Command:
    """Add the options that say where the data come from, for a report."""
    return added(command, ABOUT)


def decision_options(command: Command) -> Command:
    """Add the options for a table of decisions: groups, file format and source of the data."""
    return added(command, (*GROUPING, *FILE, *ABOUT))


def _patience(*, is_automatic: bool) -> Callable[[Command], Command]:
    """The --patience option; an audit also takes "auto"."""
    told = "Give up after this number of models without a distinct one"
    if not is_automatic:
        return model("--patience", type=Whole("patience"), default=1000, help=f"{told}.")
    kind, metavar = NumberOr("auto", kind=int), "NUMBER|auto"
    return model(
        "--patience",
        type=kind,
        metavar=metavar,
        default="auto",
        help=f"{told}, {described('patience')}; auto: fewer for larger tables.",
    )


def model_options(
    distinct: str, cost: click.ParamType[float] | click.ParamType[float | str], metavar: str, weights: Sequence[str]
) -> Callable[[Command], Command]:
    """Add the options that say which models are listed.

    Commands differ in the default for --distinct and in the values of C and the class weights; the first of `weights`
    is the default.
    """
    gamma = NumberOr("scale", "auto")
    options = (
        model("-k", "--models", "k", type=Whole("k"), default=50, help="How many models to list."),
        model(
            "--C", "C", type=cost, default=1.0, metavar=metavar, help=f"Price of a violated margin, {described('C')}."
        ),
        model(
            "--class-weight",
            type=ClassWeights(*weights),
            default=weights[0],
            metavar="|".join([*weights, "FAV:UNFAV"]),
            help="Multiples of C by label"
            + ("; auto: balanced if the unweighted model neglects a label." if "auto" in weights else "."),
        ),
        model("--kernel", type=click.Choice(["linear", "rbf", "poly"]), default="linear", help="The kernel."),
        model(
            "--gamma",
            type=gamma,
            default="scale",
            metavar="NUMBER|scale|auto",
            help=f"Gamma of rbf and poly, {described('gamma')}.",
        ),
        model("--degree", type=Whole("degree"), default=3, help="Degree of poly."),
        model("--coef0", type=Number("coef0"), default=0.0, help="Constant term of poly."),
        model(
            "--solver", metavar="NAME", default="path", shell_complete=complete_solver, help="See: fairenum solvers."
        ),
        model(
            "--solver-timeout",
            type=Number("solver_timeout"),
            metavar="SECONDS",
            show_default=False,
            help="Longest time for one answer of a solver other than path, in a process of its own.  [default: 600]",
        ),
        model(
            "--fallback",
            metavar="NAME",
            shell_complete=complete_solver,
            help="Solver to use where --solver fails; the report says so.",
        ),
        model(
            "--distinct",
            type=click.Choice(["predictions", "support", "diverse"]),
            metavar="NOTION",
            default=distinct,
            help="When models count as distinct: other predictions, another support, or diverse predictions.",
        ),
        model(
            "--min-difference",
            type=Number("min_difference"),
            default=0.01,
            help="Share of rows that diverse models must decide differently.",
        ),
        model("--rows", is_flag=True, show_default=False, help="Leave identical rows out one by one, as in the paper."),
        _patience(is_automatic="auto" in weights),
    )
    return lambda command: added(command, options)
