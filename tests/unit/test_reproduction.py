"""The page, the Markdown and the figures of a reproduction."""

import html
import json
import xml.etree.ElementTree as ElementTree

import pytest
from fairenum.reproduction.page import headline
from fairenum.reproduction.reasons import often
from scipy.stats import beta

from fairenum.document.paper import CLOCKED
from fairenum.reproduction import Plan, rendered, reproduce
from fairenum.reproduction.claims import claims

TINY = Plan(splits=1, draws=2, printed_draws=1, printed_seconds=0.2, seed=3)


@pytest.fixture(scope="module")
def document():
    return reproduce(["sonar", "compas"], TINY)


def split_line(**changes):
    return {"spread": 1e-5, "lower": 3, "growth": 1.0, "C": 1.0, **changes}


def test_how_often_comes_with_the_interval_of_clopper_and_pearson():
    low, high = 100 * beta.ppf(0.025, 3, 8), 100 * beta.ppf(0.975, 4, 7)
    assert often([True] * 3 + [False] * 7) == f"in 3 of 10 (30.0 %, {low:.1f} % to {high:.1f} %)"


def test_a_run_is_shown_the_same_twice_and_again_from_its_file(document):
    files = rendered(document)
    assert files == rendered(json.loads(json.dumps(document)))
    assert {"paper.html", "paper.md", "figures/loss.svg", "figures/parity.svg", "figures/ties.svg"} <= set(files)
    for name, text in files.items():
        if name.endswith(".svg"):
            ElementTree.fromstring(text)
    assert "nan" not in files["paper.md"].lower().split()


def test_the_headline_counts_what_was_tried():
    claims = [{"verdict": "holds", "trials": 3}, {"verdict": "does not hold", "trials": 3}]
    assert headline({"claims": claims}) == "Of the paper's 2 claims, 1 holds and 1 does not hold"
    untried = {"verdict": "not tried", "trials": 0}
    assert headline({"claims": [*claims, untried]}).startswith("Of 2 claims of the paper that could be tried, 1 holds")


def test_page_and_markdown_say_the_same(document):
    files = {name: html.unescape(text) for name, text in rendered(document).items()}
    assert headline(document) in files["paper.html"]
    assert headline(document) in files["paper.md"]
    for claim in document["claims"]:
        if claim["trials"]:
            assert claim["statement"] in files["paper.md"]
            assert f"{claim['true']} of {claim['trials']}" in files["paper.html"]


def test_a_refused_split_is_told_and_not_counted():
    lines = [split_line(losses=[1.0] * 50, best_loss=1.0, best_rank=1, seed=0, fewer_errors=0)]
    refused = [{"seed": 1, "C": 1000.0, "reason": "too few digits"}]
    quantiles = {name: [1e-6] * 50 for name in ("q05", "q25", "q50", "q75", "q95")}
    half = {"value": 1.0, "low": None, "high": None}
    variant = {"splits": lines, "refused": refused, "shortfall": quantiles, "loss": quantiles, "other_half": half}
    variant["time"] = {"ranks": list(CLOCKED), **{name: row[: len(CLOCKED)] for name, row in quantiles.items()}}
    facts = {"rows": 1000, "features": 20, "fingerprint": "0" * 64, "printed": None}
    blocks = {"german": {**facts, "variants": {"standardised": variant, "raw": variant}}}
    plan = {"splits": 2, "draws": 0, "printed_draws": 0, "printed_seconds": 0.0, "seed": 0, "is_quick": True}
    document = {"status": "complete", "environment": {"fairenum": "0"}, "plan": plan, "experiments": blocks}
    text = rendered({**document, "claims": claims(blocks)})["paper.md"]
    assert "german, raw: 1 not counted, for want of a proven answer (seed 1: too few digits)." in text
    assert "A quick run" in text


def test_an_interrupted_run_says_so():
    def interrupt(_stage, done, _total):
        if done == 1:
            raise KeyboardInterrupt

    found = reproduce(["sonar"], Plan(splits=2, printed_seconds=0.0), progress=interrupt)
    assert "Interrupted" in rendered(found)["paper.md"]
