"""The gap of the reference before anything else is looked for, and runs in which it leaves nothing to reduce."""

import numpy as np
import pandas as pd
import pytest
from support.audits import METRIC, applicants, audit_applicants, checked, codes
from support.simulation.known_gaps import grouped, named

from fairenum import AuditResult, audit, select
from fairenum.document.scores import GapEstimate
from fairenum.document.terms import GAPS
from fairenum.metrics import Decisions, gap_intervals, score
from fairenum.metrics.inference import detectable_gap
from fairenum.report.choice_words import reason
from fairenum.report.headline import headline

QUICK = {"k": 3, "replications": 50, "guards": "none", "range": False, "prices": False}


def fair(rows: int = 600, tool: str | None = None) -> pd.DataFrame:
    """A table in which sex has no part."""
    rng = np.random.default_rng(7)
    sex, skill, town = rng.choice(["f", "m"], rows), rng.normal(size=rows), rng.normal(size=rows)
    hired = np.where(skill + 0.3 * town + rng.normal(size=rows) > 0, "y", "n")
    frame = pd.DataFrame({"skill": skill, "town": town, "sex": sex, "hired": hired})
    return frame if tool is None else frame.assign(tool=np.where(skill > 0, "y", "n"))


@pytest.fixture(scope="module")
def alike() -> AuditResult:
    return audit(fair(), "hired", "y", "sex", **QUICK)


@pytest.fixture(scope="module")
def searched() -> AuditResult:
    return audit(fair(), "hired", "y", "sex", always_search=True, **QUICK)


def test_it_is_the_gap_of_model_1_on_all_rows_that_it_was_not_trained_on(guided):
    found, (column,) = guided.selection.disparity, guided.dataset.sensitive
    selected, rows = np.zeros(2), np.zeros(2)
    for part in ("selection", "holdout"):
        selected += guided.first.scores.of(part).by_column["sex"].selected
        rows += [group.rows(part) for group in column.groups]
    rates = selected / rows
    assert found.rows == rows.sum() == 800
    assert found.gap.value == pytest.approx(abs(rates[0] - rates[1]))
    error = np.sqrt(np.sum(rates * (1 - rates) / rows))
    # far from 0, the interval is nearly that of Wald
    assert found.gap.low == pytest.approx(found.gap.value - 1.96 * error, abs=0.005)
    assert found.gap.high == pytest.approx(found.gap.value + 1.96 * error, abs=0.005)
    assert found.is_shown
    assert guided.selection.reason == "smallest_gap"


@pytest.mark.parametrize("sizes", [(300, 300), (700, 150)])
@pytest.mark.parametrize("base", [0.5, 0.2])
def test_what_can_be_detected_is_shown_in_80_of_100_samples(sizes, base):
    codes, rng = grouped(sizes), np.random.default_rng(1)
    groups, labels = named(codes, 2), np.zeros(len(codes), int)
    even = Decisions(np.arange(len(codes))[None] % 10 < 10 * base, labels, groups)
    detectable = detectable_gap(score(even), METRIC)
    shares = np.array(sizes[::-1]) / sum(sizes)  # so that the rate of all rows is the base
    chances = base + detectable * shares * [1, -1]
    samples = rng.random((4000, len(codes))) < chances[codes]  # each "model" is a sample of its own
    shown = gap_intervals(score(Decisions(samples, labels, groups)), METRIC).lower > 0.0
    assert np.mean(shown) == pytest.approx(0.8, abs=0.04)


def test_what_can_be_detected_is_told_for_the_rows_of_the_run(guided):
    found, (column,) = guided.selection.disparity, guided.dataset.sensitive
    rows = np.array([group.selection + group.holdout for group in column.groups])
    selected = sum(
        np.array(guided.first.scores.of(part).by_column["sex"].selected) for part in ("selection", "holdout")
    )
    rates, pooled = selected / rows, selected.sum() / rows.sum()
    # a sample drawn in proportion is a little more precise than its rows, as the interval is
    error = (found.gap.high - found.gap.low) / 2 / 1.96
    plain = [np.sqrt(np.sum(one * (1 - one) / rows)) for one in (pooled, rates)]
    assert found.detectable == pytest.approx((1.96 + 0.8416) * error * plain[0] / plain[1], rel=0.03)


def test_without_a_disparity_the_search_is_skipped_and_model_1_is_kept(alike):
    document = checked(alike)
    selection = document.selection
    assert not selection.disparity.is_shown
    assert selection.disparity.gap.low == 0.0
    assert (selection.rank, selection.outcome, selection.reason) == (1, "kept", "no_disparity")
    assert (selection.answer, selection.reasons) == ("no disparity", ("gap_not_shown",))
    assert (selection.strip, selection.verdict, selection.chance) == ((), None, None)
    assert document.guided is document.tilted is None
    assert {model.origin for model in document.models} == {"exact"}
    assert "not_confirmed" not in codes(document)
    assert f"{selection.disparity.gap.value:.3f}" in headline(document)


