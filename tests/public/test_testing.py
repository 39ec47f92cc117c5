"""`assert_fair`: it passes, fails and reports as the measurement does."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equalized_odds_difference,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from support.decisions import decided_frame
from support.documents import audit as audit_document
from support.documents import gap, in_use, scored

from fairenum import AuditResult, MeasureResult, measure
from fairenum.errors import ColumnMissing, ConfigError, DataError
from fairenum.report.rules import judge_all, parse_rules
from fairenum.testing import RuleLeftOpen, assert_fair

ORACLES = {
    "demographic_parity_difference": demographic_parity_difference,
    "demographic_parity_ratio": demographic_parity_ratio,
    "equal_opportunity_difference": equal_opportunity_difference,
    "equalized_odds_difference": equalized_odds_difference,
}
FRAME = decided_frame(2000)
LABEL = {"label": "good", "favourable": "yes"}


def failure(*arguments, **options):
    with pytest.raises(AssertionError) as caught:
        assert_fair(*arguments, **options)
    return str(caught.value)


@pytest.mark.parametrize(("metric", "oracle"), ORACLES.items())
def test_the_value_is_that_of_fairlearn(metric, oracle):
    labels, decided = (FRAME["good"] == "yes").astype(int), FRAME["hired"]
    value = oracle(labels, decided, sensitive_features=FRAME["sex"])
    sign, beyond = (">=", 1.0) if metric.endswith("ratio") else ("<=", 0.0)
    text = failure(FRAME, "hired", "sex", rules=f"{metric}{sign}{beyond:g}", **LABEL)
    (shown,) = re.findall(rf"  violated: {metric}[^:]*: ([0-9.]+) \[", text)
    assert float(shown) == pytest.approx(value, abs=5e-4)


def test_what_is_kept_is_returned():
    result = assert_fair(FRAME, "hired", "sex", rules=["demographic_parity_ratio>=0.01", "selection_rate>=0.1"])
    assert isinstance(result, MeasureResult)
    assert result.document.but(timings={}) == measure(FRAME, "hired", "sex").document.but(timings={})


def test_every_rule_that_is_not_kept_is_told_with_its_groups():
    text = failure(FRAME, "hired", "sex", rules=["demographic_parity_ratio>=0.8", "selection_rate>=0.1"])
    rates = FRAME.groupby("sex")["hired"].mean().round(3)
    lines = text.splitlines()
    assert lines[0] == "1 of 2 rules is not kept (hired in table, 2000 rows, groups by sex):"
    assert lines[1].startswith("  violated: demographic_parity_ratio>=0.8: 0.")
    for line, sex in zip(lines[2:4], ("woman", "man"), strict=True):  # the lowest rate first
        rows = (FRAME["sex"] == sex).sum()
        assert re.fullmatch(rf"    sex = {sex}: selection rate {rates[sex]:.3f} \[[0-9., ]+\], {rows} rows", line)
    assert lines[4].startswith("violated: the whole interval is beyond the limit")
    assert len(lines) == 5


def test_decisions_are_told_apart():
    text = failure(FRAME, ["hired", "rival"], "sex", rules="demographic_parity_difference<=0.01")
    assert "2 of 2 rules are not kept (hired, rival in table" in text
    assert re.findall(r"violated: \S+: (\w+): ", text) == ["hired", "rival"]


def test_rates_are_those_that_the_rule_compares():
    text = failure(FRAME, "hired", "sex", rules="equalized_odds_difference<=0", **LABEL)
    rows = FRAME[(FRAME["sex"] == "woman")]
    expected = [rows.loc[rows["good"] == good, "hired"].mean() for good in ("yes", "no")]
    found = re.search(r"sex = woman: true positive rate ([0-9.]+) .*, false positive rate ([0-9.]+) ", text)
    assert [float(rate) for rate in found.groups()] == pytest.approx(expected, abs=5e-4)


def test_many_groups_are_cut_short():
    towns = np.repeat([f"t{number}" for number in range(9)], 100)
    text = failure({"town": towns, "hired": np.tile([0, 1], 450)}, "hired", "town", rules="selection_rate>0.9")
    assert "town =" not in text  # the rule is about all rows together
    text = failure(
        {"town": towns, "hired": np.tile([0, 1], 450)}, "hired", "town", rules="demographic_parity_ratio>0.9"
    )
    assert text.count("town =") == 6
    assert "    and 3 more groups\n" in text


# no difference at all, but so few rows that one might be hidden
FEW = {"sex": ["man", "woman"] * 30, "hired": [1, 0, 0, 1, 1, 1] * 10}


def test_an_open_rule_fails_unless_it_is_let_pass():
    rule = "demographic_parity_difference<=0.1"
    text = failure(FEW, "hired", "sex", rules=rule)
    assert "  open: demographic_parity_difference<=0.1: 0.000 [" in text
    assert text.endswith("let open rules pass with a warning (when_open='warn')")
    with pytest.warns(RuleLeftOpen, match=r"demographic_parity_difference<=0\.1: .* straddles the limit") as caught:
        assert assert_fair(FEW, "hired", "sex", rules=rule, when_open="warn").document.dataset.rows == 60
    assert [warning.filename for warning in caught] == [__file__]


def test_a_violated_rule_fails_even_where_open_ones_pass():
    rules = ["demographic_parity_difference<=0.1", "selection_rate<0.2"]
    text = failure(FEW, "hired", "sex", rules=rules, when_open="warn")
    assert "1 of 2 rules is not kept" in text
    assert "demographic_parity_difference" not in text


def test_a_rule_that_needs_a_label_says_so():
    text = failure(FEW, "hired", "sex", rules="equal_opportunity_difference<=0.3")
    assert text.splitlines()[1] == "  open: equal_opportunity_difference<=0.3: – has no limits to judge by"
    assert text.endswith("name the column of true outcomes with label=...")


def test_results_are_judged_as_they_are():
    measured = measure(FRAME, "hired", "sex")
    assert assert_fair(measured, rules="selection_rate>=0.1") is measured
    audited = AuditResult(audit_document())
    assert assert_fair(audited, rules="demographic_parity_difference<=0.19") is audited
    text = failure(audited, rules="demographic_parity_difference<=0.1")
    assert text.startswith("1 of 1 rule is not kept (model 3 of the audit of ")
    assert "  violated: demographic_parity_difference<=0.1: 0.150 [0.110, 0.190] on the holdout" in text


def test_of_an_audit_with_a_model_in_use_that_is_judged():
    document = in_use(scored(audit_document(), 20, demographic_parity_difference=gap(0.5)))
    assert_fair(AuditResult(document), rules="selected:demographic_parity_difference<=0.19")
    text = failure(AuditResult(document), rules="demographic_parity_difference<=0.19")
    assert text.startswith("1 of 1 rule is not kept (the audit of german, on its holdout):")
    assert "violated: incumbent:demographic_parity_difference<=0.19: the model in use (tool): 0.500 [0.460" in text
    assert "age = " in text  # the rates of its groups


def test_an_interrupted_audit_is_not_fair():
    document = audit_document().but(status="interrupted")
    text = failure(AuditResult(document), rules="demographic_parity_difference<=0.19")
    assert text.endswith("the run was interrupted, and rules are judged by whole ones; run it again")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"rules": []}, ConfigError, "there are no rules to judge by; give some, such as rules="),
        ({"rules": "fairness>=1"}, ConfigError, "no metric is called 'fairness'"),
        (
            {"rules": "accuracy>=0.5", "when_open": "pass"},
            ConfigError,
            "when_open must be 'fail' or 'warn', not 'pass'",
        ),
        ({"rules": "accuracy>=0.5", "sensitive": "gender"}, ColumnMissing, "'gender'"),
        (
            {"rules": "accuracy>=0.5", "sensitive": ["sex", "race"]},
            ConfigError,
            "such as with primary='sex', or assert",
        ),
        (
            {"rules": "accuracy>=0.5", "data": measure(FRAME, "hired", "sex")},
            ConfigError,
            "a result is judged as it is",
        ),
    ],
)
def test_a_mistake_is_no_verdict(options, error, words):
    call = {"data": FRAME, "decision": "hired", "sensitive": "sex", **options}
    with pytest.raises(error, match=re.escape(words)):
        assert_fair(call.pop("data"), call.pop("decision"), call.pop("sensitive"), **call)


@pytest.mark.parametrize("primary", ["race", "sex & race"])
def test_the_column_that_rules_are_about_is_named(primary):
    text = failure(FRAME, "hired", ["sex", "race"], primary=primary, rules="demographic_parity_ratio>=0.99")
    assert f"groups by {primary})" in text
    assert f"    {primary} = " in text


def test_series_in_another_order_are_refused():
    """As after `train_test_split`: pandas would join row 0 of one to row 0 of the other, wherever it stands."""
    rows = FRAME.sample(frac=0.5, random_state=0)
    decided = pd.Series(rows["hired"].to_numpy())
    with pytest.raises(DataError, match="the Series 'sex' and 'hired' have different indexes"):
        assert_fair({"sex": rows["sex"], "hired": decided}, "hired", "sex", rules="selection_rate>=0.1")
    same = assert_fair({"sex": rows["sex"], "hired": decided.to_numpy()}, "hired", "sex", rules="selection_rate>=0.1")
    assert same.document.dataset == measure(rows, "hired", "sex").document.dataset


COUNTED = st.integers(1, 3000).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


@settings(max_examples=40)
@given(
    counted=st.lists(COUNTED, min_size=2, max_size=8),
    limit=st.floats(0.0, 1.0),
    metric=st.sampled_from(["demographic_parity_difference<=", "demographic_parity_ratio>=", "selection_rate<"]),
)
def test_it_says_what_the_rules_say(counted, limit, metric):
    n, selected = zip(*counted, strict=True)
    table, rule = {"group": [*"abcdefgh"[: len(n)]], "n": n, "selected": selected}, f"{metric}{limit:.3f}"
    measured = measure(table, sensitive="group", counts=True, replications=20)
    (judgement,) = judge_all(measured.document, parse_rules([rule]))
    if judgement.outcome == "holds":
        assert assert_fair(measured, rules=rule) is measured
    else:
        assert f"  {judgement.outcome}: {judgement.rule}: {judgement.reason}\n" in failure(measured, rules=rule)


def test_pytest_shows_the_line_of_the_test():
    with pytest.raises(AssertionError) as caught:
        assert_fair(FRAME, "hired", "sex", rules="demographic_parity_ratio>=0.8")
    (entry,) = caught.getrepr(style="short").reprtraceback.reprentries
    assert entry.reprfileloc.path.endswith("test_testing.py")


def test_importing_it_imports_nothing_heavy():
    code = "import sys, fairenum.testing; print({'pytest', 'numpy', 'pandas', 'rich', 'fairlearn'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
