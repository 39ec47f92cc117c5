"""The words of an audit: what it is about, what came out and why, and what its figures show."""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.audit import AuditDocument
from fairenum.document.choice import Explanation
from fairenum.document.consequences import claim_of
from fairenum.document.incumbent import Incumbent
from fairenum.document.models import AuditedModel, Multiplicity
from fairenum.document.table import TableFacts
from fairenum.rendering.numbers import counted, estimate, percent, share, signed
from fairenum.rendering.text import capitalised, sentence_list, shortened
from fairenum.report.wording import (
    GAPS,
    GROUP_WIDTH,
    IN_USE,
    LONGEST,
    TABLE_WIDTH,
    arbitrariness,
    model_name,
    performance_of,
    reference_name,
    short,
    standing,
)
from fairenum.report.wording.choosing import reason, with_article
from fairenum.report.wording.method import operating_point
from fairenum.report.wording.remedies import remedies

SELECTED_BY = (
    "Models are found on the training rows, chosen on the selection split and judged on the holdout, which had no part "
    "in the choice. What looks like a gain on the left is one only if it is still there on the right."
)
RANK_CAPTION = (
    "Model by model in the order of their objective: what is lost of it, and gap and performance on the holdout with "
    "their intervals."
)
FLATTERY = "a choice flatters: about {} of the change on the selection split is expected to be the choice's own doing"
SIDE_BY_SIDE = (
    "objective: of the reduced problem, as a share of model 1's; training loss: on all training rows, above the best",
    "all else is measured on the holdout, one model at a time; the strip says what the changes of gaps show",
)
FLATTERED = "in use: flattered by these numbers if it was made with these rows"
NO_GROUPS = "No sensitive column was named, so no groups are compared."


def name(document: AuditDocument) -> str:
    """Call the table by its name."""
    return shortened(document.dataset.name, TABLE_WIDTH)


def subject(document: AuditDocument) -> str:
    """Say what was audited."""
    data = document.dataset
    columns = [short(column) for column in data.sensitive_columns]
    compared = f"groups by {sentence_list(columns)}" if columns else "no sensitive column"
    size = f"{counted(data.rows, 'row')}, {counted(len(data.features), 'feature')}"
    parts = (_in_use(document.incumbent), _weighted_by(data), _split_by(data), operating_point(document))
    more = [part for part in parts if part]
    favourable = f"favourable: {short(data.label)} = {short(data.favourable)}"
    return f"{name(document)}: " + "; ".join([size, favourable, compared, *more])


def _in_use(incumbent: Incumbent | None) -> str:
    """Name the model in use, and where a score is known alone, which scores it selects."""
    if incumbent is None:
        return ""
    side = "up to" if incumbent.is_lower_better else "from"
    cut = "" if incumbent.cutoff is None else f" {side} {incumbent.cutoff:.6g}"
    return f"in use: {short(incumbent.name)}{cut}"


def _weighted_by(data: TableFacts) -> str:
    return f"rows weighted by {short(data.weights.column)}" if data.weights else ""


def _split_by(data: TableFacts) -> str:
    """Say by which column rows were divided, and where the parts of a time begin."""
    origin = data.origin
    begins = zip(("selection", "holdout")[-len(origin.starts) :], origin.starts, strict=True) if origin.starts else ()
    starts = ", ".join(f"{part} from {short(time)}" for part, time in begins)
    column = f"split by {short(origin.column)}" if origin.column else ""
    return f"{column} ({starts})" if column and starts else column


def findings(document: AuditDocument) -> Iterator[str]:
    """Say how unequal things are, what was chosen and why, how sure that is, how far models disagree, what is next."""
    selection = document.selection
    if selection.column is not None:
        yield _gap_sentence(document, selection.column)
    yield capitalised(shortened(reason(document), LONGEST)) + "."
    yield from remedies(document)
    if selection.verdict is not None and document.selected:
        yield _change_sentence(document, document.selected)
    if words := standing.standing(document):
        yield shortened(words, LONGEST)
    yield from standing.confirmed(document)
    if document.explanation:
        yield left_out(document.explanation, is_against_incumbent=document.is_against_incumbent)
    if document.multiplicity and document.multiplicity.models > 1:
        yield _multiplicity_sentence(document.multiplicity, document.dataset.weights is not None)
    if document.arbitrariness:
        yield arbitrariness.finding(document, document.arbitrariness)
    yield from standing.next_step(document)


