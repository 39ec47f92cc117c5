"""An audit in time: a limit for all of it, what is cut, and Ctrl-C in every stage."""

import os
import signal
import time
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import pytest
from support.audits import audit_applicants, audit_people, checked, codes, people

from fairenum import AuditConfig
from fairenum.auditing import schedule
from fairenum.auditing.schedule import expected, finishing_seconds, wanted_stages
from fairenum.document.files import parse, to_json
from fairenum.document.header import SHARES, CutStage
from fairenum.report import page
from fairenum.report.method_section import steps
from fairenum.runtime import budget as budget_module
from fairenum.runtime.budget import Budget, Forecast

signals = pytest.mark.skipif(os.name == "nt", reason="signals")
AFTER_MODEL_1 = [*SHARES, "score", "choose", "state"]


def texts(document):
    return " ".join(page(document).warnings)


def test_with_no_time_at_all_there_is_model_1_and_what_was_cut_is_said():
    document = checked(audit_applicants(max_seconds=1e-3))
    assert (document.status, len(document.models), document.enumeration.stopped) == ("complete", 1, "time")
    assert {one.stage for one in document.spending.cut} == set(wanted_stages(document.config)) - {"explain"}
    assert {one.by for one in document.spending.cut} == {"time"}
    assert CutStage("enumerate", "time", False) in document.spending.cut
    assert (
        document.multiplicity
        is document.screening
        is document.parity_range
        is document.explanation
        is document.tilted
        is None
    )
    assert document.guided.obstacle == "no_time"
    assert document.spending.seconds > document.spending.required > document.spending.limit == 1e-3
    assert {"over_time", "time_spent"} <= codes(document)
    assert not {"budget_spent", "guided_skipped", "interrupted"} & codes(document)
    assert "the time limit of 0.001 s could not be kept: the run took " in texts(document)
    assert "cut short: the list of models; left out: the guided search, " in texts(document)
    assert parse(to_json(document).encode(), "run") == document


def test_a_limit_that_is_not_reached_changes_nothing():
    limited, free = (audit_people(people(120), k=5, max_seconds=limit).document for limit in (1e4, None))
    assert free.spending is None
    assert (limited.spending.limit, limited.spending.cut, limited.spending.is_over) == (1e4, (), False)
    same = limited.but(config=replace(limited.config, max_seconds=None), spending=None, timings={})
    assert same == free.but(timings={})


def test_a_limit_is_kept_and_what_was_found_in_time_is_there(guided_run, monkeypatch):
    """Time is that of the processor here, which others on the model do not take away; all is compiled by then."""
    clock = SimpleNamespace(monotonic=time.process_time, process_time=time.process_time)
    monkeypatch.setattr(budget_module, "time", clock)
    monkeypatch.setattr(schedule, "time", clock)
    limit, started = 4.0, time.process_time()
    budget = Budget(limit, started)
    asked = {"k": 100_000, "distinct": "support", "max_nodes": None, "max_seconds": limit, "budget": budget}
    document = checked(audit_applicants(**asked))
    assert time.process_time() - started < 1.1 * limit
    assert not document.spending.is_over
    assert document.enumeration.stopped == "time"
    assert len(document.models) > 1
    assert CutStage("enumerate", "time", False) in document.spending.cut
    assert sum(document.timings.values()) - document.timings["total"] <= limit


@signals
@pytest.mark.parametrize("stage", AFTER_MODEL_1)
def test_ctrl_c_ends_any_stage_and_what_is_there_is_kept(stage):
    pressed: list[float] = []

    def press(at: str, done: int, _total: int | None) -> None:
        if at == stage and not pressed and (done or at not in ("enumerate", "guide", "tilt")):
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

    result = audit_applicants(baselines=stage == "baselines", range=stage == "range", progress=press)
    if not pressed:
        pytest.fail(f"there was no {stage}")
    document = checked(result)
    assert result.is_partial
    assert document.status == "interrupted"
    cut = {one.stage: one for one in document.spending.cut}
    assert {one.by for one in cut.values()} == {"interrupt"}
    later = [name for name in wanted_stages(document.config) if AFTER_MODEL_1.index(name) > _place(stage)]
    assert set(later) - {"explain"} <= cut.keys()  # which is none where model 1 is kept
    assert all(cut[name].is_skipped for name in later if name in cut)
    assert "interrupted" in codes(document)
    assert "the run was interrupted" in texts(document)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@signals
