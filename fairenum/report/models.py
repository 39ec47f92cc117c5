"""The listed models: a short table of the telling ones, all of them to explore, and other methods beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairenum.document.audit import AuditDocument
from fairenum.document.consequences import ended_with
from fairenum.document.incumbent import Incumbent
from fairenum.document.models import AuditedModel, Baseline
from fairenum.document.scores import GapEstimate
from fairenum.document.terms import Gap
from fairenum.rendering.numbers import UNDEFINED, counted, estimate, share, signed
from fairenum.rendering.page import Candidate, Explorer, Figure, Over, Section, Table
from fairenum.rendering.text import shortened
from fairenum.report import model_plots
from fairenum.report.model_plots import EXACT_DIGITS
from fairenum.report.wording import (
    GAPS,
    IN_USE,
    PARTS,
    TITLE_WIDTH,
    VERDICTS,
    manner,
    method_title,
    model_cell,
    performance_heading,
    performance_notes,
    performance_of,
    reference_name,
    short,
)
from fairenum.report.wording import audit as wording
from fairenum.report.wording.choosing import allowance

SHOWN = 12


def shown_ranks(document: AuditDocument, limit: int = SHOWN) -> Sequence[int]:
    """Choose models for a short table: the model in use, the first, the selected one, the Pareto front, the best."""
    wanted = [*document.shortlist, *document.selection.pareto_front, *document.ranks]
    return sorted(list(dict.fromkeys(wanted))[:limit])


def ranked_models(document: AuditDocument, ranks: Sequence[int]) -> Table:
    """Show some models in their order, with what they do to the holdout."""
    ended = ended_with(document)
    return Table(
        title="Models by objective, scored on the holdout",
        headings=("rank", "objective", "loss", performance_heading(document), "gap", "change", "verdict", "flips"),
        rows=tuple(_ranked_row(document, document.member(rank)) for rank in ranks),
        names=0,
        marked=ranks.index(ended) if ended in ranks else None,
        notes=(*performance_notes(document), *_notes(document), *_hidden_notes(document, ranks)),
    )


def _ranked_row(document: AuditDocument, model: AuditedModel | Incumbent) -> tuple[str, ...]:
    mark = "*" if model.rank == ended_with(document) else ""
    objective, loss, _, *others = _cells(document, model)
    return f"{mark}{model_cell(model.rank)}", objective, loss, *others


def _cells(document: AuditDocument, model: AuditedModel | Incumbent) -> tuple[str, ...]:
    """Show one model: objective, training loss, support, performance, gap, change, verdict, flips."""
    scores, is_reference = model.scores.holdout, model.rank == document.reference.rank
    gap = scores.gap(document.selection.tolerances.metric)
    return (
        *trained(model),
        share(scores.performance.value),
        estimate(gap),
        UNDEFINED if is_reference or not gap.change else signed(gap.change.value),
        UNDEFINED if is_reference else gap_verdict(model, gap),
        UNDEFINED if model.rank == 1 else str(model.predictions_changed.holdout.rows),
    )


def trained(model: AuditedModel | Incumbent) -> tuple[str, str, str]:
    """Show what is known of a machine alone: objective, training loss, support."""
    if isinstance(model, Incumbent):
        return UNDEFINED, UNDEFINED, UNDEFINED
    return objective_ratio(model), training_loss(model), str(model.support_size)


def objective_ratio(model: AuditedModel) -> str:
    """Show the objective as a share of that of model 1, if the model has one."""
    return UNDEFINED if model.objective_ratio is None else f"{model.objective_ratio:.6f}"


def training_loss(model: AuditedModel) -> str:
    """Show how much higher the loss on all training rows is than the best."""
    return f"{100 * model.loss_ratio:+.1f} %" if round(model.loss_ratio, 3) else "0.0 %"


def gap_verdict(model: AuditedModel | Incumbent, gap: GapEstimate) -> str:
    """Give the verdict of the holdout on a model's gap in a word."""
    if model.is_constant:
        return "constant"
    return VERDICTS[gap.verdict]


def _notes(document: AuditDocument) -> Iterator[str]:
    """Say how to read a table of models."""
    metric, level = document.selection.tolerances.metric, 100 * document.config.confidence
    yield "objective: of the reduced problem, as a share of model 1's, by which models are ranked"
    yield "loss: training loss, on all training rows, against the best there is"
    yield (
        f"gap: {GAPS[metric]} difference [{level:g} %]; change, verdict: against {reference_name(document)}, all "
        "models judged together; flips: rows that model 1 decides otherwise"
    )
    others = (model for model in document.members if model is not document.reference)
    if any(gap_verdict(model, model.scores.holdout.gap(metric)) == "open" for model in others):
        yield f"open: these rows do not tell its gap from that of {reference_name(document)}"
    if document.incumbent:
        yield f"in use: row 0, {short(document.incumbent.name)}, which no machine has learned from"


def _hidden_notes(document: AuditDocument, ranks: Sequence[int]) -> Iterator[str]:
    if ended_with(document) is not None:
        yield "*: the selected model" if document.selection.rank else f"*: {IN_USE}, which is kept"
    if hidden := len(document.ranks) - len(ranks):
        yield f"not shown: {counted(hidden, 'model')}; `fairenum report RUN --all` shows all"


