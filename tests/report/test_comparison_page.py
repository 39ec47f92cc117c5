"""Several audits on one page."""

import pytest
from support.documents import METRIC, audit, gap, german, saved, scored

from fairenum.document.scores import GapEstimate
from fairenum.render.html import to_html
from fairenum.report import compare


def run_with(value: float, margin: float):
    return scored(audit(models=5), 3, **{METRIC: gap(value, "fairer", margin)})


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (
            (0.10, 0.01),
            (0.20, 0.01),
            "a ends with the smallest demographic parity gap, 0.100 [0.090, 0.110]; its interval lies below all "
            "others.",
        ),
        (
            (0.20, 0.10),
            (0.15, 0.10),
            "b ends with the smallest demographic parity gap, 0.150 [0.050, 0.250]; the intervals overlap, so this may "
            "be chance.",
        ),
        (
            (0.10, 0.01),
            (0.10, 0.02),
            "All runs end with the same demographic parity gap, 0.100 [0.090, 0.110].",
        ),
    ],
)
def test_the_headline_says_no_more_than_the_intervals_do(first, second, words):
    assert compare({"a": run_with(*first), "b": run_with(*second)}).headline == words


def test_runs_of_different_gaps_or_without_one_are_not_ranked():
    one = audit()
    tolerances = type(one.selection.tolerances)("equal_opportunity_difference")
    other = one.but(selection=one.selection.but(tolerances=tolerances))
    assert "reduce different gaps" in compare({"a": one, "b": other}).headline
    without = scored(one, 3, **{METRIC: GapEstimate()})
    assert "Not every run has a gap" in compare({"a": one, "b": without}).headline


def test_the_page_shows_all_runs_and_what_differs():
    other = audit(models=7, selected=1)
    other = other.but(config=other.config.but(seed=5, solver="libsvm"), dataset=other.dataset.but(fingerprint="1" * 64))
    html = to_html(compare({"before": audit(models=5), "after": other}))
    for text in ("before: model 3", "after: model 1", "option seed", "option solver", "may judge different rows"):
        assert text in html
    assert html.count('aria-label="before: accuracy') == html.count('aria-label="after: accuracy') == 1
    assert 'href="#model-' not in html
    assert "four fifths of model 3&#39;s highest" in html
    assert "{}" not in html.split("<script")[0].split("</style>")[1]


def test_plots_have_the_same_axes():
    shown = compare({"a": audit(models=5), "b": run_with(0.9, 0.05)})
    frames = [plot.frame for plot in next(shown.figures).plots]
    assert len({(frame.x.low, frame.x.high, frame.y.low, frame.y.high) for frame in frames}) == 1


def test_equal_runs_say_so():
    html = to_html(compare({"a": audit(), "b": audit()}))
    assert "Data, options and versions are the same." in html
    assert "the runs judge the same rows" in html


def test_a_run_without_groups_is_said_to_have_none():
    document = audit(selected=1)
    document = document.but(group_tables=(), selection=document.selection.but(column=None))
    shown = compare({"a": audit(), "b": document})
    assert "b names no sensitive column." in to_html(shown)
    assert "the runs compare groups by different columns: no column and age" in shown.warnings


@pytest.mark.parametrize("brief", [True, False])
def test_the_summary_has_a_line_for_model_1_and_one_for_the_selected(brief):
    shown = compare({"a": audit(), "b": audit(selected=1)}, brief=brief)
    assert [row[:2] for row in shown.sections[0].blocks[0].rows] == [("a", "1"), ("a", "3"), ("b", "1")]
    assert any(shown.figures) != brief


def test_the_copy_has_every_run_reduced():
    runs = {"a": german(), "b": saved("compas")}
    copy = compare(runs).copy(120_000)
    assert len(copy.text) <= 121_000
    assert copy.note.startswith("Reduced")
    assert copy.text.startswith('{"runs":{"a":{')


def test_hostile_names_of_runs_are_text():
    html = to_html(compare({"<script>a": audit(), "b\u202e": audit()}))
    assert "<script>a" not in html
    assert "\u202e" not in html