@pytest.mark.parametrize("stage", ["enumerate", "guide", "tilt", "range"])
def test_ctrl_c_twice_gives_it_up_in_any_stage(stage):
    def press(at: str, done: int, _total: int | None) -> None:
        if at == stage and (done or at == "range"):
            os.kill(os.getpid(), signal.SIGINT)
            with suppress(KeyboardInterrupt):  # as compiled code may, where a signal reaches it
                os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        audit_applicants(range=stage == "range", progress=press)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _place(stage: str) -> int:
    """Return after which optional stage one comes."""
    before = {"score": "screen", "choose": "range", "state": "range"}
    return AFTER_MODEL_1.index(before.get(stage, stage))


@signals
@pytest.mark.parametrize("stage", ["load", "divide", "tune"])
def test_ctrl_c_before_model_1_leaves_nothing(stage):
    def press(at: str, _done: int, _total: int | None) -> None:
        if at == stage:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        audit_people(people(120), k=2, progress=press)


@signals
def test_a_second_ctrl_c_gives_up():
    def press(at: str, _done: int, _total: int | None) -> None:
        if at in ("enumerate", "score"):
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        audit_people(people(120), k=2, progress=press)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_is_not_asked_for_has_no_share_and_is_said():
    assert list(wanted_stages(AuditConfig(baselines=True))) == list(SHARES)
    document = checked(audit_applicants(prices=False, range=False, explanation=False))
    assert document.ambiguity is document.parity_range is document.explanation is None
    assert document.selection.rank > 1
    assert "range" not in document.timings
    assert wanted_stages(AuditConfig(search="exact", prices=False, range=False, explanation=False)).keys() == {
        "enumerate", "screen", "disagree", "weigh",
    }  # fmt: skip
    said = [step for step in steps(document) if step.startswith("Not asked for")]
    assert said == [
        "Not asked for: the search for decisions that depend on the choice of model (--no-prices), the parity range "
        "over all near-optimal models (--no-range) and the explanation of the selected model (--no-explanation)."
    ]


class Listening:
    """A progress that wants to know what to expect."""

    def __init__(self) -> None:
        self.told: list[Forecast] = []

    def __call__(self, _stage: str, _done: int, _total: int | None) -> None:
        """Show nothing."""

    def expect(self, estimate: Forecast) -> None:
        self.told.append(estimate)


def test_an_estimate_is_told_once_and_grows_with_the_table_and_the_list():
    listening = Listening()
    live = audit_people(people(120), k=2, progress=listening).live
    (told,) = listening.told
    assert told == expected(live.division, live.asked)
    assert 1.0 < told.seconds < 20.0  # of a table that takes one
    assert told.memory > 1e8
    larger = audit_people(people(300), k=2).live.division
    assert expected(larger, live.asked).seconds > told.seconds
    assert expected(live.division, live.asked.but(k=50)).seconds > told.seconds
    assert expected(live.division, live.asked.but(range=True)).seconds > told.seconds
    assert finishing_seconds(larger, 7) > finishing_seconds(larger, 6)


def test_a_budget_that_began_earlier_counts_from_there():
    budget = Budget(100.0, time.monotonic() - 200.0)
    document = audit_people(people(120), k=2, budget=budget).document
    assert document.timings["start"] == pytest.approx(200.0, abs=30.0)
    assert document.spending.seconds > 200.0
    assert len(document.models) == 1
