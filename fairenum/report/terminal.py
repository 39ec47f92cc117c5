"""The report for a terminal or a log: 80 columns are enough, and no meaning hangs on colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table as RichTable
from rich.text import Text

from fairenum.report.attack import AttackView
from fairenum.report.rules import Outcome
from fairenum.report.tables import Table
from fairenum.report.view import View

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

STYLES = {Outcome.HOLDS: "green", Outcome.VIOLATED: "red", Outcome.OPEN: "yellow"}


def print_report(view: View, console: Console) -> None:
    """Print a view."""
    _print(_parts(view), view.files, console)


def print_attack(view: AttackView, subject: str, files: Iterable[tuple[str, str]], console: Console) -> None:
    """Print a simulated attack on its own."""
    parts = chain((Text(subject, style="dim"),), _attack_parts(view), (Text(),))
    _print(parts, files, console)


def print_table(
    headline: str, findings: Iterable[str], table: Table, files: Iterable[tuple[str, str]], console: Console
) -> None:
    """Print a table with what it shows in words."""
    items = _items([("-", finding, "") for finding in findings])
    _print((Text(headline, style="bold"), items, *_table(table), Text()), files, console)


def _print(parts: Iterable[RenderableType], files: Iterable[tuple[str, str]], console: Console) -> None:
    with console.capture() as captured:
        for part in parts:
            # every text stands in a Text of its own: what looks like markup is shown, never obeyed
            console.print(part, markup=False, highlight=False)
        for kind, path in files:  # a path to copy must not be broken into lines
            console.print(Text(f"{kind}: {path}"), soft_wrap=True)
    # rich fills lines up with blanks, which a log should not keep
    console.file.write("".join(f"{line.rstrip()}\n" for line in captured.get().rstrip("\n").split("\n")))


def _parts(view: View) -> Iterator[RenderableType]:
    yield Text(view.subject, style="dim")
    yield Text()
    yield Text(view.headline, style="bold green" if view.is_good_news else "bold")
    yield _items([("-", finding, "") for finding in view.findings])
    for table in (view.models, view.comparison, *view.methods, *view.groups):
        yield from _table(table)
    if view.attack:
        yield from _attack_parts(view.attack)
    items = [(one.outcome.value, f"{one.rule}: {one.reason}", STYLES[one.outcome]) for one in view.judgements]
    items += [("warning", warning, "yellow") for warning in view.warnings]
    if items:
        yield Text()
        yield _items(items)
    yield Text()


def _attack_parts(attack: AttackView) -> Iterator[RenderableType]:
    yield Text()
    yield Text(attack.headline, style="bold")
    yield _items([("-", finding, "") for finding in attack.findings])
    yield Text()
    yield Text(attack.curve, no_wrap=True)
    for table in attack.tables:
        yield from _table(table)
    if attack.warnings:
        yield Text()
        yield _items([("warning", warning, "yellow") for warning in attack.warnings])


def _table(table: Table) -> Iterator[RenderableType]:
    yield Text()
    yield Text(table.title, style="bold")
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=0, show_edge=False)
    for place, heading in enumerate(table.headings):
        if place < table.names:
            drawn.add_column(Text(heading), overflow="fold")
        else:
            drawn.add_column(Text(heading), no_wrap=True, justify="right", min_width=_width(table, place))
    for place, row in enumerate(table.rows):
        drawn.add_row(*map(Text, row), style="bold" if place == table.marked else None)
    yield drawn
    yield from (Text(note, style="dim") for note in table.notes)


def _width(table: Table, place: int) -> int:
    """Measure a column of numbers, which is never cut short."""
    return max(len(row[place]) for row in (table.headings, *table.rows))


def _items(items: list[tuple[str, str, str]]) -> RenderableType:
    """Draw short headings with their texts beside them."""
    grid = RichTable.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for heading, text, style in items:
        grid.add_row(Text(heading, style=style), Text(text))
    return grid
