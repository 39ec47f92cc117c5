"""The listed models as plots, a short table, and a full table with filters; and a table of other mitigation methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from itertools import pairwise

from fairenum.document.audit_document import AuditDocument
from fairenum.document.consequences import preferred
from fairenum.document.exploration_view import ExploredModel
from fairenum.document.models import AuditedModel, Baseline, Incumbent
from fairenum.document.scores import BaselineScores, GapEstimate, SplitScores
from fairenum.document.terms import Part
from fairenum.document.value import Estimate
from fairenum.document.words import (
    GAP_NAMES,
    IN_USE,
    PARTS,
    TITLE_WIDTH,
    VERDICTS,
    manner,
    method_title,
    model_cell,
    model_title,
    performance_heading,
    performance_notes,
    performance_of,
    reference_name,
    short,
)
from fairenum.render.page import Candidate, Column, Explorer, Figure, Section, SpanningHeading, Table
from fairenum.render.svg import UNKNOWN, Curve, Mark, Marks, unlinked
from fairenum.render.svg_plot import Axis, Key, Plot, Shape, aligned
from fairenum.report.choice_words import tolerances_and_choice
from fairenum.runtime.formatting import UNDEFINED, counted, estimate, sentence_list, share, shortened, signed

SELECTED_BY = (
    "Models are found on the training rows, chosen on the selection split and judged on the holdout, which had no part "
    "in the choice. What looks like a gain on the left is one only if it is still there on the right."
)
RANK_CAPTION = (
    "Model by model in the order of the list: what they cost in training, and gap and performance on the holdout with "
    "their intervals."
)
MOST_NAMED = 6
NOISE = 1e-9  # of a loss
EXACT_DIGITS = 12  # smaller differences are rounding errors
BY_CHANCE: Shape = "hollow"


class Kind(IntEnum):
    """The kind of a model in a plot; kinds with higher numbers are drawn on top."""

    PLAIN = 0
    GUIDED = 1
    TILTED = 2
    FRONT = 3
    BASELINE = 4
    FIRST = 5
    IN_USE = 6
    SELECTED = 7

    @property
    def tone(self) -> str:
        """The CSS class that colours the marks of models of this kind."""
        return LOOKS[self][0]

    @property
    def shape(self) -> Shape:
        """The shape of the marks of models of this kind, such as "circle"."""
        return LOOKS[self][1]


LOOKS: Mapping[Kind, tuple[str, Shape]] = {
    Kind.PLAIN: ("tone-1", "circle"),
    Kind.GUIDED: ("tone-3", "triangle"),
    Kind.TILTED: ("tone-3", "down"),
    Kind.FRONT: ("tone-1", "ring"),
    Kind.BASELINE: ("tone-4", "square"),
    Kind.FIRST: ("tone-0", "diamond"),
    Kind.IN_USE: ("tone-5", "cross"),
    Kind.SELECTED: ("tone-2", "star"),
}


def _kind_of(model: AuditedModel | Incumbent, document: AuditDocument) -> Kind:
    if isinstance(model, Incumbent):
        return Kind.IN_USE
    if model.rank == document.selection.rank and model.rank != document.reference.rank:
        return Kind.SELECTED
    if model.rank == 1:
        return Kind.FIRST
    if model.origin == "guided":
        return Kind.GUIDED
    if model.origin == "tilted":
        return Kind.TILTED
    return Kind.FRONT if model.rank in document.selection.pareto_front else Kind.PLAIN


def scatters(document: AuditDocument) -> tuple[Plot, ...]:
    """Return two scatter plots of performance against gap: on the selection split, and on the holdout."""
    return (
        *_scatter(document, "selection", "Chosen here: the selection split"),
        *_scatter(document, "holdout", "Judged here: the holdout"),
    )


def holdout_scatters(runs: Mapping[str, AuditDocument]) -> tuple[Plot, ...]:
    """Return scatter plots of performance against gap on the holdout, one for each run, with the same axes."""
    return aligned(unlinked(plot for name, document in runs.items() for plot in _scatter(document, "holdout", name)))


def _scatter(document: AuditDocument, part: Part, title: str) -> Iterator[Plot]:
    """Yield the scatter plot of one split; nothing if no model has a defined gap there."""
    metric, marks = document.selection.tolerances.metric, _marks(document, part)
    if not marks:
        return
    floor = -0.04 * max(mark.upward[1] or mark.y for mark in marks)  # keeps a gap of 0 off the axis
    front = (_front_line(document),) if part == "selection" else ()
    yield Plot(
        title=title,
        name=f"{title}: {performance_of(document)} against {GAP_NAMES[metric]} gap",
        description="Each mark is a model; a table with the same numbers follows.",
        x=Axis(f"{performance_of(document)} on the {_rows(document, part)}", least=0.02),
        y=Axis(f"{GAP_NAMES[metric]} gap, lower is fairer", least=0.02, low=min(floor, 0.0)),
        layers=(*front, Marks(marks)),
        key=tuple(_key(document, part)),
        identity=f"scatter-{part}",
        height=340.0,
    )


def _rows(document: AuditDocument, part: Part) -> str:
    splits = document.dataset.splits
    return f"{PARTS[part]} ({splits.selection if part == 'selection' else splits.holdout} rows)"


def _key(document: AuditDocument, part: Part) -> Iterator[Key]:
    kinds = {_kind_of(model, document) for model in document.models}
    others = [one for one in document.baselines or () if one.scores and part == "holdout"]
    entries = (
        ("model", Kind.PLAIN, Kind.PLAIN in kinds),
        ("on the front", Kind.FRONT, Kind.FRONT in kinds),
        ("found by guided search", Kind.GUIDED, Kind.GUIDED in kinds),
        ("tilted towards parity", Kind.TILTED, Kind.TILTED in kinds),
        ("model 1", Kind.FIRST, Kind.FIRST in kinds),
        (f"{model_title(document, 0)}{', kept' * (preferred(document) == 0)}", Kind.IN_USE, document.incumbent),
        (f"model {document.selection.rank}, selected", Kind.SELECTED, Kind.SELECTED in kinds),
        ("another method", Kind.BASELINE, any(not one.is_randomised for one in others)),
    )
    yield from (Key(text, kind.tone, kind.shape) for text, kind, is_there in entries if is_there)
    if any(one.is_randomised for one in others):
        yield Key("another method, decides by chance", Kind.BASELINE.tone, BY_CHANCE)
    if part == "selection" and len(document.selection.pareto_front) > 1:
        yield Key("Pareto front", Kind.FRONT.tone, "line")


def _marks(document: AuditDocument, part: Part) -> tuple[Mark, ...]:
    """Return the marks of a scatter plot, one for each set of models with equal scores; the main models are on top."""
    metric = document.selection.tolerances.metric
    places: dict[tuple[float, float], list[AuditedModel | Incumbent]] = {}
    for model in document.members:
        scores = model.scores.of(part)
        performance, gap = scores.performance.value, scores.gap(metric).value
        if performance is not None and gap is not None:
            places.setdefault((round(performance, EXACT_DIGITS), round(gap, EXACT_DIGITS)), []).append(model)
    found = sorted((_model_mark(models, part, document) for models in places.values()), key=lambda one: one[0])
    marks = tuple(mark for _, mark in found)
    return (*_baseline_marks(document), *marks) if marks and part == "holdout" else marks


def _model_mark(models: Sequence[AuditedModel | Incumbent], part: Part, document: AuditDocument) -> tuple[Kind, Mark]:
    kind, lead = max(((_kind_of(model, document), model) for model in models), key=lambda one: one[0])
    ranks = [model.rank for model in models]
    mark = replace(
        _mark(lead.scores.of(part), document, ranked(ranks)),
        tone=kind.tone,
        shape=kind.shape,
        label=_label(kind, ranks, document),
        link=f"#model-{lead.rank}",
        data=" ".join(map(str, ranks)) if len(ranks) > 1 else None,
    )
    # after a choice on the selection split, its intervals are not valid
    return kind, mark if part == "holdout" else replace(mark, across=UNKNOWN, upward=UNKNOWN)


def _baseline_marks(document: AuditDocument) -> Iterator[Mark]:
    metric = document.selection.tolerances.metric
    for method in document.baselines or ():
        if method.scores and None not in (method.scores.performance.value, method.scores.gap(metric).value):
            title = method_title(method.name)
            name = f"{title}, decides by chance" if method.is_randomised else title
            shape = BY_CHANCE if method.is_randomised else Kind.BASELINE.shape
            yield replace(_mark(method.scores, document, name), tone=Kind.BASELINE.tone, shape=shape, label=title)


def _mark(scores: SplitScores | BaselineScores, document: AuditDocument, name: str) -> Mark:
    performance, gap = scores.performance, scores.gap(document.selection.tolerances.metric)
    return Mark(
        x=performance.value or 0.0,
        y=gap.value or 0.0,
        name=f"{name}: {performance_of(document)} {share(performance.value)}, gap {share(gap.value)}",
        across=(performance.low, performance.high),
        upward=(gap.low, gap.high),
    )


def _label(kind: Kind, ranks: Sequence[int], document: AuditDocument) -> str:
    if kind not in (Kind.FIRST, Kind.IN_USE, Kind.SELECTED):
        return ""
    main = [rank for rank in ranks if rank in document.shortlist]
    others = len(ranks) - len(main)
    return ranked(main) + (f" and {others} more" if others else "")


def ranked(ranks: Sequence[int]) -> str:
    """Return a phrase that names models by rank, such as "models 2 and 5"; of many models it names the first few."""
    if 0 in ranks:
        return sentence_list(["in use", *([ranked(others)] if (others := [rank for rank in ranks if rank]) else [])])
    shown = [str(rank) for rank in ranks[:MOST_NAMED]]
    if len(ranks) > MOST_NAMED:
        shown.append(f"{len(ranks) - MOST_NAMED} more")
    return ("model " if len(ranks) == 1 else "models ") + sentence_list(shown)


def _front_line(document: AuditDocument) -> Curve:
    metric = document.selection.tolerances.metric
    scores = [document.models[rank - 1].scores.selection for rank in document.selection.pareto_front]
    points = sorted((one.performance.value or 0.0, one.gap(metric).value or 0.0) for one in scores)
    return Curve(tuple(x for x, _ in points), tuple(y for _, y in points), is_step=True)


def rank_plots(document: AuditDocument) -> tuple[Plot, ...]:
    """Return plots of loss, gap and performance of the enumerated models by rank, as in the EnumSV paper.

    In a list by objective, as in the paper, the loss is that of objective.
    """
    metric = document.selection.tolerances.metric
    models = [model for model in document.models if model.origin == "exact"]
    ranks = tuple(float(model.rank) for model in models)
    ordered = is_by_objective(document)
    losses = tuple(max(0.0, _lost(model) if ordered else model.loss_ratio) for model in models)
    loss = Axis("share of model 1's objective lost" if ordered else "training loss above the best", low=0.0)
    gap, performance = Axis(f"{GAP_NAMES[metric]} gap", low=0.0, least=0.02), Axis(performance_of(document), least=0.02)
    gaps = _banded(ranks, [model.scores.holdout.gap(metric) for model in models])
    performances = _banded(ranks, [model.scores.holdout.performance for model in models])
    plots = [_by_rank("loss of objective" if ordered else "training loss", Curve(ranks, losses), loss, document)]
    for curve, axis in ((gaps, gap), (performances, performance)):
        if any(value is not None for value in curve.values):
            plots.append(_by_rank(f"{axis.label} on the holdout", curve, axis, document))
    return tuple(plots)


def _lost(model: AuditedModel) -> float:
    return 0.0 if model.objective_ratio is None else 1.0 - model.objective_ratio


def _banded(ranks: tuple[float, ...], numbers: Sequence[Estimate]) -> Curve:
    values, low, high = zip(*((one.value, one.low, one.high) for one in numbers), strict=True)
    return Curve(ranks, values, low, high)


def _by_rank(name: str, curve: Curve, axis: Axis, document: AuditDocument) -> Plot:
    kinds = {float(rank): _kind_of(document.models[rank - 1], document) for rank in document.selection.shortlist}
    points = ((x, value) for x, value in zip(curve.xs, curve.values, strict=True) if x in kinds)
    marks = (Mark(x, y, tone=kinds[x].tone, shape=kinds[x].shape) for x, y in points if y is not None)
    return Plot(
        name=f"{name} by rank",
        description=f"A line over {len(curve.values)} models.",
        x=Axis("rank", low=1.0 - 0.02 * len(curve.values), least=1.0),
        y=axis,
        layers=(curve, Marks(tuple(marks))),
        width=360.0,
        height=250.0,
        left=80.0,
    )


SHOWN = 12


def shown_ranks(document: AuditDocument, limit: int = SHOWN) -> Sequence[int]:
    """Return the ranks of at most `limit` models for a short table, in ascending order.

    They are the model in use, model 1 and the selected model, then the Pareto front, then the first of the list.
    """
    wanted = [*document.shortlist, *document.selection.pareto_front, *document.ranks]
    return sorted(list(dict.fromkeys(wanted))[:limit])


ListedModel = AuditedModel | Incumbent | ExploredModel


def objective_ratio(model: ListedModel) -> str:
    """Return a model's objective divided by that of model 1, as text; a placeholder if this ratio is undefined."""
    ratio = None if isinstance(model, Incumbent) else model.objective_ratio
    return UNDEFINED if ratio is None else f"{ratio:.6f}"


