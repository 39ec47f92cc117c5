"""The words of an audit: what it is about, what came out and why, and what its figures show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairenum.document.audit import AuditDocument
from fairenum.document.choice import Explanation
from fairenum.document.consequences import claim_of
from fairenum.document.models import AuditedModel, Multiplicity, PossibleRange
from fairenum.document.table import TableFacts
from fairenum.document.terms import Reason
from fairenum.rendering.numbers import UNDEFINED, counted, estimate, percent, share, signed
from fairenum.rendering.text import capitalised, sentence_list, shortened
from fairenum.report.wording import GAPS, GROUP_WIDTH, LONGEST, TABLE_WIDTH, performance_of, short, standing
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
BASELINE = (
    "Model 1, the best by its training objective, stands for the model in use. Alternatives are measured against it."
)
SIDE_BY_SIDE = (
    "objective: of the reduced problem, as a share of model 1's; training loss: on all training rows, above the best",
    "all else is measured on the holdout, one model at a time; the strip says what the changes of gaps show",
)
NO_GROUPS = "No sensitive column was named, so no groups are compared."
NO_CATEGORIES = "No sensitive column was named, so there are no categories."
WIDENED = " (as much as a listed model loses on all rows, those that it left out among them)"


def name(document: AuditDocument) -> str:
    """Call the table by its name."""
    return shortened(document.dataset.name, TABLE_WIDTH)


def subject(document: AuditDocument) -> str:
    """Say what was audited."""
    data = document.dataset
    columns = [short(column) for column in data.sensitive_columns]
    compared = f"groups by {sentence_list(columns)}" if columns else "no sensitive column"
    size = f"{counted(data.rows, 'row')}, {counted(len(data.features), 'feature')}"
    more = [part for part in (_weighted_by(data), _split_by(data), operating_point(document)) if part]
    favourable = f"favourable: {short(data.label)} = {short(data.favourable)}"
    return f"{name(document)}: " + "; ".join([size, favourable, compared, *more])


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
    """Say how unequal model 1 is, what was chosen and why, how sure that is, how far models disagree, what is next."""
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
        yield left_out(document.explanation)
    if document.multiplicity.models > 1:
        yield _multiplicity_sentence(document.multiplicity, document.dataset.weights is not None)
    yield from standing.next_step(document)


def _gap_sentence(document: AuditDocument, column: str) -> str:
    scores, metric = document.first.scores.holdout, document.selection.tolerances.metric
    return (
        f"On the holdout ({counted(document.dataset.splits.holdout, 'row')}) the {GAPS[metric]} difference of model 1 "
        f"by {short(column)} is {estimate(scores.gap(metric))}; its {performance_of(document)} is "
        f"{share(scores.performance.value)}."
    )


def _change_sentence(document: AuditDocument, chosen: AuditedModel) -> str:
    """Say what is known about the change, which is better known than the two gaps."""
    rows, flips = document.dataset.splits.holdout, chosen.predictions_changed.holdout.rows
    claim = claim_of(document)
    if not flips or claim is None:
        return f"It decides all {counted(rows, 'row')} of the holdout as model 1 does."
    return (
        f"It decides {flips} of {counted(rows, 'row')} of the holdout otherwise; the gap changes by "
        f"{estimate(claim.change, signed)}, {judged(document)}."
    )


def judged(document: AuditDocument) -> str:
    """Say for whom the limits of a change hold: the model that was chosen unseen, or any that may be chosen."""
    selection = document.selection
    is_alone = bool(selection.strip) and not selection.is_in_sight
    return "judged alone" if is_alone else "all models judged together"


def left_out(found: Explanation) -> str:
    """Say how much the selected model leaves out, and how little of it matters."""
    core, all_of_it = found.core, f"It leaves out {counted(found.records, 'training record')}."
    if core.records == found.records:
        return all_of_it
    return (
        f"{all_of_it} Leaving out {core.records} of them alone gives "
        f"{percent(core.share_of_gain)} of its gain on the selection split, at an objective of "
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


def reason(document: AuditDocument) -> str:
    """Say why the choice came out as it did."""
    match document.selection.reason:
        case "smallest_gap":
            return _praise(document, document.selected or document.first)
        case "only_model":
            return f"there is no other model to choose: {_alike(document.enumeration.supports)}; model 1 is kept"
        case "no_smaller_gap":
            return _no_smaller_gap(document)
        case "asked_for":
            return f"model {document.selection.rank} was asked for by its rank"
        case plain_reason:
            return REASONS[plain_reason]


REASONS: Mapping[Reason, str] = {
    "all_constant": (
        "no model within the tolerances decides anything: each gives all rows of the selection split one outcome"
    ),
    "no_sensitive_column": "no sensitive column was named, so there is no gap to reduce; model 1 is kept",
    "no_other_candidate": "no other model is within the tolerances; model 1 is kept",
}


def _alike(supports: int) -> str:
    if supports > 1:
        return f"all {supports} models that were found decide the audited rows alike"
    return "one was listed"


def _no_smaller_gap(document: AuditDocument) -> str:
    metric, others = document.selection.tolerances.metric, set(document.selection.candidates) - {1}
    gap = document.first.scores.selection.gap(metric).value
    has = f"none of the {len(others)} other models within the tolerances has"
    if len(others) == 1:
        has = "the only other model within the tolerances does not have"
    return (
        f"{has} a smaller {metric.replace('_', ' ')} on the selection split than model 1 ({_known(gap)}); "
        "model 1 is kept"
    )


def _praise(document: AuditDocument, chosen: AuditedModel) -> str:
    """Say what the selected model has less of, where it was looked for and where it was checked."""
    first, selection, metric = document.first, document.selection, document.selection.tolerances.metric
    there, here = (
        [_known(model.scores.of(part).gap(metric).value) for model in (chosen, first)]
        for part in ("selection", "holdout")
    )
    performance = [_known(model.scores.holdout.performance.value) for model in (chosen, first)]
    constant = " (which decides all rows alike)" if first.is_constant else ""
    return (
        f"of {len(selection.candidates)} models within the tolerances, model {chosen.rank} has the smallest "
        f"{metric.replace('_', ' ')} on the selection split: {there[0]} against {there[1]} of model 1{constant}; "
        f"on the holdout {here[0]} against {here[1]}, {selection.verdict}, at {_article(performance_of(document))} of "
        f"{performance[0]} against {performance[1]}"
    )


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aA' else 'a'} {noun}"


def _known(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def allowance(document: AuditDocument) -> str:
    """Say what the run allowed a model to cost, and what it chose."""
    tolerances, rank = document.selection.tolerances, document.selection.rank
    chose = "chose none" if rank is None else f"chose model {rank}"
    loss = "" if tolerances.max_loss is None else f", {percent(tolerances.max_loss)} of training loss"
    return (
        f"The run allowed {tolerances.eps:g} of the objective{loss} and {tolerances.max_performance_drop:g} of "
        f"{performance_of(document)}, and {chose}."
    )


def impact_caption(column: str, rank: int, run: str = "") -> str:
    """Say what the bars of selection rates are."""
    whose = f"{run}, model {rank}, by" if run else "By"
    return (
        f"{whose} {shortened(column, GROUP_WIDTH)}. Bars: share that gets the favourable outcome, with its interval; "
        f"dashed: four fifths of model {rank}'s highest."
    )


def selected_from(document: AuditDocument) -> str:
    """Say whose decisions impact ratios are about."""
    data = document.dataset
    table, label, favourable = (shortened(text, GROUP_WIDTH) for text in (data.name, data.label, data.favourable))
    return (
        f"Decisions of the models about {counted(data.splits.holdout, 'row')} of {table} that took no part in training "
        f"or choice (the holdout). Selected means: gets the favourable outcome, {label} = {favourable}. This is test "
        "data; whether it may stand for the tool's own history is for the auditor to say."
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


def possible(found: PossibleRange, eps: float) -> str:
    """Say what any machine of nearly the same loss could do; `eps` is what the run allowed a model to lose."""
    within = [model.value for model in found.models if model.is_within]
    least, most = (f"{end(within):.3f}" if within else UNDEFINED for end in (min, max))
    return (
        "Enumeration lists neighbours of the best machine. This strip holds for every machine of the same kernel whose "
        f"loss on the training rows is within {percent(found.eps)} of the best{WIDENED if found.eps > eps else ''}, "
        "listed or not. It measures a stand-in for the gap, the difference of mean decision values, for which the ends "
        f"of the range can be proven: none goes below {found.low.bound:.3f} or above {found.high.bound:.3f}; machines "
        f"at {found.low.attained:.3f} and {found.high.attained:.3f} were found. The models lie between {least} and "
        f"{most}."
    )


def possible_caption(found: PossibleRange) -> str:
    """Say what the strip shows."""
    return f"By {shortened(found.column, GROUP_WIDTH)}, on the holdout. Only models within the loss are shown."
