"""The configuration file: where it is found, that the command line wins, and what is refused."""

import pytest
from support.tables import OPTIONS

from fairenum.document.files import parse

PLAIN = """
label = "approved"
favourable = "yes"
sensitive = "sex"
drop = ["town"]
k = 4
C = 0.5
max-accuracy-drop = 0.02
replications = 20
rows = true
split = [0.5, 0.25, 0.25]
fail_on = ["accuracy>0.01"]
search = "exact"
"""


def audited(ended):
    assert ended.code == 0, ended.err
    return parse(ended.out.encode(), "run")


def resolved(ended):
    return audited(ended).config


def test_options_of_a_file_are_used_and_part_of_the_result(fairenum, loans, folder):
    (folder / "fairenum.toml").write_text(PLAIN)
    document = audited(fairenum("audit", loans, "--json", "-"))
    expected = {"drop": ("town",), "k": 4, "C": 0.5, "max_performance_drop": 0.02, "replications": 20, "rows": True}
    expected |= {"sizes": (0.5, 0.25, 0.25)}
    assert {name: document.config.options[name] for name in expected} == expected
    table = document.dataset
    assert (table.label, table.favourable, table.sensitive_columns) == ("approved", "yes", ["sex"])


def test_the_command_line_wins_over_the_file_and_the_file_over_the_default(fairenum, loans, folder):
    (folder / "fairenum.toml").write_text(PLAIN)
    config = resolved(fairenum("audit", loans, "--json", "-", "-k", "3", "--drop", "debt"))
    assert (config.k, config.reading.drop, config.svm.C, config.eps) == (3, ("debt",), 0.5, 0.1)


def test_a_section_of_pyproject_will_do(fairenum, loans, folder):
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\n[tool.fairenum]\nk = 3\nsearch = 'exact'\n")
    assert resolved(fairenum("audit", loans, *OPTIONS[:6], "--json", "-")).k == 3


def test_a_project_without_the_section_changes_nothing(fairenum, loans, folder):
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert resolved(fairenum("audit", loans, *OPTIONS, "--json", "-")).k == 6


def test_the_plain_file_wins_over_pyproject_and_a_named_one_over_both(fairenum, loans, folder):
    (folder / "pyproject.toml").write_text("[tool.fairenum]\nk = 3\nseed = 1\n")
    (folder / "fairenum.toml").write_text("k = 4\nsearch = 'exact'\n")
    (folder / "other.toml").write_text("k = 2\nsearch = 'exact'\n")
    found = resolved(fairenum("audit", loans, *OPTIONS[:6], "--json", "-"))
    assert (found.k, found.seed) == (4, 0)
    named = fairenum("audit", loans, *OPTIONS[:6], "--json", "-", "--config", "other.toml")
    assert resolved(named).k == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lable = 'x'", "unknown option 'lable' in fairenum.toml; did you mean 'label'?"),
        ("zzzz = 1", "unknown option 'zzzz' in fairenum.toml; see audit --help for the options"),
        ("config = 'x'", "unknown option 'config' in fairenum.toml"),
        ("k = 2.5", "'2.5' is not a valid integer (in fairenum.toml)"),
        ("k = true", "'True' is not a valid integer (in fairenum.toml)"),
        ("k = {a = 1}", "'k' in fairenum.toml must be a text, a number, true or false, or a list of them"),
        ("kernel = 'cubic'", "(in fairenum.toml)"),
        ("k =", "fairenum.toml is no TOML file"),
        ("k = 0", "option 'k' must be a whole number of at least 1 and at most 100000, not 0"),
        ("fail_on = 'x'", "'x' is no rule"),
    ],
)
def test_a_mistake_in_the_file_is_one_line(fairenum, loans, folder, text, message):
    (folder / "fairenum.toml").write_text(text)
    ended = fairenum("audit", loans, *OPTIONS[:6])
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert message in ended.err
    assert sorted(path.name for path in folder.iterdir()) == ["fairenum.toml", "loans.csv"]


def test_a_section_that_is_no_table_is_refused(fairenum, loans, folder):
    (folder / "pyproject.toml").write_text("[tool]\nfairenum = 3\n")
    assert "tool.fairenum in pyproject.toml must be a table" in fairenum("audit", loans).err


def test_a_file_that_is_not_there_is_refused(fairenum, loans):
    assert "'none.toml' does not exist" in fairenum("audit", loans, "--config", "none.toml").err


def test_other_commands_do_not_read_the_file(fairenum, folder):
    (folder / "fairenum.toml").write_text("lable = 'x'")
    assert fairenum("datasets").code == 0
