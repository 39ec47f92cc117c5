"""fairenum solvers: the table, the notes below it, and JSON."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from fairenum import cli
from fairenum.solvers.registry import SolverInfo

PROGRAM = Path(sys.executable).with_name("fairenum")


def run(*arguments):
    result = CliRunner().invoke(cli.group, ["solvers", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def odd_solvers(monkeypatch):
    found = (
        SolverInfo("broken", "acme", "2.0", error="solver 'broken' of acme cannot be loaded: [red]Oops[/red]"),
        SolverInfo("fine", "fairenum", "0.1.0", (("scikit-learn", "1.9.1"), ("numpy", "2.4.6"))),
        SolverInfo("piqp", "fairenum", "0.1.0", (), ("piqp",), "pip install 'fairenum[piqp]'"),
    )
    monkeypatch.setattr("fairenum.solvers.registry.list_solvers", lambda: found)


def test_the_bundled_solvers_are_one_table_within_80_columns():
    lines = run().splitlines()
    assert lines[0].split() == ["name", "provider", "version", "backend", "status"]
    assert [line.split()[0] for line in lines[1:5]] == ["libsvm", "osqp", "path", "piqp"]
    assert all("fairenum" in line and "available" in line for line in lines[1:5])
    assert max(map(len, lines)) <= 80


def test_what_is_missing_or_broken_is_explained_below_the_table(odd_solvers):
    lines = [line.rstrip() for line in run().splitlines()]
    assert lines[1:4] == [
        "broken  acme      2.0      none                             broken",
        "fine    fairenum  0.1.0    scikit-learn 1.9.1, numpy 2.4.6  available",
        "piqp    fairenum  0.1.0    none                             needs piqp",
    ]
    assert lines[4:] == [
        "solver 'broken' of acme cannot be loaded: [red]Oops[/red]",
        "solver 'piqp' needs piqp; install it with: pip install 'fairenum[piqp]'",
    ]


def test_json_says_everything_to_machines(odd_solvers):
    broken, fine, piqp = json.loads(run("--json"))
    assert broken["error"].endswith("[red]Oops[/red]")
    assert not broken["available"]
    assert fine == {
        "name": "fine",
        "provider": "fairenum",
        "version": "0.1.0",
        "backends": {"scikit-learn": "1.9.1", "numpy": "2.4.6"},
        "available": True,
        "missing": [],
        "install": "",
        "error": None,
    }
    assert piqp["missing"] == ["piqp"]
    assert piqp["install"] == "pip install 'fairenum[piqp]'"


def test_a_pipe_gets_no_colour():
    done = subprocess.run([PROGRAM, "solvers"], capture_output=True, text=True, check=True)
    assert "\x1b" not in done.stdout
    assert done.stderr == ""
    assert "libsvm" in done.stdout


def test_help_says_what_the_command_does():
    output = CliRunner().invoke(cli.group, ["solvers", "--help"]).output
    assert "how to install what is missing" in " ".join(output.split())
