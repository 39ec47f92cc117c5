"""The reproduction as a page, and why each claim holds or does not."""

import html
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from support.documents import saved

from fairenum.document.research_documents import Refusal
from fairenum.report import page
from fairenum.report.paper_page import CLAIMS, headline, rendered
from fairenum.report.paper_reasons import exact_interval, often, reasons

NUMBERS = {"german": 32, "ionosphere": 43, "sonar": 41}


@given(st.integers(1, 300).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials))))
def test_the_interval_is_that_of_clopper_and_pearson(counts):
    successes, trials = counts
    expected = binomtest(successes, trials).proportion_ci(0.95, method="exact")
    assert exact_interval(successes, trials) == pytest.approx((expected.low, expected.high), abs=1e-10)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.99])
def test_the_interval_has_any_level(level):
    expected = binomtest(7, 20).proportion_ci(level, method="exact")
    assert exact_interval(7, 20, level) == pytest.approx((expected.low, expected.high), abs=1e-10)


def test_how_often_comes_with_its_interval():
    assert often([True] * 3 + [False] * 7) == "in 3 of 10 (30.0 %, 6.7 % to 65.2 %)"
    assert often([]) == "in none of 0"


def test_the_headline_counts_what_was_tried():
    holds, fails = (claim for claim in saved("paper").claims if claim.name in ("german_spread", "fairer"))
    assert headline((holds, fails)) == "Of the paper's 2 claims, 1 holds and 1 does not hold"
    untried = holds.but(verdict="not tried", trials=0)
    assert headline((holds, fails, untried)).startswith("Of 2 claims of the paper that could be tried, 1 holds")
    assert headline((untried,)) == "No claim of the paper was tried"


def test_a_run_is_rendered_with_its_figures_which_are_the_same_twice():
    files = rendered(saved("paper"))
    assert files == rendered(saved("paper"))
    names = ("objective", "loss", "time", "spread", "parity", "ties", "reference")
    assert set(files) == {"paper.html", "paper.md", *(f"figures/{name}.svg" for name in names)}
    for name, text in files.items():
        if name.endswith(".svg"):
            ElementTree.fromstring(text)
            assert f"]({name})" in files["paper.md"]
    assert "nan" not in files["paper.md"].lower().split()


def test_page_and_markdown_say_the_same():
    document = saved("paper")
    files = {name: html.unescape(text) for name, text in rendered(document).items()}
    shown = page(document)
    for text in (shown.headline, *shown.findings):
        assert text in files["paper.html"]
        assert text in files["paper.md"]
    for claim in document.claims:
        assert CLAIMS[claim.name] in files["paper.md"]
        assert f"{claim.true} of {claim.trials}" in files["paper.html"]


def test_in_brief_there_are_the_verdicts():
    shown = page(saved("paper"), brief=True)
    (section,) = shown.sections
    assert [row[1] for row in section.blocks[0].rows] == [claim.verdict for claim in saved("paper").claims]


def plots(document) -> dict:
    return {plot.name: plot for figure in page(document).figures for plot in figure.plots}


def test_a_description_says_what_the_numbers_say():
    document = saved("paper")
    name = "Distribution of the parity gap before and after the injection"
    before = plots(document)[name].description
    variants = {
        key: variant.but(draws=tuple(draw.but(gap=draw.clean_gap, clean_gap=draw.gap) for draw in variant.draws))
        for key, variant in document.injection.variants.items()
    }
    turned = document.but(injection=document.injection.but(variants=variants))
    words = before.replace(" before the injection and ", "|").replace(" after it.", "|").rsplit(" ", 1)[-1].split("|")
    after = plots(turned)[name].description
    assert after == f"The median gap is {words[1]} before the injection and {words[0]} after it."
    assert words[0] < words[1]


def test_the_paper_s_reference_is_ordinary_only_if_it_is():
    injection = saved("paper").injection
    assert "an ordinary draw" in " ".join(reasons(saved("paper"), "raised"))
    high = injection.main.but(draws=tuple(draw.but(clean_gap=0.9) for draw in injection.main.draws))
    changed = injection.but(variants={**injection.variants, next(iter(injection.variants)): high})
    assert "an unusual draw" in " ".join(reasons(saved("paper").but(injection=changed), "raised"))


def test_a_refused_split_is_told_and_not_counted():
    document = saved("paper")
    german = document.tables["german"]
    refused = (Refusal(1, "too <few> digits", 1000.0),)
    variants = {**german.variants, "raw": german.variants["raw"].but(refused=refused)}
    changed = document.but(tables={"german": german.but(variants=variants)}, injection=None, status="interrupted")
    changed = changed.but(plan=changed.plan.but(is_quick=True))
    shown = page(changed)
    assert shown.warnings == (
        "A quick run: too few splits and draws for a verdict to lean on.",
        "Interrupted: only what was finished is counted.",
        "german, raw: 1 not counted, for want of a proven answer (seed 1: too <few> digits).",
    )
    assert "&lt;few&gt;" in rendered(changed)["paper.md"]


def test_a_table_of_which_nothing_is_counted_has_no_figures():
    document = saved("paper")
    german = document.tables["german"]
    variants = {name: variant.but(splits=()) for name, variant in german.variants.items()}
    changed = document.but(tables={**document.tables, "german": german.but(variants=variants)})
    titles = [plot.title for figure in page(changed).figures for plot in figure.plots]
    assert "German" not in titles
    assert "Sonar" in titles


def test_figures_show_the_medians_and_the_paper_s_statements():
    document, drawn = saved("paper"), plots(saved("paper"))
    for name, title in (("german", "German"), ("ionosphere", "Ionosphere"), ("sonar", "Sonar")):
        loss = drawn[f"Test loss by rank, {title}"]
        assert loss.layers[1].values == document.tables[name].main.loss.q50
        assert loss.layers[-1].value == NUMBERS[name]
    parity = drawn["Demographic parity gap by rank, injected COMPAS"]
    assert parity.layers[1].values == document.injection.main.gap.q50
