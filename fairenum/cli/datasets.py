"""fairenum datasets: list the bundled datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from fairenum.cli.shared_options import complete_dataset

if TYPE_CHECKING:
    from rich.console import RenderableType

    from fairenum.tables import Card


@click.command()
@click.argument("name", required=False, shell_complete=complete_dataset)
def datasets(name: str | None) -> None:
    """List the bundled datasets, or show the card of the dataset NAME."""
    from rich.console import Console

    from fairenum.tables import list_datasets, read_card

    # Text of a card is never markup; without highlighting, a log and a terminal show the same.
    console = Console(markup=False, highlight=False)
    console.print(overview(list_datasets()) if name is None else details(read_card(name)))


def overview(cards: tuple[Card, ...]) -> RenderableType:
    """Return a table of datasets, one row each, that fits a terminal of 80 columns."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("name", "rows", "columns", "label", "favourable", "sensitive", "licence"):
        is_count = heading in ("rows", "columns")
        table.add_column(heading, justify="right" if is_count else "left", no_wrap=heading != "licence")
    for card in cards:
        table.add_row(
            card.name,
            str(card.rows),
            str(card.columns),
            card.label,
            card.favourable,
            "\n".join(card.sensitive) or "none",
            card.licence,
        )
    return table


def details(card: Card) -> RenderableType:
    """Return a table of the facts about one dataset."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for heading, lines in facts(card).items():
        if lines:
            table.add_row(heading, Text("\n".join(lines)))
    return table


def facts(card: Card) -> dict[str, list[str]]:
    """Return the facts about a dataset: lines of text by heading."""
    return {
        card.name: [card.title],
        "size": [f"{card.rows} rows, {card.columns} columns with the label"],
        "label": [f"{card.label}, favourable: {card.favourable}"],
        "sensitive": [_sensitive(card, column) for column in card.sensitive] or ["none"],
        "also kept out": list(card.also_sensitive),
        "left out": list(card.drop),
        "types": [f"{kind}: {', '.join(columns)}" for kind, columns in card.types.items()],
        "licence": [f"{card.licence}. {card.licence_note}"],
        "citation": [card.citation],
        "source": [f"{source.package} {source.version}: {source.path}" for source in card.source],
        "derived": [card.derived.strip()],
        "traits": [f"- {trait}" for trait in card.traits],
        "pitfalls": [f"- {pitfall}" for pitfall in card.pitfalls],
        "values": [
            f"{column}: {'; '.join(f'{value} = {meaning}' for value, meaning in meanings.items())}"
            for column, meanings in card.values.items()
        ],
        "file": [card.file],
        "sha256": [card.sha256],
    }


def _sensitive(card: Card, column: str) -> str:
    if column not in card.bands:
        return column
    return f"{column} (bands end at {', '.join(f'{end:g}' for end in card.bands[column])})"
