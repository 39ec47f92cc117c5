"""The parts of a page, as texts: sections of paragraphs, lists, facts, tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import ClassVar, Generic, Literal, TypeVar

from fairenum.render.svg import Arrow, scale_end
from fairenum.render.svg_plot import Plot


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of text."""

    kind: ClassVar[str] = "paragraph"
    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list of sentences."""

    kind: ClassVar[str] = "items"
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """A list of names with their values."""

    kind: ClassVar[str] = "facts"
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """Plots side by side, with a caption.

    `plain` is the figure in plain characters, if there is such a form; `name` is the name of its file without an
    ending, if the figure is saved.
    """

    kind: ClassVar[str] = "figure"
    plots: tuple[Plot, ...]
    caption: str
    plain: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class SpanningHeading:
    """A heading above the headings of several columns, and its explanation."""

    name: str
    role: str
    columns: int = 1


Row_contra = TypeVar("Row_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Column(Generic[Row_contra]):
    """A column of a table: its key for scripts, its heading, the function from a row to a cell, and its note.

    Columns of words (`is_word`) come before those of numbers. `over` is a spanning heading shared with neighbours;
    `narrow` replaces the heading in narrow tables.
    """

    key: str
    heading: str
    cell: Callable[[Row_contra], str]
    note: str = ""
    over: SpanningHeading | None = None
    is_word: bool = False
    narrow: str = ""

    @property
    def narrowed(self) -> Column[Row_contra]:
        """The column with its heading for narrow tables."""
        return replace(self, heading=self.narrow or self.heading)


def _spanning_headings(columns: Sequence[Column[Row_contra]]) -> tuple[SpanningHeading, ...]:
    """Return one spanning heading for each run of neighbours that share it; none if no column has one."""
    if not any(column.over for column in columns):
        return ()
    runs = groupby(columns, lambda column: column.over or SpanningHeading("", ""))
    return tuple(replace(over, columns=len(list(run))) for over, run in runs)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts.

    The first `names` columns hold words, the others numbers. `title` is empty if the section has the same heading,
    `marked` is the index of an emphasised row, `notes` are lines below the table, and `over` are spanning headings. An
    `is_folded` table is closed at first, in media that can open it. Scripts find columns by their `keys`.
    """

    kind: ClassVar[str] = "table"
    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    marked: int | None = None
    notes: tuple[str, ...] = ()
    over: tuple[SpanningHeading, ...] = ()
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
        notes: Iterable[str] = (),
        is_folded: bool = False,
    ) -> Table:
        """Make a table with one cell for each row and column; the notes of columns come before `notes`."""
        return cls(
            title=title,
            headings=tuple(column.heading for column in columns),
            rows=tuple(tuple(column.cell(row) for column in columns) for row in rows),
            names=sum(column.is_word for column in columns),
            marked=marked,
            notes=(*(column.note for column in columns if column.note), *notes),
            over=_spanning_headings(columns),
            is_folded=is_folded,
            keys=tuple(column.key for column in columns),
        )

    @property
    def whole_headings(self) -> tuple[str, ...]:
        """Each heading with its spanning heading, for media that have one line of headings."""
        names = [over.name for over in self.over for _ in range(over.columns)] or [""] * len(self.headings)
        return tuple(
            f"{heading}, {name}" if name else heading for heading, name in zip(self.headings, names, strict=True)
        )

    @property
    def untitled(self) -> Table:
        """The table without its title, which is shown elsewhere."""
        return replace(self, title="")


@dataclass(frozen=True, slots=True)
class Candidate:
    """The data of one model for the filter of the table of models.

    `name` is for links; `loss` is the loss of objective, `drop` that of performance on the selection split; `gap` is an
    exact decimal, empty if the model cannot be selected; `marks` are any of incumbent, first, selected, front, guided
    and tilted.
    """

    name: str
    loss: float
    drop: float
    gap: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explorer:
    """Linked plots and a table of all models, with filters.

    There is one candidate for each row of the table. `rule` states the tolerances and the choice of the run,
    `performance` names the measure and the reference, and `least` is the gap of the reference on the selection split,
    which a selected model must undercut, as an exact decimal; empty if there is no such gap.
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
        """The end of the slider for the loss of objective."""
        return max(candidate.loss for candidate in self.candidates)

    @property
    def largest_drop(self) -> float:
        """The end of the slider for the loss of performance."""
        return max(0.0, *(candidate.drop for candidate in self.candidates))


@dataclass(frozen=True, slots=True)
class Strip:
    """Changes from one model to another: a table, with an arrow for each of its rows or without arrows."""

    table: Table
    arrows: tuple[Arrow, ...] = ()

    @property
    def top(self) -> float:
        """The end of the arrows' scale."""
        return scale_end(self.arrows)


Block = Paragraph | Items | Facts | Figure | Table | Explorer


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page: an anchor for links, a heading and blocks."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]

    @classmethod
    def of_table(cls, anchor: str, table: Table) -> Section:
        """Make a section of one table and its title."""
        return cls(anchor, table.title, (table.untitled,))


@dataclass(frozen=True, slots=True)
class Tile:
    """A main number of a page: its label, value and limits."""

    label: str
    value: str
    note: str = ""

    @classmethod
    def of(cls, label: str, estimate: str) -> Tile:
        """Make a tile of an estimate such as "0.123 [0.100, 0.150]"."""
        value, _, limits = estimate.partition(" ")
        return cls(label, value, limits)


@dataclass(frozen=True, slots=True)
class Check:
    """A rule, its outcome, and the reason."""

    rule: str
    outcome: Literal["holds", "violated", "open"]
    reason: str


CHECK_COLUMNS: tuple[Column[Check], ...] = (
    Column("rule", "rule", lambda check: check.rule, is_word=True),
    Column("outcome", "outcome", lambda check: check.outcome, is_word=True),
    Column("reason", "why", lambda check: check.reason, is_word=True),
)


@dataclass(frozen=True, slots=True)
class Copy:
    """The data behind a page, as JSON that is safe within HTML, and a note on what it contains."""

    text: str
    note: str


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page.

    `title` is the title of the window, `name` the subject in a word; `kicker`, `subject` and `headline` are the kind of
    report, its subject and its verdict, with the `strip`, `tiles` (the main numbers), `findings` and `warnings` below.
    `notice` comes first, such as that this is no legal advice. `checks` are the rules and their outcomes. `copy` makes
    the embedded data, given the number of bytes it may have, for a file called `copy_name`. `is_good_news` marks a
    favourable verdict.
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
        return Table.of("Rules", CHECK_COLUMNS, self.checks)

    @property
    def figures(self) -> Iterator[Figure]:
        """All figures of the sections."""
        for section in self.sections:
            for block in section.blocks:
                if isinstance(block, Figure):
                    yield block
                elif isinstance(block, Explorer):
                    yield block.figure
