"""Sums over the cells of the scoreboard, against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from fairenum.document.scoreboard_cells import (
    AuditFacts,
    Cell,
    FormCell,
    FormScore,
    Judged,
    MethodResult,
    Scoreboard,
    Share,
)
from fairenum.research.scoreboard_words import markdown
from fairenum.research.standings import difference, mean, ratio, results, standings, taken

GAPS = (0.2, 0.1, 0.3)


def judged(gap: float, performance: float = 0.8) -> Judged:
    return Judged(gap, performance, performance, 0.5, gap, performance)


def result(method: str, gap: float, performance: float = 0.8, *, kept: bool = False) -> MethodResult:
    own = judged(gap, performance)
    return MethodResult(method, 5, 2, own, "price 1", kept, own, 1.5)


def cell(seed: int, *methods: MethodResult, answer: str = "candidate", table: str = "loans") -> Cell:
    audit = AuditFacts(answer, (), 2, "guided", {"exact": 5})
    used = judged(GAPS[seed])
    return Cell(table, "a package", "MIT", "logistic", seed, (9, 5, 2, 3), 2, "accuracy", 0.01, used, methods, audit)


def test_a_ratio_of_sums_and_its_error_to_first_order():
    above, below = [0.1, 0.05, 0.3], list(GAPS)
    found = ratio(above, below)
    assert found.value == pytest.approx(0.45 / 0.6)
    rng, draws = np.random.default_rng(0), []
    wide = rng.normal([[1.0], [2.0]], [[0.2], [0.3]], (2, 400))
    for _ in range(2000):
        places = rng.integers(0, 400, 400)
        draws.append(wide[0, places].sum() / wide[1, places].sum())
    assert ratio(wide[0], wide[1]).error == pytest.approx(np.std(draws), rel=0.1)


def test_a_mean_has_the_usual_error():
    values = [0.1, 0.3, 0.8]
    assert mean(values) == Share(pytest.approx(0.4), pytest.approx(np.std(values, ddof=1) / np.sqrt(3)))
    assert mean([0.1]) == Share(0.1)
    assert ratio([0.1], [0.0]) == Share(1.0)


def test_the_model_in_use_stays_where_nothing_replaces_it():
    one = cell(0, result("penalised", 0.05, 0.6, kept=True), MethodResult("fairenum"), result("reweighing", 0.1))
    kept = {name: taken(results([one], name)[0]) for name in ("penalised", "fairenum", "reweighing")}
    assert kept == {"penalised": one.in_use, "fairenum": one.in_use, "reweighing": judged(0.1)}


def test_figures_of_a_table():
    cells = [
        cell(0, result("fairenum", 0.1), result("penalised", 0.1, 0.75, kept=True)),
        cell(1, result("fairenum", 0.05, 0.785), result("penalised", 0.05)),
        cell(2, result("fairenum", 0.3), MethodResult("penalised", error="it failed"), answer="no disparity"),
    ]
    (found,) = standings(cells)
    assert (found.splits, found.is_disparate) == (3, True)
    assert found.answers == {"candidate": 2, "no disparity": 1}
    assert found.gap.value == pytest.approx(0.2)
    own, rival = found.figures("fairenum"), found.figures("penalised")
    assert own.left.value == pytest.approx(0.45 / 0.6)
    assert own.change.value == pytest.approx(-0.005)
    assert own.selection_left == pytest.approx(0.45 / 0.6)
    assert own.within == pytest.approx(2 / 3)
    assert rival.splits == 2
    assert rival.left.value == pytest.approx((0.2 + 0.05) / 0.3)
    assert rival.plain_left.value == pytest.approx(0.5)
    assert rival.plain_change.value == pytest.approx(-0.025)
    assert rival.comparable == 1.0
    assert rival.seconds == 1.5


def test_differences_are_paired_over_splits():
    cells = [
        cell(0, result("fairenum", 0.12), result("penalised", 0.1)),
        cell(1, result("fairenum", 0.06), result("penalised", 0.05)),
        cell(2, result("fairenum", 0.2)),
    ]
    assert difference(cells, "fairenum", "penalised").value == pytest.approx(0.03 / 0.3)
    assert difference(cells, "fairenum", "penalised").error == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("own", "rival", "outcome"),
    [
        ((0.1, 0.05, 0.1), (0.12, 0.06, 0.15), "best"),
        ((0.14, 0.04, 0.16), (0.12, 0.06, 0.15), "level"),
        ((0.14, 0.08, 0.19), (0.12, 0.06, 0.15), "behind"),
    ],
)
def test_fairenum_is_best_level_or_behind(own, rival, outcome):
    cells = [
        cell(seed, result("fairenum", gap), result("penalised", other), result("threshold_optimizer", 0.0))
        for seed, (gap, other) in enumerate(zip(own, rival, strict=True))
    ]
    (found,) = standings(cells)
    assert (found.blind.rival, found.blind.outcome) == ("penalised", outcome)
    assert (found.aware.rival, found.aware.outcome) == ("threshold_optimizer", "behind")


def test_a_method_that_loses_performance_does_not_count_as_best():
    cells = [
        cell(seed, result("fairenum", 0.1), result("penalised", 0.01, 0.7), result("reweighing", 0.15))
        for seed in range(3)
    ]
    (found,) = standings(cells)
    assert found.blind.rival == "reweighing"
    assert found.blind.outcome == "best"
    worse = [cell(seed, result("fairenum", 0.01, 0.7), result("reweighing", 0.15)) for seed in range(3)]
    (other,) = standings(worse)
    assert (other.blind.outcome, other.blind.is_as_good) == ("behind", False)


def test_without_a_rival_there_is_no_duel():
    (found,) = standings([cell(0, result("fairenum", 0.1))])
    assert found.blind is None
    assert found.aware is None


def test_the_summary_names_losses_failures_and_sources():
    cells = [
        cell(seed, result("fairenum", 0.2), result("penalised", 0.01), MethodResult("oxonfair", error="not installed"))
        for seed in range(3)
    ]
    forms = FormCell("loans", 0, (5, 3), (FormScore("linear", 0.8, 0.75, 0.1), FormScore("additive", error="none")))
    text = markdown(Scoreboard(tuple(cells), (forms,)))
    assert "## Where fairenum is behind" in text
    assert "- against methods that need no group to decide, fairenum is best in 0, level in 0, behind in 1" in text
    assert "| loans | logistic | penalised |" in text
    assert "- oxonfair, 3 cells: not installed" in text
    assert "| loans | 1 | none | 0.800, 0.750, 0.1 s | none | none | none |" in text
    assert "| loans | a package | MIT |" in text


def test_totals_weigh_tables_by_their_gap():
    cells = [cell(0, result("fairenum", 0.1)), cell(1, result("fairenum", 0.1), table="jobs")]
    assert "| fairenum | 2 | 67% ± 22% | +0.000 ± 0.000 | 67% | 100% | 67% | 1.5 |" in markdown(
        Scoreboard(tuple(cells))
    )


def test_a_summary_of_nothing():
    assert "No cell has been run." in markdown(Scoreboard())
