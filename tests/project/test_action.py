"""The GitHub Action: its scripts work as documented, and treat inputs as data only."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from support.decisions import decided_frame
from support.documentation import blocks

from fairenum import verify
from fairenum.cli import group

ROOT = Path(__file__).parents[2]
ACTION, GUIDE = ROOT / ".github" / "actions" / "fairenum", ROOT / "docs" / "ci.md"
TEXT = (ACTION / "action.yml").read_text(encoding="utf-8")
DEFINITION = yaml.safe_load(TEXT)
STEPS = {step["name"]: step for step in DEFINITION["runs"]["steps"]}
EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")
PLAIN = "--decision hired --sensitive sex"
MARK = "hostile"
KEPT = {"run.json", "report.html", "summary.md", "rules.xml", "evidence.zip"}

# What an installation would need from a package index: an environment that notes what it was to install.
PYTHON = f"""#!/bin/sh
if [ "$2" = venv ]; then
  mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && ln -s "$RUNNER_TEMP/program" "$3/bin/fairenum"
elif [ "$2" = pip ]; then
  shift 2 && printf '%s\\n' "$@" > "$RUNNER_TEMP/installed"
else
  exec {sys.executable} "$@"
fi
"""
# A program that notes its arguments, prints what it is told to, and ends as it is told to.
RECORDER = """#!/bin/sh
printf '%s\\0' "$@" > "$RUNNER_TEMP/arguments"
cat "$RUNNER_TEMP/printed"
exit $(cat "$RUNNER_TEMP/code")
"""


@dataclass(frozen=True)
class Job:
    """A job in its folder, as a runner would run the action in it."""

    folder: Path

    @property
    def place(self) -> Path:
        return self.folder / "work"

    def run(self, **inputs: str) -> int:
        """Run all script steps in order, and return the exit code of the job."""
        values = {f"inputs.{name}": one.get("default", "") for name, one in DEFINITION["inputs"].items()}
        values |= {"inputs.python": str(self.folder / "python")}
        values |= {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
        for step in DEFINITION["runs"]["steps"]:
            if "run" in step and (code := self._script(step, values)):
                return code
            values |= {f"steps.{step.get('id')}.outputs.{name}": value for name, value in self.outputs.items()}
        return 0

    def _script(self, step: dict, values: dict[str, str]) -> int:
        (self.folder / "script.sh").write_text(step["run"])
        given = {name: EXPRESSION.sub(lambda found: values[found[1]], text) for name, text in step["env"].items()}
        runner = {"GITHUB_ACTION_PATH": str(ACTION), "RUNNER_TEMP": str(self.folder), "COLUMNS": "80"}
        runner |= {name: str(self.folder / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        # as the runner does for `shell: bash`
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(self.folder / "script.sh")]
        with (self.folder / "log").open("a") as log:
            environment = {**os.environ, **runner, **given}
            return subprocess.run(
                command, cwd=self.place, env=environment, stdout=log, stderr=log, check=False
            ).returncode

    @property
    def outputs(self) -> dict[str, str]:
        written = self.folder / "GITHUB_OUTPUT"
        return dict(line.split("=", 1) for line in written.read_text().splitlines()) if written.exists() else {}

    def ending(self, code: int, printed: str = "") -> "Job":
        (self.folder / "code").write_text(str(code))
        (self.folder / "printed").write_text(printed)
        return self

    @property
    def arguments(self) -> list[str]:
        return (self.folder / "arguments").read_text().split("\0")[:-1]

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    @property
    def installed(self) -> str:
        return (self.folder / "installed").read_text().splitlines()[-1]


@pytest.fixture
def job(tmp_path):
    """A job with the program itself."""
    (tmp_path / "python").write_text(PYTHON)
    (tmp_path / "python").chmod(0o755)
    (tmp_path / "program").symlink_to(Path(sys.executable).with_name("fairenum"))
    (tmp_path / "work").mkdir()
    return Job(tmp_path)


@pytest.fixture
def recorded(job):
    """A job with a program that only records its arguments."""
    (job.folder / "program").unlink()
    (job.folder / "program").write_text(RECORDER)
    (job.folder / "program").chmod(0o755)
    return job.ending(0)


def test_no_script_holds_an_expression():
    scripts = [step["run"] for step in STEPS.values() if "run" in step]
    assert len(scripts) == 3
    assert not any("${{" in script for script in scripts)
    assert all(step["shell"] == "bash" for step in STEPS.values() if "run" in step)


def test_every_input_is_used_and_there_are_no_others():
    used = set(re.findall(r"inputs\.([a-z-]+)", TEXT))
    assert used == {*DEFINITION["inputs"]}
    assert all(one["description"] for one in DEFINITION["inputs"].values())


def test_the_documentation_gives_it_inputs_that_it_has():
    jobs = [yaml.safe_load(block.text) for block in blocks(GUIDE) if "actions/fairenum@" in block.text]
    (step,) = (step for job in jobs for step in job["jobs"]["fairness"]["steps"] if "fairenum@" in step["uses"])
    assert {*step["with"]} <= {*DEFINITION["inputs"]}
    group.commands[step["with"]["command"]].make_context(
        "", [step["with"]["data"], *shlex.split(step["with"]["options"])]
    )


@pytest.mark.parametrize(
    ("limit", "code", "errors"), [("0.3", 0, ("0", "0")), ("0.8", 1, ("1", "0")), ("0.6", 3, ("0", "1"))]
)
def test_the_program_ends_the_job_and_everything_is_kept(job, limit, code, errors):
    decided_frame(2000).to_csv(job.place / "people.csv", index=False)
    options = f"{PLAIN}\n--fail-on 'demographic_parity_ratio >= {limit}'\n--replications 20"
    assert job.run(data="people.csv", options=options, folder="out") == code, job.log
    assert job.outputs == {"exit-code": str(code)}
    kept = job.place / "out"
    assert {path.name for path in kept.iterdir()} == KEPT
    suite = ElementTree.parse(kept / "rules.xml").getroot()
    assert (suite.get("failures"), suite.get("errors")) == errors
    assert verify(kept / "evidence.zip").is_verified
    assert (job.folder / "GITHUB_STEP_SUMMARY").read_text() == (kept / "summary.md").read_text()


@pytest.mark.parametrize(
    ("code", "on_open", "ends", "annotation"),
    [
        (1, "warn", 1, "::error::fairenum: a rule is violated"),
        (3, "fail", 3, "::error::fairenum: the rows leave a rule open"),
        (3, "wrn", 3, "::error::fairenum: the rows leave a rule open"),
        (3, "warn", 0, "::warning::fairenum: the rows leave a rule open"),
        (3, f"warn) touch {MARK} ;;", 3, "::error::fairenum: the rows leave a rule open"),
        (2, "warn", 2, "::error::fairenum ended with exit code 2; its log says why"),
        (70, "warn", 70, "::error::fairenum ended with exit code 70; its log says why"),
    ],
)
def test_the_job_ends_by_the_exit_code(recorded, code, on_open, ends, annotation):
    assert recorded.ending(code).run(data="people.csv", on_open=on_open) == ends
    assert recorded.outputs == {"exit-code": str(code)}
    assert annotation in recorded.log
    assert not list(recorded.folder.rglob(MARK))


@pytest.mark.parametrize(
    "text",
    [f"; touch {MARK}", f"$(touch {MARK})", f"`touch {MARK}`", f"a --html {MARK}", "--help", "* ? ~ $HOME", "a\nb"],
)
def test_hostile_names_are_names(recorded, text):
    assert recorded.run(data=text, options=shlex.join([text, text]), folder=f"{text}/x") == 0
    folder = str(recorded.place / text / "x")
    assert recorded.arguments[:3] == ["measure", "--json", f"{folder}/run.json"]
    assert recorded.arguments[-4:] == [text, text, "--", text]
    assert recorded.outputs == {"exit-code": "0"}
    assert not list(recorded.folder.rglob(MARK))


@pytest.mark.parametrize(
    "options", ["", f"--a b; touch {MARK} && c", f"$(touch {MARK}) *", "--fail-on 'a >= 0.1'\n  --b \"c d\" e\\ f"]
)
def test_options_are_divided_as_a_shell_divides_words_and_nothing_else(recorded, options):
    assert recorded.run(data="people.csv", options=options) == 0
    after_files = recorded.arguments[1 + 2 * len(KEPT) : -2]
    assert after_files == shlex.split(options)
    assert not list(recorded.folder.rglob(MARK))


@pytest.mark.parametrize(
    "given",
    [
        {"options": "--fail-on 'accuracy"},
        {"command": f"measure; touch {MARK}"},
        {"command": "bench"},
        {"version": f"0.1.0; touch {MARK}"},
        {"version": "0.1.0 --index-url=http://elsewhere"},
        {"extras": f"$(touch {MARK})"},
    ],
    ids=str,
)
def test_what_cannot_be_meant_ends_the_job(recorded, given):
    assert recorded.run(**{"data": "people.csv", **given}) in (1, 2)
    assert not (recorded.folder / "arguments").exists()
    assert not list(recorded.folder.rglob(MARK))


def test_names_in_a_table_are_no_commands_to_the_runner(recorded):
    assert recorded.ending(0, "::error::printed\n").run(data="people.csv") == 0
    stop, printed, resume = recorded.log.splitlines()
    token = re.fullmatch(r"::stop-commands::([0-9a-f]{32})", stop)[1]
    assert (printed, resume) == ("::error::printed", f"::{token}::")


@pytest.mark.parametrize(
    ("inputs", "requirement"),
    [
        ({}, str(ROOT)),
        ({"extras": "excel,parquet"}, f"{ROOT}[excel,parquet]"),
        ({"version": "0.1.0"}, "fairenum==0.1.0"),
        ({"version": "0.1.0", "extras": "parquet"}, "fairenum[parquet]==0.1.0"),
    ],
)
def test_what_is_installed(recorded, inputs, requirement):
    assert recorded.run(data="people.csv", **inputs) == 0
    assert recorded.installed == requirement


@pytest.mark.slow
def test_the_installed_program_runs(job):
    """With pip, from this repository, as a runner would."""
    decided_frame(400).to_csv(job.place / "people.csv", index=False)
    assert job.run(data="people.csv", options=PLAIN, python=sys.executable) == 0, job.log
    assert (job.folder / "fairenum" / "bin" / "fairenum").is_file()
    assert verify(job.place / "fairenum-report" / "evidence.zip").is_verified
