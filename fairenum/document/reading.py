"""Reading options: which columns of a table take part, and what their cells mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Literal, TypedDict, get_args

from msgspec import Meta

from fairenum.document.options import (
    HUGE,
    LONGEST_BANDS,
    check_options,
    is_number,
    make_tuples,
    refuse_unknown,
    require,
    whole,
)
from fairenum.document.terms import Categorical, DecimalSign
from fairenum.document.training import NUMBER, read_rule
from fairenum.errors import ConfigError
from fairenum.runtime.hints import plain_number

CutoffRule = Literal["value", "rate", "base-rate", "median"]
PATTERN = rf"(?:base-rate|median|rate=({NUMBER})|({NUMBER}))"


# How a cutoff is written in options and documents.
CutoffText = Annotated[str, Meta(pattern=f"^{PATTERN}$")]


@dataclass(frozen=True, slots=True)
class Cutoff:
    """The rule by which a score is cut into decisions.

    Attributes
    ----------
    rule
        Value: select scores of at least `number`, or at most where lower is better; rate: select this share of the
        rows; base-rate: select as many rows as have a favourable label; median: select scores above the median.
    number
        The value, or the share.
    """

    rule: CutoffRule
    number: float | None = None

    @classmethod
    def of(cls, text: object) -> Cutoff:
        """Read a cutoff: a number, ``rate=SHARE``, ``base-rate`` or ``median``."""
        written = plain_number(text) if is_number(text, -HUGE, HUGE) else text  # type: ignore[arg-type]
        rule, share, value = read_rule("cutoff", written, PATTERN, "a number, rate=SHARE, base-rate or median")
        if share is not None:
            return cls("rate", share)
        return cls("value", value) if value is not None else cls(rule)  # type: ignore[arg-type]

    def __str__(self) -> str:
        number = "" if self.number is None else plain_number(self.number)
        return {"value": number, "rate": f"rate={number}"}.get(self.rule, self.rule)


MAX_LEVELS = 100  # twice the values of any column that people name one by one: countries, states, occupations


@dataclass(frozen=True, slots=True)
class Reading:
    """Options for reading a table before anything is learned from it.

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
    categorical_columns
        Columns to read as texts even if they look like numbers or dates: codes written in digits, dates to be used as
        values.
    max_levels
        The most values of a categorical column that get a 0/1 column each: all but the most frequent ones in the
        training rows share one, "(other)".
    decimal
        The decimal sign, "comma" or "point", where "1,234" could be read either way; by default told from each column.
    delimiter
        The separator between the cells of a CSV file; by default told from its first lines.
    sheet
        The sheet of a spreadsheet; by default the first.
    merge
        Groups to join, by their new name: ``{"Other": ["a", "b"]}``, or ``{"race:Other": ["a", "b"]}`` to name the
        sensitive column.
    only, exclude
        Groups to audit alone, and groups to leave out: ``"White"``, or ``"race:White"``.
    tidy_groups
        Join groups whose names differ by case or blanks only.
    split_column
        Column that assigns each row to a split: train, selection and holdout, or train and test.
    time_column
        Column of numbers or dates to divide by: the earliest rows are trained on, the latest held out.
    group_column
        Column of persons, firms or the like, whose rows stay together in one split.
    weight
        Column of row weights, for training, every rate and every interval; 0 leaves a row out.
    incumbent
        Column with the decisions of the model in use, from which no model learns; "none" for no model in use, whatever
        the card of a bundled table says.
    incumbent_favourable
        Favourable value of the decisions of the model in use, where it is not clear.
    incumbent_score
        Column with the score of the model in use.
    incumbent_model
        File of the model in use: skops or ONNX.
    incumbent_cutoff
        Cutoff of the score of the model in use: a number, ``rate=0.3``, ``base-rate`` or ``median``.
    incumbent_lower_is_better
        Whether lower scores of the model in use are favourable.
    """

    use_sensitive: bool = False
    drop: tuple[str, ...] = ()
    bands: Mapping[str, Sequence[float]] = field(default_factory=dict)
    categorical: Categorical = "onehot"
    categorical_columns: tuple[str, ...] = ()
    max_levels: int = MAX_LEVELS
    decimal: DecimalSign | None = None
    delimiter: str | None = None
    sheet: str | None = None
    merge: Mapping[str, Sequence[str]] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    tidy_groups: bool = False
    split_column: str | None = None
    time_column: str | None = None
    group_column: str | None = None
    weight: str | None = None
    incumbent: str | None = None
    incumbent_favourable: str | None = None
    incumbent_score: str | None = None
    incumbent_model: str | None = None
    incumbent_cutoff: CutoffText | None = None
    incumbent_lower_is_better: bool = False

    def __post_init__(self) -> None:
        make_tuples(self, ("drop", "categorical_columns", "only", "exclude"))
        words = {"categorical": get_args(Categorical), "decimal": get_args(DecimalSign)}
        flags = ("use_sensitive", "tidy_groups", "incumbent_lower_is_better")
        check_options(self, words, whole("max_levels"), {}, flags, optional=("decimal",))
        _check_bands(self)
        _check_merge(self)
        object.__setattr__(self, "merge", {name: tuple(members) for name, members in self.merge.items()})
        _refuse_two_splits(self)
        _check_incumbent(self)

    @property
    def aside(self) -> dict[str, str]:
        """The columns that are no features, such as splits and weights, by the options that name them."""
        named = {name: getattr(self, name) for name in ASIDE}
        if self.incumbent == NONE:
            del named["incumbent"]
        return {name: column for name, column in named.items() if column is not None}

    def without_incumbent(self) -> Reading:
        """Return these options without a model in use, whatever the card of a bundled table says."""
        return replace(
            self,
            incumbent=NONE,
            incumbent_favourable=None,
            incumbent_score=None,
            incumbent_model=None,
            incumbent_cutoff=None,
            incumbent_lower_is_better=False,
        )


# Options that name a column which is no feature, and their names on the command line.
ASIDE = {
    "split_column": "split-column",
    "time_column": "split-by-time",
    "group_column": "group-column",
    "weight": "weight",
    "incumbent": "incumbent",
    "incumbent_score": "incumbent-score",
}
NONE = "none"  # in the place of a column: there is no model in use


def spelled(option: str) -> str:
    """Spell an option that names a column, for Python and for the command line."""
    return f"{option} (--{ASIDE[option]})"


def _refuse_two_splits(reading: Reading) -> None:
    """Refuse a split by time together with a split column or a group column."""
    for other in ("split_column", "group_column"):
        if reading.time_column is not None and getattr(reading, other) is not None:
            raise ConfigError(
                f"a table cannot be divided by {spelled('time_column')} and by {spelled(other)} at once; give one"
            )


def _check_incumbent(reading: Reading) -> None:
    """Refuse two models in use, and a cutoff that does not fit."""
    cutoff = reading.incumbent_cutoff
    is_column = reading.incumbent is None or isinstance(reading.incumbent, str)
    require(reading, "incumbent", is_column, "the name of a column; audit() takes a model itself, too")
    if cutoff is not None:
        object.__setattr__(reading, "incumbent_cutoff", str(Cutoff.of(cutoff)))
    if reading.incumbent_model is not None and (reading.incumbent, reading.incumbent_score) != (None, None):
        raise ConfigError(
            "the model in use is given twice, as a file (incumbent_model, --incumbent-model) and as a column; give one"
        )
    if reading.incumbent not in (None, NONE) and cutoff is not None:
        raise ConfigError(
            f"column {reading.incumbent!r} holds decisions (--incumbent), which are not cut; leave out the cutoff "
            "(incumbent_cutoff, --cutoff), or name the score alone (--incumbent-score)"
        )
    if reading.incumbent_score is not None and reading.incumbent in (None, NONE) and cutoff is None:
        raise ConfigError(
            f"a score decides where it is cut; say where {reading.incumbent_score!r} is with incumbent_cutoff=... "
            "(--cutoff), such as 0.5, rate=0.3 or base-rate"
        )


def _check_bands(reading: Reading) -> None:
    """Refuse bands whose ends are not finite numbers."""
    is_plan = isinstance(reading.bands, Mapping) and all(
        isinstance(ends, list | tuple)
        and 0 < len(ends) <= LONGEST_BANDS
        and all(is_number(end, -HUGE, HUGE) for end in ends)
        for ends in reading.bands.values()
    )
    require(reading, "bands", is_plan, f"columns, each with a list of finite numbers, at most {LONGEST_BANDS}")


def _check_merge(reading: Reading) -> None:
    """Refuse to join groups under no name, or one group under two names."""
    is_plan = isinstance(reading.merge, Mapping) and all(
        name and isinstance(members, list | tuple) and members for name, members in reading.merge.items()
    )
    require(reading, "merge", is_plan, "names of new groups, each with a list of groups to join")
    named = [(name.rpartition(":")[0], member) for name, members in reading.merge.items() for member in members]
    if twice := [member for column, member in named if named.count((column, member)) > 1]:
        raise ConfigError(f"group {twice[0]!r} is named twice in merge (--merge); join it under one name")


class ReadingOptions(TypedDict, total=False):
    """The options of `Reading` as keyword arguments."""

    use_sensitive: bool
    drop: Sequence[str]
    bands: Mapping[str, Sequence[float]]
    categorical: Categorical
    categorical_columns: Sequence[str]
    max_levels: int
    decimal: DecimalSign | None
    delimiter: str | None
    sheet: str | None
    merge: Mapping[str, Sequence[str]]
    only: Sequence[str]
    exclude: Sequence[str]
    tidy_groups: bool
    split_column: str | None
    time_column: str | None
    group_column: str | None
    weight: str | None
    incumbent: object
    incumbent_favourable: str | None
    incumbent_score: str | None
    incumbent_model: str | None
    incumbent_cutoff: str | float | None
    incumbent_lower_is_better: bool


def reading_of(reading: Reading | None, options: ReadingOptions) -> Reading:
    """Return the reading options with some changed by name."""
    refuse_unknown("a table", options, [option.name for option in fields(Reading)])
    return replace(reading or Reading(), **options)  # type: ignore[arg-type]  # checked when it is built


def number(text: str) -> float:
    """Read a text as a plain number, true as 1 and false as 0; nan if it is no number."""
    folded = text.casefold()
    if folded in ("true", "false"):
        return float(folded == "true")
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan
