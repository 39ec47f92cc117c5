"""An audit in words: headline, findings, reasons, and the tables of the brief page."""

import pytest
from support.documents import METRIC, audit, full, gap, german, near, saved, scored, with_model

from fairenum.document.attack_document import TrialFailure
from fairenum.document.choice import reason_for
from fairenum.document.models import ChangedRows
from fairenum.document.scores import GapEstimate
from fairenum.document.value import Parts
from fairenum.report import page
from fairenum.report.choice_words import reason
from fairenum.report.models_section import shown_ranks

NO_FLIPS = Parts(ChangedRows(0, 0.0), ChangedRows(0, 0.0))


def table(document, anchor: str, **options):
    shown = page(document, brief=True, **options)
    return next(section.blocks[0] for section in shown.sections if section.anchor == anchor)


def test_without_a_sensitive_column_there_is_no_gap():
    document = audit(selected=1)
    selection = document.selection.but(column=None, reason="no_sensitive_column")
    shown = page(document.but(selection=selection, dataset=document.dataset.but(sensitive=())), brief=True)
    assert shown.headline == "No sensitive column was named, so no gap was measured; model 1 is kept."
    assert shown.subject.endswith("; no sensitive column")
    assert len(shown.findings) == 2


def test_the_findings_give_the_numbers():
    document = audit()
    found = document.multiplicity.but(models=78, rows=200, flipped=33, ambiguity=0.165, discrepancy=0.085)
    assert page(document.but(multiplicity=found)).findings == (
        "On the holdout (200 rows) the demographic parity difference of model 1 by age is 0.175 [0.059, 0.334]; its "
        "accuracy is 0.790.",
        "Of 3 models within the tolerances, model 3 has the smallest demographic parity difference on the selection "
        "split: 0.117 against 0.090 of model 1; on the holdout 0.150 against 0.175, fairer, at an accuracy of 0.790 "
        "against 0.790.",
        "It decides 2 of 200 rows of the holdout differently; the gap changes by -0.025 [-0.045, -0.005], judged "
        "alone.",
        "Proposed: the holdout shows that the gap is smaller and that no more accuracy is lost than 0.01; every "
        "guardrail is shown to hold.",
        "The 78 models decide 33 of 200 holdout rows (16.5 %) in more than one way; one model differs from model 1 in "
        "up to 8.5 %.",
        "Next: look at the grid of rates, group by group; then `fairenum select RUN --data DATA --export model.skops` "
        "writes the model.",
    )
    assert page(audit(selected=1)).findings[0] == (
        "On the holdout (200 rows) the demographic parity difference of model 1 by age is 0.175 [0.059, 0.334]; "
        "its accuracy is 0.790."
    )


@pytest.mark.parametrize(
    ("facts", "models", "candidates", "words"),
    [
        ({"selected": None}, 20, (), "no model within the tolerances decides anything"),
        ({"selected": 1}, 1, (1,), "there is no other model to choose: all 544 models that were found"),
        ({"selected": 1}, 20, (1,), "no other model is within the tolerances; model 1 is kept"),
        (
            {"selected": 1},
            20,
            (1, 2, 5),
            "none of the 2 other models within the tolerances has a smaller demographic parity difference on the "
            "selection split than model 1 (0.090); model 1 is kept",
        ),
    ],
)
def test_a_choice_has_its_reason(facts, models, candidates, words):
    document = audit(**facts, models=models)
    code = reason_for(document.selection.outcome, "age", models, {*candidates} - {1})
    document = document.but(selection=document.selection.but(candidates=candidates, reason=code))
    assert reason(document).startswith(words)


def test_a_single_model_and_a_constant_first_one_are_said_to_be():
    alone = audit(models=1, selected=1)
    alone = alone.but(enumeration=alone.enumeration.but(supports=1))
    assert reason(alone) == "there is no other model to choose: one was listed; model 1 is kept"
    assert "of model 1 (which decides all rows alike); on" in reason(with_model(audit(), 1, is_constant=True))


def test_a_model_that_decides_the_holdout_as_model_1_does_is_said_to():
    document = with_model(audit(verdict="same"), 3, predictions_changed=NO_FLIPS)
    assert table(document, "models").rows[2][-2:] == ("same", "0")
    assert "It decides all 200 rows of the holdout as model 1 does." in page(document).findings


def test_the_ranked_table_marks_the_selected_model():
    shown = table(audit(), "models")
    assert shown.rows[2] == ("*3", "0.0 %", "1.000000", "0.790", "0.150 [0.110, 0.190]", "-0.025", "fairer", "2")
    assert shown.rows[0][5:] == ("–", "–", "–")
    assert shown.marked == 2
    assert any("not shown: 8 models" in note for note in shown.notes)
    assert len(table(audit(), "models", all_models=True).rows) == 20


def test_constant_models_and_undefined_gaps_are_told_apart_from_fair_ones():
    document = scored(with_model(audit(), 2, is_constant=True), 3, **{METRIC: GapEstimate()})
    rows = table(document, "models").rows
    assert rows[1][6] == "constant"
    assert rows[2][4:7] == ("–", "–", "–")


