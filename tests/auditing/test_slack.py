"""Models are measured from the model in use where that is weaker than model 1."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.audits import METRIC, checked, codes
from support.tables_in_use import HIRED, hiring

from fairenum import AuditResult, Exploration, audit
from fairenum.auditing.auto_options import widened_eps
from fairenum.auditing.preparing import config_of
from fairenum.document.audit_document import AuditDocument
from fairenum.document.training import REACH
from fairenum.errors import ConfigError
from fairenum.render.markdown import to_markdown
from fairenum.report import page

QUICK = {"k": 5, "replications": 50, "price_rows": 20, "explanation": False}
SHARE = st.floats(0.0, 1.0)


@pytest.fixture(scope="module")
def weak() -> AuditResult:
    return audit(hiring("one column"), **HIRED, **QUICK)


@pytest.fixture(scope="module")
def strict() -> AuditResult:
    return audit(hiring("one column"), **HIRED, **QUICK, eps=0.05)


@pytest.mark.parametrize(
    ("best", "used", "drop", "eps"),
    [
        (0.7, 0.7, 0.01, 0.1),
        (0.72, 0.71, 0.01, 0.1),
        (0.7, 0.8, 0.01, 0.1),
        (0.7, 0.6, 0.01, 0.47),  # 1.1 * 0.4 / 0.3 - 1
        (0.9, 0.8, 0.01, 1.0),  # twice the mistakes, and the largest there is
        (1.0, 0.9, 0.01, 1.0),
        (math.nan, 0.6, 0.01, 0.1),
        (0.7, math.nan, 0.01, 0.1),
    ],
)
def test_the_loss_grows_as_the_mistakes_of_the_model_in_use(best, used, drop, eps):
    assert widened_eps(best, used, drop) == pytest.approx(eps)


@given(SHARE, SHARE, SHARE, SHARE)
def test_a_weaker_model_in_use_allows_no_less(best, used, weaker, drop):
    low, high = sorted((used, weaker))
    assert REACH <= widened_eps(best, high, drop) <= widened_eps(best, low, drop) <= 1.0


def test_a_run_is_measured_from_the_model_in_use(weak):
    document = checked(weak)
    used, first = (one.scores.selection.performance.value for one in (document.incumbent, document.first))
    assert first - used > 0.1
    assert document.requested.eps == "auto"
    assert document.config.eps == pytest.approx(1.1 * (1.0 - used) / (1.0 - first) - 1.0, abs=0.005 + 1e-12)
    assert document.selection.tolerances.eps == document.config.eps
    assert document.tilted.rise == document.config.eps


def test_the_slack_makes_a_smaller_gap(weak, strict):
    assert least_gap(weak.document) < 0.7 * least_gap(strict.document)
    chosen = weak.document.selected
    used = weak.document.incumbent.scores.selection.performance.value
    assert chosen.scores.selection.performance.value >= used - 0.01 - 1e-12


def least_gap(document: AuditDocument) -> float:
    """Return the smallest gap of all candidates, likely to be confirmed or not."""
    return min(document.models[rank - 1].scores.selection.gap(METRIC).value for rank in document.selection.candidates)


def test_what_is_proven_of_near_optimal_models_is_still_about_5_percent(weak, strict):
    assert weak.document.ambiguity.eps == strict.document.ambiguity.eps == weak.document.near_optimal == 0.05
    assert weak.document.ambiguity.overall.ambiguity == strict.document.ambiguity.overall.ambiguity
    assert weak.explain({"skill": 0.0, "years": 0.0, "proxy": 0.0}).flip_price.eps == 0.05


def test_the_report_says_what_may_be_lost_and_why(weak, strict):
    document = weak.document
    used, first = (one.scores.selection.performance.value for one in (document.incumbent, document.first))
    shown = to_markdown(page(document))
    assert f"The loss may rise by {100 * document.config.eps:g} % instead of 10 %" in shown
    assert f"accuracy {used:.3f} against {first:.3f}" in shown
    assert "weak_incumbent" in codes(document)
    assert "weak_incumbent" not in codes(strict.document)
    assert (strict.document.config.eps, strict.document.requested.eps) == (0.05, 0.05)


def test_with_a_model_in_use_as_good_as_model_1_nothing_changes():
    frame = hiring("good")
    document, asked = (audit(frame, **HIRED, **QUICK, **eps).document for eps in ({}, {"eps": 0.1}))
    assert document.config == asked.config
    assert document.models == asked.models


def test_compared_with_model_1_nothing_changes():
    document = audit(hiring("one column"), **HIRED, **QUICK, against="best", search="exact").document
    assert document.config.eps == 0.1


def test_a_saved_run_is_audited_again_with_the_same_eps(weak):
    config = config_of(weak.document)
    assert config.eps == "auto"
    again = audit(hiring("one column"), *list(HIRED.values())[:3], config=config).document
    assert again.config.eps == weak.document.config.eps
    assert again.models == weak.document.models


def test_an_exploration_has_the_same_slack_until_told_otherwise(weak):
    exploration = Exploration(hiring("one column"), **HIRED)
    assert exploration.view.standpoint.tolerances.eps == weak.document.config.eps
    assert exploration.person(0).flip_price.eps == 0.05
    exploration.tolerate(eps=0.1)
    assert exploration.person(0).flip_price.eps == 0.1
    document = exploration.commit(1, "because", "me").document
    assert (document.config.eps, document.requested.eps, document.near_optimal) == (0.1, 0.1, 0.1)


def test_no_other_word_is_taken():
    with pytest.raises(ConfigError, match="'eps' must be a number of at least 0 and at most 1 or auto, not 'much'"):
        audit(hiring("good"), **HIRED, eps="much")