def test_gaps_that_are_shown_are_named_beside_the_one_that_is_not(alike):
    document = alike.document
    plain, shown = f"{reason(document)}.", GapEstimate(0.157, 0.061, 0.283)
    assert plain.startswith("no demographic parity gap of model 1 by sex is shown, so it is kept, and no fairer model")
    assert "(`--always-search` does)" in plain
    first = document.models[0]
    holdout = first.scores.holdout
    own = holdout.by_column["sex"]
    found = {gap: shown if gap == "predictive_parity_difference" else GapEstimate(0.01, 0.0, 0.1) for gap in GAPS}

    def changed(**gaps):
        scores = holdout.but(by_column={**holdout.by_column, "sex": own.but(**{**found, **gaps})})
        return document.but(models=(first.but(scores=first.scores.but(holdout=scores)), *document.models[1:]))

    words = "Other gaps are shown on the holdout, each by itself: predictive parity by sex 0.157 [0.061, 0.283]"
    assert reason(changed()).endswith(words)
    assert headline(changed()).endswith("; the predictive parity gap is shown, at 0.157 [0.061, 0.283].")
    assert headline(changed(equal_opportunity_difference=shown)).endswith("; 2 other gaps are shown.")
    nothing = changed(predictive_parity_difference=GapEstimate(0.01, 0.0, 0.1))
    assert "ther gap" not in reason(nothing) + headline(nothing)


def test_a_search_can_be_asked_for_all_the_same(alike, searched):
    document = checked(searched)
    assert document.guided is not None or document.tilted is not None
    assert document.selection.disparity == alike.document.selection.disparity
    assert document.selection.reason != "no_disparity"
    assert len(document.models) >= len(alike.document.models)


def test_a_choice_made_again_keeps_the_reference_too(alike):
    again = select(alike).document.selection
    assert (again.rank, again.outcome, again.reason) == (1, "kept", "no_disparity")
    assert (again.answer, again.disparity) == ("no disparity", alike.document.selection.disparity)
    looser = select(alike, max_performance_drop=0.3).document.selection
    assert (looser.rank, looser.reason) == (1, "no_disparity")
    asked = select(alike, rank=2).document.selection
    assert (asked.rank, asked.outcome, asked.reason) == (2, "selected", "asked_for")
    other = select(alike, metric="equal_opportunity_difference").document.selection
    assert (other.disparity, other.reason != "no_disparity") == (None, True)


def test_a_gap_that_is_shown_to_be_within_the_margin_is_none():
    document = audit_applicants(same_within=0.9, search="exact").document
    selection = document.selection
    assert selection.disparity.margin == 0.9
    assert selection.disparity.gap.low > 0.0
    assert (selection.reason, selection.answer, selection.reasons) == (
        "no_disparity",
        "no disparity",
        ("gap_within_margin",),
    )


def test_the_model_in_use_is_measured_on_all_its_rows():
    frame = fair(tool="tool")
    document = checked(audit(frame, "hired", "y", "sex", incumbent="tool", **QUICK))
    found = document.selection.disparity
    shares = frame.groupby("sex")["tool"].apply(lambda one: (one == "y").mean())
    assert found.rows == len(frame)
    assert found.gap.value == pytest.approx(shares.max() - shares.min())
    assert (document.selection.rank, document.selection.outcome) == (None, "kept")
    assert document.selection.reason == "no_disparity"


def test_weights_count(guided):
    frame = applicants().assign(weight=np.where(np.arange(1000) % 3 == 0, 2.0, 1.0))
    options = {"k": 2, "replications": 50, "guards": "none", "range": False, "search": "exact"}
    result = audit(frame, "hired", "y", "sex", weight="weight", **options)
    division = result.live.division
    rows = np.concatenate([division.rows[part] for part in ("selection", "holdout")])
    some = frame.iloc[rows].assign(selected=result.estimator(1).predict(frame.iloc[rows]) == "y")
    shares = [np.average(one["selected"], weights=one["weight"]) for _, one in some.groupby("sex")]
    assert result.document.selection.disparity.gap.value == pytest.approx(abs(shares[0] - shares[1]))


@pytest.mark.parametrize("options", [{"sizes": (0.6, 0.4, 0.0)}, {"sensitive": None}])
def test_an_exploratory_run_and_one_without_groups_have_none(options):
    assert audit_applicants(**{"search": "exact", "k": 2, **options}).document.selection.disparity is None


def test_a_model_that_decides_all_alike_has_none():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=200), "g": rng.choice(["a", "b"], 200), "y": 0})
    frame.loc[rng.choice(200, 12, replace=False), "y"] = 1
    document = audit(frame, "y", 1, "g", C=0.01, class_weight="none", **QUICK).document
    assert document.first.is_constant
    assert document.selection.disparity is None
    assert (document.selection.outcome, document.selection.answer) == ("none", "not proposed")
    assert document.selection.reasons == ("nothing_decided",)
    assert document.first.scores.selection.gap(METRIC).value == 0.0
