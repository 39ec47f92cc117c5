"""What is explored: a table, or the table of a run, divided, with the machine trained on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fairenum.api import AuditResult
from fairenum.auditing.course import Course
from fairenum.auditing.preparing import Prepared, prepare
from fairenum.auditing.reopening import config_of
from fairenum.budget import Budget
from fairenum.dataset import Dataset
from fairenum.document.audit_config import AuditConfig, AuditOptions
from fairenum.errors import ConfigError, ExplorationError, ResultError
from fairenum.progress import Progress
from fairenum.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd

    from fairenum.dataset.naming import Names

    Table = str | Path | pd.DataFrame | Dataset


def of_table(
    data: Table,
    label: str | None,
    favourable: object,
    sensitive: Names | None,
    config: AuditConfig | None,
    options: AuditOptions,
    progress: Progress,
) -> Prepared:
    """Load, divide and train as an audit does."""
    is_model = not isinstance(options.get("incumbent"), str | None)
    in_use = options.pop("incumbent") if is_model else None
    asked_for = (config or AuditConfig()).but(**options)
    with one_thread():
        return prepare(data, label, favourable, sensitive, asked_for, _course(asked_for, progress), in_use)


def of_run(
    data: Table, run: AuditResult | str | Path, config: AuditConfig | None, options: AuditOptions, progress: Progress
) -> Prepared:
    """Take over the options of a run; refuse data that are not its own."""
    _refuse_options(config, options)
    document = (run if isinstance(run, AuditResult) else AuditResult.load(run)).document
    table, config = document.dataset, config_of(document)
    prepared = reopened(data, table.label, table.favourable, table.sensitive_columns, config, progress)
    if prepared.division.dataset.fingerprint != table.fingerprint:
        raise ResultError("these are not the data of the run: the content differs")
    return prepared


def reopened(
    data: Table,
    label: str,
    favourable: str,
    sensitive: Sequence[str],
    config: AuditConfig,
    progress: Progress,
    *,
    in_use: object = None,
) -> Prepared:
    """Prepare a table that was explored or audited before; a `Dataset` is read already."""
    course = _course(config, progress)
    with one_thread():
        if isinstance(data, Dataset):
            return prepare(data, None, None, None, config, course, in_use)
        return prepare(data, label, favourable, [*sensitive], config, course, in_use)


def of_result(
    result: AuditResult, config: AuditConfig | None, run: AuditResult | str | Path | None, options: AuditOptions
) -> Prepared:
    """Take over the rows and the machine of an audit that was run here."""
    _refuse_options(config, options)
    live = result.live
    if live is None or run is not None:
        raise ExplorationError("a saved result holds no rows; name its data, too: Exploration(data, run=result)")
    document = result.document
    return Prepared(
        live.asked, live.config, live.division, live.training, document.tuning, live.incumbent, document.dataset
    )


def _refuse_options(config: AuditConfig | None, options: AuditOptions) -> None:
    if config is not None or options:
        raise ConfigError("a run has its options; leave out config and others, or explore the table anew")


def _course(config: AuditConfig, progress: Progress) -> Course:
    """Take the time that it takes: an exploration is the same however long it lasts."""
    return Course.of(config, Budget(None), progress)
