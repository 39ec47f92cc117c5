"""What strangers send to the program: files, options, configuration files and names that were made to do harm."""

import csv
import os

import pandas as pd
import pytest
from support.fuzzing.fuzzers import FUZZERS, fuzzed
from support.fuzzing.hostile import TEXTS, steers
from support.fuzzing.running import listing
from support.tables import OPTIONS, write_loans

from fairenum.cli import audit, explore
from fairenum.cli.config_file import RUNS, WRITES
from fairenum.cli.outputs import check_folder, check_target, check_workbook
from fairenum.document.files import load, save

pytestmark = pytest.mark.usefixtures("own_loop")

QUICK = [*OPTIONS[:6], "-k", "2", "--replications", "10", "--search", "exact", "--no-range", "--no-explanation", "-q"]
WRITTEN = ["--json", "out.json", "--html", "out.html"]
FEW = {"report": 40, "options": 25, "configuration": 20}  # of the others twelve


@pytest.mark.parametrize("name", FUZZERS)
def test_whatever_comes_is_used_or_refused(name, tmp_path):
    """The first cases of what tests/slow/test_fuzzing.py runs whole."""
    assert fuzzed(name, tmp_path, range(FEW.get(name, 12))).found == {}


LONG = "9" * 30


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("-k", LONG, f"'k' must be a whole number of at least 1 and at most 100000, not {LONG}"),
        ("--replications", LONG, f"at least 10 and at most 100000, not {LONG}"),
        ("--seed", LONG, f"'seed' must be a whole number of at least 0 and at most 2147483647, not {LONG}"),
        ("--max-nodes", LONG, "'max_nodes' must be a whole number of at least 1 and at most 1000000000"),
        ("--patience", "7" * 5000, "is neither a whole number nor auto"),
        ("--seed", "7" * 5000, "is not a valid integer"),
        ("--C", "1e-300", "'C' must be a positive number, 1e-09 to 1e+09, or auto, not 1e-300"),
        ("--gamma", "1e-300", "'gamma' must be a positive number, 1e-30 to 1e+30, scale or auto, not 1e-300"),
        ("--eps", "nan", "'eps' must be a number of at least 0 and at most 1 or auto, not nan"),
        ("--coef0", "inf", "'coef0' must be a number of at least 0 and at most 1e+06, not inf"),
        ("--degree", "21", "'degree' must be a whole number of at least 1 and at most 20, not 21"),
        ("--time-limit", "1e10", "'max_seconds' must be a number above 0 and at most 1e+09"),
        ("--class-weight", "1:1e300", "two positive numbers, 1e-09 to 1e+09, for favourable and unfavourable rows"),
        ("--split", f"{LONG},1,1", "'sizes' must be three numbers of at most 1000000000"),
        ("--band", "income=nan", "'bands' must be columns, each with a list of finite numbers"),
        ("--performance", "cost=1:1e300", "each 1e-09 to 1e+09"),
        ("--decide", "threshold=1e301", "'decide' needs a finite number, at most 1e+300 from 0"),
        ("--jobs", LONG, "is not a whole number of at least -1 and at most 1024"),
        ("--merge", "a\udc80=woman,man", "'merge' must be a text that UTF-8 can write"),
    ],
)
def test_a_number_out_of_its_range_is_refused_before_anything_is_read(fairenum, folder, option, value, message):
    arguments = ["--attack", option, value] if option == "--jobs" else [option, value]
    ended = fairenum("audit", "not-there.csv", *OPTIONS[:6], *arguments)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert message in ended.err
    assert len(ended.err) < 500
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["fairenum.toml", "pyproject.toml"])
@pytest.mark.parametrize("key", sorted((WRITES | RUNS) - {"record", "fallback", "strategies"} | {"strategy"}))
def test_a_file_that_is_found_writes_and_runs_nothing(fairenum, loans, folder, name, key):
    section = "[tool.fairenum]\n" if name == "pyproject.toml" else ""
    (folder / name).write_text(f"{section}{key} = 'x'\n")
    before = listing(folder)
    ended = fairenum("audit", loans, *QUICK)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert f"{key!r} in {name} " in ended.err
    assert f"--config {name}" in ended.err
    assert listing(folder) == before


def test_every_option_that_names_a_place_to_write_to_is_among_those_that_a_found_file_cannot_set():
    checks = (check_target, check_folder, check_workbook)
    for command in (audit.audit, explore.explore):
        named = {option.name for option in command.params if getattr(option, "callback", None) in checks}
        assert named <= WRITES


def test_a_file_that_is_named_may_say_where_results_go(fairenum, loans, folder):
    (folder / "mine.toml").write_text("json = 'out.json'\nsolver = 'libsvm'\n")
    assert fairenum("audit", loans, *QUICK, "--config", "mine.toml").code == 0
    assert load(folder / "out.json").options_file == "mine.toml"


def test_the_report_says_which_file_was_used_and_no_config_uses_none(fairenum, loans, folder):
    (folder / "fairenum.toml").write_text("seed = 3\n")
    ended = fairenum("audit", loans, *QUICK[:-1], *WRITTEN)
    assert ended.out.endswith("options from: fairenum.toml\n")
    document = load(folder / "out.json")
    assert (document.config.seed, document.options_file) == (3, "fairenum.toml")
    assert "<dt>options from</dt><dd>fairenum.toml</dd>" in (folder / "out.html").read_text()
    ended = fairenum("audit", loans, *QUICK[:-1], *WRITTEN, "--no-config")
    assert "options from" not in ended.out
    document = load(folder / "out.json")
    assert (document.config.seed, document.options_file) == (0, None)
    (folder / "fairenum.toml").unlink()
    (folder / "pyproject.toml").write_text("[project]\n")
    assert "options from" not in fairenum("audit", loans, *QUICK[:-1]).out


