"""``fairenum attack`` and ``fairenum audit --attack``: what they print, save and refuse."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from loans import OPTIONS

from fairenum.cli.exit import Exit

TABLE = OPTIONS[:6]
SMALL = [*TABLE, "--split", "80,0,80", "--trials", "4", "-k", "4"]


def test_an_attack_is_simulated_printed_and_saved(fairenum, loans, folder):
    ended = fairenum("attack", loans, *SMALL, "--flips", "4,0.1", "--strategy", "paper", "--strategy", "random")
    assert ended.code == 0, ended.err
    assert ended.err == ""
    assert "4 draws of 80 training rows, 80 held out; aimed at sex = woman" in " ".join(ended.out.split())
    assert "What label flips do on the holdout" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    saved = json.loads((folder / "fairenum-attack-loans.json").read_text())
    assert saved["format"] == "fairenum attack 1"
    assert [trial["seed"] for trial in saved["trials"]] == [0, 1, 2, 3]
    assert [point["flips"] for point in saved["attack"]["curves"][0]["points"]] == [4, 8]


def test_json_stands_alone_and_is_the_same_twice(fairenum, loans, folder):
    runs = [fairenum("attack", loans, *SMALL, "--flips", "4", "--json", "-") for _ in range(2)]
    first, second = ({**json.loads(run.out), "timings": None} for run in runs)
    assert first == second
    assert not list(folder.glob("*.json"))


def test_markdown_goes_where_it_is_asked_for(fairenum, loans, folder):
    ended = fairenum("attack", loans, *SMALL, "--flips", "4", "--markdown", "flips.md", "--json", "run.json", "-q")
    assert (ended.code, ended.out) == (0, "")
    text = (folder / "flips.md").read_text()
    assert text.startswith("## Label flips in loans\n")
    assert "### Distribution of the gap over draws" in text
    assert (folder / "run.json").exists()


def test_an_audit_simulates_flips_if_asked(fairenum, loans, folder):
    ended = fairenum("audit", loans, *OPTIONS, "--attack", "--flips", "3", "--trials", "2", "--strategy", "random")
    assert ended.code == 0, ended.err
    assert "What label flips do on the holdout" in ended.out
    saved = json.loads((folder / "fairenum-loans.json").read_text())
    assert saved["attack"]["curves"][0]["strategy"] == "random"
    again = fairenum("report", "fairenum-loans.json")
    assert "What label flips do on the holdout" in again.out


def test_mistakes_are_explained_before_anything_is_computed(fairenum, loans):
    for arguments, words in [
        (["--strategy", "greedy"], "no attack strategy is called 'greedy'; did you mean 'greedy_parity'? Installed"),
        (["--flips", "a few"], "'a few' is no list of rows or shares to flip, such as 10 or 0.01,0.05"),
        (["--flips", "81"], "81 flips were asked for, but a draw has 80 training rows; ask for fewer"),
        (["--flips", "1.5"], "option 'flips' must be numbers of rows, or shares between 0 and 1, not (1.5,)"),
        (["--group", "wommen"], "no group of 'sex' is called 'wommen'; did you mean 'woman'?"),
        (["--defence", "prayer"], "no defence is called 'prayer'; there are knn_relabelling, loss_removal"),
        (["--trials", "0"], "option 'trials' must be a whole number of at least 1, not 0"),
        (["--split", "80,0,0"], "the holdout is not 0"),
        (["--dask", "tcp://127.0.0.1:1", "--jobs", "2"], "--jobs and --dask exclude each other"),
        (["--jobs", "0"], "option 'jobs' must be a number of processes, or -1 for all processors, not 0"),
        (["--json", loans], f"{loans!r} is the input; give the output another name"),
        (["--primary", "race"], "no sensitive column is called 'race', named as primary; there are 'sex'"),
    ]:
        ended = fairenum("attack", loans, *SMALL, *arguments)
        assert ended.code == 2, arguments
        assert words in ended.err, (arguments, ended.err)
        assert len(ended.err.splitlines()) == 1
    ended = fairenum("audit", loans, *OPTIONS, "--trials", "3")
    assert (ended.code, "--trials is about label flips; add --attack" in ended.err) == (2, True)


def test_more_flips_than_candidates_are_refused_with_their_number(fairenum, loans):
    ended = fairenum("attack", loans, *SMALL, "--flips", "70", "--strategy", "group")
    assert ended.code == 2
    assert "all 4 trials failed; seed 0: 70 flips were asked for, but this draw has" in ended.err
    assert "rows of that group to flip in that direction among its 80 training rows; ask for at most" in ended.err


def test_without_groups_there_is_nothing_to_attack(fairenum, loans):
    ended = fairenum("attack", loans, "--label", "approved", "--favourable", "yes", "--trials", "1")
    assert ended.code == 2
    assert "no sensitive column was named, so there are no groups to compare; name one" in ended.err


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_keeps_the_finished_trials(folder, loans, jobs):
    """A terminal sends the signal to all processes of the program."""
    arguments = f"--split 80,0,80 --trials 9999 --flips 4 -k 4 --jobs {jobs} --json part.json".split()
    command = [str(Path(sys.executable).with_name("fairenum")), "attack", loans, *TABLE, *arguments]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "encoding": "utf-8"}
    environment = {**os.environ, "FORCE_COLOR": "1"}
    with subprocess.Popen(command, env=environment, start_new_session=True, **streams) as process:
        seen = ""
        while not re.search(r"[1-9]\d*/9999", seen[-40:]) and process.poll() is None:
            seen += process.stderr.read(1)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == Exit.PARTIAL, err
    assert "Traceback" not in err
    assert "Interrupted: " in out
    saved = json.loads((folder / "part.json").read_bytes())
    assert saved["attack"]["status"] == "interrupted"
    assert 1 <= len(saved["trials"]) == saved["attack"]["clean"]["trials"] < 9999
