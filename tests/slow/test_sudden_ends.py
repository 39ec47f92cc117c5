"""Kills and interrupts at random moments: old files stay, new ones are whole, and the program ends in time."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.tables import OPTIONS, write_loans

from fairenum.cli.streams import Exit
from fairenum.document.files import load

PROGRAM = str(Path(sys.executable).with_name("fairenum"))
TABLE = ["--label", "approved", "--favourable", "yes", "--sensitive", "sex"]
COMMANDS = {
    "audit": ["audit", "loans.csv", *OPTIONS, "--output", "run.json", "--html", "page.html"],
    "attack": ["attack", "loans.csv", *TABLE, "-k", "3", "--trials", "4", "--json", "run.json"],
    "explore": ["explore", "loans.csv", *TABLE, "--no-browser", "--record", "record.jsonl"],
}
OLD = {"run.json": '{"old": 1}', "page.html": "<p>old</p>"}
DRAWS = 20
IN_TIME = 2.0  # seconds from Ctrl-C to the end
CODES = {Exit.DONE, Exit.PARTIAL, Exit.INTERRUPTED}

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals")


def started(name):
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([PROGRAM, *COMMANDS[name]], start_new_session=True, **streams)


@pytest.fixture(scope="module")
def seconds(tmp_path_factory):
    """How long each command takes that is left alone; the page of an exploration is served until it is ended."""
    folder = tmp_path_factory.mktemp("alone")
    write_loans(folder / "loans.csv")
    taken = {}
    for name, command in COMMANDS.items():
        began = time.monotonic()
        with subprocess.Popen([PROGRAM, *command], cwd=folder, stdout=subprocess.PIPE, text=True) as process:
            if name == "explore":
                process.stdout.readline()
                time.sleep(2.0)
                process.send_signal(signal.SIGINT)
            process.communicate()
        assert process.returncode in (Exit.DONE, Exit.INTERRUPTED)
        taken[name] = time.monotonic() - began
    return taken


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_loans(tmp_path / "loans.csv")
    for name, content in OLD.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def assert_whole(folder):
    """Every file is the old one or a new one, and a record is lines of JSON but for one that was being written."""
    if (folder / "run.json").read_text() != OLD["run.json"]:
        load(folder / "run.json")
    page = (folder / "page.html").read_text()
    assert page == OLD["page.html"] or page.rstrip().endswith("</html>")
    if (record := folder / "record.jsonl").exists():
        for line in record.read_text().split("\n")[:-1]:
            json.loads(line)


@pytest.mark.parametrize("draw", range(DRAWS))
@pytest.mark.parametrize("name", COMMANDS)
def test_killed(folder, seconds, name, draw):
    with started(name) as process:
        time.sleep(random.Random(f"{name} {draw}").uniform(0.0, 1.1 * seconds[name]))
        os.killpg(process.pid, signal.SIGKILL)
    assert_whole(folder)
    left = {path.name for path in folder.iterdir()} - {*OLD, "loans.csv", "record.jsonl"}
    assert all(name.startswith(".") for name in left)  # what was being written


@pytest.mark.parametrize("draw", range(DRAWS))
@pytest.mark.parametrize("name", COMMANDS)
def test_interrupted(folder, seconds, name, draw):
    with started(name) as process:
        time.sleep(random.Random(f"{name} {draw}").uniform(0.0, 1.1 * seconds[name]))
        os.killpg(process.pid, signal.SIGINT)
        began = time.monotonic()
        _, err = process.communicate(timeout=60)
    assert time.monotonic() - began < IN_TIME
    assert_whole(folder)
    assert {path.name for path in folder.iterdir()} <= {*OLD, "loans.csv", "record.jsonl"}
    if "site" not in err and process.returncode != -signal.SIGINT:  # before Python itself has started
        assert process.returncode in CODES, err
        assert "Traceback" not in err
    if process.returncode == Exit.PARTIAL:
        assert load(folder / "run.json").is_partial
