"""The kinds of values that options take: how what was typed is read, and what is refused."""

from __future__ import annotations

import csv

import rich_click as click

from fairenum.checking import TINY, shown, within
from fairenum.document.ranges import NUMBERS, WHOLE


class Whole(click.IntRange):
    """A whole number of any length, whose range the manual tells and the configuration checks."""

    def __init__(self, option: str) -> None:
        low, high = WHOLE[option]
        super().__init__(low, high)

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a whole number."""
        try:
            return int(str(value))
        except ValueError:  # also of more digits than Python reads
            self.fail(f"{shown(value)} is not a valid integer", param, ctx)


class Number(click.FloatRange):
    """A number, whose range the manual tells and the configuration checks."""

    def __init__(self, option: str) -> None:
        low, high = NUMBERS[option]
        super().__init__(0.0 if low == TINY else low, high, min_open=low == TINY)

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number."""
        try:
            return float(str(value))
        except ValueError:
            self.fail(f"{shown(value)} is not a valid float", param, ctx)


class CheckedWhole(Whole):
    """A whole number that is no option of a configuration, and so is checked here."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a whole number; refuse one out of its range."""
        number, low, high = super().convert(value, param, ctx), int(self.min or 0), int(self.max or 0)
        if not low <= number <= high:
            self.fail(f"{shown(number)} is not {within('a whole number', low, high)}", param, ctx)
        return number


class CheckedNumber(Number):
    """A number that is no option of a configuration, and so is checked here."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number; refuse one out of its range."""
        number, low, high = super().convert(value, param, ctx), self.min or 0.0, self.max or 0.0
        if not low <= number <= high or (self.min_open and number == low):
            self.fail(f"{shown(number)} is not {within('a number', TINY if self.min_open else low, high)}", param, ctx)
        return number


class NumberOr(click.ParamType[float | str]):
    """A number, or one of a few words; the configuration checks its range."""

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
            self.fail(f"{shown(value)} is neither a {number} nor {' or '.join(self.words)}", param, ctx)


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
            self.fail(f"{shown(value)} is neither {' nor '.join(self.words)} nor two weights such as 1:4", param, ctx)


class Sizes(click.ParamType[tuple[float, ...]]):
    """Three sizes between commas: rows if all are whole, else shares."""

    name = "sizes"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """Read three numbers."""
        texts = [text.strip() for text in str(value).split(",")]
        try:
            sizes = tuple(int(text) if text.isdecimal() else float(text) for text in texts)
        except ValueError:  # also of more digits than Python reads
            sizes = ()
        if len(sizes) != 3 or not all(size >= 0 for size in sizes):
            self.fail(
                f"{shown(value)} is not train, selection and holdout, such as 0.6,0.2,0.2 or 600,200,200", param, ctx
            )
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
            self.fail(f"{shown(value)} is no list of rows or shares to flip, such as 10 or 0.01,0.05", param, ctx)


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
            f"{shown(value)} is not a column and the upper ends of its bands, such as age=25 or age=25,60", ctx, param
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
            f"{shown(value)} is not a new group and those that it joins, such as Other=a,b or race:Other=a,b",
            ctx,
            param,
        )


def split_names(text: str) -> list[str]:
    """Split at commas; a name that holds one stands in double quotes."""
    try:
        names = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        why = "it holds a line break outside of double quotes, or is far too long"
        raise click.BadParameter(f"{shown(text)} is no list of names: {why}") from error
    return [name.strip() for name in names if name.strip()]
