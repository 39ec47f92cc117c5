"""fairenum audit: what it prints and where, and what it writes."""

from typing import get_args
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from loans import OPTIONS

from fairenum import AuditConfig, AuditResult
from fairenum.cli.audit import audit
from fairenum.cli.options import METRICS
from fairenum.document.audit import AuditDocument, Requested
from fairenum.document.files import load_as, parse
from fairenum.document.terms import Gap


def printed(ended):
    """Read the run that was printed."""
    assert ended.code == 0, ended.err
    return parse(ended.out.encode(), "run")


def test_the_report_is_on_stdout_and_the_run_is_saved_beside(fairenum, loans, folder):
    ended = fairenum("audit", loans, *OPTIONS)
    assert ended.code == 0
    assert ended.err == ""
    assert ended.out.startswith("loans: 400 rows, 3 features; favourable: approved = yes; groups by sex\n")
    assert ended.out.endswith("run: fairenum-loans.json\n")
    assert "Models by objective" in ended.out
    assert "Who is selected by model" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    assert "\x1b" not in ended.out
    assert load_as(AuditDocument, folder / "fairenum-loans.json").dataset.rows == 400
    assert sorted(path.name for path in folder.iterdir()) == ["fairenum-loans.json", "loans.csv"]


def test_a_bundled_dataset_needs_no_option(fairenum, folder):
    ended = fairenum("audit", "german", "-k", "2", "--search", "exact", "--replications", "20")
    assert ended.code == 0
    assert "german: 1000 rows" in ended.out
    assert (folder / "fairenum-german.json").is_file()


def test_json_on_stdout_stands_alone_and_nothing_is_saved(fairenum, loans, folder):
    ended = fairenum("audit", loans, *OPTIONS, "--json", "-")
    assert printed(ended).dataset.name == "loans"
    assert ended.err == ""
    assert [path.name for path in folder.iterdir()] == ["loans.csv"]


def test_markdown_on_stdout_stands_alone(fairenum, loans):
    ended = fairenum("audit", loans, *OPTIONS, "--markdown", "-")
    assert ended.out.startswith("# Fairness audit of loans\n")
    assert "rank objective" not in ended.out


def test_every_file_is_written_where_asked_and_named_in_the_report(fairenum, loans, folder):
    (folder / "out").mkdir()
    targets = ["--output", "out", "--json", "a.json", "--markdown", "b.md", "--junit", "c.xml", "--export", "d.skops"]
    ended = fairenum("audit", loans, *OPTIONS, *targets, "--fail-on", "accuracy>0.1", "-k", "1")  # model 1 is kept
    assert ended.code == 0
    for name in ("out/fairenum-loans.json", "a.json", "b.md", "c.xml", "d.skops"):
        assert (folder / name).stat().st_size > 0
        assert f": {name}\n" in ended.out
    assert (folder / "a.json").read_bytes() == (folder / "out" / "fairenum-loans.json").read_bytes()
    assert ElementTree.parse(folder / "c.xml").getroot().attrib["tests"] == "2"


def test_the_exported_model_predicts_as_the_audit_says(fairenum, loans, folder):
    import pandas as pd
    from skops.io import get_untrusted_types, load

    fairenum("audit", loans, *OPTIONS, "--export", "model.skops", "-k", "1")
    trusted = get_untrusted_types(file=folder / "model.skops")
    model = load(folder / "model.skops", trusted=trusted)
    assert set(model.predict(pd.read_csv(folder / loans))) == {"yes", "no"}


def test_a_candidate_is_not_exported_and_all_else_is_delivered(fairenum, loans, folder, monkeypatch):
    monkeypatch.setattr("fairenum.api.AuditResult.standing", lambda _result, _rank: "candidate")
    ended = fairenum("audit", loans, *OPTIONS, "--export", "a model.skops", "--html", "a.html")
    rank = parse((folder / "fairenum-loans.json").read_bytes(), "run").selection.rank
    assert ended.code == 3
    assert ended.out.endswith("run: fairenum-loans.json\nhtml: a.html\n")
    assert ended.err.endswith(
        f"; fairenum select fairenum-loans.json --rank {rank} --unconfirmed --data {loans} --export 'a model.skops' "
        "writes it\n"
    )
    assert not (folder / "a model.skops").exists()


