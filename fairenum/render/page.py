"""The types that a page is made of: sections of paragraphs, lists, facts, tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import ClassVar, Generic, Literal, TypeVar

from fairenum.render.svg import Arrow, scale_end
from fairenum.render.svg_plot import Plot


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A block of running text."""

    kind: ClassVar[str] = "paragraph"
    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list of sentences."""

    kind: ClassVar[str] = "items"
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """A list of pairs of a name and a value."""

    kind: ClassVar[str] = "facts"
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """Plots side by side, with a caption.

    `plain` is the figure drawn in plain characters, empty if it has no such form; `name` is the name of the file that
    the figure is saved in, without extension, empty if it is not saved.
    """

    kind: ClassVar[str] = "figure"
    plots: tuple[Plot, ...]
    caption: str
    plain: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class SpanningHeading:
    """A heading above those of `columns` neighbouring columns; `role` says what these are for, such as "chosen by"."""

    name: str
    role: str
    columns: int = 1


Row_contra = TypeVar("Row_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Column(Generic[Row_contra]):
    """A column of a table, with the function that writes its cell for each row.

    `key` identifies the column in scripts, and `note` is shown below the table. Columns of words (`is_word`) come
    before columns of numbers. `over` is a spanning heading shared with neighbouring columns; `narrow` replaces the
    heading in narrow tables.
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
        """A copy of the column that has the heading for narrow tables."""
        return replace(self, heading=self.narrow or self.heading)


def _spanning_headings(columns: Sequence[Column[Row_contra]]) -> tuple[SpanningHeading, ...]:
    """Return one spanning heading for each sequence of adjacent columns that share it, or () if no column has one."""
    if not any(column.over for column in columns):
        return ()
    runs = groupby(columns, lambda column: column.over or SpanningHeading("", ""))
    return tuple(replace(over, columns=len(list(run))) for over, run in runs)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts.

    The first `names` columns hold words, the others numbers. `title` is empty if the heading of the section serves as
    title, `marked` is the index of the row to emphasise, `notes` are lines below the table, and `over` are headings
    that span columns. A table with `is_folded` is collapsed at first, in media where a reader can expand it. `keys`
    identify the columns in scripts.
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
        """Return a table with one cell for each row and column; the notes of columns come before `notes`."""
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
        """The heading of each column, followed by its spanning heading, for media with one line of headings."""
        names = [over.name for over in self.over for _ in range(over.columns)] or [""] * len(self.headings)
        return tuple(
            f"{heading}, {name}" if name else heading for heading, name in zip(self.headings, names, strict=True)
        )

    @property
    def untitled(self) -> Table:
        """A copy of the table without its title, for a section whose heading is that title."""
        return replace(self, title="")


@dataclass(frozen=True, slots=True)
class Candidate:
    """The attributes of one model that the filters of the table of models use.

    `name` is the target of links to the model. `loss` is the relative rise of the training loss above model 1's, and
    `drop` the loss of performance against the reference model, on the selection split. `gap` is the gap on the
    selection split as an exact decimal, empty if the model cannot be selected. `marks` are CSS classes: any of
    incumbent (the model in use), first (model 1), selected, front (on the Pareto front), and guided or tilted (the
    search that found the model).
    """

    name: str
    loss: float
    drop: float
    gap: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explorer:
    """Linked plots and a table of all models, with filters.

    `candidates` has one entry for each row of the table. `rule` is a sentence on the tolerances of the run and the
    chosen model. `performance` names the measure of performance, and the model that others are compared with. `least`
    is the gap of the model in use on the selection split, as an exact decimal: a selected model must have a smaller
    gap. It is empty if models are compared with model 1.
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
        """The largest rise of the training loss of any model, at which the slider for that loss ends."""
        return max(candidate.loss for candidate in self.candidates)

    @property
    def largest_drop(self) -> float:
        """The largest loss of performance of any model, at least 0, at which the slider for that loss ends."""
        return max(0.0, *(candidate.drop for candidate in self.candidates))


@dataclass(frozen=True, slots=True)
class Strip:
    """A table of how gaps change from one model to another; `arrows` has one arrow for each row, or none at all."""

    table: Table
    arrows: tuple[Arrow, ...] = ()

    @property
    def top(self) -> float:
        """The upper end of the scale on which all arrows are drawn; it begins at 0."""
        return scale_end(self.arrows)


Block = Paragraph | Items | Facts | Figure | Table | Explorer


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page: an anchor that links lead to, a heading and blocks."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]

    @classmethod
    def of_table(cls, anchor: str, table: Table) -> Section:
        """Return a section of one table, with the title of the table as heading."""
        return cls(anchor, table.title, (table.untitled,))


@dataclass(frozen=True, slots=True)
class Tile:
    """A main number of a page, shown large: its label, its value, and a note such as confidence limits."""

    label: str
    value: str
    note: str = ""

    @classmethod
    def of(cls, label: str, estimate: str) -> Tile:
        """Return a tile for an estimate with limits, written as "0.123 [0.100, 0.150]"."""
        value, _, limits = estimate.partition(" ")
        return cls(label, value, limits)


@dataclass(frozen=True, slots=True)
class Check:
    """A rule that a run is checked by, whether it holds, and the reason."""

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
    """The data behind a page, as JSON that is safe within HTML, and a note that says what the JSON contains."""

    text: str
    note: str


@dataclass(frozen=True, slots=True)
class Page:
    """A report or other page as texts, tables and figures, before it is rendered for a medium.

    `title` is the title of the browser window, `name` the short name of the subject in test reports. `kicker` is the
    kind of report, `subject` describes the data, and `headline` is the verdict. `notice` is a text shown above all of
    them, such as that this is no legal advice. `strip` and `tiles` (the main numbers) follow the headline, then
    `findings` and `warnings`. `checks` are the rules, and whether each holds. `copy` returns the JSON data to embed,
    given the largest number of bytes; a reader can save the data in a file called `copy_name`. `is_good_news` says that
    the verdict is favourable.
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
        """A table with a row for each rule: whether it holds, and why."""
        return Table.of("Rules", CHECK_COLUMNS, self.checks)

    @property
    def figures(self) -> Iterator[Figure]:
        """An iterator over all figures of the sections, including those of explorers."""
        for section in self.sections:
            for block in section.blocks:
                if isinstance(block, Figure):
                    yield block
                elif isinstance(block, Explorer):
                    yield block.figure
