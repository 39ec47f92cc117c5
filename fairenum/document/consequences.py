"""Side effects of the selected model, from the document of an audit: wider gaps, changed rates, broken guardrails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import GapChange, GuardCheck
from fairenum.document.metric_registry import ALL, BASE_RATE
from fairenum.document.models import AuditedModel
from fairenum.document.scores import ColumnScores
from fairenum.document.table_facts import GroupSizes, LabelWeights, SensitiveColumn
from fairenum.document.terms import GAP_RATES, GAPS, RATES, Gap, GapRate, Verdict
from fairenum.document.value import Estimate

Share = tuple[float, float]


@dataclass(frozen=True, slots=True)
class GroupRates:
    """Rates of one group under one model on the holdout.

    Attributes
    ----------
    rates
        Rates by name, weighted where rows have weights; None where the denominator is 0.
    trials
        Number of rows in the denominator of each rate, by its name.
    """

    group: GroupSizes
    rates: Mapping[str, float | None]
    trials: Mapping[str, int]


def rates_of(document: AuditDocument, rank: int, column: SensitiveColumn) -> tuple[GroupRates, ...]:
    """Return the rates of every group of a column under one model on the holdout."""
    counts = document.member(rank).scores.holdout.by_column[column.column]
    return rates_by_group(column, counts)


def rates_by_group(column: SensitiveColumn, counts: ColumnScores) -> tuple[GroupRates, ...]:
    """Return the rates of every group of a column on the holdout, given what a model selects there."""
    return tuple(_rates(group, code, counts) for code, group in enumerate(column.groups))


def compared_rates(document: AuditDocument, rank: int, column: SensitiveColumn) -> Iterator[GroupRates]:
    """Yield the rates of the compared groups of a column under one model on the holdout."""
    return (one for one in rates_of(document, rank, column) if one.group.is_compared)


def _rates(group: GroupSizes, code: int, counts: ColumnScores) -> GroupRates:
    rows = _shares(group.by_label("holdout"), counts.selected_by_label(code))
    weighted, weights = rows, counts.weights
    if weights is not None:
        total = group.holdout_weights or LabelWeights(0.0, 0.0, 0.0, 0.0)
        parts = (weights.false_positives[code], weights.true_positives[code])
        weighted = _shares((total.unfavourable, total.favourable), parts)
    rates = {name: outcomes / trials if trials else None for name, (outcomes, trials) in weighted.items()}
    return GroupRates(group, rates, {name: int(trials) for name, (_, trials) in rows.items()})


def _shares(total: Share, selected: Share) -> Mapping[str, Share]:
    """Return (numerator, denominator) of each rate by name; arguments count rows by label, the unfavourable first."""
    return {rate.key: rate.fraction(total, selected) for rate in (*RATES.values(), BASE_RATE)}


NOTABLE_GROWTH = 0.05  # rise of a gap that the model was not selected by
NOTABLE_MOVE = 0.1  # change of the selection rate
NOTABLE_LOSS = 0.02  # fall of balanced accuracy
NOTABLE_LEAD, NOTABLE_REVERSAL = 0.02, 0.05  # differences of two rates, before and after their order is reversed
NOTABLE_FALL = 0.02  # fall of the rate of the best-off group
EVERYBODY, NOBODY = 0.9, 0.1
ROUNDING = 1e-9  # largest rounding error of a difference of two shares
SOME_ROWS = tuple(rate.key for rate in RATES.values() if rate.trials != ALL)  # rates whose denominator is not all rows


class Moved(NamedTuple):
    """One measure for two models: the reference, and the selected model."""

    first: float
    selected: float

    @property
    def change(self) -> float:
        """The measure of the selected model minus that of the reference."""
        return self.selected - self.first


class Reversal(NamedTuple):
    """Two groups, one of which has the higher rate under the reference, the other under the selected model.

    Attributes
    ----------
    cell
        Change, from the reference to the selected model, of the gap that compares `rate` between groups.
    names
        The group with the lower rate under the reference, then the group with the higher rate.
    behind, ahead
        The rates of these groups under both models.
    """

    cell: GapChange
    rate: GapRate
    names: tuple[str, str]
    behind: Moved
    ahead: Moved


def other_model(document: AuditDocument) -> AuditedModel | None:
    """Return the selected model if it is not the reference; None otherwise."""
    return document.selected if document.selection.rank != document.reference.rank else None


def ended_with(document: AuditDocument) -> int | None:
    """Return the rank of the selected model, or 0 if the model in use stays; None if no model was selected."""
    is_kept = document.is_against_incumbent and document.selection.outcome == "kept"
    return 0 if is_kept else document.selection.rank


def is_nothing_comparable(document: AuditDocument) -> bool:
    """Tell whether no model could be compared with the model in use, so that the search says nothing about it."""
    return document.is_against_incumbent and document.selection.answer == "not comparable"


def preferred(document: AuditDocument) -> int | None:
    """Return the rank of the model that an audit ends with; None if no other could be compared with it."""
    return None if is_nothing_comparable(document) else ended_with(document)


def strip_of(document: AuditDocument) -> tuple[GapChange, ...]:
    """Return the change of every gap on the holdout, in every sensitive column, from reference to selected model.

    Empty if the selected model is the reference. If the document's choice lists no changes, they are taken from the
    scores of the models, with limits that hold for all models together.
    """
    chosen = other_model(document)
    if chosen is None:
        return ()
    return document.selection.strip or tuple(sorted(_cells(document, chosen), key=lambda cell: not cell.is_claim))


def _cells(document: AuditDocument, chosen: AuditedModel) -> Iterator[GapChange]:
    metric, columns = document.selection.tolerances.metric, document.dataset.sensitive
    for column in sorted(columns, key=lambda column: not column.is_primary):
        old, new = (one.scores.holdout.by_column[column.column] for one in (document.reference, chosen))
        for gap in GAPS:
            verdict = None if chosen.is_constant else new.gap(gap).verdict
            yield GapChange(
                column=column.column,
                metric=gap,
                is_claim=column.is_primary and gap == metric,
                first=old.gap(gap).alone,
                selected=new.gap(gap).alone,
                change=new.gap(gap).change or Estimate(),
                confidence=document.config.confidence,
                verdict=verdict,
            )


def claim_of(document: AuditDocument) -> GapChange | None:
    """Return the change of the gap that the model was selected by; None if the selected model is the reference."""
    return next((cell for cell in strip_of(document) if cell.is_claim), None)


def whole_of(pair: GapChange, cells: Iterable[GapChange]) -> GapChange | None:
    """Return the change of the same gap over all groups, if the strip also has it between two groups."""
    same = [cell for cell in cells if (cell.column, cell.metric) == (pair.column, pair.metric)]
    whole = next((cell for cell in same if cell.pair is None), None)
    return whole if any(cell.pair for cell in same) else None


def less_fair(document: AuditDocument) -> list[GapChange]:
    """Return the changes of gaps that the holdout shows to be wider, except the gap that the model was selected by."""
    return [cell for cell in strip_of(document) if not cell.is_claim and cell.verdict is Verdict.LESS_FAIR]


def wider(document: AuditDocument, column: str | None = None) -> list[GapChange]:
    """Return the changes of gaps that are shown to be wider or look notably wider, in all columns or in one.

    The gap that the model was selected by is not among them.
    """
    return [
        cell
        for cell in strip_of(document)
        if not cell.is_claim and column in (None, cell.column)
        if cell.verdict is Verdict.LESS_FAIR or (cell.change.value or 0.0) >= NOTABLE_GROWTH - ROUNDING
    ]


class ShownGap(NamedTuple):
    """A gap of the reference on the holdout, with an interval that is above 0 by itself."""

    column: str
    metric: Gap
    value: Estimate


def other_shown_gaps(document: AuditDocument) -> list[ShownGap]:
    """Return the gaps of the reference that the holdout shows, except the gap that models are selected by."""
    by_column = document.reference.scores.holdout.by_column
    claim = document.selection.column, document.selection.tolerances.metric
    found = [
        ShownGap(column, gap, scores.gap(gap).alone)
        for column, scores in by_column.items()
        for gap in GAPS
        if (column, gap) != claim and (scores.gap(gap).low or 0.0) > 0.0
    ]
    return sorted(found, key=lambda one: one.column != document.selection.column)


def broken_guards(document: AuditDocument) -> list[GuardCheck]:
    """Return the guardrails whose value, measured on the holdout for the selected model, lies outside their limits."""
    return [check for check in document.selection.guards if not check.is_kept]


def selection_moved(document: AuditDocument) -> Moved | None:
    """Return the selection rates of reference and selected model if they differ notably; None otherwise.

    They count as notably different, too, if only the selected model selects nearly everybody or nearly nobody.
    """
    moved = _moved(document, "selection_rate")
    if moved is None:
        return None
    is_far = abs(moved.change) >= NOTABLE_MOVE - ROUNDING
    is_all = moved.first < EVERYBODY <= moved.selected or moved.selected <= NOBODY < moved.first
    return moved if is_far or is_all else None


def balance_lost(document: AuditDocument) -> Moved | None:
    """Return the balanced accuracy of reference and selected model if it falls notably; None otherwise."""
    moved = _moved(document, "balanced_accuracy")
    return moved if moved and moved.change <= ROUNDING - NOTABLE_LOSS else None


def _moved(document: AuditDocument, measure: str) -> Moved | None:
    chosen = other_model(document)
    if chosen is None:
        return None
    first, selected = (getattr(one.scores.holdout, measure).value for one in (document.reference, chosen))
    return None if first is None or selected is None else Moved(first, selected)


def is_levelled_down(document: AuditDocument) -> bool:
    """Tell whether the gap is smaller because the rate of the best-off group fell, while that of no group rose."""
    claim = claim_of(document)
    if claim is None or (claim.change.value or 0.0) >= 0.0:
        return False
    rate = RATES[GAP_RATES[claim.metric][0]]
    if not rate.is_benefit:
        return False
    moves = [move for _, move in _moves(document, claim.column, rate.key)]
    best = max(moves, key=lambda move: move.first, default=Moved(0.0, 0.0))
    return best.change <= -NOTABLE_FALL and all(move.change <= 0.0 for move in moves)


def reversals(document: AuditDocument, column: str | None = None) -> Iterator[Reversal]:
    """Yield, for each gap, the two groups of lowest and highest rate if the selected model reverses their order.

    Small groups do not count; `column` restricts the gaps to one sensitive column.
    """
    for cell in strip_of(document):
        rate, *others = GAP_RATES[cell.metric]
        if column not in (None, cell.column) or others or cell.pair:
            continue  # rates that are compared together have gaps of their own, and pairs the gap over all groups
        small = {group.name for group in column_named(document, cell.column).groups if group.is_small}
        if found := _reversed([move for move in _moves(document, cell.column, rate) if move[0] not in small]):
            (behind, low), (ahead, high) = found
            yield Reversal(cell, rate, (behind, ahead), low, high)


def _reversed(moves: list[tuple[str, Moved]]) -> tuple[tuple[str, Moved], tuple[str, Moved]] | None:
    if len(moves) < 2:
        return None
    low, high = (end(moves, key=lambda one: one[1].first) for end in (min, max))
    before, after = high[1].first - low[1].first, low[1].selected - high[1].selected
    return (low, high) if before >= NOTABLE_LEAD and after >= NOTABLE_REVERSAL else None


def _moves(document: AuditDocument, name: str, rate: GapRate) -> list[tuple[str, Moved]]:
    """Return (group, rate under both models) for each compared group in which the rate is defined under both."""
    column, ranks = column_named(document, name), (document.reference.rank, document.selection.rank or 1)
    pairs = zip(*(compared_rates(document, rank, column) for rank in ranks), strict=True)
    known = [(old.group.name, old.rates[rate], new.rates[rate]) for old, new in pairs]
    return [(group, Moved(old, new)) for group, old, new in known if old is not None and new is not None]


def column_named(document: AuditDocument, name: str) -> SensitiveColumn:
    """Return a sensitive column by its name."""
    return next(column for column in document.dataset.sensitive if column.column == name)


def few_trials(document: AuditDocument, column: SensitiveColumn) -> list[tuple[str, int, GapRate]]:
    """Return (group, rows, rate) for each rate of a compared group whose denominator has too few rows.

    Small groups are left out; `rows` is the least denominator under the model in use, model 1 and the selected model.
    """
    tables = [tuple(compared_rates(document, rank, column)) for rank in document.shortlist]
    found: list[tuple[str, int, GapRate]] = []
    for groups in zip(*tables, strict=True):
        for rate in SOME_ROWS:
            trials = min(one.trials[rate] for one in groups)
            is_counted = groups[0].group.holdout and not groups[0].group.is_small
            if is_counted and trials < document.config.min_group_size:
                found.append((groups[0].group.name, trials, rate))
    return found
