"""fairenum explore as a user runs it: the address, the record, a killed server, Ctrl-C, and mistakes."""

import os
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.explorations import Visitor, token
from support.tables import write_loans

from fairenum.explore.record_file import Record

OPTIONS = ["--label", "approved", "--favourable", "yes", "--sensitive", "sex", "--replications", "50"]
RECORD = "fairenum-loans-decision.jsonl"


@pytest.fixture
def fairenum(fairenum):
    """Run a command line in a thread of its own: a browser's tests leave a loop of events behind in that of all."""

    def run(*arguments: str):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(fairenum, *arguments).result()

    return run


@pytest.fixture
def explored(program, loans):
    """Start the program, come in, and wait for the first model."""

    @contextmanager
    def start(*arguments: str, options=(loans, *OPTIONS)):
        with program("explore", *options, "--no-browser", *arguments) as process:
            try:
                address = process.stdout.readline().strip()
                assert address.startswith("http://127.0.0.1:"), process.communicate(timeout=20)
                visitor = Visitor(int(address.split(":")[2].partition("/")[0]))
                assert visitor.enter(address).status == 200
                visitor.wait()
                yield process, visitor
            finally:
                process.kill()
                process.communicate()

    return start


def marks(path=RECORD):
    """Return what a record says of the models that were shown."""
    record = Record.reopen(Path(path))
    record.close()
    return [entry.outcome.shown for entry in record.entries]


def test_ctrl_c_saves_and_ends_and_the_same_command_goes_on(explored):
    with explored() as (process, visitor):
        visitor.step("next", count=2)
        with visitor.listening() as heard:
            heard()
            process.send_signal(signal.SIGINT)
            while heard()[0] != "end":
                pass
        out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
    assert f"every step is in {RECORD}" in out
    before = marks()
    with explored() as (process, visitor):
        assert visitor.get("/state").value["numbers"] == [1, 2, 3]
        assert visitor.step("next").value["revision"] == 4
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    assert marks()[:2] == before


def test_a_server_that_is_killed_in_the_middle_of_a_step_resumes(explored):
    with explored() as (process, visitor):
        visitor.step("next")
        step = threading.Thread(target=cut_off, args=(visitor,))
        step.start()
        while len(visitor.get("/state").value["numbers"]) < 4:
            time.sleep(0.01)
        process.kill()  # which nobody can put off
        step.join(20)
    lines = Path(RECORD).read_bytes()
    Path(RECORD).write_bytes(lines + b'{"line":"entry","number"')  # as if the last line had been cut short
    before = marks_of_whole_lines(lines)
    with explored(options=("loans.csv",)) as (_, visitor):
        screen = visitor.get("/state").value
        assert screen["steps"] == len(before)
        assert "cut short" in screen["words"]["warnings"][-1]
        rows = visitor.get("/models").value["models"]
        assert [row["number"] for row in rows] == [1, *(mark.number for shown in before for mark in shown)]
        assert visitor.step("next").status == 200
    assert marks()[: len(before)] == before


def cut_off(visitor):
    with pytest.raises(OSError):
        visitor.step("next", count=1000)


def marks_of_whole_lines(content: bytes):
    Path("whole.jsonl").write_bytes(content)
    return marks("whole.jsonl")


def test_a_decision_leaves_run_and_page_beside_the_record(explored, fairenum):
    with explored("--record", "mine.jsonl") as (_, visitor):
        visitor.step("next")
        assert visitor.step("commit", model=2, reason="why not", author="A. Uditor").status == 200
    assert {"mine.jsonl", "mine.run.json", "mine.html"} <= set(os.listdir())
    shown = fairenum("report", "mine.run.json")
    assert shown.code == 0
    assert "A. Uditor" in shown.out


def test_a_run_is_explored_under_its_options_and_marked_so(explored, saved_run, folder):
    write_loans(folder / "loans.csv")
    with explored(options=(str(saved_run), "--data", "loans.csv")) as (_, visitor):
        screen = visitor.get("/state").value
    assert screen["view"]["seal"]["opened"] == 1
    assert "exploratory" in screen["words"]["warnings"][0]
    assert screen["saved"]["record"] == "fairenum-run-decision.jsonl"


