"""Every way in which the program ends, each through the real command line."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from click.shell_completion import BashComplete
from support.documents import audit, in_use, near, scored
from support.tables import OPTIONS

from fairenum import cli
from fairenum.cli import progress_bar
from fairenum.cli.streams import Exit
from fairenum.document.files import load, parse, save
from fairenum.runtime.budget import Budget, Forecast

LABEL = ["--label", "approved", "--favourable", "yes"]
SMALL = ["--split", "250,25,25"]


@pytest.mark.parametrize(
    ("rules", "code", "outcome"),
    [
        (["accuracy>=0.1"], Exit.DONE, "holds"),
        (["accuracy>=0.99"], Exit.VIOLATED, "violated"),
        (["accuracy>={value}"], Exit.INCONCLUSIVE, "open"),
        (["accuracy>={value}", "accuracy>=0.99", "accuracy>0"], Exit.VIOLATED, "violated"),
        (["demographic_parity_difference<=0.999"], Exit.DONE, "holds"),
        (["demographic_parity_ratio>=0.00001"], Exit.DONE, "holds"),
    ],
)
def test_rules_decide_the_code(fairenum, saved_run, rules, code, outcome):
    value = load(saved_run).selected.scores.holdout.accuracy.value
    given = [part for rule in rules for part in ("--fail-on", rule.format(value=value))]
    ended = fairenum("report", str(saved_run), *given)
    assert ended.code == code
    assert ended.err == ""
    assert f"\n{outcome} " in ended.out


@pytest.mark.parametrize(
    ("whom", "code"),
    [
        ("", Exit.VIOLATED),
        ("incumbent:", Exit.VIOLATED),
        ("best:", Exit.DONE),
        ("selected:", Exit.INCONCLUSIVE),
    ],
)
def test_a_gate_is_about_the_model_in_use_unless_it_says_otherwise(fairenum, folder, whom, code):
    document = scored(scored(audit(), 20, accuracy=near(0.3)), 1, accuracy=near(0.8))
    save(in_use(scored(document, 3, accuracy=near(0.6))), folder / "run.json")
    ended = fairenum("report", str(folder / "run.json"), "--quiet", "--fail-on", f"{whom}accuracy>=0.6")
    assert ended.code == code
    named = {Exit.VIOLATED: "violated: incumbent:accuracy>=0.6: the model in use (tool): ", Exit.DONE: ""}
    assert ended.err.startswith(named.get(code, "open: selected:accuracy>=0.6: model 3: "))


def test_a_small_group_leaves_a_rule_open(fairenum, loans):
    rule = ["--fail-on", "demographic_parity_difference<=0.999", "--fail-on", "accuracy>0.01"]
    ended = fairenum("audit", loans, *OPTIONS, *SMALL, *rule, "--quiet")
    assert ended.code == Exit.INCONCLUSIVE
    assert ended.out == ""
    assert ended.err.startswith("open: demographic_parity_difference<=0.999: ")
    assert "too small: man (" in ended.err
    assert ended.err.count("\n") == 1
    assert fairenum("audit", loans, *OPTIONS, *SMALL, *rule, "--min-group-size", "2").code == Exit.DONE


def test_a_violated_rule_is_told_on_stderr_if_stdout_holds_json(fairenum, saved_run):
    ended = fairenum("report", str(saved_run), "--json", "-", "--fail-on", "accuracy>=0.99")
    assert ended.code == Exit.VIOLATED
    assert parse(ended.out.encode(), "run") == load(saved_run)
    assert ended.err.startswith("violated: accuracy>=0.99: ")


def write(content):
    return lambda path: path.write_bytes(content if isinstance(content, bytes) else content.encode())


ROWS = "".join(f"{i},{i % 7},{'ab'[i % 2]},{'yes' if i % 3 else 'no'}\n" for i in range(60))
HEADER = "income,debt,sex,approved\n"
BAD_INPUT = {
    "missing column": (HEADER + ROWS, ["--sensitive", "gender"], "no column 'gender', named as sensitive"),
    "near miss": (HEADER + ROWS, ["--sensitive", "sexx"], "did you mean 'sex'?"),
    "three labels": (HEADER + ROWS + "1,2,a,maybe\n", [], "'approved'"),
    "infinite": (HEADER + ROWS + "inf,2,a,yes\n", [], "'income'"),
    "one class": (HEADER + ROWS.replace("no", "yes"), [], "'approved'"),
    "constant groups": ("".join(f"7,{line}\n" for line in ROWS.splitlines()), ["--sensitive", "same"], "'same'"),
    "empty": ("", [], "empty"),
    "header only": (HEADER, [], "row"),
    "wrong delimiter": ((HEADER + ROWS).replace(",", ";"), ["--delimiter", ","], "delimiter"),
    "no text": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)), [], "text"),
    "columns of one name": (HEADER.replace("debt", "income") + ROWS, [], "both called 'income'"),
    "unknown favourable": (HEADER + ROWS, ["--favourable", "maybe"], "'maybe'"),
    "ragged": (HEADER + ROWS + "1,2,a,yes,5\n", [], "line 62"),
}
BAD_INPUT["constant groups"] = ("same," + HEADER + BAD_INPUT["constant groups"][0], *BAD_INPUT["constant groups"][1:])


@pytest.mark.parametrize(("content", "options", "message"), BAD_INPUT.values(), ids=BAD_INPUT)
def test_bad_input_is_one_line_and_nothing_is_written(fairenum, folder, content, options, message):
    write(content)(folder / "bad.csv")
    ended = fairenum("audit", "bad.csv", *LABEL, *options)
    assert ended.code == Exit.BAD_INPUT
    assert ended.out == ""
    assert ended.err.startswith("error: ")
    assert message in ended.err
    assert ended.err.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == ["bad.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["audit", "compass"], "did you mean 'compas'?"),
        (["audit", "none.csv", *LABEL], "none.csv"),
        (["audit", ".", *LABEL], "'.'"),
        (["attack", "none.csv", *LABEL], "none.csv"),
        (["bench", "none.csv", *LABEL], "none.csv"),
        (["select", "none.json"], "cannot read 'none.json': No such file or directory"),
        (["select", "."], "File '.' is a directory"),
        (["report", "."], "File '.' is a directory"),
        (["report"], "Missing argument 'RUNS...'; see fairenum report --help"),
        (["audit"], "Missing argument 'DATA'; see fairenum audit --help"),
        (["audti", "compas"], "No such command 'audti'. Did you mean 'audit'?"),
        (["report", "none.json"], "cannot read 'none.json': No such file or directory"),
        (["datasets", "none"], "no bundled dataset is called 'none'"),
        (["audit", "german", "--solver", "none"], "none"),
    ],
)
def test_bad_usage_is_one_line(fairenum, folder, arguments, message):
    ended = fairenum(*arguments)
    assert (ended.code, ended.out, ended.err.count("\n")) == (Exit.BAD_INPUT, "", 1)
    assert message in ended.err
    assert list(folder.iterdir()) == []


def test_a_folder_that_may_not_be_written_to_is_refused_before_anything_is_computed(fairenum, loans, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    ended = fairenum("audit", loans, *OPTIONS, "--json", "a.json")
    assert (ended.code, ended.out) == (Exit.BAD_INPUT, "")
    assert "nothing may be written to the folder '.'" in ended.err


def test_control_characters_in_a_message_are_shown_as_escapes(fairenum, folder):
    (folder / "a.csv").write_text(HEADER + ROWS)
    ended = fairenum("audit", "a.csv", *LABEL, "--sensitive", "\x1b[31m\u202e")
    assert ended.code == Exit.BAD_INPUT
    assert "\x1b" not in ended.err
    assert "\u202e" not in ended.err


def test_a_place_without_permission_is_the_users_mistake(fairenum, saved_run, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied", "m.md")

    monkeypatch.setattr("fairenum.cli.delivery.write_atomically", refuse)
    ended = fairenum("report", str(saved_run), "--markdown", "m.md")
    assert (ended.code, ended.err) == (Exit.BAD_INPUT, "error: 'm.md': Permission denied\n")


@pytest.mark.parametrize("failure", [KeyError("lost"), OSError("broken"), RecursionError()])
def test_an_internal_error_looks_like_nothing_else(fairenum, saved_run, monkeypatch, failure):
    def fail(*_args, **_kwargs):
        raise failure

    monkeypatch.setattr("fairenum.report.page", fail)
    ended = fairenum("report", str(saved_run))
    assert ended.code == Exit.INTERNAL == 70
    assert ended.err.startswith(f"internal error: {type(failure).__name__}: ")
    assert "Traceback" not in ended.err
    monkeypatch.setenv("FAIRENUM_DEBUG", "1")
    assert "Traceback" in fairenum("report", str(saved_run)).err


def test_debug_asks_for_tracebacks(fairenum, saved_run, monkeypatch):
    monkeypatch.setenv("FAIRENUM_DEBUG", "")
    monkeypatch.setattr("fairenum.report.page", None)
    assert "Traceback" in fairenum("--debug", "report", str(saved_run)).err


def test_too_little_memory_is_explained(fairenum, loans, monkeypatch):
    def fail(*_args, **_kwargs):
        raise MemoryError("Unable to allocate 16.0 GiB")

    monkeypatch.setattr("fairenum.api.audit", fail)
    ended = fairenum("audit", loans, *OPTIONS)
    assert ended.code == Exit.BAD_INPUT
    assert ended.err.startswith("error: not enough memory (Unable to allocate 16.0 GiB); learn from fewer rows")
    assert ended.err.count("\n") == 1


def test_an_interrupt_before_the_first_model_saves_nothing(fairenum, loans, folder, monkeypatch):
    def interrupt(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("fairenum.api.audit", interrupt)
    ended = fairenum("audit", loans, *OPTIONS)
    assert ended.code == Exit.INTERRUPTED == 130
    assert ended.err.strip() == "interrupted; nothing was saved"
    assert [path.name for path in folder.iterdir()] == ["loans.csv"]


def test_an_interrupt_while_listing_models_saves_what_there_is(fairenum, loans, folder, monkeypatch):
    def interrupt(stage, done, total):
        if stage == "enumerate" and done == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(progress_bar, "_bar", lambda: nullcontext((interrupt, print)))
    ended = fairenum("audit", loans, *OPTIONS, "--junit", "j.xml")
    assert ended.code == Exit.PARTIAL
    assert "\nInterrupted: " in ended.out
    document = load(folder / "fairenum-loans.json")
    assert document.status == "interrupted"
    assert 1 <= len(document.models) <= 3
    assert 'type="interrupted"' in (folder / "j.xml").read_text()


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_in_a_process_of_its_own(interrupted, folder):
    options = ["-k", "100000", "--distinct", "support", "--eps", "1", "--replications", "20", "--split", "300,100,100"]
    ended = interrupted("audit", "german", *options, "--output", "part.json", at=r"[1-9]\d*/100000")
    assert ended.code == Exit.PARTIAL, ended.err
    assert load(folder / "part.json").status == "interrupted"
    assert "Traceback" not in ended.err
    assert "Interrupted: " in ended.out


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_second_ctrl_c_in_a_process_of_its_own_gives_up(program, folder):
    options = ["-k", "100000", "--distinct", "support", "--eps", "1", "--split", "300,100,100", "--output", "part.json"]
    with program("audit", "german", *options, FORCE_COLOR="1") as process:
        seen = ""
        for wanted in (r"[1-9]\d*/100000", "Ctrl-C again gives up"):
            while not re.search(wanted, seen[-90:]) and process.poll() is None:
                seen += process.stderr.read(1)
            os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == Exit.INTERRUPTED, err
    assert err.strip().endswith("interrupted; nothing was saved")
    assert not list(folder.iterdir())


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="pipes")
def test_a_closed_pipe_ends_it_as_it_ends_every_filter(program, saved_run):
    with program("report", str(saved_run), "--json", "-") as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == -signal.SIGPIPE


def test_the_program_starts_with_one_thread_and_without_heavy_imports(program, monkeypatch):
    lines = "import sys; import fairenum.cli; print(sorted({'numpy', 'pandas', 'sklearn', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True).stdout == "[]\n"
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    handlers = signal.getsignal(signal.SIGPIPE)
    monkeypatch.setattr(cli, "run", lambda: Exit.DONE)
    with pytest.raises(SystemExit) as ended:
        sys.exit(cli.main())
    signal.signal(signal.SIGPIPE, handlers)
    assert ended.value.code == 0
    assert os.environ["OMP_NUM_THREADS"] == os.environ["OPENBLAS_NUM_THREADS"] == "1"


def test_help_names_every_code(fairenum):
    shown = fairenum("--help").out
    for code in Exit:
        assert f" {code.value}  " in shown


def test_completion_knows_commands_options_and_datasets(program):
    def complete(*words):
        found = BashComplete(cli.group, {}, "fairenum", "_FAIRENUM_COMPLETE").get_completions([*words[:-1]], words[-1])
        return [(item.type, item.value) for item in found]

    assert ("plain", "audit") in complete("au")
    assert ("plain", "compas") in complete("audit", "co")
    assert ("file", "./da") in complete("audit", "./da")
    assert ("plain", "--fail-on") in complete("audit", "compas", "--fail")
    assert ("plain", "path") in complete("audit", "compas", "--solver", "pa")
    assert ("plain", "predictions") in complete("audit", "compas", "--distinct", "pre")
    asked = {"_FAIRENUM_COMPLETE": "bash_complete", "COMP_WORDS": "fairenum audit ger", "COMP_CWORD": "2"}
    with program(**asked) as process:
        assert process.communicate()[0] == "plain,german\n"


def test_a_long_wait_for_the_first_model_is_explained(capsys, monkeypatch):
    monkeypatch.setattr(progress_bar, "LONG", 0.01)
    with progress_bar.shown_progress(quiet=False) as report:
        report("tune", 1, 2)
        report("enumerate", 0, None)
        report("enumerate", 0, 5)
        time.sleep(0.2)
        report("enumerate", 1, 5)
        report("score", 0, None)
    assert capsys.readouterr().err == progress_bar.FIRST_MODEL + "\n"
    with progress_bar.shown_progress(quiet=False) as report:
        report("enumerate", 0, None)
        report("enumerate", 1, 5)
        time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_a_terminal_sees_a_bar_and_a_pipe_does_not(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar.shown_progress(quiet=False) as report:
        report("enumerate", 2, 5)
        time.sleep(0.2)
    assert "listing models" in capsys.readouterr().err


def test_no_path_of_this_machine_is_shown(fairenum, saved_run):
    assert str(Path.home()) not in fairenum("report", str(saved_run)).out


@pytest.mark.parametrize(
    ("seconds", "limit", "words"),
    [
        (19.0, None, ""),
        (47.0, None, "this will take about 50 s of one processor and 0.5 GB of memory; --time-limit ends it sooner, "),
        (47.0, 20.0, "this will take about 50 s of one processor and 0.5 GB of memory; the limit of 20 s cuts it\n"),
        (300.0, 600.0, "this will take about 5 min of one processor and 0.5 GB of memory\n"),
        (9000.0, None, "this will take about 2 h of one processor and 0.5 GB of memory; --time-limit ends it sooner, "),
    ],
)
def test_a_long_run_says_beforehand_what_it_will_take(capsys, seconds, limit, words):
    with progress_bar.shown_progress(quiet=False, budget=Budget(limit)) as shown:
        shown.expect(Forecast(seconds, 5e8))
    assert capsys.readouterr().err.startswith(words)
    assert bool(words) == (seconds > progress_bar.LONG_RUN)


def test_a_limit_on_the_whole_run_is_told_in_the_report(fairenum, loans, folder):
    ended = fairenum("audit", loans, *OPTIONS, "--time-limit", "0.001")
    assert ended.code == Exit.DONE
    said = " ".join(ended.out.split())
    assert "the time limit of 0.001 s could not be kept: the run took" in said
    assert "the time limit of 0.001 s ended the run early (cut short: the list of models; left out: " in said
    assert load(folder / "fairenum-loans.json").spending.limit == 0.001
