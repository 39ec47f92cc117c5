"""Phrases for error messages: quoted names, suggestions for misspelled names, and how to write an option."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return "; did you mean ...?" with the known name most similar to `name`; empty if no known name is similar."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    near = get_close_matches(name.casefold(), by_folded, n=1, cutoff=cutoff)
    return f"; did you mean {by_folded[near[0]]!r}?" if near else ""


def quoted(names: Iterable[str], limit: int = 6) -> str:
    """Return names in quotes, separated by commas; of many, the first `limit` and the number of the others."""
    names = list(names)
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(map(repr, names[:limit])) + more


def option(name: str, value: object, flag: str, *words: str) -> str:
    """Return an option as written in Python and on the command line, one flag per word: ``drop=['a'] (--drop a)``."""
    flags = " ".join(f"--{flag} {shlex.quote(word)}" for word in words)
    return f"{name}={value!r} ({flags})"


def without(*columns: object) -> str:
    """Return the option that leaves columns out, as written in Python and on the command line."""
    return option("drop", list(columns), "drop", *map(str, columns))


def as_categories(*columns: str) -> str:
    """Return the option that reads columns as categories, as written in Python and on the command line."""
    return option("categorical_columns", list(columns), "categorical-column", *columns)


def plain_number(number: float) -> str:
    """Return the text of a number, which reads back as exactly this number; whole numbers have no decimal point."""
    return repr(float(number)).removesuffix(".0")
