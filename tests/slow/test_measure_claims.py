"""What is said about measurements: a million decisions in seconds and in little memory, in every medium."""

import resource
import subprocess
import sys

import pytest
from support.decisions import decided_frame

LABEL = ("--label", "good", "--favourable", "yes")
FORMS = ("--html", "a.html", "--markdown", "a.md", "--json", "a.json", "--junit", "a.xml")


@pytest.mark.parametrize(
    ("more", "seconds"), [((), 10.0), (("--decision", "rival"), 10.0), ((*LABEL, "--score", "points"), 15.0)]
)
def test_a_million_decisions_take_seconds_and_less_than_a_gigabyte(tmp_path, more, seconds):
    decided_frame(1_000_000).to_csv(tmp_path / "people.csv", index=False)
    command = [sys.executable, "-c", "from fairenum.cli import main; main()", "measure", "people.csv"]
    command += ["--decision", "hired", "--sensitive", "sex", "--sensitive", "race", *more, *FORMS]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # the seconds of this process alone: others may keep the machine busy
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < seconds
    assert after.ru_maxrss < 1_000_000  # kilobytes; the largest of all children so far
