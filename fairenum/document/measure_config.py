"""The options of a measurement, checked when they are built; its document keeps them as they were resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar, TypedDict, get_args

from fairenum.checking import check_options, check_texts
from fairenum.document.cutoff import Cutoff, CutoffText
from fairenum.document.options import ABOUT_DATA, Options, require_part
from fairenum.document.ranges import numbers, whole
from fairenum.document.reading import Reading
from fairenum.document.terms import DecimalSign, Gap, SmallGroups
from fairenum.errors import ConfigError

# What is made of a table that nothing is learned from.
READ = ("bands", "decimal", "delimiter", "sheet", "merge", "only", "exclude", "tidy_groups")


@dataclass(frozen=True, slots=True)
class MeasureConfig(Options):
    """How decisions are measured, apart from the table that they are in.

    Parameters
    ----------
    reading
        How the table is read; of its options those about groups and about the file.
    cutoff
        Where a score is cut to make decisions of it: a number, ``rate=0.3``, ``base-rate`` or ``median``; None if a
        score is only measured, or cut at the median where it is all there is.
    lower_is_better
        Whether lower scores are favourable.
    metric
        The gap that the verdict on decisions against the first ones is about.
    primary
        The sensitive column, or the intersection ("sex & race"), that rules are about; the first if not given.
    reference
        The group of the primary column that others are compared with; its largest if not given.
    seed
        Of the bootstrap.
    confidence
        Of intervals and verdicts.
    min_group_size
        Groups with fewer rows are small.
    small_groups
        What becomes of small groups, and of rows without a group: "set-aside" shows them, but no gap looks at them
        while two others remain; "keep" compares them like the others.
    same_within
        A gap that differs by no more than this from that of the first decisions is the same.
    replications
        Of the bootstrap.
    data_source, data_dates
        Where the data come from, and from when to when they are, as its owner says it: for reports alone.
    """

    subject: ClassVar[str] = "a measurement"

    reading: Reading = field(default_factory=Reading)
    cutoff: CutoffText | None = None
    lower_is_better: bool = False
    metric: Gap = "demographic_parity_difference"
    primary: str | None = None
    reference: str | None = None
    seed: int = 0
    confidence: float = 0.95
    min_group_size: int = 30
    small_groups: SmallGroups = "set-aside"
    same_within: float = 0.02
    replications: int = 1000
    data_source: str | None = None
    data_dates: str | None = None

    def __post_init__(self) -> None:
        require_part(self.reading, "reading", Reading)
        check_texts(self, ABOUT_DATA)
        check_options(self, WORDS, WHOLE, NUMBERS, ("lower_is_better",))
        if self.cutoff is not None:
            object.__setattr__(self, "cutoff", str(Cutoff.of(self.cutoff)))
        plain = Reading()
        for option in fields(Reading):
            if option.name not in READ and getattr(self.reading, option.name) != getattr(plain, option.name):
                raise ConfigError(f"option {option.name!r} is for tables to learn from, not for a measurement")

    @property
    def fewest(self) -> int | None:
        """Rows that a compared group needs; None if all are compared."""
        return None if self.small_groups == "keep" else self.min_group_size


WORDS: Mapping[str, tuple[str, ...]] = {"metric": get_args(Gap), "small_groups": get_args(SmallGroups)}
WHOLE = whole("seed", "min_group_size", "replications")
NUMBERS = numbers("confidence", "same_within")


class MeasureOptions(TypedDict, total=False):
    """Every option of a measurement and of its reading by name, for those who give them one by one."""

    reading: Reading
    bands: Mapping[str, Sequence[float]]
    decimal: DecimalSign | None
    delimiter: str | None
    sheet: str | None
    merge: Mapping[str, Sequence[str]]
    only: Sequence[str]
    exclude: Sequence[str]
    tidy_groups: bool
    cutoff: str | float | None
    lower_is_better: bool
    metric: Gap
    primary: str | None
    reference: str | None
    seed: int
    confidence: float
    min_group_size: int
    small_groups: SmallGroups
    same_within: float
    replications: int
    data_source: str | None
    data_dates: str | None
