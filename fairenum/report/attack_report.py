"""A simulated attack by flipped labels, as a page or as a section of an audit.

It shows the effect of the flips, recovery (listed models as fair as the model without flips), and defences.
"""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.attack_document import Attack, AttackCurve, AttackDocument, AttackPoint, Levels, TrialFailure
from fairenum.document.cautions import replaced
from fairenum.document.remark_words import remark_warnings
from fairenum.document.training import SvmSettings
from fairenum.document.value import Estimate, Quantiles
from fairenum.document.words import GAP_NAMES, LONGEST, TABLE_WIDTH, short
from fairenum.render.page import Figure, Items, Page, Paragraph, Section, Table, Tile
from fairenum.render.plain_plots import Bar, draw_curve
from fairenum.render.svg import Curve, Mark, Marks, Rule
from fairenum.render.svg_plot import Axis, Key, Layer, Plot, aligned
from fairenum.report.embedded_copy import copy_of
from fairenum.runtime.formatting import (
    UNDEFINED,
    counted,
    difference,
    estimate,
    file_name,
    percent,
    rate,
    share,
    shortened,
    signed,
)

RARE = 0.05
SHOWN_FAILURES = 5
QUANTILES = ("5 %", "25 %", "50 %", "75 %", "95 %")
CAPTION = (
    "The mean gap on the holdout over draws of the table, against the number of labels that somebody flipped in its "
    "training rows."
)
ONE_PLANE = (
    "models of one objective share one plane, so that only their bias can make them decide differently: they cannot "
    "differ much, and what differs has another objective"
)

CUT_AT_0 = (
    "Label flips are simulated on models that decide by the sign of their decision values, at rates of their own."
)


def _subject(document: AttackDocument) -> str:
    """Return a phrase that names the table, its number of rows, the favourable label and the attacked column."""
    data, column = document.dataset, document.attack.config.primary
    return (
        f"{shortened(data.name, TABLE_WIDTH)}: {counted(data.rows, 'row')}; favourable: {short(data.label)} = "
        f"{short(data.favourable)}; groups by {short(str(column))}"
    )


def _headline(attack: Attack, strategy: str, worst: AttackPoint) -> str:
    """Return a sentence on the change of the mean gap by `worst`, the attack that raises it most."""
    partial, change = "Interrupted: " if attack.status == "interrupted" else "", worst.gap_change
    flips = f"{counted(worst.flips, 'flipped label')} ({percent(worst.share)}, {strategy})"
    gap = f"the mean {GAP_NAMES[attack.config.metric]} gap on the holdout"
    if change.low is None or change.low <= 0.0:
        return (
            f"{partial}{flips} do not measurably raise {gap}: {share(worst.gap.value)}, a change of "
            f"{estimate(change, signed)}."
        )
    before = difference(change.value, worst.gap.value)
    return (
        f"{partial}{flips} raise {gap} from {share(before)} to {share(worst.gap.value)}, by {estimate(change, signed)}."
    )


def _findings(attack: Attack, strategy: str, worst: AttackPoint) -> Iterator[str]:
    """Yield a sentence on the random draws, and sentences on `worst`, the attack that raises the gap most."""
    config = attack.config
    train, selection, holdout = config.sizes or (0, 0, 0)
    parts = f"{train} training rows, " + (f"{selection} to select by, " if selection else "") + f"{holdout} held out"
    yield (
        f"{counted(attack.clean.trials, 'draw')} of {parts}; aimed at {short(str(config.primary))} = "
        f"{short(str(config.group))}; {_svm(config.svm)}; intervals "
        f"({100 * config.confidence:g} %) are over draws."
    )
    yield from (f"{strategy}, {counted(worst.flips, 'flip')}: {text}" for text in _recovery(worst, config.k))


def _svm(svm: SvmSettings) -> str:
    weights = svm.class_weight
    named = weights if isinstance(weights, str) else f"{weights[0]:g} to {weights[1]:g}"
    return f"{svm.kernel} kernel, C = {svm.cost:g}" + ("" if weights == "none" else f", class weights {named}")


