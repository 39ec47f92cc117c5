"""How models shift the score of the model in use, in words and in a table."""

from __future__ import annotations

import re

import pytest
from support.tables_in_use import LENT, rated

from fairenum import AuditResult, audit
from fairenum.document.correction_facts import Correction, ScoreShift
from fairenum.report.correction_words import sentences, shift_table

NAME = "score of the model in use (points)"
FOUND = Correction(NAME, "points", False, 0.5, 0.05, 20.0, False, "none", shifts=(ScoreShift(1, 0.8, 3.21),))
ROWS = [("town = Bath", (0.1,)), ("years", (-0.04,)), ("debt", (0.002,)), ("age", (0.0,))]


def test_a_sentence_says_what_stays_and_what_shifts_it():
    """A point of the score is worth 0.8 * 0.05 * 0.5 = 0.02 of the decision value."""
    (found,) = sentences(FOUND, ROWS)
    assert found == (
        "Model 1 keeps the score of the model in use (points), with 0.8 of the weight at which it decides by itself; "
        "all other columns together shift it up or down, by 3.21 units of the score on average (selection split), most "
        "by town = Bath (+5.000), years (-2.000) and debt (+0.100)."
    )


def test_probabilities_are_shifted_in_log_odds_and_low_scores_towards_the_favourable():
    (found,) = sentences(FOUND.but(is_probability=True, unit=-0.5), ROWS)
    assert "by 3.21 log-odds on average" in found
    assert "town = Bath (+5.000)" in found


def test_a_model_without_the_score_is_said_to_replace_it():
    ignored = FOUND.but(shifts=(ScoreShift(2, -0.1),))
    (found,) = sentences(ignored, ROWS)
    assert found == (
        "Model 2 gives the score of the model in use (points) no weight of its own: it replaces the score instead of "
        "shifting it."
    )
    assert shift_table(ignored, ROWS, 5) is None


def test_the_table_has_the_largest_shifts_of_each_model():
    two = FOUND.but(shifts=(ScoreShift(1, 0.8, 3.0), ScoreShift(4, 0.0)))
    found = shift_table(two, [("years", (0.04, 1.0)), ("debt", (0.02, 0.5))], 1)
    assert found.headings == ("encoded feature", "model 1", "model 4")
    assert found.rows == (("years", "+2.000", "–"),)
    assert found.notes[-1] == "not shown: 1 smaller one; the run's JSON has all weights"


@pytest.fixture(scope="module")
def run() -> AuditResult:
    options = {"incumbent_score": "vendor", "incumbent_cutoff": "0", "around": "incumbent", "k": 3, "C": 1.0}
    return audit(rated(900), **LENT, **options, incumbent_trained_on="none", search="exact", replications=50)


def test_the_page_shows_the_weight_of_the_score_first_per_standard_deviation(run):
    document, text = run.document, re.sub(r"<[^>]+>", " ", run.to_html())
    assert "Model 1 keeps the score of the model in use (vendor)" in text
    brief = run.to_markdown()
    lines = brief[brief.index("## What the models weigh") :].splitlines()
    weight = document.anatomy.weights[0].weights[-1] * document.correction.deviation
    assert lines[4].startswith("| score of the m")
    assert f"{weight:+.3f}" in lines[4]
    column = run.live.division.train.X[:, -1]
    assert document.correction.deviation == pytest.approx(float(column.std()), rel=1e-12)


def test_the_method_says_what_was_learned_and_what_is_stated(run):
    text = " ".join(re.sub(r"<[^>]+>", " ", run.to_html()).split())
    assert "Models have learned from its score, as one more feature" in text
    assert "No model has learned from it" not in text
    assert "It is stated that the model in use was fitted on none of these rows." in text
