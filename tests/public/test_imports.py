"""Imports: heavy packages are loaded only when needed."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairenum.solvers.registry import list_solvers, load_solver

PROGRAM = Path(sys.executable).with_name("fairenum")
HEAVY = {"fairlearn", "sklearn", "osqp", "piqp", "scipy", "pandas", "numba", "jinja2", "rich", "click"}
HEAVY |= {"starlette", "uvicorn", "anywidget"}


def modules_after(code):
    """Run code in a new interpreter and return the top packages that it imported."""
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def backends():
    return {module for info in list_solvers() for module in load_solver(info.name).requires}


def test_importing_fairenum_imports_no_backend_and_no_fairlearn():
    assert not modules_after("import fairenum; dir(fairenum)") & (HEAVY | {"numpy"})


def test_the_command_line_imports_nothing_heavy_before_a_command_runs():
    assert not modules_after("import fairenum.cli") & (HEAVY - {"rich", "click"} | {"numpy"})


def test_evidence_is_checked_without_numbers_libraries():
    assert not modules_after("from fairenum import verify") & (HEAVY - {"jinja2", "rich"} | {"numpy", "skops"})


def test_a_page_is_served_without_numbers_libraries_and_words():
    found = modules_after("import fairenum.cli, fairenum.explore.server")
    assert not found & (HEAVY - {"rich", "click", "starlette", "uvicorn"} | {"numpy"})


def test_listing_solvers_imports_none_of_their_backends():
    found = modules_after("from fairenum import list_solvers; assert len(list_solvers()) >= 4")
    assert {"sklearn", "osqp", "piqp"} <= backends()
    assert not found & (backends() | {"fairlearn"})


@pytest.mark.parametrize("module", ["fairenum_libsvm", "fairenum_osqp", "fairenum_path", "fairenum_piqp"])
def test_a_plugin_imports_its_backend_when_it_is_opened_and_not_before(module):
    assert not modules_after(f"import {module}") & (backends() | {"fairlearn"})


def test_opening_one_solver_does_not_import_the_others():
    code = """
from fairenum.svm.problem import SvmProblem
from fairenum.solvers.registry import open_workspace
open_workspace("piqp", SvmProblem([[0.0], [1.0]], [-1, 1])).solve()
"""
    found = modules_after(code)
    assert "piqp" in found
    assert not found & {"osqp", "sklearn", "fairlearn"}


def test_help_is_there_within_half_a_second():
    """Processor time, best of a dozen: other tests may run at the same time."""
    best = math.inf
    for _ in range(12):
        before = os.times()
        subprocess.run([PROGRAM, "--help"], capture_output=True, check=True)
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        best = min(best, used)
        if best < 0.4:
            break
    assert 0.0 < best < 0.5
