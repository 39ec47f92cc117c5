"""Pages of attacks, benchmarks and mitigations."""

import pytest
from support.documents import near, saved

from fairenum.document.attack_document import AttackPoint, DefenceSummary, TrialFailure
from fairenum.document.files import parse, to_json
from fairenum.document.research_documents import GrowthSeries, RaceResult
from fairenum.document.value import Estimate
from fairenum.render.html import to_html
from fairenum.render.markdown import to_markdown
from fairenum.report import page
from fairenum.report.attack_report import frequency
from fairenum.report.research_pages import speedup


def table(document, anchor: str):
    return next(section.blocks[-1] for section in page(document).sections if section.anchor == anchor)


# --- attacks


def attack(**changes):
    document = saved("defences")
    return document.but(attack=document.attack.but(**changes))


def points(**changes) -> AttackPoint:
    curves = saved("defences").attack.curves
    return tuple(curve.but(points=tuple(point.but(**changes) for point in curve.points)) for curve in curves)


def test_the_headline_tells_of_the_worst_attack():
    assert page(saved("defences")).headline == (
        "10 flipped labels (10.0 %, greedy_parity) raise the mean demographic parity gap on the holdout from 0.236 to "
        "0.974, by +0.738 [+0.663, +0.813]."
    )
    harmless = attack(curves=points(gap_change=near(0.01, 0.02)), status="interrupted")
    assert page(harmless).headline == (
        "Interrupted: 10 flipped labels (10.0 %, paper) do not measurably raise the mean demographic parity gap on the "
        "holdout: 0.626, a change of +0.010 [-0.010, +0.030]."
    )


def test_what_failed_is_told():
    failures = tuple(TrialFailure(None, None, f"reason {seed}", seed, seed) for seed in range(7))
    defence = DefenceSummary("knn", 1, *[near(0.1)] * 4, 2, "no rows")
    found = page(attack(failures=failures, curves=points(defences=(defence,)), status="interrupted")).warnings
    assert found[0] == "interrupted after 20 of 20 trials"
    assert found[1:6] == tuple(f"trial with seed {seed}, failed: reason {seed}" for seed in range(5))
    assert found[6] == "2 further failures; the run holds them all"
    assert found[7:] == tuple(
        f"knn failed in 2 trials of {name}: no rows" for name in ("paper", "greedy_parity", "random")
    )


def test_what_is_undefined_is_a_dash():
    recovery = saved("defences").attack.curves[0].points[0].recovery.but(rank_quantiles=None, of_raised=Estimate())
    curves = points(detection=None, gap_quantiles=None, recovery=recovery)
    assert table(attack(curves=curves), "recovery").rows[0][5:] == ("–", "–", "–", "–")
    assert table(attack(curves=curves), "recovery").rows[0][3] == "–"
    assert table(attack(curves=curves), "distribution").rows[1][2:] == ("–",) * 5


def test_every_strategy_and_defence_has_its_row():
    rows = table(saved("defences"), "defences").rows
    assert [row[0] for row in rows if row[0]] == ["paper", "greedy_parity", "random"]
    assert [row[2] for row in rows[:3]] == ["none", "knn relabelling", "loss removal"]
    assert "defences" not in [section.anchor for section in page(saved("injection")).sections]
    assert [row[0] for row in table(saved("defences"), "harm").rows] == ["none", "paper", "greedy_parity", "random"]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Estimate(0.0, 0.0, 0.2), "holds in none"),
        (Estimate(0.01, 0.0, 0.04), "hardly ever holds"),
        (Estimate(1.0, 0.9, 1.0), "holds"),
        (Estimate(0.98, 0.96, 0.99), "nearly always holds"),
        (Estimate(0.8, 0.6, 0.9), "mostly holds"),
        (Estimate(0.5, 0.4, 0.6), "holds sometimes"),
    ],
)
def test_a_statement_holds_as_often_as_is_certain(found, words):
    assert frequency(found) == words


# --- benchmarks


def grown():
    series = [
        GrowthSeries(name, axis, (10, 100, 1000), tuple(scale * size for size in (10, 100, 1000)), 1.0)
        for axis in ("n", "d", "k")
        for name, scale in (("path", 1e-5), ("Algorithm 1", 1e-3))
    ]
    return saved("bench").but(growth=tuple(series))


def scaled():
    sizes = (1_000, 16_000, 250_000)
    series = [
        GrowthSeries(
            *(name, "n", sizes, tuple(factor * size for size in sizes), 1.0, task, "one-hot"),
            **{"memory": tuple(1e8 + 80.0 * size for size in sizes), "memory_slope": 0.2, "fixed": {"d": 50}},
        )
        for task, names in (("fit", ("fairenum", "SVC")), ("audit", ("fairenum", "ExponentiatedGradient")))
        for name, factor in zip(names, (1e-5, 1e-3), strict=True)
    ]
    nowhere = GrowthSeries("SVC", "n", (), (), None, "fit", kernel="rbf", fixed={"d": 20})
    return saved("bench").but(growth=(*series, nowhere))


def race(*results):
    return saved("bench").but(standings=results, seconds=30.0)


def test_the_headline_names_the_fastest():
    assert page(saved("bench")).headline == (
        "path is the fastest: the 50 best models take it 1.75 SVC fits, 3314 times faster than Algorithm 1 of the "
        "paper."
    )
    assert page(race(RaceResult("path", error="no"))).headline == "No solver found the models."