def training_loss(model: ListedModel) -> str:
    """Return text: by what percentage the training loss exceeds the least; a placeholder for the model in use."""
    if isinstance(model, Incumbent):
        return UNDEFINED
    return f"{100 * model.loss_ratio:+.1f} %" if round(model.loss_ratio, 3) else "0.0 %"


def _support(model: ListedModel) -> str:
    return UNDEFINED if isinstance(model, Incumbent) else str(model.support_size)


def _left_out(model: ListedModel) -> str:
    return UNDEFINED if isinstance(model, Incumbent) else str(sum(entry.copies for entry in model.left_out))


# Columns about training in every table of models, in reports and in explorations.
TRAINED: tuple[Column[ListedModel], ...] = (
    Column(
        *("loss_ratio", "training loss", training_loss),
        note="loss: training loss, on all training rows, against the best there is",
        narrow="loss",
    ),
)
OBJECTIVE: Column[ListedModel] = Column(
    *("objective_ratio", "objective", objective_ratio),
    note="objective: of the problem without the rows left out, as a share of model 1's, by which models are ranked",
)
SUPPORT = Column("support_size", "support", _support)
LEFT_OUT = Column("records_left_out", "left out", _left_out)


def is_by_objective(document: AuditDocument) -> bool:
    """Tell whether the models are listed by objective, as after an exact search alone, and not by loss."""
    losses, is_exact = [model.loss_ratio for model in document.models], document.config.search == "exact"
    return (is_exact and document.exploration is None) or any(low > high + NOISE for low, high in pairwise(losses))


