"""Facts for the document of a run: resolved options, the table, the models, and the examples that they leave out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairenum.auditing.auto_options import resolved_rule
from fairenum.auditing.choosing import CLAIM
from fairenum.auditing.feature_screening import copies_of
from fairenum.auditing.incumbent_rows import IncumbentDecisions
from fairenum.auditing.listing import Listing
from fairenum.auditing.model_training import Training
from fairenum.auditing.scored_set import ScoredSet
from fairenum.document.audit_config import AuditConfig
from fairenum.document.audit_document import Requested
from fairenum.document.feature_facts import FeatureEncoding
from fairenum.document.guards import kept_guards
from fairenum.document.metric_registry import ComparedRate
from fairenum.document.models import (
    AuditedModel,
    Cell,
    ChangedRows,
    EnumerationRun,
    Example,
    Incumbent,
    LeftOut,
    OwnVerdict,
    Prospect,
    Tilt,
)
from fairenum.document.scores import SplitScores
from fairenum.document.split_power import AGREEMENT, confirmable_change
from fairenum.document.table_facts import (
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
from fairenum.document.terms import GAP_RATES, RATES, Part
from fairenum.document.value import Estimate, Parts
from fairenum.enumeration.division import PARTS, Division
from fairenum.enumeration.model import Model
from fairenum.metrics.intervals import estimates, plain
from fairenum.metrics.performance import auc_intervals
from fairenum.svm.problem import FloatArray, IntArray
from fairenum.tables import Groups, merge_identical
from fairenum.tables.splitting import straddling
from fairenum.tables.table import HOLDOUT, LEFT_OUT, SELECTION, TRAIN, Partition


def audited_models(
    division: Division,
    training: Training,
    listing: Listing,
    scores: dict[Part, list[SplitScores]],
    expected: Sequence[Prospect | None],
    judged: Sequence[OwnVerdict | None],
) -> tuple[AuditedModel, ...]:
    """Return for each model its objective with the proven bound, left-out examples, changed decisions, and scores.

    `expected` has the prospect of each model, `judged` the verdict of the holdout on it alone.
    """
    ratios = listing.objective_ratio
    undetermined = {part: _undetermined(division, listing, part) for part in PARTS}
    bits = {part: listing.values[part] >= 0.0 for part in PARTS}
    changed = {part: (bits[part] != bits[part][0]).sum(1) for part in PARTS}
    is_constant = listing.decisions(division, "selection", division.column).is_constant
    known: dict[int, LeftOut] = {}
    return tuple(
        AuditedModel(
            rank=place + 1,
            origin=listing.origins[place],
            support_rank=model.rank if listing.origins[place] == "exact" else None,
            objective=None if model.tilt else model.objective,
            objective_bound=None if model.tilt else model.certificate.bound,
            objective_ratio=plain(ratios[place]),
            relative_gap=None if model.tilt else model.certificate.relative_gap,
            is_order_certified=model.is_order_certified,
            loss_ratio=model.loss_ratio,
            support_size=len(model.support),
            supports=listing.sizes[place],
            left_out=left_out(model, division, training, known),
            bias=model.intercept,
            bias_interval=(plain(model.bias_interval[0]), plain(model.bias_interval[1])),
            cut=listing.cuts[place].value,
            tied=listing.cuts[place].tied,
            undetermined=Parts(*(undetermined[part][place] for part in PARTS)),
            predictions_changed=Parts(*(_changed(int(changed[part][place]), bits[part].shape[1]) for part in PARTS)),
            is_constant=bool(is_constant[place]),
            scores=Parts(*(scores[part][place] for part in PARTS)),
            tilt=_tilt(model, division),
            prospect=expected[place],
            own=judged[place],
        )
        for place, model in enumerate(listing.models)
    )


def incumbent(
    found: IncumbentDecisions, scored_set: ScoredSet, scores: Parts[SplitScores], config: AuditConfig
) -> Incumbent:
    """Return the document entry of the model in use: the source of its decisions, and its scores."""
    answers, bits, rows = found.answers, found.bits, scored_set.division.rows
    decisions = scored_set.decisions("selection", scored_set.division.column)
    first = {part: scored_set.listing.values[part][0] >= 0.0 for part in PARTS}
    changed = (int(np.count_nonzero(bits[rows[part]] != first[part])) for part in PARTS)
    return Incumbent(
        name=answers.name,
        source=answers.source,
        scores=scores,
        agreement=float(np.mean(bits == scored_set.division.dataset.y)),
        predictions_changed=Parts(*(_changed(one, len(rows[part])) for one, part in zip(changed, PARTS, strict=True))),
        is_constant=bool(decisions.is_constant[scored_set.ranks.index(0)]),
        has_score=answers.scores is not None,
        favourable=answers.favourable,
        unfavourable=answers.unfavourable,
        cutoff=found.cutoff,
        is_lower_better=answers.is_lower_better,
        undecided=answers.undecided,
        copies=copies_of(found, scored_set.division, config),
        balanced_agreement=_ranking(found.bits.astype(np.float64), scored_set.division, config),
        auc=Estimate() if answers.scores is None else _ranking(answers.scores, scored_set.division, config),
    )


def _ranking(values: FloatArray, division: Division, config: AuditConfig) -> Estimate:
    """Return the AUC of values about all rows, which for decisions, 1 or 0, is their balanced accuracy."""
    dataset = division.dataset
    rows = np.arange(len(dataset)) if dataset.weights is None else dataset.weights.positive
    places = np.unique(values[rows], return_inverse=True)[1].astype(np.float64)  # ranks, so that rounding merges none
    labels = dataset.y[rows].astype(np.uint8)
    return estimates(auc_intervals(places[None], labels, config.confidence, dataset.relative(rows)))[0]


def _tilt(model: Model, division: Division) -> Tilt | None:
    tilt = model.tilt
    return None if tilt is None else Tilt(tilt.price, str(division.column), tilt.axis.groups, tilt.axis.rate)


def _undetermined(division: Division, listing: Listing, part: Part) -> list[int]:
    """Return for each model the number of rows of a split whose decision its optimal solution leaves open.

    An optimum may have an interval of biases; a row is counted if its decision depends on the bias, or if it is on the
    threshold. If models select a given share of rows, the bias does not matter, and rows on the threshold are counted.
    """
    if listing.point.share is not None:
        return [int(rows) for rows in np.count_nonzero(listing.values[part] == 0.0, axis=1)]
    rows, threshold = division.part(part).X, listing.point.threshold
    return [int(model.undetermined(rows, threshold).sum()) for model in listing.models]


def _changed(rows: int, of: int) -> ChangedRows:
    return ChangedRows(rows, rows / of)


def left_out(
    model: Model, division: Division, training: Training, known: dict[int, LeftOut] | None = None
) -> tuple[LeftOut, ...]:
    """Return the training examples of which a model leaves out at least one row, and how many of their rows.

    `known` caches the descriptions of examples by index, as models leave out many of the same examples.
    """
    known = {} if known is None else known
    return tuple(
        _left_out(example, copies, division, training, known) for example, copies in sorted(model.left_out.items())
    )


def _left_out(example: int, copies: int, division: Division, training: Training, known: dict[int, LeftOut]) -> LeftOut:
    if example not in known:
        records = training.records[example]
        known[example] = LeftOut(
            copies=copies,
            of=len(records),
            row=int(division.dataset.numbered(records).min()),
            label=_label(division, records),
            groups=_groups(division, records),
        )
    found = known[example]
    return found if found.copies == copies else found.but(copies=copies)


def examples(division: Division, training: Training, listing: Listing) -> tuple[Example, ...]:
    """Return the training examples that some model leaves out, with their row numbers, values and groups."""
    wanted = sorted({example for model in listing.models for example in model.left_out})
    return tuple(
        Example(
            row=int(division.dataset.numbered(records).min()),
            rows=tuple(division.dataset.numbered(records).tolist()),
            label=_label(division, records),
            groups=_groups(division, records),
            values={column.name: cell(column.values[records[0]]) for column in division.dataset.features},
        )
        for records in (training.records[example] for example in wanted)
    )


def _label(division: Division, records: IntArray) -> str:
    label = division.dataset.label
    return label.favourable if label.y[records[0]] == 1 else label.unfavourable


def _groups(division: Division, records: IntArray) -> dict[str, dict[str, int]]:
    return {
        groups.column: dict(sorted(Counter(groups.names[code] for code in groups.codes[records]).items()))
        for groups in division.dataset.sensitive
    }


def cell(value: float | str) -> Cell:
    """Return the value of a table cell as a text or a float; None if it is missing."""
    if isinstance(value, str):
        return value
    return None if math.isnan(value) else float(value)


def resolved(config: AuditConfig, division: Division, training: Training) -> AuditConfig:
    """Return the options with "auto" and other defaults replaced by the values used, for repeating the audit."""
    return replace(
        config,
        svm=training.svm,
        max_nodes=training.max_nodes,
        patience=training.patience,
        sizes=division.split.sizes,
        primary=division.column,
        performance=replace(config, svm=training.svm).tolerances.performance,
        decide=str(resolved_rule(config, training.svm, division.train)),
        guards=kept_guards(config.guards),
        features=division.features,
    )


def feature_encoding(division: Division) -> FeatureEncoding | None:
    """Return how numbers are encoded, and why; None if they are encoded as they are and nothing else was tried."""
    if division.features == "linear" and division.comparison is None:
        return None
    return FeatureEncoding(division.features, int(division.encoding.added.sum()), division.comparison)


def requested(asked: AuditConfig) -> Requested:
    """Return the options that a run may replace by other values, with the values that the user gave."""
    svm = asked.svm
    return Requested(
        C=svm.C,
        gamma=svm.gamma,
        max_nodes=asked.max_nodes,
        patience=asked.patience,
        performance=asked.performance,
        decide=asked.decide,
        eps=asked.eps,
        class_weight=svm.class_weight,
        sizes=asked.sizes,
        features=asked.features,
    )


def _reference(groups: Groups, config: AuditConfig, primary: Groups | None) -> str:
    """Return the group that others are compared with: the one asked for in the primary column, else the largest."""
    return groups.names[groups.reference(config.control if groups is primary else None)]


def table_facts(config: AuditConfig, division: Division, training: Training) -> TableFacts:
    """Return the description of the table and its splits for the document."""
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
    if training.svm.rows or division.train.weights is not None:
        return len(merge_identical(division.train.X, division.train.y))
    return training.problem.size


def _origin(division: Division) -> SplitOrigin:
    """Return how rows were assigned to splits: at random, by time, or by a column."""
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
    """Return facts about the row weights, with Kish's effective sample size of each split; None without weights."""
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
    """Return the sums of weights and of squared weights by label, for each group of a split; Nones without weights."""
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
    """Return the description of every sensitive column, and of their intersection."""
    return tuple(_with_power(_sensitive(groups, config, division), config) for groups in division.columns)


