"""How often the score of the model in use is found to be that of rows that it was fitted on; see docs/audit.md."""

from __future__ import annotations

import pytest
from support.simulation.scored_rows import CASES, correction_of

SEEDS = range(3, 6)  # others than those by which the share was chosen


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_score_of_own_rows_is_found(case):
    assert all(correction_of(case.leaked(seed)).leak for seed in SEEDS)


@pytest.mark.parametrize("times", [1, 10])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_score_of_other_rows_is_taken_for_one(case, times):
    assert not any(correction_of(case.honest(seed, times)).leak for seed in SEEDS)


def test_many_scores_of_models_that_saw_half_of_the_rows_are_found():
    found = [correction_of(case.leaked(seed, 0.5)).leak is not None for seed in SEEDS for case in CASES]
    assert sum(found) >= 0.4 * len(found)
