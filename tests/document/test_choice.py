"""What a choice says about itself."""

import pytest
from support.saved_runs import read

from fairenum.document.choice import GuardValue, reason_for
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


@pytest.mark.parametrize(
    ("value", "is_kept"),
    [(0.1, True), (0.1 + 1e-13, True), (0.1 + 1e-11, False), (-0.1 - 1e-13, True), (-0.2, False), (None, True)],
)
def test_a_guardrail_is_kept_on_the_selection_split_up_to_rounding(value, is_kept):
    """The rule of choice goes up to the limit itself, where rounding must not decide."""
    assert GuardValue("selection_rate=+-0.1", "selection_rate", -0.1, 0.1, value).is_kept_in_selection == is_kept
