"""The options that commands share: what each is called, how its value is read, and what completes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import rich_click as click
from click.shell_completion import CompletionItem

from fairenum.cli.values import Band, ClassWeights, Merge, Number, NumberOr, Whole, split_names
from fairenum.document.ranges import described

if TYPE_CHECKING:
    from fairenum.document.reading import Reading

Command = TypeVar("Command", bound=Callable[..., object])
Bands = tuple[tuple[str, list[float]], ...]

METRICS = (
    "demographic_parity_difference",
    "equal_opportunity_difference",
    "equalized_odds_difference",
    "predictive_parity_difference",
)
ALL = "all"
EPS_HELP = "Largest relative loss of objective: of the problem that is left when rows are left out."
MAX_LOSS_HELP = "Largest relative rise of the loss on all training rows, left out or not.  [default: any]"
MAX_DROP_HELP = "Largest loss of performance on rows that were not trained on."
METRIC_HELP = f"The gap to make small: {', '.join(METRICS)}."


def read_merges(
    context: click.Context, parameter: click.Parameter, merges: tuple[tuple[str, list[str]], ...]
) -> dict[str, list[str]]:
    """Collect what joins what."""
    names = [name for name, _ in merges]
    if len({*names}) < len(names):
        raise click.BadParameter("a new group is named twice; list all that it joins in one option", context, parameter)
    return dict(merges)


def read_groups(_context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Take names between commas, and from several options."""
    return tuple(name for text in texts for name in split_names(text))


def merged_bands(bands: Bands) -> dict[str, list[float]]:
    """Collect the ends of each column, in ascending order."""
    merged: dict[str, list[float]] = {}
    for column, ends in bands:
        merged[column] = sorted({*merged.get(column, []), *ends})
    return merged


def taken_reading(options: dict[str, object], bands: Bands) -> Reading:
    """Take the options that say how a table is read from those of a command."""
    from fairenum.document.reading import Reading

    names = [option.name for option in fields(Reading) if option.name in options]
    return Reading(bands=merged_bands(bands), **{name: options.pop(name) for name in names})  # type: ignore[arg-type]


def read_limit(_context: click.Context, _parameter: click.Parameter, limit: float | str) -> float | str | None:
    """Take the word for no limit."""
    return None if limit == "none" else limit


def check_jobs(context: click.Context, parameter: click.Parameter, jobs: int | None) -> int | None:
    """Refuse no process at all before anything is computed."""
    if jobs == 0:
        raise click.BadParameter("0 is no number of processes; -1 is for all processors", context, parameter)
    return jobs


def read_defences(_context: click.Context, _parameter: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Take the word for all of them."""
    if ALL not in names:
        return names
    from fairenum.mitigation.defences import DEFENCES

    return tuple(dict.fromkeys(one for name in names for one in (DEFENCES if name == ALL else (name,))))


def read_delimiter(_context: click.Context, _parameter: click.Parameter, text: str | None) -> str | None:
    """Take what people type for a tab."""
    return "\t" if text in ("tab", "\\t") else text


def complete_data(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete bundled names; the shell completes files."""
    from fairenum.dataset import list_datasets

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
    table("--data-dates", metavar="TEXT", help="From when to when they are, for the same."),
)
FILE = (
    table("--decimal", type=click.Choice(["point", "comma"]), help="What begins the decimals of 1,234 or 1.234."),
    table("--sheet", metavar="NAME", help="Sheet of a spreadsheet.  [default: the first]"),
    table("--delimiter", metavar="SIGN", callback=read_delimiter, help="What separates the cells of a CSV file."),
)


def added(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    """Add options to a command, so that its help shows them in this order."""
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
        table("--use-sensitive", is_flag=True, help="Let models learn from the sensitive columns, too."),
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
            help="Texts of a column that count each; all rarer ones count as one.",
        ),
        table("--standardise/--raw", default=True, help="Whether to scale numbers.  [default: standardise]"),
        *FILE,
    )
    return added(command, options)


def about_options(command: Command) -> Command:
    """Add the options that say where data come from, for those who read a report."""
    return added(command, ABOUT)


def decision_options(command: Command) -> Command:
    """Add the options that say how groups are made of a table that nothing is learned from, and how it is read."""
    return added(command, (*GROUPING, *FILE, *ABOUT))


def _patience(*, is_automatic: bool) -> Callable[[Command], Command]:
    """Return the option that says when to give up; an audit can tell that by itself."""
    told = "Give up after so many models that are nothing new"
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
    """Add the options that say which models are listed; commands differ in what is distinct and what C may be.

    The first of the words for class weights is the default.
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
            + ("; auto: balanced if the plain machine neglects a label." if "auto" in weights else "."),
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
            help="Solver that goes on where the other fails; the report says so.",
        ),
        model(
            "--distinct",
            type=click.Choice(["predictions", "support", "diverse"]),
            metavar="NOTION",
            default=distinct,
            help="What makes another model: other predictions, another support, or diverse predictions.",
        ),
        model(
            "--min-difference",
            type=Number("min_difference"),
            default=0.01,
            help="Share of rows that diverse models decide otherwise.",
        ),
        model("--rows", is_flag=True, show_default=False, help="Leave identical rows out one by one, as in the paper."),
        _patience(is_automatic="auto" in weights),
    )
    return lambda command: added(command, options)
