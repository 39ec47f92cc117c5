"""A simulated attack in words and tables: what flips do, whether the listed models make good for it, and defences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fairenum.report.curve import Bar, draw
from fairenum.report.numbers import UNDEFINED, counted, estimate, percent, share, signed
from fairenum.report.tables import METRICS, NAME_WIDTH, Table
from fairenum.report.text import shortened

Block = Mapping[str, Any]

QUANTILES = {"q05": "5 %", "q25": "25 %", "q50": "50 %", "q75": "75 %", "q95": "95 %"}
SHOWN_FAILURES = 5
LONGEST = 300
RARE = 0.05
PAPER = "paper"  # the strategy of the paper


@dataclass(frozen=True, slots=True)
class AttackView:
    """A simulated attack as a person reads it.

    Attributes
    ----------
    headline
        What the worst attack does, in one sentence.
    findings
        The sentences behind it.
    curve
        The gap against the budget, in plain characters.
    tables
        All numbers.
    warnings
        What failed.
    """

    headline: str
    findings: tuple[str, ...]
    curve: str
    tables: tuple[Table, ...]
    warnings: tuple[str, ...]


def title(run: Block) -> str:
    """Name a saved simulation."""
    return f"Label flips in {shortened(run['dataset']['name'], 40)}"


def subject(run: Block) -> str:
    """Say what a saved simulation is about."""
    data, config = run["dataset"], run["attack"]["config"]
    return (
        f"{shortened(data['name'], 40)}: {counted(data['rows'], 'row')}; favourable: {_short(data['label'])} = "
        f"{_short(data['favourable'])}; groups by {_short(config['primary'])}"
    )


def attack_view(block: Block) -> AttackView:
    """Put the block of a simulated attack in words."""
    return AttackView(
        headline=_headline(block),
        findings=tuple(_findings(block)),
        curve=draw(list(_bars(block)), f"{_metric(block)} gap on the holdout against flipped labels"),
        tables=tuple(_tables(block)),
        warnings=tuple(_warnings(block)),
    )


def _metric(block: Block) -> str:
    return METRICS[block["config"]["metric"]]


def _points(block: Block) -> Iterator[tuple[str, Block]]:
    for curve in block["curves"]:
        yield from ((shortened(curve["strategy"], NAME_WIDTH), point) for point in curve["points"] if point["trials"])


def _worst(block: Block) -> tuple[str, Block]:
    """Find the strategy and the budget that raise the gap most on average."""
    return max(_points(block), key=lambda one: one[1]["gap_change"]["value"] or 0.0)


def _headline(block: Block) -> str:
    partial = "Interrupted: " if block["status"] == "interrupted" else ""
    name, worst = _worst(block)
    change = worst["gap_change"]
    flips = f"{counted(worst['flips'], 'flipped label')} ({percent(worst['share'])}, {name})"
    gap = f"the mean {_metric(block)} gap on the holdout"
    if change["low"] is None or change["low"] <= 0.0:
        return f"{partial}{flips} do not measurably raise {gap}: {share(worst['gap']['value'])}, a change of " + (
            f"{estimate(change, signed)}."
        )
    before = None if worst["gap"]["value"] is None else worst["gap"]["value"] - change["value"]
    return (
        f"{partial}{flips} raise {gap} from {share(before)} to {share(worst['gap']['value'])}, by "
        f"{estimate(change, signed)}."
    )


def _findings(block: Block) -> Iterator[str]:
    config = block["config"]
    train, selection, holdout = config["sizes"]
    parts = f"{train} training rows, " + (f"{selection} to select by, " if selection else "") + f"{holdout} held out"
    yield (
        f"{counted(block['clean']['trials'], 'draw')} of {parts}; aimed at {_short(config['primary'])} = "
        f"{_short(config['group'])}; {config['kernel']} kernel, C = {config['C']:g}; intervals "
        f"({100 * config['confidence']:g} %) are over draws."
    )
    name, worst = _worst(block)
    yield from (f"{name}, {counted(worst['flips'], 'flip')}: {text}" for text in _of_point(worst, config["k"]))


def _of_point(point: Block, k: int) -> Iterator[str]:
    recovery = point["recovery"]
    if recovery["share"]["value"] is not None:
        yield (
            f"one of the {k} best models has at most the clean model's gap at no more error than model 1 in "
            f"{_rate(recovery['share'])} of trials ({percent(recovery['at_rank_1']['value'])}: model 1 itself); where "
            f"the gap was raised, in {_rate(recovery['of_raised'])}."
        )
        yield (
            f"the {k} models are one predictor on the holdout in {_rate(point['one_predictor'])} of trials, and "
            f"{point['predictors']['value']:.1f} on average; all have one objective in {_rate(point['all_tied'])}."
        )
    if point["detection"]:
        found = point["detection"]
        yield (
            f"of the rows that fairer models leave out, {_rate(found['precision'])} are flipped ones (any row: "
            f"{percent(found['chance']['value'])}, a support vector: {percent(found['support_chance']['value'])}), "
            f"which finds {_rate(found['recall'])} of all flips ({counted(found['trials'], 'trial')})."
        )


def _verdict(found: Block) -> str:
    """Say how often a claim holds; what is rare or usual has to be so with confidence."""
    if not found["value"]:
        return "holds in none"
    if found["high"] < RARE:
        return "hardly ever holds"
    if found["value"] == 1.0:
        return "holds"
    if found["low"] > 1.0 - RARE:
        return "nearly always holds"
    return "mostly holds" if found["low"] > 0.5 else "holds sometimes"


def _rate(found: Block) -> str:
    if found["value"] is None:
        return UNDEFINED
    limits = "" if found["low"] is None else f" [{100 * found['low']:.1f}, {100 * found['high']:.1f}]"
    return f"{percent(found['value'])}{limits}"


def _short(text: str) -> str:
    return shortened(text, NAME_WIDTH)


def _bars(block: Block) -> Iterator[tuple[str, list[Bar]]]:
    clean = Bar("0", block["clean"]["gap"], block["clean"]["gap_quantiles"])
    for curve in block["curves"]:
        points = sorted((point for point in curve["points"] if point["trials"]), key=lambda point: int(point["flips"]))
        bars = [Bar(str(point["flips"]), point["gap"], point["gap_quantiles"]) for point in points if point["flips"]]
        yield shortened(curve["strategy"], NAME_WIDTH), [clean, *bars]


def _tables(block: Block) -> Iterator[Table]:
    level = f"{100 * block['config']['confidence']:g} %"
    yield Table(
        "What label flips do on the holdout",
        ("strategy", "flips", "gap", "change", "error", "change", "raised"),
        (_clean_row(block["clean"]), *(_harm_row(name, point) for name, point in _points(block))),
        notes=(
            f"gap: mean {_metric(block)} difference [{level} over draws]; change: against the clean model of the draw",
            "raised: share of draws whose gap is larger than before",
        ),
    )
    yield Table(
        "Distribution of the gap over draws",
        ("strategy", "flips", *QUANTILES.values()),
        (
            ("none", "0", *_quantile_cells(block["clean"]["gap_quantiles"])),
            *((name, str(point["flips"]), *_quantile_cells(point["gap_quantiles"])) for name, point in _points(block)),
        ),
    )
    yield Table(
        "Recovery by the listed models, and detection",
        ("strategy", "flips", "recovered", "raised", "paper's", "rank", "precision", "chance", "recall"),
        tuple(_recovery_row(name, point) for name, point in _points(block)),
        notes=(
            "recovered: draws with a model of at most the clean gap, at no more error than model 1; raised: among "
            "those whose gap was raised; paper's: with less of both; rank: of the first such model, median [5 %, 95 %]",
            "precision, recall: flipped rows among those that fairer models leave out; chance: among support vectors",
        ),
    )
    if block["config"]["defences"]:
        yield _defence_table(block)
    yield from (_statements(point) for name, point in _points(block) if name == PAPER and point["flips"])


def _statements(point: Block) -> Table:
    """Judge what the paper says of its one draw by how often it is so."""
    judged = (
        ("flips raise the gap", point["raised"]),
        ("all listed models have one objective", point["all_tied"]),
        ("and decide differently from each other", point["all_differ"]),
        ("some have less than the clean gap, and less error than model 1", point["recovery"]["paper_share"]),
    )
    return Table(
        f"What the paper says of {counted(point['flips'], 'flip')} in its draw, and how often it is so",
        ("statement", "draws", "verdict"),
        tuple((statement, _rate(found), _verdict(found)) for statement, found in judged),
        notes=(
            "models of one objective share one plane, so that only their bias can make them decide differently: they "
            "cannot differ much, and what differs has another objective",
        ),
    )


def _clean_row(clean: Block) -> tuple[str, ...]:
    return "none", "0", estimate(clean["gap"]), "", share(clean["error"]["value"]), "", ""


def _harm_row(name: str, point: Block) -> tuple[str, ...]:
    return (
        name,
        str(point["flips"]),
        estimate(point["gap"]),
        estimate(point["gap_change"], signed),
        share(point["error"]["value"]),
        signed(point["error_change"]["value"]),
        _whole_percent(point["raised"]),
    )


def _recovery_row(name: str, point: Block) -> tuple[str, ...]:
    recovery, found = point["recovery"], point["detection"]
    rank = recovery["rank_quantiles"]
    measures = ("precision", "support_chance", "recall")
    return (
        name,
        str(point["flips"]),
        *(_whole_percent(recovery[key]) for key in ("share", "of_raised", "paper_share")),
        UNDEFINED if rank is None else f"{rank['q50']:g} [{rank['q05']:.0f}, {rank['q95']:.0f}]",
        *(_whole_percent(found[key]) if found else UNDEFINED for key in measures),
    )


def _quantile_cells(found: Block | None) -> tuple[str, ...]:
    return tuple(UNDEFINED if found is None else share(found[name]) for name in QUANTILES)


def _whole_percent(found: Block) -> str:
    return UNDEFINED if found["value"] is None else f"{100 * found['value']:.0f} %"


def _defence_table(block: Block) -> Table:
    rows = [
        (name if place == 0 else "", str(point["flips"]) if place == 0 else "", *cells)
        for name, point in _points(block)
        for place, cells in enumerate(_defence_cells(point))
    ]
    return Table(
        "Defences, on the same draws",
        ("strategy", "flips", "defence", "gap", "change", "error", "change"),
        tuple(rows),
        names=3,
        notes=("change: against the undefended model of the draw",),
    )


def _defence_cells(point: Block) -> Iterator[tuple[str, ...]]:
    yield "none", share(point["gap"]["value"]), "", share(point["error"]["value"]), ""
    for defence in point["defences"]:
        yield (
            defence["name"].replace("_", " "),
            share(defence["gap"]["value"]),
            estimate(defence["gap_change"], signed),
            share(defence["error"]["value"]),
            signed(defence["error_change"]["value"]),
        )


def _warnings(block: Block) -> Iterator[str]:
    asked, done = block["config"]["trials"], block["clean"]["trials"]
    if block["status"] == "interrupted":
        yield f"interrupted after {done} of {counted(asked, 'trial')}"
    for failure in block["failures"][:SHOWN_FAILURES]:
        attack = "" if failure["strategy"] is None else f", {_short(failure['strategy'])} with {failure['flips']} flips"
        yield f"trial with seed {failure['seed']}{attack}, failed: {shortened(failure['message'], LONGEST)}"
    if (hidden := len(block["failures"]) - SHOWN_FAILURES) > 0:
        yield f"{counted(hidden, 'further failure')}; the run holds them all"
    for name, point in _points(block):
        for defence in point["defences"]:
            if defence["failed"]:
                yield (
                    f"{_short(defence['name'])} failed in {counted(defence['failed'], 'trial')} of {name}: "
                    f"{shortened(defence['failure'], LONGEST)}"
                )
