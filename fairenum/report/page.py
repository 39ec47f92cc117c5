"""What a page is made of: sections of paragraphs, lists, facts, tables and figures, all of it in words already."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from fairenum.report.svg import Plot
from fairenum.report.tables import Table


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; an aside is set smaller."""

    kind: ClassVar[str] = "paragraph"
    text: str
    is_aside: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """A list of sentences."""

    kind: ClassVar[str] = "items"
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and what they are."""

    kind: ClassVar[str] = "facts"
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """Plots side by side, with a caption that says what to see in them."""

    kind: ClassVar[str] = "figure"
    plots: tuple[Plot, ...]
    caption: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A table to look something up in; `is_folded` ones open on request."""

    kind: ClassVar[str] = "grid"
    table: Table
    is_folded: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row of the table of models: what it is called, what it says, and what a filter needs to know.

    Attributes
    ----------
    name
        What a link calls it.
    cells
        What the table shows.
    loss, drop
        What it loses in objective, and in accuracy on the selection split; None where it is undefined.
    gap
        On the selection split, as an exact decimal; empty if the model cannot be selected.
    marks
        Words that say how it is set apart: first, selected, front.
    """

    name: str
    cells: tuple[str, ...]
    loss: float
    drop: float | None
    gap: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explorer:
    """The models: plots and a table that are linked to each other, and what the run itself allowed and chose."""

    kind: ClassVar[str] = "explorer"
    figure: Figure
    table: Table
    candidates: tuple[Candidate, ...]
    largest_loss: float
    largest_drop: float
    rule: str


Block = Paragraph | Items | Facts | Figure | Grid | Explorer


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page with a heading and an anchor."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Tile:
    """A number to see first: what it is, what it is worth, and how sure that is."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page.

    Attributes
    ----------
    title
        Of the window.
    kicker, subject, headline
        What kind of report it is, about what, and its verdict.
    findings, warnings
        The sentences behind the verdict, and what to beware of.
    sections
        In their order.
    tiles
        The few numbers to see first.
    notice
        What a reader must know before anything else, such as that this is no legal advice.
    copy
        Makes the copy of the document that the page carries: JSON of at most so many bytes, and what it leaves out.
    copy_name
        What that copy is called as a file.
    """

    title: str
    kicker: str
    subject: str
    headline: str
    findings: tuple[str, ...]
    warnings: tuple[str, ...]
    sections: tuple[Section, ...]
    copy: Callable[[int], tuple[str, str]]
    copy_name: str
    tiles: tuple[Tile, ...] = ()
    notice: str = ""
