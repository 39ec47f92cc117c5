"""Options for reading a table: which columns take part, and what their cells mean."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal, get_args

from msgspec import Meta

from fairenum.document.options import (
    HUGE,
    IN_USE,
    SELECTION,
    Options,
    all_names,
    choice,
    declared,
    documented,
    flag,
    is_number,
    is_text,
    mapping,
    names,
    shown,
    spelled_flag,
    split_names,
    text,
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
    """The rule by which decisions are made from a score.

    Attributes
    ----------
    rule
        Value: select scores of at least `number`, or at most where lower is better; rate: select the share `number` of
        the rows; base-rate: select as many rows as have a favourable label; median: select scores above the median.
    number
        The score or the share, depending on the rule; None for the other rules.
    """

    rule: CutoffRule
    number: float | None = None

    @classmethod
    def of(cls, text: object) -> Cutoff:
        """Return the cutoff that is written as a number, ``rate=SHARE``, ``base-rate`` or ``median``; refuse others."""
        written = plain_number(text) if is_number(text, -HUGE, HUGE) else text  # type: ignore[arg-type]
        rule, share, value = read_rule("cutoff", written, PATTERN, "a number, rate=SHARE, base-rate or median")
        if share is not None:
            return cls("rate", share)
        return cls("value", value) if value is not None else cls(rule)  # type: ignore[arg-type]

    def __str__(self) -> str:
        number = "" if self.number is None else plain_number(self.number)
        return {"value": number, "rate": f"rate={number}"}.get(self.rule, self.rule)


MAX_LEVELS = 100  # twice the values of any column that people name one by one: countries, states, occupations
LONGEST_BANDS = 1000  # ends of the bands of one column


def _is_bands(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(ends, list | tuple)
        and 0 < len(ends) <= LONGEST_BANDS
        and all(is_number(end, -HUGE, HUGE) for end in ends)
        for ends in value.values()
    )


def _parse_band(text: str) -> tuple[str, list[float]]:
    """Return the numeric column and the upper ends of its bands that a text such as ``age=25,60`` states."""
    column, _, ends = text.rpartition("=")
    try:
        numbers = [float(end) for end in ends.split(",")]
    except ValueError:
        numbers = []
    if column and numbers:
        return column, numbers
    raise ValueError(f"{shown(text)} is not a column and the upper ends of its bands, such as age=25 or age=25,60")


def _joined_bands(bands: Iterable[tuple[str, list[float]]]) -> dict[str, list[float]]:
    """Return the upper ends of the bands of each column in ascending order, from options that may repeat a column."""
    joined: dict[str, list[float]] = {}
    for column, ends in bands:
        joined[column] = sorted({*joined.get(column, []), *ends})
    return joined


def _is_merge(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        name and isinstance(members, list | tuple) and members for name, members in value.items()
    )


def _kept_merge(merge: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the groups to join, keyed by the name of the new group; refuse a group that is listed twice."""
    named = [(name.rpartition(":")[0], member) for name, members in merge.items() for member in members]
    if twice := [member for column, member in named if named.count((column, member)) > 1]:
        raise ConfigError(f"group {twice[0]!r} is named twice in merge (--merge); join it under one name")
    return {name: tuple(members) for name, members in merge.items()}


def _parse_merge(text: str) -> tuple[str, list[str]]:
    """Return the new group and the groups that it joins from a text such as ``Other=a,b``."""
    name, _, members = text.partition("=")
    if name.strip() and (groups := split_names(members)):
        return name.strip(), groups
    raise ValueError(f"{shown(text)} is not a new group and those that it joins, such as Other=a,b or race:Other=a,b")


def _joined_merges(merges: Sequence[tuple[str, list[str]]]) -> dict[str, list[str]]:
    joined = dict(merges)
    if len(joined) < len(merges):
        raise ValueError("a new group is named twice; list all that it joins in one option")
    return joined


def canonical_cutoff(value: object) -> str:
    """Return the text of a cutoff as documents write it; refuse an invalid cutoff."""
    return str(Cutoff.of(value))


