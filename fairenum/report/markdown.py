"""The report in Markdown, for a pull request or the summary of a CI job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairenum.report.attack import AttackView
from fairenum.report.page import Block, Facts, Figure, Grid, Items, Page, Paragraph
from fairenum.report.tables import Table
from fairenum.report.view import View

# What comes from outside is text: no markup, no HTML, no links, no mentions.
ESCAPES = str.maketrans(
    {sign: f"\\{sign}" for sign in "\\`*_[]|~#!"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;"}
)


def to_markdown(view: View) -> str:
    """Write a view in GitHub's Markdown."""
    return "\n".join(_lines(view)) + "\n"


def attack_to_markdown(view: AttackView, title: str, subject: str) -> str:
    """Write a simulated attack on its own."""
    return "\n".join([f"## {escaped(title)}", f"\n{escaped(subject)}", *_attack_lines(view)]) + "\n"


def page_to_markdown(page: Page, figures: Mapping[str, str]) -> str:
    """Write a page in Markdown; `figures` are the files of its figures by caption."""
    lines = [f"# {escaped(page.title)}", f"\n{escaped(page.subject)}", f"\n**{escaped(page.headline)}**\n"]
    lines += [f"- {escaped(finding)}" for finding in page.findings]
    lines += [f"- warning: {escaped(warning)}" for warning in page.warnings]
    for section in page.sections:
        lines.append(f"\n## {escaped(section.title)}")
        for block in section.blocks:
            lines += _block_lines(block, figures)
    return "\n".join(lines) + "\n"


def _block_lines(block: Block, figures: Mapping[str, str]) -> Iterator[str]:
    match block:
        case Paragraph():
            yield f"\n{escaped(block.text)}"
        case Items():
            yield "\n" + "\n".join(f"- {escaped(item)}" for item in block.items)
        case Facts():
            yield "\n" + "\n".join(f"- {escaped(name)}: {escaped(value)}" for name, value in block.facts)
        case Figure():
            yield f"\n![{escaped(block.plots[0].name)}]({figures[block.caption]})\n\n{escaped(block.caption)}"
        case Grid():
            yield from _table(block.table)


def escaped(text: str) -> str:
    """Write text so that Markdown shows it as it is."""
    return text.translate(ESCAPES).replace("://", "&#58;//").replace("www.", "www&#46;")


def _lines(view: View) -> Iterator[str]:
    yield f"## Fairness audit of {escaped(view.name)}"
    yield f"\n{escaped(view.subject)}"
    yield f"\n**{escaped(view.headline)}**\n"
    yield from (f"- {escaped(finding)}" for finding in view.findings)
    if view.judgements:
        rows = tuple((str(one.rule), one.outcome.value, one.reason) for one in view.judgements)
        yield from _table(Table("Rules", ("rule", "outcome", "why"), rows, names=3))
    if view.warnings:
        yield "\n### Warnings\n"
        yield from (f"- {escaped(warning)}" for warning in view.warnings)
    for table in (view.models, view.comparison, *view.methods, *view.groups):
        yield from _table(table)
    if view.attack:
        yield "\n### Label flips"
        yield from _attack_lines(view.attack)
    if view.files:
        yield "\n### Files\n"
        yield from (f"- {kind}: {escaped(path)}" for kind, path in view.files)


def _attack_lines(attack: AttackView) -> Iterator[str]:
    yield f"\n**{escaped(attack.headline)}**\n"
    yield from (f"- {escaped(finding)}" for finding in attack.findings)
    yield from (f"- warning: {escaped(warning)}" for warning in attack.warnings)
    yield "\n" + "\n".join(f"    {line}" for line in attack.curve.split("\n"))  # indented: shown as it is
    for table in attack.tables:
        yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    yield f"\n### {escaped(table.title)}\n"
    yield _row(table.headings)
    yield _row(tuple("---" if place < table.names else "---:" for place in range(len(table.headings))))
    for place, row in enumerate(table.rows):
        cells = tuple(map(escaped, row))
        yield _row(tuple(f"**{cell}**" if cell else "" for cell in cells) if place == table.marked else cells)
    if table.notes:
        yield "\n" + "  \n".join(map(escaped, table.notes))


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"