def _recovery(point: AttackPoint, k: int) -> Iterator[str]:
    """Yield sentences on what the listed models reveal of an attack.

    They say how often a listed model has at most the gap of the model without flips, and no more error than model 1;
    how much the listed models differ; and how many of the rows that fairer models leave out are flipped ones.
    """
    recovery = point.recovery
    if recovery.share.value is not None:
        yield (
            f"one of the {k} best models has at most the clean model's gap at no more error than model 1 in "
            f"{rate(recovery.share)} of trials ({percent(recovery.at_rank_1.value)}: model 1 itself); where "
            f"the gap was raised, in {rate(recovery.of_raised)}."
        )
    if recovery.share.value is not None and point.predictors.value is not None:
        yield (
            f"the {k} models are one predictor on the holdout in {rate(point.one_predictor)} of trials, and "
            f"{point.predictors.value:.1f} on average; all have one objective in {rate(point.all_tied)}."
        )
    if found := point.detection:
        yield (
            f"of the rows that fairer models leave out, {rate(found.precision)} are flipped ones (any row: "
            f"{percent(found.chance.value)}, a support vector: {percent(found.support_chance.value)}), "
            f"which finds {rate(found.recall)} of all flips ({counted(found.trials, 'trial')})."
        )


def _replaced_solver(document: AttackDocument) -> Iterator[str]:
    """Yield a warning if a solver failed and another one replaced it, with the number of such trials."""
    lapses = [trial.lapse for trial in document.trials if trial.lapse]
    if lapses:
        yield shortened(f"in {counted(len(lapses), 'trial')} {replaced(lapses[0])}", LONGEST)


def attack_warnings(attack: Attack) -> Iterator[str]:
    """Yield warnings about an interruption, a reached time limit, failed trials and failed defences."""
    done = f"{attack.clean.trials} of {counted(attack.config.trials, 'trial')}"
    if attack.status == "interrupted":
        yield f"interrupted after {done}"
    if attack.is_out_of_time:
        yield f"the time limit ended it after {done}"
    yield from map(_failed, attack.failures[:SHOWN_FAILURES])
    if (hidden := len(attack.failures) - SHOWN_FAILURES) > 0:
        yield f"{counted(hidden, 'further failure')}; the run holds them all"
    for curve in attack.curves:
        for defence in (defence for point in curve.points for defence in point.defences if defence.failed):
            yield (
                f"{short(defence.name)} failed in {counted(defence.failed, 'trial')} of {short(curve.strategy)}: "
                f"{shortened(defence.failure, LONGEST)}"
            )


def _failed(failure: TrialFailure) -> str:
    flips = "" if failure.strategy is None else f", {short(failure.strategy)} with {failure.flips} flips"
    return f"trial with seed {failure.seed}{flips}, failed: {shortened(failure.message, LONGEST)}"


def frequency(found: Estimate) -> str:
    """Return a phrase for the share of draws in which a statement holds, such as "mostly holds".

    Phrases such as "nearly always holds" are used only where the confidence limits of the share support them.
    """
    if not found.value or found.low is None or found.high is None:
        return "holds in none"
    if found.high < RARE:
        return "hardly ever holds"
    if found.value == 1.0:
        return "holds"
    if found.low > 1.0 - RARE:
        return "nearly always holds"
    return "mostly holds" if found.low > 0.5 else "holds sometimes"


def attack_page(document: AttackDocument) -> Page:
    """Return the page that shows a simulated attack."""
    attack, data = document.attack, document.dataset
    strategy, worst = _worst(attack)
    return Page(
        title=f"Label flips in {shortened(data.name, TABLE_WIDTH)}",
        name=short(data.name),
        kicker="Simulated attack",
        subject=_subject(document),
        headline=_headline(attack, strategy, worst),
        findings=tuple(_findings(attack, strategy, worst)),
        warnings=(*remark_warnings(data.remarks), *_replaced_solver(document), *attack_warnings(attack)),
        sections=(
            Section("curve", "The gap against flipped labels", (_figure(attack),)),
            *(Section.of_table(anchor, table) for anchor, table in _tables(attack)),
        ),
        copy=copy_of(document),
        copy_name=file_name(f"attack-{data.name}", "json"),
        tiles=tuple(_tiles(attack, strategy, worst)),
    )


def attack_section(attack: Attack, *, is_cut: bool = False) -> Section:
    """Return the section on label flips for the page of an audit; `is_cut` says that its models are not cut at 0."""
    strategy, worst = _worst(attack)
    notes = (*_findings(attack, strategy, worst), *((CUT_AT_0,) if is_cut else ()))
    lead = Paragraph(_headline(attack, strategy, worst)), Items(notes)
    tables = (table for _, table in _tables(attack))
    return Section("attack", "When labels are flipped", (*lead, _figure(attack), *tables))


