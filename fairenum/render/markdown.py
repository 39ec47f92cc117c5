"""Conversion of a page to Markdown, for a file, a pull request or the summary of a CI job."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from fairenum.render.page import Block, Explorer, Facts, Figure, Items, Page, Paragraph, Section, Table
from fairenum.runtime.formatting import plain

# Signs of markup, HTML and formulas, which are to be shown as they are.
ESCAPES = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]|~#!$^"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"})
# GitHub looks for mentions, references, addresses and emoji after it has read the Markdown, when escaped signs are
# plain again. An empty comment within them prevents that, and is not shown.
BREAK = "<!-- -->"
LINKED = re.compile(
    r"@(?=\w)"  # a person, a team, an address
    r"|\\#(?=\w)"  # an issue or a pull request
    r"|(?i:\bGH)(?=-\d)"  # the same
    r"|:(?=//)|(?i:\bwww)(?=\.)|(?i:\b(?:mailto|xmpp)(?=:))"  # an address of a page
    r"|:(?=[\w+-]+:)"  # an emoji
)
COMMIT = re.compile(r"\b(?=\d*[a-fA-F])[0-9a-fA-F]{7,40}\b")
# The beginning of a line that would become a list or a heading.
BLOCK = re.compile(r"^(\d{0,9})([-+](?=\s|$)|-+(?=\s*$)|=+(?=\s*$)|(?<=\d)[.)](?=\s|$))")


def to_markdown(page: Page, figures: Mapping[str, str] | None = None) -> str:
    """Return a page in GitHub's Markdown.

    `figures` maps the names of figures to the paths of their image files. Figures that are not in it are drawn in plain
    characters or, where they have no such form, described in words.
    """
    return "\n".join(_lines(page, figures or {})) + "\n"


def escaped(text: str) -> str:
    """Return a text in which Markdown finds no markup, and GitHub finds nothing to link."""
    inert = LINKED.sub(lambda found: found[0] + BREAK, plain(text).strip().translate(ESCAPES))
    inert = COMMIT.sub(lambda found: BREAK.join(re.findall(".{1,6}", found[0])), inert)
    return BLOCK.sub(r"\1\\\2", inert, count=1)


def _lines(page: Page, files: Mapping[str, str]) -> Iterator[str]:
    yield f"# {escaped(page.title)}"
    if page.notice:
        yield f"\n{escaped(page.notice)}"
    yield f"\n{escaped(page.subject)}"
    yield f"\n**{escaped(page.headline)}**"
    if page.strip:
        yield from _table(page.strip.table)
    if page.findings:
        yield _list(page.findings)
    if page.checks:
        yield from _section(Section.of_table("rules", page.rules), files)
    if page.warnings:
        yield from _section(Section("warnings", "Warnings", (Items(page.warnings),)), files)
    for section in page.sections:
        yield from _section(section, files)


def _section(section: Section, files: Mapping[str, str]) -> Iterator[str]:
    yield f"\n## {escaped(section.title)}"
    for block in section.blocks:
        yield from _block(block, files)


def _block(block: Block, files: Mapping[str, str]) -> Iterator[str]:
    match block:
        case Paragraph():
            yield f"\n{escaped(block.text)}"
        case Items():
            yield _list(block.items)
        case Facts():
            yield _list(tuple(f"{name}: {value}" for name, value in block.facts))
        case Figure():
            yield from _figure(block, files)
        case Table():
            yield from _table(block)
        case Explorer():
            yield from _figure(block.figure, files)
            yield from _table(block.table)


def _list(items: tuple[str, ...]) -> str:
    return "\n" + "\n".join(f"- {escaped(item)}" for item in items)


def _figure(figure: Figure, files: Mapping[str, str]) -> Iterator[str]:
    if not figure.plots:
        return
    if figure.name in files:
        yield f"\n![{escaped(figure.plots[0].name)}]({files[figure.name]})"
    elif figure.plain:
        yield _fenced(figure.plain)
    else:
        yield _list(tuple(f"{plot.name}. {plot.description}" for plot in figure.plots))
    yield f"\n{escaped(figure.caption)}"


def _fenced(text: str) -> str:
    # a fence needs more backticks than the text has in a row
    fence = "`" * (1 + max(2, *(len(run) for run in re.findall("`*", text))))
    return f"\n{fence}text\n{text}\n{fence}"


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield f"\n### {escaped(table.title)}"
    yield "\n" + _row(tuple(map(escaped, table.whole_headings)))
    yield _row(tuple("---" if place < table.names else "---:" for place in range(len(table.headings))))
    for place, row in enumerate(table.rows):
        cells = tuple(map(escaped, row))
        yield _row(tuple(f"**{cell}**" if cell else "" for cell in cells) if place == table.marked else cells)
    if table.notes:
        yield "\n" + "  \n".join(map(escaped, table.notes))


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"