def trained_columns(document: AuditDocument) -> tuple[Column[ListedModel], ...]:
    """Return the columns about training in a table of models: the loss and, in a list by objective, the objective."""
    return (*TRAINED, OBJECTIVE) if is_by_objective(document) else TRAINED


def ranked_models(document: AuditDocument, ranks: Sequence[int]) -> Table:
    """Return a narrow table of the models with these ranks, with their scores on the holdout."""
    ended, columns = preferred(document), _short_columns(document)
    return Table.of(
        f"Models by {'objective' if is_by_objective(document) else 'training loss'}, scored on the holdout",
        columns,
        map(document.member, ranks),
        marked=ranks.index(ended) if ended in ranks else None,
        notes=(
            *performance_notes(document),
            *_in_use_notes(document),
            *_hidden_notes(document, ranks),
        ),
    )


def _short_columns(document: AuditDocument) -> tuple[Column[AuditedModel | Incumbent], ...]:
    """Return the columns of a narrow table of models: short headings, and changes of the gap without limits."""
    ended = preferred(document)
    judged = _judged_columns(document, lambda change: signed(change.value))
    return (
        Column("rank", "rank", lambda model: f"{'*' * (model.rank == ended)}{model_cell(model.rank)}"),
        *(column.narrowed for column in trained_columns(document)),
        *(column.narrowed for column in judged),
    )


