"""Phrases for error messages: quoted names, a likely intended name, and how to give an option."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the end of a sentence that suggests the nearest known name; empty if none is near."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    near = get_close_matches(name.casefold(), by_folded, n=1, cutoff=cutoff)
    return f"; did you mean {by_folded[near[0]]!r}?" if near else ""


def quoted(names: Iterable[str], limit: int = 6) -> str:
    """Return names in quotes, only the first few of many."""
    names = list(names)
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(map(repr, names[:limit])) + more


def option(name: str, value: object, flag: str, *words: str) -> str:
    """Return how to give an option, in Python and on the command line (once per word)."""
    flags = " ".join(f"--{flag} {shlex.quote(word)}" for word in words)
    return f"{name}={value!r} ({flags})"


def without(*columns: object) -> str:
    """Return how to leave columns out."""
    return option("drop", list(columns), "drop", *map(str, columns))


def as_categories(*columns: str) -> str:
    """Return how to have columns read as categories."""
    return option("categorical_columns", list(columns), "categorical-column", *columns)


def plain_number(number: float) -> str:
    """Return a number as text that reads back exactly, whole numbers without a point."""
    return repr(float(number)).removesuffix(".0")
