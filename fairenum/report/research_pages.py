"""Pages of two kinds of research documents: benchmarks of solvers, and comparisons of mitigation methods."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from fairenum.document.remark_words import remark_warnings
from fairenum.document.research_documents import (
    PAPER_ALGORITHM,
    BenchDocument,
    CaseSummary,
    GrowthSeries,
    GrowthSubject,
    GrowthTable,
    GrowthTask,
    MethodSummary,
    MitigationDocument,
    RaceResult,
)
from fairenum.document.terms import Basis, GrowthAxis
from fairenum.document.value import Estimate
from fairenum.document.words import (
    AXES,
    SIGNS,
    TABLE_WIDTH,
    VALUE_WIDTH,
    case_title,
    manner,
    method_title,
    short,
    short_case,
)
from fairenum.render.page import Column, Facts, Figure, Items, Page, Paragraph, Section, Table, Tile
from fairenum.render.plain_plots import Line, draw_loglog, duration
from fairenum.render.svg import Curve, Mark, Marks
from fairenum.render.svg_plot import LETTER, Axis, Key, Layer, Plot, Shape
from fairenum.report.embedded_copy import copy_of
from fairenum.runtime.formatting import (
    UNDEFINED,
    capitalised,
    counted,
    estimate,
    file_name,
    percent,
    plain,
    sentence_list,
    shortened,
    signed,
    three_digits,
)

CAPTION = (
    "CPU seconds on random data against examples, features and models, all axes logarithmic: a straight line grows "
    "like a power, and a steeper one like a larger power."
)
NOTES = (
    "Each point is a process of its own, one processor; its memory is what it held at most, imports included. A "
    "contestant that took longer than allowed for a point, or failed, was not measured further. LinearSVC stops after "
    "a thousand rounds, converged or not; fairlearn's methods train a logistic regression on the rows that the audit "
    "trains on.",
)
TASKS: Mapping[GrowthTask, str] = {"fit": "the best model", "models": "the k best models", "audit": "a whole audit"}
TABLES: Mapping[GrowthTable, str] = {"numbers": "numbers", "one-hot": "5 categories, one-hot"}
PLAIN = GrowthSubject("models", "numbers", "linear", "n")
TONES = ("tone-1", "tone-3", "tone-4", "tone-5", "tone-6")
SHAPES: tuple[Shape, ...] = ("circle", "triangle", "square", "diamond", "down")
PAPER_LOOK: tuple[str, Shape] = ("tone-2", "star")
RACE_CAPTION = (
    "Time for all models, in fits of scikit-learn's SVC made beside it. The axis is logarithmic; farther left is "
    "faster."
)
RACE_NOTE = (
    "SVC fits: time for all models, in fits of SVC (tol 0.001) made beside it; times faster: than Algorithm 1 of the "
    "paper; solved: boxes solved beside the first; in place: models found at their proven rank."
)
MITIGATION_SUBJECT = (
    "Medians over seeded splits with bootstrap 95 % intervals over the splits, all on the holdout. The gap is the "
    "demographic parity difference."
)
MITIGATION_METHOD = (
    "Every method learns on the same rows with the same linear SVM (C = 1), and what is to be chosen is chosen on the "
    "selection split, at an accuracy loss of at most 1 point there. The rows that are not trained on are halved into "
    "selection and holdout. Methods that decide by chance are scored by their expected rates.",
    "A method dominates guided search in a split if it is as good in both and better in one beyond the paired 95 % "
    "interval.",
    "With the sensitive columns among the features (--use-sensitive, as in the paper) a plane can make up for the "
    "group itself. Without them (the default) it can only give up what goes along with the group, and the rows to "
    "choose by do not tell well which planes lose least by it.",
    "At equal selection rates every method is cut where it selects the share of the selection split that is favourable "
    "in training, so that none looks fairer for selecting more or fewer: models by their decision values, "
    "mixtures by the mean of theirs, which leaves nothing to chance. ThresholdOptimizer sets thresholds of its own and "
    "takes no part there.",
    "The settings of the guided search were chosen on these tables, mostly on other splits. "
    "Regenerate with: make mitigation",
)
MITIGATION_CAPTION = (
    "Accuracy against gap on the holdout: medians over the splits, with their intervals. Farther right is more "
    "accurate, lower is fairer."
)
OURS: dict[str, tuple[str, Shape]] = {
    "model_1": ("tone-0", "diamond"),
    "exact": ("tone-1", "ring"),
    "guided": ("tone-2", "star"),
}
OTHERS = "tone-4"


def _growth_title(subject: GrowthSubject) -> str:
    if subject._replace(axis="n") != PLAIN:
        return f"{capitalised(_task_of(subject))}: CPU time over {subject.axis}"
    return f"CPU time against {AXES[subject.axis]}, both logarithmic"


def _growth_heading(subject: GrowthSubject) -> str:
    return AXES[subject.axis] if subject._replace(axis="n") == PLAIN else capitalised(_task_of(subject))


def _task_of(subject: GrowthSubject) -> str:
    kernel = "" if subject.kernel == "linear" else f", {subject.kernel} kernel"
    return f"{TASKS[subject.task]}, {TABLES[subject.table]}{kernel}"


def _end_of(series: GrowthSeries) -> str:
    last = f"{duration(series.seconds[-1])} at {series.axis} = {series.sizes[-1]}" if series.sizes else ""
    return last + ("" if series.slope is None else f", grows like {_power(series.axis, series.slope)}")


def _power(axis: GrowthAxis, slope: float | None) -> str:
    return "" if slope is None else f"{axis}^{slope:.1f}"


def _task_cell(series: GrowthSeries) -> str:
    fixed = ", ".join(f"{axis} = {size:,}" for axis, size in series.fixed.items())
    return f"{_task_of(series.subject)} ({fixed})"


def _measured(show: Callable[[GrowthSeries], str], nothing: str = "") -> Callable[[GrowthSeries], str]:
    return lambda series: show(series) if series.sizes else nothing


SCALE_COLUMNS: tuple[Column[GrowthSeries], ...] = (
    Column("task", "what", _task_cell, is_word=True),
    Column("name", "who", lambda series: short(series.name)),
    Column("size", "to", _measured(lambda series: f"{series.axis} = {series.sizes[-1]:,}", "nowhere")),
    Column("seconds", "CPU s", _measured(lambda series: three_digits(series.seconds[-1]))),
    Column("slope", "grows like", _measured(lambda series: _power(series.axis, series.slope))),
    Column("memory", "memory", _measured(lambda series: f"{series.memory[-1] / 1e9:.2f} GB")),
    Column("memory_slope", "grows like", _measured(lambda series: _power(series.axis, series.memory_slope))),
)


def bench_page(document: BenchDocument) -> Page:
    """Return the page of a benchmark of solvers."""
    return Page(
        title=f"Benchmark on {short(document.data.name)}",
        name=short(document.data.name),
        kicker="Benchmark",
        subject=_bench_subject(document),
        headline=_bench_headline(document),
        findings=tuple(_bench_findings(document)),
        warnings=(*remark_warnings(document.data.remarks), *_bench_warnings(document)),
        sections=tuple(_sections(document)),
        copy=copy_of(document),
        copy_name=file_name(f"bench-{document.data.name}", "json"),
        tiles=tuple(_race_tiles(document)),
    )


def _by_time(document: BenchDocument) -> list[RaceResult]:
    return sorted(document.standings, key=lambda result: result.fits or math.inf)


def _race_tiles(document: BenchDocument) -> Iterator[Tile]:
    for result in _by_time(document):
        if result.fits is not None:
            faster = speedup(document, result)
            note = "the paper's own" if result.name == PAPER_ALGORITHM else f"{faster} times faster" if faster else ""
            yield Tile(f"{short(result.name)}, SVC fits", SIGNS[result.basis] + three_digits(result.fits), note)


def _sections(document: BenchDocument) -> Iterator[Section]:
    yield Section("race", "The race", (Figure((_race_plot(document),), RACE_CAPTION), _race(document)))
    small = [one for one in document.growth if one not in document.scale]
    if small:
        yield Section("growth", "How the times grow", (_growth(small, document),))
    if document.scale:
        yield Section("scale", "Large tables and long lists", tuple(_scale(document)))
    yield Section("setting", "How it was measured", (Facts(tuple(_facts(document))),))


def _race(document: BenchDocument) -> Table:
    def timed(show: Callable[[RaceResult, float, float], str], failed: str = "") -> Callable[[RaceResult], str]:
        def cell(result: RaceResult) -> str:
            is_timed = result.fits is not None and result.seconds is not None
            return show(result, result.fits or 0.0, result.seconds or 0.0) if is_timed else failed

        return cell

    def rough(result: RaceResult, number: float) -> str:
        return SIGNS[result.basis] + three_digits(number)

    columns: tuple[Column[RaceResult], ...] = (
        Column("solver", "solver", lambda result: short(result.name), is_word=True),
        Column("fits", "SVC fits", timed(lambda result, fits, _: rough(result, fits), "failed")),
        Column("fits_per_model", "per model", timed(lambda result, fits, _: rough(result, fits / document.k))),
        Column("speedup", "times faster", timed(lambda result, *_: speedup(document, result))),
        Column("seconds", "CPU s", timed(lambda result, _, seconds: rough(result, seconds))),
        Column("nodes", "solved", timed(lambda result, *_: str(result.nodes))),
        Column("in_place", "in place", timed(lambda result, *_: f"{result.in_place} of {result.models}")),
    )
    return Table.of("", columns, _by_time(document), notes=_race_notes(document))


def _race_plot(document: BenchDocument) -> Plot:
    """Return the plot of the time of each solver on a logarithmic axis, the fastest on top."""
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
    """Return the colour and shape of each solver, by name; they are the same in all plots."""
    names = dict.fromkeys([one.name for one in document.standings] + [one.name for one in document.growth])
    ours = [name for name in names if name != PAPER_ALGORITHM]
    looks = {name: (TONES[place % len(TONES)], SHAPES[place % len(SHAPES)]) for place, name in enumerate(ours)}
    return {**looks, PAPER_ALGORITHM: PAPER_LOOK}


def _growth(series: Sequence[GrowthSeries], document: BenchDocument) -> Figure:
    subjects = list(dict.fromkeys(one.subject for one in series))
    by_subject = {subject: [one for one in series if one.subject == subject and one.sizes] for subject in subjects}
    found = {subject: lines for subject, lines in by_subject.items() if lines}
    plots = tuple(_growth_plot(subject, lines, document) for subject, lines in found.items())
    drawn = (draw_loglog([_line(one) for one in lines], _growth_title(subject)) for subject, lines in found.items())
    return Figure(plots, CAPTION, "\n\n".join(drawn))


def _scale(document: BenchDocument) -> Iterator[Figure | Table]:
    yield _growth(document.scale, document)
    yield Table.of("As far as everybody came", SCALE_COLUMNS, document.scale, notes=NOTES)


def _line(series: GrowthSeries) -> Line:
    return Line(short(series.name), series.sizes, series.seconds, _end_of(series))


def _growth_plot(subject: GrowthSubject, found: Sequence[GrowthSeries], document: BenchDocument) -> Plot:
    looks, axis = _looks(document), subject.axis
    layers: list[Layer] = []
    for one in found:
        tone, shape = looks[one.name]
        points = [(float(size), seconds) for size, seconds in zip(one.sizes, one.seconds, strict=True)]
        marks = (Mark(x, y, f"{short(one.name)}: {duration(y)}", tone=tone, shape=shape) for x, y in points)
        layers += [Curve(tuple(x for x, _ in points), tuple(y for _, y in points), tone=tone), Marks(tuple(marks))]
    return Plot(
        title=_growth_heading(subject),
        name=_growth_title(subject),
        description="; ".join(f"{short(one.name)}: {_end_of(one)}" for one in found),
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


def mitigation_page(document: MitigationDocument) -> Page:
    """Return the page of a comparison of mitigation methods."""
    return Page(
        title="Guided search against other mitigations",
        name="mitigation",
        kicker="Mitigations side by side",
        subject=MITIGATION_SUBJECT,
        headline=_mitigation_headline(document),
        findings=tuple(map(_mitigation_finding, document.cases)),
        warnings=(),
        sections=(
            Section("method", "How they are compared", (Items(MITIGATION_METHOD),)),
            *(_section(place, summary) for place, summary in enumerate(document.cases, start=1)),
        ),
        copy=copy_of(document),
        copy_name="fairenum-mitigation.json",
        tiles=tuple(_mitigation_tiles(document)),
    )


def _mitigation_tiles(document: MitigationDocument) -> Iterator[Tile]:
    for summary in document.cases:
        for method in summary.methods:
            if method.method == "guided":
                left = estimate(method.gap_ratio, _two_decimals)
                yield Tile.of(f"gap left, {short_case(summary.case)}", left)


def _section(place: int, summary: CaseSummary) -> Section:
    return Section(
        f"case-{place}",
        f"{case_title(summary.case)}: {summary.splits} splits",
        (
            Figure((_plot(summary),), MITIGATION_CAPTION),
            Table.of("", METHOD_COLUMNS, summary.methods),
            Paragraph(_mitigation_price(summary)),
        ),
    )


def _manner(method: MethodSummary) -> str:
    return manner(is_randomised=method.is_randomised) + (", told the group" if method.needs_groups else "")


def _two_decimals(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.2f}"


METHOD_COLUMNS: tuple[Column[MethodSummary], ...] = (
    Column("method", "method", lambda one: method_title(one.method), is_word=True),
    Column("manner", "decides", _manner, is_word=True),
    Column(
        *("selection_rate", "selects", lambda one: percent(one.selection_rate.value)),
        note="selects: share of the holdout that gets the favourable outcome",
    ),
    Column("accuracy", "accuracy", lambda one: estimate(one.accuracy)),
    Column("gap", "gap", lambda one: estimate(one.gap)),
    Column(
        *("accuracy_change", "change", lambda one: estimate(one.accuracy_change, signed)),
        note="change: of accuracy, against model 1; gap ratio: gap as a share of that of model 1",
    ),
    Column("gap_ratio", "gap ratio", lambda one: estimate(one.gap_ratio, _two_decimals)),
    Column(
        *("dominates_guided", "dominates", lambda one: percent(one.dominates_guided, 0)),
        note="dominates: share of splits in which it dominates guided search",
    ),
)


def _plot(summary: CaseSummary) -> Plot:
    title = case_title(summary.case)
    return Plot(
        name=f"Accuracy against gap: {title}",
        description="Each mark is a method; the table has the numbers.",
        x=Axis("accuracy on the holdout", least=0.02),
        y=Axis("demographic parity gap, lower is fairer", least=0.02, low=0.0),
        layers=(Marks(tuple(_marks(summary))),),
        key=(
            *(Key(method_title(name), *look) for name, look in OURS.items()),
            Key("another method", OTHERS, "square"),
            Key("another method, decides by chance", OTHERS, "hollow"),
        ),
        width=580.0,
        height=340.0,
    )


def _marks(summary: CaseSummary) -> Iterator[Mark]:
    """Yield a mark for every mitigation method; fairenum's own come last, on top."""
    for method in sorted(summary.methods, key=lambda one: one.method in OURS):
        title = method_title(method.method)
        other: tuple[str, Shape] = (OTHERS, "hollow" if method.is_randomised else "square")
        tone, shape = OURS.get(method.method, other)
        if method.accuracy.value is not None and method.gap.value is not None:
            yield Mark(
                method.accuracy.value,
                method.gap.value,
                f"{title}: accuracy {estimate(method.accuracy)}, gap {estimate(method.gap)}",
                (method.accuracy.low, method.accuracy.high),
                (method.gap.low, method.gap.high),
                tone,
                shape,
                "" if method.method in OURS else title.removeprefix("fairlearn "),
            )