def test_quiet_prints_nothing(fairenum, loans):
    ended = fairenum("audit", loans, *OPTIONS, "--quiet")
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_all_shows_every_model(fairenum, loans):
    shown = fairenum("audit", loans, *OPTIONS, "-k", "30", "--distinct", "support", "--all", "--eps", "1").out
    assert "not shown" not in shown
    short = fairenum("audit", loans, *OPTIONS, "-k", "30", "--distinct", "support", "--eps", "1").out
    assert "not shown: 18 models" in short


def test_options_reach_the_configuration(fairenum, loans):
    ended = fairenum(
        *("audit", loans, "--label", "approved", "--favourable", "no", "--sensitive", "income", "--band", "income=0"),
        *("--drop", "town", "--delimiter", ",", "--use-sensitive", "-k", "2", "--C", "0.5", "--kernel", "rbf"),
        *("--gamma", "0.2", "--distinct", "support", "--rows", "--eps", "0.2", "--max-accuracy-drop", "0.03"),
        *("--metric", "equal_opportunity_difference", "--seed", "3", "--split", "150,70,80", "--confidence", "0.9"),
        *(
            "--reference",
            "> 0",
            "--time-limit",
            "60",
            "--max-nodes",
            "none",
            "--replications",
            "20",
            "--min-group-size",
            "5",
            "--no-prices",
            "--price-rows",
            "7",
            "--no-range",
            "--no-explanation",
            "--json",
            "-",
        ),
    )
    document = printed(ended)
    expected = {
        **{"bands": {"income": [0.0]}, "drop": ("town",), "delimiter": ",", "use_sensitive": True, "k": 2, "C": 0.5},
        **{
            "kernel": "rbf",
            "gamma": 0.2,
            "distinct": "support",
            "rows": True,
            "eps": 0.2,
            "max_performance_drop": 0.03,
        },
        **{"metric": "equal_opportunity_difference", "seed": 3, "sizes": (150, 70, 80), "confidence": 0.9},
        **{"reference": "> 0", "max_seconds": 60.0, "max_nodes": None, "replications": 20, "min_group_size": 5},
        **{"prices": False, "price_rows": 7, "range": False, "explanation": False},
    }
    assert {name: document.config.options[name] for name in expected} == expected
    table = document.dataset
    assert (table.label, table.favourable, table.sensitive_columns) == ("approved", "no", ["income"])


def test_groups_are_joined_kept_and_left_out(fairenum, loans, folder):
    frame = pd.read_csv(loans)
    frame["town"] = frame["town"].where(frame.index % 9 != 0, "ayr ").where(frame.index % 50 != 0, "Deal, Kent")
    frame.to_csv(loans, index=False)
    options = ["--label", "approved", "--favourable", "yes", "-k", "2", "--replications", "20", "--search", "exact"]
    options += ["--sensitive", "sex", "--sensitive", "town", "--json", "-", "--small-groups", "keep"]
    ended = fairenum(
        *("audit", loans, *options, "--tidy-groups", "--merge", 'far=Bath,"Deal, Kent"', "--only", "far,town:Ayr"),
        *("--exclude", "Cork", "--only", "woman", "--only", "man"),
    )
    document = printed(ended)
    reading = document.config.reading
    assert reading.merge == {"far": ("Bath", "Deal, Kent")}
    assert (reading.only, reading.exclude) == (("far", "town:Ayr", "woman", "man"), ("Cork",))
    assert (reading.tidy_groups, document.config.small_groups) == (True, "keep")
    town = document.dataset.sensitive[1]
    sizes = {group.name: group.train + group.selection + group.holdout for group in town.groups}
    assert sizes == {
        "Ayr": frame["town"].isin(["Ayr", "ayr "]).sum(),
        "far": frame["town"].isin(["Bath", "Deal, Kent"]).sum(),
    }
    assert town.regrouped.left_out == {"Cork": (frame["town"] == "Cork").sum()}
    (folder / "fairenum.toml").write_text('only = ["Ayr", "Bath"]\nmerge = ["A=Ayr"]\nexclude = []\n')
    refused = fairenum("audit", loans, *options)
    assert refused.code == 2
    assert "no group is called 'Ayr', named in only (--only)" in refused.err
    (folder / "fairenum.toml").write_text('only = ["A", "Bath"]\nmerge = ["A=Ayr,ayr"]\n')
    assert [group.name for group in printed(fairenum("audit", loans, *options)).dataset.sensitive[1].groups] == [
        "A",
        "Bath",
    ]


