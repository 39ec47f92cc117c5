"""The listed models: a short table of the telling ones, all of them to explore, and other methods beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairenum.document.audit import AuditDocument
from fairenum.document.models import AuditedModel, Baseline
from fairenum.document.scores import GapEstimate
from fairenum.document.terms import Gap
from fairenum.rendering.numbers import UNDEFINED, counted, estimate, share, signed
from fairenum.rendering.page import Candidate, Explorer, Figure, Over, Paragraph, Section, Table
from fairenum.rendering.text import shortened
from fairenum.report import model_plots
from fairenum.report.model_plots import EXACT_DIGITS
from fairenum.report.wording import (
    GAPS,
    PARTS,
    TITLE_WIDTH,
    VERDICTS,
    manner,
    method_title,
    performance_heading,
    performance_notes,
    performance_of,
)
from fairenum.report.wording import audit as wording

SHOWN = 12


def shown_ranks(document: AuditDocument, limit: int = SHOWN) -> Sequence[int]:
    """Choose models for a short table: the first, the selected one, the Pareto front, then the best."""
    selection = document.selection
    wanted = [1, selection.rank or 1, *selection.pareto_front, *range(1, len(document.models) + 1)]
    return sorted(list(dict.fromkeys(wanted))[:limit])


def ranked_models(document: AuditDocument, ranks: Sequence[int]) -> Table:
    """Show some models in their order, with what they do to the holdout."""
    selected = document.selection.rank
    return Table(
        title="Models by objective, scored on the holdout",
        headings=("rank", "objective", "loss", performance_heading(document), "gap", "change", "verdict", "flips"),
        rows=tuple(_ranked_row(document, document.models[rank - 1]) for rank in ranks),
        names=0,
        marked=ranks.index(selected) if selected in ranks else None,
        notes=(*performance_notes(document), *_notes(document), *_hidden_notes(document, len(ranks))),
    )


def _ranked_row(document: AuditDocument, model: AuditedModel) -> tuple[str, ...]:
    rank = f"*{model.rank}" if model.rank == document.selection.rank else str(model.rank)
    objective, loss, _, *others = _cells(model, document.selection.tolerances.metric)
    return rank, objective, loss, *others


def _cells(model: AuditedModel, metric: Gap) -> tuple[str, ...]:
    """Show one model: objective, training loss, support, performance, gap, change, verdict, flips."""
    scores = model.scores.holdout
    gap, is_first = scores.gap(metric), model.rank == 1
    return (
        f"{model.objective_ratio:.6f}",
        training_loss(model),
        str(model.support_size),
        share(scores.performance.value),
        estimate(gap),
        UNDEFINED if is_first or not gap.change else signed(gap.change.value),
        UNDEFINED if is_first else gap_verdict(model, gap),
        UNDEFINED if is_first else str(model.predictions_changed.holdout.rows),
    )


def training_loss(model: AuditedModel) -> str:
    """Show how much higher the loss on all training rows is than the best."""
    return f"{100 * model.loss_ratio:+.1f} %" if round(model.loss_ratio, 3) else "0.0 %"


def gap_verdict(model: AuditedModel, gap: GapEstimate) -> str:
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
        f"gap: {GAPS[metric]} difference [{level:g} %]; change, verdict: against model 1, all models judged together; "
        "flips: rows that model 1 decides otherwise"
    )
    if any(gap_verdict(model, model.scores.holdout.gap(metric)) == "open" for model in document.models[1:]):
        yield "open: these rows do not tell its gap from that of model 1"


def _hidden_notes(document: AuditDocument, shown: int) -> Iterator[str]:
    if document.selection.rank is not None:
        yield "*: the selected model"
    if hidden := len(document.models) - shown:
        yield f"not shown: {counted(hidden, 'model')}; `fairenum report RUN --all` shows all"


def explored(document: AuditDocument) -> Section:
    """Show all models: where they were chosen, where they are judged, and what is known about each."""
    explorer = Explorer(
        figure=Figure(model_plots.scatters(document), wording.SELECTED_BY),
        table=all_models(document),
        candidates=tuple(_candidate(document, model) for model in document.models),
        rule=wording.allowance(document),
        performance=performance_of(document),
    )
    return Section("models", "The listed models", (explorer,))


def all_models(document: AuditDocument) -> Table:
    """Show every model on both splits: on the one it is chosen by, and on the one it is judged by."""
    selected = document.selection.rank
    return Table(
        title="All models, best objective first",
        headings=(
            *("rank", "objective", "training loss", "support", "left out"),
            *(performance_of(document), "gap"),
            *(performance_of(document), "gap", "change of gap", "verdict", "flips"),
        ),
        rows=tuple(_whole_row(model, document.selection.tolerances.metric) for model in document.models),
        names=0,
        marked=None if selected is None else selected - 1,
        notes=tuple(_notes(document)),
        over=(Over("", "", 5), Over(PARTS["selection"], "chosen by", 2), Over(PARTS["holdout"], "judged by", 5)),
    )


def _whole_row(model: AuditedModel, metric: Gap) -> tuple[str, ...]:
    objective, loss, support, performance, gap, _, verdict, flips = _cells(model, metric)
    chosen_by, change = model.scores.selection, model.scores.holdout.gap(metric).change
    return (
        *(str(model.rank), objective, loss, support, str(model.records_left_out)),
        *(share(chosen_by.performance.value), share(chosen_by.gap(metric).value)),
        *(performance, gap, UNDEFINED if model.rank == 1 or not change else estimate(change, signed), verdict, flips),
    )


def _candidate(document: AuditDocument, model: AuditedModel) -> Candidate:
    selection, scores = document.selection, model.scores.selection
    best, gap = document.first.scores.selection.performance.value, scores.gap(selection.tolerances.metric).value
    tags = (
        ("first", model.rank == 1),
        ("selected", model.rank == selection.rank),
        ("front", model.rank in selection.pareto_front),
        ("guided", model.origin == "guided"),
    )
    return Candidate(
        name=f"model-{model.rank}",
        loss=max(0.0, 1.0 - model.objective_ratio),
        drop=round((best or 0.0) - (scores.performance.value or 0.0), EXACT_DIGITS),
        gap="" if gap is None or model.is_constant else f"{round(gap, EXACT_DIGITS):.{EXACT_DIGITS}g}",
        marks=tuple(tag for tag, holds in tags if holds),
    )


def by_rank(document: AuditDocument) -> Section:
    """Show objective, gap and performance by rank."""
    return Section("ranks", "Rank by rank", (Figure(model_plots.by_rank(document), wording.RANK_CAPTION),))


def possible(document: AuditDocument) -> Iterator[Section]:
    """Show where the models stand within what any machine of nearly the same loss could do, if that was computed."""
    if found := document.range:
        figure = Figure((model_plots.range_strip(document, found),), wording.possible_caption(found))
        text = wording.possible(found, document.config.eps)
        yield Section("range", "What was left on the table", (Paragraph(text), figure))


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
