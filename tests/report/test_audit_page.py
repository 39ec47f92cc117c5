"""The page of an audit as HTML: what it says, how large it is, how long it takes, and what it may load."""

import base64
import hashlib
import json
import re
import time
from itertools import cycle, islice

import pytest
from support.documents import METRIC, audit, full, german, saved, scored, with_model

from fairenum.document.files import parse
from fairenum.document.models import Example, LeftOut
from fairenum.document.scores import GapEstimate
from fairenum.render.html import to_html
from fairenum.report import groups_section, models_section, page
from fairenum.report.attack_report import attack_curves
from fairenum.report.rules import parse_rules

LARGEST = 250_000


def data(html: str) -> dict:
    return json.loads(carried(html))


def carried(html: str) -> str:
    return re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S).group(1)


def large(models: int = 200):
    """Repeat the models of german until there are so many."""
    found = islice(cycle(german().models), models)
    ranked = tuple(model.but(rank=rank) for rank, model in enumerate(found, start=1))
    return full().but(models=ranked)


def test_the_same_document_gives_the_same_bytes_whatever_its_timings():
    document = audit()
    assert to_html(page(document)) == to_html(page(document.but(timings={"enumeration": 9.9})))


def test_200_models_stay_small_and_are_rendered_in_less_than_a_second():
    document = large()
    to_html(page(audit()))  # templates are compiled once
    started = time.process_time()
    html = to_html(page(document))
    assert time.process_time() - started < 1.0
    assert len(html.encode()) < LARGEST
    assert html.count('<tr id="model-') == 200


def test_many_large_examples_do_not_make_the_page_large():
    rows = tuple(LeftOut(1, 1, row, "bad", {"age": {"> 25": 1}}) for row in range(2000))
    values = {f"column {place}": f"value {place}" for place in range(60)}
    examples = tuple(Example(row.row, (row.row,), "bad", row.groups, values) for row in rows)
    document = full()
    document = document.but(examples=examples, models=tuple(model.but(left_out=rows) for model in document.models))
    html = to_html(page(document))
    assert len(html.encode()) < LARGEST
    assert "Also left out, as too large for a page: examples" in html
    assert data(html)["examples"] is None
    assert "not shown: 1970 more" in html


def test_the_page_says_what_the_brief_one_says():
    document, rules = audit(small=True), parse_rules(["accuracy>=0.9"])
    html, brief = to_html(page(document, rules=rules)), page(document, rules=rules, brief=True)
    for text in (brief.subject, brief.headline, *brief.findings, *brief.warnings, brief.checks[0].reason):
        assert text in html
    (choice,) = [section.blocks[0] for section in brief.sections if section.anchor == "choice"]
    for row in (*choice.rows, *brief.strip.table.rows):
        assert all(cell in html for cell in row)


def test_the_policy_allows_this_style_and_this_script_and_nothing_else():
    html = to_html(page(audit()))
    policy = re.search(r'Security-Policy" content="([^"]*)"', html).group(1).replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for name in ("style", "script"):
        (text,) = re.findall(rf"<{name}>(.*?)</{name}>", html, re.S)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert not re.search(r'(src|href)="(?!#)|url\(|@import|style="', html)


@pytest.mark.parametrize("document", [audit(models=3).but(examples=()), saved("bench")])
def test_a_small_run_is_carried_whole_and_can_be_read_again(document):
    html = to_html(page(document))
    assert "The whole run but for its timings" in html
    assert parse(carried(html).encode(), "copy") == document.but(timings={})


def test_a_large_run_is_carried_reduced_and_says_so():
    document = full()
    html = to_html(page(document))
    found = data(html)
    assert "Reduced to what this page shows" in html
    assert found["reduced"].startswith("Reduced")
    assert found["selection"]["rank"] == document.selection.rank
    for model, row in zip(document.models, found["models"]["rows"], strict=True):
        values = dict(zip(found["models"]["fields"], row, strict=True))
        gap = model.scores.holdout.gap(METRIC)
        assert values["rank"] == model.rank
        assert [values["gap_value"], values["gap_high"]] == pytest.approx([gap.value, gap.high], rel=1e-5)
        assert values["change_low"] == pytest.approx(gap.change.low, rel=1e-5)
        assert values["verdict"] == gap.verdict


@pytest.mark.parametrize("name", ["defences", "injection", "mitigation", "paper"])
def test_other_large_runs_lose_what_is_spare_only_where_space_is_short(name):
    document = saved(name)
    shown = page(document)
    plenty, little = json.loads(shown.copy(10**7).text), json.loads(shown.copy(10_000).text)
    spare = "tables" if name == "paper" else "trials"
    assert plenty[spare]
    assert little[spare] is None
    assert f"too large for a page: {spare}" in shown.copy(10_000).note
    assert set(plenty) == set(little)


@pytest.mark.parametrize(
    "facts",
    [
        {"selected": 1},
        {"selected": None, "small": True},
        {"models": 1, "selected": 1},
        {"status": "interrupted", "verdict": "less fair"},
    ],
)
def test_every_kind_of_result_has_a_page(facts):
    document = audit(**facts)
    html = to_html(page(document))
    assert page(document, brief=True).headline in html
    assert html.count("<tr id=") == len(document.models)


