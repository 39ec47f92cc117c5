"""The reproduction as a page, verdicts first, and as the files that belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fairenum.document.reproduction import JudgedClaim, ReproductionDocument
from fairenum.rendering.html import to_html
from fairenum.rendering.markdown import to_markdown
from fairenum.rendering.page import Block, Facts, Figure, Items, Page, Paragraph, Section, Table, Tile
from fairenum.rendering.svg import grid
from fairenum.rendering.text import plain
from fairenum.report.embedded import copy_of
from fairenum.report.paper_figures import figures
from fairenum.report.wording import CLAIM_VERDICTS
from fairenum.report.wording import paper as wording
from fairenum.report.wording.reasons import reasons

FOLDER = "figures"
COLUMNS = 3  # plots beside each other in a file
# Anchor, title, claims and figures.
SECTIONS = (
    ("objective", "Near-optimal models", ("german_spread",), ("objective", "spread")),
    ("loss", "Test loss", ("lower_loss",), ("loss",)),
    ("time", "Running time", ("linear_time",), ("time",)),
    ("ties", "Injected COMPAS: ties", ("tied", "tied_but_different"), ("ties",)),
    ("parity", "Injected COMPAS: parity and error", ("raised", "fairer"), ("reference", "parity")),
)


def rendered(document: ReproductionDocument) -> dict[str, str]:
    """Write a run as an HTML page, in Markdown, and its figures as SVG: the text of each file by its path."""
    page = reproduction_page(document)
    drawn = {f"{FOLDER}/{figure.name}.svg": grid(figure.plots, columns=COLUMNS) for figure in page.figures}
    paths = {figure.name: f"{FOLDER}/{figure.name}.svg" for figure in page.figures}
    return {"paper.html": to_html(page), "paper.md": to_markdown(page, paths), **drawn}


def reproduction_page(document: ReproductionDocument, *, brief: bool = False) -> Page:
    """Put a reproduction on a page; in brief the verdicts alone."""
    verdicts = Section.of_table("verdicts", _verdicts(document))
    tried = [claim for claim in document.claims if claim.trials]
    return Page(
        title="EnumSV, reproduced",
        name="paper",
        kicker="Reproduction",
        subject=wording.subject(document),
        headline=wording.headline(document.claims),
        findings=() if brief else tuple(map(wording.finding, tried)),
        warnings=tuple(wording.warnings(document)),
        sections=(verdicts,) if brief else (verdicts, *_sections(document)),
        copy=copy_of(document),
        copy_name="fairenum-paper.json",
        tiles=tuple(_tiles(tried)),
    )


def _tiles(tried: list[JudgedClaim]) -> Iterator[Tile]:
    counts = Counter(claim.verdict for claim in tried)
    for verdict, (_, plural) in CLAIM_VERDICTS.items():
        yield Tile(f"claims that {plural}", str(counts[verdict]), f"of {len(tried)}")


def _verdicts(document: ReproductionDocument) -> Table:
    """Show every claim with its verdict."""
    rows = tuple(
        (wording.statement(claim), claim.verdict, f"{claim.true} of {claim.trials}", wording.share_limits(claim))
        for claim in document.claims
    )
    headings = ("claim", "verdict", "true", "interval")
    return Table("How often each claim is true", headings, rows, names=2, notes=(wording.VERDICT_NOTE,))


def _sections(document: ReproductionDocument) -> Iterator[Section]:
    drawn = {figure.name: figure for figure in figures(document)}
    judged = {claim.name: claim for claim in document.claims if claim.trials}
    for anchor, title, names, plots in SECTIONS:
        claims = [judged[name] for name in names if name in judged]
        if claims:
            shown = [drawn[name] for name in plots if name in drawn]
            yield Section(anchor, title, tuple(_blocks(document, claims, shown)))
    yield Section("unsaid", "What the paper leaves unsaid, and what was chosen", (Items(wording.UNSAID),))
    yield Section("run", "How it was run", (Facts(tuple(wording.facts(document))),))


def _blocks(document: ReproductionDocument, claims: list[JudgedClaim], shown: list[Figure]) -> Iterator[Block]:
    for claim in claims:
        yield Paragraph(wording.finding(claim))
        yield Items(reasons(document, claim.name))
    yield from shown
    yield from map(_parts, claims)


def _parts(claim: JudgedClaim) -> Table:
    """Show a claim by table and variant."""
    rows = tuple(
        (plain(part.experiment), plain(part.variant), f"{part.true} of {part.trials}", wording.share_limits(part))
        for part in claim.parts
    )
    return Table(wording.statement(claim), ("data", "variant", "true", "interval"), rows, names=2, is_folded=True)