def test_the_short_table_holds_the_first_the_selected_and_the_front():
    assert shown_ranks(audit(models=40, selected=33), 6) == [1, 2, 3, 4, 33, 40]
    assert shown_ranks(audit(models=2, selected=1), 6) == [1, 2]


def test_the_selected_model_stands_beside_model_1():
    shown = table(audit(), "choice")
    assert shown.headings == ("measure", "model 1", "model 3", "change")
    assert ("demographic parity", "0.175 [0.059, 0.334]", "0.150 [0.110, 0.190]", "-0.025") in shown.rows
    assert ("accuracy", "0.790 [0.734, 0.837]", "0.790 [0.734, 0.837]", "0.000") in shown.rows
    dear = table(with_model(audit(), 3, loss_ratio=0.1062), "choice")
    assert ("training loss", "0.0 %", "+10.6 %", "") in dear.rows
    assert table(audit(selected=1), "choice").headings == ("measure", "model 1")


def test_groups_are_shown_in_the_form_of_an_adverse_impact_table():
    document = audit(small=True)
    young, old = document.group_tables[1].groups
    document = document.but(
        group_tables=(
            document.group_tables[0],
            document.group_tables[1].but(
                groups=(
                    young.but(
                        n=38,
                        selected=27,
                        rate=near(0.711),
                        ratio=0.872,
                        difference=near(-0.104),
                        p=0.152,
                        shortfall=4.0,
                    ),
                    old.but(n=162, selected=132, rate=near(0.815), ratio=1.0, p=None, shortfall=0.0),
                )
            ),
        )
    )
    small = table(document, "groups-1")
    assert small.rows == (
        ("<= 25", "27/38", "0.711", "0.872", "-0.104 [-0.144, -0.064]", "0.152", "4"),
        ("> 25 (small)", "132/162", "0.815", "1.000", "reference", "–", "0"),
    )
    assert small.notes[1].endswith(", the most selected of those that are not small")
    document = audit()
    assert table(document, "groups-1").notes[1].endswith(", the most selected")
    first, second = document.group_tables
    rows = (second.groups[0].but(shortfall=None, ratio=None), second.groups[1])
    shown = table(document.but(group_tables=(first, second.but(most_selected=None, groups=rows))), "groups-1")
    assert (shown.rows[0][3], shown.rows[0][-1]) == ("–", "–")
    assert len(shown.notes) == 1


def test_the_gain_is_shown_where_it_was_looked_for_and_where_it_was_checked():
    document = german()
    optimism = document.selection.optimism.but(expected=0.0123)
    changes = document.selection.gap_change.but(holdout=near(-0.071, 0.28))
    document = document.but(selection=document.selection.but(optimism=optimism, gap_change=changes))
    (choice,) = [section for section in page(document).sections if section.anchor == "choice"]
    gain = choice.blocks[1]
    assert [row[0] for row in gain.rows] == ["demographic parity gap", "change against model 1", "change of accuracy"]
    assert gain.rows[1][2] == "-0.071 [-0.351, +0.209]"
    assert gain.notes == (
        "selection bias: about 0.012 of the change on the selection split is expected to come from the choice",
    )


def test_an_attack_beside_an_audit_is_on_both_pages_and_its_failures_are_warnings():
    attack = saved("defences").attack
    failure = TrialFailure("paper", 10, "too few", 3, 3)
    document = full().but(attack=attack.but(failures=(failure,)))
    for shown in (page(document), page(document, brief=True)):
        (section,) = [section for section in shown.sections if section.anchor == "attack"]
        assert section.title == "When labels are flipped"
        assert shown.warnings[-1] == "trial with seed 3, paper with 10 flips, failed: too few"


@pytest.mark.parametrize(
    ("chance", "words"),
    [
        (0.8, "is the fairest that the holdout was likely to confirm (80 %); it has a smaller demographic parity"),
        (0.52, "had the best chance to be confirmed by the holdout (52 %); it has a smaller demographic parity"),
        (None, "has the smallest demographic parity"),
    ],
)
def test_a_model_that_is_not_the_fairest_was_chosen_for_its_chance(chance, words):
    document = scored(scored(audit(), 3, "selection", **{METRIC: gap(0.08)}), 2, "selection", **{METRIC: gap(0.05)})
    document = document.but(selection=document.selection.but(chance=chance))
    assert f"model 3 {words}" in page(document).findings[1]
    fairest = scored(document, 3, "selection", **{METRIC: gap(0.01)})
    assert "model 3 has the smallest demographic parity" in page(fairest).findings[1]


def test_a_gap_of_another_name_is_called_by_it():
    document = audit()
    tolerances = document.selection.tolerances
    metric = "equal_opportunity_difference"
    changed = type(tolerances)(metric, tolerances.eps, tolerances.max_performance_drop)
    document = document.but(selection=document.selection.but(tolerances=changed))
    document = scored(document, 3, equal_opportunity_difference=gap(0.33))
    shown = page(document, brief=True)
    assert "smallest equal opportunity difference" in shown.findings[1]
    assert "0.330 [0.290, 0.370]" in table(document, "models").rows[2]