def _bench_subject(document: BenchDocument) -> str:
    data = document.data
    return (
        f"{shortened(data.name, TABLE_WIDTH)}: {counted(data.rows, 'row')}, {counted(data.features, 'feature')}, "
        f"C = {data.cost:g}, the {document.k} best models; one SVC fit takes "
        f"{1000 * document.svc_fit.seconds:.3g} ms"
    )


def _bench_headline(document: BenchDocument) -> str:
    ours = [one for one in document.standings if one.fits is not None and one.name != PAPER_ALGORITHM]
    if not ours:
        return "No solver found the models."
    best = min(ours, key=lambda one: one.fits or 0.0)
    ratio = document.speedup(best)
    against = "" if ratio is None else f", {speedup(document, best)} times faster than Algorithm 1 of the paper"
    fits = f"{SIGNS[best.basis]}{three_digits(best.fits or 0.0)} SVC fits"
    return f"{short(best.name)} is the fastest: the {document.k} best models take it {fits}{against}."


def speedup(document: BenchDocument, result: RaceResult) -> str:
    """Return as text how many times faster than the paper's algorithm a solver is, such as "~12" if extrapolated."""
    ratio = document.speedup(result)
    if result.name == PAPER_ALGORITHM:
        return "1"
    return "" if ratio is None else _ratio_sign(document.paper.basis, result.basis) + three_digits(ratio)


