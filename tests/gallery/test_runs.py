"""The runs of the gallery come out as they did, as far as they can be made again in seconds."""

from pathlib import Path

import pytest

from fairenum import audit, load_dataset, measure
from fairenum.attack import simulate
from fairenum.document.attack_document import AttackDocument
from fairenum.document.audit_document import AuditDocument
from fairenum.document.files import load_as
from fairenum.document.measure_document import MeasureDocument
from fairenum.document.research_documents import Count, MitigationDocument, ReproductionDocument
from fairenum.research.injected_draws import run_draw
from fairenum.research.mitigation_study import CASES, run_trial, summary
from fairenum.research.paper_splits import run_split
from fairenum.research.reproduction import claims, draw_variants, split_variants

REPORTS = Path(__file__).parents[2] / "reports"
STALE = "stale: run `make gallery`"


@pytest.fixture(scope="module")
def paper():
    return load_as(ReproductionDocument, REPORTS / "paper.json")


@pytest.mark.parametrize("name", ["compas", "german", pytest.param("adult", marks=pytest.mark.slow)])
def test_audits(name):
    saved = load_as(AuditDocument, REPORTS / f"{name}.json")
    again = audit(name, sizes=saved.config.sizes).document
    metric = saved.config.metric
    assert again.config == saved.config, STALE
    assert again.selection.rank == saved.selection.rank, STALE
    assert again.ambiguity.overall.flipped == saved.ambiguity.overall.flipped, STALE
    for now, then in zip(again.models, saved.models, strict=True):
        assert (now.origin, now.left_out) == (then.origin, then.left_out), STALE
        assert now.loss_ratio == pytest.approx(then.loss_ratio, rel=1e-9, abs=1e-12), STALE
        if then.objective_ratio is not None:  # a tilted model has none
            assert now.objective_ratio == pytest.approx(then.objective_ratio, rel=1e-9), STALE
        for name in ("accuracy", metric):
            gone, found = (model.scores.holdout.measure(name).value for model in (then, now))
            assert found == pytest.approx(gone, rel=1e-9), STALE


def test_the_measurement():
    saved = load_as(MeasureDocument, REPORTS / "measured.json")
    sensitive, told = saved.dataset.sensitive_columns, {"label": saved.dataset.label, "favourable": "0"}
    options = {"decision_favourable": "0", "data_source": saved.config.data_source}
    again = measure("compas", "score_factor", sensitive, **told, **options).document
    assert again.config == saved.config, STALE
    assert again.dataset == saved.dataset, STALE
    assert again.decisions == saved.decisions, STALE


@pytest.mark.parametrize(("name", "trials"), [("injection", 3), ("defences", 1)])  # three attacks, eight defences each
def test_first_trials_of_attacks(name, trials):
    saved = load_as(AttackDocument, REPORTS / f"{name}.json")
    assert trials < len(saved.trials) == saved.attack.config.trials
    fresh = simulate(load_dataset("compas", use_sensitive=True, incumbent="none"), saved.attack.config, trials=trials)
    assert fresh.records == saved.trials[:trials], STALE


def test_first_split_and_summary_of_mitigations():
    saved = load_as(MitigationDocument, REPORTS / "mitigation.json")
    assert tuple(one.case for one in saved.cases) == CASES, STALE
    assert summary(saved.trials) == saved.cases, STALE
    first, again = saved.trials[0], run_trial(CASES[0], 0)
    assert [one.method for one in again.scores] == [one.method for one in first.scores], STALE
    for now, then in zip(again.scores, first.scores, strict=True):
        assert (now.accuracy, now.gap) == pytest.approx((then.accuracy, then.gap), abs=1e-9), STALE
    assert (again.left_out, again.errors) == (first.left_out, first.errors), STALE


def test_claims_of_the_reproduction(paper):
    for now, then in zip(claims(paper.tables, paper.injection), paper.claims, strict=True):
        assert (now.name, now.verdict) == (then.name, then.verdict), STALE
        assert_counted_alike(now, then)
        for part, before in zip(now.parts, then.parts, strict=True):
            assert (part.experiment, part.variant) == (before.experiment, before.variant), STALE
            assert_counted_alike(part, before)


def assert_counted_alike(now: Count, then: Count) -> None:
    assert (now.true, now.trials) == (then.true, then.trials), STALE
    limits = (now.share.value, now.share.low, now.share.high)
    # another scipy, another last digit
    assert limits == pytest.approx((then.share.value, then.share.low, then.share.high), rel=1e-9), STALE


def test_first_draw_and_split_of_the_reproduction(paper):
    seed = paper.plan.seed
    draws, splits = draw_variants([run_draw(seed, False)]), split_variants([run_split("sonar", seed)])
    pairs = [(draws[name].draws[0], found.draws[0]) for name, found in paper.injection.variants.items()]
    pairs += [(splits[name].splits[0], found.splits[0]) for name, found in paper.tables["sonar"].variants.items()]
    for now, then in pairs:
        for field in set(type(now).__struct_fields__) - {"growth"}:  # the clock decides that one
            assert getattr(now, field) == pytest.approx(getattr(then, field), rel=1e-5, abs=1e-12), STALE
