"""Rules: how they are read, and what the holdout makes of them."""

from typing import get_args

import pytest
from support.documents import METRIC, audit, chosen, gap, in_use, near, scored, with_third_group

from fairenum.document.scores import ChangedEstimate, SplitScores
from fairenum.document.terms import Gap, Performance, Ratio
from fairenum.document.value import Estimate
from fairenum.errors import ConfigError
from fairenum.report.rules import RULED, Rule, RuleOutcome, judge, parse_rule, parse_rules, refuse_subjects


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("accuracy>=0.5", Rule("accuracy", ">=", 0.5)),
        (" demographic_parity_difference <= 1e-1 ", Rule("demographic_parity_difference", "<=", 0.1)),
        ("selection_rate<.5", Rule("selection_rate", "<", 0.5)),
        ("equalized_odds_ratio>1", Rule("equalized_odds_ratio", ">", 1.0)),
    ],
)
def test_a_rule_is_a_metric_a_comparison_and_a_number(text, rule):
    assert parse_rule(text) == rule
    assert parse_rule(str(rule)) == rule


@pytest.mark.parametrize("text", ["", "accuracy", "accuracy=0.5", "accuracy<=", "accuracy<=x", "accuracy<=nan", "<=1"])
def test_anything_else_is_refused(text):
    with pytest.raises(ConfigError, match="is no rule; write a metric"):
        parse_rules([text])


@pytest.mark.parametrize("text", ["demographic_parity_difference<=10", "accuracy>=1.5", "accuracy>-0.1"])
def test_a_limit_that_nothing_could_break_or_keep_is_refused(text):
    with pytest.raises(ConfigError, match=r"lies between 0 and 1, so a limit of [-0-9.]+ says nothing; 10 % is 0\.1"):
        parse_rule(text)


def test_one_group_alone_has_no_gap_to_judge():
    document = audit()
    column = document.dataset.sensitive[0]
    alone = column.but(groups=(column.groups[0], column.groups[1].but(holdout=0)))
    document = document.but(dataset=document.dataset.but(sensitive=(alone,)))
    judgement = judge(document, parse_rule("demographic_parity_difference<=0.9"))
    assert judgement.outcome is RuleOutcome.OPEN
    assert judgement.reason.endswith("but the holdout holds one group of age only")


def test_the_measures_are_those_of_the_document():
    assert set(RULED) == {*get_args(Performance), *get_args(Gap), *get_args(Ratio)}
    assert set(RULED) <= set(SplitScores.__struct_fields__)


def test_a_near_miss_is_named():
    with pytest.raises(ConfigError, match="no metric is called 'acuracy'; did you mean 'accuracy'"):
        parse_rule("acuracy>=0.5")
    with pytest.raises(ConfigError, match="no metric is called 'xyz'; there are accuracy, "):
        parse_rule("xyz>=0.5")


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        # the interval of the gap is [0.11, 0.19]
        ("demographic_parity_difference<=0.19", RuleOutcome.HOLDS),
        ("demographic_parity_difference<0.19", RuleOutcome.OPEN),
        ("demographic_parity_difference<=0.15", RuleOutcome.OPEN),
        ("demographic_parity_difference<=0.11", RuleOutcome.OPEN),
        ("demographic_parity_difference<0.11", RuleOutcome.VIOLATED),
        ("demographic_parity_difference<=0.1", RuleOutcome.VIOLATED),
        ("demographic_parity_ratio>=0.8", RuleOutcome.OPEN),
        ("demographic_parity_ratio>=0.7", RuleOutcome.HOLDS),
        ("accuracy>=0.9", RuleOutcome.VIOLATED),
    ],
)
def test_the_whole_interval_decides(rule, outcome):
    document = scored(audit(), 3, demographic_parity_ratio=near(0.8))
    judgement = judge(document, parse_rule(rule))
    assert judgement.outcome == outcome
    assert judgement.check.outcome == outcome.value


