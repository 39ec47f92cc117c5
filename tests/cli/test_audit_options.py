"""fairenum audit: what its options make of a run, and which of them are refused."""

from typing import get_args

import pandas as pd
import pytest
from support.tables import OPTIONS

from fairenum import AuditConfig
from fairenum.cli.audit import audit
from fairenum.document.audit_document import Requested
from fairenum.document.files import parse
from fairenum.document.options import all_declared
from fairenum.document.terms import Gap


def printed(ended):
    """Read the run that was printed."""
    assert ended.code == 0, ended.err
    return parse(ended.out.encode(), "run")


def test_options_reach_the_configuration(fairenum, loans):
    ended = fairenum(
        *("audit", loans, "--label", "approved", "--favourable", "no", "--sensitive", "income", "--band", "income=0"),
        *("--drop", "town", "--delimiter", ",", "--use-sensitive", "-k", "2", "--C", "0.5", "--kernel", "rbf"),
        *("--gamma", "0.2", "--distinct", "support", "--rows", "--eps", "0.2", "--max-accuracy-drop", "0.03"),
        *("--metric", "equal_opportunity_difference", "--seed", "3", "--split", "150,70,80", "--confidence", "0.9"),
        *(
            "--control",
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
        **{"control": "> 0", "max_seconds": 60.0, "max_nodes": None, "replications": 20, "min_group_size": 5},
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
    assert "needs a separate holdout" in refused.err


def test_c_may_be_chosen_by_cross_validation(fairenum, loans):
    document = printed(fairenum("audit", loans, *OPTIONS, "-k", "1", "--C", "auto", "--json", "-"))
    assert document.requested == Requested(
        C="auto",
        gamma="scale",
        max_nodes="auto",
        performance="auto",
        decide="auto",
        class_weight="auto",
        patience="auto",
        eps="auto",
        sizes="auto",
    )
    assert document.config.svm.C in [tried.C for tried in document.tuning.grid]


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
        assert given[name] == default, name
    assert get_args(Gap) == all_declared(AuditConfig)["metric"].words


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


def test_tab_is_a_delimiter(fairenum, folder, loans):
    (folder / "loans.txt").write_text((folder / loans).read_text().replace(",", "\t"))
    (folder / "loans.txt").rename(folder / "tabbed.csv")
    assert fairenum("audit", "tabbed.csv", *OPTIONS, "--delimiter", "tab").code == 0


@pytest.mark.parametrize(
    ("typed", "resolved"), [("none", "none"), ("balanced", "balanced"), ("1:4.5", (1.0, 4.5)), ("auto", "none")]
)
def test_class_weights_are_a_word_or_two_numbers(fairenum, loans, typed, resolved):
    document = printed(fairenum("audit", loans, *OPTIONS, "--class-weight", typed, "--json", "-"))
    assert document.config.svm.class_weight == resolved
    assert document.requested.class_weight == ("auto" if typed == "auto" else resolved)
    assert AuditConfig().svm.class_weight == "auto"


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


def test_guardrails_and_the_bound_on_the_loss_are_in_the_run(fairenum, loans):
    given = ["--guard", "equal_opportunity_difference<=+0.02", "--guard", "selection_rate=+-0.05", "--eps", "0.1"]
    config = printed(fairenum("audit", loans, *OPTIONS, *given, "--same-within", "0.03", "--json", "-")).config
    own = ("equal_opportunity_difference<=+0.02", "selection_rate=+-0.05")
    assert config.guards == ("other_gaps<=+0.05", "group_selection_rates>=-0.1", *own)
    assert (config.eps, config.same_within) == (0.1, 0.03)


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


def test_the_default_split_is_told_before_the_run_unless_it_is_to_be_quiet(fairenum, loans):
    quick = ("audit", loans, *OPTIONS, "-k", "2", "--search", "exact", "--replications", "20", "--no-prices")
    told, quiet, own = fairenum(*quick), fairenum(*quick, "--quiet"), fairenum(*quick, "--split", "0.6,0.2,0.2")
    assert "rows train / select / confirm; a gap in sex that narrows by" in " ".join(told.err.split())
    assert "rows train / select / confirm" not in quiet.err
    assert told.err != own.err


@pytest.mark.parametrize("split", ["automatic", "0.5,0.5", "auto,0.2,0.2", "0.5,0.2,-0.3"])
def test_a_split_that_is_none_is_refused_with_what_to_say_instead(fairenum, loans, split):
    ended = fairenum("audit", loans, *OPTIONS, "--split", split)
    assert ended.code == 2
    assert f"'{split}' is not train, selection and holdout, such as 0.6,0.2,0.2" in " ".join(ended.err.split())
    assert "auto chooses them" in " ".join(ended.err.split())
