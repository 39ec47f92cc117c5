"""Phrases of messages: names in quotes, and the known name that was probably meant."""

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


def plain_number(number: float) -> str:
    """Write a number so that it is read as the same one; a whole one without its point."""
    return repr(float(number)).removesuffix(".0")
