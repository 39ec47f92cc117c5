"""Equal selection rates by default, and models whose rates are too far apart to be compared."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from support.audits import METRIC, audit_exactly, checked, codes, people
from support.decisions import audited, table
from support.tables_in_use import LENT, lending

from fairenum import AuditResult, Exploration, audit, select
from fairenum.auditing.auto_options import resolved_rule
from fairenum.auditing.choosing import candidate_standing, rate_difference
from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import Incomparable
from fairenum.document.guards import DEFAULT_GUARDS
from fairenum.document.training import Decide, SvmSettings, Tolerances
from fairenum.errors import ConfigError
from fairenum.metrics.guardrails import Measured, Subject
from fairenum.render.markdown import to_markdown
from fairenum.report import page
from fairenum.report.choice_words import next_step, reason
from fairenum.report.headline import headline

VENDOR = {**LENT, "incumbent_score": "vendor", "incumbent_cutoff": "rate=0.92", "performance": "balanced_accuracy"}
QUICK = {"k": 5, "replications": 50, "prices": False, "explanation": False}


@pytest.fixture(scope="module")
def borrowers() -> pd.DataFrame:
    return lending()


@pytest.fixture(scope="module")
def at_sign(borrowers) -> AuditResult:
    return audit(borrowers, **VENDOR, **QUICK, decide="sign")


@pytest.fixture(scope="module")
def at_equal_rates(borrowers) -> AuditResult:
    return audit(borrowers, **VENDOR, **QUICK)


def decided(result: AuditResult, part: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the decisions of the model in use, those of all models, and who is Black, on a split."""
    live = result.live
    rows, groups = live.division.rows[part], live.division.dataset.sensitive[0]
    is_black = groups.codes[rows] == groups.names.index("Black")
    return live.incumbent.bits[rows] > 0, live.listing.values[part] >= 0.0, is_black


def test_at_rates_of_their_own_models_are_not_comparable(at_sign):
    document, (used, models, _) = checked(at_sign), decided(at_sign, "selection")
    rates = models.mean(1)
    closest = rates[np.abs(rates - used.mean()).argmin()]
    found = document.selection.incomparable
    rates = Incomparable("selection_rate", pytest.approx(used.mean()), pytest.approx(closest), pytest.approx(0.1))
    assert found == (rates,)
    assert abs(closest - used.mean()) > 0.1
    assert (document.selection.outcome, document.selection.reason) == ("kept", "no_other_candidate")


def test_what_is_not_comparable_is_never_called_less_fair(at_sign):
    document = at_sign.document
    assert headline(document).startswith(
        "Not comparable: this search says nothing about the model in use (vendor): it selects 91.7 % of the selection "
    )
    assert "no model can be compared with the model in use" in reason(document)
    assert "--decide like-incumbent" in " ".join(next_step(document))
    for shown in (to_markdown(page(document)), reason(document), headline(document)):
        assert "was found to be fairer" not in shown


def test_without_the_guardrail_rates_rule_nothing_out(at_sign, tmp_path):
    at_sign.save(tmp_path / "run.json")
    loaded = AuditResult.load(tmp_path / "run.json")
    assert select(loaded).document.selection.incomparable == at_sign.document.selection.incomparable
    free = select(loaded, guards="none").document.selection
    assert (free.incomparable, free.outcome) == ((), "selected")
    assert select(loaded, rank=1).document.selection.incomparable == ()


def test_by_default_models_select_as_many_as_the_model_in_use(at_equal_rates, borrowers):
    document = checked(at_equal_rates)
    used, models, _ = decided(at_equal_rates, "selection")
    assert models.mean(1) == pytest.approx([used.mean()] * len(models), abs=1.0 / used.size)
    assert (document.requested.decide, document.deciding_rule) == ("auto", "like-incumbent")
    assert document.config.rate == used.mean()
    assert "incumbent_rate" not in codes(document)
    asked = audit(borrowers, **VENDOR, **QUICK, decide="like-incumbent").document
    assert document.but(timings={}, requested=asked.requested) == asked.but(timings={})
    words = f"very model selects as many as the model in use: {100 * used.mean():.3g} of 100"
    assert words in to_markdown(page(document))


def test_at_equal_rates_a_fairer_model_is_found(at_equal_rates):
    used, models, is_black = decided(at_equal_rates, "holdout")
    selection = at_equal_rates.document.selection
    chosen = models[selection.rank - 1]
    before, after = (abs(one[is_black].mean() - one[~is_black].mean()) for one in (used, chosen))
    assert (selection.outcome, selection.incomparable, selection.is_fairer) == ("selected", (), True)
    assert selection.strip[0].first.value == pytest.approx(before, abs=1e-12)
    assert selection.strip[0].selected.value == pytest.approx(after, abs=1e-12)
    assert after < 0.5 * before
    assert selection.performance_change.holdout.value > 0.0