@documented
@dataclass(frozen=True, slots=True)
class Reading(Options):
    """Options for reading a table: its columns, groups, splits and weights, and the model in use."""

    subject: ClassVar[str] = "a table"

    use_sensitive: bool = flag(False, help="Let models also learn from the sensitive columns.")
    drop: tuple[str, ...] = names((), metavar="COLUMN", help="Column to leave out; repeatable.")
    bands: Mapping[str, Sequence[float]] = mapping(
        flags="--band",
        metavar="COLUMN=END,..",
        test=_is_bands,
        must=f"columns, each with a list of finite numbers, at most {LONGEST_BANDS}",
        parse=_parse_band,
        gather=_joined_bands,
        help="Upper ends of the bands of a numeric column, which are its groups; repeatable.",
    )
    categorical: Categorical = choice(
        "onehot",
        get_args(Categorical),
        help="How to code texts: a column for each (onehot), or their rank in sorted order (ordinal).",
    )
    categorical_columns: tuple[str, ...] = names(
        (), flags="--categorical-column", metavar="COLUMN", help="Column to read as texts: codes, dates; repeatable."
    )
    max_levels: int = whole(
        MAX_LEVELS,
        1,
        1_000_000,
        metavar="N",
        help="Number of texts of a column that are kept apart; rarer texts count as one.",
    )
    decimal: DecimalSign | None = choice(
        None, get_args(DecimalSign), unset="guessed by column", help="Decimal sign, where 1,234 or 1.234 is unclear."
    )
    delimiter: str | None = text(
        None,
        metavar="SIGN",
        parse=lambda sign: "\t" if sign in ("tab", "\\t") else sign,
        unset="guessed",
        help="Separator between the cells of a CSV file; tab for tabs.",
    )
    sheet: str | None = text(None, metavar="NAME", help="Sheet of a spreadsheet.", unset="the first")
    merge: Mapping[str, Sequence[str]] = mapping(
        metavar="NAME=GROUP,..",
        test=_is_merge,
        must="names of new groups, each with a list of groups to join",
        read=_kept_merge,
        parse=_parse_merge,
        gather=_joined_merges,
        help="New group and the groups that it joins; repeatable.",
    )
    only: tuple[str, ...] = names(
        (), metavar="GROUP,..", gather=all_names, help="Keep the rows of these groups alone: White, or race:White."
    )
    exclude: tuple[str, ...] = names(
        (), metavar="GROUP,..", gather=all_names, help="Leave out the rows of these groups."
    )
    tidy_groups: bool = flag(False, help="Join groups that differ by case or blanks only.")
    split_column: str | None = text(
        None,
        panel=SELECTION,
        metavar="COLUMN",
        help="Column that marks rows: train, selection, holdout; or train, test.",
    )
    time_column: str | None = text(
        None,
        panel=SELECTION,
        flags="--split-by-time",
        metavar="COLUMN",
        help="Column of numbers or dates: train on the earliest rows, hold out the latest.",
    )
    group_column: str | None = text(
        None, panel=SELECTION, metavar="COLUMN", help="Column of persons or firms, whose rows stay in one split."
    )
    weight: str | None = text(
        None,
        panel=SELECTION,
        metavar="COLUMN",
        help="Column of row weights for training, rates and intervals; 0 leaves a row out.",
    )
    incumbent: str | None = text(
        None,
        test=is_text,
        must="the name of a column; audit() takes a model itself, too",
        keyword="object",
        panel=IN_USE,
        metavar="COLUMN|none",
        help="Column of the decisions of the model in use, from which no model learns; none for no such model.",
    )
    incumbent_favourable: str | None = text(
        None, panel=IN_USE, metavar="VALUE", help="Favourable decision of the model in use, where it is not clear."
    )
    incumbent_score: str | None = text(
        None, panel=IN_USE, metavar="COLUMN", help="Column of the scores of the model in use."
    )
    incumbent_model: str | None = text(
        None, panel=IN_USE, metavar="PATH", help="File of the model in use: skops or ONNX; pickles are not opened."
    )
    incumbent_cutoff: CutoffText | None = text(
        None,
        read=canonical_cutoff,
        keyword="str | float | None",
        panel=IN_USE,
        flags="--cutoff",
        metavar="T|rate=R|base-rate|median",
        help="Where the score of the model in use is cut.",
    )
    incumbent_lower_is_better: bool = flag(
        False, panel=IN_USE, flags="--lower-is-better", help="Lower scores of the model in use are favourable."
    )
    incumbent_trained_on: str | None = text(
        None,
        panel=IN_USE,
        metavar="COLUMN|none",
        help="Column that marks the rows that the model in use was fitted on, which are left out; none if it saw none "
        "of these rows.",
    )

    def __post_init__(self) -> None:
        Options.__post_init__(self)
        _refuse_two_splits(self)
        _check_incumbent(self)

    @property
    def aside(self) -> dict[str, str]:
        """The columns that models do not learn from, such as row weights, keyed by the options that name them."""
        named = {name: getattr(self, name) for name in ASIDE}
        for name in CAN_BE_NONE:
            if named[name] == NONE:
                del named[name]
        return {name: column for name, column in named.items() if column is not None}

    def without_incumbent(self) -> Reading:
        """Return these options without a model in use, even if a bundled table names one by default.

        Rows that such a model was fitted on stay left out.
        """
        unset = Reading()
        others = {name: getattr(unset, name) for name in declared(Reading) if name.startswith("incumbent_")}
        return replace(self, incumbent=NONE, **{**others, "incumbent_trained_on": self.incumbent_trained_on})


# Options that name a column which is no feature.
ASIDE = (
    "split_column",
    "time_column",
    "group_column",
    "weight",
    "incumbent",
    "incumbent_score",
    "incumbent_trained_on",
)
NONE = "none"  # given instead of the name of a column: there is no model in use, or it was fitted on none of the rows
CAN_BE_NONE = ("incumbent", "incumbent_trained_on")


def spelled(option: str) -> str:
    """Return the name of an option in Python, followed by its command-line flag in parentheses."""
    return f"{option} ({declared(Reading)[option].flags or spelled_flag(option)})"


def _refuse_two_splits(reading: Reading) -> None:
    """Refuse a split by time together with a split column or a group column."""
    for other in ("split_column", "group_column"):
        if reading.time_column is not None and getattr(reading, other) is not None:
            raise ConfigError(
                f"a table cannot be divided by {spelled('time_column')} and by {spelled(other)} at once; give one"
            )


def _check_incumbent(reading: Reading) -> None:
    """Refuse two models in use, a cutoff for decisions, and a score without a cutoff."""
    cutoff = reading.incumbent_cutoff
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


def number(text: str) -> float:
    """Return the number that a text states, 1 for true and 0 for false; nan if the text is no number."""
    folded = text.casefold()
    if folded in ("true", "false"):
        return float(folded == "true")
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan
