"""The parts of a page: sections of paragraphs, lists, facts, tables and figures, all in words already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import ClassVar, Generic, Literal, TypeVar

from fairenum.render.svg import Arrow, scale_end
from fairenum.render.svg_plot import Plot


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
    """Names and their values."""

    kind: ClassVar[str] = "facts"
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """Plots side by side, with a caption.

    `plain` is a rendition in plain characters, if there is one; `name` is the name of its file without an ending, if it
    has one.
    """

    kind: ClassVar[str] = "figure"
    plots: tuple[Plot, ...]
    caption: str
    plain: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Over:
    """A heading over several headings, and its explanation."""

    name: str
    role: str
    columns: int = 1


Row_contra = TypeVar("Row_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Column(Generic[Row_contra]):
    """A column of a table: its key for scripts, its heading, how a cell is made of a row, and its note.

    Columns of words (`is_word`) come before those of numbers; `over` is a heading that it shares with its neighbours,
    and `narrow` the heading where room is short, if that is another one.
    """

    key: str
    heading: str
    cell: Callable[[Row_contra], str]
    note: str = ""
    over: Over | None = None
    is_word: bool = False
    narrow: str = ""

    @property
    def narrowed(self) -> Column[Row_contra]:
        """The column where room is short."""
        return replace(self, heading=self.narrow or self.heading)


def column_notes(columns: Iterable[Column[Row_contra]]) -> tuple[str, ...]:
    """The notes of columns, in their order."""
    return tuple(column.note for column in columns if column.note)


def _shared_headings(columns: Sequence[Column[Row_contra]]) -> tuple[Over, ...]:
    """The headings over columns, one for neighbours that share it; none if no column has one."""
    if not any(column.over for column in columns):
        return ()
    runs = groupby(columns, lambda column: column.over or Over("", ""))
    return tuple(replace(over, columns=len(list(run))) for over, run in runs)


@dataclass(frozen=True, slots=True)
class Table:
    """A table in words.

    The first `names` columns hold words, the others numbers. `title` is empty where the section's heading says it,
    `marked` is the row to stand out, `notes` explain the table line by line, `over` gives a heading over each column's
    heading (perhaps empty), and an `is_folded` table opens on request, where that is possible. `keys` are those of the
    columns, by which scripts find them; a table that no script reads may have none.
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
    keys: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        title: str,
        columns: Sequence[Column[Row_contra]],
        rows: Iterable[Row_contra],
        *,
        marked: int | None = None,
        notes: tuple[str, ...] = (),
    ) -> Table:
        """Make a table with a cell of every column for every row."""
        return cls(
            title=title,
            headings=tuple(column.heading for column in columns),
            rows=tuple(tuple(column.cell(row) for column in columns) for row in rows),
            names=sum(column.is_word for column in columns),
            marked=marked,
            notes=notes,
            over=_shared_headings(columns),
            keys=tuple(column.key for column in columns),
        )

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
    """The data of one model for the filter of the table of models.

    `name` is for links; `loss` and `drop` are losses of objective, and of performance on the selection split; `gap` is
    an exact decimal, empty if the model cannot be selected; `marks` are words such as incumbent, first, selected,
    front, guided, tilted.
    """

    name: str
    loss: float
    drop: float
    gap: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explorer:
    """The models as linked plots and table, with the tolerances and the choice of the run.

    There is one candidate for each row of the table. `rule` says what the run allowed, `performance` names the measure
    and the reference, and `least` is the gap on the selection split to undercut, as an exact decimal, or empty.
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
        """The end of the slider for the objective."""
        return max(candidate.loss for candidate in self.candidates)

    @property
    def largest_drop(self) -> float:
        """The end of the slider for the performance."""
        return max(0.0, *(candidate.drop for candidate in self.candidates))


@dataclass(frozen=True, slots=True)
class Strip:
    """Changes from one model to another: a table, and an arrow for each of its rows, or none at all."""

    table: Table
    arrows: tuple[Arrow, ...] = ()

    @property
    def top(self) -> float:
        """The end of the arrows' scale."""
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
    """A main number: its label, value and limits."""

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
    """A rule, its outcome, and the reason."""

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

    `title` is for the window, `name` the subject in a word; `kicker`, `subject` and `headline` give the kind of report,
    its subject and its verdict, with `findings`, `warnings` and the `strip` right below. `notice` comes before all
    else, such as that this is no legal advice. `checks` and `tiles`, the main numbers, are shown where they are seen
    first. `copy` makes the embedded data within a number of bytes, for a file called `copy_name`. `is_good_news` marks
    a welcome verdict.
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
