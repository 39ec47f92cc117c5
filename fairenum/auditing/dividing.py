"""The table of an audit, divided, with the groups that are compared and those that are set aside."""

from __future__ import annotations

from dataclasses import replace

from fairenum.dataset import Dataset
from fairenum.dataset.comparable import comparable
from fairenum.document.audit_config import AuditConfig
from fairenum.experiment import Division, divide


def divided(dataset: Dataset, config: AuditConfig) -> Division:
    """Divide and encode a table, and set groups aside.

    A column with more groups than can be compared is refused; an intersection that nobody asked for is left out.
    """
    fewest = None if config.small_groups == "keep" else config.min_group_size
    division = divide(
        dataset, config.sizes, config.seed, primary=config.primary, standardise=config.standardise, fewest=fewest
    )
    asked_for = {one.column for one in dataset.sensitive}
    if division.primary:
        asked_for.add(division.primary.column)
    return replace(division, columns=comparable(division.columns, asked_for, fewest))
