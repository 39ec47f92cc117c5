"""The decision record: a line per step, a single writer, changes are noticed, and a killed process can be resumed."""

import gc
import json
import os
import signal
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

import pytest
from support.audits import applicants
from support.explorations import APPLICANTS, open_applicants

from fairenum import Exploration
from fairenum.document.decision_record import Entry, Judged
from fairenum.errors import RecordRefused

TESTS = Path(__file__).parents[1]


@pytest.fixture
def table():
    return applicants(420)


@pytest.fixture
def recorded(tmp_path, clock, training_rows):
    """A record of several steps, closed."""
    path = tmp_path / "decision.jsonl"
    with open_applicants(record=path, now=clock) as exploration:
        exploration.next()
        exploration.fairer(6)
        exploration.leave_out(training_rows(exploration)[:4])
        exploration.undo()
        exploration.tolerate(eps=0.1)
    return path


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_every_step_is_a_line_bound_to_the_one_before(recorded):
    raw, told = recorded.read_bytes().splitlines(), lines(recorded)
    assert told[0]["line"] == "record"
    assert told[0]["label"] == "hired"
    assert told[0]["config"]["sizes"] == list(APPLICANTS["sizes"])
    assert [one["taken"]["step"] for one in told[1:]] == ["next", "fairer", "leave_out", "undo", "tolerate"]
    for before, one in zip(raw, told[1:], strict=False):
        assert one["previous"] == sha256(before).hexdigest()
    assert [one["number"] for one in told[1:]] == [1, 2, 3, 4, 5]


def test_a_line_is_on_the_disk_before_the_step_counts(tmp_path, monkeypatch):
    path, synced = tmp_path / "decision.jsonl", []
    with open_applicants(record=path) as exploration:
        plain = os.fsync
        monkeypatch.setattr(os, "fsync", lambda handle: (synced.append(len(lines(path))), plain(handle)))
        exploration.next()
        assert synced == [2]
        monkeypatch.setattr(os, "fsync", _fails)
        before = exploration.view
        with pytest.raises(RecordRefused, match="No space left on device; the step was not taken"):
            exploration.fairer(3)
        assert exploration.view == before
        assert len(lines(path)) == 2
        monkeypatch.setattr(os, "fsync", plain)
        exploration.fairer(3)
    assert len(lines(path)) == 3


def _fails(_handle):
    raise OSError(28, "No space left on device")


def test_a_second_opener_is_refused_and_a_used_file_is_not_overwritten(recorded, table):
    content = recorded.read_bytes()
    with Exploration.resume(recorded, table):
        for opener in (lambda: Exploration.resume(recorded, table), lambda: open_applicants(record=recorded)):
            with pytest.raises(RecordRefused, match="is in use by another exploration"):
                opener()
    with pytest.raises(RecordRefused, match="is not empty; go on with it by"):
        open_applicants(record=recorded)
    assert recorded.read_bytes() == content


def test_a_record_that_was_forgotten_is_free_again(recorded, table):
    Exploration.resume(recorded, table)
    gc.collect()
    Exploration.resume(recorded, table).close()


def test_it_goes_on_where_it_was(recorded, table, clock):
    whole = open_applicants(now=clock)
    whole.next()
    whole.fairer(6)
    with Exploration.resume(recorded, table, now=clock) as exploration:
        assert [one["taken"]["step"] for one in lines(recorded)[1:]][-1] == "tolerate"
        assert exploration.view.models == whole.view.models
        exploration.undo()
        assert exploration.view.standpoint == whole.view.standpoint
        exploration.next()
        whole.next()
        marks = [[one.shown.mark.alpha for one in each.state.listed] for each in (exploration, whole)]
        assert marks[0] == marks[1]
    assert len(lines(recorded)) == 8


