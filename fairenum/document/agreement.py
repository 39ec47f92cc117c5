"""What any part of a document may say of another, and how that is asked for: by the place of what does not go together.

Models are called by their ranks, sensitive columns and groups by their names, and counts are in the order of groups.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from fairenum.document.impact import GroupTable
from fairenum.document.measured_score import ColumnRanking, MeasuredScore
from fairenum.document.scores import ColumnScores

Fault = tuple[str, str]  # the place, and what is wrong there
Groups = dict[str, list[str]]  # the names of groups by sensitive column

# Cautions that are put in words by looking up a sensitive column.
OF_COLUMNS = {"few_trials", "low_power", "regrouped", "alike_groups", "set_aside", "small_group", "single_group"}
OF_COLUMNS |= {"wider_gap", "reversed", "levelled_down", "proxy"}


def ranked(ranks: Sequence[int], known: Collection[int], place: str) -> Iterator[Fault]:
    """Ask that models have such ranks."""
    for rank in ranks:
        if rank not in known:
            yield place, f"no model has rank {rank}; there are {len(known)}"


def named(name: str | None, known: Collection[str], place: str) -> Iterator[Fault]:
    """Ask that a name, if one is given, is known."""
    if name is not None and name not in known:
        yield place, f"{name!r} is none of {[*known]}"


def paired(column: str, pair: tuple[str, str], groups: Groups, place: str) -> Iterator[Fault]:
    """Ask that two groups are those of a sensitive column."""
    yield from named(column, groups, f"{place}.column")
    for name in pair:
        yield from named(name, groups.get(column, []), f"{place}.groups")


def about(code: str, column: str | None, columns: Collection[str], place: str) -> Iterator[Fault]:
    """Ask that a caution that looks up a column names one that is there."""
    if code in OF_COLUMNS and column not in columns:
        yield place, f"{code!r} is about one of the columns {[*columns]}"


def counted(scores: ColumnScores, rows: Sequence[int], place: str) -> Iterator[Fault]:
    """Ask for counts of each group, none of them above its rows."""
    if any(len(counts) != len(rows) for counts in (scores.selected, scores.true_positives)):
        yield place, "selected and true_positives have a number for each group"
    elif any(
        not one <= two <= three for one, two, three in zip(scores.true_positives, scores.selected, rows, strict=True)
    ):
        yield place, "of each group no more rows are selected than there are"
    if len(scores.shared) not in (0, len(rows)):
        yield place, "shared has a number for each group, or none"
    if scores.weights and any(
        len(getattr(scores.weights, name)) != len(rows) for name in scores.weights.__struct_fields__
    ):
        yield place, "weights have a number for each group"


def tabled(table: GroupTable, groups: Groups, place: str) -> Iterator[Fault]:
    """Ask that a table has the groups of its column, and refers to no others."""
    yield from named(table.column, groups, f"{place}.column")
    names = [row.group for row in table.groups]
    if names != groups.get(table.column):
        yield f"{place}.groups", f"the groups of {table.column!r} are {groups.get(table.column)}, not {names}"
    yield from named(table.reference, names, f"{place}.reference")
    yield from named(table.most_selected, names, f"{place}.most_selected")
    if any(row.selected > row.n for row in table.groups):
        yield f"{place}.groups", "of each group no more rows are selected than there are"


def scored(score: MeasuredScore, groups: Groups, place: str) -> Iterator[Fault]:
    """Ask that a score is measured group by group."""
    for number, column in enumerate(score.columns):
        at = f"{place}.columns[{number}]"
        yield from tabled(column.scoring, groups, f"{at}.scoring")
        yield from _ranking(column, at)


def _ranking(column: ColumnRanking, place: str) -> Iterator[Fault]:
    names = [row.group for row in column.scoring.groups]
    if [group.group for group in column.groups] != names:
        yield f"{place}.groups", f"the groups of {column.column!r} are {names}"
    if any(len(point.rates) != len(names) for point in column.sweep):
        yield f"{place}.sweep", "a cutoff has a rate for each group"
    if any({len(one.rows), len(one.rates)} != {len(names)} for one in column.calibration):
        yield f"{place}.calibration", "a range of scores has a rate for each group"
