"""What to beware of when reading a measurement, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast, get_args

from fairenum.document.measure import (
    MeasureCaution,
    MeasureCautionCode,
    MeasuredColumn,
    MeasuredDecisions,
    MeasureDocument,
)
from fairenum.document.measure_cautions import missed_rate, unseen_difference
from fairenum.document.terms import RemarkKind
from fairenum.phrases import quoted
from fairenum.rendering.numbers import counted, percent
from fairenum.rendering.text import shortened
from fairenum.report.wording import LONGEST, groups, remarks
from fairenum.report.wording.measure import title


def warnings(document: MeasureDocument) -> tuple[str, ...]:
    """List what to beware of."""
    return tuple(shortened(MESSAGES[caution.code](document, caution), LONGEST) for caution in document.warnings)


def _whose(document: MeasureDocument, caution: MeasureCaution) -> MeasuredDecisions:
    return document.decisions[(caution.decision or 1) - 1]


def _undecided(document: MeasureDocument, _caution: MeasureCaution) -> str:
    data = document.dataset
    everyone = max(data.rows + data.undecided, 1)
    columns = ", ".join(f"{rows} in {column!r}" for column, rows in data.left_out.items())
    return (
        f"{counted(data.undecided, 'row')} of {everyone} ({percent(data.undecided / everyone)}) without a decision or "
        f"a score were left out ({columns}); if that happens to some groups more often than to others, rates mislead"
    )


def _no_cutoff(_document: MeasureDocument, _caution: MeasureCaution) -> str:
    return (
        "no cutoff was given, so whoever scores above the median counts as selected; give the one in use with "
        "cutoff=... (--cutoff)"
    )


def _missed_rate(document: MeasureDocument, caution: MeasureCaution) -> str:
    found = _whose(document, caution)
    wanted, selected = percent(missed_rate(document, found)), percent(found.selection_rate.value)
    return f"{title(found, document)} selects {selected} instead of {wanted}, as {found.tied} rows have one score there"


def _follows_label(document: MeasureDocument, caution: MeasureCaution) -> str:
    found = title(_whose(document, caution), document)
    return (
        f"{found} says of every row what the label {document.dataset.label!r} says: either the label was made from the "
        "decisions, or one column was named for the other"
    )


def _constant(document: MeasureDocument, caution: MeasureCaution) -> str:
    return f"{title(_whose(document, caution), document)} decides all rows alike, so that there is no gap to see"


def _regrouped(document: MeasureDocument, caution: MeasureCaution) -> str:
    return groups.joined_or_left(str(caution.column), _column(document, caution).regrouped)


def _alike_groups(document: MeasureDocument, caution: MeasureCaution) -> str:
    return groups.spelt_alike(str(caution.column), _column(document, caution).regrouped)


def _column(document: MeasureDocument, caution: MeasureCaution) -> MeasuredColumn:
    return next(column for column in document.dataset.sensitive if column.column == caution.column)


def _set_aside(document: MeasureDocument, caution: MeasureCaution) -> str:
    found = document.decisions[0].of_column(str(caution.column)).impact.groups
    names = quoted(group.group for group in found if not group.is_compared)
    return (
        f"{caution.column}: shown, but set aside from gaps, as they have fewer than {document.config.min_group_size} "
        f"rows or no value: {names}; small_groups='keep' (--small-groups keep) brings them back"
    )


def _small_group(document: MeasureDocument, caution: MeasureCaution) -> str:
    found = document.decisions[0].of_column(str(caution.column)).impact.groups
    names = quoted(group.group for group in found if group.is_compared and group.is_small)
    return f"{caution.column}: groups with fewer than {document.config.min_group_size} rows: {names}"


def _single_group(_document: MeasureDocument, caution: MeasureCaution) -> str:
    return f"{caution.column}: one group only, so its gaps say nothing"


def _no_intersection(document: MeasureDocument, _caution: MeasureCaution) -> str:
    return groups.too_many(document.dataset.sensitive_columns)


def _low_power(document: MeasureDocument, caution: MeasureCaution) -> str:
    return groups.can_hide(str(caution.column), unseen_difference(document, str(caution.column)))


def _noticed(document: MeasureDocument, caution: MeasureCaution) -> str:
    return remarks.words(cast(RemarkKind, caution.code), document.dataset.remarks)


MESSAGES: Mapping[MeasureCautionCode, Callable[[MeasureDocument, MeasureCaution], str]] = {
    "undecided": _undecided,
    "no_cutoff": _no_cutoff,
    "missed_rate": _missed_rate,
    "follows_label": _follows_label,
    "constant": _constant,
    "regrouped": _regrouped,
    "alike_groups": _alike_groups,
    "set_aside": _set_aside,
    "small_group": _small_group,
    "single_group": _single_group,
    "no_intersection": _no_intersection,
    "low_power": _low_power,
    **dict.fromkeys(get_args(RemarkKind), _noticed),
}