def _judged_columns(
    document: AuditDocument, show_change: Callable[[Estimate], str]
) -> tuple[Column[AuditedModel | Incumbent], ...]:
    """Return the columns of scores on the holdout: performance, gap, change of the gap, verdict, flips."""
    metric, reference = document.selection.tolerances.metric, document.reference.rank

    def gap(model: AuditedModel | Incumbent) -> GapEstimate:
        return model.scores.holdout.gap(metric)

    def changed(model: AuditedModel | Incumbent) -> str:
        found = gap(model).change
        return UNDEFINED if model.rank == reference or not found else show_change(found)

    def verdict(model: AuditedModel | Incumbent) -> str:
        return UNDEFINED if model.rank == reference else _gap_verdict(model, gap(model))

    return (
        Column(
            *("holdout_performance", performance_of(document)),
            lambda model: share(model.scores.holdout.performance.value),
            narrow=performance_heading(document),
        ),
        Column("holdout_gap", "gap", lambda model: estimate(gap(model)), note=_gap_note(document)),
        Column("change", "change of gap", changed, narrow="change"),
        Column("verdict", "verdict", verdict, note=_open_note(document)),
        Column("flips", "flips", _flips),
    )


def _flips(model: AuditedModel | Incumbent) -> str:
    return UNDEFINED if model.rank == 1 else str(model.predictions_changed.holdout.rows)


