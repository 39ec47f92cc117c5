"""Audits that choose by another measure than accuracy."""

import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score
from support.audits import METRIC, applicants, audit_applicants, checked

from fairenum import AuditResult, select
from fairenum.document.audit_document import AuditDocument
from fairenum.render.html import to_html
from fairenum.report import choice_words, page
from fairenum.report.method_section import steps

NAMES = {"balanced_accuracy": "balanced accuracy", "auc": "AUC", "cost=4:1": "cost-weighted accuracy"}


@pytest.fixture(scope="module", params=list(NAMES))
def run(request) -> AuditResult:
    return audit_applicants(performance=request.param, baselines=True, max_performance_drop=0.03)


@pytest.fixture(scope="module")
def document(run: AuditResult) -> AuditDocument:
    return checked(run)


def test_performance_is_what_scikit_learn_measures(run, document):
    measure, label = document.config.performance, applicants()["hired"] == "y"
    for part in ("selection", "holdout"):
        rows = run.live.division.rows[part]
        truth, values = label.iloc[rows], run.live.listing.values[part]
        for model in document.models:
            decided, scores = values[model.rank - 1] >= 0.0, model.scores.of(part)
            expected = {
                "balanced_accuracy": balanced_accuracy_score(truth, decided),
                "auc": roc_auc_score(truth, values[model.rank - 1]),
                "cost=4:1": accuracy_score(truth, decided, sample_weight=1 + 3 * truth),
            }
            assert scores.performance.value == pytest.approx(expected[measure])
            assert scores.auc.value == pytest.approx(expected["auc"])
            assert scores.balanced_accuracy.value == pytest.approx(expected["balanced_accuracy"])
            change = scores.performance.change
            first = document.first.scores.of(part).performance.value
            assert change.value == pytest.approx(scores.performance.value - first, abs=1e-12)
            assert change.low <= change.value <= change.high


def test_the_choice_is_made_by_it(document):
    first = document.first.scores.selection.performance.value
    for model in document.models:
        is_within = model.scores.selection.performance.value >= first - 0.03 - 1e-12
        assert (model.rank in document.selection.candidates) == (is_within and not model.is_constant)
    chosen, selection = document.selected, document.selection
    assert chosen.rank > 1
    for own, shown in (("performance", selection.performance_change), ("accuracy", selection.accuracy_change)):
        together, alone = getattr(chosen.scores.holdout, own).change, shown.holdout
        assert alone.value == together.value
        # one model, not the best of all
        assert together.low - 1e-12 <= alone.low <= alone.value <= alone.high <= together.high + 1e-12
    assert selection.performance_change.holdout.low <= selection.performance_floor


def test_it_is_resolved_and_kept_when_choosing_again(run, document):
    assert document.requested.performance == document.config.performance == document.selection.tolerances.performance
    again = select(run, max_performance_drop=0.0).document.selection
    assert (again.tolerances.performance, again.tolerances.max_performance_drop) == (document.config.performance, 0.0)
    assert set(again.candidates) <= set(document.selection.candidates)
    first = document.first.scores.selection.performance.value
    for model in (document.models[rank - 1] for rank in again.candidates):
        prospect, own = model.prospect, model.scores.selection.performance.value - first
        change = prospect.performance_change if prospect and prospect.is_crossed else own
        assert change >= -1e-12


def test_other_methods_are_measured_by_it(document):
    for method in document.baselines:
        performance = method.scores.performance
        assert 0.0 < performance.low <= performance.value <= performance.high <= 1.0
        if document.config.performance == "auc" and not method.is_randomised:
            # they rank by their values, which tells more than their decisions would
            assert performance.value > document.first.scores.holdout.balanced_accuracy.value


def test_a_report_speaks_of_it(document):
    name = NAMES[document.config.performance]
    html, told = to_html(page(document)), " ".join(steps(document))
    assert f"{name} on the selection split" in html
    assert f"Loss of {name} on the selection split, at most" in html
    assert f"0.03 of {name} there" in told
    assert "accuracy there" not in told.replace(name, "")
    assert name in choice_words.reason(document)
    table = next(part for part in page(document).sections if part.anchor == "choice").blocks[0]
    shown = [row[0] for row in table.rows]
    assert {"accuracy", "balanced accuracy", "AUC", name} <= set(shown)
    assert len(shown) == len(set(shown))


def test_what_is_not_asked_for_is_accuracy():
    found = checked(audit_applicants(search="exact"))
    assert (found.requested.performance, found.config.performance) == ("auto", "accuracy")
    assert all(model.scores.holdout.performance == model.scores.holdout.accuracy for model in found.models)
    assert found.selection.tolerances.metric == METRIC
