"""Kinds of values that options of an audit take, and what completes them."""

from __future__ import annotations

from typing import Any

import rich_click as click
from click.shell_completion import CompletionItem

METRICS = (
    "demographic_parity_difference",
    "equal_opportunity_difference",
    "equalized_odds_difference",
    "predictive_parity_difference",
)
METRIC_HELP = f"The gap to make small: {', '.join(METRICS)}."


class NumberOr(click.ParamType[float | str]):
    """A number, or one of a few words."""

    name = "number"

    def __init__(self, *words: str, kind: type[float] = float) -> None:
        self.words, self.kind = words, kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """Read one of the words, or else a number."""
        if value in self.words:
            return str(value)
        try:
            return self.kind(value)
        except ValueError:
            number = "whole number" if self.kind is int else "number"
            self.fail(f"{value!r} is neither a {number} nor {' or '.join(self.words)}", param, ctx)


class Sizes(click.ParamType[tuple[float, ...]]):
    """Three sizes between commas: rows if all are whole, else shares."""

    name = "sizes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """Read three numbers."""
        texts = [text.strip() for text in str(value).split(",")]
        try:
            sizes = tuple(int(text) if text.isdecimal() else float(text) for text in texts)
        except ValueError:
            sizes = ()
        if len(sizes) != 3:
            self.fail(f"{value!r} is not train, selection and holdout, such as 0.6,0.2,0.2 or 600,200,200", param, ctx)
        return sizes


class Band(click.ParamType[tuple[str, list[float]]]):
    """A numeric column and the upper ends of the bands that are its groups."""

    name = "band"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, list[float]]:
        """Read ``column=end,end``."""
        column, _, ends = str(value).rpartition("=")
        try:
            numbers = [float(end) for end in ends.split(",")]
        except ValueError:
            numbers = []
        if column and numbers:
            return column, numbers
        raise click.BadParameter(
            f"{value!r} is not a column and the upper ends of its bands, such as age=25 or age=25,60", ctx, param
        )


def merged_bands(bands: tuple[tuple[str, list[float]], ...]) -> dict[str, list[float]]:
    """Collect the ends of each column, in ascending order."""
    merged: dict[str, list[float]] = {}
    for column, ends in bands:
        merged[column] = sorted({*merged.get(column, []), *ends})
    return merged


def read_limit(_context: click.Context, _parameter: click.Parameter, limit: float | str) -> float | str | None:
    """Take the word for no limit."""
    return None if limit == "none" else limit


def read_delimiter(_context: click.Context, _parameter: click.Parameter, text: str | None) -> str | None:
    """Take what people type for a tab."""
    return "\t" if text in ("tab", "\\t") else text


def complete_data(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete bundled names; the shell completes files."""
    from fairenum.dataset import list_datasets

    cards = [card for card in list_datasets() if card.name.startswith(begun)]
    named = [CompletionItem(card.name, help=card.title) for card in cards]
    return named or [CompletionItem(begun, type="file")]


def complete_solver(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the names of solvers."""
    from fairenum.solvers.registry import list_solvers

    return [CompletionItem(info.name) for info in list_solvers() if info.name.startswith(begun)]
