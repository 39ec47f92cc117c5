"""Phrases of messages: names in quotes, the known name that was probably meant, and how to give an option."""

import shlex
from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Suggest the nearest known name as the end of a sentence; nothing if none is near."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    near = get_close_matches(name.casefold(), by_folded, n=1, cutoff=cutoff)
    return f"; did you mean {by_folded[near[0]]!r}?" if near else ""


def quoted(names: Iterable[str], limit: int = 6) -> str:
    """List names in quotes, the first few of them if they are many."""
    names = list(names)
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(map(repr, names[:limit])) + more


def option(name: str, value: object, flag: str, *words: str) -> str:
    """Say how to give an option, in Python and on the command line, where it stands once for each word."""
    flags = " ".join(f"--{flag} {shlex.quote(word)}" for word in words)
    return f"{name}={value!r} ({flags})"


def without(*columns: object) -> str:
    """Say how to leave columns out."""
    return option("drop", list(columns), "drop", *map(str, columns))


def as_categories(*columns: str) -> str:
    """Say how to have columns taken for texts, whatever they look like."""
    return option("categorical_columns", list(columns), "categorical-column", *columns)


def plain_number(number: float) -> str:
    """Write a number so that it is read as the same one; a whole one without its point."""
    return repr(float(number)).removesuffix(".0")
