"""Audits at an operating point: every model selects the same share, and the holdout has no part in where it is cut."""

import numpy as np
import pandas as pd
import pytest
from support.audits import METRIC, applicants, audit_applicants, audit_exactly, checked, codes, people

from fairenum import AuditResult, audit, select
from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import caution_texts
from fairenum.report import audit_report, page
from fairenum.report.method_section import steps


@pytest.fixture(scope="module")
def cut_run() -> AuditResult:
    return audit_applicants(decide="rate=0.7", baselines=True, max_performance_drop=0.05)


@pytest.fixture(scope="module")
def cut(cut_run: AuditResult) -> AuditDocument:
    return checked(cut_run)


def selected_share(document: AuditDocument) -> list[float]:
    return [model.scores.selection.selection_rate.value for model in document.models]


def test_every_model_selects_the_share_however_it_was_found(cut):
    assert {model.origin for model in cut.models} == {"exact", "guided", "tilted"}
    assert selected_share(cut) == pytest.approx([0.7] * len(cut.models), abs=0.5 / 400)
    assert len({model.cut for model in cut.models}) == len(cut.models)
    holdout = [model.scores.holdout.selection_rate.value for model in cut.models]
    assert holdout == pytest.approx([0.7] * len(holdout), abs=0.06)


def test_what_is_shown_is_decided_at_the_cut(cut_run, cut):
    division, listing = cut_run.live.division, cut_run.live.listing
    for place, model in enumerate(cut.models):
        for part in ("selection", "holdout"):
            rows = division.part(part)
            raw = listing.models[place].decision_function(rows.X)
            decided = raw >= model.cut
            np.testing.assert_array_equal(listing.values[part][place] >= 0.0, decided)
            scores = model.scores.of(part)
            assert scores.accuracy.value == pytest.approx((decided == rows.labels).mean())
            assert scores.hinge_loss.value == pytest.approx(np.maximum(0.0, 1.0 - rows.y * raw).mean())
            assert scores.gap(METRIC).value == pytest.approx(rows.gaps(decided[None] - 0.5, METRIC)[0])
        assert model.undetermined.holdout == 0


def test_models_are_told_apart_by_what_they_decide_at_their_cuts(cut_run):
    values = np.hstack([cut_run.live.listing.values[part] >= 0.0 for part in ("selection", "holdout")])
    assert len(np.unique(values, axis=0)) == len(values)


def test_an_exported_model_decides_at_its_cut(cut_run):
    frame, live = applicants(), cut_run.live
    rows = live.division.rows["holdout"]
    for rank in (1, len(cut_run.document.models)):
        decided = cut_run.estimator(rank).predict(frame.iloc[rows]) == "y"
        np.testing.assert_array_equal(decided, live.listing.values["holdout"][rank - 1] >= 0.0)


def test_other_methods_are_cut_too_or_say_why_not(cut):
    methods = {method.name: method for method in cut.baselines}
    refused = methods.pop("threshold_optimizer")
    assert refused.error == "it sets thresholds of its own, so it cannot be cut where models are"
    for method in methods.values():
        assert not method.is_randomised
        assert method.scores.selection_rate.value == pytest.approx(0.7, abs=0.06)


def test_an_explanation_is_about_what_is_decided_at_the_cut(cut_run, cut):
    first = cut.first.scores.selection.gap(METRIC).value
    guided = [one for one in cut.models if one.left_out and one.scores.selection.gap(METRIC).value < first - 0.02]
    document = select(cut_run, rank=guided[0].rank).document
    core, chosen = document.explanation.core, document.selected.scores.selection.gap(METRIC).value
    assert document.selected.rank == guided[0].rank
    assert first - core.gap.selection == pytest.approx(core.share_of_gain * (first - chosen))


def test_the_holdout_has_no_part_in_the_cut():
    frame, options = people(), {"decide": "rate=0.35", "distinct": "support"}
    first = audit_exactly(frame, **options)
    rows, rng = first.live.division.rows["holdout"], np.random.default_rng(0)
    shuffled = frame.copy()
    columns = ["skill", "proxy", "town"]
    shuffled.loc[rows, columns] = frame.loc[rng.permutation(rows), columns].to_numpy()
    second = audit_exactly(shuffled, **options)
    for one, other in zip(first.document.models, second.document.models, strict=True):
        assert (one.cut, one.tied) == (other.cut, other.tied)
        assert one.scores.selection == other.scores.selection
    assert any(
        one.scores.holdout != other.scores.holdout
        for one, other in zip(first.document.models, second.document.models, strict=True)
    )


def test_the_sign_is_the_default_and_cuts_nothing():
    plain, asked = (audit_exactly(people(), **options).document for options in ({}, {"decide": "sign"}))
    assert (plain.requested.decide, plain.config.decide, plain.deciding_rule) == ("auto", "sign", "sign")
    assert plain.but(timings={}, requested=asked.requested) == asked.but(timings={})
    assert {model.cut for model in plain.models} == {0.0}
    zero = audit_exactly(people(), decide="threshold=0").document
    assert zero.models == plain.models


def test_a_threshold_is_the_same_for_all_models():
    document = checked(audit_exactly(people(), decide="threshold=0.4"))
    assert {model.cut for model in document.models} == {0.4}
    assert "every model is cut at a decision value of 0.4" in audit_report.subject(document)


def test_the_base_rate_is_that_of_the_training_rows():
    result = audit_exactly(people(), decide="base-rate")
    document = checked(result)
    share = result.live.division.train.labels.mean()
    assert (document.requested.decide, document.config.rate) == ("base-rate", share)
    again = audit_exactly(people(), decide=document.config.decide).document
    assert again.models == document.models
    assert "the share of favourable labels in training" in " ".join(steps(document))


def test_a_report_says_in_a_sentence_where_models_are_cut(cut):
    sentence = "very model selects 70.0 % of the selection split"
    shown = page(cut)
    assert sentence in shown.subject
    assert any(sentence in step for step in steps(cut))
    plain = audit_exactly(people()).document
    assert sentence not in page(plain).subject
    assert not any(sentence in step for step in steps(plain))


def test_ties_are_decided_alike_counted_and_said():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"a": rng.integers(0, 3, 600), "b": rng.integers(0, 2, 600), "sex": rng.choice(["f", "m"], 600)}
    )
    frame["y"] = np.where(frame["a"] + frame["b"] + rng.normal(size=600) > 1.5, "good", "bad")
    document = checked(audit(frame, "y", "good", "sex", k=4, replications=50, search="exact", decide="rate=0.6"))
    first = document.first
    assert first.tied > 10
    missed = abs(first.scores.selection.selection_rate.value - 0.6)
    assert missed <= first.tied / document.dataset.splits.selection
    assert "missed_rate" in codes(document)
    told = next(text for text in caution_texts(document) if text.startswith("model 1 selects"))
    assert told.endswith(f"instead of 60.0 %: {first.tied} of its rows are tied at the cut")


def test_of_a_table_without_a_signal_no_model_that_decides_all_alike_is_chosen():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 2, 300), "sex": rng.choice(["f", "m"], 300)})
    frame["y"] = np.where(np.arange(300) % 10 == 0, "bad", "good")
    document = checked(audit(frame, "y", "good", "sex", k=3, replications=50, decide="base-rate"))
    assert all(0.0 <= share <= 1.0 for share in selected_share(document))
    chosen = document.selected
    assert chosen is None or not chosen.is_constant
