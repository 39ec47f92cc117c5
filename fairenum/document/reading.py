"""How a table is read: which columns take part, and what their cells mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TypedDict, get_args

from fairenum.checking import check_options, refuse_unknown
from fairenum.document.options import make_tuples
from fairenum.document.terms import Categorical


@dataclass(frozen=True, slots=True)
class Reading:
    """What is made of a table before anything is learned from it.

    Parameters
    ----------
    use_sensitive
        Let models learn from the sensitive columns, too.
    drop
        Columns to leave out altogether.
    bands
        For numeric sensitive columns, the upper ends of the bands that are the groups: ``{"age": [25]}``.
    categorical
        "ordinal" replaces each text by its rank in the sorted texts of the whole column, as benchmarks on coded tables
        do; "onehot" leaves texts to the encoding.
    delimiter
        What stands between the cells of a CSV file; a comma, or a tab for .tsv, if not given.
    """

    use_sensitive: bool = False
    drop: tuple[str, ...] = ()
    bands: Mapping[str, Sequence[float]] = field(default_factory=dict)
    categorical: Categorical = "onehot"
    delimiter: str | None = None

    def __post_init__(self) -> None:
        make_tuples(self, ("drop",))
        check_options(self, {"categorical": get_args(Categorical)}, {}, {}, ("use_sensitive",))


class ReadingOptions(TypedDict, total=False):
    """The options of `Reading` by name, for those who give them one by one."""

    use_sensitive: bool
    drop: Sequence[str]
    bands: Mapping[str, Sequence[float]]
    categorical: Categorical
    delimiter: str | None


def reading_of(reading: Reading | None, options: ReadingOptions) -> Reading:
    """Return how a table is read where some options are given by name; they win."""
    refuse_unknown("a table", options, [option.name for option in fields(Reading)])
    return replace(reading or Reading(), **options)  # type: ignore[arg-type]  # checked when it is built
