"""The reproduction of the EnumSV paper as a page, with the verdicts on its claims first, and as a set of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from fairenum.document.research_documents import (
    CLEAN_PARITY,
    GERMAN_SPREAD,
    LOWER_LOSS_RANKS,
    TABLES,
    TIED,
    Bands,
    ClaimPart,
    Count,
    DrawVariant,
    InjectionExperiment,
    JudgedClaim,
    ReproductionDocument,
    TableExperiment,
    TimeBands,
)
from fairenum.document.words import CLAIM_VERDICTS, PAPER_TABLES
from fairenum.render.html import to_html
from fairenum.render.markdown import to_markdown
from fairenum.render.page import Block, Column, Facts, Figure, Items, Page, Paragraph, Section, Table, Tile
from fairenum.render.svg import Curve, Rule, grid
from fairenum.render.svg_plot import Axis, Key, Layer, Plot
from fairenum.report.embedded_copy import copy_of
from fairenum.report.paper_reasons import reasons
from fairenum.runtime.formatting import UNDEFINED, capitalised, counted, percent, plain, sentence_list, share

CLAIMS = {
    "german_spread": "On German the objective values of the 50 best models are the same within 6.0e-4.",
    "lower_loss": "One of the 50 best models, at least, has a smaller test loss than the optimal one.",
    "linear_time": "The total time is almost linear in the number of models, up to 1000.",
    "raised": "The injection raises demographic parity on the test rows.",
    "tied": "All 50 best models on injected COMPAS have the same objective value.",
    "tied_but_different": "Models of the same objective value decide the test rows differently.",
    "fairer": "Several of the 50 best models have a smaller parity gap than the clean reference and less error than "
    "model 1.",
}
VERDICT_NOTE = "Holds: true in at least 95 % of splits or draws; does not hold: in at most 5 %. Intervals: 95 %."
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
UNSAID = (
    "The random draws. Every figure here is a distribution over many; the paper's is one of them.",
    "How columns are coded and scaled. Texts become ordinal codes, which gives the paper's 20 columns of German; "
    "numbers are standardised by the training rows. Raw numbers are run beside.",
    "Which accuracy chooses C, and what happens at a tie. Folds are stratified, the mean accuracy counts, and the "
    "smaller C wins a tie.",
    "Whether the split is stratified. Here label and groups are spread alike over both parts.",
    "Whether the test loss is taken of decision values or of labels: l(y, ŷ) is read with ŷ the decision value; of "
    "labels it would be twice the error.",
    "What C is on COMPAS, and whether columns are scaled there. C = 1 and standardised columns are the main "
    "variant; raw columns and C by folds are run beside.",
    "Which model is the clean reference: trained on the 100 rows before the flips, or on the 90 that were not "
    "flipped. The first is taken, the second counted beside.",
    "Whether test rows may be training rows. Here they may not.",
    "The bias, where no support vector is free: the middle of the interval of optimal biases. The paper prints "
    "b = 1 - ...; it is y_i - ....",
    "sgn(0), which is 1 here, and which of several optimal answers the solver gives (the paper's Assumption 1). "
    "Here it is the one of least tie weight, which makes the assumption true.",
    "What the same objective value means. Here: proven equal within a relative 1e-9.",
)
Numbers = Sequence[float | None]
BANDS = (Key("median", "tone-1", "line"), Key("50 % and 90 % of them", "tone-1", "band"))
FLOOR = 1e-12  # stands for 0 on a logarithmic axis; smaller shortfalls are rounding errors
FOLDER = "figures"
COLUMNS = 3  # plots beside each other in a file
# Anchor, title, names of claims and names of figures of each section.
SECTIONS = (
    ("objective", "Near-optimal models", ("german_spread",), ("objective", "spread")),
    ("loss", "Test loss", ("lower_loss",), ("loss",)),
    ("time", "Running time", ("linear_time",), ("time",)),
    ("ties", "Injected COMPAS: ties", ("tied", "tied_but_different"), ("ties",)),
    ("parity", "Injected COMPAS: parity and error", ("raised", "fairer"), ("reference", "parity")),
)


def _subject(document: ReproductionDocument) -> str:
    plan, parts = document.plan, []
    if document.tables:
        each = "each " if len(document.tables) > 1 else ""
        tables = sentence_list(map(plain, document.tables))
        parts.append(f"{counted(plan.splits, 'random split')} {each}of {tables}")
    if document.injection:
        parts.append(f"{counted(plan.draws, 'random draw')} of injected COMPAS")
    version = plain(document.environment.packages.get("fairenum", "of an unknown version"))
    return (
        f"Kanamori, Hara, Ishihata, Arimura: Enumeration of Distinct Support Vectors for Interactive Decision Making "
        f"(2019). {sentence_list(parts)}, seeds from {plan.seed}, by fairenum {version}."
    )


def headline(claims: tuple[JudgedClaim, ...]) -> str:
    """Return a sentence that counts the verdicts on the claims of the paper."""
    tried = [claim.verdict for claim in claims if claim.trials]
    counts = Counter(tried)
    parts = [
        f"{counts[verdict]} {words[counts[verdict] != 1]}"
        for verdict, words in CLAIM_VERDICTS.items()
        if counts[verdict]
    ]
    number = counted(len(tried), "claim")
    is_whole = len(tried) == len(claims)
    subject = f"the paper's {number}" if is_whole else f"{number} of the paper that could be tried"
    return f"Of {subject}, {sentence_list(parts)}" if parts else "No claim of the paper was tried"


def _statement(claim: JudgedClaim) -> str:
    return CLAIMS.get(claim.name, plain(claim.name))


def _finding(claim: JudgedClaim) -> str:
    often = f"in {claim.true} of {claim.trials} ({_share_limits(claim)})"
    return f"{capitalised(claim.verdict)}: {_statement(claim)} True {often}."


def _share_limits(count: Count) -> str:
    if count.share.value is None:
        return UNDEFINED
    return f"{percent(count.share.low)} to {percent(count.share.high)}"


def _experiments(document: ReproductionDocument) -> Iterator[tuple[str, TableExperiment | InjectionExperiment]]:
    yield from document.tables.items()
    if document.injection:
        yield "compas", document.injection


def _warnings(document: ReproductionDocument) -> Iterator[str]:
    if document.plan.is_quick:
        yield "A quick run: too few splits and draws for a verdict to lean on."
    if document.is_partial:
        yield "Interrupted: only what was finished is counted."
    for name, experiment in _experiments(document):
        for variant, found in experiment.variants.items():
            if refused := found.refused:
                yield plain(
                    f"{name}, {variant}: {len(refused)} not counted, for want of a proven answer "
                    f"(seed {refused[0].seed}: {refused[0].reason})."
                )


def _facts(document: ReproductionDocument) -> Iterator[tuple[str, str]]:
    plan, environment = document.plan, document.environment
    yield "splits", f"{plan.splits} of each table, 70 % to train on and 30 % to test on"
    yield "draws", f"{plan.draws} of COMPAS: 100 rows to train on, 10 flips among y ≠ z, 50 rows to test on"
    yield "Algorithm 1 on SVC", f"{plan.printed_draws} draws, {plan.printed_seconds:g} s on each other table"
    yield "seed", str(plan.seed)
    versions = {"python": environment.python, **environment.packages}
    yield "versions", plain(", ".join(f"{name} {version}" for name, version in versions.items()))
    for name, experiment in _experiments(document):
        yield (
            plain(name),
            (f"{experiment.rows} rows, {experiment.features} features, sha256 {plain(experiment.fingerprint[:12])}"),
        )


def _figures(document: ReproductionDocument) -> Iterator[Figure]:
    tables = {name: document.tables[name] for name in TABLES if name in document.tables}
    tables = {name: experiment for name, experiment in tables.items() if experiment.main.splits}
    if tables:
        yield from _table_figures(tables)
    if document.injection and document.injection.main.draws:
        yield from _injection_figures(document.injection.main)


def _table_figures(tables: Mapping[str, TableExperiment]) -> Iterator[Figure]:
    mains = [(name, experiment.main) for name, experiment in tables.items()]
    yield Figure(tuple(_objective(name, main.shortfall) for name, main in mains), OBJECTIVE, name="objective")
    yield Figure(tuple(_loss(name, main.loss) for name, main in mains), LOSS, name="loss")
    times = tuple(_time(name, tables[name], main.time) for name, main in mains if main.time)
    if times:
        yield Figure(times, TIME, name="time")
    yield Figure((_spread(tables),), SPREAD, name="spread")


def _banded(xs: Iterable[float], bands: Bands, first: int = 0) -> tuple[Curve, Curve]:
    """Return two curves from index `first` on: a band of 90 % of values, and the median with a band of 50 %."""
    xs = tuple(xs)
    outer = Curve(xs, (None,) * len(xs), bands.q05[first:], bands.q95[first:])
    return outer, Curve(xs, bands.q50[first:], bands.q25[first:], bands.q75[first:])


def _floored(values: Numbers) -> tuple[float | None, ...]:
    return tuple(None if value is None else max(value, FLOOR) for value in values)


def _rank_plot(
    name: str, description: str, axis: Axis, bands: Bands, rules: Iterable[Rule], *, title: str, first: int = 1
) -> Plot:
    """Return the plot of medians, with bands of 50 and 90 % of the values, by rank from the rank `first` on."""
    ranks = (float(rank) for rank in range(first, len(bands.q50) + 1))
    layers: tuple[Layer, ...] = (*_banded(ranks, bands, first - 1), *rules)
    return Plot(name, description, Axis("rank k"), axis, layers, key=BANDS, title=title)


def _objective(name: str, found: Bands) -> Plot:
    bands = Bands(*map(_floored, (found.q05, found.q25, found.q50, found.q75, found.q95)))
    return _rank_plot(
        f"Shortfall of the objective by rank, {PAPER_TABLES[name]}",
        f"The 50th model falls short by {_digits(bands.q50[-1], '.2g')} in the median split.",
        Axis("1 − f(k) / f(1)", is_log=True),
        bands,
        (Rule(GERMAN_SPREAD, "paper: 6.0e-4"),) if name == "german" else (),
        title=PAPER_TABLES[name],
        first=2,  # the shortfall of model 1 is 0
    )


def _loss(name: str, bands: Bands) -> Plot:
    rank, last = LOWER_LOSS_RANKS[name], _digits(bands.q50[-1], ".4f")
    return _rank_plot(
        f"Test loss by rank, {PAPER_TABLES[name]}",
        f"The median over splits of the 50th model's test loss is {last} of the best model's.",
        Axis("test loss / that of model 1"),
        bands,
        (Rule(1.0), Rule(float(rank), f"paper: {rank}", is_upright=True)),
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
    """Return the empirical distribution function of the values as a curve; values below `floor` count as `floor`."""
    known = sorted(max(value, floor) for value in values if value is not None)
    shares = tuple((place + 1) / len(known) for place in range(len(known)))
    return Curve((*known[:1], *known), (*([0.0] if known else []), *shares), tone=tone, is_step=True)


def _injection_figures(variant: DrawVariant) -> Iterator[Figure]:
    yield Figure((_parity(variant), _error(variant)), PARITY, name="parity")
    yield Figure((_ties(variant),), TIES, name="ties")
    yield Figure((_reference(variant),), REFERENCE, name="reference")


def _parity(variant: DrawVariant) -> Plot:
    gaps, clean = variant.gap.q50, variant.clean_gap
    rules = (Rule(clean.q50, f"clean: {clean.q50:.3f}"),) if clean else ()
    return _rank_plot(
        "Demographic parity gap by rank, injected COMPAS",
        f"The median gap is {share(gaps[0])} at rank 1 and {share(gaps[-1])} at rank 50.",
        Axis("demographic parity gap", low=0.0),
        variant.gap,
        (Rule(CLEAN_PARITY, "paper: 0.321", tone="tone-2"), *rules),
        title="Demographic parity",
    )


def _error(variant: DrawVariant) -> Plot:
    return _rank_plot(
        "Misclassification by rank, injected COMPAS",
        f"The median share of wrong decisions is {share(variant.error.q50[0])} at rank 1.",
        Axis("misclassification", low=0.0),
        variant.error,
        (Rule(variant.clean_error.q50, "clean"),) if variant.clean_error else (),
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


def rendered(document: ReproductionDocument) -> dict[str, str]:
    """Return the texts of the files of a reproduction by path: HTML, Markdown, and figures as SVG."""
    page = reproduction_page(document)
    drawn = {f"{FOLDER}/{figure.name}.svg": grid(figure.plots, columns=COLUMNS) for figure in page.figures}
    paths = {figure.name: f"{FOLDER}/{figure.name}.svg" for figure in page.figures}
    return {"paper.html": to_html(page), "paper.md": to_markdown(page, paths), **drawn}


def reproduction_page(document: ReproductionDocument, *, brief: bool = False) -> Page:
    """Return the page of a reproduction; if `brief`, with the verdicts only."""
    verdicts = Section.of_table("verdicts", _verdicts(document))
    tried = [claim for claim in document.claims if claim.trials]
    return Page(
        title="EnumSV, reproduced",
        name="paper",
        kicker="Reproduction",
        subject=_subject(document),
        headline=headline(document.claims),
        findings=() if brief else tuple(map(_finding, tried)),
        warnings=tuple(_warnings(document)),
        sections=(verdicts,) if brief else (verdicts, *_sections(document)),
        copy=copy_of(document),
        copy_name="fairenum-paper.json",
        tiles=tuple(_tiles(tried)),
    )


def _tiles(tried: list[JudgedClaim]) -> Iterator[Tile]:
    counts = Counter(claim.verdict for claim in tried)
    for verdict, (_, plural) in CLAIM_VERDICTS.items():
        yield Tile(f"claims that {plural}", str(counts[verdict]), f"of {len(tried)}")


COUNT_COLUMNS: tuple[Column[Count], ...] = (
    Column("true", "true", lambda count: f"{count.true} of {count.trials}"),
    Column("interval", "interval", _share_limits),
)


def _verdicts(document: ReproductionDocument) -> Table:
    columns: tuple[Column[JudgedClaim], ...] = (
        Column("claim", "claim", _statement, is_word=True),
        Column("verdict", "verdict", lambda claim: claim.verdict, is_word=True),
        *COUNT_COLUMNS,
    )
    return Table.of("How often each claim is true", columns, document.claims, notes=(VERDICT_NOTE,))


def _sections(document: ReproductionDocument) -> Iterator[Section]:
    drawn = {figure.name: figure for figure in _figures(document)}
    judged = {claim.name: claim for claim in document.claims if claim.trials}
    for anchor, title, names, plots in SECTIONS:
        claims = [judged[name] for name in names if name in judged]
        if claims:
            shown = [drawn[name] for name in plots if name in drawn]
            yield Section(anchor, title, tuple(_blocks(document, claims, shown)))
    yield Section("unsaid", "What the paper leaves unsaid, and what was chosen", (Items(UNSAID),))
    yield Section("run", "How it was run", (Facts(tuple(_facts(document))),))


def _blocks(document: ReproductionDocument, claims: list[JudgedClaim], shown: list[Figure]) -> Iterator[Block]:
    for claim in claims:
        yield Paragraph(_finding(claim))
        yield Items(reasons(document, claim.name))
    yield from shown
    yield from map(_parts, claims)


def _parts(claim: JudgedClaim) -> Table:
    columns: tuple[Column[ClaimPart], ...] = (
        Column("experiment", "data", lambda part: plain(part.experiment), is_word=True),
        Column("variant", "variant", lambda part: plain(part.variant), is_word=True),
        *COUNT_COLUMNS,
    )
    return Table.of(_statement(claim), columns, claim.parts, is_folded=True)