def test_a_torn_last_line_is_dropped_and_said(recorded, table):
    whole = recorded.read_bytes()
    recorded.write_bytes(whole[:-20])
    with pytest.warns(UserWarning, match="the last line of the record was cut short: that step was not taken"):
        exploration = Exploration.resume(recorded, table)
    assert exploration.was_torn
    assert [type(one.taken).__name__ for one in exploration.view.timeline][-1] == "Undo"
    assert recorded.read_bytes() == b"".join(whole.splitlines(keepends=True)[:-1])
    exploration.tolerate(eps=0.1)
    exploration.close()
    with Exploration.resume(recorded, table) as again:
        assert not again.was_torn


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda raw: [raw[0], *raw[2:]], "line 2 of .* does not follow the one before it"),
        (
            lambda raw: [*raw[:2], raw[2].replace(b'"solves":6', b'"solves":7'), *raw[3:]],
            "line 4 of .* does not follow",
        ),
        (lambda raw: [*raw[:2], b"{}", *raw[3:]], "line 3 of .* is no line of a decision record"),
        (lambda raw: [raw[0].replace(b'"fingerprint":"', b'"fingerprint":"0')], "are not the data of the record"),
        (lambda _raw: [b"hello"], "line 1 of .* is no line of a decision record"),
        (lambda _raw: [], "holds no step; remove it"),
    ],
)
def test_what_was_changed_is_refused(recorded, table, change, message):
    raw = change(recorded.read_bytes().splitlines())
    recorded.write_bytes(b"".join(line + b"\n" for line in raw))
    with pytest.raises(RecordRefused, match=message):
        Exploration.resume(recorded, table)
    recorded.write_bytes(b"")
    open_applicants(record=recorded).close()


def test_a_step_that_comes_out_otherwise_is_named(recorded, table):
    raw = recorded.read_bytes().splitlines()
    told = json.loads(raw[2])
    told["outcome"]["shown"][0]["alpha"] = "0" * 64
    raw = [*raw[:2], json.dumps(told, separators=(",", ":")).encode()]
    recorded.write_bytes(b"".join(line + b"\n" for line in raw))
    with pytest.raises(
        RecordRefused, match=r"step 2 \(Fairer\) of the record has another outcome now \(shown\); .* numpy"
    ):
        Exploration.resume(recorded, table)


def test_other_data_and_missing_records_are_refused(recorded, tmp_path):
    with pytest.raises(RecordRefused, match="these are not the data of the record"):
        Exploration.resume(recorded, applicants(440))
    with pytest.raises(RecordRefused, match="there is no record"):
        Exploration.resume(tmp_path / "none.jsonl", applicants(420))
    with pytest.raises(RecordRefused, match="cannot open the record"):
        open_applicants(record=tmp_path / "no" / "such.jsonl")


CHILD = """
import sys
sys.path.insert(0, sys.argv[2])
from support.explorations import open_applicants
exploration = open_applicants(record=sys.argv[1])
while True:
    exploration.next()
"""


def test_a_killed_process_resumes_from_its_record(tmp_path, table):
    path = tmp_path / "decision.jsonl"
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(path), str(TESTS)])
    try:
        deadline = time.monotonic() + 120
        while not path.is_file() or path.read_bytes().count(b"\n") < 6:
            assert child.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    steps = path.read_bytes().count(b"\n") - 1
    with Exploration.resume(path, table) as exploration:
        assert len(exploration.view.timeline) == steps
        exploration.next()


def test_a_commit_that_was_cut_short_is_completed(tmp_path, table, clock, monkeypatch):
    path = tmp_path / "decision.jsonl"
    with open_applicants(record=path, now=clock) as exploration:
        exploration.next()
        with monkeypatch.context() as patch:
            patch.setattr("fairenum.explore.exploration._judged_run", _fails)
            with pytest.raises(TypeError):
                exploration.commit(2, "it decides better", "A. Uditor")
        assert exploration.state.opened == 1, "the record says so before anything of the holdout is read"
    assert not (tmp_path / "decision.run.json").exists()
    with Exploration.resume(path, table, now=clock) as exploration:
        kinds = [type(one) for one in exploration._record.entries]
        assert kinds == [Entry, Entry, Judged]
        assert (tmp_path / "decision.run.json").exists()
    with Exploration.resume(path, table, now=clock) as exploration:
        assert len(exploration._record.entries) == 3, "once is enough"
        assert exploration.view.seal.opened == 1


def test_an_interrupted_commit_is_completed_by_giving_it_again(monkeypatch):
    exploration = open_applicants()
    with monkeypatch.context() as patch:
        patch.setattr("fairenum.explore.exploration._judged_run", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            exploration.commit(1, "why", "who")
    result = exploration.commit(1, "why", "who")
    assert result.document.exploration.look == 1
    assert not result.document.is_exploratory
    assert exploration.commit(1, "why", "who").document.is_exploratory, (
        "but once judged, a second time is a second look"
    )


def _interrupted(*_arguments):
    raise KeyboardInterrupt


@pytest.mark.parametrize("content", [b"a,b\n1,2\n3,4", b"no line at all", b'{"line":"record"', b"\n"])
def test_a_file_that_is_no_record_is_left_as_it_is(tmp_path, content):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(RecordRefused):
        Exploration.resume(path, applicants(420))
    assert path.read_bytes() == content