def test_a_run_without_sensitive_columns_has_a_page_without_scatter():
    document = audit(selected=1)
    for rank in range(1, 21):
        for part in ("selection", "holdout"):
            document = scored(document, rank, part, **{METRIC: GapEstimate()})
    document = document.but(
        dataset=document.dataset.but(sensitive=()), group_tables=(), selection=document.selection.but(column=None)
    )
    html = to_html(page(document))
    assert "scatter-" not in html.split("<script>")[0].split("</style>")[1]
    assert "No sensitive column was named, so no groups are compared." in html


def anchors(document) -> list[str]:
    return [section.anchor for section in page(document).sections]


def test_what_was_not_computed_has_no_section():
    extra = {"methods", "range", "attack", "ambiguity"}
    assert extra <= set(anchors(full()))
    assert not extra & set(anchors(audit()))


def marks_of(plot) -> list:
    return [mark for layer in plot.layers if hasattr(layer, "marks") for mark in layer.marks]


def test_other_methods_stand_in_the_table_and_in_the_plot_of_the_holdout():
    document = full()
    chosen, judged = ({mark.label: mark for mark in marks_of(plot)} for plot in models_section.scatters(document))
    assert (judged["fairlearn ThresholdOptimizer"].shape, judged["reweighing"].shape) == ("hollow", "square")
    scores = document.baselines[1].scores
    assert (judged["reweighing"].x, judged["reweighing"].y) == (scores.accuracy.value, scores.gap(METRIC).value)
    assert "fairlearn GridSearch" not in judged
    assert "reweighing" not in chosen
    html = to_html(page(document))
    assert "failed: no &lt;b&gt;answer&lt;/b&gt;" in html
    assert "by chance" in html


def ranks(mark) -> list[int]:
    return [int(rank) for rank in (mark.data or mark.link.removeprefix("#model-")).split()]


def test_guided_models_are_told_apart_by_shape_and_are_no_part_of_the_ranking():
    document = full()
    guided = {model.rank for model in document.models if model.origin == "guided"}
    marked = {
        rank
        for mark in marks_of(models_section.scatters(document)[0])
        if mark.shape == "triangle"
        for rank in ranks(mark)
    }
    assert guided & marked
    assert document.selection.rank not in marked
    (loss, *_) = models_section.rank_plots(document)
    assert not guided & {int(x) for x in loss.layers[0].xs}
    assert to_html(page(document)).count('<span class="tag">guided</span>') == len(guided) > 1


def test_all_models_are_marked_once_in_each_plot_wherever_they_coincide():
    document = full()
    for rank in range(6, 21):
        document = with_model(document, rank, scores=document.models[4].scores)
    for plot in models_section.scatters(document):
        linked = [mark for mark in marks_of(plot) if mark.link]
        assert sorted(rank for mark in linked for rank in ranks(mark)) == [model.rank for model in document.models]
        assert any(set(range(5, 21)) <= set(ranks(mark)) for mark in linked)


def test_the_front_is_drawn_through_its_models_on_the_selection_split():
    document = full()
    (line,) = [layer for layer in models_section.scatters(document)[0].layers if hasattr(layer, "is_step")]
    front = [document.models[rank - 1].scores.selection for rank in document.selection.pareto_front]
    points = [(one.accuracy.value, one.gap(METRIC).value) for one in front]
    assert list(zip(line.xs, line.values, strict=True)) == sorted(points)
    assert not [layer for layer in models_section.scatters(document)[1].layers if hasattr(layer, "is_step")]


def test_attack_curves_begin_with_the_clean_model_on_the_same_axes():
    attack = saved("defences").attack
    plots = attack_curves(attack)
    assert [plot.title for plot in plots] == ["paper", "greedy_parity", "random"]
    for plot, curve in zip(plots, attack.curves, strict=True):
        line = plot.layers[1]
        assert line.xs == (0.0, 10.0)
        assert line.values == (attack.clean.gap.value, curve.points[0].gap.value)
        assert line.low == (attack.clean.gap.low, curve.points[0].gap.low)
    assert len({(plot.frame.x, plot.frame.y) for plot in plots}) == 1


def test_a_redacted_document_hides_the_examples_behind_the_explanation():
    found, rank = full().explanation, full().selection.rank
    html = to_html(page(full().redacted()))
    assert "What the left-out examples have in common" not in html
    counts = f"It leaves out {found.records} training records. Leaving out {found.core.records} of them alone gives"
    assert f"{counts} {100 * found.core.share_of_gain:.1f} % of its gain" in html
    assert "their values were left out here" in html
    assert '"values"' not in html
    whole = to_html(page(full()))
    assert "What the left-out examples have in common" in whole
    assert f"Training examples that model {rank} leaves out" in whole


def test_bars_are_as_long_as_the_rates():
    tables = full().group_tables
    plot = groups_section.group_rates(tables)
    assert [bar.value for bar in plot.layers[0].bars] == [
        group.rate.value for table in tables for group in table.groups
    ]
    highest = next(group for group in tables[1].groups if group.group == tables[1].most_selected)
    assert plot.layers[1].value == pytest.approx(0.8 * highest.rate.value)


def test_the_options_are_there_as_resolved_and_as_asked_for():
    (facts, options, features) = page(german()).sections[-1].blocks
    shown = dict(options.rows)
    assert (shown["C"], shown["gamma asked for"], shown["sensitive"]) == ("1.0", "scale", '["age"]')
    assert options.is_folded
    assert len(features.rows) == 17
    assert dict(facts.facts)["fingerprint (sha256)"] == german().dataset.fingerprint
