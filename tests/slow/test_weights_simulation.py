"""Simulated audits of rows that count differently: do intervals hold the truth as often as they say?"""

import pytest
from support.simulation.known_gaps import weighted_coverage


@pytest.mark.parametrize("tied", [0.0, 1.0])
def test_weighted_intervals_cover_as_often_as_stated(tied):
    found = weighted_coverage(range(4000), rows=500, tied=tied)
    assert 0.93 <= found["rate"] <= 0.97, found
    assert 0.93 <= found["gap"] <= 0.97, found
    # limits that hold for all models and pairs together
    assert 0.93 <= found["change"] <= 1.0, found
    assert 0.93 <= found["accuracy"] <= 0.98, found
