"""``fairenum attack`` and ``fairenum audit --attack``: what they print, save and refuse."""

import os

import pytest
from support.tables import OPTIONS

from fairenum.cli.streams import Exit
from fairenum.document.attack_document import AttackDocument
from fairenum.document.files import load, load_as, parse

TABLE = OPTIONS[:6]
SMALL = [*TABLE, "--split", "80,0,80", "--trials", "4", "-k", "4"]


def test_an_attack_is_simulated_printed_and_saved(fairenum, loans, folder):
    ended = fairenum("attack", loans, *SMALL, "--flips", "4,0.1", "--strategy", "paper", "--strategy", "random")
    assert ended.code == 0, ended.err
    assert ended.err == ""
    assert "4 draws of 80 training rows, 80 held out; aimed at sex = woman" in " ".join(ended.out.split())
    assert "What label flips do on the holdout" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    saved = load_as(AttackDocument, folder / "fairenum-attack-loans.json")
    assert [trial.seed for trial in saved.trials] == [0, 1, 2, 3]
    assert [point.flips for point in saved.attack.curves[0].points] == [4, 8]


def test_json_stands_alone_and_is_the_same_twice(fairenum, loans, folder):
    runs = [fairenum("attack", loans, *SMALL, "--flips", "4", "--json", "-") for _ in range(2)]
    first, second = (parse(run.out.encode(), "run").but(timings={}) for run in runs)
    assert first == second
    assert not list(folder.glob("*.json"))


def test_page_markdown_and_run_go_where_they_are_asked_for(fairenum, loans, folder):
    targets = ["--markdown", "flips.md", "--json", "run.json", "--html", "flips.html"]
    ended = fairenum("attack", loans, *SMALL, "--flips", "4", *targets, "-q")
    assert (ended.code, ended.out) == (0, "")
    text = (folder / "flips.md").read_text()
    assert text.startswith("# Label flips in loans\n")
    assert "Distribution of the gap over draws" in text
    page = (folder / "flips.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "<svg" in page
    assert sorted(path.name for path in folder.iterdir()) == ["flips.html", "flips.md", "loans.csv", "run.json"]
    assert fairenum("report", "run.json", "--html", "-").out == page
    assert fairenum("report", "run.json", "--markdown", "-").out == text


def test_an_audit_simulates_flips_if_asked(fairenum, loans, folder):
    ended = fairenum("audit", loans, *OPTIONS, "--attack", "--flips", "3", "--trials", "2", "--strategy", "random")
    assert ended.code == 0, ended.err
    assert "What label flips do on the holdout" in ended.out
    saved = load(folder / "fairenum-loans.json")
    assert saved.attack.curves[0].strategy == "random"
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
        (["--defence", "all", "--defence", "prayer"], "no defence is called 'prayer'"),
        (["--trials", "0"], "option 'trials' must be a whole number of at least 1 and at most 100000, not 0"),
        (["--split", "80,0,0"], "the holdout is not 0"),
        (["--split", "-80,0,80"], "'-80,0,80' is not train, selection and holdout"),
        (["--dask", "tcp://127.0.0.1:1", "--jobs", "2"], "--jobs and --dask exclude each other"),
        (["--jobs", "0"], "'--jobs': 0 is no number of processes; -1 is for all processors"),
        (["--json", loans], f"{loans!r} is the input; give the output another name"),
        (["--primary", "race"], "no sensitive column is called 'race', named as primary; there are 'sex'"),
    ]:
        ended = fairenum("attack", loans, *SMALL, *arguments)
        assert ended.code == 2, arguments
        assert words in ended.err, (arguments, ended.err)
        assert len(ended.err.splitlines()) == 1


def test_an_audit_refuses_what_no_attack_could_do_before_it_begins(fairenum, loans, folder):
    for arguments, words in [
        (["--trials", "3"], "--trials is about label flips; add --attack"),
        (["--jobs", "2"], "--jobs is about label flips; add --attack"),
        (["--attack", "--jobs", "0"], "0 is no number of processes"),
        (
            ["--attack", "--trials", "0"],
            "option 'trials' must be a whole number of at least 1 and at most 100000, not 0",
        ),
        (["--attack", "--strategy", "greedy"], "no attack strategy is called 'greedy'"),
        (["--attack", "--defence", "all", "--defence", "prayer"], "no defence is called 'prayer'"),
    ]:
        ended = fairenum("audit", loans, *OPTIONS, *arguments)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), arguments
        assert words in ended.err
    assert [path.name for path in folder.iterdir()] == ["loans.csv"]


def test_an_audit_is_not_lost_with_its_attack(fairenum, loans, folder):
    ended = fairenum("audit", loans, *OPTIONS, "--attack", "--flips", "399", "--trials", "2")
    assert ended.code == 2
    assert "399 flips were asked for, but a draw has" in ended.err
    assert "Models by objective" in ended.out
    assert load(folder / "fairenum-loans.json").attack is None


def test_an_interrupt_before_the_first_trial_keeps_the_audit(fairenum, loans, folder, monkeypatch):
    def interrupt(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("fairenum.attack.simulation.simulate", interrupt)
    ended = fairenum("audit", loans, *OPTIONS, "--attack")
    assert (ended.code, ended.err.count("\n")) == (Exit.PARTIAL, 1)
    saved = load(folder / "fairenum-loans.json")
    assert (saved.is_partial, saved.attack) == (True, None)


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
def test_ctrl_c_keeps_the_finished_trials(interrupted, folder, loans, jobs):
    arguments = f"--split 80,0,80 --trials 9999 --flips 4 -k 4 --jobs {jobs} --json part.json".split()
    ended = interrupted("attack", loans, *TABLE, *arguments, at=r"[1-9]\d*/9999")
    assert ended.code == Exit.PARTIAL, ended.err
    assert "Traceback" not in ended.err
    assert "Interrupted: " in ended.out
    saved = load_as(AttackDocument, folder / "part.json")
    assert saved.status == saved.attack.status == "interrupted"
    assert 1 <= len(saved.trials) == saved.attack.clean.trials < 9999


def test_what_was_noticed_about_the_table_is_said(fairenum, loans, folder):
    (folder / "loans.csv").write_text("".join(f"{line},\n" for line in (folder / "loans.csv").read_text().split()))
    (folder / "loans.csv").write_text((folder / "loans.csv").read_text().replace(",\n", ",fax\n", 1))
    ended = fairenum("attack", loans, *SMALL, "--flips", "4", "--trials", "1")
    assert ended.code == 0, ended.err
    assert "empty columns were left out (1 in all): 'fax'" in " ".join(ended.out.split())


@pytest.mark.parametrize(("typed", "words"), [("balanced", "class weights balanced"), ("2:1", "class weights 2 to 1")])
def test_an_attack_on_weighted_classes(fairenum, loans, folder, typed, words):
    strategies = ["--strategy", "paper", "--strategy", "alfa", "--defence", "loss_removal"]
    ended = fairenum("attack", loans, *SMALL, "--flips", "4", *strategies, "--class-weight", typed)
    assert ended.code == 0, ended.err
    assert words in " ".join(ended.out.split())
    assert not load_as(AttackDocument, folder / "fairenum-attack-loans.json").attack.failures


def test_an_attack_takes_no_class_weights_that_are_still_to_be_chosen(fairenum, loans):
    ended = fairenum("attack", loans, *SMALL, "--class-weight", "auto")
    assert ended.code == 2
    assert "'auto' is neither none nor balanced nor two weights" in " ".join(ended.err.split())
