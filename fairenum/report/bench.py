"""A benchmark as a page: the race of the solvers and the paper's algorithm, and how their times grow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from fairenum.document.bench import PAPER_ALGORITHM, BenchDocument, GrowthSeries, GrowthSubject, RaceResult
from fairenum.rendering.loglog import Line, draw, duration
from fairenum.rendering.numbers import counted, three_digits
from fairenum.rendering.page import Facts, Figure, Page, Section, Table, Tile
from fairenum.rendering.svg import Axis, Curve, Key, Layer, Mark, Marks, Plot
from fairenum.rendering.svg.plot import LETTER
from fairenum.rendering.svg.shapes import Shape
from fairenum.rendering.text import file_name, plain, shortened
from fairenum.report.embedded import copy_of
from fairenum.report.wording import AXES, SIGNS, VALUE_WIDTH, growth, remarks, short
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
    small = [one for one in document.growth if one not in document.scale]
    if small:
        yield Section("growth", "How the times grow", (_growth(small, document),))
    if document.scale:
        yield Section("scale", "Large tables and long lists", tuple(_scale(document)))
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


def _growth(series: Sequence[GrowthSeries], document: BenchDocument) -> Figure:
    subjects = list(dict.fromkeys(one.subject for one in series))
    by_subject = {subject: [one for one in series if one.subject == subject and one.sizes] for subject in subjects}
    found = {subject: lines for subject, lines in by_subject.items() if lines}
    plots = tuple(_growth_plot(subject, lines, document) for subject, lines in found.items())
    drawn = (draw([_line(one) for one in lines], growth.title(subject)) for subject, lines in found.items())
    return Figure(plots, growth.CAPTION, "\n\n".join(drawn))


def _scale(document: BenchDocument) -> Iterator[Figure | Table]:
    yield _growth(document.scale, document)
    yield Table(
        title="As far as everybody came",
        headings=("what", "who", "to", "CPU s", "grows like", "memory", "grows like"),
        rows=tuple(map(growth.cells, document.scale)),
        notes=growth.NOTES,
    )


def _line(series: GrowthSeries) -> Line:
    return Line(short(series.name), series.sizes, series.seconds, growth.end(series))


def _growth_plot(subject: GrowthSubject, found: Sequence[GrowthSeries], document: BenchDocument) -> Plot:
    looks, axis = _looks(document), subject.axis
    layers: list[Layer] = []
    for one in found:
        tone, shape = looks[one.name]
        points = [(float(size), seconds) for size, seconds in zip(one.sizes, one.seconds, strict=True)]
        marks = (Mark(x, y, f"{short(one.name)}: {duration(y)}", tone=tone, shape=shape) for x, y in points)
        layers += [Curve(tuple(x for x, _ in points), tuple(y for _, y in points), tone=tone), Marks(tuple(marks))]
    return Plot(
        title=growth.heading(subject),
        name=growth.title(subject),
        description="; ".join(f"{short(one.name)}: {growth.end(one)}" for one in found),
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
