"""Rules: how they are read, and what the holdout makes of them."""

import pytest
from documents import audit_document
from fairenum.audit import schema

from fairenum.errors import ConfigError
from fairenum.report.rules import METRICS, Outcome, Rule, judge, parse_rule, parse_rules


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
    document = audit_document()
    document["dataset"]["sensitive"][0]["groups"][1]["holdout"] = 0
    judgement = judge(document, parse_rule("demographic_parity_difference<=0.9"))
    assert judgement.outcome is Outcome.OPEN
    assert judgement.reason.endswith("but the holdout holds one group of sex only")


def test_the_metrics_are_those_of_the_document():
    scores = schema()["$defs"]["scores"]["properties"]
    assert set(METRICS) == set(scores) - {"rows", "by_column", "hinge_loss"}


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        # the interval of the gap is [0.11, 0.19]
        ("demographic_parity_difference<=0.19", Outcome.HOLDS),
        ("demographic_parity_difference<0.19", Outcome.OPEN),
        ("demographic_parity_difference<=0.15", Outcome.OPEN),
        ("demographic_parity_difference<=0.11", Outcome.OPEN),
        ("demographic_parity_difference<0.11", Outcome.VIOLATED),
        ("demographic_parity_difference<=0.1", Outcome.VIOLATED),
        ("demographic_parity_ratio>=0.8", Outcome.OPEN),
        ("demographic_parity_ratio>=0.7", Outcome.HOLDS),
        ("accuracy>=0.9", Outcome.VIOLATED),
    ],
)
def test_the_whole_interval_decides(rule, outcome):
    assert judge(audit_document(), parse_rule(rule)).outcome == outcome


def test_a_small_group_leaves_gaps_open_and_nothing_else():
    document = audit_document(small=True)
    judgement = judge(document, parse_rule("demographic_parity_difference<=0.9"))
    assert judgement.outcome is Outcome.OPEN
    assert "1 group of sex too small: woman (20 rows); --min-group-size" in judgement.reason
    assert judge(document, parse_rule("accuracy>=0.1")).outcome is Outcome.HOLDS


def test_without_a_model_or_limits_a_rule_stays_open():
    assert judge(audit_document(selected=None), parse_rule("accuracy>0")).reason == "no model was selected"
    document = audit_document(selected=1)
    document["models"][0]["scores"]["holdout"]["accuracy"]["low"] = None
    assert judge(document, parse_rule("accuracy>0")).reason == "0.700 on the holdout has no limits to judge by"
    document["models"][0]["scores"]["holdout"]["accuracy"].update(value=None, high=None)
    assert judge(document, parse_rule("accuracy>0")).outcome is Outcome.OPEN