def _gap_sentence(document: AuditDocument, column: str) -> str:
    metric, (rank, *others) = document.selection.tolerances.metric, _unselected(document)
    scores = document.member(rank).scores.holdout
    return (
        f"On the holdout ({counted(document.dataset.splits.holdout, 'row')}) the {GAPS[metric]} difference of "
        f"{model_name(rank)} by {short(column)} is {estimate(scores.gap(metric))}; its {performance_of(document)} is "
        f"{share(scores.performance.value)}.{''.join(_another(document, other) for other in others)}"
    )


def _unselected(document: AuditDocument) -> list[int]:
    """Return what models are compared with, and of model 1 and the model in use the other one."""
    first = document.reference.rank
    return [first, *({0, 1} - {first} if document.incumbent else ())]


def _another(document: AuditDocument, rank: int) -> str:
    scores, metric = document.member(rank).scores.holdout, document.selection.tolerances.metric
    performance = f"{with_article(performance_of(document))} of {share(scores.performance.value)}"
    return f" That of {model_name(rank)} is {estimate(scores.gap(metric))}, at {performance}."


def _change_sentence(document: AuditDocument, chosen: AuditedModel) -> str:
    """Say what is known about the change, which is better known than the two gaps."""
    rows, flips = counted(document.dataset.splits.holdout, "row"), flipped(document, chosen)
    claim = claim_of(document)
    if flips == 0 or claim is None:
        return f"It decides all {rows} of the holdout as {reference_name(document)} does."
    change = f"the gap changes by {estimate(claim.change, signed)}, {judged(document)}."
    if flips is None:
        return f"Against {reference_name(document)} {change}"
    return f"It decides {flips} of {rows} of the holdout otherwise; {change}"


def flipped(document: AuditDocument, chosen: AuditedModel) -> int | None:
    """Count the holdout rows that a model decides otherwise than what it is compared with; None if that is not kept."""
    if not document.is_against_incumbent:
        return chosen.predictions_changed.holdout.rows
    if chosen.rank == 1:
        return document.reference.predictions_changed.holdout.rows
    if (flips := document.flips) is None or flips.rank != chosen.rank:
        return None
    return sum(one.gained + one.lost for one in next(iter(flips.by_column.values())))


def judged(document: AuditDocument) -> str:
    """Say for whom the limits of a change hold: the model that was chosen unseen, or any that may be chosen."""
    selection = document.selection
    is_alone = bool(selection.strip) and not selection.is_in_sight
    return "judged alone" if is_alone else "all models judged together"


def left_out(found: Explanation, *, is_against_incumbent: bool = False) -> str:
    """Say how much the selected model leaves out, and how little of it matters."""
    core, all_of_it = found.core, f"It leaves out {counted(found.records, 'training record')}."
    if core.records == found.records:
        return all_of_it
    # fewer may give more, where a guardrail or a tolerance stood in the way of choosing that
    is_more = core.share_of_gain is not None and core.share_of_gain > 1.0
    gain = "more than its gain" if is_more else f"{percent(core.share_of_gain)} of its gain"
    gain += " over model 1" if is_against_incumbent else ""
    return (
        f"{all_of_it} Leaving out {core.records} of them alone gives {gain} on the selection split, at an objective of "
        f"{core.objective_ratio:.6f} and a gap of {share(core.gap.selection)} there and {share(core.gap.holdout)} on "
        "the holdout."
    )


def _multiplicity_sentence(found: Multiplicity, is_weighted: bool) -> str:
    by_weight = " by weight" if is_weighted else ""
    return (
        f"The {found.models} models decide {found.flipped} of {counted(found.rows, 'holdout row')} "
        f"({percent(found.ambiguity)}{by_weight}) in more than one way; one model differs from model 1 in up to "
        f"{percent(found.discrepancy)}{by_weight}."
    )


def impact_caption(column: str, rank: int, run: str = "") -> str:
    """Say what the bars of selection rates are."""
    whose = f"{run}, {model_name(rank)}, by" if run else "By"
    highest = f"model {rank}'s highest" if rank else f"the highest of {IN_USE}"
    return (
        f"{whose} {shortened(column, GROUP_WIDTH)}. Bars: share that gets the favourable outcome, with its interval; "
        f"dashed: four fifths of {highest}."
    )


def withheld(examples: int) -> str:
    """Say that a redacted run does not show what a model leaves out."""
    return f"It leaves out {counted(examples, 'training example')}; their values were left out here."


def disagreement(found: Multiplicity) -> str:
    """Explain how far the models disagree."""
    return (
        f"Ambiguity is the share of rows that some model decides otherwise than model 1: {percent(found.ambiguity)} "
        f"of the holdout. Discrepancy is the largest share that a single one changes: {percent(found.discrepancy)}. "
        f"Disagreement is the chance that two models differ on a row: {percent(found.disagreement)}. The viable "
        f"range is how far the calibrated probability of a row moves between models; capacity is the same in bits."
    )
