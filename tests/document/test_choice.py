"""What a choice says about itself."""

import pytest
from support.saved_runs import read

from fairenum.document.choice import reason_for
from fairenum.document.terms import Verdict


@pytest.mark.parametrize(
    ("outcome", "column", "models", "others", "reason"),
    [
        ("none", "sex", 3, set(), "all_constant"),
        ("none", None, 3, set(), "all_constant"),
        ("selected", "sex", 3, {2}, "smallest_gap"),
        ("kept", None, 3, {2}, "no_sensitive_column"),
        ("kept", None, 1, set(), "no_sensitive_column"),
        ("kept", "sex", 1, set(), "only_model"),
        ("kept", "sex", 3, set(), "no_other_candidate"),
        ("kept", "sex", 3, {3}, "no_smaller_gap"),
    ],
)
def test_every_outcome_has_its_reason(outcome, column, models, others, reason):
    assert reason_for(outcome, column, models, others) == reason


def test_the_shortlist_is_model_1_and_the_selected_one():
    selection = read("audit").selection
    shortlists = [selection.but(rank=rank).shortlist for rank in (None, 1, 4)]
    assert shortlists == [[1], [1], [1, 4]]


def test_only_the_holdout_makes_a_model_fairer():
    selection = read("audit").selection
    fairer = [verdict for verdict in (*Verdict, None) if selection.but(verdict=verdict).is_fairer]
    assert fairer == [Verdict.FAIRER]
