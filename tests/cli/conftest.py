"""The program as a user runs it, in this process or in one of its own, and runs that were saved before."""

import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.saved_runs import SMALL
from support.tables import OPTIONS, write_loans

from fairenum import cli
from fairenum.cli import progress_bar
from fairenum.document.choice import GapChange
from fairenum.document.files import load, save
from fairenum.document.terms import Verdict
from fairenum.document.value import Estimate, Parts


@dataclass(frozen=True)
class Ended:
    """How a run of the program ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in an empty folder, 80 columns wide, without the environment's wishes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR", "FAIRENUM_DEBUG", "GITHUB_ACTIONS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def fairenum(folder, capsys, monkeypatch):
    """Run a command line in this process."""
    monkeypatch.setattr(progress_bar, "LONG", 1000.0)  # a busy machine is no first run

    def run(*arguments: str) -> Ended:
        code = cli.run(list(arguments))
        printed = capsys.readouterr()
        return Ended(int(code), printed.out, printed.err)

    return run


@pytest.fixture
def program(folder):
    """Start a command line as a process of its own, and of a session of its own."""

    def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
        command = [str(Path(sys.executable).with_name("fairenum")), *arguments]
        # a sign may be cut in two where a test has read up to its middle
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8", "errors": "replace"}
        return subprocess.Popen(command, env={**os.environ, **environment}, start_new_session=True, **streams)

    return start


@pytest.fixture
def interrupted(program):
    """Run a command line until its progress shows a pattern, and press Ctrl-C, which reaches all its processes."""

    def run(*arguments: str, at: str) -> Ended:
        with program(*arguments, FORCE_COLOR="1") as process:
            seen = ""
            while not re.search(at, seen[-60:]) and process.poll() is None:
                seen += process.stderr.read(1)
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=60)
        return Ended(process.returncode, out, err)

    return run


@pytest.fixture
def loans(folder):
    return str(write_loans(folder / "loans.csv").relative_to(folder))


@pytest.fixture
def run(folder):
    """A saved audit in the folder, in which the holdout calls model 2 fairer."""
    document = load(SMALL)
    change, kept = Estimate(-0.05, -0.07, -0.03), Estimate(0.0, -0.005, 0.005)
    gap = "demographic_parity_difference"
    claim = GapChange("sex", gap, True, Estimate(0.2), Estimate(0.15), change, 0.96, Verdict.FAIRER)
    selection = document.selection.but(
        rank=2,
        outcome="selected",
        reason="smallest_gap",
        gap_change=Parts(change, change),
        performance_change=Parts(kept, kept),
        accuracy_change=Parts(kept, kept),
        verdict=Verdict.FAIRER,
        answer="proposed",
        strip=(claim,),
        performance_floor=-0.004,
        performance_ceiling=0.004,
    )
    save(document.but(selection=selection, attack=None), "run.json")
    return "run.json"


@pytest.fixture(scope="session")
def saved_run(tmp_path_factory):
    """The saved audit of the table, made once."""
    place = tmp_path_factory.mktemp("saved")
    table = write_loans(place / "loans.csv")
    split = ["--split", "0.6,0.2,0.2"]  # with fewer training rows no listed model leaves any out
    code = cli.run(["audit", str(table), *OPTIONS, *split, "--quiet", "--output", str(place / "run.json")])
    assert code == 0
    return place / "run.json"
