"""The public names: their list, their docstrings and their types."""

import ast
import inspect
import json
import pydoc
import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import fairenum

KNOWN = Path(__file__).parents[2] / ".mypy_cache"
PRELUDE = """\
import numpy as np
import pandas as pd
from typing import reveal_type
from fairenum import AuditConfig, AuditResult, EnumSVC, Exploration, Tolerances
from fairenum import audit, list_solvers, load_dataset, select, verify
from fairenum.testing import assert_fair

frame = pd.DataFrame({"x": [0.0, 1.0], "y": [0, 1]})
result = audit("german", k=5, C="auto", kernel="rbf", sizes=(0.6, 0.2, 0.2), drop=["age"], progress=print)
exploration = Exploration(frame, "y", 1, "x", record="decision.jsonl", C=2.0)
svm = EnumSVC(C=1.0, kernel="linear", n_models=3).fit(np.zeros((4, 2)), np.array([0, 1, 0, 1]))
"""
TYPES = {
    "result": "AuditResult",
    'audit(frame, "y", 1, "x", config=AuditConfig(k=3))': "AuditResult",
    'select(result, rank=2, metric="equalized_odds_difference").document.selection.rank': "int | None",
    "result.document.models[0].scores.holdout.accuracy.value": "float | None",
    "result.document.first.scores.selection.demographic_parity_difference.verdict": "Verdict | None",
    "result.document.config.svm.C": "float | Literal['auto']",
    "result.document.explanation": "Explanation | None",
    "result.warnings": "dict[str, list[str]]",
    "result.to_frame()": "DataFrame",
    "result.tables()": "dict[str, DataFrame]",
    "result.to_html()": "str",
    'verify("audit.zip").faults': "tuple[Fault, ...]",
    'result.attacked(trials=3, strategies="random")': "AuditResult",
    'AuditResult.load("run.json").selected': "AuditedModel | None",
    'assert_fair(frame, "y", "x", rules="selection_rate>=0.1", label="z", confidence=0.9)': "MeasureResult",
    'assert_fair(result, rules=["accuracy>=0.5"], when_open="warn")': "AuditResult",
    "exploration.next()": "ExploredModel | None",
    "exploration.view.models[0].scores.accuracy.value": "float | None",
    "exploration.fairer(steps=5)": "tuple[ExploredModel, ...]",
    "exploration.leave_out([3, 4]).number": "int",
    'exploration.tolerate(metric="equalized_odds_difference", guards=["none"])': "int | None",
    "exploration.compare(1, 2).flipped": "tuple[FlippedRow, ...]",
    'exploration.person({"x": 1.0})': "Person",
    'exploration.commit(1, "why", "who")': "AuditResult",
    'Exploration.resume("decision.jsonl", frame)': "Exploration",
    "svm": "EnumSVC",
    "svm.models_": "list[Model]",
    "svm.models_[0].objective": "float",
    'load_dataset("german")': "Dataset",
    'load_dataset("german").features': "tuple[Column, ...]",
    "list_solvers()": "tuple[SolverInfo, ...]",
    "Tolerances().eps": "float",
}
MISTAKES = (
    'audit("german", k="ten")',
    'audit("german", kk=3)',
    'audit("german", kernel="cubic")',
    "audit(3)",
    'Exploration("german", kk=3)',
    'exploration.leave_out("cluster")',
    "exploration.commit(1)",
    'EnumSVC(kernel="cubic")',
    'select(result, metric="accuracy")',
    "result.document.models[0].scores.holdout.accurracy",
    "result.document.selection.rank + 1",
    'assert_fair(frame, "y", "x")',
    'assert_fair(result, "y", rules="accuracy>=0.5")',
    'assert_fair(frame, "y", "x", rules="accuracy>=0.5", when_open="pass")',
)


def test_the_public_names_are_these():
    assert fairenum.__all__ == sorted(fairenum._HOMES)
    assert dir(fairenum) == sorted([*fairenum.__all__, "__version__"])
    for name in fairenum.__all__:
        assert getattr(fairenum, name).__name__ == name
    with pytest.raises(AttributeError, match="module 'fairenum' has no attribute 'audits'"):
        _ = fairenum.audits


def test_type_checkers_are_told_the_same_names_and_homes():
    tree = ast.parse(Path(fairenum.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    assert isinstance(block.test, ast.Name)
    assert block.test.id == "TYPE_CHECKING"
    told = {alias.name: node.module for node in block.body for alias in node.names}
    assert told == {name: f"fairenum.{home}" for name, home in fairenum._HOMES.items()}


def test_an_audit_shows_its_true_signature():
    signature = inspect.signature(fairenum.audit)
    assert list(signature.parameters) == [
        "data",
        "label",
        "favourable",
        "sensitive",
        "config",
        "progress",
        "budget",
        "options",
    ]
    described = pydoc.render_doc(fairenum.audit, renderer=pydoc.plaintext)
    assert "data: 'str | Path | pd.DataFrame | Dataset'" in described
    assert "**options: 'Unpack[AuditOptions]'" in described
    assert "Audit a table: list the near-optimal SVMs" in described


@pytest.fixture(scope="module")
def script(tmp_path_factory) -> Path:
    """A user's script: correct lines whose types are revealed, and mistakes."""
    file = tmp_path_factory.mktemp("user") / "user.py"
    lines = [*(f"reveal_type({expression})" for expression in TYPES), *(f"print({mistake})" for mistake in MISTAKES)]
    file.write_text(PRELUDE + "\n".join(lines) + "\n")
    return file


def mypy(script: Path) -> list[tuple[int, str]]:
    if KNOWN.is_dir():  # what `make types` has read of numpy and pandas need not be read again
        shutil.copytree(KNOWN, script.parent / "cache", dirs_exist_ok=True)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(script.parent / "cache"), script.name]
    done = subprocess.run(command, check=False, cwd=script.parent, capture_output=True, text=True)
    found = re.findall(r'^user\.py:(\d+): (?:note: Revealed type is "(.*)"|error: .*)$', done.stdout, re.MULTILINE)
    assert done.returncode == 1, done.stdout + done.stderr
    return [(int(line), revealed) for line, revealed in found]


def pyright(script: Path) -> list[tuple[int, str]]:
    # basedpyright is pyright in one package; pyright's own downloads the checker when it is first called
    (script.parent / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--outputjson", script.name]
    done = subprocess.run(command, check=False, cwd=script.parent, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    messages = json.loads(done.stdout)["generalDiagnostics"]
    revealed = [re.fullmatch(r'Type of ".*" is "(.*)"', message["message"]) for message in messages]
    lines = [message["range"]["start"]["line"] + 1 for message in messages]
    return [(line, found[1] if found else "") for line, found in zip(lines, revealed, strict=True)]


@pytest.mark.parametrize("check", [mypy, pyright])
def test_a_users_file_is_checked_with_real_types(script, check):
    first = len(PRELUDE.splitlines()) + 1
    expected = dict(enumerate(TYPES.values(), first))
    mistakes = range(first + len(TYPES), first + len(TYPES) + len(MISTAKES))
    found = check(script)
    revealed = {line: re.sub(r"(?:\w+\.)+(?=\w)", "", told) for line, told in found if told}
    assert revealed == expected
    assert {line for line, told in found if not told} == set(mistakes)


def test_the_package_says_that_it_has_types():
    assert files("fairenum").joinpath("py.typed").is_file()
