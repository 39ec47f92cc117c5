"""The other figures of a page: by rank, by group, under attack, and within what is possible at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from fairenum.report.numbers import estimate
from fairenum.report.scatter import FIRST, FRONT, LOOKS, PLAIN, SELECTED, kind_of
from fairenum.report.svg import Axis, Bar, Bars, Curve, Key, Mark, Marks, Plot, Rug, Rule, Span
from fairenum.report.svg.plot import LETTER, Layer
from fairenum.report.tables import METRICS, NAME_WIDTH, Document
from fairenum.report.text import shortened

Block = Mapping[str, Any]

GROUP_NAME, SHORT_NAME = 60, 14
FOUR_FIFTHS = 0.8


def by_rank(document: Document) -> tuple[Plot, ...]:
    """Draw objective, gap and accuracy by rank, as the paper does; guided models are no part of the ranking."""
    metric = document["selection"]["tolerances"]["metric"]
    models = [model for model in document["models"] if model["origin"] == "exact"]
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
    wanted = {1: FIRST} | ({document["selection"]["rank"]: SELECTED} if document["selection"]["rank"] != 1 else {})
    marks = tuple(
        Mark(x, value, **LOOKS[wanted[int(x)]])
        for x, value in zip(curve.xs_, curve.values, strict=True)
        if x in wanted and value is not None
    )
    return Plot(
        name=f"{name} by rank",
        description=f"A line over {len(curve.values)} models.",
        x=Axis("rank", low=1.0 - 0.02 * len(curve.values), least=1.0),
        y=Axis(label, least=0.02 if "share" not in label else 0.0, low=0.0 if label != "accuracy" else None),
        layers=(curve, Marks(marks)),
        width=360.0,
        height=250.0,
        left=80.0,
    )


def group_rates(tables: Iterable[Block]) -> Plot:
    """Draw the selection rates of the groups of one column, for one model or for two beside each other."""
    found = list(tables)
    names = tuple(shortened(group["group"], GROUP_NAME) for group in found[0]["groups"])
    longest = max(map(len, names))
    is_above, is_pair = longest > SHORT_NAME, len(found) > 1
    drop = 0.12 if is_above else 0.0  # below a name that stands above
    bars = tuple(
        _rate_bar(group, len(names) - 1 - place - drop + _offset(number, is_pair=is_pair), table["rank"])
        for number, table in enumerate(found)
        for place, group in enumerate(table["groups"])
    )
    thickness = (0.22 if is_pair else 0.34) if is_above else (0.34 if is_pair else 0.56)
    layers: list[Layer] = [Bars(bars, thickness)]
    if rule := _four_fifths(found[-1]):
        layers.append(rule)
    return Plot(
        name=f"Selection rates by {shortened(found[0]['column'], GROUP_NAME)}",
        description="One bar for each group; the table beside it has the numbers.",
        x=Axis("selection rate on the holdout", low=0.0, high=1.0),
        y=Axis("", names=names[::-1], is_above=is_above),
        layers=tuple(layers),
        key=tuple(Key(f"model {table['rank']}", _tone(table["rank"]), "square") for table in found if is_pair),
        height=76.0 + (26.0 + 10.0 * is_pair + 18.0 * is_above) * len(names),
        left=14.0 if is_above else 22.0 + LETTER * longest,
    )


def _offset(number: int, *, is_pair: bool) -> float:
    """Move the bars of two models apart."""
    return 0.0 if not is_pair else 0.16 if number == 0 else -0.16


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


def attack_curves(block: Block) -> tuple[Plot, ...]:
    """Draw the mean gap against the number of flips, one plot for each strategy, all on the same axes."""
    metric = METRICS[block["config"]["metric"]]
    plots = [_attack_curve(curve, block["clean"], metric) for curve in block["curves"]]
    frames = [plot.frame for plot in plots]
    if not frames:
        return ()
    right, top = max(frame.x.high for frame in frames), max(frame.y.high for frame in frames)
    return tuple(replace(plot, x=replace(plot.x, high=right), y=replace(plot.y, high=top)) for plot in plots)


def _attack_curve(curve: Block, clean: Block, metric: str) -> Plot:
    points = sorted((point for point in curve["points"] if point["trials"]), key=lambda point: int(point["flips"]))
    gaps = [clean["gap"], *(point["gap"] for point in points)]
    spreads = [clean["gap_quantiles"], *(point["gap_quantiles"] for point in points)]
    xs = (0.0, *(float(point["flips"]) for point in points))
    values, low, high = (tuple(gap[end] for gap in gaps) for end in ("value", "low", "high"))
    least, most = (tuple(one and one[end] for one in spreads) for end in ("q25", "q75"))
    layers: list[Layer] = [
        Curve(xs, (None,) * len(xs), least, most, tone="tone-6"),
        Curve(xs, values, low, high),
        Marks(tuple(_attack_mark(x, gap) for x, gap in zip(xs, gaps, strict=True) if gap["value"] is not None)),
    ]
    if clean["gap"]["value"] is not None:
        layers.append(Rule(clean["gap"]["value"], "without flips"))
    name = shortened(curve["strategy"], NAME_WIDTH)
    return Plot(
        title=name,
        name=f"{metric} gap against flipped labels, strategy {name}",
        description="A line over budgets with a band; the tables have the numbers.",
        x=Axis("flipped labels", low=0.0, least=1.0),
        y=Axis(f"mean {metric} gap", low=0.0, least=0.02),
        layers=tuple(layers),
        key=(Key("mean and its interval", "tone-1", "line"), Key("middle half of the draws", "tone-6", "band")),
        width=400.0,
        height=280.0,
    )


def _attack_mark(flips: float, gap: Block) -> Mark:
    return Mark(flips, gap["value"], f"{flips:.0f} flips: {estimate(gap)}")


def range_strip(document: Document) -> Plot:
    """Draw where the models stand within what any machine of nearly the same loss could do."""
    found = document["range"]
    low, high = found["low"], found["high"]
    first, second = (shortened(group, NAME_WIDTH) for group in found["groups"])
    spans = (
        Span(low[end], high[end], 0.0, tone, f"{word}: {low[end]:.3f} to {high[end]:.3f}")
        for end, tone, word in (("bound", "tone-6", "proven"), ("attained", "tone-1", "found"))
    )
    return Plot(
        name="Range of the difference of mean decision values",
        description="A strip with the proven range and the models in it.",
        x=Axis(f"mean decision value of {first} minus that of {second}"),
        y=Axis("", names=("",)),
        layers=(
            *spans,
            Rule(0.0, "parity", is_upright=True),
            *_range_models(document),
        ),
        key=(
            Key("no machine goes beyond", "tone-6", "band"),
            Key("a machine was found", "tone-1", "band"),
            Key("models; other signs as above", "tone-1", "upright"),
        ),
        width=580.0,
        height=150.0,
        left=24.0,
    )


def _range_models(document: Document) -> tuple[Layer, ...]:
    """Draw the models for which the range holds: the telling ones as marks, the others as threads."""
    models = {model["rank"]: model for model in document["models"]}
    within = [one for one in document["range"]["models"] if one["is_within"]]
    kinds = {one["rank"]: kind_of(models[one["rank"]], document) for one in within}
    plain = tuple(one["value"] for one in within if kinds[one["rank"]] in (PLAIN, FRONT))
    telling = sorted(
        (one for one in within if kinds[one["rank"]] not in (PLAIN, FRONT)), key=lambda one: kinds[one["rank"]]
    )
    marks = (
        Mark(one["value"], 0.0, f"model {one['rank']}: {one['value']:.3f}", **LOOKS[kinds[one["rank"]]])
        for one in telling
    )
    return Rug(plain, 0.0), Marks(tuple(marks))
