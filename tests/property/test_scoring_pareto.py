"""The Pareto front, against its definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fairenum.scoring.pareto import pareto_front

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

    assert pareto_front(costs).tolist() == [place for place in range(len(rows)) if not is_beaten(place)]