@pytest.mark.parametrize("options", [["--config", "a.toml", "--no-config"], ["--no-config", "--config", "a.toml"]])
def test_a_file_and_no_file_exclude_each_other(fairenum, loans, folder, options):
    (folder / "a.toml").write_text("k = 2\n")
    ended = fairenum("audit", loans, *QUICK, *options)
    assert (ended.code, ended.out) == (2, "")
    assert "--no-config wants none; give one of them" in ended.err


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("pyproject.toml", "[[tool]]\nfairenum = 1\n", "tool.fairenum in pyproject.toml must be a table"),
        ("pyproject.toml", "[[tool.fairenum]]\nk = 1\n", "tool.fairenum in pyproject.toml must be a table"),
        ("fairenum.toml", "[[tool]]\nk = 1\n", "unknown option 'tool' in fairenum.toml"),
        ("fairenum.toml", f"k = {'[' * 3000}{']' * 3000}", "fairenum.toml is no TOML file"),
        ("fairenum.toml", f"k = {'7' * 5000}", "fairenum.toml is no TOML file"),
        ("fairenum.toml", f"k = 0x{'f' * 5000}", "'k' in fairenum.toml has more than 400 digits"),
        ("fairenum.toml", "#" * 2_000_000, "fairenum.toml is larger than 1 MB"),
    ],
)
def test_a_file_of_options_that_is_made_to_do_harm_is_one_line(fairenum, loans, folder, name, content, message):
    (folder / name).write_text(content)
    ended = fairenum("audit", loans, *QUICK)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert message in ended.err


NAMES = [text for text in TEXTS if text and "/" not in text and "\0" not in text and len(text.encode()) < 200]


@pytest.mark.parametrize("name", ["\x1b[31mred\x1b[0m", "\u202egnp", "a\udc80b", NAMES[0], NAMES[-1]])
def test_names_of_files_steer_nothing(fairenum, folder, name):
    table = str(write_loans(folder / f"{name}.csv", 60).relative_to(folder))
    table = f"./{table}"  # a name may begin with a dash
    ended = fairenum("audit", table, *QUICK[:-1], "--json", f"./{name}.json", "--markdown", f"./{name}.md")
    assert ended.code == 0, ended.err
    assert not any(steers(sign) for sign in ended.out + ended.err if sign != "\n")
    shown = fairenum("report", f"./{name}.json", "--html", f"./{name}.html")
    assert shown.code == 0, shown.err
    assert not any(steers(sign) for sign in shown.out + shown.err if sign != "\n")
    refused = fairenum("report", f"./{name}.json", "--json", f"./{name}.json")
    assert not any(steers(sign) for sign in refused.err if sign != "\n")
    assert fairenum("audit", table, *QUICK).code == 0  # and a run is named after the table
    assert any(path.name.startswith("fairenum-") for path in folder.iterdir())


def test_hostile_columns_groups_and_cells_go_through_every_medium(fairenum, folder):
    texts = [text.replace("\0", "") for text in TEXTS if len(text) < 500 and text.strip()]
    frame = pd.read_csv(write_loans(folder / "loans.csv", 20 * len(texts)))
    frame["town"] = [texts[row % len(texts)] for row in range(len(frame))]
    frame["sex"] = frame["sex"].map({"woman": texts[0], "man": texts[11]})
    frame = frame.rename(columns={"income": texts[2], "sex": texts[13]})
    frame.to_csv(folder / "hostile.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    place = ["--json", "a.json", "--html", "a.html", "--markdown", "a.md", "--junit", "a.xml", "--tables", "t"]
    options = ["--label", "approved", "--favourable", "yes", "--sensitive", texts[13], *QUICK[6:-1]]
    ended = fairenum("audit", "hostile.csv", *options, *place, "--xlsx", "a.xlsx", "--fail-on", "accuracy>=0.01")
    assert ended.code == 0, ended.err
    assert not any(steers(sign) for sign in ended.out if sign != "\n")
    html = (folder / "a.html").read_text()
    assert html.count("<script") == 2
    assert "onerror=" not in html.replace("&gt;", ">").split("<script", 1)[0].replace("&lt;img src=x onerror", "")


def test_a_document_from_nowhere_is_not_read_forever(fairenum, folder):
    assert "is larger than 256 MB; no document of fairenum is" in fairenum("report", "/dev/zero").err
    (folder / "wide.json").write_bytes(b'{"a":[' + b"[]," * 20_000_001 + b"1]}")
    assert "holds more than 20000000 values" in fairenum("report", "wide.json").err


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_what_cannot_be_shown_leaves_nothing_behind(fairenum, run, folder, monkeypatch, form):
    def fail(*_):
        raise RuntimeError("cannot")

    monkeypatch.setattr(f"fairenum.render.{form}.to_{form}", fail)
    before = listing(folder)
    ended = fairenum("report", run, "--json", "a.json", f"--{form}", "a", "--tables", "t")
    assert (ended.code, ended.out) == (70, "")
    assert listing(folder) == before


def test_a_run_is_saved_whole_whatever_its_texts_are(folder, run):
    document = load(run)
    with pytest.raises(Exception, match="holds a lone surrogate"):
        save(document.but(dataset=document.dataset.but(name="\ud800")), "b.json")
    assert os.listdir(folder) == [run]