def _ratio_sign(above: Basis, below: Basis) -> str:
    """Return the sign before a ratio of two times, which depends on how they are known.

    It is ">" if the first is a lower bound, "<" if the second is, "?" if both are; else "~" if one is extrapolated.
    """
    if "at least" in (above, below):
        return "?" if above == below else ">" if above == "at least" else "<"
    return "~" if "extrapolated" in (above, below) else ""


def _race_notes(document: BenchDocument) -> Iterator[str]:
    yield RACE_NOTE
    bases, seconds = {one.basis for one in document.standings}, document.seconds or 0.0
    if "extrapolated" in bases:
        yield (
            f"~ extrapolated from the models found in {seconds:g} s, good to a factor of about two; --full runs all of "
            "them."
        )
    if "at least" in bases:
        yield f"> stopped after {seconds:g} s with fewer than three models; --full runs all of them."


def _bench_findings(document: BenchDocument) -> Iterator[str]:
    for axis, title in AXES.items():
        grown = [one for one in document.growth if one.axis == axis and one.slope is not None and not one.fixed]
        if grown:
            powers = sentence_list(f"{short(one.name)} {axis}^{one.slope:.1f}" for one in grown)
            yield f"Time over {title} grows like: {powers}."
    yield f"First calls (imports, loading or compiling the paths' inner loop): {document.first_calls:.2g} s."


