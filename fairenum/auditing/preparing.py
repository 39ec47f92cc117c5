"""What models are listed from: a table, divided, and the machine trained on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fairenum.auditing import facts
from fairenum.auditing.course import Course
from fairenum.auditing.dividing import divided
from fairenum.auditing.estimate import expected
from fairenum.auditing.incumbent import InPlace, in_place, with_incumbent
from fairenum.auditing.training import Training, load
from fairenum.auditing.weighting import train_machine
from fairenum.dataset import Dataset
from fairenum.dataset.naming import Names
from fairenum.document.audit_config import AuditConfig
from fairenum.document.table import TableFacts
from fairenum.document.training import Tuning
from fairenum.experiment import Division
from fairenum.progress import Expects

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A table that was divided, and the machine trained on it.

    Attributes
    ----------
    asked, config
        The options as they were given, and as they were resolved.
    """

    asked: AuditConfig
    config: AuditConfig
    division: Division
    training: Training
    tuning: Tuning | None
    incumbent: InPlace | None
    table: TableFacts


def prepare(
    data: str | Path | pd.DataFrame | Dataset,
    label: str | None,
    favourable: object,
    sensitive: Names | None,
    config: AuditConfig,
    course: Course,
    in_use: object = None,
) -> Prepared:
    """Load and divide a table, and train its machine."""
    dataset, incumbent = course.begun("load", partial(_loaded, data, label, favourable, sensitive, config, in_use))
    division = course.begun("divide", partial(divided, dataset, config))
    asked, config = config, with_incumbent(config, incumbent, division)
    if isinstance(course.progress, Expects):
        course.progress.expect(expected(division, config))
    training, tuning = course.begun("tune", partial(train_machine, division, config, course.progress))
    config = facts.resolved(config, division, training)
    # before there is anything to keep: of a large table it takes a while, which whoever presses Ctrl-C is not to wait
    table = course.begun("tune", partial(facts.table_facts, config, division, training))
    return Prepared(asked, config, division, training, tuning, incumbent, table)


def _loaded(
    data: str | Path | pd.DataFrame | Dataset,
    label: str | None,
    favourable: object,
    sensitive: Names | None,
    config: AuditConfig,
    in_use: object,
) -> tuple[Dataset, InPlace | None]:
    dataset = load(data, label, favourable, sensitive, config, in_use)
    return dataset, in_place(dataset, config)
