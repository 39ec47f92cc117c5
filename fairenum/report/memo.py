"""A memo on less discriminatory alternatives to a model: baseline, disparities, search, proposal and its costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fairenum.document.audit_document import AuditDocument
from fairenum.document.consequences import is_nothing_comparable, other_model
from fairenum.document.models import AuditedModel, GuidedRun, Incumbent, TiltedRun
from fairenum.document.words import (
    GAP_NAMES,
    GROUP_WIDTH,
    OBSTACLES,
    STOPPED,
    allowed_loss,
    method_title,
    performance_of,
    reference_title,
    short,
)
from fairenum.render.page import Facts, Items, Paragraph, Section
from fairenum.report import (
    choice_section,
    choice_words,
    groups_section,
    method_section,
    models_section,
    parity_range_section,
    profiles,
)
from fairenum.report.headline import answer_of, nothing_comparable
from fairenum.runtime.formatting import capitalised, counted, estimate, percent, sentence_list, share, shortened, signed

KICKER = "Memo: less discriminatory alternatives"
NO_BASELINE = (
    "Model 1, the best by its training loss, stands for the model in use. Alternatives are measured against it."
)
ELSEWHERE = "Other kinds of models, other features, more rows or a larger loss may have one."
NOTHING_LEARNED = (
    "It shows neither that there is a less discriminatory alternative nor that there is none: other kinds of models, "
    "other features or more rows may have one."
)
NONE_EXISTS = (
    "That none is proposed is no proof that none exists. Looked at were support vector machines of one kernel on the "
    "features of this table, as far as stated above; other kinds of models, other features or more rows may have one."
)


def _baseline(document: AuditDocument) -> str:
    """Return sentences about the model that alternatives are to replace: the model in use or, without one, model 1."""
    used = document.incumbent
    if used is None:
        return NO_BASELINE
    against = "it" if document.is_against_incumbent else "model 1, as was asked for"
    undecided = f" {counted(used.undecided, 'row')} that it never decided about took no part." if used.undecided else ""
    return (
        f"{_source(used)} Its decision is what the label says in {percent(used.agreement)} of all rows, and on the "
        f"holdout it decides {percent(used.predictions_changed.holdout.share)} differently from model 1, the best "
        f"model.{undecided} Alternatives are measured against {against}, on the same rows."
    )


def _source(used: Incumbent) -> str:
    name = shortened(used.name, GROUP_WIDTH)
    cut = f", cut at {used.cutoff:g}" if used.cutoff is not None else ""
    match used.source:
        case "decisions":
            value = f"; its favourable decision is {short(used.favourable)}" if used.favourable is not None else ""
            return f"The model in use filled the column {name}{value}. No model learns from this column."
        case "score":
            better = "lower" if used.is_lower_better else "higher"
            return f"The model in use is the score {name}{cut}; {better} is favourable. No model learns from it."
        case "model":
            return f"The model in use is {name}{cut}, which was asked about every row."


def _disparity_sentences(document: AuditDocument, rank: int) -> Iterator[str]:
    """Yield, for each sensitive column, a sentence with the lowest impact ratio and every gap of one model."""
    for column, scores in document.member(rank).scores.holdout.by_column.items():
        gaps = sentence_list(f"{GAP_NAMES[gap]} {estimate(scores.gap(gap))}" for gap in GAP_NAMES)
        yield (
            f"By {shortened(column, GROUP_WIDTH)} the lowest impact ratio is "
            f"{estimate(scores.ratio('demographic_parity_ratio'))}; gaps: {gaps}."
        )


def _effort(document: AuditDocument) -> Iterator[tuple[str, str]]:
    """Yield facts about the search as (name, text): models, budgets, methods, tolerances, candidates, seed, time."""
    config, found, svm = document.config, document.enumeration, document.config.svm
    yield "models", f"support vector machines, {svm.kernel} kernel, C = {svm.cost:g}, solver {short(svm.solver)}"
    yield (
        "listed best first",
        f"{found.models} of {found.supports} with distinct supports, {found.nodes} boxes solved; ended at "
        f"{STOPPED[found.stopped]}",
    )
    yield "budget of the list", _budget(document)
    yield "guided search", _guided(document.guided, config.max_left_out)
    yield "tilted models", _tilted(document.tilted)
    methods = [method_title(one.name) for one in document.baselines or ()]
    yield "other mitigations tried", sentence_list(methods) if methods else "none"
    yield "allowed", _allowed(document)
    yield "candidates", f"{len(document.selection.candidates)} of {len(document.models)} models are within all of that"
    yield "seed", str(config.seed)
    if total := document.timings.get("total"):
        yield "time", f"{total:.0f} s"


def _budget(document: AuditDocument) -> str:
    config = document.config
    nodes = "any number of boxes" if config.max_nodes is None else f"{config.max_nodes} boxes"
    seconds = "any time" if config.max_seconds is None else f"{config.max_seconds:g} s"
    return f"{counted(config.k, 'model')}, {nodes}, {seconds}, {config.patience} in a row that are nothing new"


def _guided(run: GuidedRun | None, most: float) -> str:
    if run is None:
        return "not asked for"
    if run.stopped == "skipped":
        return "skipped" + (f": {OBSTACLES[run.obstacle]}" if run.obstacle else "")
    return (
        f"{counted(run.models, 'further model')}, {run.solves} boxes solved; at most {percent(most)} of the training "
        "rows left out"
    )


def _tilted(run: TiltedRun | None) -> str:
    if run is None:
        return "none"
    return (
        f"{counted(run.models, 'further model')}, {counted(run.solves, 'model')} trained on all rows; training loss "
        f"at most {percent(run.rise)} above the best"
    )


def _allowed(document: AuditDocument) -> str:
    tolerances = document.selection.tolerances
    guards = ", ".join(shortened(guard, GROUP_WIDTH) for guard in tolerances.guards) or "none"
    return (
        f"a training loss {allowed_loss(document)} above the best, {tolerances.max_performance_drop:g} less of "
        f"{performance_of(document)}; guardrails: {guards}"
    )


def _costs(document: AuditDocument, chosen: AuditedModel) -> Iterator[str]:
    """Yield sentences about the costs of the selected model: performance, training loss, and changed decisions."""
    selection, reference = document.selection, document.reference
    name, against = performance_of(document), reference_title(document)
    if selection.performance_change:
        floor = "" if selection.performance_floor is None else f"; it is at least {signed(selection.performance_floor)}"
        yield (
            f"{capitalised(name)} on the holdout changes by {estimate(selection.performance_change.holdout, signed)} "
            f"against {against}{floor}. A loss of {selection.tolerances.max_performance_drop:g} was allowed."
        )
    yield f"Its loss on the training rows is {percent(chosen.loss_ratio)} above that of the best model."
    rates = [share(one.scores.holdout.selection_rate.value) for one in (chosen, reference)]
    yield f"It selects {rates[0]} of the holdout, {against} {rates[1]}.{_changed(document)}"
    if chosen.records_left_out:
        train = counted(document.dataset.splits.train, "training row")
        yield f"It was found by leaving out {chosen.records_left_out} of {train}."


def _changed(document: AuditDocument) -> str:
    groups = next(iter(document.flips.by_column.values()), ()) if document.flips else ()
    if not groups:
        return ""
    gained, lost = sum(one.gained for one in groups), sum(one.lost for one in groups)
    return f" {counted(gained, 'row')} gain the favourable outcome by it, and {lost} lose it."


def none_exists(document: AuditDocument) -> str:
    """Return sentences on a search that proposes no model: which gaps are proven impossible, and which are not.

    Where no model could be compared with the model in use, they say this alone.
    """
    if is_nothing_comparable(document):
        return f"{capitalised(nothing_comparable(document))}. {NOTHING_LEARNED}"
    found = document.parity_range
    level = parity_range_section.refuting(found) if found else None
    if found is None or level is None:
        return NONE_EXISTS
    refuted = parity_range_section.refutation(found)
    gap = document.reference.scores.holdout.gap(parity_range_section.GAP).value
    whose = f"{reference_title(document)} ({share(gap)})"
    larger = "" if level is found.levels[-1] else ", or at a larger loss"
    if gap is not None and share(level.gap.low) >= share(gap):
        among = "among these models there is no alternative of that kind"
        return f"{refuted} So none of them has a smaller gap than {whose}: {among}. {ELSEWHERE}"
    return (
        f"{refuted} Between that and the gap of {whose}{larger} an alternative is not ruled out: that none is proposed "
        f"is no proof that none exists there. {ELSEWHERE}"
    )


def memo(document: AuditDocument) -> Iterator[Section]:
    """Yield the sections of the memo, from the baseline model to the proposed model and its costs."""
    rank = 0 if document.incumbent else 1
    measures = choice_section.measures_table(document, rank, "On the holdout")
    yield Section("baseline", "The model in use", (Paragraph(_baseline(document)), measures))
    yield _disparities(document, rank)
    yield _search(document)
    yield replace(models_section.explored(document), title="The alternatives")
    proposal = replace(choice_section.chosen(document), title=choice_words.proposal_heading(document))
    if answer_of(document) != "proposed":
        proposal = replace(proposal, blocks=(Paragraph(none_exists(document)), *proposal.blocks))
    yield proposal
    if chosen := other_model(document):
        yield Section("costs", f"What model {chosen.rank} costs", (Items(tuple(_costs(document, chosen))),))
        yield replace(groups_section.selected_groups(document, (chosen.rank,)), title="Who the alternative selects")


def followed() -> Section:
    """Return the section that names the legal texts that the memo follows."""
    return Section("followed", profiles.FOLLOWED, (Items(profiles.MEMO_FOLLOWS),))


def _disparities(document: AuditDocument, rank: int) -> Section:
    sentences = tuple(_disparity_sentences(document, rank))
    lead = (Items(sentences),) if sentences else ()
    return Section("disparity", "Its disparities", (*lead, *groups_section.selected_groups(document, (rank,)).blocks))


def _search(document: AuditDocument) -> Section:
    steps, effort = Items(tuple(method_section.steps(document))), Facts(tuple(_effort(document)))
    refuted = parity_range_section.refutation(document.parity_range) if document.parity_range else ""
    proven = (Paragraph(refuted),) if refuted else ()
    return Section("search", "The search for alternatives", (effort, *proven, steps))
