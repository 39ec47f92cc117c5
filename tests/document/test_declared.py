"""An option is declared once: one line makes it an option of Python, of the command line, of files and of documents."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fairenum

ROOT = Path(fairenum.__file__).parents[1]
LAST = "    data_dates: str | None = line("
DECLARED = '    strictness: int = whole(3, 1, 9, panel=MODELS, help="How strict to be.")\n'
OPTIONS = ("compas", "--split", "60,60,100", "-k", "2", "--search", "exact", "--no-prices", "--replications", "10")
PYTHON = """
from fairenum import AuditConfig
from fairenum.errors import ConfigError
print(AuditConfig(strictness=4).strictness, "How strict to be." in AuditConfig.__doc__)
try:
    AuditConfig().but(strictness=10)
except ConfigError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the program in which one more option of an audit is declared."""
    root = tmp_path_factory.mktemp("copy")
    for folder in ("fairenum", "plugins", "docs", "datasets"):
        shutil.copytree(ROOT / folder, root / folder)
    file = root / "fairenum/document/audit_config.py"
    text = file.read_text()
    assert text.count(LAST) == 1
    file.write_text(text.replace(LAST, DECLARED + LAST))
    return root


@pytest.fixture
def run(copy, tmp_path):
    """Run Python with the copy, and return its exit code, output and errors."""

    def run(*arguments):
        environment = {**os.environ, "PYTHONPATH": f"{copy}{os.pathsep}{copy / 'plugins'}", "COLUMNS": "200"}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout, done.stderr

    return run


def test_an_option_is_declared_once(run, tmp_path):
    code, out, _ = run("-c", PYTHON)
    refused = "option 'strictness' must be a whole number of at least 1 and at most 9, not 10"
    assert (code, out.splitlines()) == (0, ["4 True", refused])

    _, help_page, _ = run("-m", "fairenum", "audit", "--help")
    (shown,) = (line for line in help_page.splitlines() if "--strictness" in line)
    assert all(part in shown for part in ("INTEGER", "1<=x<=9", "How strict to be.", "[default: 3]"))

    code, _, err = run("-m", "fairenum", "audit", *OPTIONS, "--strictness", "10")
    assert (code, err) == (2, f"error: {refused}\n")
    (tmp_path / "fairenum.toml").write_text("strictness = 12")
    code, _, err = run("-m", "fairenum", "audit", *OPTIONS)
    assert (code, err) == (2, f"error: {refused.replace('10', '12')}\n")

    (tmp_path / "fairenum.toml").write_text("strictness = 7")
    code, out, err = run("-m", "fairenum", "audit", *OPTIONS, "--json", "-")
    assert (code, json.loads(out)["config"]["strictness"]) == (0, 7), err


def test_keyword_arguments_and_pages_are_written_from_the_declaration(run, copy):
    pages = f"import runpy; pages = runpy.run_path({str(copy / 'docs/reference.py')!r})['PAGES']; "
    _, keywords, _ = run("-c", pages + "print(pages['fairenum/document/keywords.py']())")
    assert "    strictness: int\n" in keywords.partition("class AuditOptions")[2].partition("class ")[0]
    _, schema, err = run("-c", pages + "print(pages['docs/schema.md']())")
    assert "| `strictness` | integer | How strict to be. |" in schema, err