def test_a_browser_is_opened_with_the_address(program, loans, folder):
    opener = folder / "opener.sh"
    opener.write_text('#!/bin/sh\necho "$1" > opened.txt\n')
    opener.chmod(0o755)
    with program("explore", loans, *OPTIONS, BROWSER=f"{opener} %s") as process:
        address = process.stdout.readline().strip()
        while not Path("opened.txt").exists() or not Path("opened.txt").read_text().endswith("\n"):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert Path("opened.txt").read_text().strip() == address
    assert len(token(address)) >= 40


def test_it_ends_when_no_page_is_open(fairenum, loans):
    ended = fairenum("explore", loans, *OPTIONS, "--no-browser", "--idle", "0.001")
    assert ended.code == 0
    assert "ended as no page was open for 0.001 minutes" in ended.out
    assert Path(RECORD).exists()


def test_ctrl_c_before_there_is_a_model_says_that_nothing_was_saved(program, loans):
    with program("explore", loans, *OPTIONS, "--no-browser") as process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "interrupted; nothing was saved\n")


def test_options_of_a_file_are_taken_and_those_of_an_audit_alone_left_aside(explored):
    Path("fairenum.toml").write_text(
        'label = "approved"\nfavourable = "yes"\nsensitive = ["sex"]\nmodels = 7\nreplications = 50\neps = 0.125\n'
    )
    with explored(options=("loans.csv",)) as (_, visitor):
        assert visitor.get("/state").value["view"]["standpoint"]["tolerances"]["eps"] == 0.125


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["none.csv"], "none.csv"),
        (["loans.csv"], "label"),
        (["loans.csv", *OPTIONS, "--data", "other.csv"], "--data names the data of a run"),
        (["loans.csv", *OPTIONS, "--eps", "2"], "eps"),
        (["loans.csv", *OPTIONS, "-k", "5"], "-k"),
        (["loans.csv", *OPTIONS, "--port", "70000"], "--port"),
        (["loans.csv", *OPTIONS, "--record", "no/such/folder.jsonl"], "--record"),
        (["loans.csv", "--label", "nobody", "--favourable", "yes"], "nobody"),
        (["loans.csv", *OPTIONS, "--record", "loans.csv"], "loans.csv"),
        (["none.json"], "none.json"),
    ],
)
def test_a_mistake_is_one_line(fairenum, loans, monkeypatch, arguments, told):
    for wait in ("HOLD", "LINGER"):  # nobody comes to look
        monkeypatch.setattr(f"fairenum.explore.server.{wait}", 0.0)
    ended = fairenum("explore", *arguments, "--no-browser")
    assert ended.code == 2
    assert ended.err.startswith("error: ")
    assert ended.err.count("\n") == 1
    assert told in ended.err
    assert not Path(RECORD).exists()


def test_a_port_that_is_taken_is_named(fairenum, loans):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = fairenum("explore", loans, *OPTIONS, "--no-browser", "--port", str(port))
    assert ended.code == 2
    assert f"port {port}" in ended.err


def test_a_record_goes_on_under_its_own_options_alone(explored, fairenum, monkeypatch):
    monkeypatch.setattr("fairenum.explore.server.LINGER", 0.0)
    with explored():
        in_use = fairenum("explore", "loans.csv", "--no-browser")
        assert in_use.code == 2
        assert "in use by another exploration" in in_use.err
    other = fairenum("explore", "loans.csv", *OPTIONS, "--eps", "0.2", "--no-browser")
    assert other.code == 2
    assert "other options (eps)" in other.err
    write_loans(Path("loans.csv"), rows=300)
    changed = fairenum("explore", "loans.csv", "--no-browser")
    assert changed.code == 2
    assert "not the data of the record" in changed.err


def test_a_run_without_its_data_asks_for_them(fairenum, saved_run):
    ended = fairenum("explore", str(saved_run), "--no-browser")
    assert ended.code == 2
    assert "--data DATA" in ended.err
    ended = fairenum("explore", str(saved_run), "--eps", "0.1", "--no-browser")
    assert ended.code == 2
    assert "a run has its options" in ended.err