def test_contestants_stand_by_their_time_and_failures_last():
    document = race(
        RaceResult("slow", 50, 50, 1, 2.0, 200.0),
        RaceResult("broken", error="it <fell>"),
        RaceResult("fast", 5, 4, 1, 1.0, 1.5),
    )
    rows = table(document, "race").rows
    assert [row[0] for row in rows] == ["fast", "slow", "broken"]
    assert rows[0][1:] == ("1.5", "0.03", "", "1", "1", "4 of 5")
    assert rows[2][1:] == ("failed", "", "", "", "", "")
    assert page(document).warnings == ("broken: it <fell>",)
    assert "broken: it &lt;fell&gt;" in to_html(page(document))


@pytest.mark.parametrize(
    ("paper", "ours", "sign"),
    [
        ("measured", "measured", ""),
        ("extrapolated", "measured", "~"),
        ("measured", "extrapolated", "~"),
        ("at least", "measured", ">"),
        ("extrapolated", "at least", "<"),
        ("at least", "at least", "?"),
    ],
)
def test_a_ratio_says_how_well_it_is_known(paper, ours, sign):
    mine = RaceResult("path", 3, 3, 1, 0.1, 2.0, ours)
    document = race(mine, RaceResult("Algorithm 1", 3, 1, 9, 10.0, 250.0, paper))
    assert speedup(document, mine) == f"{sign}125"
    assert speedup(document, document.paper) == "1"
    notes = " ".join(table(document, "race").notes)
    assert ("~ extrapolated from the models found in 30 s" in notes) == ("extrapolated" in (paper, ours))
    assert ("> stopped after 30 s" in notes) == ("at least" in (paper, ours))


def test_growth_is_drawn_over_all_three_axes_in_every_medium():
    shown = page(grown())
    (growth,) = [section.blocks[0] for section in shown.sections if section.anchor == "growth"]
    assert [plot.title for plot in growth.plots] == ["examples n", "features d", "models k"]
    assert all(plot.x.is_log and plot.y.is_log for plot in growth.plots)
    path, paper = (layer for layer in growth.plots[0].layers if hasattr(layer, "values"))
    assert path.values == pytest.approx((1e-4, 1e-3, 1e-2))
    assert path.tone != paper.tone
    text = to_markdown(page(grown(), brief=True))
    for title in ("examples n", "features d", "models k"):
        assert f"CPU time against {title}, both logarithmic" in text
    assert "p path: 10 ms at n = 1000, grows like n^1.0" in text
    assert "Time over models k grows like: path k^1.0 and Algorithm 1 k^1.0." in shown.findings
    assert "growth" not in {section.anchor for section in page(saved("bench")).sections}


def test_the_growth_study_is_shown_with_time_and_memory_in_every_medium():
    (scale,) = [section for section in page(scaled()).sections if section.anchor == "scale"]
    figure, shown = scale.blocks
    assert [plot.title for plot in figure.plots] == [
        "The best model, 5 categories, one-hot",
        "A whole audit, 5 categories, one-hot",
    ]
    what = "the best model, 5 categories, one-hot (d = 50)"
    assert shown.rows[1] == (what, "SVC", "n = 250,000", "250", "n^1.0", "0.12 GB", "n^0.2")
    assert shown.rows[-1] == ("the best model, numbers, rbf kernel (d = 20)", "SVC", "nowhere", "", "", "", "")
    text = to_markdown(page(scaled(), brief=True))
    assert "A whole audit, 5 categories, one-hot: CPU time over n (* where several meet)" in text
    assert "E ExponentiatedGradient: 250 s at n = 250000, grows like n^1.0" in text
    assert all(len(line) <= 80 for line in figure.plain.splitlines())
    assert parse(to_json(scaled()).encode(), "run") == scaled()


def test_names_of_solvers_are_text():
    document = race(RaceResult("[red]<b>\u202e", 1, 1, 1, 1.0, 1.0))
    html = to_html(page(document))
    assert "<b>\u202e" not in html
    assert "[red]&lt;b&gt;" in html


# --- mitigations


def test_every_case_has_its_figure_and_table():
    document = saved("mitigation")
    shown = page(document)
    spared = sum(not any(one.dominates_guided for one in trial.scores) for trial in document.trials)
    assert (
        shown.headline == f"No other mitigation dominates guided search in {spared} of {len(document.trials)} splits."
    )
    assert len(shown.sections) == len(document.cases) + 1
    for summary, section in zip(document.cases, shown.sections[1:], strict=True):
        figure, found, _price = section.blocks
        marks = figure.plots[0].layers[0].marks
        assert {(mark.x, mark.y) for mark in marks} == {(one.accuracy.value, one.gap.value) for one in summary.methods}
        assert len(found.rows) == len(summary.methods)
        assert found.rows[0][:2] == ("model 1", "always alike")
        # at equal rates a mixture leaves nothing to chance, and a method with thresholds of its own takes no part
        by_chance = [row[:2] for row in found.rows if row[1] != "always alike"]
        own = ("fairlearn ThresholdOptimizer", "by chance, told the group")
        assert (own in by_chance) == (summary.case.decide == "sign")
        assert (by_chance == []) == (summary.case.decide != "sign")


def test_a_brief_page_has_no_pictures_that_only_a_picture_can_show():
    assert not any(page(saved("mitigation"), brief=True).figures)
    assert [figure.plain != "" for figure in page(grown(), brief=True).figures] == [True]
    assert [figure.plain != "" for figure in page(saved("defences"), brief=True).figures] == [True]


def test_an_unknown_method_is_called_by_its_own_name():
    document = saved("mitigation")
    summary = document.cases[0]
    methods = (*summary.methods, summary.methods[0].but(method="<new>"))
    shown = page(document.but(cases=(summary.but(methods=methods),)))
    assert "&lt;new&gt;" in to_html(shown)
