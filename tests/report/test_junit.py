"""The rules as JUnit test cases."""

from xml.etree import ElementTree

from support.documents import audit, in_use

from fairenum.report import page
from fairenum.report.rules import judge, parse_rules, to_junit

RULES = parse_rules(["accuracy>=0.5", "demographic_parity_difference<=0.1", "demographic_parity_difference<=0.15"])
NAMED = parse_rules(["best:demographic_parity_difference<=0.01", "selected:accuracy>=0.5"])


def suite_of(document, rules=()) -> ElementTree.Element:
    judgements = [judge(document, rule) for rule in rules]
    return ElementTree.fromstring(to_junit(page(document, brief=True), judgements, is_partial=document.is_partial))


def test_a_violated_rule_is_told_from_an_open_one():
    suite = suite_of(audit(), RULES)
    assert suite.attrib == {"name": "fairenum audit german", "tests": "4", "failures": "1", "errors": "1"}
    case, holds, violated, opened = suite
    assert "Model 3 narrows" in case.findtext("system-out", "")
    assert list(holds) == []
    assert [child.tag for child in violated] == ["failure"]
    assert [(child.tag, child.get("type")) for child in opened] == [("error", "open")]
    assert violated.get("name") == "demographic_parity_difference<=0.1"


def test_it_is_well_formed_whatever_the_names_are():
    document = audit()
    document = document.but(dataset=document.dataset.but(name="<b>\x07[blink]", label="\u202e]]>"))
    assert suite_of(document, RULES).get("name") == "fairenum audit <b>\\x07[blink]"


def test_an_interrupted_run_has_an_error():
    suite = suite_of(audit(status="interrupted"))
    assert suite.get("errors") == "1"
    assert suite[0][0].get("type") == "interrupted"


def test_junit_names_whom_each_case_is_about():
    suite = suite_of(in_use(audit()), [RULES[0], *NAMED])
    assert [case.get("name") for case in suite] == ["audit", "incumbent:accuracy>=0.5", *map(str, NAMED)]
