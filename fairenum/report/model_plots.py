"""Plots of the models: performance against gap, and rank by rank."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum

from fairenum.document.audit import AuditDocument
from fairenum.document.consequences import ended_with
from fairenum.document.incumbent import Incumbent
from fairenum.document.models import AuditedModel
from fairenum.document.scores import BaselineScores, SplitScores
from fairenum.document.terms import Part
from fairenum.document.value import Estimate
from fairenum.rendering.numbers import share
from fairenum.rendering.svg import Axis, Curve, Key, Mark, Marks, Plot, aligned, unlinked
from fairenum.rendering.svg.layers import UNKNOWN
from fairenum.rendering.svg.shapes import Shape
from fairenum.rendering.text import sentence_list
from fairenum.report.wording import GAPS, PARTS, method_title, model_title, performance_of

MOST_NAMED = 6
EXACT_DIGITS = 12  # numbers that differ by less are equal but for rounding
BY_CHANCE: Shape = "hollow"


class Kind(IntEnum):
    """What a model is in a plot; a higher kind lies on top."""

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
        """Its colour."""
        return LOOKS[self][0]

    @property
    def shape(self) -> Shape:
        """Its sign."""
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


def kind_of(model: AuditedModel | Incumbent, document: AuditDocument) -> Kind:
    """Say what a model is in a plot."""
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
    """Draw performance against gap twice: on the split that models are chosen by, and on the one they are judged by."""
    return (
        *_scatter(document, "selection", "Chosen here: the selection split"),
        *_scatter(document, "holdout", "Judged here: the holdout"),
    )


def judged(runs: Mapping[str, AuditDocument]) -> tuple[Plot, ...]:
    """Draw the holdout of several runs, all on the same axes."""
    return aligned(unlinked(plot for name, document in runs.items() for plot in _scatter(document, "holdout", name)))


def _scatter(document: AuditDocument, part: Part, title: str) -> Iterator[Plot]:
    """Draw one split, if it has a gap to show."""
    metric, marks = document.selection.tolerances.metric, _marks(document, part)
    if not marks:
        return
    floor = -0.04 * max(mark.upward[1] or mark.y for mark in marks)  # a gap of 0 is not to hide in the axis
    front = (_front_line(document),) if part == "selection" else ()
    yield Plot(
        title=title,
        name=f"{title}: {performance_of(document)} against {GAPS[metric]} gap",
        description="Each mark is a model; a table with the same numbers follows.",
        x=Axis(f"{performance_of(document)} on the {_rows(document, part)}", least=0.02),
        y=Axis(f"{GAPS[metric]} gap, lower is fairer", least=0.02, low=min(floor, 0.0)),
        layers=(*front, Marks(marks)),
        key=tuple(_key(document, part)),
        identity=f"scatter-{part}",
        height=340.0,
    )


def _rows(document: AuditDocument, part: Part) -> str:
    splits = document.dataset.splits
    return f"{PARTS[part]} ({splits.selection if part == 'selection' else splits.holdout} rows)"


def _key(document: AuditDocument, part: Part) -> Iterator[Key]:
    """Say what the marks are, as far as there are such."""
    kinds = {kind_of(model, document) for model in document.models}
    tried = [one for one in document.baselines or () if one.scores and part == "holdout"]
    entries = (
        ("model", Kind.PLAIN, Kind.PLAIN in kinds),
        ("on the front", Kind.FRONT, Kind.FRONT in kinds),
        ("found by guided search", Kind.GUIDED, Kind.GUIDED in kinds),
        ("tilted towards parity", Kind.TILTED, Kind.TILTED in kinds),
        ("model 1", Kind.FIRST, Kind.FIRST in kinds),
        (f"{model_title(document, 0)}{', kept' * (ended_with(document) == 0)}", Kind.IN_USE, document.incumbent),
        (f"model {document.selection.rank}, selected", Kind.SELECTED, Kind.SELECTED in kinds),
        ("another method", Kind.BASELINE, any(not one.is_randomised for one in tried)),
    )
    yield from (Key(text, kind.tone, kind.shape) for text, kind, is_there in entries if is_there)
    if any(one.is_randomised for one in tried):
        yield Key("another method, decides by chance", Kind.BASELINE.tone, BY_CHANCE)
    if part == "selection" and len(document.selection.pareto_front) > 1:
        yield Key("Pareto front", Kind.FRONT.tone, "line")


def _marks(document: AuditDocument, part: Part) -> tuple[Mark, ...]:
    """Make one mark for all models at the same place; the telling ones lie on top."""
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
    kind, lead = max(((kind_of(model, document), model) for model in models), key=lambda one: one[0])
    ranks = [model.rank for model in models]
    mark = replace(
        _mark(lead.scores.of(part), document, ranked(ranks)),
        tone=kind.tone,
        shape=kind.shape,
        label=_label(kind, ranks, document),
        link=f"#model-{lead.rank}",
        data=" ".join(map(str, ranks)) if len(ranks) > 1 else None,
    )
    # on the selection split the choice has spoilt the intervals
    return kind, mark if part == "holdout" else replace(mark, across=UNKNOWN, upward=UNKNOWN)


def _baseline_marks(document: AuditDocument) -> Iterator[Mark]:
    """Mark what else one would pick, which is known on the holdout alone."""
    metric = document.selection.tolerances.metric
    for method in document.baselines or ():
        if method.scores and None not in (method.scores.performance.value, method.scores.gap(metric).value):
            title = method_title(method.name)
            name = f"{title}, decides by chance" if method.is_randomised else title
            shape = BY_CHANCE if method.is_randomised else Kind.BASELINE.shape
            yield replace(_mark(method.scores, document, name), tone=Kind.BASELINE.tone, shape=shape, label=title)


def _mark(scores: SplitScores | BaselineScores, document: AuditDocument, name: str) -> Mark:
    """Put a mark where its scores are, with their intervals."""
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
    telling = [rank for rank in ranks if rank in document.shortlist]
    others = len(ranks) - len(telling)
    return ranked(telling) + (f" and {others} more" if others else "")


def ranked(ranks: Sequence[int]) -> str:
    """Name models by their ranks: the first few of many, the model in use before them."""
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


def by_rank(document: AuditDocument) -> tuple[Plot, ...]:
    """Draw objective, gap and performance by rank, as the paper does, of models that are part of the ranking."""
    metric = document.selection.tolerances.metric
    models = [model for model in document.models if model.origin == "exact"]
    ranks = tuple(float(model.rank) for model in models)
    losses = tuple(max(0.0, model.shortfall) for model in models)
    loss = Axis("share of model 1's objective lost", low=0.0)
    gap, performance = Axis(f"{GAPS[metric]} gap", low=0.0, least=0.02), Axis(performance_of(document), least=0.02)
    gaps = _banded(ranks, [model.scores.holdout.gap(metric) for model in models])
    performances = _banded(ranks, [model.scores.holdout.performance for model in models])
    plots = [_by_rank("loss of objective", Curve(ranks, losses), loss, document)]
    for curve, axis in ((gaps, gap), (performances, performance)):
        if any(value is not None for value in curve.values):
            plots.append(_by_rank(f"{axis.label} on the holdout", curve, axis, document))
    return tuple(plots)


def _banded(ranks: tuple[float, ...], numbers: Sequence[Estimate]) -> Curve:
    values, low, high = zip(*((one.value, one.low, one.high) for one in numbers), strict=True)
    return Curve(ranks, values, low, high)


def _by_rank(name: str, curve: Curve, axis: Axis, document: AuditDocument) -> Plot:
    kinds = {float(rank): kind_of(document.models[rank - 1], document) for rank in document.selection.shortlist}
    points = ((x, value) for x, value in zip(curve.xs_, curve.values, strict=True) if x in kinds)
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