def test_a_small_group_leaves_gaps_open_and_nothing_else():
    document = audit(small=True)
    judgement = judge(document, parse_rule("demographic_parity_difference<=0.9"))
    assert judgement.outcome is RuleOutcome.OPEN
    assert "1 group of age too small: > 25 (20 rows); --min-group-size" in judgement.reason
    assert judge(document, parse_rule("accuracy>=0.1")).outcome is RuleOutcome.HOLDS


def test_groups_that_are_set_aside_are_not_judged_and_the_reason_says_so():
    document = with_third_group(audit(), name="unclear", holdout=4, is_small=True, is_compared=False)
    for rule, outcome in (("<=0.9", RuleOutcome.HOLDS), ("<=0.1", RuleOutcome.VIOLATED), ("<=0.15", RuleOutcome.OPEN)):
        judgement = judge(document, parse_rule(f"demographic_parity_difference{rule}"))
        assert judgement.outcome is outcome
        assert "on the holdout (not judged: unclear (4 rows))" in judgement.reason
    assert "not judged" not in judge(document, parse_rule("accuracy>=0.1")).reason
    for name in ("b", "c", "d"):
        document = with_third_group(document, name=name, holdout=1, is_small=True, is_compared=False)
    judgement = judge(document, parse_rule("demographic_parity_difference<=0.9"))
    assert "(not judged: unclear (4 rows), b (1 row), c (1 row) and 1 more)" in judgement.reason


def test_rows_that_chose_the_model_judge_nothing():
    judgement = judge(audit().but(is_exploratory=True), parse_rule("accuracy>=0.1"))
    assert judgement.outcome is RuleOutcome.OPEN
    assert judgement.reason.endswith("but these rows also chose the model; give --split a holdout")


def test_without_a_model_or_limits_a_rule_stays_open():
    assert judge(audit(selected=None), parse_rule("accuracy>0")).reason == "no model was selected"
    document = scored(audit(selected=1), 1, accuracy=ChangedEstimate(0.7, None, 0.8))
    assert judge(document, parse_rule("accuracy>0")).reason == "0.700 on the holdout has no limits to judge by"
    document = scored(document, 1, accuracy=ChangedEstimate())
    assert judge(document, parse_rule("accuracy>0")).outcome is RuleOutcome.OPEN


def test_a_model_is_judged_by_the_selected_one():
    document = scored(audit(), 1, **{METRIC: gap(0.9)})
    assert judge(document, parse_rule("demographic_parity_difference<=0.2")).outcome is RuleOutcome.HOLDS


def in_sight(document, **together):
    document = scored(document, 3, together=together)
    return document.but(selection=document.selection.but(is_in_sight=True))


def test_a_model_chosen_with_the_holdout_in_sight_is_judged_by_limits_that_hold_for_all():
    rule = parse_rule("demographic_parity_difference<=0.19")
    assert judge(audit(), rule).outcome is RuleOutcome.HOLDS
    wider = in_sight(audit(), demographic_parity_difference=Estimate(0.15, 0.05, 0.25))
    assert judge(wider, rule).outcome is RuleOutcome.OPEN
    assert judge(wider, parse_rule("demographic_parity_difference<=0.25")).outcome is RuleOutcome.HOLDS
    assert judge(wider, parse_rule("demographic_parity_difference<0.05")).outcome is RuleOutcome.VIOLATED
    without = judge(in_sight(audit()), rule)
    assert without.outcome is RuleOutcome.OPEN
    assert "keeps no limits that hold for all models together" in without.reason


