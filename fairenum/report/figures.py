"""The figures of a page: what a document holds, as plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fairenum.report.numbers import estimate, share
from fairenum.report.svg import Axis, Bar, Bars, Curve, Key, Mark, Marks, Plot, Rule
from fairenum.report.svg.plot import LETTER, Layer
from fairenum.report.tables import METRICS, Document
from fairenum.report.text import sentence_list, shortened

Block = Mapping[str, Any]

PLAIN, FRONT, FIRST, SELECTED = range(4)
LOOKS: Mapping[int, dict[str, Any]] = {
    PLAIN: {"tone": "tone-1", "shape": "circle"},
    FRONT: {"tone": "tone-1", "shape": "ring"},
    FIRST: {"tone": "tone-0", "shape": "diamond"},
    SELECTED: {"tone": "tone-2", "shape": "star"},
}
GROUP_NAME = 36
MOST_NAMED = 6
FOUR_FIFTHS = 0.8


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
    low, high = min(frame.x.low for frame in frames), max(frame.x.high for frame in frames)
    top = max(frame.y.high for frame in frames)
    return tuple(replace(plot, x=replace(plot.x, low=low, high=high), y=replace(plot.y, high=top)) for plot in plots)


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
    if part == "selection":
        layers.insert(0, _front_line(document, metric))
    return Plot(
        title=title,
        name=f"{title}: accuracy against {METRICS[metric]} gap",
        description="Each mark is a model; a table with the same numbers follows.",
        x=Axis(f"accuracy on the {_rows(document, part)}", least=0.02),
        y=Axis(f"{METRICS[metric]} gap, lower is fairer", least=0.02, low=0.0),
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
    rank, models = document["selection"]["rank"], len(document["models"])
    if models == 1:
        return (Key("model 1", "tone-0", "diamond"),)
    found = [
        Key("model", "tone-1", "circle"),
        Key("on the front", "tone-1", "ring"),
        Key("model 1", "tone-0", "diamond"),
    ]
    if rank not in (None, 1):
        found.append(Key(f"model {rank}, selected", "tone-2", "star"))
    if part == "selection":
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
        ((max(_kind(model, document) for model in models), place, models) for place, models in places.items()),
        key=lambda one: one[0],
    )
    return tuple(_mark(kind, models, part, metric, document) for kind, _, models in found)


def _kind(model: Block, document: Document) -> int:
    selection, rank = document["selection"], model["rank"]
    if rank == selection["rank"] and rank != 1:
        return SELECTED
    if rank == 1:
        return FIRST
    return FRONT if rank in selection["pareto_front"] else PLAIN


def _mark(kind: int, models: Sequence[Block], part: str, metric: str, document: Document) -> Mark:
    lead = next(model for model in models if _kind(model, document) == kind)
    scores, ranks = lead["scores"][part], [model["rank"] for model in models]
    accuracy, gap = scores["accuracy"], scores[metric]
    return Mark(
        x=accuracy["value"],
        y=gap["value"],
        name=f"{ranked(ranks)}: accuracy {share(accuracy['value'])}, gap {estimate(gap)}",
        across=(accuracy["low"], accuracy["high"]) if part == "holdout" else (None, None),
        upward=(gap["low"], gap["high"]) if part == "holdout" else (None, None),
        label=_label(kind, ranks, document),
        link=f"#model-{lead['rank']}",
        data=" ".join(map(str, ranks)),
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


def by_rank(document: Document) -> tuple[Plot, ...]:
    """Draw objective, gap and accuracy by rank, as the paper does."""
    metric = document["selection"]["tolerances"]["metric"]
    models = document["models"]
    ranks = tuple(float(model["rank"]) for model in models)
    losses = tuple(max(0.0, 1.0 - model["objective_ratio"]) for model in models)
    plots = [_by_rank("loss of objective", Curve(ranks, losses), document, "share of model 1's objective lost")]
    for key, label in ((metric, f"{METRICS[metric]} gap"), ("accuracy", "accuracy")):
        numbers = [model["scores"]["holdout"][key] for model in models]
        values, low, high = (tuple(one[part] for one in numbers) for part in ("value", "low", "high"))
        if any(value is not None for value in values):
            plots.append(_by_rank(f"{label} on the holdout", Curve(ranks, values, low, high), document, label))
    return tuple(plots)


def _by_rank(name: str, curve: Curve, document: Document, label: str) -> Plot:
    rank = document["selection"]["rank"]
    marked = [place for place in sorted({1, rank or 1}) if curve.values[place - 1] is not None]
    marks = tuple(
        Mark(float(place), curve.values[place - 1] or 0.0, **LOOKS[FIRST if place == 1 else SELECTED])
        for place in marked
    )
    return Plot(
        name=f"{name} by rank",
        description=f"A line over {len(curve.values)} models.",
        x=Axis("rank", low=1.0 - 0.02 * len(curve.values), least=1.0),
        y=Axis(label, least=0.02 if "share" not in label else 0.0, low=0.0 if label != "accuracy" else None),
        layers=(curve, Marks(marks)),
        width=360.0,
        height=250.0,
        left=64.0,
    )


def group_rates(tables: Iterable[Block]) -> Plot:
    """Draw the selection rates of the groups of one column, for one model or for two beside each other."""
    found = list(tables)
    names = tuple(shortened(group["group"], GROUP_NAME) for group in found[0]["groups"])
    offset = 0.0 if len(found) == 1 else 0.2
    bars = tuple(
        _rate_bar(group, len(names) - 1 - place + (offset if number == 0 else -offset), table["rank"])
        for number, table in enumerate(found)
        for place, group in enumerate(table["groups"])
    )
    layers: list[Layer] = [Bars(bars, thickness=0.34 if offset else 0.6)]
    if rule := _four_fifths(found[-1]):
        layers.append(rule)
    return Plot(
        name=f"Selection rates by {shortened(found[0]['column'], 40)}",
        description="One bar for each group; the table beside it has the numbers.",
        x=Axis("selection rate on the holdout", low=0.0, high=1.0),
        y=Axis("", names=names[::-1]),
        layers=tuple(layers),
        key=tuple(
            Key(f"model {table['rank']}", _tone(table["rank"]), "square") for table in (found if len(found) > 1 else ())
        ),
        width=640.0,
        height=74.0 + (46.0 if len(found) > 1 else 34.0) * len(names),
        left=24.0 + LETTER * max(map(len, names)),
    )


def _tone(rank: int) -> str:
    return "tone-6" if rank == 1 else "tone-2"


def _rate_bar(group: Block, place: float, rank: int) -> Bar:
    rate = group["rate"]
    name = f"model {rank}, {shortened(group['group'], GROUP_NAME)}: {estimate(rate)}"
    return Bar(place, rate["value"], (rate["low"], rate["high"]), _tone(rank), name)


def _four_fifths(table: Block) -> Rule | None:
    """Mark four fifths of the highest rate, the rule of thumb of adverse-impact practice."""
    rates = [group["rate"]["value"] for group in table["groups"] if group["group"] == table["most_selected"]]
    if not rates or rates[0] is None:
        return None
    return Rule(FOUR_FIFTHS * rates[0], "", is_upright=True)
