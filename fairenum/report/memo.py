"""A memo on less discriminatory alternatives: baseline, disparities, search, alternatives, proposal, and its cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fairenum.document.audit_document import AuditDocument
from fairenum.document.consequences import other_model
from fairenum.document.models import AuditedModel, GuidedRun, Incumbent, TiltedRun
from fairenum.document.words import (
    GAP_NAMES,
    GROUP_WIDTH,
    OBSTACLES,
    STOPPED,
    measures_of,
    method_title,
    model_title,
    performance_of,
    reference_title,
    short,
)
from fairenum.render.page import Facts, Items, Paragraph, Section, Table
from fairenum.report import (
    choice_section,
    groups_section,
    method_section,
    models_section,
    parity_range_section,
    profiles,
    standing,
)
from fairenum.report.headline import proposal_of
from fairenum.runtime.formatting import capitalised, counted, estimate, percent, sentence_list, share, shortened, signed

NO_BASELINE = (
    "Model 1, the best by its training objective, stands for the model in use. Alternatives are measured against it."
)
ELSEWHERE = "Other kinds of models, other features, more rows or a larger loss may have one."
NONE_EXISTS = (
    "That none is proposed is no proof that none exists. Looked at were support vector machines of one kernel on the "
    "features of this table, as far as stated above; other kinds of models, other features or more rows may have one."
)


def baseline(document: AuditDocument) -> str:
    """Describe the model in use, and the baseline of alternatives."""
    told = document.incumbent
    if told is None:
        return NO_BASELINE
    against = "it" if document.is_against_incumbent else "model 1, as was asked for"
    undecided = f" {counted(told.undecided, 'row')} that it never decided about took no part." if told.undecided else ""
    return (
        f"{_source(told)} Its decision is what the label says in {percent(told.agreement)} of all rows, and on the "
        f"holdout it decides {percent(told.predictions_changed.holdout.share)} otherwise than model 1, the best "
        f"model.{undecided} Alternatives are measured against {against}, on the same rows."
    )


def _source(told: Incumbent) -> str:
    name = shortened(told.name, GROUP_WIDTH)
    cut = f", cut at {told.cutoff:g}" if told.cutoff is not None else ""
    match told.source:
        case "decisions":
            value = f"; its favourable decision is {short(told.favourable)}" if told.favourable is not None else ""
            return f"What is in use has filled the column {name}{value}. No model learns from this column."
        case "score":
            better = "lower" if told.is_lower_better else "higher"
            return f"What is in use is the score {name}{cut}; {better} is favourable. No model learns from it."
        case "model":
            return f"What is in use is {name}{cut}, which was asked about every row."


def disparities(document: AuditDocument, rank: int) -> Iterator[str]:
    """Give the impact ratio and every gap of a model, by every sensitive column."""
    for column, scores in document.member(rank).scores.holdout.by_column.items():
        gaps = sentence_list(f"{GAP_NAMES[gap]} {estimate(scores.gap(gap))}" for gap in GAP_NAMES)
        yield (
            f"By {shortened(column, GROUP_WIDTH)} the lowest impact ratio is "
            f"{estimate(scores.ratio('demographic_parity_ratio'))}; gaps: {gaps}."
        )


def effort_words(document: AuditDocument) -> Iterator[tuple[str, str]]:
    """Describe the search effort: models, candidates, budgets, seeds, time, and tolerances."""
    config, found = document.config, document.enumeration
    svm = config.svm
    yield (
        "models",
        f"support vector machines, {svm.kernel} kernel, C = {svm.cost:g}, solver {short(svm.solver)}",
    )
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
    loss = "any" if tolerances.max_loss is None else percent(tolerances.max_loss)
    guards = ", ".join(shortened(guard, GROUP_WIDTH) for guard in tolerances.guards) or "none"
    return (
        f"{tolerances.eps:g} of the objective, {loss} rise of training loss, {tolerances.max_performance_drop:g} of "
        f"{performance_of(document)}; guardrails: {guards}"
    )


def costs_words(document: AuditDocument, chosen: AuditedModel) -> Iterator[str]:
    """Say what the selected model would cost."""
    selection, reference = document.selection, document.reference
    name, whom = performance_of(document), reference_title(document)
    if selection.performance_change:
        floor = "" if selection.performance_floor is None else f"; it is at least {signed(selection.performance_floor)}"
        yield (
            f"{capitalised(name)} on the holdout changes by {estimate(selection.performance_change.holdout, signed)} "
            f"against {whom}{floor}. A loss of {selection.tolerances.max_performance_drop:g} was allowed."
        )
    yield f"Its loss on the training rows is {percent(chosen.loss_ratio)} above that of the best model."
    rates = [share(one.scores.holdout.selection_rate.value) for one in (chosen, reference)]
    yield f"It selects {rates[0]} of the holdout, {whom} {rates[1]}.{_changed(document)}"
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
    """Explain a search without a proposal: what is ruled out, and what may have been overlooked."""
    level = parity_range_section.refuting(document.parity_range) if document.parity_range else None
    if document.parity_range is None or level is None:
        return NONE_EXISTS
    refuted, gap = (
        parity_range_section.refutation(document.parity_range),
        document.reference.scores.holdout.gap(parity_range_section.GAP).value,
    )
    whom = f"{reference_title(document)} ({share(gap)})"
    larger = "" if level is document.parity_range.levels[-1] else ", or at a larger loss"
    if gap is not None and share(level.gap.low) >= share(gap):
        among = "among these models there is no alternative of that kind"
        return f"{refuted} So none of them has a smaller gap than {whom}: {among}. {ELSEWHERE}"
    return (
        f"{refuted} Between that and the gap of {whom}{larger} an alternative is not ruled out: that none is proposed "
        f"is no proof that none exists there. {ELSEWHERE}"
    )


def is_none_proposed(document: AuditDocument) -> bool:
    """Tell whether the search has ended without a proposal."""
    return proposal_of(document) != "proposed"


KICKER = "Memo: less discriminatory alternatives"


def memo(document: AuditDocument) -> Iterator[Section]:
    """Compose the memo, from the model in use, or model 1 in its place, to the proposal, or to none."""
    rank = 0 if document.incumbent else 1
    yield Section("baseline", "The model in use", (Paragraph(baseline(document)), _measures(document, rank)))
    yield _disparities(document, rank)
    yield _search(document)
    yield replace(models_section.explored(document), title="The alternatives")
    proposal = replace(choice_section.chosen(document), title=standing.proposal(document))
    if is_none_proposed(document):
        proposal = replace(proposal, blocks=(Paragraph(none_exists(document)), *proposal.blocks))
    yield proposal
    if chosen := other_model(document):
        costs = tuple(costs_words(document, chosen))
        yield Section("costs", f"What model {chosen.rank} costs", (Items(costs),))
        yield replace(
            groups_section.selected_groups(document, (chosen.rank,)),
            anchor="groups",
            title="Who the alternative selects",
        )


def followed() -> Section:
    """Return the sentence that names the texts behind the memo."""
    return Section("followed", profiles.FOLLOWED, (Items(profiles.MEMO_FOLLOWS),))


def _measures(document: AuditDocument, rank: int) -> Table:
    scores = document.member(rank).scores.holdout
    rows = tuple((title, estimate(scores.measure(measure))) for measure, title in measures_of(document).items())
    return Table("On the holdout", ("measure", model_title(document, rank)), rows)


def _disparities(document: AuditDocument, rank: int) -> Section:
    shown = groups_section.selected_groups(document, (rank,))
    lead = tuple(disparities(document, rank))
    blocks = (*((Items(lead),) if lead else ()), *shown.blocks)
    return Section("disparity", "Its disparities", blocks)


def _search(document: AuditDocument) -> Section:
    steps, effort = Items(tuple(method_section.steps(document))), Facts(tuple(effort_words(document)))
    refuted = parity_range_section.refutation(document.parity_range) if document.parity_range else ""
    proven = (Paragraph(refuted),) if refuted else ()
    return Section("search", "The search for alternatives", (effort, *proven, steps))
