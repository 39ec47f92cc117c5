"""The paper's figures, drawn over all splits and draws: medians with bands, and where the paper's statements lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fairenum.report.page import Figure
from fairenum.report.svg import Axis, Curve, Key, Plot, Rule
from fairenum.reproduction.plan import CLEAN_PARITY, GERMAN_SPREAD, LOWER_LOSS_RANKS, MODELS, TABLES

Document = Mapping[str, Any]
Block = Mapping[str, Any]
Numbers = Sequence[float | None]

RANK = "rank k"
NAMES = {"german": "German", "ionosphere": "Ionosphere", "sonar": "Sonar"}
BANDS = (Key("median", "tone-1", "line"), Key("50 % and 90 % of them", "tone-1", "band"))
FLOOR = 1e-12  # a shortfall of 0 has no place on a logarithmic axis; what is smaller is rounding


def figures(document: Document) -> dict[str, Figure]:
    """Draw all figures that a document has numbers for, by name."""
    tables = {name: document["experiments"][name] for name in TABLES if name in document["experiments"]}
    found: dict[str, Figure] = {}
    if tables:
        found |= dict(_table_figures(tables))
    if "compas" in document["experiments"]:
        found |= dict(_injection_figures(main(document["experiments"]["compas"])))
    return found


def main(block: Block) -> Any:
    """Return the main variant of an experiment: its first."""
    return next(iter(block["variants"].values()))


def _table_figures(tables: Mapping[str, Block]) -> Iterator[tuple[str, Figure]]:
    def each(draw: Callable[[str, Block], Plot]) -> tuple[Plot, ...]:
        return tuple(draw(name, block) for name, block in tables.items())

    yield "objective", Figure(each(_objective), OBJECTIVE)
    yield "loss", Figure(each(_loss), LOSS)
    yield "time", Figure(each(_time), TIME)
    yield "spread", Figure((_spread(tables),), SPREAD)


OBJECTIVE = (
    "How far the objective of the k-th model falls short of the best, 1 - f(k)/f(1): the paper's Figure 1 (a), on a "
    "logarithmic axis. Median, half and nine tenths of the splits; dashed: the 6.0e-4 that the paper states for German."
)
LOSS = (
    "Test hinge loss of the k-th model over that of the best: the paper's Figure 1 (b). Dashed upright: the model that "
    "the paper names as better than the best."
)
TIME = (
    "CPU seconds until the k-th model, both axes logarithmic: the paper's Figure 2. Orange: its own algorithm on "
    "scikit-learn's SVC, on one split, for as long as it was given."
)
SPREAD = (
    "Share of splits whose 50 best models lie within a given distance of the best objective; dashed: the paper's "
    "statement for German."
)
PARITY = (
    "Demographic parity gap and misclassification on the 50 test rows by rank: the paper's Figure 3, over all draws. "
    "Dashed: the reference of the clean labels (median over draws) and the paper's 0.321."
)
TIES = (
    "Share of draws whose 50th model falls short of the first by at most so much. To the left of 1e-9 nothing can be "
    "told apart; orange: what the paper's own algorithm on SVC shows."
)
REFERENCE = (
    "The parity gap on 50 test rows before and after the injection, as shares of draws at or below it; dashed: the "
    "paper's reference of 0.321."
)


def _banded(xs: Sequence[float], bands: Mapping[str, Numbers], tone: str = "tone-1") -> tuple[Curve, Curve]:
    """Draw the median with a band of half and one of nine tenths of the values."""
    xs = tuple(xs)
    empty = (None,) * len(xs)
    outer = Curve(xs, empty, tuple(bands["q05"]), tuple(bands["q95"]), tone)
    return outer, Curve(xs, tuple(bands["q50"]), tuple(bands["q25"]), tuple(bands["q75"]), tone)


def _ranks(first: int = 1) -> tuple[float, ...]:
    return tuple(float(rank) for rank in range(first, MODELS + 1))


def _objective(name: str, block: Block) -> Plot:
    bands = main(block)["shortfall"]
    # that of model 1 is 0
    shortfalls = {name: [None if value is None else max(value, FLOOR) for value in bands[name][1:]] for name in bands}
    rule = (Rule(GERMAN_SPREAD, "paper: 6.0e-4"),) if name == "german" else ()
    return Plot(
        f"Shortfall of the objective by rank, {NAMES[name]}",
        f"It grows with the rank; the 50th model falls short by {shortfalls['q50'][-1]:.2g} in the median split.",
        Axis(RANK),
        Axis("1 − f(k) / f(1)", is_log=True),
        (*_banded(_ranks(2), shortfalls), *rule),
        key=BANDS,
        title=NAMES[name],
    )


def _loss(name: str, block: Block) -> Plot:
    bands, rank = main(block)["loss"], LOWER_LOSS_RANKS[name]
    return Plot(
        f"Test loss by rank, {NAMES[name]}",
        f"The median over splits of the 50th model's test loss is {bands['q50'][-1]:.4f} of the best model's.",
        Axis(RANK),
        Axis("test loss / that of model 1"),
        (*_banded(_ranks(), bands), Rule(1.0), Rule(float(rank), f"paper: {rank}", is_upright=True)),
        key=BANDS,
        title=NAMES[name],
    )


def _time(name: str, block: Block) -> Plot:
    time, printed = main(block)["time"], block["printed"]
    layers = list(_banded(time["ranks"], time))
    if printed:
        found = printed["seconds"]
        layers.append(Curve(tuple(float(k + 1) for k in range(len(found))), tuple(found), tone="tone-2"))
    return Plot(
        f"Time by number of models, {NAMES[name]}",
        f"A thousand models take {time['q50'][-1]:.2g} CPU seconds in the median split.",
        Axis("models k", is_log=True),
        Axis("CPU seconds", is_log=True),
        tuple(layers),
        key=(Key("fairenum", "tone-1", "line"), Key("Algorithm 1 on SVC", "tone-2", "line")),
        title=NAMES[name],
    )


def _spread(tables: Mapping[str, Block]) -> Plot:
    layers, key = [], []
    for place, (name, block) in enumerate(tables.items()):
        tone = f"tone-{place + 1}"
        layers.append(_distribution([split["spread"] for split in main(block)["splits"]], tone))
        key.append(Key(NAMES[name], tone, "line"))
    return Plot(
        "Distribution of the spread of the 50 best objectives",
        "One curve for each table, from the split with the smallest spread to that with the largest.",
        Axis("1 − f(50) / f(1)", is_log=True),
        Axis("share of splits", 0.0, 1.0),
        (*layers, Rule(GERMAN_SPREAD, "paper: 6.0e-4", is_upright=True)),
        key=tuple(key),
    )


def _distribution(values: Sequence[float | None], tone: str, floor: float = FLOOR) -> Curve:
    """Draw the share of values at or below each number."""
    known = sorted(max(value, floor) for value in values if value is not None)
    shares = tuple((place + 1) / len(known) for place in range(len(known)))
    return Curve((known[0], *known), (0.0, *shares), tone=tone, is_step=True)


def _injection_figures(variant: Block) -> Iterator[tuple[str, Figure]]:
    yield "parity", Figure((_parity(variant), _error(variant)), PARITY)
    yield "ties", Figure((_ties(variant),), TIES)
    yield "reference", Figure((_reference(variant),), REFERENCE)


def _parity(variant: Block) -> Plot:
    clean = variant["clean_gap"]["q50"]
    return Plot(
        "Demographic parity gap by rank, injected COMPAS",
        f"The median gap is {variant['gap']['q50'][0]:.3f} at rank 1 and {variant['gap']['q50'][-1]:.3f} at rank 50.",
        Axis(RANK),
        Axis("demographic parity gap", low=0.0),
        (
            *_banded(_ranks(), variant["gap"]),
            Rule(CLEAN_PARITY, "paper: 0.321", tone="tone-2"),
            Rule(clean, f"clean: {clean:.3f}"),
        ),
        key=BANDS,
        title="Demographic parity",
    )


def _error(variant: Block) -> Plot:
    return Plot(
        "Misclassification by rank, injected COMPAS",
        f"The median share of wrong decisions is {variant['error']['q50'][0]:.3f} at rank 1.",
        Axis(RANK),
        Axis("misclassification", low=0.0),
        (*_banded(_ranks(), variant["error"]), Rule(variant["clean_error"]["q50"], "clean")),
        key=BANDS,
        title="Misclassification",
    )


def _ties(variant: Block) -> Plot:
    layers = [_distribution([draw["shortfall"] for draw in variant["draws"]], "tone-1")]
    key = [Key("proven", "tone-1", "line")]
    if variant["printed"]:
        layers.append(_distribution([draw["shortfall"] for draw in variant["printed"]["draws"]], "tone-2"))
        key.append(Key("Algorithm 1 on SVC", "tone-2", "line"))
    return Plot(
        "Distribution of the objective's shortfall at rank 50, injected COMPAS",
        "A curve that starts high at the left is one of many draws in which all 50 models are tied.",
        Axis("1 − f(50) / f(1)", is_log=True),
        Axis("share of draws", 0.0, 1.0),
        (*layers, Rule(1e-9, "proven ties", is_upright=True)),
        key=tuple(key),
    )


def _reference(variant: Block) -> Plot:
    draws = variant["draws"]
    return Plot(
        "Distribution of the parity gap before and after the injection",
        "The curve after the injection lies to the right of the one before it.",
        Axis("demographic parity gap on 50 rows", low=0.0),
        Axis("share of draws", 0.0, 1.0),
        (
            _distribution([draw["clean_gap"] for draw in draws], "tone-3", floor=0.0),
            _distribution([draw["gap"] for draw in draws], "tone-2", floor=0.0),
            Rule(CLEAN_PARITY, "paper: 0.321", is_upright=True),
        ),
        key=(Key("clean labels", "tone-3", "line"), Key("ten labels flipped, model 1", "tone-2", "line")),
    )
