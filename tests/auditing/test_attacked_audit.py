"""An audit with a part on what label flips would do to it."""

from dataclasses import replace

import numpy as np
import pytest
from support.audits import audit_people, checked, people

from fairenum import AuditResult, select
from fairenum.attack import simulation
from fairenum.document.cautions import cautions
from fairenum.document.files import parse, to_json
from fairenum.document.header import AFTERWARDS, CutStage
from fairenum.errors import ConfigError, ResultError
from fairenum.estimator import EnumSVC
from fairenum.render.markdown import to_markdown
from fairenum.report import page
from fairenum.runtime.budget import Budget, OutOfTime

FEW = {"strategies": "random", "flips": 5, "trials": 2, "sizes": (60, 0, 60)}


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return audit_people(people(), k=3, C="auto", metric="equal_opportunity_difference", seed=2, search="exact")


def test_an_audit_takes_the_part_up(result, tmp_path):
    both = result.attacked(**FEW)
    attack = checked(both).attack
    assert result.document.attack is None
    assert both.live is result.live
    assert attack.curves[0].points[0].trials == 2
    before, after = result.document.timings, both.document.timings
    assert after["attack"] > 0.0
    assert after["total"] == pytest.approx(before["total"] + after["attack"])
    assert both.document == result.document.but(attack=attack, timings=after)
    both.save(tmp_path / "run.json")
    loaded = AuditResult.load(tmp_path / "run.json")
    assert select(loaded, max_accuracy_drop=0.5).document.attack == loaded.document.attack
    with pytest.raises(ResultError, match="no rows whose labels could be flipped"):
        loaded.attacked()


def test_what_the_audit_has_resolved_is_taken_from_it(result):
    attack = result.attacked(**FEW, k=2).document.attack
    config, audited = attack.config, result.document.config
    assert config.primary == audited.primary == "sex"
    assert config.svm.C == audited.svm.C != "auto"
    assert (config.metric, config.seed, config.distinct) == (audited.metric, 2, "predictions")
    assert (config.k, config.trials, config.sizes) == (2, 2, (60, 0, 60))


def test_a_first_look_has_its_own_size(result, monkeypatch):
    asked = []

    def note(_dataset, config, **_options):
        asked.append(config)
        raise KeyboardInterrupt

    monkeypatch.setattr(simulation, "simulate", note)
    with pytest.raises(KeyboardInterrupt):
        result.attacked()
    (config,) = asked
    assert (config.strategies, config.flips, config.trials) == (("paper", "random"), (0.02, 0.05, 0.1), 20)
    assert config.sizes is None


def test_an_interrupted_simulation_makes_the_audit_partial(result):
    def interrupt(_stage, done, _total):
        if done == 1:
            raise KeyboardInterrupt

    document = result.attacked(**FEW, progress=interrupt).document
    assert document.is_partial
    assert document.attack.status == "interrupted"
    assert document.warnings == cautions(document) == result.document.warnings
    assert document.attack.clean.trials == 1


def test_unknown_options_are_refused(result):
    with pytest.raises(ConfigError, match="an attack has no option 'strategy'; did you mean 'strategies'"):
        result.attacked(strategy="paper")


def test_groups_that_the_audit_sets_aside_are_neither_aimed_at_nor_compared():
    frame = people(400)
    frame["sex"] = np.where(np.arange(400) % 50 == 0, "x", frame["sex"])
    frame.loc[frame["sex"] == "x", ["skill", "hired"]] = -5.0, "no"
    options = {"k": 2, "search": "exact", "C": 1.0, "replications": 60}
    aside, kept = (audit_people(frame, **options, small_groups=way) for way in ("set-aside", "keep"))
    asked = {**FEW, "trials": 1, "sizes": (100, 0, 200)}
    without, with_all = (run.attacked(**asked).document.attack for run in (aside, kept))
    assert (without.config.group, with_all.config.group) == ("f", "x")
    assert without.clean.gap.value < with_all.clean.gap.value


def test_models_that_are_cut_elsewhere_are_not_attacked():
    cut = audit_people(people(), k=2, search="exact", decide="base-rate", replications=60)
    with pytest.raises(ConfigError, match=r"decide by the sign; leave out decide='base-rate' \(--decide\)"):
        cut.attacked(**FEW)


def shown(document) -> str:
    return to_markdown(page(document))


def test_the_limit_of_the_audit_covers_the_trials(result, monkeypatch):
    """Three are done when the time is over, and the fourth is not waited for."""
    budget = Budget(1e4, shares=AFTERWARDS)

    def spend(_stage: str, done: int, _total: int) -> None:
        if done == 3:
            monkeypatch.setattr(budget._current, "at", 0.0)

    limited = result.document.but(config=replace(result.document.config, max_seconds=1e4))
    run = AuditResult(limited, result.live).attacked(**FEW | {"trials": 5}, progress=spend, budget=budget)
    document = checked(run)
    assert (document.attack.clean.trials, document.attack.is_out_of_time) == (3, True)
    assert (document.status, document.attack.status) == ("complete", "complete")
    assert document.spending.cut == (CutStage("attack", "time", False),)
    assert "the time limit of 10000 s ended the run early (cut short: the simulated attacks)" in shown(document)
    assert "the time limit ended it after 3 of 5 trials" in shown(document)
    assert parse(to_json(document).encode(), "run") == document


def test_without_time_for_a_trial_there_is_no_attack_and_that_is_said(result):
    document = result.attacked(**FEW, budget=Budget(1e-3, shares=AFTERWARDS)).document
    assert document.attack is None
    assert document.spending.cut == (CutStage("attack", "time", True),)
    assert "left out: the simulated attacks" in shown(document)


def test_half_a_trial_is_none(result, monkeypatch):
    """An end of the time within the second trial loses that one alone."""
    fits, fit = [], EnumSVC.fit

    def slow(self, *data, **options):
        fits.append(self)
        if len(fits) == 4:
            raise OutOfTime
        return fit(self, *data, **options)

    monkeypatch.setattr(EnumSVC, "fit", slow)
    attack = result.attacked(**FEW | {"trials": 3, "strategies": ("paper", "random")}).document.attack
    assert (attack.clean.trials, attack.is_out_of_time, attack.failures) == (1, True, ())
