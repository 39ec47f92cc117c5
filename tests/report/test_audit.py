"""The view: what a document is in words."""

import pytest
from documents import audit_document, full_document
from fairenum.audit.result import AuditResult, check
from fairenum.report.numbers import counted, estimate, p_value, percent, share, signed
from fairenum.report.text import plain, sentence_list, shortened
from fairenum.report.view import shown_ranks, view


@pytest.mark.parametrize(
    "document",
    [
        audit_document(),
        audit_document(selected=1, small=True),
        audit_document(selected=None),
        audit_document(models=1, selected=1),
        audit_document(status="interrupted", verdict="not fairer"),
        full_document(),
        AuditResult(full_document()).redacted().document,
    ],
)
def test_the_hand_made_documents_are_what_the_schema_describes(document):
    check(document, "document")
    view(document)


@pytest.mark.parametrize(
    ("facts", "headline"),
    [
        ({}, "Model 3 is fairer than model 1; its accuracy changes by -0.002 [-0.012, +0.008]."),
        (
            {"verdict": "not distinguishable"},
            "Model 3 looked fairer than model 1 on the selection split; the holdout cannot confirm it.",
        ),
        (
            {"verdict": "not fairer"},
            "Model 3 looked fairer than model 1 on the selection split; on the holdout it is not.",
        ),
        ({"selected": 1}, "No near-optimal model was found to be fairer than model 1, which is kept."),
        ({"selected": None}, "No model can be selected."),
        ({"status": "interrupted", "selected": None}, "Interrupted: No model can be selected."),
    ],
)
def test_the_headline_is_the_verdict(facts, headline):
    assert view(audit_document(**facts)).headline == headline


@pytest.mark.parametrize(
    ("low", "price"),
    [
        (-0.01, " and nearly as accurate."),
        (-0.02, "; its accuracy changes by -0.002 [-0.020, +0.008]."),
        (None, "; its"),
    ],
)
def test_a_fairer_model_is_as_accurate_only_if_the_holdout_shows_it(low, price):
    document = audit_document()
    document["models"][2]["scores"]["holdout"]["accuracy"]["change"]["low"] = low
    assert view(document).headline.startswith(f"Model 3 is fairer than model 1{price}")


def test_without_a_sensitive_column_there_is_no_gap():
    document = audit_document(selected=1)
    document["selection"]["tolerances"]["column"] = None
    document["dataset"]["sensitive"] = []
    shown = view(document)
    assert shown.headline == "No sensitive column was named, so no gap was measured; model 1 is kept."
    assert shown.subject.endswith("; no sensitive column")
    assert len(shown.findings) == 2


def test_the_findings_give_the_numbers():
    assert view(audit_document()).findings == (
        "Of 12 models within the tolerances it has the smallest gap.",
        "It decides 2 of 400 rows of the holdout otherwise; the gap changes by -0.050 [-0.070, -0.030].",
        "The 20 models decide 12 of 400 holdout rows (3.0 %) in more than one way; "
        "one model differs from model 1 in up to 2.0 %.",
    )
    assert view(audit_document(selected=1)).findings[0] == (
        "On the holdout (400 rows) the demographic parity difference of model 1 by sex is 0.150 [0.110, 0.190]; "
        "its accuracy is 0.700."
    )


def test_a_model_that_decides_the_holdout_as_model_1_does_is_said_to():
    document = audit_document()
    document["models"][2]["predictions_changed"]["holdout"]["rows"] = 0
    assert view(document).models.rows[2][-2:] == ("same", "0")
    assert "It decides all 400 rows of the holdout as model 1 does." in view(document).findings


def test_the_ranked_table_marks_the_selected_model():
    table = view(audit_document()).models
    assert table.rows[2] == ("*3", "0.999800", "303", "0.700", "0.150 [0.110, 0.190]", "-0.050", "fairer", "2")
    assert table.rows[0][5:] == ("–", "–", "–")
    assert table.marked == 2
    assert any("not shown: 8 models" in note for note in table.notes)
    assert len(view(audit_document(), all_models=True).models.rows) == 20


def test_constant_models_and_undefined_gaps_are_told_apart_from_fair_ones():
    document = audit_document()
    document["models"][1]["is_constant"] = True
    gap = document["models"][3]["scores"]["holdout"]["demographic_parity_difference"]
    gap.update(value=None, low=None, high=None, change=None, verdict=None)
    rows = view(document).models.rows
    assert rows[1][6] == "constant"
    assert rows[3][4:7] == ("–", "–", "–")


def test_the_short_table_holds_the_first_the_selected_and_the_front():
    document = audit_document(models=40, selected=33)
    assert shown_ranks(document, 6) == [1, 2, 3, 4, 33, 40]
    assert shown_ranks(audit_document(models=2, selected=1), 6) == [1, 2]


def test_the_selected_model_stands_beside_model_1():
    table = view(audit_document()).comparison
    assert table.headings == ("measure", "model 1", "model 3", "change", "verdict")
    assert ("demographic parity", "0.200 [0.160, 0.240]", "0.150 [0.110, 0.190]", "-0.050", "fairer") in table.rows
    assert view(audit_document(selected=1)).comparison.headings == ("measure", "model 1")


def test_groups_are_shown_in_the_form_of_an_adverse_impact_table():
    (table,) = view(audit_document(small=True)).groups
    assert table.rows == (
        ("man", "120/200", "0.600", "0.750", "reference", "<0.001", "12"),
        ("woman (small)", "10/20", "0.500", "0.750", "-0.100 [-0.140, -0.060]", "<0.001", "12"),
    )
    assert table.notes[1].endswith(", the most selected of those that are not small")
    document = audit_document()
    assert view(document).groups[0].notes[1].endswith(", the most selected")
    document["group_tables"][1]["most_selected"] = None
    document["group_tables"][1]["groups"][0].update(shortfall=None, ratio=None)
    (table,) = view(document).groups
    assert table.rows[0][-1] == "–"
    assert len(table.notes) == 1


def test_numbers_have_few_digits():
    assert (share(0.12345), share(None)) == ("0.123", "–")
    assert (signed(0.01), signed(-0.0001), signed(None)) == ("+0.010", "0.000", "–")
    assert (percent(0.1234), percent(None)) == ("12.3 %", "–")
    assert (p_value(0.0001), p_value(0.25), p_value(None)) == ("<0.001", "0.250", "–")
    assert estimate({"value": 0.5, "low": None, "high": 0.6}) == "0.500"
    assert (counted(1, "row"), counted(0, "row")) == ("1 row", "0 rows")


def test_text_from_outside_is_made_visible_and_fits():
    assert plain("a\x1b[31m\n\u202eb\ud800") == "a\\x1b[31m\\n\\u202eb\\ud800"
    assert shortened("short", 10) == "short"
    assert shortened("a" * 5000 + "end", 12) == "aaaaaaaa…end"
    assert shortened("女" * 50, 12) == "女女女女…女"
    assert len(shortened("a" + "\u0301" * 5000, 12)) <= 50
    assert sentence_list(["a"]) == "a"
    assert sentence_list(["a", "b", "c"]) == "a, b and c"