def explored(document: AuditDocument) -> Section:
    """Show all models: where they were chosen, where they are judged, and what is known about each."""
    explorer = Explorer(
        figure=Figure(model_plots.scatters(document), wording.SELECTED_BY),
        table=all_models(document),
        candidates=tuple(_candidate(document, model) for model in document.members),
        rule=allowance(document),
        performance=performance_of(document) + (f" against {IN_USE}" if document.is_against_incumbent else ""),
        least=_exact(_selection_gap(document, document.reference)) if document.is_against_incumbent else "",
    )
    return Section("models", "The listed models", (explorer,))


def all_models(document: AuditDocument) -> Table:
    """Show every model on both splits: on the one it is chosen by, and on the one it is judged by."""
    ended = ended_with(document)
    return Table(
        title="All models, best objective first",
        headings=(
            *("rank", "objective", "training loss", "support", "left out"),
            *(performance_of(document), "gap"),
            *(performance_of(document), "gap", "change of gap", "verdict", "flips"),
        ),
        rows=tuple(_whole_row(document, model) for model in document.members),
        names=0,
        marked=None if ended is None else document.ranks.index(ended),
        notes=tuple(_notes(document)),
        over=(Over("", "", 5), Over(PARTS["selection"], "chosen by", 2), Over(PARTS["holdout"], "judged by", 5)),
    )


def _whole_row(document: AuditDocument, model: AuditedModel | Incumbent) -> tuple[str, ...]:
    objective, loss, support, performance, gap, change, verdict, flips = _cells(document, model)
    metric, chosen_by = document.selection.tolerances.metric, model.scores.selection
    whole, left_out = model.scores.holdout.gap(metric).change, getattr(model, "records_left_out", UNDEFINED)
    return (
        *(str(model.rank), objective, loss, support, str(left_out)),
        *(share(chosen_by.performance.value), share(chosen_by.gap(metric).value)),
        *(performance, gap, estimate(whole, signed) if whole and change != UNDEFINED else UNDEFINED, verdict, flips),
    )


def _candidate(document: AuditDocument, model: AuditedModel | Incumbent) -> Candidate:
    """Tell a filter about a row; the model in use is in nobody's way, and can neither be lost nor chosen."""
    if isinstance(model, Incumbent):
        kept = ("selected",) if ended_with(document) == 0 else ()
        return Candidate("model-0", loss=0.0, drop=0.0, gap="", marks=("incumbent", *kept))
    selection, scores = document.selection, model.scores.selection
    best = document.reference.scores.selection.performance.value
    tags = (
        ("first", model.rank == 1),
        ("selected", model.rank == selection.rank),
        ("front", model.rank in selection.pareto_front),
        ("guided", model.origin == "guided"),
        ("tilted", model.origin == "tilted"),
    )
    return Candidate(
        name=f"model-{model.rank}",
        loss=max(0.0, model.shortfall),
        drop=round((best or 0.0) - (scores.performance.value or 0.0), EXACT_DIGITS),
        gap="" if model.is_constant else _exact(_selection_gap(document, model)),
        marks=tuple(tag for tag, holds in tags if holds),
    )


def _selection_gap(document: AuditDocument, model: AuditedModel | Incumbent) -> float | None:
    return model.scores.selection.gap(document.selection.tolerances.metric).value


def _exact(gap: float | None) -> str:
    """Write a gap for a filter to compare."""
    return "" if gap is None else f"{round(gap, EXACT_DIGITS):.{EXACT_DIGITS}g}"


def by_rank(document: AuditDocument) -> Section:
    """Show objective, gap and performance by rank."""
    return Section("ranks", "Rank by rank", (Figure(model_plots.by_rank(document), wording.RANK_CAPTION),))


def other_methods(document: AuditDocument) -> Iterator[Table]:
    """Show other mitigations on the same machine and splits, if they were tried."""
    metric = document.selection.tolerances.metric
    if document.baselines:
        yield Table(
            title="What else one would pick, scored on the holdout",
            headings=(
                "method",
                "decides",
                "asks for the group",
                performance_heading(document),
                "gap",
                "change",
                "verdict",
            ),
            rows=tuple(_method_row(method, metric) for method in document.baselines),
            names=3,
            notes=(
                *performance_notes(document),
                f"gap: {GAPS[metric]} difference; change and verdict: against model 1",
                "by chance: the same person may be decided otherwise the next time; scores are of one draw",
            ),
        )


def _method_row(method: Baseline, metric: Gap) -> tuple[str, ...]:
    words = (
        method_title(method.name),
        manner(is_randomised=method.is_randomised),
        "yes" if method.needs_groups else "no",
    )
    if not method.scores:
        return *words, *([UNDEFINED] * 3), shortened(f"failed: {method.error}", TITLE_WIDTH)
    gap = method.scores.gap(metric)
    change = UNDEFINED if not gap.change else signed(gap.change.value)
    return *words, share(method.scores.performance.value), estimate(gap), change, VERDICTS[gap.verdict]
