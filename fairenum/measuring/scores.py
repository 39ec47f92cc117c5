"""What a score does to the groups of a sensitive column, whatever it is cut at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fairenum.document.measured_score import CalibrationBin, ColumnRanking, CutoffPoint, GroupRanking, MeasuredScore
from fairenum.document.value import Estimate
from fairenum.measuring.cutting import sign
from fairenum.measuring.decisions import Setting, impact, ratios_to_best
from fairenum.scoring import gap_intervals, rate_intervals
from fairenum.scoring.auc import auc_intervals
from fairenum.scoring.counts import BitArray, FloatArray
from fairenum.scoring.cutoffs import Graded, scoring_rates, sweep
from fairenum.scoring.estimates import estimates, plain
from fairenum.scoring.ranking import (
    auc_by_group,
    calibration_by_group,
    means,
    roc_by_group,
    standardised_differences,
)
from fairenum.scoring.ratios import ratio_intervals


def measured_score(
    name: str, values: FloatArray, labels: BitArray | None, settings: Sequence[Setting]
) -> MeasuredScore:
    """Measure a score, of which higher is favourable, between the groups of every column."""
    config = settings[0].config
    order = np.argsort(values, kind="stable")  # every column sorts again, which costs little where that is done
    values, labels = values[order], None if labels is None else labels[order]
    places = np.unique(values, return_inverse=True)[1].astype(np.float64)  # no rounding of ours tells scores apart
    auc = Estimate() if labels is None else estimates(auc_intervals(places[None], labels, config.confidence))[0]
    least, median, most = (float(one) for one in np.sort(sign(config) * np.quantile(values, (0.0, 0.5, 1.0))) + 0.0)
    return MeasuredScore(
        name=name,
        least=least,
        median=median,
        most=most,
        at_median=int(np.count_nonzero(values == np.median(values))),
        columns=tuple(ranked_column(Graded(values, one.groups.take(order), labels), one) for one in settings),
        auc=auc,
        is_lower_better=config.lower_is_better,
    )


def ranked_column(graded: Graded, setting: Setting) -> ColumnRanking:
    """Measure a score between the groups of one column."""
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


def _groups(graded: Graded, ratios: list[Estimate], setting: Setting) -> Iterator[GroupRanking]:
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


def _sweep(graded: Graded, setting: Setting) -> Iterator[CutoffPoint]:
    """Cut the score at shares of the rows, and bound every rate at every cutoff by itself."""
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


def _calibration(graded: Graded, setting: Setting) -> Iterator[CalibrationBin]:
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
