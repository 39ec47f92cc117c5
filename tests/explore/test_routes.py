"""Requests to a served exploration: answers agree with the exploration itself."""

import json
import re
import threading
import time

import msgspec
import numpy as np
import pandas as pd
import pytest
from support.explorations import entered, open_applicants, open_people, served

from fairenum import AuditResult, Exploration
from fairenum.document.exploration_view import ExplorationView
from fairenum.explore.screen_parts import Compared, Decided, Focus, Preview, Rows, Screen, Steps
from fairenum.report.audit_report import audit_page
from fairenum.report.exploration_page import exploration_page


def read(reply, kind):
    """Read an answer strictly: no field more, none less."""
    assert reply.status == 200, reply.body
    return msgspec.json.decode(reply.body, type=kind)


@pytest.fixture
def twin():
    """The same exploration, driven from Python."""
    return open_applicants()


def test_the_screen_shows_what_the_view_shows(visitor, twin):
    visitor.step("next")
    twin.next()
    screen, view = visitor.get("/state").value, twin.view
    shown = msgspec.convert(screen["view"], ExplorationView)
    assert shown.but(timeline=()) == view.but(models=(), clusters=(), timeline=())
    assert [entry.taken for entry in shown.timeline] == [entry.taken for entry in view.timeline]
    page = exploration_page(view)
    words = screen["words"]
    assert (words["headline"], words["subject"], words["title"]) == (page.headline, page.subject, page.title)
    assert screen["numbers"] == [1, 2]
    assert (screen["revision"], screen["steps"], screen["can_undo"], screen["has_report"]) == (2, 1, True, False)
    assert screen["saved"] == {"record": "record.jsonl", "run": None, "page": None}
    assert screen["busy"] is screen["trouble"] is None
    assert [one["name"] for one in screen["features"]] == [one.name for one in twin.features]


def test_models_are_rows_of_the_table_of_the_page(visitor, twin):
    visitor.step("next", count=3)
    for _ in range(3):
        twin.next(1000)
    rows, view = read(visitor.get("/models"), Rows).models, twin.view
    table = exploration_page(view).sections[0].blocks[-1]
    metric = view.standpoint.tolerances.metric
    candidates = ["yes" if row.number in view.standpoint.candidates else "no" for row in rows]
    shown = [(*row.cells.values(), row.gap_cells[metric], yes) for row, yes in zip(rows, candidates, strict=True)]
    assert shown == [*table.rows]
    assert [row.gaps[metric] for row in rows] == [model.scores.gap(metric).alone for model in view.models]
    assert read(visitor.get("/models?first=2&last=3"), Rows).models == rows[1:3]
    assert read(visitor.get("/models?first=9"), Rows).models == ()


def test_a_model_in_focus_is_that_of_the_view(visitor, twin):
    visitor.step("next")
    twin.next()
    found, view = read(visitor.get("/focus?model=2"), Focus), twin.view
    assert (found.strip, found.guards) == (view.strip, view.guards)
    assert [one.rows for one in found.clusters] == [len(one.rows) for one in view.clusters]
    assert len(found.words.clusters.rows) == len(view.clusters)
    assert visitor.get("/state").value["focus"] == json.loads(msgspec.json.encode(found))
    first = read(visitor.get("/focus?model=1"), Focus)
    assert first.model == 1
    assert visitor.get("/state").value["view"]["current"] == 2, "looking is no step"


def test_two_models_are_compared_and_a_person_is_decided(visitor, twin):
    visitor.step("next", count=4)
    for _ in range(4):
        twin.next(1000)
    pair, other = read(visitor.get("/compare?first=1&second=5"), Compared), twin.compare(1, 5)
    assert (pair.groups, pair.strip, pair.flipped) == (other.groups, other.strip, other.flipped)
    assert str(len(other.flipped)) in pair.words.headline
    row = next(iter(twin.view.clusters[0].rows))
    for who, given in ((row, {"row": row}), ({"skill": 0.5}, {"values": {"skill": 0.5}})):
        found, person = read(visitor.post("/person", {**given, "model": 3}), Decided), twin.person(who)
        assert [one.value for one in found.decisions] == [one.value for one in person.decisions]
        assert [one.text for one in found.decisions] == [person.decision(one) for one in person.decisions]
        assert "model 3" in found.words.weighs.headings
        reach = person.flip_price.values
        assert found.reach == (reach.low_bound, reach.high_bound)
        assert found.words.settled[0].endswith(".")
        assert found.words.nearest.headings == ("feature", "model 1", "nearest", "change")


def test_every_step_is_the_step_of_the_exploration(visitor, twin):
    visitor.step("next")
    twin.next()
    cluster = twin.view.clusters[0]
    visitor.step("leave_out", model=2, cluster=0)
    twin.leave_out(cluster)
    visitor.step("pin", rows=cluster.rows[:1])
    twin.pin(cluster.rows[:1])
    visitor.step("tolerate", eps=0.2, metric="equal_opportunity_difference", guards=["selection_rate=+-0.2"])
    twin.tolerate(eps=0.2, metric="equal_opportunity_difference", guards=["selection_rate=+-0.2"])
    visitor.step("fairer", solves=30)
    twin.fairer(25), twin.fairer(5)
    visitor.step("undo")
    twin.undo()
    shown = msgspec.convert(visitor.get("/state").value["view"], ExplorationView)
    assert shown.but(timeline=()) == twin.view.but(models=(), clusters=(), timeline=())
    assert read(visitor.get("/timeline?before=4"), Steps).steps[-1].number == 3