def test_an_exploration_cuts_models_as_an_audit_does(at_equal_rates, borrowers):
    exploration = Exploration(borrowers, *LENT.values(), incumbent_score="vendor", incumbent_cutoff="rate=0.92")
    first = exploration.view.models[0]
    assert first.cut == pytest.approx(at_equal_rates.document.first.cut, abs=1e-9)
    assert first.scores.selection_rate.value == pytest.approx(at_equal_rates.document.config.rate, abs=1e-3)


def test_label_flips_are_simulated_at_the_sign_and_the_page_says_so():
    run = audited(table(), incumbent="hired")
    few = {"strategies": "random", "flips": 5, "trials": 2, "sizes": (60, 0, 60)}
    shown = to_markdown(page(run.attacked(**few).document))
    assert "simulated on models that decide by the sign" in shown
    with pytest.raises(ConfigError, match="leave out decide='base-rate'"):
        audited(table(), incumbent="hired", decide="base-rate").attacked(**few)


def test_compared_with_model_1_models_decide_by_the_sign():
    document = audited(table(), incumbent="hired", against="best").document
    assert (document.config.decide, document.deciding_rule) == ("sign", "sign")


def test_a_model_in_use_that_decides_all_alike_cannot_be_imitated():
    everybody = table().assign(hired="yes")
    document = audited(everybody, incumbent="hired").document
    assert (document.config.decide, document.deciding_rule) == ("sign", "sign")
    with pytest.raises(ConfigError, match="it selects 100% of the selection split"):
        audited(everybody, incumbent="hired", decide="like-incumbent")


@pytest.mark.parametrize(
    ("share", "weight", "rule"),
    [
        (0.19, "none", "rate=0.19"),
        (0.81, "none", "rate=0.81"),
        (0.2, "none", "sign"),
        (0.8, "none", "sign"),
        (0.5, "none", "sign"),
        (0.19, "balanced", "sign"),
        (0.19, (4.0, 1.0), "sign"),
    ],
)
def test_a_rare_label_without_weights_is_selected_as_often_as_it_occurs(share, weight, rule):
    train = SimpleNamespace(labels=(np.arange(100) < round(100 * share)).astype(np.uint8), weights=None)
    svm = SvmSettings(class_weight=weight)
    assert str(resolved_rule(AuditConfig(), svm, train)) == rule
    assert resolved_rule(AuditConfig(decide="threshold=0.3"), svm, train) == Decide("threshold", 0.3)


def test_rows_count_what_they_weigh_where_a_label_is_rare():
    train = SimpleNamespace(labels=np.array([1, 0], dtype=np.uint8), weights=np.array([0.2, 1.8]))
    assert str(resolved_rule(AuditConfig(), SvmSettings(), train)) == "rate=0.1"


def test_an_audit_of_a_rare_label_says_where_models_are_cut():
    frame = people(900)
    rng = np.random.default_rng(0)
    score = frame["skill"] + 0.6 * frame["proxy"] + 0.5 * rng.normal(size=900)
    frame["hired"] = np.where(score > np.quantile(score, 0.85), "yes", "no")
    result = audit_exactly(frame)
    document = checked(result)
    assert document.config.svm.class_weight == "none"
    assert (document.requested.decide, document.deciding_rule) == ("auto", "base-rate")
    assert document.config.rate == result.live.division.train.labels.mean()
    assert "the share of favourable labels in training" in to_markdown(page(document))


def coarse() -> pd.DataFrame:
    """Two features of two values each, and decisions in use that select 60 of 100."""
    rng = np.random.default_rng(3)
    sex = rng.choice(["f", "m"], 1200)
    first, second = rng.random(1200) < 0.9, rng.random(1200) < 0.95
    good = rng.random(1200) < 0.35 + 0.4 * first
    points = first + 0.5 * (sex == "m") + rng.normal(size=1200)
    used = np.where(points > np.quantile(points, 0.4), "yes", "no")
    return pd.DataFrame(
        {"first": first, "second": second, "sex": sex, "good": np.where(good, "yes", "no"), "used": used}
    )


