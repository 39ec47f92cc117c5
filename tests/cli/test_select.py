"""fairenum select: another choice in a saved run."""

import shlex
from contextlib import nullcontext

import pytest
from support.saved_runs import REPORTS
from support.tables import OPTIONS

from fairenum.cli import progress_bar
from fairenum.document.audit_document import AuditDocument
from fairenum.document.files import load, load_as, parse, save

EXPORT = ("--unconfirmed", "--export", "m.skops")


def test_what_is_not_given_stays_as_it_was(fairenum, saved_run, folder):
    ended = fairenum("select", str(saved_run), "--json", "-")
    assert ended.code == 0
    assert parse(ended.out.encode(), "run").selection.tolerances == load(saved_run).selection.tolerances
    assert list(folder.iterdir()) == []


def test_other_tolerances_are_used_and_the_run_is_left_alone(fairenum, saved_run, folder):
    before = saved_run.read_bytes()
    given = ["--metric", "equalized_odds_difference", "--eps", "0", "--max-accuracy-drop", "0"]
    ended = fairenum("select", str(saved_run), *given, "--output", "again.json")
    assert ended.code == 0
    assert "equalized odds difference" in ended.out
    assert ended.out.endswith("run: again.json\n")
    tolerances = load(folder / "again.json").selection.tolerances
    assert (tolerances.metric, tolerances.eps) == ("equalized_odds_difference", 0.0)
    assert saved_run.read_bytes() == before


@pytest.mark.parametrize(("option", "name"), [("--eps", "eps"), ("--max-performance-drop", "max_performance_drop")])
def test_a_tolerance_of_0_is_one(fairenum, saved_run, option, name):
    document = load(saved_run)
    answered = document.but(selection=document.selection.but(answer="not proposed", reasons=("nothing_fairer",)))
    save(answered, "run.json")
    ended = fairenum("select", "run.json", option, "0", "--json", "-")
    assert ended.code == 0, ended.err
    assert getattr(parse(ended.out.encode(), "run").selection.tolerances, name) == 0.0


def test_a_choice_fixed_in_advance_is_one_claim_more_judged_alone(fairenum, saved_run):
    def chosen(*given):
        ended = fairenum("select", str(saved_run), "--rank", "4", *given, "--json", "-")
        assert ended.code == 0, ended.err
        return parse(ended.out.encode(), "run").selection

    own = load(saved_run).models[3].own
    together, alone = chosen(), chosen("--in-advance")
    assert (together.is_in_sight, together.claims) == (True, 1)
    assert (alone.is_in_sight, alone.claims) == (False, 1)  # the audit kept model 1, and so claimed nothing
    assert (alone.verdict, alone.gap_change.holdout) == (own.verdict, own.change)
    assert (alone.performance_floor, alone.performance_ceiling) == (own.performance.low, own.performance.high)


@pytest.mark.parametrize("rank", [1, 2, 6])
def test_any_model_may_be_taken_by_its_rank(fairenum, saved_run, folder, rank):
    ended = fairenum("select", str(saved_run), "--rank", str(rank), "--output", "again.json")
    assert ended.code == 0, ended.err
    document = load_as(AuditDocument, folder / "again.json")
    assert (document.selection.rank, document.selection.reason) == (rank, "asked_for")
    assert document.selected == load(saved_run).models[rank - 1]
    assert f"Who is selected by model {rank}, by sex" in ended.out
    assert fairenum("report", "again.json").out == ended.out.removesuffix("run: again.json\n").rstrip() + "\n"


def test_a_model_is_exported_with_the_data_at_hand(fairenum, saved_run, folder):
    data = str(saved_run.with_name("loans.csv"))
    document = load(saved_run)
    save(document.but(selection=document.selection.but(rank=4, outcome="selected", answer="proposed")), "run.json")
    ended = fairenum("select", "run.json", "--export", "m.skops", "--data", data)
    assert ended.code == 0
    assert "model: m.skops\n" in ended.out
    assert [path.name for path in folder.iterdir()] == ["run.json", "m.skops"]
    assert exported(folder).standing_ == "proposed"


