"""Printing of a page to a terminal or a log, in 80 columns or more; colours only repeat what words say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.table import Table as RichTable
from rich.text import Text

from fairenum.render.page import Block, Explorer, Facts, Figure, Items, Page, Paragraph, Table
from fairenum.runtime.formatting import plain

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

STYLES = {"holds": "green", "violated": "red", "open": "yellow"}
NARROWEST = 8  # characters; columns of words are never narrower unless all their cells are


def print_page(page: Page, console: Console, files: Iterable[tuple[str, str]] = ()) -> None:
    """Print a page, and below it a line for each file that was written, given as a pair of kind and path."""
    with console.capture() as captured:
        for part in _parts(page, console.width):
            # each text is a Text of its own, so that markup in it is shown, not interpreted
            console.print(part, markup=False, highlight=False)
        for kind, path in files:  # a path must stay on one line, to be copied
            console.print(_text(f"{kind}: {path}"), soft_wrap=True)
    # rich pads lines with blanks, which a log should not contain
    console.file.write("".join(f"{line.rstrip()}\n" for line in captured.get().rstrip("\n").split("\n")))


def _parts(page: Page, width: int) -> Iterator[RenderableType]:
    if page.notice:
        yield _text(page.notice)
        yield Text()
    yield _text(page.subject, style="dim")
    yield Text()
    yield _text(page.headline, style="bold green" if page.is_good_news else "bold")
    if page.strip:
        yield Text()
        yield from _table(page.strip.table, width)
        yield Text()
    if page.findings:
        yield _bullets(page.findings)
    for section in page.sections:
        yield Text()
        yield _text(section.title, style="bold")
        for place, block in enumerate(section.blocks):
            if place:
                yield Text()
            yield from _block(block, width)
    if items := [*_checks(page), *(("warning", warning, "yellow") for warning in page.warnings)]:
        yield Text()
        yield _items(items)
    yield Text()


def _checks(page: Page) -> Iterator[tuple[str, str, str]]:
    return ((check.outcome, f"{check.rule}: {check.reason}", STYLES[check.outcome]) for check in page.checks)


def _block(block: Block, width: int) -> Iterator[RenderableType]:
    match block:
        case Paragraph():
            yield _text(block.text)
        case Items():
            yield _bullets(block.items)
        case Facts():
            yield _items([(name, value, "dim") for name, value in block.facts])
        case Figure():
            yield from _figure(block)
        case Table():
            yield from _table(block, width)
        case Explorer():
            if block.figure.plots:
                yield from _figure(block.figure)
                yield Text()
            yield from _table(block.table, width)


def _figure(figure: Figure) -> Iterator[RenderableType]:
    """Yield a figure in plain characters or, if it has no such form, its caption and a description of each plot."""
    if figure.plain:
        yield Text("\n".join(map(plain, figure.plain.split("\n"))), no_wrap=True)
        return
    yield _text(figure.caption, style="dim")
    yield _bullets(tuple(f"{plot.name}. {plot.description}" for plot in figure.plots))


def _table(table: Table, width: int) -> Iterator[RenderableType]:
    if table.title:
        yield _text(table.title, style="bold")
    for number, places in enumerate(_pieces(table, width)):
        if number:
            yield Text()
        yield _piece(table, places, width)
    yield from (_text(note, style="dim") for note in table.notes)


def _pieces(table: Table, width: int) -> Iterator[list[int]]:
    """Yield the column indices of the parts that a wide table is split into; each has all columns of words."""
    columns = len(table.headings)
    names = list(range(max(table.names, 1) if table.names < columns else 1))
    piece = list(names)
    for place in range(len(names), columns):
        if len(piece) > len(names) and sum(_least(table, one) + 1 for one in (*piece, place)) - 1 > width:
            yield piece
            piece = list(names)
        piece.append(place)
    yield piece


def _least(table: Table, place: int) -> int:
    width = max(cell_len(row[place]) for row in (table.whole_headings, *table.rows))
    return min(width, NARROWEST) if place < table.names else width


def _widths(table: Table, places: Sequence[int], width: int) -> dict[int, int]:
    """Return the width of each column in characters, by its index.

    A column of numbers is as wide as its longest cell. A column of words is at least as wide as its longest word, if
    there is room for that; the width then left is shared by these columns, up to the longest cell of each.
    """
    natural = {place: max(cell_len(row[place]) for row in (table.whole_headings, *table.rows)) for place in places}
    least = {place: _least(table, place) for place in places}
    words = {place: max(least[place], _longest_word(table, place)) for place in places if place < table.names}
    room = width - len(places) + 1
    widths = least | words if sum((least | words).values()) <= room else least
    names = [place for place in places if place < table.names]
    for number, place in enumerate(names):
        share = (room - sum(widths.values())) // (len(names) - number)
        widths[place] = min(natural[place], widths[place] + max(share, 0))
    return widths


def _longest_word(table: Table, place: int) -> int:
    return max(cell_len(word) for row in (table.whole_headings, *table.rows) for word in row[place].split() or [""])


def _piece(table: Table, places: Sequence[int], width: int) -> RichTable:
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=0, show_edge=False)
    widths = _widths(table, places, width)
    for place in places:
        heading = _text(table.whole_headings[place])
        if place < table.names:
            drawn.add_column(heading, overflow="fold", width=widths[place])
        else:
            drawn.add_column(heading, no_wrap=True, justify="right", min_width=widths[place])
    for number, row in enumerate(table.rows):
        drawn.add_row(*(_text(row[place]) for place in places), style="bold" if number == table.marked else None)
    return drawn


def _bullets(items: tuple[str, ...]) -> RenderableType:
    return _items([("-", item, "") for item in items])


def _items(items: list[tuple[str, str, str]]) -> RenderableType:
    """Return a grid with a line for each item, given as heading, text beside it, and style of the heading."""
    grid = RichTable.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for heading, text, style in items:
        grid.add_row(_text(heading, style=style), _text(text))
    return grid


def _text(text: str, style: str = "") -> Text:
    return Text(plain(text), style=style)
