"""Several runs on one page."""

import pytest
from documents import audit_document, spread_document
from fairenum.report.html import render

from fairenum.report.comparison import compare, headline, runs, summary

METRIC = "demographic_parity_difference"


def run_with(value: float, margin: float, **facts) -> dict:
    document = spread_document(models=5, **facts)
    gap = document["models"][2]["scores"]["holdout"][METRIC]
    gap.update(value=value, low=value - margin, high=value + margin)
    return document


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (
            (0.10, 0.01),
            (0.20, 0.01),
            "a ends with the smallest demographic parity gap, 0.100 [0.090, 0.110]; its interval",
        ),
        (
            (0.20, 0.10),
            (0.15, 0.10),
            "b ends with the smallest demographic parity gap, 0.150 [0.050, 0.250]; the inter",
        ),
        ((0.10, 0.01), (0.10, 0.02), "All runs end with the same demographic parity gap, 0.100"),
    ],
)
def test_the_headline_says_no_more_than_the_intervals_do(first, second, words):
    found = runs({"a": run_with(*first), "b": run_with(*second)})
    assert headline(found).startswith(words)
    if "the inter" in words:
        assert headline(found).endswith("the intervals overlap, so this may be chance.")


def test_runs_of_different_gaps_or_without_one_are_not_ranked():
    other = audit_document()
    other["selection"]["tolerances"]["metric"] = "equal_opportunity_difference"
    assert "not ranked" in headline(runs({"a": audit_document(), "b": other}))
    without = audit_document()
    without["models"][2]["scores"]["holdout"][METRIC].update(value=None, low=None, high=None)
    assert "not ranked" in headline(runs({"a": audit_document(), "b": without}))


def test_the_page_shows_all_runs_and_what_differs():
    other = spread_document(models=7, selected=1)
    other["config"].update(seed=5, solver="libsvm")
    other["environment"]["fingerprint"] = "1" * 64
    html = render(compare({"before": spread_document(models=5), "after": other}))
    for text in ("before: model 3", "after: model 1", "option seed", "option solver", "may judge different rows"):
        assert text in html
    assert html.count('aria-label="before: accuracy') == html.count('aria-label="after: accuracy') == 1
    assert 'href="#model-' not in html


def test_plots_have_the_same_axes():
    shown = compare({"a": spread_document(models=5), "b": run_with(0.9, 0.05)})
    frames = [plot.frame for plot in shown.sections[0].blocks[0].plots]
    assert len({(frame.x.low, frame.x.high, frame.y.low, frame.y.high) for frame in frames}) == 1


def test_equal_runs_say_so():
    html = render(compare({"a": audit_document(), "b": audit_document()}))
    assert "Data, options and versions are the same." in html
    assert "the runs judge the same rows" in html


def test_the_summary_has_a_line_for_model_1_and_one_for_the_selected():
    rows = summary(runs({"a": audit_document(), "b": audit_document(selected=1)})).rows
    assert [row[:2] for row in rows] == [("a", "1"), ("a", "3"), ("b", "1")]


def test_hostile_names_of_runs_are_text():
    html = render(compare({"<script>a": audit_document(), "b\u202e": audit_document()}))
    assert "<script>a" not in html
    assert "\u202e" not in html
