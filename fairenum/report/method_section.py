"""Sentences about how an audit was computed, what it cannot show, and what the data embedded in its page leave out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fairenum.document.audit_document import AuditDocument
from fairenum.document.correction_facts import Correction
from fairenum.document.feature_facts import EncodingComparison, FeatureEncoding
from fairenum.document.models import Incumbent, TiltedRun
from fairenum.document.reading import NONE
from fairenum.document.split_power import confirmable_words
from fairenum.document.table_facts import WeightFacts
from fairenum.document.terms import AUTO, PerformanceName
from fairenum.document.training import Decide
from fairenum.document.words import (
    GAP_NAMES,
    IN_USE,
    STAGES,
    STOPPED,
    allowed_loss,
    performance_of,
    reference_name,
    short,
)
from fairenum.report.exploration_words import OPENED_SHORT
from fairenum.runtime.formatting import capitalised, counted, percent, sentence_list, share, signed

WHOLE_COPY = "The whole run but for its timings; `fairenum report` reads it."
SHORT_MODELS = (
    "models are listed without their other gaps, other sensitive columns and certificates; examples are those of the "
    "selected model, weights those of model 1 and of it; rows that it decides differently are counted, "
    "without their splits; of many groups the largest are kept; "
)
NEARLY = 0.005  # by which the share that a model selects may differ without being named
TRAINED = (
    "This audit does not know which rows the model in use was trained on. If it has seen these rows, or their labels, "
    "its performance here is too good; that of the models is not, as they have not seen the holdout."
)
DEFINITIONS: Mapping[PerformanceName, str] = {
    "balanced_accuracy": "Balanced accuracy is the share of rows that are decided rightly, averaged over both labels.",
    "auc": (
        "The AUC is the share of pairs of a favourable and an unfavourable row whose decision values are in this "
        "order; it does not look at decisions."
    ),
    "cost": (
        "Weighted accuracy is accuracy where a false negative counts {negative:g} and a false positive {positive:g}: "
        "what mistakes cost, as a share of what they could cost, subtracted from 1."
    ),
}


def operating_point(document: AuditDocument) -> str:
    """Return a clause on where models cut their decision values, or which share they select; empty if they cut at 0."""
    rate, decide = document.config.rate, Decide.of(document.config.decide)
    if rate is not None and document.deciding_rule == "like-incumbent":
        return f"every model selects as many as {IN_USE}{_selected_share(document, rate)} of 100 in the selection split"
    if rate is not None:
        base = ", the share of favourable labels in training" if document.deciding_rule == "base-rate" else ""
        return f"every model selects {percent(rate)} of the selection split{base}"
    return f"every model is cut at a decision value of {decide.number:g}" if decide.number else ""


def _selected_share(document: AuditDocument, rate: float) -> str:
    """Return what share models select, in percent: that of the model in use, or what ties leave them."""
    rates = [model.scores.selection.selection_rate.value for model in document.models]
    least, most = (end([one for one in rates if one is not None], default=rate) for end in (min, max))
    if max(rate - least, most - rate) <= max(NEARLY, 0.5 / document.dataset.splits.selection):
        return f": {100.0 * rate:.3g}"
    shares = f"{100.0 * least:.3g} to {100.0 * most:.3g}" if most > least else f"{100.0 * least:.3g}"
    return f" ({100.0 * rate:.3g} of 100), as nearly as ties allow: {shares}"


def steps(document: AuditDocument) -> Iterator[str]:
    """Yield sentences that describe, step by step, how the numbers of an audit were computed."""
    metric = GAP_NAMES[document.selection.tolerances.metric]
    yield _division(document)
    if document.incumbent:
        yield _incumbent_sentence(document, document.incumbent)
    if weights := document.dataset.weights:
        yield _row_weights(weights)
    if encoding := document.features:
        yield _features(encoding)
    if cut := operating_point(document):
        yield f"{capitalised(cut)}. The holdout had no part in it; rows of one decision value are decided alike."
    yield _enumeration(document)
    if document.guided:
        yield (
            f"A guided search over the same models, led by the {metric} gap on the selection split, added "
            f"{counted(document.guided.models, 'model')} that decide differently. Being made to look fair there, "
            "only their holdout numbers count."
        )
    if document.tilted and document.tilted.models:
        yield _tilted(document.tilted, document)
    measure = document.selection.tolerances.measure
    yield _rule_against_incumbent(document, metric) if document.is_against_incumbent else _rule(document, metric)
    if definition := DEFINITIONS.get(measure.name):
        yield definition.format(negative=measure.false_negative, positive=measure.false_positive)
    yield (
        f"Intervals have a level of {100 * document.config.confidence:g} %. Changes against "
        f"{reference_name(document)} are paired, and their limits hold for all models together, so looking at many of "
        "them makes no gain appear."
    )
    yield from _stages_left_out(document)
    check = document.reference_check
    yield (
        f"The gaps of the shortlist were computed again by {short(check.library)}; the largest difference over "
        f"{counted(check.compared, 'number')} was {check.largest_difference:.1g}."
    )


def _rule(document: AuditDocument, metric: str) -> str:
    tolerances = document.selection.tolerances
    if explored := document.exploration:
        return (
            f"The selected model is the one that {short(explored.author)} decided for, who looked at "
            f"{counted(explored.looked_at, 'model')}, one after the other, on the selection split."
        )
    return (
        f"The selected model is the one of least {metric} gap on the selection split among those whose loss on all "
        f"training rows is at most {allowed_loss(document)} above that of model 1 and which lose at most "
        f"{tolerances.max_performance_drop:g} of {performance_of(document)} there; ties go to model 1, else to the one "
        f"of higher {performance_of(document)}."
    )


def _incumbent_sentence(document: AuditDocument, incumbent: Incumbent) -> str:
    return (
        f"The model in use {_source(incumbent)}. {_learned(document.correction)} Its decision is the label in "
        f"{percent(incumbent.agreement)} of all rows. It is scored on the same rows as the models, which are compared "
        f"with {reference_name(document) if not document.is_against_incumbent else 'it'}."
    )


def _learned(found: Correction | None) -> str:
    """Return sentences on what models have learned from the model in use."""
    if found is None:
        return "No model has learned from it."
    again = (
        " In the training rows it is that of models of the same kind, fitted on other training rows."
        if found.is_cross_fitted
        else ""
    )
    return (
        "Models have learned from its score, as one more feature whose weight the penalty on weights hardly shrinks: "
        f"the model in use is one of them, and all others correct it.{again}"
    )


def _fitted(incumbent: Incumbent) -> str:
    """Return sentences on the rows that the model in use was fitted on, as far as they are known."""
    if incumbent.trained_on is None:
        return TRAINED
    if incumbent.trained_on == NONE:
        return (
            "It is stated that the model in use was fitted on none of these rows. If it was, its performance here is "
            "too good."
        )
    return (
        f"The {counted(incumbent.fitted, 'row')} that {short(incumbent.trained_on)} marks as those that the model in "
        "use was fitted on took no part in this audit."
    )


def _source(incumbent: Incumbent) -> str:
    name = short(incumbent.name)
    if incumbent.cutoff is not None:
        side = "up to" if incumbent.is_lower_better else "from"
        return f"is known by its score, {name}: {side} {incumbent.cutoff:g} it selects"
    favourable = "" if incumbent.favourable is None else f": {short(incumbent.favourable)} is favourable"
    return f"{'was asked' if incumbent.source == 'model' else 'is known by its decisions'}, {name}{favourable}"


def _rule_against_incumbent(document: AuditDocument, metric: str) -> str:
    """Return sentences that state the rule of selection for models compared with the model in use."""
    tolerances, performance = document.selection.tolerances, performance_of(document)
    return (
        f"The selected model is the one of least {metric} gap on the selection split among those whose loss on all "
        f"training rows is at most {allowed_loss(document)} above that of model 1 and which lose at most "
        f"{tolerances.max_performance_drop:g} of {performance} against {IN_USE} there; that is kept unless a smaller "
        f"gap than its own is found. Ties go to model 1, else to the one of higher {performance}.{_slack(document)}"
    )


def _slack(document: AuditDocument) -> str:
    """Return a sentence on the training loss that a weak model in use allows; empty if it is the usual one."""
    if document.selection.tolerances.eps <= document.reach or document.incumbent is None:
        return ""
    used, first = (one.scores.selection.performance.value for one in (document.incumbent, document.first))
    return (
        f" The loss may rise by {allowed_loss(document)} instead of {100 * document.reach:g} %, "
        f"as {IN_USE} performs worse than model 1: {share(used)} against {share(first)}."
    )


def _stages_left_out(document: AuditDocument) -> Iterator[str]:
    """Yield a sentence that names the stages of the audit that options switch off, if there are any."""
    config = document.config
    why = "which needs that" if config.range else "--no-range"
    names = [
        *([] if config.prices else [f"{STAGES['prices']} (--no-prices)"]),
        *([] if config.range and config.prices else [f"{STAGES['range']} ({why})"]),
        *([] if config.explanation else [f"{STAGES['explain']} (--no-explanation)"]),
    ]
    if names:
        yield f"Not asked for: {sentence_list(names)}."
    if config.range and config.prices and config.rate is not None:
        yield (
            "The range of the gap over all near-optimal models is proven for models with one common cut "
            "(decide='sign', --decide sign), and left out here."
        )


def _tilted(run: TiltedRun, document: AuditDocument) -> str:
    tilt = next(model.tilt for model in document.models if model.tilt)
    first, second = map(short, tilt.groups)
    return (
        f"The same model was trained on all rows with a price on the difference of mean decision values between "
        f"{first} and {second}, while its loss on the training rows rose by at most {percent(run.rise)}: "
        f"{counted(run.models, 'tilted model')} that decide differently. They leave nobody out."
        f"{_cross_fitted(document)}"
    )


def _cross_fitted(document: AuditDocument) -> str:
    """Return a sentence on the rows that choose among tilted models, if training rows are among them."""
    if not any(model.prospect and model.prospect.is_crossed for model in document.models):
        return ""
    return (
        " To choose among them, training rows count beside the selection split: each was decided by models trained "
        "without it."
    )


def _division(document: AuditDocument) -> str:
    splits = document.dataset.splits
    return (
        f"The table was split into {splits.train} training, {splits.selection} selection and {splits.holdout} holdout "
        f"rows {_origin(document)}{_by_rule(document)}. Features were encoded by what the training rows show."
        f"{_power(document)}"
    )


def _features(encoding: FeatureEncoding) -> str:
    """Return a sentence about how numbers are encoded, and why."""
    if encoding.features == "additive":
        why = f": {_gain(encoding.comparison)}" if encoding.comparison else ", as asked for"
        return (
            f"Models also see whether each number is above or below cut points, {counted(encoding.added, 'column')} of "
            f"0 and 1 in all, learned from the training rows{why}."
        )
    large = "cut points would make the table too large for this audit" if encoding.is_too_large else ""
    gain = _gain(encoding.comparison) if encoding.comparison else ""
    why = "; ".join(filter(None, (gain, large)))
    return f"Models see numbers as they are, without cut points: {why}."


def _gain(found: EncodingComparison) -> str:
    return (
        f"in cross-validation on {counted(found.rows, 'training row')}, cut points change the AUC from "
        f"{found.linear:.3f} to {found.additive:.3f} ({signed(found.gain)}, standard error {found.error:.4f})"
    )


def _by_rule(document: AuditDocument) -> str:
    is_chosen = document.requested.sizes == AUTO and document.dataset.origin.how != "column"
    return ", with shares chosen for power" if is_chosen else ""


def _power(document: AuditDocument) -> str:
    """Return a sentence about the smallest change of the gap that the holdout can confirm; empty if none is known."""
    primary = document.dataset.primary
    power = confirmable_words(primary, document.config.against) if primary and not document.is_exploratory else ""
    return f" On this holdout {power}." if power else ""


def _origin(document: AuditDocument) -> str:
    origin, seed = document.dataset.origin, f"seed {document.config.seed}"
    together = f"; rows of one {short(origin.group_column)} stay together" if origin.group_column else ""
    if origin.how == "random":
        return f"({seed}{together})"
    column = short(str(origin.column))
    if origin.how == "column":
        return f"as {column} marks them" + (
            f", selection drawn from train ({seed}{together})" * origin.is_selection_drawn
        )
    begins = zip(("selection", "holdout")[-len(origin.starts) :], origin.starts, strict=True)
    starts = ", ".join(f"{part} starts at {short(time)}" for part, time in begins)
    return f"in the order of {column}" + (f" ({starts})" if starts else "")


def _row_weights(weights: WeightFacts) -> str:
    dropped = f" {counted(weights.left_out, 'row')} of weight 0 took no part." if weights.left_out else ""
    return (
        f"Rows count what {short(weights.column)} says, on average 1 in each split: in training, where a row's weight "
        f"multiplies C, in every rate, and in the intervals, which are about as wide as of {weights.selection:.0f} "
        f"selection and {weights.holdout:.0f} holdout rows that count alike.{dropped}"
    )


def _enumeration(document: AuditDocument) -> str:
    svm, found = document.config.svm, document.enumeration
    return (
        f"Support vector machines with a {svm.kernel} kernel and C = {svm.cost:g}{_class_weights(document)} "
        f"were enumerated best first by EnumSV (Kanamori et al. 2019) with solver {short(svm.solver)}: each "
        f"differs from the best one in the training examples it is not shown. The search saw "
        f"{counted(found.supports, 'model')} with distinct supports, lists {found.models}, and ended at "
        f"{STOPPED[found.stopped]}. Every objective is proven by weak duality."
    )


def _class_weights(document: AuditDocument) -> str:
    weights = document.class_weights
    if weights.favourable == weights.unfavourable == 1.0:
        return ""
    return f", times {weights.favourable:.3g} for favourable and {weights.unfavourable:.3g} for unfavourable rows,"


def limits(document: AuditDocument) -> Iterator[str]:
    """Yield sentences about what the numbers of an audit cannot show."""
    yield (
        "This is a statement about support vector machines of one kernel within the tolerances, on one table. It says "
        "nothing about other kinds of models, about rows that were never collected, or about the law."
    )
    yield "Open is not the same as fair: small groups hide large differences."
    yield (
        "Labels are taken as they are. Where they carry the bias of those who gave them, a model that fits them well "
        "carries it on."
    )
    if document.incumbent:
        yield _fitted(document.incumbent)
    if document.exploration and document.exploration.look > 1:
        yield f"{capitalised(OPENED_SHORT)}."
    elif document.is_exploratory:
        yield "Selection and holdout are not separate here, so the selected model looks fairer than it is."


def reduced_copy(dropped: Sequence[str], *, is_audit: bool) -> str:
    """Return a text that says what the data embedded in a page leave out, including the large fields in `dropped`."""
    models = SHORT_MODELS if is_audit and "models" not in dropped else ""
    more = f" Also left out, as too large for a page: {', '.join(dropped)}." if dropped else ""
    return (
        f"Reduced to what this page shows: numbers have six digits, texts at most 200 signs; {models}timings are left "
        f"out. `--json` saves the whole run, which `fairenum report` reads.{more}"
    )