def test_a_table_may_say_itself_how_it_is_divided(fairenum, loans):
    ended = fairenum(
        "audit", loans, *OPTIONS, "-k", "2", "--search", "exact", "--split-by-time", "income", "--json", "-"
    )
    table = printed(ended).dataset
    assert (table.origin.how, table.origin.column, len(table.origin.starts)) == ("time", "income", 2)
    assert "income" not in [feature.name for feature in table.features]
    income = pd.read_csv(loans)["income"].to_numpy()
    train, selection, holdout = (income[table.split_rows.of_split(part)] for part in ("train", "selection", "holdout"))
    assert train.max() < selection.min() == float(table.origin.starts[0])
    assert selection.max() < holdout.min() == float(table.origin.starts[1])


def test_guided_search_and_other_mitigations(fairenum, loans):
    ended = fairenum(
        *("audit", loans, *OPTIONS, "-k", "2", "--search", "guided", "--max-left-out", "0.1", "--baselines"),
        *("--json", "-"),
    )
    document = printed(ended)
    config = document.config
    assert (config.search, config.max_left_out, config.baselines) == ("guided", 0.1, True)
    assert [model.origin for model in document.models].count("exact") == 1
    assert len(document.baselines) == 4
    refused = fairenum("audit", loans, *OPTIONS, "--search", "guided", "--split", "200,100,0")
    assert refused.code == 2
    assert "needs a holdout" in refused.err


def test_c_may_be_chosen_by_cross_validation(fairenum, loans):
    document = printed(fairenum("audit", loans, *OPTIONS, "-k", "1", "--C", "auto", "--json", "-"))
    assert document.requested == Requested(
        C="auto", gamma="scale", max_nodes="auto", performance="auto", class_weight="auto", patience="auto"
    )
    assert document.config.machine.C in [tried.C for tried in document.tuning.grid]


def test_models_may_be_judged_by_another_measure_at_an_equal_rate(fairenum, loans):
    ended = fairenum("audit", loans, *OPTIONS, "--performance", "cost=5:1", "--decide", "rate=0.3", "--json", "-")
    document = printed(ended)
    assert (document.config.performance, document.config.decide) == ("cost=5:1", "rate=0.3")
    rates = [model.scores.selection.selection_rate.value for model in document.models]
    assert rates == pytest.approx([0.3] * len(rates), abs=0.5 / document.dataset.splits.selection)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--decide", "rate=1", "selects a share between 0 and 1, such as rate=0.7, not 'rate=1'"),
        ("--decide", "like-incumbent", "none was given; name its decisions with incumbent=..."),
        ("--performance", "cost=5", "must be accuracy, balanced_accuracy, auc, or cost=FN:FP"),
        ("--max-performance-drop", "2", "'max_performance_drop' must be a number of at least 0 and at most 1"),
    ],
)
def test_measures_and_rates_that_cannot_be_are_refused_in_a_line(fairenum, loans, option, value, message):
    ended = fairenum("audit", loans, *OPTIONS, option, value)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert message in ended.err


