"""Audits and explorations of a model in use that no listed model performs nearly as well as."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from support.audits import METRIC, checked

from fairenum import AuditResult, Exploration, audit, select
from fairenum.auditing.choosing import candidate_standing, performance_difference
from fairenum.document.choice import Incomparable
from fairenum.document.files import parse, to_json
from fairenum.document.training import Tolerances
from fairenum.metrics.guardrails import Measured, Subject
from fairenum.render.markdown import to_markdown
from fairenum.report import exploration_words, page
from fairenum.report.choice_words import next_step, reason
from fairenum.report.headline import headline
from fairenum.report.memo import none_exists
from fairenum.report.rules import judge_all, parse_rules, to_junit

PLAN = {"label": "good", "favourable": "yes", "sensitive": "sex", "incumbent_score": "points", "incumbent_cutoff": 0.2}
QUICK = {"k": 5, "replications": 50, "prices": False, "explanation": False}


def crossed(rows: int = 1200) -> pd.DataFrame:
    """A label that depends on a product of two columns, which the score in use knows and no linear model does."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], rows)
    first, second = rng.normal(size=rows) + 0.4 * (sex == "m"), rng.normal(size=rows)
    worth = first * second + 0.3 * first
    good = worth + 0.5 * rng.normal(size=rows) > 0.0
    points = worth + 0.6 * (sex == "m") + 0.4 * rng.normal(size=rows)
    return pd.DataFrame(
        {"first": first, "second": second, "sex": sex, "good": np.where(good, "yes", "no"), "points": points}
    )


@pytest.fixture(scope="module")
def run() -> AuditResult:
    return audit(crossed(), **PLAN, **QUICK)


def right(result: AuditResult) -> tuple[float, np.ndarray]:
    """Return the accuracy, on the selection split, of the model in use and of every listed model that decides."""
    live = result.live
    rows = live.division.rows["selection"]
    label = live.division.selection.labels > 0
    models = live.listing.values["selection"] >= 0.0
    decides = models.any(1) & ~models.all(1)
    return float(((live.incumbent.bits[rows] > 0) == label).mean()), (models[decides] == label).mean(1)


def test_by_how_much_the_nearest_model_misses_is_found_by_hand(run):
    document = checked(run)
    used, models = right(run)
    assert used - models.max() > 0.01
    assert document.selection.incomparable == (
        Incomparable("performance", pytest.approx(used), pytest.approx(models.max()), 0.01),
    )
    assert (document.selection.answer, document.selection.reasons) == ("not comparable", ("performance_not_reached",))
    assert document.selection.candidates == ()


def test_every_medium_says_that_nothing_is_known_and_none_that_it_was_kept(run):
    document, (used, models) = run.document, right(run)
    apart = f"an accuracy of {used:.3f} on the selection split, the model that comes closest {models.max():.3f}"
    says = "this search says nothing about the model in use (points): it reaches"
    assert headline(document).startswith(f"Not comparable: {says} {apart}")
    assert reason(document).startswith(f"no model can be compared with the model in use: it reaches {apart}")
    assert none_exists(document).startswith(f"T{says[1:]} {apart}")
    rules = parse_rules(["selected:accuracy>=0.5"])
    brief = page(document, rules=rules, brief=True)
    junit = to_junit(brief, judge_all(document, rules), is_partial=False)
    shown = [to_markdown(page(document, profile=profile)) for profile in (None, "lda")]
    for text in (*shown, to_markdown(brief), junit):
        assert "this search says nothing about the model in use" in text
        assert not re.search(
            r"was found to be fairer|model in use,? (which )?is kept|kept the model in use|, kept", text
        )
    assert "none could be compared with the model in use" in junit
    assert "Nothing was found that can be compared with the model in use" in shown[1]


def test_what_to_try_is_named_with_the_tolerance_that_is_wide_enough(run):
    used, models = right(run)
    (found,), looser = run.document.selection.incomparable, run.document.selection.looser
    words = " ".join(next_step(run.document))
    assert f"`fairenum select RUN {looser.options}`" in words
    changes = {"max_performance_drop": looser.max_performance_drop or 0.01}
    again = select(run, **changes, **({"guards": "none"} if looser.is_unguarded else {})).document.selection
    assert again.outcome == "selected"
    alone = [{"guards": "none"}, {"max_performance_drop": found.wider_limit}]
    if looser.is_unguarded and looser.max_performance_drop:
        assert {select(run, **one).document.selection.outcome for one in alone} == {"kept"}
    assert 0.0 <= found.wider_limit - (used - models.max()) < 0.005
    assert "`--features additive`" in words
    assert "`--around incumbent`" in words
    decided = run.document.incumbent.but(has_score=False)
    assert "--around" not in " ".join(next_step(run.document.but(incumbent=decided)))


