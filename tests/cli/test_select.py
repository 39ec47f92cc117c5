"""fairenum select: another choice in a saved run."""

import json

import pytest


def test_what_is_not_given_stays_as_it_was(fairenum, saved_run, folder):
    ended = fairenum("select", str(saved_run), "--json", "-")
    assert ended.code == 0
    assert (
        json.loads(ended.out)["selection"]["tolerances"]
        == json.loads(saved_run.read_bytes())["selection"]["tolerances"]
    )
    assert list(folder.iterdir()) == []


def test_other_tolerances_are_used_and_the_run_is_left_alone(fairenum, saved_run, folder):
    before = saved_run.read_bytes()
    given = ["--metric", "equalized_odds_difference", "--eps", "0", "--max-accuracy-drop", "0"]
    ended = fairenum("select", str(saved_run), *given, "--output", "again.json")
    assert ended.code == 0
    assert "equalized odds difference" in ended.out
    assert ended.out.endswith("run: again.json\n")
    tolerances = json.loads((folder / "again.json").read_bytes())["selection"]["tolerances"]
    assert (tolerances["metric"], tolerances["eps"]) == ("equalized_odds_difference", 0.0)
    assert saved_run.read_bytes() == before


def test_a_model_is_exported_with_the_data_at_hand(fairenum, saved_run, folder):
    data = str(saved_run.with_name("loans.csv"))
    ended = fairenum("select", str(saved_run), "--max-accuracy-drop", "0", "--export", "m.skops", "--data", data)
    assert ended.code == 0
    assert "model: m.skops\n" in ended.out
    assert [path.name for path in folder.iterdir()] == ["m.skops"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--export", "m.skops"], "a saved run holds no models; name its data, too: --data DATA"),
        (["--export", "m.skops", "--data", "loans.csv"], "'loans.csv' is not the data of this run"),
        (["--eps", "0.9"], "eps"),
        (["--max-accuracy-drop", "7"], "max_accuracy_drop"),
        (["--metric", "parity"], "'parity' is not one of"),
    ],
)
def test_what_cannot_be_is_refused(fairenum, saved_run, loans, folder, arguments, message):
    lines = (folder / loans).read_text().splitlines()
    (folder / loans).write_text("\n".join(lines[:-1]) + "\n")
    ended = fairenum("select", str(saved_run), *arguments)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert message in ended.err
    assert [path.name for path in folder.iterdir()] == ["loans.csv"]


def test_the_run_is_not_written_over(fairenum, saved_run):
    ended = fairenum("select", str(saved_run), "--output", str(saved_run))
    assert ended.code == 2
    assert "is the input; give the output another name" in ended.err