def test_the_command_line_has_every_option_with_the_same_default():
    with audit.make_context("audit", ["compas"]) as context:
        given = context.params
    for name, default in AuditConfig().options.items():
        if name != "bands":
            assert given[name] == default, name
    assert get_args(Gap) == METRICS


def test_an_old_run_survives_when_the_new_one_fails(fairenum, loans, folder):
    (folder / "fairenum-loans.json").write_text("old")
    assert fairenum("audit", loans, *OPTIONS, "--reference", "child").code == 2
    assert (folder / "fairenum-loans.json").read_text() == "old"


def test_the_run_can_be_loaded(saved_run):
    assert AuditResult.load(saved_run).document.config.k == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--json", "nowhere/a.json"], "there is no folder 'nowhere'; make it first"),
        (["--output", "nowhere/"], "there is no folder 'nowhere'; make it first"),
        (["--json", "."], "'.' is a folder; name a file"),
        (["--json", "-", "--markdown", "-"], "two outputs go to '-'; give each a place of its own"),
        (["--json", "a", "--html", "./a"], "two outputs go to './a'; give each a place of its own"),
        (["--output", "-"], "this cannot be printed; name a file"),
        (["--export", "-"], "this cannot be printed; name a file"),
        (["--html", "/dev/null"], "'/dev/null' is no ordinary file; name another"),
        (["--json", "loans.csv"], "'loans.csv' is the input; give the output another name"),
        (["--C", "much"], "'much' is neither a number nor auto"),
        (["--max-nodes", "2.5"], "'2.5' is neither a whole number nor auto or none"),
        (["--split", "0.5,0.5"], "'0.5,0.5' is not train, selection and holdout"),
        (["--split", "a,b,c"], "'a,b,c' is not train, selection and holdout"),
        (["--split", "0.5,nan,0.5"], "'0.5,nan,0.5' is not train, selection and holdout"),
        (
            ["--split-by-time", "income", "--group-column", "town"],
            "(--split-by-time) and by group_column (--group-column)",
        ),
        (
            ["--split-column", "town"],
            "'Ayr', 'Bath', 'Cork'; its values are to be train, selection and holdout, or train and",
        ),
        (["--group-column", "twon"], "named as group_column (--group-column); did you mean 'town'?"),
        (["--split-by-time", "town"], "which is neither a number nor a date (400 such rows in all)"),
        (["--weight", "town"], "(400 such rows in all); a weight is a number of at least 0"),
        (
            ["--weight", "debt", "--attack"],
            "--attack simulates label flips on rows that count alike; leave out --weight",
        ),
        (
            ["--decide", "base-rate", "--attack"],
            "--attack simulates label flips on models that decide by the sign; leave out --decide",
        ),
        (["--time-limit", "0"], "'max_seconds' must be a number above 0 and at most 1e+09, not 0.0"),
        (["--band", "income"], "'income' is not a column and the upper ends of its bands"),
        (["--band", "income=low"], "'income=low' is not a column and the upper ends of its bands"),
        (["--merge", "Other"], "'Other' is not a new group and those that it joins, such as Other=a,b"),
        (["--merge", "=man"], "'=man' is not a new group and those that it joins"),
        (["--merge", "a=man", "--merge", "a=woman"], "a new group is named twice; list all that it joins in one"),
        (["--only", "wman,man"], "no group is called 'wman', named in only (--only); did you mean 'woman'?"),
        (["--exclude", "man"], "leave one group, 'woman', of sensitive column 'sex', and parity compares two groups"),
        (["--small-groups", "drop"], "'drop' is not one of 'set-aside', 'keep'"),
        (["--metric", "parity"], "'parity' is not one of"),
        (["-k", "0"], "option 'k' must be a whole number of at least 1 and at most 100000, not 0"),
        (["--confidence", "2"], "option 'confidence' must be"),
        (["--fail-on", "parity"], "'parity' is no rule; write a metric"),
        (["--fail-on", "acuracy>0.5"], "no metric is called 'acuracy'; did you mean 'accuracy'?"),
        (["--fail-on", "x>0.5"], "no metric is called 'x'; there are accuracy"),
        (["--fail-on", "first:accuracy>0.5"], "no rule is about 'first'; before a colon stands one of incumbent, sel"),
        (["--lable", "approved"], "No such option '--lable'"),
    ],
)
def test_a_wrong_option_is_one_line_and_nothing_is_written(fairenum, loans, folder, arguments, message):
    ended = fairenum("audit", loans, *OPTIONS, *arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.startswith("error: ")
    assert message in ended.err
    assert ended.err.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == ["loans.csv"]


def test_outputs_of_odd_names_stay_in_the_folder(fairenum, folder, loans):
    (folder / loans).rename(folder / "my loans? [red].csv")
    assert fairenum("audit", "my loans? [red].csv", *OPTIONS).code == 0
    assert (folder / "fairenum-my-loans---red-.json").is_file()


def test_hostile_names_and_cells_are_shown_as_text(fairenum, folder, loans):
    text = (folder / loans).read_text().replace("woman", "[red]\u202e\x1b[31m" + "w" * 10_000).replace("sex", "[b]sex")
    (folder / loans).write_text(text)
    ended = fairenum("audit", loans, *(option.replace("sex", "[b]sex") for option in OPTIONS), "--markdown", "m.md")
    assert ended.code == 0, ended.err
    assert "[red]\\u202e" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    assert len(ended.out) < 12_000
    for shown in (ended.out, (folder / "m.md").read_text()):
        assert "\x1b" not in shown
        assert "\u202e" not in shown


def test_a_run_without_a_holdout_leaves_rules_open(fairenum, loans):
    ended = fairenum("audit", loans, *OPTIONS, "--split", "0.6,0.4,0", "--fail-on", "accuracy>0.01", "--quiet")
    assert ended.code == 3
    assert "these rows also chose the model; give --split a holdout" in ended.err


def test_tab_is_a_delimiter(fairenum, folder, loans):
    (folder / "loans.txt").write_text((folder / loans).read_text().replace(",", "\t"))
    (folder / "loans.txt").rename(folder / "tabbed.csv")
    assert fairenum("audit", "tabbed.csv", *OPTIONS, "--delimiter", "tab").code == 0


@pytest.mark.slow
def test_columns_that_should_not_be_there_are_named_with_the_option_that_removes_them(fairenum, loans, folder):
    frame = pd.read_csv(loans)
    rows = np.arange(len(frame))
    pay = [f"${1000 + 50 * row:,}" for row in rows]
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rows % 50, unit="D")
    zips = [f"z{row % 150}" for row in rows]
    frame.assign(case=10_000 + rows, pay=pay, day=days, zip=zips, fax=None).to_csv("careless.csv")
    ended = fairenum("audit", "careless.csv", *OPTIONS, "--max-levels", "20")
    assert ended.code == 0, ended.err
    for fragment in (
        "numbers the rows",
        "leave it out with drop=['case'] (--drop case)",
        "'pay' (written as $1,234)",
        "columns of dates were left out: 'day'",
        "empty columns were left out (1 in all): 'fax'",
        "of 'zip': more than 20 values",
    ):
        assert fragment in " ".join(ended.out.split())
    dataset = load_as(AuditDocument, folder / "fairenum-careless.json").dataset
    assert [feature.name for feature in dataset.features] == ["income", "debt", "town", "case", "pay", "zip"]
    assert sum(name.startswith("zip=") for name in dataset.encoded) == 21
    asked = fairenum("audit", "careless.csv", *OPTIONS, "--drop", "case", "--categorical-column", "day", "--json", "-")
    again = parse(asked.out.encode(), "run").dataset
    assert {feature.name: feature.kind for feature in again.features}["day"] == "categorical"
    assert "case" not in {remark.column for remark in again.remarks}


