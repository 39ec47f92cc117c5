"""The whole order of a measurement."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairenum.dataset import Groups
from fairenum.dataset.comparable import comparable
from fairenum.dataset.decided import DecidedTable, Roles
from fairenum.dataset.deciding import load_decided
from fairenum.dataset.groups import named_groups
from fairenum.document.environment import environment
from fairenum.document.measure import ColumnMeasures, MeasuredColumn, MeasuredDecisions, MeasureDocument, MeasuredTable
from fairenum.document.measure_cautions import measure_cautions
from fairenum.document.measure_config import MeasureConfig
from fairenum.document.measured_score import MeasuredScore
from fairenum.document.performance import PerformanceMeasure
from fairenum.document.table import Regrouped
from fairenum.document.value import Estimate
from fairenum.measuring.cutting import Choice, choices, oriented, resolved_cutoff
from fairenum.measuring.decisions import Setting, measured_column
from fairenum.measuring.scores import measured_score
from fairenum.scoring import Decisions, rate_intervals, score
from fairenum.scoring.counts import BitArray, FloatArray
from fairenum.scoring.estimates import estimates
from fairenum.scoring.performance import decided_intervals
from fairenum.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

BALANCED = PerformanceMeasure("balanced_accuracy")


def run_measure(
    source: str | Path | pd.DataFrame | Mapping[str, ArrayLike],
    roles: Roles,
    config: MeasureConfig,
    *,
    counts: bool = False,
) -> MeasureDocument:
    """Read decisions and scores, and measure them."""
    started = time.perf_counter()
    table = load_decided(source, roles, config.reading, counts=counts)
    loaded = time.perf_counter()
    with one_thread():
        document = measured(table, config)
    timings = {"load": loaded - started, "measure": time.perf_counter() - loaded}
    return document.but(timings=timings)


def measured(table: DecidedTable, config: MeasureConfig) -> MeasureDocument:
    """Measure a table of decisions."""
    columns = _columns(table, config)
    primary = named_groups(columns, config.primary)
    settings = [_setting(groups, place, table, config, primary) for place, groups in enumerate(columns)]
    made = choices(table, config)
    cutoff, values = resolved_cutoff(table, config), oriented(table, config)
    resolved = replace(
        config,
        cutoff=None if config.cutoff is None else str(cutoff),
        primary=primary.column,
        reference=next(one.reference for one in settings if one.groups is primary),
    )
    document = MeasureDocument(
        environment=environment(),
        config=resolved,
        dataset=_table(table, settings, primary, made),
        decisions=_decisions(table, made, settings, primary),
        score=None if values is None else _score(table, values, settings),
    )
    return document.but(warnings=measure_cautions(document))


def _columns(table: DecidedTable, config: MeasureConfig) -> tuple[Groups, ...]:
    """Return the sensitive columns and their intersection, with small groups set aside."""
    columns = table.columns
    if config.fewest is not None:
        columns = tuple(groups.setting_aside(config.fewest, (slice(None),)) for groups in columns)
    asked_for = {*(groups.column for groups in table.sensitive), config.primary or ""}
    return comparable(columns, asked_for, config.fewest)


def _setting(groups: Groups, place: int, table: DecidedTable, config: MeasureConfig, primary: Groups) -> Setting:
    wanted = config.reference if groups is primary else None
    return Setting(groups, place, groups.names[groups.reference(wanted)], table.label is not None, config)


def _labels(table: DecidedTable) -> BitArray:
    """Return the labels; all unfavourable where none are known, which leaves selection rates as they are."""
    return np.zeros(len(table), np.uint8) if table.label is None else table.label.y.astype(np.uint8)


def _decisions(
    table: DecidedTable, made: Sequence[Choice], settings: Sequence[Setting], primary: Groups
) -> tuple[MeasuredDecisions, ...]:
    bits, labels = np.stack([choice.bits for choice in made]), _labels(table)
    by_column = [measured_column(Decisions(bits, labels, one.groups), one) for one in settings]
    columns = list(zip(*by_column, strict=True))
    together = Decisions(bits, labels, primary)
    counts, confidence = score(together).counts.overall(), settings[0].config.confidence
    rates = estimates(rate_intervals(counts, "selection_rate", confidence))
    unknown = [Estimate()] * len(made)
    accuracy = unknown if table.label is None else estimates(rate_intervals(counts, "accuracy", confidence))
    balanced = unknown if table.label is None else estimates(decided_intervals(counts, BALANCED, confidence))
    is_constant = together.is_constant
    return tuple(
        _decided(choice, columns[place], rates[place]).but(
            accuracy=accuracy[place],
            balanced_accuracy=balanced[place],
            is_constant=bool(is_constant[place]),
            follows_label=table.label is not None and bool((choice.bits == labels).all()),
        )
        for place, choice in enumerate(made)
    )


def _decided(choice: Choice, columns: tuple[ColumnMeasures, ...], rate: Estimate) -> MeasuredDecisions:
    return MeasuredDecisions(
        name=choice.name,
        how=choice.how,
        favourable=choice.favourable,
        unfavourable=choice.unfavourable,
        selected=int(choice.bits.sum()),
        selection_rate=rate,
        is_constant=False,
        columns=columns,
        cutoff=choice.cutoff,
        tied=choice.tied,
    )


def _score(table: DecidedTable, values: FloatArray, settings: Sequence[Setting]) -> MeasuredScore | None:
    if table.score is None:
        return None
    return measured_score(table.score.column, values, None if table.label is None else _labels(table), settings)


def _table(table: DecidedTable, settings: Sequence[Setting], primary: Groups, made: Sequence[Choice]) -> MeasuredTable:
    label, asked = table.label, len(table.sensitive)
    return MeasuredTable(
        name=table.name,
        fingerprint=_fingerprint(table, made),
        form=table.form,
        rows=len(table),
        undecided=table.undecided,
        left_out=dict(table.left_out),
        label=label.column if label else None,
        favourable=(label.favourable or None) if label else None,
        unfavourable=(label.unfavourable or None) if label else None,
        positives=None if label is None else int(label.y.sum()),
        sensitive=tuple(
            MeasuredColumn(
                column=one.groups.column,
                is_primary=one.groups is primary,
                is_intersection=one.place >= asked,
                reference=one.reference,
                unknown=int(one.groups.sizes[list(one.groups.unknown)].sum()),
                regrouped=table.regrouped.get(one.groups.column, Regrouped()),
            )
            for one in settings
        ),
        remarks=table.remarks,
    )


def _fingerprint(table: DecidedTable, made: Sequence[Choice]) -> str:
    """Hash what was measured: groups, decisions, labels and scores, in an order that is not that of the rows."""
    names = [(groups.column, groups.names) for groups in table.sensitive]
    digest = sha256(repr((names, [choice.name for choice in made], table.label is not None)).encode())
    kinds = np.zeros(len(table), dtype=np.int64)
    for groups in table.sensitive:
        kinds = kinds * len(groups.names) + groups.codes
    for bits in (_labels(table), *(choice.bits for choice in made)):
        kinds = 2 * kinds + bits
    for part in np.unique(kinds, return_counts=True):
        digest.update(part.astype(np.int64).tobytes())
    if table.score is not None:
        digest.update(table.score.values[np.lexsort((table.score.values, kinds))].tobytes())
    return digest.hexdigest()
