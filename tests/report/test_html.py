"""The page as text: what it says, how large it is, how long it takes, and what it may load."""

import base64
import hashlib
import json
import re
import time

import pytest
from documents import audit_document, full_document, spread_document
from fairenum.audit import AuditResult
from fairenum.report.html import page, to_html
from fairenum.report.view import view

from fairenum.report import figures, scatter
from fairenum.report.rules import parse_rules

LARGEST = 250_000


def data(html: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="audit">(.*?)</script>', html, re.S).group(1))


def test_the_same_document_gives_the_same_bytes_whatever_its_timings():
    document = audit_document()
    assert to_html(document) == to_html(json.loads(json.dumps(document)))
    assert to_html({**document, "timings": {"enumeration": 9.9}}) == to_html(document)


def test_200_models_stay_small_and_are_rendered_in_less_than_a_second():
    document = spread_document(models=200)
    to_html(audit_document())  # templates are compiled once
    started = time.process_time()
    html = to_html(document)
    assert time.process_time() - started < 1.0
    assert len(html.encode()) < LARGEST
    assert html.count('<tr id="model-') == 200


def test_many_large_examples_do_not_make_the_page_large():
    document = full_document(models=200)
    rows = [{"row": row, "copies": 1, "of": 1, "label": "no", "groups": {"sex": {"man": 1}}} for row in range(2000)]
    values = {f"column {place}": f"value {place}" for place in range(60)}
    document["examples"] = [
        {"row": row["row"], "rows": [row["row"]], "label": "no", "groups": row["groups"], "values": values}
        for row in rows
    ]
    for model in document["models"]:
        model["left_out"] = rows
    html = to_html(document)
    assert len(html.encode()) < LARGEST
    assert "Also left out, as too large for a page: examples" in html
    assert data(html)["examples"] is None
    assert "not shown: 1970 more" in html


def test_the_page_says_what_the_other_reports_say():
    document, rules = audit_document(small=True), parse_rules(["accuracy>=0.9"])
    html, shown = to_html(document, rules=rules), view(document, rules=rules)
    for text in (shown.subject, shown.headline, *shown.findings, *shown.warnings, shown.judgements[0].reason):
        assert text in html
    for row in shown.comparison.rows:
        assert all(cell in html for cell in row)


def test_the_policy_allows_this_style_and_this_script_and_nothing_else():
    html = to_html(audit_document())
    policy = re.search(r'Security-Policy" content="([^"]*)"', html).group(1).replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for name in ("style", "script"):
        (text,) = re.findall(rf"<{name}>(.*?)</{name}>", html, re.S)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert not re.search(r'(src|href)="(?!#)|url\(|@import|style="', html)


def test_a_small_run_is_carried_whole():
    document = audit_document(models=3)
    assert data(to_html(document)) == {**document, "timings": {}}


def test_a_large_run_is_carried_reduced_and_says_so():
    document = spread_document(models=60)
    html = to_html(document)
    found = data(html)
    assert "Reduced to what this page shows" in html
    assert found["reduced"].startswith("Reduced")
    assert found["selection"] == document["selection"]
    names = found["models"]["fields"]
    for model, row in zip(document["models"], found["models"]["rows"], strict=True):
        values = dict(zip(names, row, strict=True))
        gap = model["scores"]["holdout"]["demographic_parity_difference"]
        assert (values["rank"], values["gap_value"], values["gap_high"]) == (model["rank"], gap["value"], gap["high"])
        assert values["change_low"] == gap["change"]["low"]


@pytest.mark.parametrize(
    "facts",
    [
        {"selected": 1},
        {"selected": None, "small": True},
        {"models": 1, "selected": 1},
        {"status": "interrupted", "verdict": "not fairer"},
    ],
)
def test_every_kind_of_result_has_a_page(facts):
    document = audit_document(**facts)
    html = to_html(document)
    assert view(document).headline in html
    assert html.count("<tr id=") == len(document["models"])


def test_a_run_without_sensitive_columns_has_a_page_without_scatter():
    document = audit_document(selected=1)
    for model in document["models"]:
        for scores in model["scores"].values():
            scores["demographic_parity_difference"].update(value=None, low=None, high=None, change=None, verdict=None)
    document["dataset"]["sensitive"] = []
    document["group_tables"] = []
    document["selection"]["tolerances"]["column"] = None
    html = to_html(document)
    assert "scatter-" not in html.split("<script>")[0].split("</style>")[1]
    assert "No sensitive column was named, so no groups are compared." in html


def anchors(document: dict) -> list[str]:
    return [section.anchor for section in page(document).sections]


def test_what_was_not_computed_has_no_section():
    extra = {"methods", "range", "attack"}
    assert extra <= set(anchors(full_document()))
    assert not extra & set(anchors(audit_document()))


def labelled(plot) -> dict:
    return {mark.label: mark for layer in plot.layers if hasattr(layer, "marks") for mark in layer.marks}


def test_other_methods_stand_in_the_table_and_in_the_plot_of_the_holdout():
    document = full_document()
    chosen, judged = map(labelled, scatter.scatters(document))
    assert (judged["ThresholdOptimizer"].shape, judged["Reweighing"].shape) == ("hollow", "square")
    assert (judged["Reweighing"].x, judged["Reweighing"].y) == (0.7, 0.12)
    assert "GridSearch" not in judged
    assert "Reweighing" not in chosen
    html = to_html(document)
    assert "failed: no &lt;b&gt;answer&lt;/b&gt;" in html
    assert "by chance" in html


def ranks(mark) -> list[int]:
    return [int(rank) for rank in (mark.data or mark.link.removeprefix("#model-")).split()]


def test_guided_models_are_told_apart_by_shape_and_are_no_part_of_the_ranking():
    document = full_document(models=40)
    plot = scatter.scatters(document)[0]
    marks = [mark for layer in plot.layers if hasattr(layer, "marks") for mark in layer.marks if mark.link]
    guided = {rank for mark in marks if mark.shape == "triangle" for rank in ranks(mark)}
    assert guided == {36, 37, 38, 39, 40}
    assert max(figures.by_rank(document)[0].layers[0].xs_) == 35.0
    assert to_html(document).count('<span class="tag">guided</span>') == 5


def test_all_models_are_marked_once_in_each_plot_wherever_they_coincide():
    document = full_document(models=40)
    for model in document["models"][5:20]:
        model["scores"] = document["models"][4]["scores"]
    for plot in scatter.scatters(document):
        marks = [mark for layer in plot.layers if hasattr(layer, "marks") for mark in layer.marks if mark.link]
        assert sorted(rank for mark in marks for rank in ranks(mark)) == list(range(1, 41))
        assert "5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20" in {mark.data for mark in marks}


def test_the_front_is_drawn_through_its_models_on_the_selection_split():
    document = full_document()
    (line,) = [layer for layer in scatter.scatters(document)[0].layers if hasattr(layer, "is_step")]
    front = [document["models"][rank - 1]["scores"]["selection"] for rank in document["selection"]["pareto_front"]]
    points = [(one["accuracy"]["value"], one["demographic_parity_difference"]["value"]) for one in front]
    assert list(zip(line.xs_, line.values, strict=True)) == sorted(points)
    assert not [layer for layer in scatter.scatters(document)[1].layers if hasattr(layer, "is_step")]


@pytest.mark.parametrize(("widened", "is_said"), [(0.0, False), (0.1, True)])
def test_a_range_wider_than_eps_says_why(widened, is_said):
    document = full_document()
    document["range"]["eps"] = document["config"]["eps"] + widened
    assert ("as much as a listed model loses on all rows" in to_html(document)) == is_said


def test_the_range_shows_only_models_it_holds_for():
    document = full_document(models=40)
    plot = figures.range_strip(document)
    marks = next(layer.marks for layer in plot.layers if hasattr(layer, "marks"))
    threads = next(layer.numbers for layer in plot.layers if hasattr(layer, "numbers"))
    assert sorted([*threads, *(mark.x for mark in marks)]) == sorted(0.5 - 0.01 * rank for rank in range(1, 40))
    assert {mark.shape for mark in marks} == {"diamond", "star", "triangle"}
    spans = [(layer.low, layer.high) for layer in plot.layers if hasattr(layer, "high") and hasattr(layer, "thickness")]
    assert spans == [(-0.21, 0.91), (-0.19, 0.89)]
    assert "none goes below -0.210 or above 0.910" in to_html(document)


def test_attack_curves_begin_with_the_clean_model_on_the_same_axes():
    block = full_document()["attack"]
    plots = figures.attack_curves(block)
    assert [plot.title for plot in plots] == ["paper", "random"]
    for plot, curve in zip(plots, block["curves"], strict=True):
        line = plot.layers[1]
        assert line.xs_ == (0.0, 10.0, 30.0)
        assert line.values == (0.08, *(point["gap"]["value"] for point in curve["points"]))
        assert line.low == (0.06, *(point["gap"]["low"] for point in curve["points"]))
    assert len({(plot.frame.x, plot.frame.y) for plot in plots}) == 1


def test_a_redacted_document_hides_the_examples_behind_the_explanation():
    html = to_html(AuditResult(full_document()).redacted().document)
    assert "What the left-out examples have in common" not in html
    assert "It leaves out 4 training records. Leaving out 2 of them alone gives 80.0 % of its gain" in html
    assert '"values"' not in html
    assert '"rows":[7' not in html
    whole = to_html(full_document())
    assert "What the left-out examples have in common" in whole
    assert "job = x" in whole


def test_bars_are_as_long_as_the_rates():
    document = full_document()
    plot = figures.group_rates(document["group_tables"])
    bars = plot.layers[0].bars
    assert [bar.value for bar in bars] == [
        group["rate"]["value"] for table in document["group_tables"] for group in table["groups"]
    ]
    assert plot.layers[1].value == pytest.approx(0.8 * 0.6)
