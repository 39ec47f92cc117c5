"""What to beware of about groups, in words."""

from __future__ import annotations

from collections.abc import Iterable

from fairenum.document.audit import AuditDocument
from fairenum.document.cautions import unseen_difference
from fairenum.document.choice import Caution
from fairenum.document.table import Regrouped, SensitiveColumn
from fairenum.phrases import quoted


def _column(document: AuditDocument, caution: Caution) -> SensitiveColumn:
    return next(column for column in document.dataset.sensitive if column.column == caution.column)


def regrouped(document: AuditDocument, caution: Caution) -> str:
    """Say which groups were joined, and whose rows were left out."""
    return joined_or_left(str(caution.column), _column(document, caution).regrouped)


def joined_or_left(column: str, made: Regrouped) -> str:
    """Say which groups of a column were joined, and whose rows were left out."""
    joined = [f"{name!r} joins {quoted(members)}" for name, members in made.merged.items()]
    left = [f"{rows} of {name!r}" for name, rows in made.left_out.items()]
    rows = [f"rows left out of the audit: {', '.join(left)}"] if left else []
    return f"{column}: {'; '.join([*joined, *rows])}"


def alike_groups(document: AuditDocument, caution: Caution) -> str:
    """Name groups that may be one."""
    return spelt_alike(str(caution.column), _column(document, caution).regrouped)


def spelt_alike(column: str, made: Regrouped) -> str:
    """Name groups of a column that may be one."""
    alike = "; ".join(quoted(names) for names in made.alike)
    joins = "tidy_groups=True (--tidy-groups) joins them"
    return f"{column}: groups that differ by case or blanks only: {alike}; {joins}"


def set_aside(document: AuditDocument, caution: Caution) -> str:
    """Name the groups that are shown alone, and why."""
    column = _column(document, caution)
    # where small groups are compared, for want of others, it is not for its size that one is set aside
    sizes_matter = not any(group.is_small for group in column.compared)
    few = quoted(group.name for group in column.aside if group.is_small and sizes_matter)
    unknown = quoted(group.name for group in column.aside if not (group.is_small and sizes_matter))
    reasons = [f"fewer than {document.config.min_group_size} rows in a split: {few}"] if few else []
    reasons += [f"without a value: {unknown}"] if unknown else []
    joins = "" if column.is_intersection else ", merge (--merge) joins them"
    return (
        f"{caution.column}: shown, but set aside from gaps, search and choice: {'; '.join(reasons)}; "
        f"small_groups='keep' (--small-groups keep) brings them back{joins}"
    )


def small_group(document: AuditDocument, caution: Caution) -> str:
    """Name compared groups of few rows."""
    column = _column(document, caution)
    names = quoted(group.name for group in column.compared if group.is_small)
    few = f"{caution.column}: groups with fewer than {document.config.min_group_size} rows in a split: {names}"
    if document.config.small_groups == "keep" or sum(not group.is_small for group in column.compared) >= 2:
        return few
    return f"{few}; less than two are larger, so that all are compared: do not rely on these gaps"


def single_group(_document: AuditDocument, caution: Caution) -> str:
    """Say that there is nothing to compare."""
    return f"{caution.column}: the {caution.part} holds one group only, so its gaps say nothing"


def no_intersection(document: AuditDocument, _caution: Caution) -> str:
    """Say that an intersection is not shown."""
    return too_many(document.dataset.sensitive_columns)


def too_many(columns: Iterable[str]) -> str:
    """Say that columns have too many groups together."""
    named = " & ".join(columns)
    return f"{named}: too many groups to compare two by two or to show; join some with merge (--merge)"


def low_power(document: AuditDocument, caution: Caution) -> str:
    """Say how large a difference may go unseen."""
    return can_hide(str(caution.column), unseen_difference(document))


def can_hide(column: str, limit: float | None) -> str:
    """Say how large a difference between the groups of a column may go unseen."""
    return f"{column}: with these group sizes a difference in selection rate below {limit or 0.0:.2f} can go unseen"