def test_a_candidate_is_withheld_unless_it_is_named(fairenum, saved_run, folder):
    data = str(saved_run.with_name("loans.csv"))
    ended = fairenum("select", str(saved_run), "--rank", "4", "--export", "m.skops", "--data", data, "--json", "r.json")
    assert ended.code == 3
    assert list(folder.iterdir()) == [folder / "r.json"]
    assert ended.err.startswith("model not written: model 4 is not proposed: ")
    command = ended.err.rpartition("; ")[2].removesuffix(" writes it\n")
    assert shlex.split(command)[3:] == ["--rank", "4", "--unconfirmed", "--data", data, "--export", "m.skops"]
    assert fairenum(*shlex.split(command)[1:], "--quiet").code == 0
    assert exported(folder).standing_ == "candidate"


def test_a_model_that_the_holdout_speaks_against_is_withheld_with_the_reason(fairenum, saved_run, folder):
    against = {"answer": "not proposed", "reasons": ("less_fair",)}
    document = load(saved_run)
    save(document.but(selection=document.selection.but(rank=4, outcome="selected", **against)), "run.json")
    ended = fairenum("select", "run.json", "--export", "m.skops", "--data", str(saved_run.with_name("loans.csv")))
    assert ended.code == 3
    why = "the holdout shows it to be less fair than model 1"
    assert ended.err.startswith(f"model not written: model 4 is not proposed: {why}; fairenum select run.json ")
    assert [path.name for path in folder.iterdir()] == ["run.json"]


def test_model_1_may_always_be_exported(fairenum, saved_run, folder):
    data = str(saved_run.with_name("loans.csv"))
    assert fairenum("select", str(saved_run), "--rank", "1", "--export", "m.skops", "--data", data).code == 0
    assert exported(folder).standing_ == "model 1"


def exported(folder):
    from skops.io import get_untrusted_types
    from skops.io import load as read

    return read(folder / "m.skops", trusted=get_untrusted_types(file=folder / "m.skops"))


def test_the_model_that_was_asked_for_is_exported(fairenum, saved_run, folder):
    import pandas as pd

    from fairenum import audit

    data, rank = str(saved_run.with_name("loans.csv")), 4
    ended = fairenum("select", str(saved_run), "--rank", str(rank), *EXPORT, "--data", data, "--quiet")
    assert ended.code == 0, ended.err
    fresh = audit(data, "approved", "yes", "sex", k=6, replications=50, search="exact", sizes=(0.6, 0.2, 0.2))
    table = pd.read_csv(data)
    expected = fresh.estimator(rank).decision_function(table)
    assert exported(folder).decision_function(table).tolist() == expected.tolist()
    assert expected.tolist() != fresh.estimator(1).decision_function(table).tolist()


def test_data_bring_models_and_change_nothing_else(fairenum, saved_run, folder):
    """Tolerances of an earlier choice, a simulated attack and redaction belong to the run, and stay."""
    data, metric = str(saved_run.with_name("loans.csv")), "equal_opportunity_difference"
    fairenum("audit", data, *OPTIONS, "--attack", "--flips", "3", "--trials", "2", "--output", "first.json", "--redact")
    fairenum("select", "first.json", "--metric", metric, "--output", "second.json")
    ended = fairenum("select", "second.json", "--rank", "2", "--data", data, *EXPORT, "--json", "-")
    assert ended.code == 0, ended.err
    chosen, second = parse(ended.out.encode(), "run"), load(folder / "second.json")
    assert chosen.selection.tolerances == second.selection.tolerances
    assert chosen.selection.tolerances.metric == metric
    assert chosen.attack == second.attack is not None
    assert chosen.is_redacted
    assert chosen == chosen.redacted()


