"""What the holdout says about the selected model: the strip, every gap in every sensitive column.

The model of a first choice was fixed before the holdout was seen, so it is judged alone. All its verdicts together err
with alpha = 1 - confidence at most: the claim, the gap that it was selected by, has 0.8 alpha, and the other cells
share the rest. Once the claim is shown to be fairer or less fair, only the other side of it can still be wrong, and the
share of this side, 0.4 alpha, passes on to the other cells.

A model chosen with the holdout in sight is one of many: limits that hold for all models together are all there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fairenum.auditing.field import Field
from fairenum.auditing.lineup import Lineup
from fairenum.auditing.scorecard import GAPS, stream
from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import GapChange, Optimism, Selection
from fairenum.document.performance import ACCURACY, PerformanceMeasure
from fairenum.document.terms import Gap, Verdict
from fairenum.document.value import Estimate, Parts
from fairenum.experiment import PARTS
from fairenum.scoring import Decisions
from fairenum.scoring.alone import is_coarse, judge_alone
from fairenum.scoring.estimates import estimates
from fairenum.scoring.performance import performance_changes

CLAIM = 0.8  # share of the error that the claim has
PLACE = len(PARTS) + 3  # of the random numbers


def judge_first(selection: Selection, field: Field, lineup: Lineup, config: AuditConfig) -> Selection:
    """Judge the first choice of a run alone; by the table of all models where the holdout has chosen it, too."""
    division = lineup.division
    if division.is_exploratory or selection.outcome != "selected" or selection.rank is None:
        return judge_again(selection, field, config).but(is_in_sight=division.is_exploratory)
    place = lineup.ranks.index(selection.rank)
    decisions = {groups.column: lineup.decisions("holdout", groups.column) for groups in division.columns}
    strip = strip_alone(_strip(selection, field, config), decisions, place, config)
    everyone, values = lineup.decisions("holdout", None), lineup.values("holdout")[[0, place]]
    pair = replace(everyone, predictions=everyone.predictions[[0, place]])

    def changed(measure: PerformanceMeasure, confidence: float) -> Estimate:
        found = performance_changes(pair, values, measure, stream(config, PLACE), confidence=confidence)
        return estimates(found)[1]

    measure, confidence = selection.tolerances.measure, config.confidence
    floor = changed(measure, 2.0 * confidence - 1.0).low if confidence > 0.5 else None
    performance = changed(measure, confidence), changed(ACCURACY, confidence)
    return _told(selection.but(performance_floor=floor), field, strip, *performance)


def judge_again(selection: Selection, field: Field, config: AuditConfig) -> Selection:
    """Judge a choice made with the holdout in sight, by what the document keeps of all models together."""
    selection = selection.but(is_in_sight=True)
    if selection.outcome != "selected" or selection.rank is None:
        return selection.but(confirmed=_confirmed(selection, field))
    scores = field.model(selection.rank).scores.holdout
    performance, accuracy = (one.change or Estimate() for one in (scores.performance, scores.accuracy))
    strip = _strip(selection, field, config)
    return _told(selection.but(performance_floor=performance.low), field, strip, performance, accuracy)


def strip_alone(
    strip: Sequence[GapChange], decisions: dict[str, Decisions], place: int, config: AuditConfig
) -> tuple[GapChange, ...]:
    """Judge the cells of a strip, the claim first, each at its share of the error.

    Parameters
    ----------
    strip
        The cells, with what they hold whoever judges them.
    decisions
        Of all models about the holdout, by sensitive column.
    place
        Of the selected model.
    config
        Confidence, and the margin within which gaps are the same.

    Returns
    -------
    tuple
        The cells, with other limits and verdicts.
    """

    def marked(cell: GapChange) -> GapChange:
        is_few = is_coarse(decisions[cell.column], place, cell.metric, config.min_group_size)
        return cell.but(is_coarse=cell.change.low is not None and is_few)

    def judged(cell: GapChange, error: float) -> GapChange:
        if cell.change.low is None:
            return cell
        confidence = 1.0 - error
        found = judge_alone(
            decisions[cell.column], place, cell.metric, confidence=confidence, margin=config.same_within
        )
        verdict = found.verdict and Verdict.OPEN if cell.is_coarse else found.verdict
        return cell.but(change=estimates(found.change[None])[0], verdict=verdict, confidence=confidence)

    alpha = 1.0 - config.confidence
    claim = [judged(cell, CLAIM * alpha) for cell in strip if cell.is_claim]
    is_shown = any(cell.verdict in (Verdict.FAIRER, Verdict.LESS_FAIR) for cell in claim)
    others = [marked(cell) for cell in strip if not cell.is_claim]
    # what rests on a handful of rows is left open, and takes no share from what can be told
    told = sum(cell.change.low is not None and not cell.is_coarse for cell in others)
    share = (1.0 - CLAIM / 2.0 if is_shown else 1.0 - CLAIM) / max(told, 1)
    return (*claim, *(judged(cell, share * alpha) for cell in others))


def _strip(selection: Selection, field: Field, config: AuditConfig) -> tuple[GapChange, ...]:
    """List every gap in every sensitive column, as the table of all models has it; the claim, and its column, first."""
    claim = selection.column, selection.tolerances.metric
    first, chosen = (one.scores.holdout for one in (field.reference, field.model(selection.rank or 1)))
    columns = sorted(chosen.by_column, key=lambda column: column != selection.column)
    cells = [(column, metric) for column in columns for metric in GAPS]

    def shown(column: str, metric: Gap) -> GapChange:
        gap = chosen.by_column[column].gap(metric)
        return GapChange(
            column=column,
            metric=metric,
            is_claim=(column, metric) == claim,
            first=first.by_column[column].gap(metric).alone,
            selected=gap.alone,
            change=gap.change or Estimate(),
            confidence=config.confidence,
            verdict=gap.verdict,
        )

    return tuple(shown(*cell) for cell in sorted(cells, key=lambda cell: cell != claim))


def _told(
    selection: Selection, field: Field, strip: tuple[GapChange, ...], performance: Estimate, accuracy: Estimate
) -> Selection:
    """Say what the chosen model gains, on the rows that chose it and on those that did not."""
    scores = field.model(selection.rank or 1).scores
    gaps = Parts(*(part.gap(selection.tolerances.metric) for part in (scores.selection, scores.holdout)))
    claim = next((cell for cell in strip if cell.is_claim), None)
    changes = Parts(gaps.selection.change or Estimate(), claim.change if claim else Estimate())
    return selection.but(
        gap_change=changes,
        performance_change=Parts(scores.selection.performance.change or Estimate(), performance),
        accuracy_change=Parts(scores.selection.accuracy.change or Estimate(), accuracy),
        verdict=claim.verdict if claim else None,
        optimism=Optimism(Parts(gaps.selection.alone, gaps.holdout.alone), _observed(changes), expected=None),
        strip=strip,
        confirmed=_confirmed(selection, field),
    )


def _confirmed(selection: Selection, field: Field) -> tuple[int, ...]:
    """List the other candidates that the holdout shows to be fairer, all models judged together."""
    metric = selection.tolerances.metric
    return tuple(
        rank
        for rank in selection.candidates
        if rank not in (selection.rank, field.reference.rank)
        if field.model(rank).scores.holdout.gap(metric).verdict is Verdict.FAIRER
    )


def _observed(changes: Parts[Estimate]) -> Estimate:
    """Subtract what the selection split showed from what the holdout shows.

    What was shown is a fact; what is unknown is the change itself, and its limits are those of the holdout.
    """
    shown = changes.selection.value
    ends = (changes.holdout.value, changes.holdout.low, changes.holdout.high)
    return Estimate(*(None if shown is None or end is None else end - shown for end in ends))