def _points(attack: Attack) -> Iterator[tuple[str, AttackPoint]]:
    for curve in attack.curves:
        yield from ((short(curve.strategy), point) for point in curve.points if point.trials)


def _worst(attack: Attack) -> tuple[str, AttackPoint]:
    """Return the strategy's name and the results of the attack that raises the mean gap most."""
    return max(_points(attack), key=lambda one: one[1].gap_change.value or 0.0)


def _tiles(attack: Attack, strategy: str, worst: AttackPoint) -> Iterator[Tile]:
    yield Tile.of("gap without flips", estimate(attack.clean.gap))
    yield Tile.of(f"gap with {counted(worst.flips, 'flip')}, {strategy}", estimate(worst.gap))
    yield Tile.of("change of the gap", estimate(worst.gap_change, signed))
    yield Tile("draws in which the gap rises", percent(worst.raised.value, 0), f"of {worst.trials}")
    if worst.recovery.share.value is not None:
        yield Tile("draws that a listed model recovers", percent(worst.recovery.share.value, 0), f"of {worst.trials}")


def _by_budget(curve: AttackCurve) -> list[AttackPoint]:
    return sorted((point for point in curve.points if point.trials), key=lambda point: point.flips)


def _figure(attack: Attack) -> Figure:
    title = f"{GAP_NAMES[attack.config.metric]} gap on the holdout against flipped labels"
    clean = Bar("0", attack.clean.gap, attack.clean.gap_quantiles)
    bars = ((short(curve.strategy), [clean, *_bars(curve)]) for curve in attack.curves)
    return Figure(attack_curves(attack), CAPTION, draw_curve(list(bars), title))


def _bars(curve: AttackCurve) -> Iterator[Bar]:
    points = (point for point in _by_budget(curve) if point.flips)
    return (Bar(str(point.flips), point.gap, point.gap_quantiles) for point in points)


def attack_curves(attack: Attack) -> tuple[Plot, ...]:
    """Return a plot for each strategy of the mean gap against the number of flips, all with the same axes."""
    return aligned(_attack_curve(curve, attack.clean, GAP_NAMES[attack.config.metric]) for curve in attack.curves)


def _attack_curve(curve: AttackCurve, clean: Levels, metric: str) -> Plot:
    points, name = _by_budget(curve), short(curve.strategy)
    xs = (0.0, *(float(point.flips) for point in points))
    levels: list[Levels] = [clean, *points]
    return Plot(
        title=name,
        name=f"{metric} gap against flipped labels, strategy {name}",
        description="A line over budgets with a band; the tables have the numbers.",
        x=Axis("flipped labels", low=0.0, least=1.0),
        y=Axis(f"mean {metric} gap", low=0.0, least=0.02),
        layers=tuple(_curve_layers(xs, levels)),
        key=(Key("mean and its interval", "tone-1", "line"), Key("middle half of the draws", "tone-6", "band")),
        width=400.0,
        height=280.0,
    )


def _curve_layers(xs: tuple[float, ...], levels: list[Levels]) -> Iterator[Layer]:
    gaps, spreads = [level.gap for level in levels], [level.gap_quantiles for level in levels]
    quarters = [(None, None) if spread is None else (spread.q25, spread.q75) for spread in spreads]
    least, most = zip(*quarters, strict=True)
    values, low, high = zip(*((gap.value, gap.low, gap.high) for gap in gaps), strict=True)
    yield Curve(xs, (None,) * len(xs), least, most, tone="tone-6")
    yield Curve(xs, values, low, high)
    named = ((x, gap.value, f"{x:.0f} flips: {estimate(gap)}") for x, gap in zip(xs, gaps, strict=True))
    yield Marks(tuple(Mark(x, value, name) for x, value, name in named if value is not None))
    if gaps[0].value is not None:
        yield Rule(gaps[0].value, "without flips")


def _tables(attack: Attack) -> Iterator[tuple[str, Table]]:
    yield "harm", _harm_table(attack)
    yield "distribution", _distribution_table(attack)
    yield "recovery", _recovery_table(attack)
    if attack.config.defences:
        yield "defences", _defence_table(attack)
    for strategy, point in _points(attack):
        if strategy == "paper" and point.flips:
            yield f"paper-{point.flips}", _statements(point)