@pytest.mark.parametrize(
    ("typed", "resolved"), [("none", "none"), ("balanced", "balanced"), ("1:4.5", (1.0, 4.5)), ("auto", "none")]
)
def test_class_weights_are_a_word_or_two_numbers(fairenum, loans, typed, resolved):
    document = printed(fairenum("audit", loans, *OPTIONS, "--class-weight", typed, "--json", "-"))
    assert document.config.machine.class_weight == resolved
    assert document.requested.class_weight == ("auto" if typed == "auto" else resolved)
    assert AuditConfig().machine.class_weight == "auto"


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("even", "'even' is neither auto nor none nor balanced nor two weights such as 1:4"),
        ("1:2:3", "nor two weights such as 1:4"),
        ("1:0", "option 'class_weight' must be none, balanced, auto or two positive numbers"),
    ],
)
def test_other_class_weights_are_refused(fairenum, loans, typed, message):
    ended = fairenum("audit", loans, *OPTIONS, "--class-weight", typed)
    assert ended.code == 2
    assert message in " ".join(ended.err.split())


def test_a_run_in_the_place_of_another_is_said_to_be_there(fairenum, loans):
    first, second = (fairenum("audit", loans, *OPTIONS, "-k", "2", "--search", "exact") for _ in range(2))
    assert "run: fairenum-loans.json\n" in first.out
    assert "run: fairenum-loans.json (in the place of an earlier one)\n" in second.out


