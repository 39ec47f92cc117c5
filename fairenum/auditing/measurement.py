"""Measurement of given decisions and scores, overall and by sensitive group; no model is trained."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from fairenum.auditing.period_stage import Watch, period_measures, watched_rates
from fairenum.auditing.scorecard import column_scores, overall_estimates
from fairenum.auditing.strata_stage import factor_hints, given_measures, strata_of
from fairenum.document.cautions import cautions
from fairenum.document.header import environment
from fairenum.document.measure_document import (
    ColumnMeasures,
    GroupMeasures,
    MeasureConfig,
    MeasuredColumn,
    MeasuredDecisions,
    MeasureDocument,
    MeasuredTable,
)
from fairenum.document.metric_registry import metric_of
from fairenum.document.probable_facts import ProbableGroup, ProbableMeasures
from fairenum.document.reading import Cutoff
from fairenum.document.scores import (
    CalibrationBin,
    ColumnRanking,
    ColumnScores,
    CutoffPoint,
    GapEstimate,
    GroupRanking,
    GroupTable,
    MeasuredScore,
)
from fairenum.document.strata_facts import FactorHint, GivenMeasures
from fairenum.document.table_facts import Regrouped
from fairenum.document.terms import GAPS, Gap, Ratio
from fairenum.document.value import Estimate
from fairenum.errors import ConfigError
from fairenum.metrics import Decisions, Scores, gap_intervals, rate_intervals, score
from fairenum.metrics.counts import BitArray, FloatArray, IntArray, confusion
from fairenum.metrics.group_probabilities import SoftGroups, rate_bounds, soft_differences, soft_rates
from fairenum.metrics.impact_ratios import Headcount, impact_ratios, impact_table, ratio_intervals
from fairenum.metrics.intervals import estimates, plain
from fairenum.metrics.operating_point import cut_score
from fairenum.metrics.performance import auc_intervals
from fairenum.metrics.score_curves import (
    ScoredRows,
    auc_by_group,
    calibration_by_group,
    means,
    roc_by_group,
    scoring_rates,
    standardised_differences,
    sweep,
)
from fairenum.runtime.parallel import one_thread
from fairenum.tables import Groups
from fairenum.tables.decision_tables import DecidedTable, Roles, load_decided
from fairenum.tables.groups import comparable, named_groups

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

MOST_DECISIONS = 20


@dataclass(frozen=True, slots=True, eq=False)
class GivenDecisions:
    """Decisions to measure, from a column of decisions or from a score that is compared with a cutoff.

    `fairenum.document.measure_document.MeasuredDecisions` explains the attributes how, cutoff and tied.
    """

    name: str
    bits: BitArray = field(repr=False)
    how: Literal["column", "cutoff", "median"] = "column"
    favourable: str | None = None
    unfavourable: str | None = None
    cutoff: float | None = None
    tied: int = 0


def oriented(table: DecidedTable, config: MeasureConfig) -> FloatArray | None:
    """Return the scores of all rows, negated if needed so that higher is favourable; None without a score."""
    return None if table.score is None else np.asarray(sign(config) * table.score.values)


def sign(config: MeasureConfig) -> float:
    """Return the factor, -1 or 1, that turns scores into values of which higher is favourable."""
    return -1.0 if config.lower_is_better else 1.0


def resolved_cutoff(table: DecidedTable, config: MeasureConfig) -> Cutoff | None:
    """Return the cutoff that turns the score into decisions; None if no decisions are made from a score."""
    if table.score is None:
        if config.cutoff is not None or config.lower_is_better:
            given = "cutoff (--cutoff)" if config.cutoff is not None else "lower_is_better (--lower-is-better)"
            raise ConfigError(f"{given} is about a score, and there is none; name its column with score=... (--score)")
        return None
    if config.cutoff is None:
        return None if table.decisions else Cutoff("median")
    cutoff = Cutoff.of(config.cutoff)
    if cutoff.rule != "base-rate":
        return cutoff
    if table.label is None:
        raise ConfigError(
            "cutoff 'base-rate' (--cutoff) selects as many as have a favourable label, and there is no label; name it "
            "with label=... (--label COLUMN), or give a share, such as rate=0.3"
        )
    return Cutoff("rate", float(table.label.y.mean()))


def given_decisions(table: DecidedTable, config: MeasureConfig) -> tuple[GivenDecisions, ...]:
    """Return the decisions of each decision column, and last those made from the score, if any."""
    if len(table.decisions) > MOST_DECISIONS:
        raise ConfigError(f"{len(table.decisions)} columns of decisions are too many; name at most {MOST_DECISIONS}")
    found = [
        GivenDecisions(one.column, one.bits, favourable=one.favourable, unfavourable=one.unfavourable)
        for one in table.decisions
    ]
    values, cutoff = oriented(table, config), resolved_cutoff(table, config)
    if table.score is not None and values is not None and cutoff is not None:
        cut = cut_score(values, cutoff, sign(config))
        how: Literal["median", "cutoff"] = "median" if cutoff.rule == "median" else "cutoff"
        found.append(GivenDecisions(table.score.column, cut.bits, how, cutoff=cut.value, tied=cut.tied))
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnSetting:
    """One sensitive column with all that is needed to measure decisions between its groups."""

    groups: Groups
    place: int  # index of the column among all, which seeds the random numbers of its bootstrap
    reference: str  # the group that others are compared with
    has_label: bool  # whether labels are known, and not all counted as unfavourable
    config: MeasureConfig
    is_named: bool = False  # whether the user named the reference
    strata: Groups | None = None  # the strata in which groups are compared as well
    watch: Watch | None = None  # the periods that are measured one by one

    def measures(self, name: Gap | Ratio) -> bool:
        """Tell whether a gap or ratio can be measured: it needs no label, or the labels are known."""
        metric = metric_of(name)
        return self.has_label or metric is None or not metric.needs_label


def measured_column(decisions: Decisions, setting: ColumnSetting) -> list[ColumnMeasures]:
    """Return the measures of each set of decisions between the groups of one column, compared with the first set."""
    name = ("measure", setting.groups.column) if len(decisions.predictions) > 1 else None
    first, *others = column_scores(decisions, setting.config, name, is_measured=setting.measures)
    found = []
    for number, own in enumerate([_uncompared(first), *others]):
        alone = replace(decisions, predictions=decisions.predictions[[number]])
        scores = score(alone)
        table = impact(number + 1, scores, setting, has_label=setting.has_label, selected=_selected(decisions, number))
        given = _given(alone, setting, table)
        periods = None if setting.watch is None else period_measures(alone, setting.watch)
        found.append(ColumnMeasures(table, _decided_groups(scores, table, setting), own, given, periods))
    return found


def _given(decisions: Decisions, setting: ColumnSetting, table: GroupTable) -> GivenMeasures | None:
    """Return the comparison of groups within strata; None without strata."""
    if setting.strata is None:
        return None
    return given_measures(decisions, setting.strata, setting.config.given, table, setting.config.confidence)


def _selected(decisions: Decisions, number: int) -> FloatArray:
    """Return the number of selected rows of each group, whatever their weights."""
    counted = replace(decisions, predictions=decisions.predictions[[number]], weights=None)
    return np.asarray(confusion(counted).selected[0].sum(-1))


def _uncompared(scores: ColumnScores) -> ColumnScores:
    """Return scores without changes and verdicts, as the first decisions are not compared with themselves."""
    gaps = {gap: scores.gap(gap) for gap in GAPS}
    return scores.but(**{gap: GapEstimate(one.value, one.low, one.high) for gap, one in gaps.items()})


def impact(
    rank: int, scores: Scores, setting: ColumnSetting, *, has_label: bool, selected: FloatArray | None = None
) -> GroupTable:
    """Return the adverse-impact table of one set of decisions; `rank` is the number of the set, 0 for a score.

    `selected` has the number of selected rows by group, if rows have weights.
    """
    groups, config = setting.groups, setting.config
    chosen = scores.counts.selected[0].sum(-1) if selected is None else selected
    heads = Headcount(groups.sizes, chosen, groups.small(config.min_group_size))
    return impact_table(
        rank,
        scores,
        heads,
        column=groups.column,
        reference=setting.reference,
        confidence=config.confidence,
        has_label=has_label,
    )


def ratios_to_best(scores: Scores, table: GroupTable, confidence: float) -> list[Estimate]:
    """Return each group's selection rate divided by that of the most selected group.

    The estimates are empty if the table names no most selected group.
    """
    if table.most_selected is None:
        return [Estimate()] * len(table.groups)
    best = scores.groups.names.index(table.most_selected)
    return estimates(impact_ratios(scores, best, confidence=confidence)[0])


def _decided_groups(scores: Scores, table: GroupTable, setting: ColumnSetting) -> tuple[GroupMeasures, ...]:
    names, confidence = scores.groups.names, setting.config.confidence
    ratios = ratios_to_best(scores, table, confidence)
    if not setting.has_label:
        return tuple(map(GroupMeasures, names, ratios))
    heads = scores.counts.total if scores.counts.heads is None else scores.counts.heads
    positives = heads[0, :, 1].astype(int).tolist()
    accuracy = estimates(rate_intervals(scores.counts, "accuracy", confidence)[0])
    return tuple(map(GroupMeasures, names, ratios, positives, accuracy))


def measured_score(
    name: str,
    values: FloatArray,
    labels: BitArray | None,
    settings: Sequence[ColumnSetting],
    clusters: IntArray | None = None,
) -> MeasuredScore:
    """Return the measures of a score, of which higher is favourable, overall and between the groups of every column."""
    config = settings[0].config
    order = np.argsort(values, kind="stable")  # every column sorts again, which is quick for sorted values
    values, labels = values[order], None if labels is None else labels[order]
    clusters = None if clusters is None else np.unique(clusters[order], return_inverse=True)[1].ravel()
    places = np.unique(values, return_inverse=True)[1].astype(np.float64)  # ranks, so that rounding merges no scores
    auc = Estimate()
    if labels is not None:
        auc = estimates(auc_intervals(places[None], labels, config.confidence, clusters=clusters))[0]
    least, median, most = (float(one) for one in np.sort(sign(config) * np.quantile(values, (0.0, 0.5, 1.0))) + 0.0)
    return MeasuredScore(
        name=name,
        least=least,
        median=median,
        most=most,
        at_median=int(np.count_nonzero(values == np.median(values))),
        columns=tuple(
            ranked_column(ScoredRows(values, one.groups.take(order), labels, clusters), one) for one in settings
        ),
        auc=auc,
        is_lower_better=config.lower_is_better,
    )


def ranked_column(graded: ScoredRows, setting: ColumnSetting) -> ColumnRanking:
    """Return the measures of a score between the groups of one column."""
    confidence = setting.config.confidence
    _, above = scoring_rates(graded)
    scoring = impact(0, above, setting, has_label=False)
    ratios = ratios_to_best(above, scoring, confidence)
    return ColumnRanking(
        scoring=scoring,
        lowest=estimates(ratio_intervals(above, "demographic_parity_ratio", confidence))[0],
        groups=tuple(_groups(graded, ratios, setting)),
        sweep=tuple(_sweep(graded, setting)),
        calibration=tuple(_calibration(graded, setting)),
    )


def _groups(graded: ScoredRows, ratios: list[Estimate], setting: ColumnSetting) -> Iterator[GroupRanking]:
    names, config = setting.groups.names, setting.config
    mean, deviation = means(graded)
    differences = standardised_differences(graded, names.index(setting.reference), config.confidence)
    aucs = estimates(auc_by_group(graded, config.confidence))
    curves = roc_by_group(graded)
    for code, (name, ratio, difference) in enumerate(zip(names, ratios, estimates(differences), strict=True)):
        yield GroupRanking(
            group=name,
            mean=plain(sign(config) * mean[code]),
            deviation=plain(deviation[code]),
            scoring_ratio=ratio,
            difference=difference,
            auc=aucs[code],
            false_positive_rates=tuple(curves[code].false_positive_rate.tolist()),
            true_positive_rates=tuple(curves[code].true_positive_rate.tolist()),
        )


def _sweep(graded: ScoredRows, setting: ColumnSetting) -> Iterator[CutoffPoint]:
    """Yield rates, gap and ratio of the decisions at a series of cutoffs, with pointwise confidence intervals.

    Each cutoff selects a given share of the rows; the highest cutoff comes first.
    """
    found, config = sweep(graded), setting.config
    scores, confidence = found.scores, config.confidence
    overall = scores.counts.overall()
    selected = estimates(rate_intervals(overall, "selection_rate", confidence))
    right = estimates(rate_intervals(overall, "accuracy", confidence))
    gaps = estimates(gap_intervals(scores, "demographic_parity_difference", confidence))
    ratios = estimates(ratio_intervals(scores, "demographic_parity_ratio", confidence))
    rates = rate_intervals(scores.counts, "selection_rate", confidence)
    for place, cutoff in enumerate(found.cutoffs):
        yield CutoffPoint(
            cutoff=float(sign(config) * cutoff) + 0.0,
            selection_rate=selected[place],
            rates=tuple(estimates(rates[place])),
            gap=gaps[place],
            ratio=ratios[place],
            accuracy=right[place] if setting.has_label else Estimate(),
        )


def _calibration(graded: ScoredRows, setting: ColumnSetting) -> Iterator[CalibrationBin]:
    found = calibration_by_group(graded, confidence=setting.config.confidence)
    if found is None:
        return
    ends = sign(setting.config) * found.edges + 0.0
    for place in range(len(ends) - 1):
        low, high = np.sort(ends[place : place + 2])
        rates = estimates(found.rate[:, place])
        yield CalibrationBin(
            low=float(low),
            high=float(high),
            rows=tuple(found.rows[:, place].tolist()),
            rates=tuple(rate if rate.value is not None else Estimate() for rate in rates),
        )


def run_measure(
    source: str | Path | pd.DataFrame | Mapping[str, ArrayLike],
    roles: Roles,
    config: MeasureConfig,
    *,
    counts: bool = False,
) -> MeasureDocument:
    """Read a table of decisions and scores, and return their measures as a document."""
    started = time.perf_counter()
    roles = replace(roles, given=config.given, members=config.reading.group_column, period=config.by)
    roles = replace(roles, probabilities=config.group_probabilities)
    table = load_decided(source, roles, config.reading, counts=counts)
    loaded = time.perf_counter()
    with one_thread():
        document = measured(table, config)
    timings = {"load": loaded - started, "measure": time.perf_counter() - loaded}
    return document.but(timings=timings)


def measured(table: DecidedTable, config: MeasureConfig) -> MeasureDocument:
    """Return the measures of a table of decisions and scores as a document."""
    _refuse_without_label(table, config)
    columns = _columns(table, config)
    primary = named_groups(columns, config.primary)
    has_label, strata = table.label is not None, strata_of(table.given)
    settings = []
    for place, groups in enumerate(columns):
        reference = groups.reference(config.control if groups is primary else None)
        is_named = groups is primary and config.control is not None
        settings.append(ColumnSetting(groups, place, groups.names[reference], has_label, config, is_named, strata))
    made, cutoff, values = given_decisions(table, config), resolved_cutoff(table, config), oriented(table, config)
    score_measures = None
    if table.score is not None and values is not None:
        labels = _labels(table) if has_label else None
        score_measures = measured_score(table.score.column, values, labels, settings, table.members)
    resolved = replace(
        config,
        cutoff=None if config.cutoff is None else str(cutoff),
        primary=primary.column,
        control=next(one.reference for one in settings if one.groups is primary),
    )
    decisions = _decisions(table, made, settings, primary)
    document = MeasureDocument(
        environment=environment(),
        config=resolved,
        dataset=_table(table, settings, primary, made),
        decisions=decisions,
        score=score_measures,
        factors=() if table.given else tuple(_factors(table, settings, made[0], decisions[0])),
    )
    return document.but(warnings=cautions(document))


def _refuse_without_label(table: DecidedTable, config: MeasureConfig) -> None:
    """Refuse a gap to watch period by period that needs true outcomes where there are none."""
    metric = metric_of(config.metric)
    if config.by is not None and table.label is None and metric is not None and metric.needs_label:
        raise ConfigError(
            f"option 'metric' (--metric) is {config.metric!r}, which needs the true outcomes, and there is no label; "
            "name it with label=... (--label COLUMN)"
        )


def _factors(
    table: DecidedTable, settings: Sequence[ColumnSetting], made: GivenDecisions, found: MeasuredDecisions
) -> Iterator[FactorHint]:
    """Yield columns that reverse or remove the difference between groups of another sensitive column."""
    for setting in settings[: len(table.sensitive)]:
        groups = setting.groups
        factors = (*table.factors, *(one for one in table.sensitive if one.column != groups.column))
        decisions = _all_decisions(table, [made], groups)
        yield from factor_hints(decisions, found.of_column(groups.column), factors, setting.config.confidence)


def _columns(table: DecidedTable, config: MeasureConfig) -> tuple[Groups, ...]:
    """Return the groups of each sensitive column and of their intersection; small groups are marked as not compared."""
    columns = table.columns
    if config.fewest is not None:
        columns = tuple(groups.setting_aside(config.fewest, (slice(None),)) for groups in columns)
    asked_for = {*(groups.column for groups in table.sensitive), config.primary or ""}
    return comparable(columns, asked_for, config.fewest)


def _labels(table: DecidedTable) -> BitArray:
    """Return the labels as 0 and 1; all 0 without a label column, as selection rates do not depend on labels."""
    return np.zeros(len(table), np.uint8) if table.label is None else table.label.y.astype(np.uint8)


def _all_decisions(table: DecidedTable, made: Sequence[GivenDecisions], groups: Groups) -> Decisions:
    """Return all sets of decisions about the rows, with the groups of one column."""
    bits = np.stack([given.bits for given in made])
    return Decisions(bits, _labels(table), groups, clusters=table.members)


def _probable(table: DecidedTable, bits: BitArray, config: MeasureConfig) -> ProbableMeasures | None:
    """Return the weighted rates of groups that are known by probability only, and their bounds; None without them."""
    groups = table.probable
    if groups is None:
        return None
    soft = SoftGroups(groups.probabilities.copy(), bits, table.members)
    reference = int(soft.sizes.argmax())
    found = (
        soft_rates(soft, config.confidence),
        rate_bounds(soft, config.confidence),
        soft_differences(soft, reference, config.confidence),
    )
    parts = [ProbableGroup(*one) for one in zip(groups.names, soft.sizes.tolist(), *map(estimates, found), strict=True)]
    parts[reference] = parts[reference].but(difference=Estimate())  # it is not compared with itself
    return ProbableMeasures(groups.names[reference], tuple(parts))


def _watching(table: DecidedTable, decisions: Decisions, settings: Sequence[ColumnSetting]) -> Sequence[ColumnSetting]:
    """Return the settings with the periods to watch; all watched rates of all columns share the error equally."""
    if (periods := table.periods) is None:
        return settings
    config = settings[0].config
    metric = config.metric
    number = sum(watched_rates(replace(decisions, groups=one.groups), metric) for one in settings)
    share = (1 - config.confidence) / max(number, 1)
    return [
        replace(one, watch=Watch(periods, metric, share, config, one.reference if one.is_named else None))
        for one in settings
    ]


def _decisions(
    table: DecidedTable, made: Sequence[GivenDecisions], settings: Sequence[ColumnSetting], primary: Groups
) -> tuple[MeasuredDecisions, ...]:
    together = _all_decisions(table, made, primary)
    settings = _watching(table, together, settings)
    by_column = [measured_column(replace(together, groups=one.groups), one) for one in settings]
    columns, labels = list(zip(*by_column, strict=True)), together.labels
    overall = overall_estimates(together, settings[0].config.confidence)
    if table.label is None:
        overall["accuracy"] = overall["balanced_accuracy"] = [Estimate()] * len(made)
    is_constant = together.is_constant
    return tuple(
        MeasuredDecisions(
            name=given.name,
            how=given.how,
            favourable=given.favourable,
            unfavourable=given.unfavourable,
            selected=int(given.bits.sum()),
            selection_rate=overall["selection_rate"][place],
            is_constant=bool(is_constant[place]),
            columns=columns[place],
            cutoff=given.cutoff,
            tied=given.tied,
            accuracy=overall["accuracy"][place],
            balanced_accuracy=overall["balanced_accuracy"][place],
            follows_label=table.label is not None and bool((given.bits == labels).all()),
            probable=_probable(table, given.bits, settings[0].config),
        )
        for place, given in enumerate(made)
    )


def _table(
    table: DecidedTable, settings: Sequence[ColumnSetting], primary: Groups, made: Sequence[GivenDecisions]
) -> MeasuredTable:
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


def _fingerprint(table: DecidedTable, made: Sequence[GivenDecisions]) -> str:
    """Return the SHA-256 of groups, decisions, labels and scores, which does not depend on the order of rows."""
    names = [(groups.column, groups.names) for groups in table.sensitive]
    digest = sha256(repr((names, [given.name for given in made], table.label is not None)).encode())
    kinds = np.zeros(len(table), dtype=np.int64)
    for groups in table.sensitive:
        kinds = kinds * len(groups.names) + groups.codes
    for bits in (_labels(table), *(given.bits for given in made)):
        kinds = 2 * kinds + bits
    for part in np.unique(kinds, return_counts=True):
        digest.update(part.astype(np.int64).tobytes())
    if table.score is not None:
        digest.update(table.score.values[np.lexsort((table.score.values, kinds))].tobytes())
    return digest.hexdigest()