def _gap_verdict(model: AuditedModel | Incumbent, gap: GapEstimate) -> str:
    return "constant" if model.is_constant else VERDICTS[gap.verdict]


def _gap_note(document: AuditDocument) -> str:
    metric, level = document.selection.tolerances.metric, 100 * document.config.confidence
    return (
        f"gap: {GAP_NAMES[metric]} difference [{level:g} %]; change, verdict: against {reference_name(document)}, all "
        "models judged together; flips: rows that model 1 decides differently"
    )


def _open_note(document: AuditDocument) -> str:
    metric = document.selection.tolerances.metric
    others = (model for model in document.members if model is not document.reference)
    is_open = any(_gap_verdict(model, model.scores.holdout.gap(metric)) == "open" for model in others)
    return f"open: these rows do not tell its gap from that of {reference_name(document)}" if is_open else ""


def _in_use_notes(document: AuditDocument) -> Iterator[str]:
    if document.incumbent:
        yield f"in use: row 0, {short(document.incumbent.name)}, which no model has learned from"


def _hidden_notes(document: AuditDocument, ranks: Sequence[int]) -> Iterator[str]:
    if preferred(document) is not None:
        yield "*: the selected model" if document.selection.rank else f"*: {IN_USE}, which is kept"
    if hidden := len(document.ranks) - len(ranks):
        yield f"not shown: {counted(hidden, 'model')}; `fairenum report RUN --all` shows all"


def explored(document: AuditDocument) -> Section:
    """Return the section of all models: scatter plots of both splits, and a table with filters."""
    explorer = Explorer(
        figure=Figure(scatters(document), SELECTED_BY),
        table=all_models(document),
        candidates=tuple(_candidate(document, model) for model in document.members),
        rule=tolerances_and_choice(document),
        performance=performance_of(document) + (f" against {IN_USE}" if document.is_against_incumbent else ""),
        least=_exact(_selection_gap(document, document.reference)) if document.is_against_incumbent else "",
    )
    return Section("models", "The listed models", (explorer,))


CHOSEN_BY, JUDGED_BY = SpanningHeading(PARTS["selection"], "chosen by"), SpanningHeading(PARTS["holdout"], "judged by")