def test_sliders_try_tolerances_without_a_step(visitor, twin):
    visitor.step("next", count=3)
    for _ in range(3):
        twin.next(1000)
    before = visitor.get("/state").body
    found = read(visitor.post("/preview", {"eps": 0.5, "max_performance_drop": 0.5}), Preview)
    assert visitor.get("/state").body == before
    twin.tolerate(eps=0.5, max_performance_drop=0.5)
    assert found.standpoint == twin.view.standpoint
    assert found.words.headline == exploration_page(twin.view).headline


def test_a_bound_on_the_loss_can_be_set_and_is_kept(visitor):
    def bound():
        return visitor.get("/state").value["view"]["standpoint"]["tolerances"]["eps"]

    assert bound() == 0.1
    visitor.step("tolerate", eps=0.25)
    visitor.step("tolerate", max_performance_drop=0.1)
    assert bound() == 0.25
    tried = read(visitor.post("/preview", {"eps": 0}), Preview)
    assert tried.standpoint.tolerances.eps == 0.0
    assert tried.standpoint.candidates == (1,)
    assert bound() == 0.25
    assert visitor.step("tolerate", max_loss=0.1).status == 400


def test_a_decision_is_judged_and_its_report_can_be_read(visitor, tmp_path):
    assert visitor.get("/report").status == 404
    before = visitor.get("/state").value["words"]
    assert before["decided"] is None
    assert "opens the holdout, once: its 150 rows" in before["commit"]
    visitor.step("next")
    with visitor.listening() as heard:
        heard()
        done = visitor.step("commit", model=2, reason="the least gap", author="A. Uditor")
        assert done.status == 200
        while heard() != ("state", {"revision": done.value["revision"], "models": 2}):
            pass  # another tab hears of it once the report is there
    screen = visitor.get("/state").value
    assert (screen["has_report"], screen["revision"]) == (True, done.value["revision"])
    assert screen["view"]["committed"] == 2
    assert screen["saved"] == {"record": "record.jsonl", "run": "record.run.json", "page": "record.html"}
    decided = audit_page(AuditResult.load(tmp_path / "record.run.json").document)
    assert screen["words"]["decided"] == {
        "headline": decided.headline,
        "findings": [*decided.findings],
        "warnings": [*decided.warnings],
    }
    report = visitor.get("/report")
    assert report.body == (tmp_path / "record.html").read_bytes()
    policy = report.headers["content-security-policy"]
    assert "sha256-" in policy
    assert "sandbox" in policy
    assert "allow-same-origin" not in policy
    assert "A. Uditor" in report.body.decode()
    assert "exploratory" in screen["words"]["commit"]


def test_a_model_with_another_number_in_the_report_is_named_by_both(visitor):
    visitor.step("next", count=2)
    visitor.step("undo")
    visitor.step("fairer", solves=10)
    last = visitor.get("/state").value["numbers"][-1]
    visitor.step("commit", model=last, reason="r", author="a")
    words = visitor.get("/state").value["words"]
    rank = int(re.search(r"is model (\d+) of the report", words["decided"]["findings"][0])[1])
    assert words["decided"]["findings"][0].startswith(f"Model {last} of the exploration is model {rank} of the report")
    assert rank != last
    assert re.search(rf"\b{rank}\b", words["decided"]["headline"])


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ({"step": "leave_out", "rows": [10**6]}, "no row of the table"),
        ({"step": "leave_out"}, "no row was named"),
        ({"step": "leave_out", "model": 1, "cluster": 99}, "no cluster"),
        ({"step": "pin", "rows": []}, "no row was named"),
        ({"step": "tolerate", "eps": 2.0}, "eps"),
        ({"step": "tolerate", "guards": ["nonsense"]}, "nonsense"),
        ({"step": "commit", "model": 99, "reason": "r", "author": "a"}, "no model 99"),
        ({"step": "commit", "model": 1, "reason": " ", "author": "a"}, "reason"),
    ],
)
def test_a_mistake_is_one_line_and_changes_nothing(owner, step, told):
    before = owner.get("/state").value
    reply = owner.post("/steps", step, **{"If-Match": str(before["revision"])})
    assert reply.status == 422
    assert told in reply.value["error"]
    assert "\n" not in reply.value["error"]
    after = owner.get("/state").value
    assert after["trouble"] == reply.value["error"]
    assert {**after, "trouble": None} == {**before, "trouble": None}