def test_guardrails_and_the_bound_on_the_training_loss_are_in_the_run(fairenum, loans):
    given = ["--guard", "equal_opportunity_difference<=+0.02", "--guard", "selection_rate=+-0.05", "--max-loss", "0.1"]
    config = printed(fairenum("audit", loans, *OPTIONS, *given, "--same-within", "0.03", "--json", "-")).config
    own = ("equal_opportunity_difference<=+0.02", "selection_rate=+-0.05")
    assert config.guards == ("other_gaps<=+0.05", "group_selection_rates>=-0.1", *own)
    assert (config.max_loss, config.same_within) == (0.1, 0.03)


def test_guardrails_are_turned_off_by_a_word(fairenum, loans):
    assert printed(fairenum("audit", loans, *OPTIONS, "--guard", "none", "--json", "-")).config.guards == ("none",)
    given = ["--guard", "none", "--guard", "accuracy>=-0.02"]
    document = printed(fairenum("audit", loans, *OPTIONS, *given, "--json", "-"))
    assert document.config.guards == ("none", "accuracy>=-0.02")
    assert document.selection.tolerances.guards == ("accuracy>=-0.02",)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("equal_oportunity_difference<=+0.02", "did you mean 'equal_opportunity_difference'?"),
        ("selection_rate=0.1", "such as equal_opportunity_difference<=+0.02 or selection_rate=+-0.05"),
        ("other_gaps@race<=+0.1", "no sensitive column is called 'race'; there are 'sex'"),
    ],
)
def test_a_guardrail_that_is_none_is_refused_in_one_line(fairenum, loans, folder, given, why):
    ended = fairenum("audit", loans, *OPTIONS, "--guard", given)
    assert ended.code == 2
    assert ended.out == ""
    assert why in ended.err
    assert len(ended.err.strip().splitlines()) == 1
    assert [path.name for path in folder.iterdir()] == ["loans.csv"]


def test_the_word_that_turns_guardrails_off_stands_first(fairenum, loans):
    ended = fairenum("audit", loans, *OPTIONS, "--guard", "accuracy>=-0.02", "--guard", "none")
    assert (ended.code, ended.out) == (2, "")
    assert "none turns off the default guardrails and stands first" in ended.err
