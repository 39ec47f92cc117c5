"""The scatter of models: accuracy against gap, on the split they are chosen by and on the one they are judged by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fairenum.report.numbers import share
from fairenum.report.svg import Axis, Curve, Key, Mark, Marks, Plot
from fairenum.report.svg.plot import Layer
from fairenum.report.svg.scale import Scale
from fairenum.report.tables import METRICS, Document
from fairenum.report.text import sentence_list, shortened

Block = Mapping[str, Any]

PLAIN, GUIDED, FRONT, BASELINE, FIRST, SELECTED = range(6)
LOOKS: Mapping[int, dict[str, Any]] = {
    PLAIN: {"tone": "tone-1", "shape": "circle"},
    GUIDED: {"tone": "tone-3", "shape": "triangle"},
    FRONT: {"tone": "tone-1", "shape": "ring"},
    BASELINE: {"tone": "tone-4", "shape": "square"},
    FIRST: {"tone": "tone-0", "shape": "diamond"},
    SELECTED: {"tone": "tone-2", "shape": "star"},
}
BASELINE_NAME = 32
MOST_NAMED = 6


def scatters(document: Document) -> tuple[Plot, ...]:
    """Draw accuracy against gap twice: on the split that models are chosen by, and on the one they are judged by."""
    metric = document["selection"]["tolerances"]["metric"]
    return tuple(
        plot
        for part, title in (("selection", "Chosen here: the selection split"), ("holdout", "Judged here: the holdout"))
        if (plot := _scatter(document, part, title, metric))
    )


def judged(runs: Sequence[tuple[str, Document]]) -> tuple[Plot, ...]:
    """Draw the holdout of several runs, all on the same axes."""
    plots = []
    for name, document in runs:
        metric = document["selection"]["tolerances"]["metric"]
        if plot := _scatter(document, "holdout", name, metric):
            plots.append(plot)
    if not plots:
        return ()
    plots = list(unlinked(plots))
    frames = [plot.frame for plot in plots]
    across, upward = _reach(frame.x for frame in frames), _reach(frame.y for frame in frames)
    return tuple(
        replace(
            plot,
            x=replace(plot.x, low=across[0], high=across[1]),
            y=replace(plot.y, low=upward[0], high=upward[1]),
        )
        for plot in plots
    )


def _reach(scales: Iterable[Scale]) -> tuple[float, float]:
    ends = [(scale.low, scale.high) for scale in scales]
    return min(low for low, _ in ends), max(high for _, high in ends)


def unlinked(plots: Iterable[Plot]) -> tuple[Plot, ...]:
    """Take names and links off plots that have no table to lead to."""
    return tuple(replace(plot, identity=None, layers=tuple(map(_without_links, plot.layers))) for plot in plots)


def _without_links(layer: Layer) -> Layer:
    return Marks(tuple(replace(mark, link=None) for mark in layer.marks)) if isinstance(layer, Marks) else layer


def _scatter(document: Document, part: str, title: str, metric: str) -> Plot | None:
    marks = _marks(document, part, metric)
    if not marks:
        return None
    layers: list[Layer] = [Marks(marks)]
    floor = -0.04 * max(mark.upward[1] or mark.y for mark in marks)  # a gap of 0 is not to hide in the axis
    if part == "selection":
        layers.insert(0, _front_line(document, metric))
    return Plot(
        title=title,
        name=f"{title}: accuracy against {METRICS[metric]} gap",
        description="Each mark is a model; a table with the same numbers follows.",
        x=Axis(f"accuracy on the {_rows(document, part)}", least=0.02),
        y=Axis(f"{METRICS[metric]} gap, lower is fairer", least=0.02, low=min(floor, 0.0)),
        layers=tuple(layers),
        key=_key(document, part),
        identity=f"scatter-{part}",
        height=340.0,
    )


def _rows(document: Document, part: str) -> str:
    rows = document["dataset"]["splits"][part]
    return f"{'selection split' if part == 'selection' else 'holdout'} ({rows} rows)"


def _key(document: Document, part: str) -> tuple[Key, ...]:
    """Say what the marks are, as far as there are such."""
    rank, kinds = document["selection"]["rank"], {kind_of(model, document) for model in document["models"]}
    tried = [one for one in document["baselines"] or () if one["scores"] and part == "holdout"]
    entries = (
        ("model", PLAIN, PLAIN in kinds),
        ("on the front", FRONT, FRONT in kinds),
        ("found by guided search", GUIDED, GUIDED in kinds),
        ("model 1", FIRST, True),
        (f"model {rank}, selected", SELECTED, SELECTED in kinds),
        ("another method", BASELINE, any(not one["is_randomised"] for one in tried)),
    )
    found = [Key(text, **LOOKS[kind]) for text, kind, is_there in entries if is_there]
    if any(one["is_randomised"] for one in tried):
        found.append(Key("another method, decides by chance", "tone-4", "hollow"))
    if part == "selection" and len(document["selection"]["pareto_front"]) > 1:
        found.append(Key("Pareto front", "tone-1", "line"))
    return tuple(found)


def _marks(document: Document, part: str, metric: str) -> tuple[Mark, ...]:
    """Make one mark for all models at the same place; the telling ones lie on top."""
    places: dict[tuple[float, float], list[Block]] = {}
    for model in document["models"]:
        accuracy, gap = (model["scores"][part][key]["value"] for key in ("accuracy", metric))
        if accuracy is not None and gap is not None:
            places.setdefault((round(accuracy, 12), round(gap, 12)), []).append(model)
    found = sorted(
        ((max(kind_of(model, document) for model in models), place, models) for place, models in places.items()),
        key=lambda one: one[0],
    )
    marks = tuple(_mark(kind, models, part, metric, document) for kind, _, models in found)
    return (*_baselines(document, metric), *marks) if marks and part == "holdout" else marks


def _baselines(document: Document, metric: str) -> Iterator[Mark]:
    """Mark what else one would pick, which is known on the holdout alone."""
    for method in document["baselines"] or ():
        scores = method["scores"]
        if scores and None not in (scores["accuracy"]["value"], scores[metric]["value"]):
            name = shortened(method["title"], BASELINE_NAME)
            chance = ", decides by chance" if method["is_randomised"] else ""
            shape = {"shape": "hollow"} if method["is_randomised"] else {}
            yield Mark(
                **_position(scores, metric, "holdout"),
                name=f"{name}{chance}: {_measured(scores, metric)}",
                label=name,
                **{**LOOKS[BASELINE], **shape},
            )


def _position(scores: Block, metric: str, part: str) -> dict[str, Any]:
    """Say where a mark is; intervals are for the holdout, as on the selection split the choice has spoilt them."""
    accuracy, gap = scores["accuracy"], scores[metric]
    place: dict[str, Any] = {"x": accuracy["value"], "y": gap["value"]}
    if part == "holdout":
        place |= {"across": (accuracy["low"], accuracy["high"]), "upward": (gap["low"], gap["high"])}
    return place


def _measured(scores: Block, metric: str) -> str:
    return f"accuracy {share(scores['accuracy']['value'])}, gap {share(scores[metric]['value'])}"


def kind_of(model: Block, document: Document) -> int:
    """Say what a model is in a plot: a higher kind lies on top."""
    selection, rank = document["selection"], model["rank"]
    if rank == selection["rank"] and rank != 1:
        return SELECTED
    if rank == 1:
        return FIRST
    if model["origin"] == "guided":
        return GUIDED
    return FRONT if rank in selection["pareto_front"] else PLAIN


def _mark(kind: int, models: Sequence[Block], part: str, metric: str, document: Document) -> Mark:
    lead = next(model for model in models if kind_of(model, document) == kind)
    scores, ranks = lead["scores"][part], [model["rank"] for model in models]
    return Mark(
        **_position(scores, metric, part),
        name=f"{ranked(ranks)}: {_measured(scores, metric)}",
        label=_label(kind, ranks, document),
        link=f"#model-{lead['rank']}",
        data=" ".join(map(str, ranks)) if len(ranks) > 1 else None,
        **LOOKS[kind],
    )


def _label(kind: int, ranks: Sequence[int], document: Document) -> str:
    telling = [rank for rank in ranks if rank in (1, document["selection"]["rank"])]
    others = len(ranks) - len(telling)
    if kind in (FIRST, SELECTED):
        return ranked(telling) + (f" and {others} more" if others else "")
    return ""


def ranked(ranks: Sequence[int]) -> str:
    """Name models by their ranks: the first few of many."""
    shown = [str(rank) for rank in ranks[:MOST_NAMED]]
    if len(ranks) > MOST_NAMED:
        shown.append(f"{len(ranks) - MOST_NAMED} more")
    return ("model " if len(ranks) == 1 else "models ") + sentence_list(shown)


def _front_line(document: Document, metric: str) -> Curve:
    models = [document["models"][rank - 1]["scores"]["selection"] for rank in document["selection"]["pareto_front"]]
    points = sorted((scores["accuracy"]["value"], scores[metric]["value"]) for scores in models)
    return Curve(tuple(x for x, _ in points), tuple(y for _, y in points), is_step=True)
