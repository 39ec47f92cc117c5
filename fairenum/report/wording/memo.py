"""The words of a memo on less discriminatory alternatives: what is in use, how hard was looked, what it would cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from fairenum.document.audit import AuditDocument
from fairenum.document.incumbent import Incumbent
from fairenum.document.models import AuditedModel, GuidedRun
from fairenum.document.terms import Gap
from fairenum.document.tilted import TiltedRun
from fairenum.rendering.numbers import counted, estimate, percent, share, signed
from fairenum.rendering.text import capitalised, sentence_list, shortened
from fairenum.report.wording import (
    GAPS,
    GROUP_WIDTH,
    OBSTACLES,
    STOPPED,
    method_title,
    performance_of,
    possible,
    reference_title,
    short,
)
from fairenum.report.wording.headline import proposal_of

NO_BASELINE = (
    "Model 1, the best by its training objective, stands for the model in use. Alternatives are measured against it."
)
ELSEWHERE = "Other kinds of models, other features, more rows or a larger loss may have one."
NONE_EXISTS = (
    "That none is proposed is no proof that none exists. Looked at were support vector machines of one kernel on the "
    "features of this table, as far as stated above; other kinds of models, other features or more rows may have one."
)


def baseline(document: AuditDocument) -> str:
    """Say what the model in use is, and what alternatives are measured against."""
    told = document.incumbent
    if told is None:
        return NO_BASELINE
    against = "it" if document.is_against_incumbent else "model 1, as was asked for"
    undecided = f" {counted(told.undecided, 'row')} that it never decided about took no part." if told.undecided else ""
    return (
        f"{_source(told)} Its decision is what the label says in {percent(told.agreement)} of all rows, and on the "
        f"holdout it decides {percent(told.predictions_changed.holdout.share)} otherwise than model 1, the best "
        f"machine.{undecided} Alternatives are measured against {against}, on the same rows."
    )


def _source(told: Incumbent) -> str:
    name = shortened(told.name, GROUP_WIDTH)
    cut = f", cut at {told.cutoff:g}" if told.cutoff is not None else ""
    match told.source:
        case "decisions":
            value = f"; its favourable decision is {short(told.favourable)}" if told.favourable is not None else ""
            return f"What is in use has filled the column {name}{value}. No machine learns from this column."
        case "score":
            better = "lower" if told.is_lower_better else "higher"
            return f"What is in use is the score {name}{cut}; {better} is favourable. No machine learns from it."
        case "model":
            return f"What is in use is {name}{cut}, which was asked about every row."


def disparities(document: AuditDocument, rank: int) -> Iterator[str]:
    """Give the impact ratio and every gap of a model, by every sensitive column."""
    for column, scores in document.member(rank).scores.holdout.by_column.items():
        gaps = sentence_list(f"{GAPS[gap]} {estimate(scores.gap(gap))}" for gap in get_args(Gap))
        yield (
            f"By {shortened(column, GROUP_WIDTH)} the lowest impact ratio is "
            f"{estimate(scores.demographic_parity_ratio)}; gaps: {gaps}."
        )


def effort(document: AuditDocument) -> Iterator[tuple[str, str]]:
    """Say how hard was looked: machines, candidates, budgets, seeds, time, and what was allowed."""
    config, found = document.config, document.enumeration
    machine = config.machine
    yield (
        "machines",
        f"support vector machines, {machine.kernel} kernel, C = {machine.cost:g}, solver {short(machine.solver)}",
    )
    yield (
        "listed best first",
        f"{found.models} of {found.supports} with distinct supports, {found.nodes} boxes solved; ended at "
        f"{STOPPED[found.stopped]}",
    )
    yield "budget of the list", _budget(document)
    yield "guided search", _guided(document.guided, config.max_left_out)
    yield "tilted machines", _tilted(document.tilted)
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
        f"{counted(run.models, 'further model')}, {counted(run.solves, 'machine')} trained on all rows; training loss "
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


def costs(document: AuditDocument, chosen: AuditedModel) -> Iterator[str]:
    """Say what the selected model would cost."""
    selection, reference = document.selection, document.reference
    name, whom = performance_of(document), reference_title(document)
    if selection.performance_change:
        floor = "" if selection.performance_floor is None else f"; it is at least {signed(selection.performance_floor)}"
        yield (
            f"{capitalised(name)} on the holdout changes by {estimate(selection.performance_change.holdout, signed)} "
            f"against {whom}{floor}. A loss of {selection.tolerances.max_performance_drop:g} was allowed."
        )
    yield f"Its loss on the training rows is {percent(chosen.loss_ratio)} above that of the best machine."
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
    """Say what it means that none is proposed: what is ruled out, and what may have been overlooked."""
    level = possible.refuting(document.range) if document.range else None
    if document.range is None or level is None:
        return NONE_EXISTS
    refuted, gap = possible.refutation(document.range), document.reference.scores.holdout.gap(possible.GAP).value
    whom = f"{reference_title(document)} ({share(gap)})"
    larger = "" if level is document.range.levels[-1] else ", or at a larger loss"
    if gap is not None and share(level.gap.low) >= share(gap):
        among = "among these machines there is no alternative of that kind"
        return f"{refuted} So none of them has a smaller gap than {whom}: {among}. {ELSEWHERE}"
    return (
        f"{refuted} Between that and the gap of {whom}{larger} an alternative is not ruled out: that none is proposed "
        f"is no proof that none exists there. {ELSEWHERE}"
    )


def is_none_proposed(document: AuditDocument) -> bool:
    """Tell whether the search has ended without a proposal."""
    return proposal_of(document) != "proposed"
