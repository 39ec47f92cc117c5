"""What goes wrong around the program: streams that end, disks that are full, files that are damaged, runs that meet."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support.tables import OPTIONS

from fairenum.__main__ import main
from fairenum.cli.streams import Exit
from fairenum.document.files import load, write_atomically
from fairenum.errors import ResultError

PROGRAM = str(Path(sys.executable).with_name("fairenum"))
RASCALS = Path(__file__).parents[1] / "plugins" / "fairenum-rascals"
unix = pytest.mark.skipif(os.name == "nt", reason="signals, pipes and limits")


def shell(command, **environment):
    return subprocess.run(
        ["sh", "-c", command], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


@unix
@pytest.mark.parametrize(
    ("streams", "code", "message"),
    [
        ("> /dev/full", Exit.BAD_INPUT, "error: 'standard output': No space left on device\n"),
        (">&-", Exit.BAD_INPUT, "error: 'standard output': Bad file descriptor\n"),
        ("--markdown page.md -q >&-", Exit.DONE, ""),
        (">&- 2>&- <&-", Exit.BAD_INPUT, ""),
    ],
)
def test_standard_output_that_cannot_be_written_to(folder, saved_run, streams, code, message):
    if "/dev/full" in streams and not Path("/dev/full").exists():
        pytest.skip("no such device")
    done = shell(f"'{PROGRAM}' report '{saved_run}' {streams}")
    assert (done.returncode, done.stderr) == (code, message)
    assert [path.name for path in folder.iterdir()] == (["page.md"] if code is Exit.DONE else [])


@unix
def test_a_full_disk_leaves_the_old_file(folder, saved_run):
    (folder / "page.html").write_text("old")
    # what measures coverage could not write either
    done = shell(f"unset COVERAGE_PROCESS_CONFIG; ulimit -f 4; '{PROGRAM}' report '{saved_run}' --html page.html -q")
    assert done.returncode == Exit.BAD_INPUT
    assert done.stderr == "error: cannot write 'page.html': File too large\n"
    assert [path.name for path in folder.iterdir()] == ["page.html"]
    assert (folder / "page.html").read_text() == "old"


def test_a_folder_that_is_gone_or_read_only_when_the_run_is_done_is_named(folder):
    with pytest.raises(ResultError, match=r"cannot write 'gone/run\.json': No such file"):
        write_atomically("gone/run.json", b"{}")


@unix
@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_folder_is_refused_before_anything_is_computed(folder, saved_run):
    (folder / "shut").mkdir(mode=0o555)
    done = shell(f"'{PROGRAM}' report '{saved_run}' --html shut/page.html")
    assert done.returncode == Exit.BAD_INPUT
    assert "nothing may be written to the folder 'shut'" in done.stderr


def test_no_home_and_no_folder_for_temporary_files(folder, saved_run):
    away = {"TMPDIR": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent", "HOME": "/nonexistent"}
    done = shell(f"unset HOME; '{PROGRAM}' report '{saved_run}' --html page.html -q", **away)
    assert (done.returncode, done.stderr) == (Exit.DONE, "")


def test_no_temporary_folder_at_all_is_one_line(fairenum, loans, folder, monkeypatch):
    def none(*_args, **_kwargs):
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", none)
    ended = fairenum("audit", loans, *OPTIONS, "--output", "run.json", "--evidence", "run.zip")
    assert ended.code == Exit.BAD_INPUT
    assert ended.err.startswith("200 / 80 / 120 rows train / select / confirm; ")  # said before the fault
    assert ended.err.endswith("\nerror: No usable temporary directory found in ['/tmp']\n")
    assert ended.err.count("\n") == 2
    assert sorted(path.name for path in folder.iterdir()) == ["loans.csv", "run.json"]
    assert load("run.json").status == "complete"


def test_two_runs_on_one_output_leave_one_of_them_whole(folder, saved_run, program):
    runs = [program("report", str(saved_run), "--html", "page.html", "--json", "run.json", "-q") for _ in range(3)]
    for process in runs:
        process.communicate(timeout=120)
        assert process.returncode == Exit.DONE
    assert sorted(path.name for path in folder.iterdir()) == ["page.html", "run.json"]
    assert load("run.json") == load(saved_run)
    assert (folder / "page.html").read_text().rstrip().endswith("</html>")


@pytest.mark.parametrize("stage", ["fairenum.cli._prepare_process", "fairenum.cli.flushed"])
def test_ctrl_c_while_it_loads_or_ends_is_no_traceback(monkeypatch, capfd, stage):
    def interrupt(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr("fairenum.cli._prepare_process", lambda: None)
    monkeypatch.setattr("fairenum.cli.run", lambda: Exit.DONE)
    monkeypatch.setattr(stage, interrupt)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == Exit.INTERRUPTED
    assert capfd.readouterr().err == "interrupted\n"


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A folder for PYTHONPATH, in which plugins that misbehave are installed."""
    place = tmp_path_factory.mktemp("site")
    shutil.copy(RASCALS / "fairenum_rascals.py", place)
    about = place / "fairenum_rascals-0.0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: fairenum-rascals\nVersion: 0.0.1\n")
    lines = [f"{name} = fairenum_rascals:{kind}" for name, kind in (("prints", "Prints"), ("clings", "Clings"))]
    (about / "entry_points.txt").write_text("\n".join(["[fairenum.solvers]", *lines]) + "\n")
    return str(place)


SMALL = "-k 2 --search exact --no-range --no-explanation --replications 20 --split 60,50,50"


def test_what_a_plugin_prints_does_not_spoil_what_was_asked_for(loans, site):
    options = " ".join(OPTIONS)
    done = shell(f"'{PROGRAM}' audit {loans} {options} {SMALL} --solver prints --json -", PYTHONPATH=site)
    assert done.returncode == Exit.DONE, done.stderr
    assert json.loads(done.stdout)["lapse"] is None
    for line in ("printed when it is imported", "printed by Python", "printed by compiled code"):
        assert line in done.stderr


@unix
@pytest.mark.slow
def test_a_plugin_that_hangs_is_named_and_another_goes_on(folder, loans, site):
    options = f"{' '.join(OPTIONS)} {SMALL} --solver clings --solver-timeout 1"
    done = shell(f"'{PROGRAM}' audit {loans} {options} --fallback path --output run.json", PYTHONPATH=site)
    assert done.returncode == Exit.DONE, done.stderr
    run = load("run.json")
    assert (run.lapse.solver, run.lapse.fallback) == ("clings", "path")
    assert "solver_replaced" in {caution.code for caution in run.warnings}
    assert "solver 'path' went on where 'clings' had failed" in " ".join(done.stdout.split())


@unix
@pytest.mark.slow
def test_an_attack_says_who_went_on(folder, loans, site):
    table = "--label approved --favourable yes --sensitive sex"
    options = f"{table} -k 2 --trials 2 --flips 3 --split 40,0,50 --solver clings --solver-timeout 1 --fallback path"
    done = shell(f"'{PROGRAM}' attack {loans} {options} --json run.json", PYTHONPATH=site)
    assert done.returncode == Exit.DONE, done.stderr
    assert [trial.lapse.solver for trial in load("run.json").trials] == ["clings", "clings"]
    assert "in 2 trials solver 'path' went on where 'clings' had failed" in " ".join(done.stdout.split())