def _harm_table(attack: Attack) -> Table:
    clean, level, metric = attack.clean, f"{100 * attack.config.confidence:g} %", GAP_NAMES[attack.config.metric]
    return Table(
        "What label flips do on the holdout",
        ("strategy", "flips", "gap", "change", "error", "change", "raised"),
        (
            ("none", "0", estimate(clean.gap), "", share(clean.error.value), "", ""),
            *(_harm_row(strategy, point) for strategy, point in _points(attack)),
        ),
        names=2,
        notes=(
            f"gap: mean {metric} difference [{level} over draws]; change: against the clean model of the draw",
            "raised: share of draws whose gap is larger than before",
        ),
    )


def _harm_row(strategy: str, point: AttackPoint) -> tuple[str, ...]:
    return (
        *(strategy, str(point.flips), estimate(point.gap), estimate(point.gap_change, signed)),
        *(share(point.error.value), signed(point.error_change.value), _whole_percent(point.raised)),
    )


def _distribution_table(attack: Attack) -> Table:
    rows = [("none", "0", attack.clean.gap_quantiles)]
    rows += [(strategy, str(point.flips), point.gap_quantiles) for strategy, point in _points(attack)]
    return Table(
        "Distribution of the gap over draws",
        ("strategy", "flips", *QUANTILES),
        tuple((strategy, flips, *_quantile_cells(quantiles)) for strategy, flips, quantiles in rows),
        names=2,
    )


def _quantile_cells(found: Quantiles | None) -> tuple[str, ...]:
    if found is None:
        return (UNDEFINED,) * len(QUANTILES)
    return tuple(map(share, (found.q05, found.q25, found.q50, found.q75, found.q95)))


def _recovery_table(attack: Attack) -> Table:
    return Table(
        "Recovery by the listed models, and detection",
        ("strategy", "flips", "recovered", "raised", "paper's", "rank", "precision", "chance", "recall"),
        tuple(_recovery_row(strategy, point) for strategy, point in _points(attack)),
        names=2,
        notes=(
            "recovered: draws with a model of at most the clean gap, at no more error than model 1; raised: among "
            "those whose gap was raised; paper's: with less of both; rank: of the first such model, median [5 %, 95 %]",
            "precision, recall: flipped rows among those that fairer models leave out; chance: among support vectors",
        ),
    )


def _recovery_row(strategy: str, point: AttackPoint) -> tuple[str, ...]:
    recovery, found = point.recovery, point.detection
    rank, nothing = recovery.rank_quantiles, Estimate()
    detected = (found.precision, found.support_chance, found.recall) if found else (nothing,) * 3
    return (
        *(strategy, str(point.flips)),
        *map(_whole_percent, (recovery.share, recovery.of_raised, recovery.paper_share)),
        UNDEFINED if rank is None else f"{rank.q50:g} [{rank.q05:.0f}, {rank.q95:.0f}]",
        *map(_whole_percent, detected),
    )


def _whole_percent(found: Estimate) -> str:
    return percent(found.value, 0)


def _defence_table(attack: Attack) -> Table:
    rows = (
        (strategy if place == 0 else "", str(point.flips) if place == 0 else "", *cells)
        for strategy, point in _points(attack)
        for place, cells in enumerate(_defence_cells(point))
    )
    return Table(
        "Defences, on the same draws",
        ("strategy", "flips", "defence", "gap", "change", "error", "change"),
        tuple(rows),
        names=3,
        notes=("change: against the undefended model of the draw",),
    )


def _defence_cells(point: AttackPoint) -> Iterator[tuple[str, ...]]:
    yield "none", share(point.gap.value), "", share(point.error.value), ""
    for defence in point.defences:
        yield (
            short(defence.name.replace("_", " ")),
            *(share(defence.gap.value), estimate(defence.gap_change, signed)),
            *(share(defence.error.value), signed(defence.error_change.value)),
        )


def _statements(point: AttackPoint) -> Table:
    """Return a table of statements that the paper makes about its one draw, and how often each holds in our draws."""
    judged = (
        ("flips raise the gap", point.raised),
        ("all listed models have one objective", point.all_tied),
        ("and decide differently from each other", point.all_differ),
        ("some have less than the clean gap, and less error than model 1", point.recovery.paper_share),
    )
    return Table(
        f"What the paper says of {counted(point.flips, 'flip')} in its draw, and how often it holds",
        ("statement", "draws", "verdict"),
        tuple((statement, rate(found), frequency(found)) for statement, found in judged),
        notes=(ONE_PLANE,),
    )
