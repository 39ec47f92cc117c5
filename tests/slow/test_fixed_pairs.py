"""Power and errors of a claim about a pair of groups, as docs/statistics.md gives them."""

from pathlib import Path

import pytest
from support.simulation import fixed_pairs

STATISTICS = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text("utf-8")
ERROR = fixed_pairs.ERRORS.fairer


def test_five_groups_have_the_power_that_the_page_states():
    for row in fixed_pairs.power_rows():
        assert row in STATISTICS


@pytest.mark.parametrize("truth", ["same", "reversed"])
def test_a_gap_that_is_not_smaller_is_called_so_as_often_as_the_page_states(truth):
    assert fixed_pairs.null_row(truth) in STATISTICS


@pytest.mark.parametrize("rows", fixed_pairs.ROWS)
def test_nothing_is_called_fairer_where_all_rates_are_equal(rows):
    assert fixed_pairs.called_fairer("equal", rows) == (0.0, 0.0)


def test_the_pair_of_the_largest_error_errs_as_often_as_stated_in_more_runs():
    pair, whole = fixed_pairs.called_fairer("reversed", 800, 5000)
    assert f"5000 runs instead of 1000 give {pair:.3f} for" in STATISTICS
    assert pair <= ERROR + 0.004  # two standard errors
    assert whole <= ERROR
