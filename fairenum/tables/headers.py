"""The first line of a file: names of columns, or a row of data in a file without names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from fairenum.document.reading import number
from fairenum.errors import HeaderMissing
from fairenum.runtime.hints import quoted

LOOKED_AT = 1000  # first rows that the first line is compared with
FEWEST = 5  # with fewer rows it cannot be told
MOST_NAMED = 8  # columns of a sample header


def refuse_data_as_names(names: Sequence[str], columns: Sequence[Sequence[str]]) -> None:
    """Refuse a file whose first line is a row of data, given the cells of that line and those of the columns below.

    A cell of the first line looks like data if it is a number within the range of the numbers below, or a text that
    occurs below. It looks like a name if it is a text above numbers, or a text that does not occur below. Numbers at
    equal distances, such as years, are names.
    """
    if len(names) < 2 or len(columns[0]) < FEWEST or _are_counted(names):
        return
    votes = [_vote(name, cells[:LOOKED_AT]) for name, cells in zip(names, columns, strict=True)]
    if votes.count(1) < 2 or votes.count(1) <= 2 * votes.count(-1):
        return
    sample = [f"column{place}" for place in range(1, min(len(names), MOST_NAMED) + 1)]
    more = ",..." if len(names) > MOST_NAMED else ""
    raise HeaderMissing(
        f"the first line of the file looks like a row of data, not like names of columns: {quoted(names)}; add a first "
        f"line with a name for each of the {len(names)} columns, such as {','.join(sample)}{more}"
    )


def _are_counted(names: Sequence[str]) -> bool:
    """Tell whether three or more names are numbers at equal distances above 0, as 0, 1, 2 or 2019, 2020, 2021 are."""
    numbers = [found for name in names if not math.isnan(found := number(name))]
    steps = {other - one for one, other in pairwise(numbers)}
    return len(numbers) > 2 and len(steps) == 1 and steps.pop() > 0.0


def _vote(name: str, cells: Sequence[str]) -> int:
    """Return 1 if a cell of the first line looks like data, -1 if it looks like a name, and 0 if neither is clear."""
    below = [text for cell in cells if (text := cell.strip())]
    numbers = [found for text in below if not math.isnan(found := number(text))]
    if len(numbers) > len(below) / 2:
        value = number(name)
        if math.isnan(value):
            return -1 if name else 0
        return int(min(numbers) <= value <= max(numbers))
    is_repeated = len(set(below)) <= len(below) / 2  # else that a text does not occur says nothing
    return 1 if name in below else -is_repeated
