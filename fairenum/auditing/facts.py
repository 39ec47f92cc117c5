"""What is known about a run beside its scores: options as resolved, the table, the models and what they leave out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fairenum.auditing.listing import Listing
from fairenum.auditing.training import Training
from fairenum.dataset import Groups, merge_identical
from fairenum.dataset.partition import HOLDOUT, LEFT_OUT, SELECTION, TRAIN, Partition
from fairenum.dataset.splitting import straddling
from fairenum.document.audit import Requested
from fairenum.document.audit_config import AuditConfig
from fairenum.document.deciding import Decide
from fairenum.document.guards import kept_guards
from fairenum.document.models import EnumerationRun
from fairenum.document.table import (
    ClassCounts,
    Feature,
    GroupSizes,
    LabelWeights,
    Regrouped,
    SensitiveColumn,
    SplitOrigin,
    SplitRows,
    SplitSizes,
    TableFacts,
    WeightFacts,
)
from fairenum.document.terms import Part
from fairenum.experiment import PARTS, Division, operating_point
from fairenum.problem import IntArray


def resolved(config: AuditConfig, division: Division, training: Training) -> AuditConfig:
    """Return the options as they were resolved: given again, they ask for the same audit."""
    primary, point = division.primary, operating_point(Decide.of(config.decide), division.train)
    return replace(
        config,
        machine=training.machine,
        max_nodes=training.max_nodes,
        patience=training.patience,
        primary=division.column,
        reference=_reference(primary, config, primary) if primary else None,
        performance=replace(config, machine=training.machine).tolerances.performance,
        decide=config.decide if point.share is None else str(Decide("rate", point.share)),
        guards=kept_guards(config.guards),
    )


def requested(asked: AuditConfig) -> Requested:
    """Return what was asked for where it had to be resolved."""
    machine = asked.machine
    return Requested(
        C=machine.C,
        gamma=machine.gamma,
        max_nodes=asked.max_nodes,
        patience=asked.patience,
        performance=asked.performance,
        decide=asked.decide,
        class_weight=machine.class_weight,
    )


def _reference(groups: Groups, config: AuditConfig, primary: Groups | None) -> str:
    """Name the group that others are compared with: the one asked for in the primary column, else the largest."""
    return groups.names[groups.reference(config.reference if groups is primary else None)]


def table_facts(config: AuditConfig, division: Division, training: Training) -> TableFacts:
    """Return what is known about the table and its splits."""
    dataset, split = division.dataset, division.split
    favourable = int(dataset.y.sum())
    audited = np.concatenate([division.rows[part] for part in PARTS])
    return TableFacts(
        name=dataset.name,
        fingerprint=dataset.fingerprint,
        rows=len(dataset),
        columns=len({column.name for column in dataset.features} | {g.column for g in dataset.sensitive}) + 1,
        features=tuple(
            Feature(column.name, "numeric" if column.is_numeric else "categorical", column.missing)
            for column in dataset.features
        ),
        encoded=tuple(division.encoding.names),
        label=dataset.label.column,
        favourable=dataset.label.favourable,
        unfavourable=dataset.label.unfavourable,
        class_counts=ClassCounts(favourable, len(dataset) - favourable),
        splits=SplitSizes(len(split.train), *(len(division.rows[part]) for part in PARTS)),
        sensitive=sensitive_columns(config, division),
        missing=dataset.missing,
        dropped=tuple(division.encoding.dropped),
        unseen=division.encoding.unseen(dataset, audited),
        identical_rows=len(split.train) - _distinct_rows(division, training),
        examples=training.problem.size,
        pooled=division.encoding.pooled,
        remarks=dataset.remarks,
        origin=_origin(division),
        weights=_weight_facts(division),
        drawn=division.holdout.drawn,
        split_rows=_split_rows(division),
    )


def _distinct_rows(division: Division, training: Training) -> int:
    """Count the training rows that differ in features or label: those that were merged already, where they were."""
    if training.machine.rows or division.train.weights is not None:
        return len(merge_identical(division.train.X, division.train.y))
    return training.problem.size


def _origin(division: Division) -> SplitOrigin:
    """Say how rows came to their splits."""
    split, partition = division.split, division.dataset.partition or Partition()
    parts, times, members = partition.parts, partition.times, partition.members
    held = () if times is None else (times[rows].min() for rows in (split.selection, split.holdout) if rows.size)
    return SplitOrigin(
        how="column" if parts is not None else "random" if times is None else "time",
        column=partition.column,
        is_selection_drawn=parts is not None and SELECTION not in parts,
        starts=tuple(partition.moments[time] for time in held),
        group_column=partition.group_column,
        members=0 if members is None else len(np.unique(members)),
        straddling=straddling(division.dataset, split),
    )


def _weight_facts(division: Division) -> WeightFacts | None:
    """Say what rows count, and how many that count alike would tell as much."""
    dataset = division.dataset
    if dataset.weights is None:
        return None
    train, selection, holdout = (
        float(rows.counting.sum() ** 2 / (rows.counting**2).sum())
        for rows in (division.train, division.selection, division.holdout)
    )
    left_out = len(dataset) - len(dataset.weights.positive)
    return WeightFacts(dataset.weights.column, left_out, train, selection, holdout)


def _label_weights(groups: Groups, division: Division, part: Part) -> list[LabelWeights | None]:
    """Sum what the rows of each group count in one split, by label, and its squares."""
    rows, weights = division.rows[part], division.part(part).weights
    if weights is None:
        return [None] * len(groups.names)
    cells = groups.codes[rows] * 2 + division.dataset.y[rows]
    sums, squares = (np.bincount(cells, one, 2 * len(groups.names)).reshape(-1, 2) for one in (weights, weights**2))
    return [LabelWeights(*map(float, (*by_label, *squared))) for by_label, squared in zip(sums, squares, strict=True)]


def _split_rows(division: Division) -> SplitRows:
    split, numbered = division.split, division.dataset.numbered
    owners = np.full(int(numbered(np.arange(len(division.dataset))).max()) + 1, LEFT_OUT, dtype=np.uint8)
    for part, rows in ((TRAIN, split.train), (SELECTION, split.selection), (HOLDOUT, split.holdout)):
        owners[numbered(rows)] = part
    return SplitRows.of(owners.tobytes())


def sensitive_columns(config: AuditConfig, division: Division) -> tuple[SensitiveColumn, ...]:
    """Return what is known about every sensitive column, and their intersection."""
    return tuple(_sensitive(groups, config, division) for groups in division.columns)


def _sensitive(groups: Groups, config: AuditConfig, division: Division) -> SensitiveColumn:
    labels, rows = division.dataset.y, division.rows
    train = _sizes(groups, division.split.train)
    sizes = {part: _sizes(groups, rows[part]) for part in PARTS}
    positives = {part: _sizes(groups, rows[part][labels[rows[part]] == 1]) for part in PARTS}
    regrouped = division.dataset.regrouped.get(groups.column, Regrouped())
    weights = {part: _label_weights(groups, division, part) for part in PARTS}
    return SensitiveColumn(
        column=groups.column,
        is_primary=groups.column == division.column,
        is_intersection=division.columns.index(groups) >= len(division.dataset.sensitive),
        reference=_reference(groups, config, division.primary),
        groups=tuple(
            GroupSizes(
                name=name,
                train=train[code],
                selection=sizes["selection"][code],
                holdout=sizes["holdout"][code],
                selection_positives=positives["selection"][code],
                holdout_positives=positives["holdout"][code],
                is_small=min(sizes[part][code] for part in PARTS) < config.min_group_size,
                is_compared=bool(groups.compared[code]),
                holdout_weights=weights["holdout"][code],
                selection_weights=weights["selection"][code],
            )
            for code, name in enumerate(groups.names)
        ),
        regrouped=regrouped,
    )


def _sizes(groups: Groups, rows: IntArray) -> list[int]:
    sizes: list[int] = np.bincount(groups.codes[rows], minlength=len(groups.names)).tolist()
    return sizes


def enumeration(listing: Listing) -> EnumerationRun:
    """Return how the models were found, and why no more of them."""
    sizes = [size for size, origin in zip(listing.sizes, listing.origins, strict=True) if origin == "exact"]
    return EnumerationRun(listing.stopped, listing.nodes, sum(sizes), len(sizes), listing.audited_rows, listing.ties)
