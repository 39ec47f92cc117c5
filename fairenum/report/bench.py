"""A benchmark as a page: the race of the solvers and the paper's algorithm, and how their times grow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from fairenum.document.bench import PAPER_ALGORITHM, BenchDocument, GrowthSeries, RaceResult
from fairenum.document.terms import GrowthAxis
from fairenum.rendering.loglog import Line, draw, duration
from fairenum.rendering.numbers import counted, three_digits
from fairenum.rendering.page import Facts, Figure, Page, Section, Table, Tile
from fairenum.rendering.svg import Axis, Curve, Key, Layer, Mark, Marks, Plot
from fairenum.rendering.svg.plot import LETTER
from fairenum.rendering.svg.shapes import Shape
from fairenum.rendering.text import file_name, plain, shortened
from fairenum.report.embedded import copy_of
from fairenum.report.wording import AXES, SIGNS, VALUE_WIDTH, remarks, short
from fairenum.report.wording import experiments as wording

TONES = ("tone-1", "tone-3", "tone-4", "tone-5", "tone-6")
SHAPES: tuple[Shape, ...] = ("circle", "triangle", "square", "diamond", "down")
PAPER_LOOK: tuple[str, Shape] = ("tone-2", "star")


def bench_page(document: BenchDocument) -> Page:
    """Put a benchmark on a page."""
    return Page(
        title=f"Benchmark on {short(document.data.name)}",
        name=short(document.data.name),
        kicker="Benchmark",
        subject=wording.bench_subject(document),
        headline=wording.bench_headline(document),
        findings=tuple(wording.bench_findings(document)),
        warnings=(*remarks.warnings(document.data.remarks), *wording.bench_warnings(document)),
        sections=tuple(_sections(document)),
        copy=copy_of(document),
        copy_name=file_name(f"bench-{document.data.name}", "json"),
        tiles=tuple(_tiles(document)),
    )


def _by_time(document: BenchDocument) -> list[RaceResult]:
    return sorted(document.standings, key=lambda result: result.fits or math.inf)


def _tiles(document: BenchDocument) -> Iterator[Tile]:
    for result in _by_time(document):
        if result.fits is not None:
            faster = wording.speedup(document, result)
            note = "the paper's own" if result.name == PAPER_ALGORITHM else f"{faster} times faster" if faster else ""
            yield Tile(f"{short(result.name)}, SVC fits", SIGNS[result.basis] + three_digits(result.fits), note)


def _sections(document: BenchDocument) -> Iterator[Section]:
    yield Section("race", "The race", (Figure((_race_plot(document),), wording.RACE_CAPTION), _race(document)))
    if document.growth:
        yield Section("growth", "How the times grow", (_growth(document),))
    yield Section("setting", "How it was measured", (Facts(tuple(_facts(document))),))


def _race(document: BenchDocument) -> Table:
    return Table(
        title="",
        headings=("solver", "SVC fits", "per model", "times faster", "CPU s", "solved", "in place"),
        rows=tuple((short(result.name), *_race_cells(document, result)) for result in _by_time(document)),
        notes=tuple(wording.race_notes(document)),
    )


def _race_cells(document: BenchDocument, result: RaceResult) -> tuple[str, ...]:
    if result.fits is None or result.seconds is None:
        return "failed", "", "", "", "", ""
    sign = SIGNS[result.basis]
    return (
        sign + three_digits(result.fits),
        sign + three_digits(result.fits / document.k),
        wording.speedup(document, result),
        sign + three_digits(result.seconds),
        str(result.nodes),
        f"{result.in_place} of {result.models}",
    )


def _race_plot(document: BenchDocument) -> Plot:
    """Draw the times on one logarithmic line each, the fastest on top."""
    timed = [(result.name, result.fits) for result in reversed(_by_time(document)) if result.fits is not None]
    looks = _looks(document)
    marks = (
        Mark(
            fits,
            float(place),
            f"{short(name)}: {three_digits(fits)} SVC fits",
            tone=looks[name][0],
            shape=looks[name][1],
            label=three_digits(fits),
        )
        for place, (name, fits) in enumerate(timed)
    )
    names = tuple(short(name) for name, _ in timed)
    return Plot(
        name="Time of each solver in SVC fits",
        description="; ".join(f"{short(name)} {three_digits(fits)}" for name, fits in reversed(timed)),
        x=Axis(f"SVC fits for the {document.k} best models", is_log=True),
        y=Axis("", names=names or ("",)),
        layers=(Marks(tuple(marks)),),
        width=580.0,
        height=70.0 + 34.0 * max(len(names), 1),
        left=22.0 + LETTER * max(map(len, names), default=0),
    )


def _looks(document: BenchDocument) -> dict[str, tuple[str, Shape]]:
    """Give each contestant a colour and a sign, the same in all plots."""
    names = dict.fromkeys([one.name for one in document.standings] + [one.name for one in document.growth])
    ours = [name for name in names if name != PAPER_ALGORITHM]
    looks = {name: (TONES[place % len(TONES)], SHAPES[place % len(SHAPES)]) for place, name in enumerate(ours)}
    return {**looks, PAPER_ALGORITHM: PAPER_LOOK}


def _growth(document: BenchDocument) -> Figure:
    series = {axis: [one for one in document.growth if one.axis == axis and one.sizes] for axis in AXES}
    plots = tuple(_growth_plot(axis, found, document) for axis, found in series.items() if found)
    drawn = (draw([_line(one) for one in found], wording.growth_title(axis)) for axis, found in series.items() if found)
    return Figure(plots, wording.GROWTH_CAPTION, "\n\n".join(drawn))


def _line(series: GrowthSeries) -> Line:
    return Line(short(series.name), series.sizes, series.seconds, wording.growth_end(series))


def _growth_plot(axis: GrowthAxis, found: Sequence[GrowthSeries], document: BenchDocument) -> Plot:
    looks = _looks(document)
    layers: list[Layer] = []
    for one in found:
        tone, shape = looks[one.name]
        points = [(float(size), seconds) for size, seconds in zip(one.sizes, one.seconds, strict=True)]
        marks = (Mark(x, y, f"{short(one.name)}: {duration(y)}", tone=tone, shape=shape) for x, y in points)
        layers += [Curve(tuple(x for x, _ in points), tuple(y for _, y in points), tone=tone), Marks(tuple(marks))]
    return Plot(
        title=AXES[axis],
        name=f"CPU seconds against {AXES[axis]}",
        description="; ".join(f"{short(one.name)}: {wording.growth_end(one)}" for one in found),
        x=Axis(AXES[axis], is_log=True),
        y=Axis("CPU seconds", is_log=True),
        layers=tuple(layers),
        key=tuple(Key(short(one.name), *looks[one.name]) for one in found),
        width=380.0,
        height=320.0,
        left=64.0,
    )


def _facts(document: BenchDocument) -> Iterator[tuple[str, str]]:
    data, environment = document.data, document.environment
    yield "data", shortened(f"{data.name}, seed {data.seed}, sha256 {data.fingerprint}", VALUE_WIDTH)
    limit = "none" if document.seconds is None else f"{document.seconds:g} s for each contestant"
    yield "time limit", limit
    if environment.machine is not None and environment.processors is not None:
        yield "machine", f"{plain(environment.machine)}, {counted(environment.processors, 'processor')}"
    packages = {"python": environment.python, **environment.packages}
    yield "versions", shortened(", ".join(f"{name} {version}" for name, version in packages.items()), VALUE_WIDTH)
