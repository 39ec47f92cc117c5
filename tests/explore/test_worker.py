"""The single writer: other steps are refused meanwhile; a step that fails or is stopped changes nothing."""

import http.client
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.explorations import entered, open_applicants, served

from fairenum import Exploration
from fairenum.errors import DataError, SolverBroken
from fairenum.explore.record_file import Record
from fairenum.explore.worker import Worker


class Held:
    """An exploration whose steps wait until they are released."""

    def __init__(self, **options) -> None:
        self.go, self.reached, self.options = threading.Event(), threading.Event(), options
        self.exploration: Exploration | None = None

    def __call__(self, progress) -> Exploration:
        self.exploration = open_applicants(progress=progress, **self.options)
        take = self.exploration._take

        def taken(step):
            self.reached.set()
            while not self.go.wait(0.01):
                self.exploration.progress("next", 1, 7)
            return take(step)

        self.exploration._take = taken
        return self.exploration


@pytest.fixture
def held():
    return Held()


@pytest.fixture
def pool():
    with ThreadPoolExecutor(8) as found:
        yield found


def test_a_step_waits_for_no_other(held, pool):
    with entered(held) as visitor:
        first = pool.submit(visitor.step, "next")
        held.reached.wait(10)
        for step in ("next", "fairer", "leave_out", "tolerate", "undo", "commit"):
            arguments = {"model": 1, "reason": "r", "author": "a"} if step == "commit" else {}
            second = visitor.step(step, **arguments)
            assert second.status == 409, step
            assert "under way" in second.value["error"]
        while not (busy := visitor.get("/state").value["busy"])["done"]:
            time.sleep(0.01)
        assert (busy["action"], busy["done"], busy["total"]) == ("looking for the next best model", 1, 7)
        assert visitor.get("/models").status == visitor.get("/focus?model=1").status == 200, "looking needs no turn"
        held.go.set()
        assert first.result().value == {"revision": 2, "message": None}
        assert visitor.get("/state").value["busy"] is None


def test_many_at_once_cannot_corrupt_it(pool, tmp_path):
    path = tmp_path / "record.jsonl"
    steps = ["next", "fairer", "undo", "next", "tolerate", "undo"] * 5
    arguments = {"fairer": {"solves": 2}, "tolerate": {"eps": 0.1}}

    with entered(lambda progress: open_applicants(progress=progress, record=path)) as visitor:
        replies = [*pool.map(lambda step: visitor.step(step, **arguments.get(step, {})), steps)]
        assert {reply.status for reply in replies} <= {200, 409, 412, 422}
        taken = [reply.value["revision"] for reply in replies if reply.status == 200]
        assert len({*taken}) == len(taken), "each step has a revision of its own"
        screen = visitor.get("/state").value
        assert screen["steps"] == len(taken) == max(taken) - 1
    record = Record.reopen(path)  # which checks that every line follows the one before
    assert len(record.entries) == len(taken)
    record.close()


def test_two_tabs_see_the_same(held):
    held.go.set()
    with entered(held) as visitor, visitor.listening() as one, visitor.listening() as two:
        for heard in (one, two):
            assert heard() == ("state", {"revision": 1, "models": 1})
        visitor.step("next")
        for heard in (one, two):
            assert heard() == ("state", {"revision": 2, "models": 2})


def test_a_long_step_tells_how_far_it_is_and_can_be_stopped(held, pool):
    with entered(held) as visitor, visitor.listening() as heard:
        assert heard()[0] == "state"
        step = pool.submit(visitor.step, "next")
        name, busy = heard()
        assert name == "progress"
        assert (busy["done"], busy["total"], busy["can_stop"]) == (1, 7, True)
        assert busy["seconds"] >= 0.2
        assert visitor.post("/stop", {}).status == 204
        assert step.result().value == {"revision": 1, "message": "stopped; nothing was changed"}
        ended = ("progress", "go on")
        while ended[1] is not None:
            ended = heard()
        assert ended == ("progress", None)
        held.go.set()
        assert visitor.step("next").value["revision"] == 2, "it goes on"
        assert visitor.post("/stop", {}).status == 204, "nothing is under way"
        assert visitor.step("next").value["revision"] == 3


def test_models_that_were_found_before_a_stop_stay(pool):
    with entered(lambda progress: open_applicants(progress=progress)) as visitor:
        step = pool.submit(visitor.step, "next", count=1000)
        while len(visitor.get("/state").value["numbers"]) < 4:
            time.sleep(0.01)
        visitor.post("/stop", {})
        screen_message = step.result().value["message"]
        numbers = visitor.get("/state").value["numbers"]
        assert 4 <= len(numbers) < 1001
        assert screen_message == f"{len(numbers) - 1} models found"


def test_boxes_that_were_searched_before_a_stop_count(pool):
    with entered(lambda progress: open_applicants(progress=progress)) as visitor:
        step = pool.submit(visitor.step, "fairer", solves=10_000)
        while visitor.get("/state").value["steps"] < 2:
            time.sleep(0.01)
        visitor.post("/stop", {})
        assert step.result().status == 200
        taken = [entry["taken"]["solves"] for entry in visitor.get("/state").value["view"]["timeline"]]
        assert taken[:2] == [25, 25]
        assert sum(taken) < 10_000