def test_models_that_decide_all_rows_alike_do_not_hide_that_none_is_comparable():
    rng = np.random.default_rng(3)
    sex, points = rng.choice(["f", "m"], 1200), rng.normal(size=1200)
    used = points + 0.5 * (sex == "m")
    frame = pd.DataFrame(
        {
            "sex": sex,
            "first": rng.random(1200) < 0.6,
            "good": np.where(rng.random(1200) < 0.7, "yes", "no"),
            "used": np.where(used > np.quantile(used, 0.15), "yes", "no"),
        }
    )
    plan = {"label": "good", "favourable": "yes", "sensitive": "sex", "incumbent": "used", "C": 1.0}
    document = audit(frame, **plan, **QUICK, search="exact").document
    assert {model.scores.selection.selection_rate.value for model in document.models} == {1.0}
    assert (document.selection.outcome, document.selection.answer) == ("kept", "not comparable")
    assert headline(document).startswith("Not comparable")
    assert "of the selection split, and every model decides all rows alike" in headline(document)


def test_ties_are_said_to_keep_models_from_selecting_as_many():
    document = audited(coarse().assign(points=0, rival=0), incumbent="used").document
    rates = [100 * model.scores.selection.selection_rate.value for model in document.models]
    used = 100 * document.config.rate
    assert max(abs(rate - used) for rate in rates) > 0.5
    least, most = min(rates), max(rates)
    shares = f"{least:.3g} to {most:.3g}" if most > least else f"{least:.3g}"
    words = f"as many as the model in use ({used:.3g} of 100), as nearly as ties allow: {shares} of 100"
    assert words in to_markdown(page(document))


def scores(rng: np.random.Generator, models: int) -> Measured:
    values = {
        Subject("selection_rate"): rng.choice([0.3, 0.5, 0.55, 0.7], models),
        Subject("performance"): rng.choice([0.6, 0.7], models),
        Subject(METRIC, "sex"): rng.choice([0.1, 0.2, np.nan], models, p=[0.5, 0.4, 0.1]),
        Subject("equal_opportunity_difference", "sex"): rng.choice([0.1, 0.3], models, p=[0.8, 0.2]),
        Subject("selection_rate", "sex", "man"): rng.choice([0.4, 0.6], models),
    }
    return Measured(values, "sex", METRIC, rng.random(models) < 0.1, {})


def by_hand(models: Measured, used: Measured, *, is_in_use: bool) -> Incomparable | None:
    """Return what `rate_difference` should, by looking at one model after the other, if there is no candidate."""

    def of(one: Measured, place: int) -> dict[str, float]:
        return {f"{key.measure}{key.group or ''}": float(value[place]) for key, value in one.values.items()}

    first, apart, suitable, others = of(used, 0), [], False, 0
    places = range(0 if is_in_use else 1, len(models.is_constant))
    if used.is_constant[0]:
        return None
    if places and all(models.is_constant[place] for place in places):
        distance = min(abs(of(models, place)["selection_rate"] - first["selection_rate"]) for place in places)
        return Incomparable("selection_rate", first["selection_rate"], distance, 0.1)
    for place in places:
        one = of(models, place)
        if models.is_constant[place]:
            continue
        others += 1
        is_near = used.is_constant[0] or abs(one["selection_rate"] - first["selection_rate"]) <= 0.1 + 1e-12
        is_fine = one["performance"] >= first["performance"] - 0.01 and not np.isnan(one[METRIC])
        is_fine &= bool(used.is_constant[0]) or (
            one["equal_opportunity_difference"] <= first["equal_opportunity_difference"] + 0.05
        )
        is_kept = used.is_constant[0] or one["selection_rateman"] >= first["selection_rateman"] - 0.1
        if is_fine and is_near and is_kept:
            return None  # a candidate
        if not is_near:
            apart.append(abs(one["selection_rate"] - first["selection_rate"]))
            suitable |= is_fine
    if not apart or not (suitable or len(apart) == others):
        return None
    distance = min(apart)
    return Incomparable("selection_rate", first["selection_rate"], distance, 0.1)


@pytest.mark.parametrize("is_in_use", [True, False])
def test_rates_rule_out_all_models_as_found_by_hand(is_in_use):
    rng, tolerances, seen = np.random.default_rng(0), Tolerances(guards=DEFAULT_GUARDS), set()
    for _ in range(400):
        models = scores(rng, int(rng.integers(1, 4)))
        used = scores(rng, 1) if is_in_use else models.first
        losses = np.zeros(len(models.is_constant))
        standing = candidate_standing(models, used, losses, tolerances, is_in_use=is_in_use)
        candidates = set(np.flatnonzero(standing.candidates(tolerances))) - ({0} if not is_in_use else set())
        found = None if candidates else rate_difference(standing, models, used, tolerances)
        expected = by_hand(models, used, is_in_use=is_in_use)
        seen.add(expected is None)
        assert (found is None) == (expected is None)
        if found and expected:
            assert abs(found.closest - found.reference) == pytest.approx(expected.closest)
            assert (found.reference, found.limit) == (expected.reference, pytest.approx(0.1))
    assert seen == {True, False}
