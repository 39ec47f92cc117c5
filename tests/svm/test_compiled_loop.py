"""The compiled inner loop."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

INTERPRETED = """
import json, sys
import numpy as np
from support.problems import labels, table
from fairenum.enumeration.search import Enumeration, Limits
from fairenum.svm.problem import Kernel, SvmProblem
from fairenum.solvers.registry import open_workspace
found = []
for kind in ("continuous", "grid", "hypercube"):
    for kernel in (Kernel("linear"), Kernel("rbf", 0.5)):
        for ridge in (0.0, 0.01):
            rng = np.random.default_rng(7)
            problem = SvmProblem(table(kind, rng, 18, 2), labels(rng, 18), 1.0, kernel=kernel, ridge=ridge)
            models = Enumeration(open_workspace("path", problem), Limits(models=12))
            found.append([[model.support.tolist(), model.objective] for model in models])
json.dump(found, sys.stdout)
"""


def test_compiled_and_interpreted_loops_agree():
    """The inner loop is ordinary Python that numba compiles; both must find the same models."""
    places = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": places}
    runs = [
        subprocess.run(
            [sys.executable, "-c", INTERPRETED],
            env=environment | {"NUMBA_DISABLE_JIT": disabled}, capture_output=True, text=True, check=True,
        )
        for disabled in ("0", "1")
    ]  # fmt: skip
    compiled, interpreted = (json.loads(run.stdout) for run in runs)
    for left, right in zip(compiled, interpreted, strict=True):
        np.testing.assert_allclose([value for _, value in left], [value for _, value in right], rtol=1e-12)
        assert tied_supports(left) == tied_supports(right)


def tied_supports(models):
    """The supports by objective, as sets: exact ties have no order. The last tie may be cut off, so it is left out."""
    ties = {}
    for support, value in models:
        ties.setdefault(round(value, 9), set()).add(tuple(support))
    return list(ties.values())[:-1]


def test_an_audit_with_interpreted_loops_can_be_saved(tmp_path):
    """As CONTRIBUTING advises for stepping through them: no number of numpy's own type is left in the document."""
    options = ["--split", "60,60,100", "-k", "2", "--search", "exact", "--no-prices", "--quiet", "--output", "run.json"]
    command = [sys.executable, "-m", "fairenum", "audit", "compas", *options]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((tmp_path / "run.json").read_text())["models"][0]["objective"] > 0.0