@pytest.mark.parametrize("error", [DataError("the solver gave up"), ZeroDivisionError("by zero")])
def test_a_step_that_fails_says_so_and_leaves_the_exploration_usable(held, error, monkeypatch):
    held.go.set()
    with entered(held) as visitor, visitor.listening() as heard:
        before = visitor.get("/state").value
        heard()
        with monkeypatch.context() as patch:
            patch.setattr(held.exploration._engine, "take", lambda *_: (_ for _ in ()).throw(error))
            reply = visitor.step("next")
        assert reply.status == 422
        assert str(error) in reply.value["error"]
        assert heard() == ("trouble", {"message": reply.value["error"]})
        screen = visitor.get("/state").value
        assert screen == {**before, "trouble": reply.value["error"]}
        assert visitor.step("next").value["revision"] == 2
        assert visitor.get("/state").value["trouble"] is None


def test_a_solver_that_breaks_in_a_step_is_named_and_the_exploration_goes_on(held, monkeypatch):
    held.go.set()
    with entered(held) as visitor:
        visitor.step("next")
        before = visitor.get("/state").value
        workspace = held.exploration._engine.training.workspace
        rows = before["focus"]["clusters"][0]["first_rows"]

        def broken(*_):
            raise SolverBroken("solver 'path' failed while it solved")

        with monkeypatch.context() as patch:
            patch.setattr(type(workspace), "solve", broken)
            reply = visitor.step("leave_out", rows=rows)
        assert (reply.status, reply.value) == (422, {"error": "solver 'path' failed while it solved"})
        assert {**visitor.get("/state").value, "trouble": None} == before
        assert visitor.step("leave_out", rows=rows).status == 200


def test_a_client_that_goes_away_does_not_end_its_step(held):
    with entered(held) as visitor:
        connection = http.client.HTTPConnection("127.0.0.1", visitor.port)
        headers = {"Host": f"127.0.0.1:{visitor.port}", "Cookie": visitor.cookie, "Sec-Fetch-Site": "same-origin"}
        headers |= {"Origin": f"http://127.0.0.1:{visitor.port}", "Content-Type": "application/json"}
        connection.request("POST", "/steps", b'{"step": "next"}', headers)
        held.reached.wait(10)
        connection.close()
        held.go.set()
        while visitor.get("/state").value["revision"] < 2:
            time.sleep(0.01)
        assert visitor.get("/state").value["numbers"] == [1, 2]


def test_one_that_cannot_be_opened_says_why_and_ends():
    def opening(_):
        raise DataError("there is no such table")

    with served(opening) as found:
        visitor = found.visitor()
        visitor.enter(found.address)
        with visitor.listening() as heard:
            while (told := heard())[0] != "end":
                pass
        assert told[1] == {"message": "there is no such table"}
        found.thread.join(10)
        assert not found.thread.is_alive()
        assert str(found.worker.failure) == "there is no such table"


def test_it_ends_when_nobody_looks_any_more():
    with served(lambda progress: open_applicants(progress=progress), idle=1.5) as found:
        visitor = found.visitor()
        visitor.enter(found.address)
        visitor.wait()
        with visitor.listening():
            time.sleep(2.5)
            assert found.thread.is_alive(), "somebody listens"
        found.thread.join(10)
        assert not found.thread.is_alive()


def test_a_long_step_is_no_silence(held, pool):
    with served(held, idle=1.0) as found:
        visitor = found.visitor()
        visitor.enter(found.address)
        visitor.wait()
        step = pool.submit(visitor.step, "next")
        time.sleep(2.0)
        assert found.thread.is_alive(), "something is under way"
        held.go.set()
        assert step.result().status == 200


def test_ending_lets_nobody_wait_and_frees_the_record(tmp_path, pool):
    path = tmp_path / "record.jsonl"
    held = Held(record=path)
    with served(held) as found:
        visitor = found.visitor()
        visitor.enter(found.address)
        visitor.wait()
        with visitor.listening() as heard:
            heard()
            step = pool.submit(visitor.step, "next")
            held.reached.wait(10)
            started = time.monotonic()
            found.end()
            seen = [heard()]
            while seen[-1][0] != "end":
                seen.append(heard())
            assert time.monotonic() - started < 3
        assert step.result().status in (200, 503)
    Record.reopen(path).close()


def test_one_that_is_being_opened_is_not_waited_for_and_frees_the_record(tmp_path):
    path, begun, go = tmp_path / "record.jsonl", threading.Event(), threading.Event()

    def opening(_):
        begun.set()
        go.wait(10)
        return open_applicants(record=path)

    worker = Worker(opening)
    worker.open()
    begun.wait(10)
    worker.close(patience=60.0)
    assert worker.is_busy
    go.set()
    while worker.is_busy:
        time.sleep(0.01)
    Record.reopen(path).close()
