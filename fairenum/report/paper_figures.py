"""The paper's figures, drawn over all splits and draws: medians with bands, and where the paper's statements lie."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from fairenum.document.paper import CLEAN_PARITY, GERMAN_SPREAD, LOWER_LOSS_RANKS, TABLES, TIED
from fairenum.document.reproduction import Bands, DrawVariant, ReproductionDocument, TableExperiment, TimeBands
from fairenum.rendering.numbers import share
from fairenum.rendering.page import Figure
from fairenum.rendering.svg import Axis, Curve, Key, Layer, Plot, Rule
from fairenum.report.wording import PAPER_TABLES, paper

Numbers = Sequence[float | None]

RANK = "rank k"
BANDS = (Key("median", "tone-1", "line"), Key("50 % and 90 % of them", "tone-1", "band"))
FLOOR = 1e-12  # a shortfall of 0 has no place on a logarithmic axis; what is smaller is rounding


def figures(document: ReproductionDocument) -> Iterator[Figure]:
    """Draw all figures that a document has numbers for."""
    tables = {name: document.tables[name] for name in TABLES if name in document.tables}
    tables = {name: experiment for name, experiment in tables.items() if experiment.main.splits}
    if tables:
        yield from _table_figures(tables)
    if document.injection and document.injection.main.draws:
        yield from _injection_figures(document.injection.main)


def _table_figures(tables: Mapping[str, TableExperiment]) -> Iterator[Figure]:
    mains = [(name, experiment.main) for name, experiment in tables.items()]
    yield Figure(tuple(_objective(name, main.shortfall) for name, main in mains), paper.OBJECTIVE, name="objective")
    yield Figure(tuple(_loss(name, main.loss) for name, main in mains), paper.LOSS, name="loss")
    times = tuple(_time(name, tables[name], main.time) for name, main in mains if main.time)
    if times:
        yield Figure(times, paper.TIME, name="time")
    yield Figure((_spread(tables),), paper.SPREAD, name="spread")


def _banded(xs: Iterable[float], bands: Bands, first: int = 0) -> tuple[Curve, Curve]:
    """Draw the median with a band of half and one of nine tenths of the values, from one place on."""
    xs = tuple(xs)
    outer = Curve(xs, (None,) * len(xs), bands.q05[first:], bands.q95[first:])
    return outer, Curve(xs, bands.q50[first:], bands.q25[first:], bands.q75[first:])


def _ranks(bands: Bands, first: int = 1) -> tuple[float, ...]:
    return tuple(float(rank) for rank in range(first, len(bands.q50) + 1))


def _floored(values: Numbers) -> tuple[float | None, ...]:
    return tuple(None if value is None else max(value, FLOOR) for value in values)


def _objective(name: str, found: Bands) -> Plot:
    bands = Bands(*map(_floored, (found.q05, found.q25, found.q50, found.q75, found.q95)))
    rule = (Rule(GERMAN_SPREAD, "paper: 6.0e-4"),) if name == "german" else ()
    return Plot(
        f"Shortfall of the objective by rank, {PAPER_TABLES[name]}",
        f"The 50th model falls short by {_digits(bands.q50[-1], '.2g')} in the median split.",
        Axis(RANK),
        Axis("1 − f(k) / f(1)", is_log=True),
        (*_banded(_ranks(bands, 2), bands, first=1), *rule),  # that of model 1 is 0
        key=BANDS,
        title=PAPER_TABLES[name],
    )


def _loss(name: str, bands: Bands) -> Plot:
    rank, last = LOWER_LOSS_RANKS[name], _digits(bands.q50[-1], ".4f")
    return Plot(
        f"Test loss by rank, {PAPER_TABLES[name]}",
        f"The median over splits of the 50th model's test loss is {last} of the best model's.",
        Axis(RANK),
        Axis("test loss / that of model 1"),
        (*_banded(_ranks(bands), bands), Rule(1.0), Rule(float(rank), f"paper: {rank}", is_upright=True)),
        key=BANDS,
        title=PAPER_TABLES[name],
    )


def _time(name: str, experiment: TableExperiment, time: TimeBands) -> Plot:
    layers: list[Layer] = [*_banded(map(float, time.ranks), time)]
    if experiment.printed:
        seconds = experiment.printed.seconds
        layers.append(Curve(tuple(float(k + 1) for k in range(len(seconds))), seconds, tone="tone-2"))
    return Plot(
        f"Time by number of models, {PAPER_TABLES[name]}",
        f"{time.ranks[-1]} models take {_digits(time.q50[-1], '.2g')} CPU seconds in the median split.",
        Axis("models k", is_log=True),
        Axis("CPU seconds", is_log=True),
        tuple(layers),
        key=(Key("fairenum", "tone-1", "line"), Key("Algorithm 1 on SVC", "tone-2", "line")),
        title=PAPER_TABLES[name],
    )


def _spread(tables: Mapping[str, TableExperiment]) -> Plot:
    spreads = {name: [split.spread for split in experiment.main.splits] for name, experiment in tables.items()}
    tones = {name: f"tone-{place}" for place, name in enumerate(tables, start=1)}
    medians = "; ".join(f"{PAPER_TABLES[name]} {median(values):.1e}" for name, values in spreads.items())
    return Plot(
        "Distribution of the spread of the 50 best objectives",
        f"One curve for each table; medians: {medians}.",
        Axis("1 − f(50) / f(1)", is_log=True),
        Axis("share of splits", 0.0, 1.0),
        (
            *(_distribution(values, tones[name]) for name, values in spreads.items()),
            Rule(GERMAN_SPREAD, "paper: 6.0e-4", is_upright=True),
        ),
        key=tuple(Key(PAPER_TABLES[name], tone, "line") for name, tone in tones.items()),
    )


def _distribution(values: Numbers, tone: str, floor: float = FLOOR) -> Curve:
    """Draw the share of values at or below each number."""
    known = sorted(max(value, floor) for value in values if value is not None)
    shares = tuple((place + 1) / len(known) for place in range(len(known)))
    return Curve((*known[:1], *known), (*([0.0] if known else []), *shares), tone=tone, is_step=True)


def _injection_figures(variant: DrawVariant) -> Iterator[Figure]:
    yield Figure((_parity(variant), _error(variant)), paper.PARITY, name="parity")
    yield Figure((_ties(variant),), paper.TIES, name="ties")
    yield Figure((_reference(variant),), paper.REFERENCE, name="reference")


def _parity(variant: DrawVariant) -> Plot:
    gaps, clean = variant.gap.q50, variant.clean_gap
    rules = (Rule(clean.q50, f"clean: {clean.q50:.3f}"),) if clean else ()
    return Plot(
        "Demographic parity gap by rank, injected COMPAS",
        f"The median gap is {share(gaps[0])} at rank 1 and {share(gaps[-1])} at rank 50.",
        Axis(RANK),
        Axis("demographic parity gap", low=0.0),
        (*_banded(_ranks(variant.gap), variant.gap), Rule(CLEAN_PARITY, "paper: 0.321", tone="tone-2"), *rules),
        key=BANDS,
        title="Demographic parity",
    )


def _error(variant: DrawVariant) -> Plot:
    rules = (Rule(variant.clean_error.q50, "clean"),) if variant.clean_error else ()
    return Plot(
        "Misclassification by rank, injected COMPAS",
        f"The median share of wrong decisions is {share(variant.error.q50[0])} at rank 1.",
        Axis(RANK),
        Axis("misclassification", low=0.0),
        (*_banded(_ranks(variant.error), variant.error), *rules),
        key=BANDS,
        title="Misclassification",
    )


def _ties(variant: DrawVariant) -> Plot:
    falls = [draw.shortfall for draw in variant.draws]
    layers, key = [_distribution(falls, "tone-1")], [Key("proven", "tone-1", "line")]
    if variant.printed:
        layers.append(_distribution([draw.shortfall for draw in variant.printed.draws], "tone-2"))
        key.append(Key("Algorithm 1 on SVC", "tone-2", "line"))
    return Plot(
        "Distribution of the objective's shortfall at rank 50, injected COMPAS",
        f"All 50 models are proven to be tied in {sum(fall <= TIED for fall in falls)} of {len(falls)} draws.",
        Axis("1 − f(50) / f(1)", is_log=True),
        Axis("share of draws", 0.0, 1.0),
        (*layers, Rule(TIED, "proven ties", is_upright=True)),
        key=tuple(key),
    )


def _reference(variant: DrawVariant) -> Plot:
    before, after = [draw.clean_gap for draw in variant.draws], [draw.gap for draw in variant.draws]
    return Plot(
        "Distribution of the parity gap before and after the injection",
        f"The median gap is {share(_median(before))} before the injection and {share(_median(after))} after it.",
        Axis("demographic parity gap on 50 rows", low=0.0),
        Axis("share of draws", 0.0, 1.0),
        (
            _distribution(before, "tone-3", floor=0.0),
            _distribution(after, "tone-2", floor=0.0),
            Rule(CLEAN_PARITY, "paper: 0.321", is_upright=True),
        ),
        key=(Key("clean labels", "tone-3", "line"), Key("ten labels flipped, model 1", "tone-2", "line")),
    )


def _median(values: Numbers) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _digits(value: float | None, form: str) -> str:
    return "an unknown amount" if value is None else format(value, form)
