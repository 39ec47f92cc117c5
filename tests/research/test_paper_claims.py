"""The claims of the paper, counted right."""

import pytest
from support.documents import draw_line, injection_of, split_line, table_of

from fairenum.research.reproduction import claims


def judged(tables, injection=None):
    return {claim.name: claim for claim in claims(tables, injection)}


@pytest.mark.parametrize(
    ("good", "bad", "verdict"),
    [(95, 5, "holds"), (94, 6, "holds sometimes"), (6, 94, "holds sometimes"), (5, 95, "does not hold")],
)
def test_a_verdict_says_how_often(good, bad, verdict):
    lines = [split_line()] * good + [split_line(spread=6.1e-4)] * bad
    found = judged({"german": table_of(standardised=lines)})
    assert (found["german_spread"].verdict, found["german_spread"].true) == (verdict, good)
    assert found["linear_time"].verdict == "holds"
    assert found["tied"].verdict == "not tried"


def test_a_claim_is_counted_in_main_variants_and_shown_in_all():
    table = table_of(standardised=[split_line()], raw=[split_line(lower=0)])
    found = judged({"sonar": table, "german": table})
    lower, timed = found["lower_loss"], found["linear_time"]
    assert (lower.true, lower.trials) == (2, 2)
    assert [(part.experiment, part.variant, part.true) for part in lower.parts] == [
        ("german", "standardised", 1),
        ("german", "raw", 0),
        ("sonar", "standardised", 1),
        ("sonar", "raw", 0),
    ]
    assert {part.variant for part in timed.parts} == {"standardised"}
    assert [part.experiment for part in found["german_spread"].parts] == ["german", "german"]


def test_a_claim_about_ties_counts_draws_with_ties_alone():
    draws = [draw_line(), draw_line(tied=4), draw_line(gap=None)]
    found = judged({}, injection_of(main=draws))
    assert (found["tied_but_different"].true, found["tied_but_different"].trials) == (0, 1)
    assert (found["raised"].true, found["raised"].trials) == (2, 3)
    assert found["fairer"].true == 0
