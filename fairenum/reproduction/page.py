"""The reproduction as a page for people: verdicts first, then figures and reasons, then what was chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from fairenum.report.embedded import written
from fairenum.report.html import render
from fairenum.report.markdown import page_to_markdown
from fairenum.report.numbers import UNDEFINED, counted, percent
from fairenum.report.page import Block, Facts, Figure, Grid, Items, Page, Paragraph, Section
from fairenum.report.svg import grid
from fairenum.report.tables import Table
from fairenum.report.text import sentence_list
from fairenum.reproduction.figures import Document, figures
from fairenum.reproduction.reasons import reasons

FOLDER = "figures"
CARRIED = "Carries the counts behind the verdicts; `fairenum reproduce --json` saves the whole run."
SECTIONS = (
    ("objective", "Near-optimal models", ("german_spread",), ("objective", "spread")),
    ("loss", "Test loss", ("lower_loss",), ("loss",)),
    ("time", "Running time", ("linear_time",), ("time",)),
    ("ties", "Injected COMPAS: ties", ("tied", "tied_but_different"), ("ties",)),
    ("parity", "Injected COMPAS: parity and error", ("raised", "fairer"), ("reference", "parity")),
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


def rendered(document: Document) -> dict[str, str]:
    """Write a run as an HTML page, in Markdown, and its figures as SVG: the text of each file by its path."""
    shown, drawn = page(document), figures(document)
    paths = {figure.caption: f"{FOLDER}/{name}.svg" for name, figure in drawn.items()}
    return {
        "paper.html": render(shown),
        "paper.md": page_to_markdown(shown, paths),
        **{paths[figure.caption]: grid(figure.plots, columns=3) for figure in drawn.values()},
    }


def page(document: Document) -> Page:
    """Put a document on a page."""
    return Page(
        title="EnumSV, reproduced",
        kicker="Reproduction",
        subject=subject(document),
        headline=headline(document),
        findings=tuple(finding(claim) for claim in document["claims"] if claim["trials"]),
        warnings=tuple(warnings(document)),
        sections=tuple(_sections(document)),
        copy=lambda _room: (written({key: document[key] for key in document if key != "experiments"}), CARRIED),
        copy_name="fairenum-paper.json",
    )


def subject(document: Document) -> str:
    """Say what was run."""
    plan, names = document["plan"], tuple(document["experiments"])
    parts = []
    if tables := [name for name in names if name != "compas"]:
        parts.append(f"{counted(plan['splits'], 'random split')} each of {sentence_list(tables)}")
    if "compas" in names:
        parts.append(f"{counted(plan['draws'], 'random draw')} of injected COMPAS")
    return (
        f"Kanamori, Hara, Ishihata, Arimura: Enumeration of Distinct Support Vectors for Interactive Decision Making "
        f"(2019). {sentence_list(parts)}, seeds from {plan['seed']}, by fairenum {document['environment']['fairenum']}."
    )


def headline(document: Document) -> str:
    """Count the verdicts."""
    tried = [claim["verdict"] for claim in document["claims"] if claim["trials"]]
    counts = Counter(tried)
    words = {
        "holds": ("holds", "hold"),
        "holds sometimes": ("holds sometimes", "hold sometimes"),
        "does not hold": ("does not hold", "do not hold"),
    }
    parts = [f"{counts[verdict]} {words[verdict][counts[verdict] != 1]}" for verdict in words if counts[verdict]]
    number = counted(len(tried), "claim")
    is_whole = len(tried) == len(document["claims"])
    claims = f"the paper's {number}" if is_whole else f"{number} of the paper that could be tried"
    return f"Of {claims}, {sentence_list(parts)}"


def finding(claim: dict[str, Any]) -> str:
    """Say in one sentence what became of a claim."""
    return f"{claim['verdict'].capitalize()}: {claim['statement']} True {rate(claim)}."


def rate(claim: dict[str, Any]) -> str:
    """Say how often a claim is true."""
    share = claim["share"]
    limits = f"{percent(share['low'])} to {percent(share['high'])}"
    return f"in {claim['true']} of {claim['trials']} ({limits})"


def warnings(document: Document) -> Iterator[str]:
    """Say what to beware of."""
    if document["plan"]["is_quick"]:
        yield "A quick run: too few splits and draws for a verdict to lean on."
    if document["status"] == "interrupted":
        yield "Interrupted: only what was finished is counted."
    for name, block in document["experiments"].items():
        for variant, found in block["variants"].items():
            if refused := found["refused"]:
                yield (
                    f"{name}, {variant}: {len(refused)} not counted, for want of a proven answer "
                    f"(seed {refused[0]['seed']}: {refused[0]['reason']})."
                )


def verdicts(document: Document) -> Table:
    """Show every claim with its verdict."""
    rows = tuple(
        (claim["statement"], claim["verdict"], f"{claim['true']} of {claim['trials']}", _limits(claim))
        for claim in document["claims"]
    )
    notes = ("Holds: true in at least 95 % of splits or draws; does not hold: in at most 5 %. Intervals: 95 %.",)
    return Table("How often each claim is true", ("claim", "verdict", "true", "interval"), rows, names=2, notes=notes)


def _limits(claim: dict[str, Any]) -> str:
    share = claim["share"]
    return UNDEFINED if share["value"] is None else f"{percent(share['low'])} to {percent(share['high'])}"


def _sections(document: Document) -> Iterator[Section]:
    yield Section("verdicts", "Verdicts", (Grid(verdicts(document)),))
    drawn, judged = figures(document), {claim["name"]: claim for claim in document["claims"]}
    for anchor, title, names, plots in SECTIONS:
        claims = [judged[name] for name in names if judged[name]["trials"]]
        if claims:
            shown = [drawn[name] for name in plots if name in drawn]
            yield Section(anchor, title, tuple(_blocks(document, claims, shown)))
    yield Section("unsaid", "What the paper leaves unsaid, and what was chosen", (Items(UNSAID),))
    yield Section("run", "How it was run", (Facts(tuple(_facts(document))),))


def _blocks(document: Document, claims: list[dict[str, Any]], shown: list[Figure]) -> Iterator[Block]:
    for claim in claims:
        yield Paragraph(finding(claim))
        yield Items(reasons(document, claim["name"]))
    yield from shown
    for claim in claims:
        yield Grid(_parts(claim), is_folded=True)


def _parts(claim: dict[str, Any]) -> Table:
    """Show a claim by table and variant."""
    rows = tuple(
        (part["experiment"], part["variant"], f"{part['true']} of {part['trials']}", _limits(part))
        for part in claim["parts"]
    )
    return Table(claim["statement"], ("data", "variant", "true", "interval"), rows, names=2)


def _facts(document: Document) -> Iterator[tuple[str, str]]:
    plan, environment = document["plan"], document["environment"]
    yield "splits", f"{plan['splits']} of each table, 70 % to train on and 30 % to test on"
    yield "draws", f"{plan['draws']} of COMPAS: 100 rows to train on, 10 flips among y ≠ z, 50 rows to test on"
    yield "Algorithm 1 on SVC", f"{plan['printed_draws']} draws, {plan['printed_seconds']:g} s on each other table"
    yield "seed", str(plan["seed"])
    yield "versions", ", ".join(f"{name} {version}" for name, version in environment.items())
    for name, block in document["experiments"].items():
        facts = f"{block['rows']} rows, {block['features']} features, sha256 {block['fingerprint'][:12]}"
        yield name, facts
