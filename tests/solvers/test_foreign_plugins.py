"""Third-party solvers, built and installed: an honest one is found and passes, a lying one is refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "plugins"
PROGRAM = Path(sys.executable).with_name("fairenum")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory with both distributions in it, to be put on PYTHONPATH."""
    place = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    sources = [SOURCES / "fairenum-sample", SOURCES / "fairenum-liar"]
    alone = ["--no-deps", "--no-build-isolation", "--no-index", "--target", place]
    subprocess.run([*pip, *alone, *sources], check=True, capture_output=True)
    return place


def run(place, *command):
    places = os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": places, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_installed_plugins_are_listed_with_their_providers(place):
    listed = {row["name"]: row for row in json.loads(run(place, PROGRAM, "solvers", "--json").stdout)}
    assert set(listed) == {"libsvm", "liar", "osqp", "path", "piqp", "sample"}
    assert listed["sample"]["provider"] == "fairenum-sample"
    assert listed["sample"]["version"] == "1.2.3"
    assert list(listed["sample"]["backends"]) == ["numpy"]
    assert listed["liar"]["available"]
    table = run(place, PROGRAM, "solvers").stdout
    assert "fairenum-sample  1.2.3" in table


def test_without_them_they_are_not_listed(tmp_path):
    listed = json.loads(run(tmp_path, PROGRAM, "solvers", "--json").stdout)
    assert [row["name"] for row in listed] == ["libsvm", "osqp", "path", "piqp"]


def test_an_honest_plugin_from_elsewhere_passes_the_suite(place):
    done = run(place, sys.executable, "-m", "fairenum.solvers.conformance", "sample", "--sizes", "20")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].split()[:3] == ["all", "20", "0"]


def test_the_suite_finds_the_liar_out(place):
    done = run(place, sys.executable, "-m", "fairenum.solvers.conformance", "liar", "--sizes", "30")
    assert done.returncode == 1
    rows = [line for line in done.stdout.splitlines() if line.startswith("solver 'liar' on ")]
    assert len(rows) == 20
    for row in rows:
        assert "answers are proven: solver 'liar' claimed an optimum that misses the proven one by" in row


def test_a_workspace_refuses_the_liar_by_name(place):
    code = """
from fairenum.svm.problem import SvmProblem
from fairenum.solvers.registry import open_workspace
open_workspace("liar", SvmProblem([[0.0], [1.0], [2.0], [3.0]], [-1, -1, 1, 1])).solve()
"""
    done = run(place, sys.executable, "-c", code)
    assert done.returncode == 1
    assert "AnswerRefused: solver 'liar' claimed an optimum that misses the proven one by" in done.stderr


def test_an_unknown_name_is_bad_usage():
    done = run("", sys.executable, "-m", "fairenum.solvers.conformance", "sampel")
    assert done.returncode == 2
    assert "no solver is called 'sampel'" in done.stderr


def test_a_strategy_from_elsewhere_attacks(place, tmp_path):
    options = [
        "--strategy",
        "first_rows",
        "--flips",
        "3",
        "--trials",
        "2",
        "-k",
        "2",
        "--split",
        "60,0,100",
        "--json",
        "-",
    ]
    done = run(place, PROGRAM, "attack", "compas", *options)
    assert done.returncode == 0, done.stderr
    trials = json.loads(done.stdout)["trials"]
    assert [trial["attacks"][0]["rows"] for trial in trials] == [[0, 1, 2], [0, 1, 2]]
    without = run(tmp_path, PROGRAM, "attack", "compas", *options)
    assert without.returncode == 2
    assert "no attack strategy is called 'first_rows'" in without.stderr