def _with_power(column: SensitiveColumn, config: AuditConfig) -> SensitiveColumn:
    """Return a sensitive column with the smallest change of the gap that the holdout can confirm, for each group."""
    rates = [RATES[rate] for rate in GAP_RATES[config.metric]]
    if any(rate.depends_on_model for rate in rates):
        return column
    trials = {group.name: min(_trials(group, rate) for rate in rates) for group in column.compared}
    confidence, agreement = 1.0 - CLAIM * (1.0 - config.confidence), AGREEMENT[config.against or "best"]
    changes = {
        name: confirmable_change(trials[column.reference], own, confidence, agreement)
        for name, own in trials.items()
        if name != column.reference and column.reference in trials
    }
    return column.but(groups=tuple(group.but(confirmable=changes.get(group.name)) for group in column.groups))


def _trials(group: GroupSizes, rate: ComparedRate) -> float:
    """Return the number of holdout rows of a group that a rate is a share of; with weights, the effective number."""
    if (weights := group.holdout_weights) is None:
        return float(rate.fraction(group.by_label("holdout"), (0, 0))[1])
    (plain, squared), (favourable, squared_favourable) = weights.of_label(0), weights.of_label(1)
    total = rate.fraction((plain, favourable), (0.0, 0.0))[1]
    squares = rate.fraction((squared, squared_favourable), (0.0, 0.0))[1]
    return total**2 / squares if squares else 0.0


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
    """Return facts about the exact enumeration: solved subproblems, models found, and why it ended."""
    sizes = [size for size, origin in zip(listing.sizes, listing.origins, strict=True) if origin == "exact"]
    return EnumerationRun(listing.stopped, listing.nodes, sum(sizes), len(sizes), listing.audited_rows, listing.ties)