def test_models_that_come_out_otherwise_are_not_exported(fairenum, saved_run, folder):
    document = load(saved_run)
    *models, last = document.models
    save(document.but(models=(*models, last.but(support_size=last.support_size + 1))), "cut.json")
    data = str(saved_run.with_name("loans.csv"))
    ended = fairenum("select", "cut.json", "--export", "m.skops", "--data", data)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "listing the models of this run again gives other models" in ended.err
    assert not (folder / "m.skops").exists()


def test_an_interrupt_while_models_are_listed_again_saves_nothing(fairenum, saved_run, folder, monkeypatch):
    def interrupt(stage, done, total):
        if stage == "enumerate" and done == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(progress_bar, "_bar", lambda: nullcontext((interrupt, print)))
    data = str(saved_run.with_name("loans.csv"))
    ended = fairenum("select", str(saved_run), "--export", "m.skops", "--data", data)
    assert (ended.code, ended.out, ended.err.strip()) == (130, "", "interrupted; nothing was saved")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--unconfirmed", "--rank", "2"], "--unconfirmed exports the model that is named: --rank N --unconfirmed"),
        (["--unconfirmed", "--export", "m.skops", "--data", "d"], "--unconfirmed exports the model that is named"),
        (["--export", "m.skops"], "a saved run holds no models; name its data, too: --data DATA"),
        (["--export", "m.skops", "--data", "loans.csv"], "'loans.csv' is not the data of this run"),
        (["--eps", "0.9"], "the run looked for models within eps=0.1; choose eps between 0 and that, not 0.9"),
        (["--rank", "7"], "the result has no model of rank 7; its ranks are 1 to 6"),
        (["--rank", "0"], "the result has no model of rank 0; its ranks are 1 to 6"),
        (["--max-accuracy-drop", "7"], "max_performance_drop"),
        (["--max-performance-drop", "7"], "max_performance_drop"),
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


@pytest.mark.parametrize("place", ["fairenum-loans.json", ".", "./"])
def test_the_run_is_not_written_over(fairenum, saved_run, folder, place):
    (folder / "fairenum-loans.json").write_bytes(saved_run.read_bytes())
    ended = fairenum("select", "fairenum-loans.json", "--rank", "2", "--output", place)
    assert (ended.code, ended.out) == (2, "")
    assert "'fairenum-loans.json' is the input; give the output another name" in ended.err
    assert (folder / "fairenum-loans.json").read_bytes() == saved_run.read_bytes()


def test_only_an_audit_has_models_to_choose_from(fairenum):
    ended = fairenum("select", str(REPORTS / "injection.json"))
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "is a simulated attack, no audit; make one with: fairenum audit DATA" in ended.err


def test_guardrails_of_the_run_are_replaced_one_by_one_or_turned_off(fairenum, saved_run):
    def held(*given: str) -> tuple[str, ...]:
        ended = fairenum("select", str(saved_run), *given, "--json", "-")
        assert ended.code == 0, ended.err
        return parse(ended.out.encode(), "run").selection.tolerances.guards

    last = load(saved_run).selection.tolerances.guards
    assert held() == last
    assert held("--guard", "other_gaps<=+0.2") == (
        *(text for text in last if "other_gaps" not in text),
        "other_gaps<=+0.2",
    )
    assert held("--guard", "none") == ()
    assert held("--guard", "none", "--guard", "accuracy>=-0.1") == ("accuracy>=-0.1",)


def test_a_model_whose_training_loss_rises_too_much_is_no_candidate(fairenum, saved_run):
    document = load(saved_run)
    given = ["--guard", "none", "--eps", "0", "--json", "-"]
    chosen = parse(fairenum("select", str(saved_run), *given).out.encode(), "run").selection
    assert chosen.tolerances.eps == 0.0
    assert all(document.models[rank - 1].loss_ratio <= 1e-9 for rank in chosen.candidates)


@pytest.mark.parametrize("given", ["other_gap<=+0.1", "other_gaps@age<=+0.1"])
def test_a_guardrail_that_is_none_is_refused(fairenum, saved_run, given):
    ended = fairenum("select", str(saved_run), "--guard", given)
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.strip().splitlines()) == 1
