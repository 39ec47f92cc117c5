"""A page with every kind of block in it, and what a terminal shows of it."""

import io
from dataclasses import replace

from rich.console import Console

from fairenum.render.page import (
    Candidate,
    Check,
    Copy,
    Explorer,
    Facts,
    Figure,
    Items,
    Page,
    Paragraph,
    Section,
    SpanningHeading,
    Table,
    Tile,
)
from fairenum.render.svg import Curve, Mark, Marks
from fairenum.render.svg_plot import Axis, Plot
from fairenum.render.terminal import print_page

PLOT = Plot("a plot", "it rises", Axis("x"), Axis("y"), (Curve((0.0, 1.0), (0.0, 1.0)),))
LINKED = replace(PLOT, layers=(Marks((Mark(0.0, 0.0, "model 1", link="#model-1"),)),), identity="scatter")
TABLE = Table("A table", ("name", "value"), (("one", "1.000"), ("two", "2.000")), marked=1, notes=("a note",))
EXPLORER = Explorer(
    Figure((LINKED,), "explore it"),
    Table(
        "Models",
        ("rank", "gap", "gap"),
        (("1", "0.1", "0.2"),),
        0,
        over=(SpanningHeading("", "", 1), SpanningHeading("both", "there", 2)),
    ),
    (Candidate("model-1", 0.0, 0.0, "0.1", ("first",)),),
    "The run allowed it.",
    performance="accuracy",
)
BLOCKS = (
    Paragraph("a paragraph"),
    Items(("an item", "another item")),
    Facts((("a fact", "its value"),)),
    Figure((PLOT,), "what to see", plain="o--o plain o--o"),
    Figure((PLOT,), "nothing plain", name="drawn"),
    TABLE,
    replace(TABLE, title="A folded table", is_folded=True),
    EXPLORER,
)


def whole_page(**changes) -> Page:
    page = Page(
        title="A title",
        name="name",
        kicker="A kicker",
        subject="A subject",
        headline="A headline",
        findings=("a finding",),
        warnings=("a warning",),
        sections=(Section("all", "All blocks", BLOCKS), *(Section(f"s{place}", f"Part {place}", ()) for place in "12")),
        copy=lambda _room: Copy('{"a":1}', "a copy"),
        copy_name="a.json",
        checks=(Check("accuracy>=0.5", "holds", "it does"), Check("accuracy>=0.9", "violated", "it does not")),
        tiles=(Tile.of("a tile", "0.5 [0.4, 0.6]"),),
        notice="A notice",
    )
    return replace(page, **changes)


def printed(page: Page, width: int = 80, files=(), **options) -> str:
    file = io.StringIO()
    print_page(page, Console(file=file, width=width, **options), files)
    return file.getvalue()