def all_models(document: AuditDocument) -> Table:
    """Return the table of every model, with scores on the selection split and on the holdout."""
    ended, columns = preferred(document), _all_columns(document)
    return Table.of(
        f"All models, {'best objective' if is_by_objective(document) else 'least training loss'} first",
        columns,
        document.members,
        marked=None if ended is None else document.ranks.index(ended),
        notes=_in_use_notes(document),
    )


def _all_columns(document: AuditDocument) -> tuple[Column[AuditedModel | Incumbent], ...]:
    performance, metric = performance_of(document), document.selection.tolerances.metric
    judged = _judged_columns(document, lambda change: estimate(change, signed))
    chosen: tuple[Column[AuditedModel | Incumbent], ...] = (
        Column("selection_performance", performance, lambda model: share(model.scores.selection.performance.value)),
        Column("selection_gap", "gap", lambda model: share(model.scores.selection.gap(metric).value)),
    )
    return (
        Column("rank", "rank", lambda model: str(model.rank)),
        *(*trained_columns(document), SUPPORT, LEFT_OUT),
        *(replace(column, over=CHOSEN_BY) for column in chosen),
        *(replace(column, over=JUDGED_BY) for column in judged),
    )


def _candidate(document: AuditDocument, model: AuditedModel | Incumbent) -> Candidate:
    """Return the data by which the table's filters show or hide a model; they never hide the model in use."""
    if isinstance(model, Incumbent):
        kept = ("selected",) if preferred(document) == 0 else ()
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
        loss=max(0.0, model.loss_ratio),
        drop=round((best or 0.0) - (scores.performance.value or 0.0), EXACT_DIGITS),
        gap="" if model.is_constant else _exact(_selection_gap(document, model)),
        marks=tuple(tag for tag, holds in tags if holds),
    )


def _selection_gap(document: AuditDocument, model: AuditedModel | Incumbent) -> float | None:
    return model.scores.selection.gap(document.selection.tolerances.metric).value


def _exact(gap: float | None) -> str:
    return "" if gap is None else f"{round(gap, EXACT_DIGITS):.{EXACT_DIGITS}g}"


def by_rank(document: AuditDocument) -> Section:
    """Return the section with plots of loss, gap and performance by rank."""
    return Section("ranks", "Rank by rank", (Figure(rank_plots(document), RANK_CAPTION),))


def other_methods(document: AuditDocument) -> Iterator[Table]:
    """Yield the table of other mitigation methods on the same splits, if they were tried."""
    if document.baselines:
        metric = document.selection.tolerances.metric
        yield Table.of(
            "What else one would pick, scored on the holdout",
            _method_columns(document),
            document.baselines,
            notes=(
                *performance_notes(document),
                f"gap: {GAP_NAMES[metric]} difference; change and verdict: against model 1",
                "by chance: the same person may be decided otherwise the next time; scores are of one draw",
            ),
        )


def _method_columns(document: AuditDocument) -> tuple[Column[Baseline], ...]:
    metric = document.selection.tolerances.metric

    def scored(show: Callable[[BaselineScores], str]) -> Callable[[Baseline], str]:
        return lambda method: show(method.scores) if method.scores else UNDEFINED

    def changed(scores: BaselineScores) -> str:
        change = scores.gap(metric).change
        return signed(change.value) if change else UNDEFINED

    def verdict(method: Baseline) -> str:
        if not method.scores:
            return shortened(f"failed: {method.error}", TITLE_WIDTH)
        return VERDICTS[method.scores.gap(metric).verdict]

    return (
        Column("name", "method", lambda method: method_title(method.name), is_word=True),
        Column("is_randomised", "decides", lambda method: manner(is_randomised=method.is_randomised), is_word=True),
        Column(
            *("needs_groups", "asks for the group", lambda method: "yes" if method.needs_groups else "no"), is_word=True
        ),
        Column("performance", performance_heading(document), scored(lambda scores: share(scores.performance.value))),
        Column("gap", "gap", scored(lambda scores: estimate(scores.gap(metric)))),
        Column("change", "change", scored(changed)),
        Column("verdict", "verdict", verdict),
    )