@pytest.mark.parametrize(
    "body",
    [
        {"step": "next", "count": 0},
        {"step": "next", "count": 1001},
        {"step": "next", "boxes": 10**9},
        {"step": "fairer", "solves": "many"},
        {"step": "leave_out", "rows": [-1]},
        {"step": "leave_out", "rows": ["1"]},
        {"step": "commit", "model": 1, "reason": "r" * 4001, "author": "a"},
        {"step": "save", "path": "/etc/passwd"},
        {"step": "tolerate", "metric": "made_up"},
    ],
)
def test_what_is_no_step_is_refused(owner, body):
    assert owner.post("/steps", body).status == 400


@pytest.mark.parametrize(
    "path", ["/focus", "/focus?model=x", "/focus?model=-1", "/compare?first=1", "/models?first=1e3"]
)
def test_a_question_has_to_be_whole(owner, path):
    assert owner.get(path).status == 400


@pytest.mark.parametrize("path", ["/focus?model=99", "/compare?first=1&second=99"])
def test_what_is_not_there_is_said(owner, path):
    reply = owner.get(path)
    assert reply.status == 422
    assert "no model 99" in reply.value["error"]


def test_a_row_of_the_holdout_stays_sealed(owner, shared):
    division = shared.worker.exploration._engine.division
    row = int(division.dataset.numbered(division.rows["holdout"])[0])
    reply = owner.post("/person", {"row": row})
    assert reply.status == 422
    assert "sealed" in reply.value["error"]


def test_there_has_to_be_a_step_to_undo(visitor):
    reply = visitor.step("undo")
    assert (reply.status, reply.value) == (422, {"error": "there is no step to undo"})


def test_undo_and_commit_say_what_they_have_seen(visitor):
    visitor.step("next")
    for step in ({"step": "undo"}, {"step": "commit", "model": 1, "reason": "r", "author": "a"}):
        assert visitor.post("/steps", step).status == 428
        assert visitor.post("/steps", step, **{"If-Match": "1"}).status == 412
        assert visitor.post("/steps", step, **{"If-Match": "x"}).status == 400
    assert visitor.get("/state").value["steps"] == 1


def test_many_models_leave_the_state_small():
    with entered(lambda progress: open_people(progress=progress, distinct="support")) as visitor:
        few = len(visitor.get("/state").body)
        assert visitor.step("next", count=80).value["message"] == "80 models found"
        screen = visitor.get("/state")
        assert screen.value["numbers"] == [*range(1, 82)]
        # what grows: numbers, candidates and front, a number each; and the last 50 steps
        assert len(screen.body) < few + 50 * 250 + 3 * 3 * 81
        assert [row["number"] for row in visitor.get("/models?first=78").value["models"]] == [78, 79, 80, 81]


def test_hostile_cells_pass_as_text():
    hostile = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "=1+1", "\u202ex", "\x1b[31mred"]
    rng = np.random.default_rng(0)
    name = "<b onmouseover=alert(1)>"
    table = pd.DataFrame({name: rng.choice(hostile, 200), "x": rng.normal(size=200), "g": rng.choice(hostile[:2], 200)})
    table["y"] = np.where(table["x"] + rng.normal(size=200) > 0, hostile[0], "no")
    options = {"label": "y", "favourable": hostile[0], "sensitive": "g", "sizes": (80, 60, 60), "replications": 20}
    with entered(lambda progress: Exploration(table, progress=progress, **options)) as visitor:
        visitor.step("next")
        for reply in (visitor.get("/state"), visitor.get("/focus?model=1"), visitor.get("/compare?first=1&second=2")):
            assert reply.headers["content-type"] == "application/json"
            assert reply.headers["x-content-type-options"] == "nosniff"
        screen = visitor.get("/state").value
        assert name in [one["name"] for one in screen["features"]]
        person = visitor.post("/person", {"values": {name: hostile[1], "x": 0.0}})
        assert person.value["values"][name] == hostile[1]
        wrong = visitor.post("/person", {"values": {name: "<svg onload=alert(1)>"}})
        assert wrong.status == 422
        assert visitor.step("commit", model=1, reason=hostile[0], author=hostile[1]).status == 200
        assert b"<script>alert(1)" not in visitor.get("/report").body


def test_while_it_is_opened_the_page_is_there_and_nothing_else():
    go = threading.Event()

    def opening(progress):
        progress("tune", 1, 3)
        go.wait(20)
        return open_applicants()

    with served(opening) as found:
        visitor = found.visitor()
        visitor.enter(found.address)
        assert visitor.get("/").status == 200
        time.sleep(0.05)
        screen = visitor.get("/state").value
        assert (screen["revision"], screen["view"], screen["words"]) == (0, None, None)
        assert screen["busy"] | {"seconds": 0} == {
            "action": "choosing C",
            "done": 1,
            "total": 3,
            "seconds": 0,
            "can_stop": False,
        }
        assert visitor.get("/models").status == visitor.post("/preview", {}).status == 503
        assert visitor.step("next").status == 503
        assert visitor.post("/stop", {}).status == 409
        assert visitor.get("/report").status == 404
        go.set()
        assert read(visitor.get("/state"), Screen) is not None
        assert visitor.wait()["revision"] == 1