@pytest.mark.parametrize(
    ("metric", "positives", "outcome"),
    [
        ("equal_opportunity_difference", 8, RuleOutcome.OPEN),
        ("equal_opportunity_ratio", 8, RuleOutcome.OPEN),
        ("equalized_odds_difference", 8, RuleOutcome.OPEN),
        ("equalized_odds_difference", 62, RuleOutcome.OPEN),
        ("equal_opportunity_difference", 62, RuleOutcome.HOLDS),
        ("demographic_parity_difference", 8, RuleOutcome.HOLDS),
    ],
)
def test_what_a_rate_is_a_share_of_has_to_be_enough(metric, positives, outcome):
    document = scored(audit(), 3, **{metric: near(0.15) if "ratio" in metric else gap(0.15)})
    column = document.dataset.sensitive[0]
    groups = (
        column.groups[0].but(holdout=200, holdout_positives=100),
        column.groups[1].but(holdout=66, holdout_positives=positives),
    )
    document = document.but(
        dataset=document.dataset.but(sensitive=(column.but(groups=groups), *document.dataset.sensitive[1:]))
    )
    judgement = judge(document, parse_rule(f"{metric}<=0.9"))
    assert judgement.outcome is outcome
    if outcome is RuleOutcome.OPEN:
        few = min(positives, 66 - positives)
        assert f"shares of too few rows in 1 group of age: {groups[1].name} ({few} rows)" in judgement.reason


def test_before_a_colon_stands_whom_it_is_about():
    assert parse_rule(" best : accuracy>=0.5 ") == Rule("accuracy", ">=", 0.5, "best")
    assert str(parse_rule("incumbent:accuracy>=0.5")) == "incumbent:accuracy>=0.5"
    with pytest.raises(ConfigError, match="'worst'; before a colon stands one of incumbent, selected, best"):
        parse_rule("worst:accuracy>=0.5")


def test_a_measurement_knows_no_models():
    refused = r"'best:accuracy>=0\.5' is about a model of an audit; .* write 'accuracy>=0\.5'"
    with pytest.raises(ConfigError, match=refused):
        refuse_subjects(parse_rules(["accuracy>=0.9", "best:accuracy>=0.5"]))
    refuse_subjects(parse_rules(["accuracy>=0.9"]))


def test_a_rule_is_about_the_model_in_use_unless_it_says_otherwise():
    document = scored(scored(audit(), 20, accuracy=near(0.3)), 1, accuracy=near(0.8))
    document = in_use(scored(document, 3, accuracy=near(0.6)))
    rules = {"": "violated", "incumbent:": "violated", "selected:": "open", "best:": "holds"}
    for whom, outcome in rules.items():
        judgement = judge(document, parse_rule(f"{whom}accuracy>=0.6"))
        assert judgement.outcome.value == outcome
        assert str(judgement.rule) == f"{whom or 'incumbent:'}accuracy>=0.6"
    assert judge(document, parse_rule("accuracy>=0.6")).reason == (
        "the model in use (tool): 0.300 [0.260, 0.340] on the holdout"
    )
    assert judge(document, parse_rule("best:accuracy>=0.6")).reason.startswith("model 1: 0.800 ")
    assert judge(audit(), parse_rule("incumbent:accuracy>=0.6")).outcome is RuleOutcome.OPEN
    assert "--incumbent COLUMN" in judge(audit(), parse_rule("incumbent:accuracy>=0.6")).reason
    kept = judge(in_use(audit(), kept=True), parse_rule("selected:accuracy>=0.6"))
    assert (kept.outcome, kept.reason) == (RuleOutcome.OPEN, "no model was selected: the model in use is kept")


def test_what_had_no_part_in_a_choice_is_judged_alone():
    document = chosen(in_use(scored(audit(), 20, accuracy=near(0.8))), is_in_sight=True)
    assert judge(document, parse_rule("accuracy>=0.7")).outcome is RuleOutcome.HOLDS
    assert judge(scored(document, 3, together={}), parse_rule("selected:accuracy>=0.1")).outcome is RuleOutcome.OPEN
    together = scored(document, 3, together={"accuracy": Estimate(0.8, 0.6, 0.9)})
    assert judge(together, parse_rule("selected:accuracy>=0.6")).outcome is RuleOutcome.HOLDS
    exploratory = document.but(is_exploratory=True)
    assert judge(exploratory, parse_rule("accuracy>=0.7")).outcome is RuleOutcome.HOLDS
    assert judge(exploratory, parse_rule("best:accuracy>=0.1")).outcome is RuleOutcome.OPEN
