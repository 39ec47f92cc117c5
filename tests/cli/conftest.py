"""The program as a user runs it, in this process or in one of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from loans import OPTIONS, write_loans

from fairenum import cli
from fairenum.cli import progress


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
    monkeypatch.setattr(progress, "LONG", 1000.0)  # a busy machine is no first run

    def run(*arguments: str) -> Ended:
        code = cli.run(list(arguments))
        printed = capsys.readouterr()
        return Ended(int(code), printed.out, printed.err)

    return run


@pytest.fixture
def program(folder):
    """Run a command line as a process of its own, or start it."""

    def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
        command = [str(Path(sys.executable).with_name("fairenum")), *arguments]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "encoding": "utf-8"}
        return subprocess.Popen(command, env={**os.environ, **environment}, **streams)

    return start


@pytest.fixture
def loans(folder):
    return str(write_loans(folder / "loans.csv").relative_to(folder))


@pytest.fixture(scope="session")
def saved_run(tmp_path_factory):
    """The saved audit of the table, made once."""
    place = tmp_path_factory.mktemp("saved")
    table = write_loans(place / "loans.csv")
    code = cli.run(["audit", str(table), *OPTIONS, "--quiet", "--output", str(place / "run.json")])
    assert code == 0
    return place / "run.json"
