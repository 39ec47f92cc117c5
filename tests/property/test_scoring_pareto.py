"""The Pareto front, against its definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fairenum.metrics.pareto import pareto_front, tied_ranks

# Few values, so that ties and equal rows are the normal case.
COSTS = hnp.arrays(
    np.float64, st.tuples(st.integers(0, 12), st.integers(1, 4)), elements=st.sampled_from([-1.0, -0.0, 0.0, 0.5, 2.0])
)


@given(COSTS)
def test_the_front_is_what_nothing_else_equals_or_beats(costs):
    rows = [tuple(row) for row in costs]

    def is_beaten(place):
        return any(
            all(a <= b for a, b in zip(other, rows[place], strict=True)) and (other != rows[place] or rival < place)
            for rival, other in enumerate(rows)
        )

    front = pareto_front(costs).tolist()
    assert sorted(front) == [place for place in range(len(rows)) if not is_beaten(place)]
    assert [rows[place][0] for place in front] == sorted(rows[place][0] for place in front)


@given(COSTS, st.integers(0, 2**32 - 1))
def test_rounding_changes_no_front(costs, seed):
    noise = np.random.default_rng(seed).uniform(-1e-13, 1e-13, costs.shape)
    assert pareto_front(costs * (1.0 + noise)).tolist() == pareto_front(costs).tolist()


@given(st.lists(st.integers(-5, 5), max_size=12), st.integers(0, 2**32 - 1))
def test_tied_ranks_are_those_of_the_numbers_without_their_noise(numbers, seed):
    noise = np.random.default_rng(seed).uniform(-1e-13, 1e-13, len(numbers))
    found = tied_ranks(np.array(numbers, dtype=float) * (1.0 + noise))
    assert found.tolist() == [sorted(set(numbers)).index(number) for number in numbers]