def _bench_warnings(document: BenchDocument) -> Iterator[str]:
    return (plain(f"{one.name}: {one.error}") for one in document.standings if one.error)


def _mitigation_headline(document: MitigationDocument) -> str:
    splits = sum(summary.splits for summary in document.cases)
    kept = sum(round(summary.not_dominated * summary.splits) for summary in document.cases)
    return f"No other mitigation dominates guided search in {kept} of {counted(splits, 'split')}."


def _mitigation_finding(summary: CaseSummary) -> str:
    guided = next((one for one in summary.methods if one.method == "guided"), None)
    left = "" if guided is None else f"guided search leaves {_interval(guided.gap_ratio, '.2f')} of model 1's gap; "
    return f"{case_title(summary.case)}: {left}no method dominates it in {percent(summary.not_dominated, 0)} of splits."


def _mitigation_price(summary: CaseSummary) -> str:
    return (
        f"Guided search is dominated by none of the others in {percent(summary.not_dominated, 0)} of the splits. It "
        f"takes {_interval(summary.guided_fits, '.1f')} SVC fits' time and leaves out "
        f"{_interval(summary.left_out, '.0f')} training rows; its objective is "
        f"{_interval(summary.objective_ratio, '.3f')} of model 1's."
    )


def _interval(numbers: Estimate, form: str) -> str:
    return estimate(numbers, lambda value: format(value or 0.0, form))
