"""What a page is made of: sections of paragraphs, lists, facts, tables and figures, all of it in words already."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from fairenum.rendering.svg import Arrow, Plot, scale_end


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    kind: ClassVar[str] = "paragraph"
    text: str


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
    """Plots side by side.

    Attributes
    ----------
    plots
        What is drawn where there are pictures.
    caption
        What to see in them.
    plain
        The same in plain characters, where there is such a rendition.
    name
        What its file is called, without an ending, where it has a file of its own.
    """

    kind: ClassVar[str] = "figure"
    plots: tuple[Plot, ...]
    caption: str
    plain: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Over:
    """A heading over several headings: what they are about, and what that is for."""

    name: str
    role: str
    columns: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table in words.

    Attributes
    ----------
    title
        What it shows; empty where the heading of its section says that.
    headings
        One for each column.
    rows
        Their cells.
    names
        How many columns on the left hold words; the others hold numbers.
    marked
        The row to stand out, if any.
    notes
        What a reader needs to know to read it, line by line.
    over
        Headings over headings, for all columns; one without a name is empty.
    is_folded
        Whether it opens on request, where that is possible.
    """

    kind: ClassVar[str] = "table"
    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    marked: int | None = None
    notes: tuple[str, ...] = ()
    over: tuple[Over, ...] = ()
    is_folded: bool = False

    @property
    def whole_headings(self) -> tuple[str, ...]:
        """Each heading with the one over it, for media that have one line of headings."""
        names = [over.name for over in self.over for _ in range(over.columns)] or [""] * len(self.headings)
        return tuple(
            f"{heading}, {name}" if name else heading for heading, name in zip(self.headings, names, strict=True)
        )

    @property
    def untitled(self) -> Table:
        """The table where its title stands above it already."""
        return replace(self, title="")


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a filter needs to know about a row of the table of models.

    Attributes
    ----------
    name
        What a link calls it.
    loss, drop
        What it loses in objective, and in performance on the selection split.
    gap
        On the selection split, as an exact decimal; empty if the model cannot be selected.
    marks
        Words that say how it is set apart: incumbent, first, selected, front, guided, tilted.
    """

    name: str
    loss: float
    drop: float
    gap: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explorer:
    """The models: plots and a table that are linked to each other, and what the run itself allowed and chose.

    Attributes
    ----------
    figure, table
        What is linked.
    candidates
        One for each row of the table.
    rule
        What the run allowed, in words.
    performance
        What counts as performance, and against whom.
    least
        The gap on the selection split that a model has to undercut to be chosen, as an exact decimal; empty for none.
    """

    kind: ClassVar[str] = "explorer"
    figure: Figure
    table: Table
    candidates: tuple[Candidate, ...]
    rule: str
    performance: str
    least: str = ""

    @property
    def largest_loss(self) -> float:
        """Where the slider for the objective ends."""
        return max(candidate.loss for candidate in self.candidates)

    @property
    def largest_drop(self) -> float:
        """Where the slider for the performance ends."""
        return max(0.0, *(candidate.drop for candidate in self.candidates))


@dataclass(frozen=True, slots=True)
class Strip:
    """What changes, row by row, from one model to another: a table, and an arrow for each row where one can be drawn.

    Attributes
    ----------
    table
        All of it in words.
    arrows
        One for each row, or none at all.
    """

    table: Table
    arrows: tuple[Arrow, ...] = ()

    @property
    def top(self) -> float:
        """Where the scale of the arrows ends."""
        return scale_end(self.arrows)


Block = Paragraph | Items | Facts | Figure | Table | Explorer


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page with a heading and an anchor."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]

    @classmethod
    def of_table(cls, anchor: str, table: Table) -> Section:
        """Make a section of a table, whose title is that of the section."""
        return cls(anchor, table.title, (table.untitled,))


@dataclass(frozen=True, slots=True)
class Tile:
    """A number to see first: what it is, what it is worth, and how sure that is."""

    label: str
    value: str
    note: str = ""

    @classmethod
    def of(cls, label: str, estimate: str) -> Tile:
        """Set an estimate large, and its limits beside it."""
        value, _, limits = estimate.partition(" ")
        return cls(label, value, limits)


@dataclass(frozen=True, slots=True)
class Check:
    """A rule, what became of it, and why."""

    rule: str
    outcome: Literal["holds", "violated", "open"]
    reason: str


@dataclass(frozen=True, slots=True)
class Copy:
    """The data behind a page, as JSON that is safe within HTML, and what to say about it."""

    text: str
    note: str


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page.

    Attributes
    ----------
    title
        Of the window.
    name
        Of what it is about, in a word.
    kicker, subject, headline
        What kind of report it is, about what, and its verdict.
    findings, warnings
        The sentences behind the verdict, and what to beware of.
    sections
        In their order.
    copy
        Makes the copy of the data that a page carries, in at most so many bytes.
    copy_name
        What that copy is called as a file.
    checks
        What became of rules; every medium shows them where they are seen first.
    tiles
        The few numbers to see first where there is room to set them large; all of them stand in the sections, too.
    notice
        What a reader must know before anything else, such as that this is no legal advice.
    is_good_news
        Whether the verdict is what one hopes for.
    strip
        What stands behind the verdict at a glance; right below it in every medium.
    """

    title: str
    name: str
    kicker: str
    subject: str
    headline: str
    findings: tuple[str, ...]
    warnings: tuple[str, ...]
    sections: tuple[Section, ...]
    copy: Callable[[int], Copy]
    copy_name: str
    checks: tuple[Check, ...] = ()
    tiles: tuple[Tile, ...] = ()
    notice: str = ""
    is_good_news: bool = False
    strip: Strip | None = None

    @property
    def rules(self) -> Table:
        """The checks as a table."""
        rows = tuple((check.rule, check.outcome, check.reason) for check in self.checks)
        return Table("Rules", ("rule", "outcome", "why"), rows, names=3)

    @property
    def figures(self) -> Iterator[Figure]:
        """All figures that stand in its sections."""
        for section in self.sections:
            for block in section.blocks:
                if isinstance(block, Figure):
                    yield block
                elif isinstance(block, Explorer):
                    yield block.figure