def test_a_wider_tolerance_makes_it_comparable_and_a_step_less_does_not(run):
    (found,) = run.document.selection.incomparable
    free = select(run, max_performance_drop=found.wider_limit, guards="none").document.selection
    assert (free.incomparable, bool(free.candidates)) == ((), True)
    assert free.answer != "not comparable"
    strict = select(run, max_performance_drop=found.wider_limit - 0.005).document.selection
    limit = strict.tolerances.max_performance_drop
    assert strict.incomparable == (found.but(limit=limit),)
    again = select(run, max_performance_drop=0.01).document.selection
    assert (again.incomparable, again.answer) == ((found,), "not comparable")


def test_a_model_that_is_asked_for_is_judged_and_compared_with_model_1_nothing_is_out_of_reach(run):
    asked = select(run, rank=1).document
    assert asked.selection.incomparable == ()
    assert asked.selection.answer in ("candidate", "not proposed")
    best = audit(crossed(), **PLAN, **QUICK, against="best").document.selection
    assert best.incomparable == ()


def test_both_differences_are_told_together(run):
    rates = Incomparable("selection_rate", 0.5, 0.7, 0.1)
    both = run.document.selection.but(incomparable=(rates, *run.document.selection.incomparable))
    words = headline(run.document.but(selection=both))
    assert "it selects 50.0 % of the selection split" in words
    assert "; it reaches an accuracy of" in words


def test_without_rows_of_its_own_nothing_is_comparable_either():
    document = audit(crossed(600), **PLAN, **QUICK, sizes=(0.6, 0.4, 0.0)).document
    assert document.is_exploratory
    assert document.selection.answer == "not comparable"


def test_an_exploration_says_so_too():
    exploration = Exploration(crossed(), **PLAN, sizes=(0.4, 0.3, 0.3), replications=50)
    (found,) = exploration.view.standpoint.incomparable
    assert exploration_words.headline(exploration.view) == "No model so far can be compared with the model in use"
    assert any(
        one.startswith("Nothing is known yet about the model in use: it reaches an accuracy of")
        for one in exploration_words.findings(exploration.view)
    )
    wide = exploration.preview(max_performance_drop=found.wider_limit, guards="none")
    assert (wide.incomparable, wide.candidates) == ((), (1,))


@pytest.mark.parametrize("before", [None, {"reference": 0.5, "closest": 0.7, "limit": 0.1}])
def test_runs_saved_before_are_read(run, before):
    saved = json.loads(to_json(run.document))
    saved["selection"]["incomparable"] = before
    found = parse(json.dumps(saved).encode(), "run.json").selection.incomparable
    assert found == ((Incomparable("selection_rate", 0.5, 0.7, 0.1),) if before else ())


def scores(rng: np.random.Generator, models: int) -> Measured:
    values = {
        Subject("selection_rate"): np.full(models, 0.5),
        Subject("performance"): rng.choice([0.6, 0.69, 0.7, np.nan], models, p=[0.5, 0.25, 0.2, 0.05]),
        Subject(METRIC, "sex"): rng.choice([0.1, 0.2], models),
    }
    return Measured(values, "sex", METRIC, rng.random(models) < 0.3, {})


def by_hand(models: Measured, losses: np.ndarray, used: float) -> float | None:
    """Return the performance that comes closest, by looking at one model after the other; None if one is near."""
    found, near = models.values[Subject("performance")], [one for one in range(len(losses)) if losses[one] <= 0.05]
    counted = [one for one in near if not models.is_constant[one]] or near
    if np.isnan(used) or any(found[one] >= used - 0.01 - 1e-12 for one in counted):
        return None
    known = [found[one] for one in counted if not np.isnan(found[one])]
    return max(known) if known else None


def test_performances_rule_out_all_models_as_found_by_hand():
    rng, tolerances, seen = np.random.default_rng(0), Tolerances(), set()
    for _ in range(400):
        models, used = scores(rng, int(rng.integers(1, 4))), scores(rng, 1)
        losses = np.append(0.0, rng.choice([0.04, 0.1], len(models.is_constant) - 1))
        standing = candidate_standing(models, used, losses, tolerances, is_in_use=True)
        found = performance_difference(standing, tolerances)
        expected = by_hand(models, losses, used.values[Subject("performance")][0])
        seen.add(expected is None)
        assert (found and found.closest) == expected
        alone = candidate_standing(models, models.first, losses, tolerances, is_in_use=False)
        assert performance_difference(alone, tolerances) is None
    assert seen == {True, False}
