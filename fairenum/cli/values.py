"""The kinds of values that options take: how what was typed is read, and what is refused."""

from __future__ import annotations

import csv

import rich_click as click


class NumberOr(click.ParamType[float | str]):
    """A number, or one of a few words."""

    name = "number"

    def __init__(self, *words: str, kind: type[float] = float) -> None:
        self.words, self.kind = words, kind

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """Read one of the words, or else a number."""
        if value in self.words:
            return str(value)
        try:
            return self.kind(str(value))
        except ValueError:
            number = "whole number" if self.kind is int else "number"
            self.fail(f"{value!r} is neither a {number} nor {' or '.join(self.words)}", param, ctx)


class ClassWeights(click.ParamType[tuple[float, float] | str]):
    """One of a few words, or two numbers with a colon between them."""

    name = "weights"

    def __init__(self, *words: str) -> None:
        self.words = words

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float] | str:
        """Read one of the words, or the weights of favourable and unfavourable rows."""
        if value in self.words:
            return str(value)
        favourable, _, unfavourable = str(value).partition(":")
        try:
            return float(favourable), float(unfavourable)
        except ValueError:
            self.fail(f"{value!r} is neither {' nor '.join(self.words)} nor two weights such as 1:4", param, ctx)


class Sizes(click.ParamType[tuple[float, ...]]):
    """Three sizes between commas: rows if all are whole, else shares."""

    name = "sizes"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """Read three numbers."""
        texts = [text.strip() for text in str(value).split(",")]
        try:
            sizes = tuple(int(text) if text.isdecimal() else float(text) for text in texts)
        except ValueError:
            sizes = ()
        if len(sizes) != 3 or not all(size >= 0 for size in sizes):
            self.fail(f"{value!r} is not train, selection and holdout, such as 0.6,0.2,0.2 or 600,200,200", param, ctx)
        return sizes


class Budgets(click.ParamType[tuple[float, ...]]):
    """Budgets between commas: whole numbers are rows, others shares."""

    name = "budgets"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """Read one number or several."""
        texts = [text.strip() for text in str(value).split(",")]
        try:
            return tuple(int(text) if text.isdecimal() else float(text) for text in texts)
        except ValueError:
            self.fail(f"{value!r} is no list of rows or shares to flip, such as 10 or 0.01,0.05", param, ctx)


class Band(click.ParamType[tuple[str, list[float]]]):
    """A numeric column and the upper ends of the bands that are its groups."""

    name = "band"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, list[float]]:
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


class Merge(click.ParamType[tuple[str, list[str]]]):
    """A new group and the groups that it joins."""

    name = "merge"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, list[str]]:
        """Read ``name=group,group``."""
        name, _, members = str(value).partition("=")
        if name.strip() and (groups := split_names(members)):
            return name.strip(), groups
        raise click.BadParameter(
            f"{value!r} is not a new group and those that it joins, such as Other=a,b or race:Other=a,b", ctx, param
        )


def split_names(text: str) -> list[str]:
    """Split at commas; a name that holds one stands in double quotes."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), []) if name.strip()]
