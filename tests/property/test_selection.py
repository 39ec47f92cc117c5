"""The choice, against the definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairenum.document.training import Tolerances
from fairenum.enumeration.fairest import CandidateScores

RATES = st.integers(0, 10).map(lambda tenth: tenth / 10)


@st.composite
def standings(draw):
    k = draw(st.integers(1, 8))

    def row(element):
        return draw(st.lists(element, min_size=k, max_size=k))

    loss = [0.0, *(0.1 * draw(RATES) for _ in range(k - 1))]
    gap = np.array(row(st.one_of(RATES, st.just(float("nan")))))
    return CandidateScores(np.array(loss), np.array(row(RATES)), gap, np.array(row(st.booleans())))


@given(standings(), RATES, RATES)
def test_nobody_within_the_tolerances_is_fairer(field, eps, drop):
    tolerances = Tolerances(eps=eps / 10, max_performance_drop=drop)
    chosen = int(field.fairest(tolerances))
    allowed = [
        i
        for i in range(len(field.gap))
        if field.loss_ratio[i] <= eps / 10 + 1e-9
        and field.performance[i] >= field.performance[0] - drop - 1e-9
        and not field.is_constant[i]
        and field.gap[i] == field.gap[i]
    ]
    assert (chosen == -1) == (not allowed)
    if allowed:
        assert chosen == min(allowed, key=lambda i: (field.gap[i], i > 0, -field.performance[i], i))


@given(standings())
def test_the_front_is_what_nobody_dominates(field):
    front = set(field.pareto_front().tolist())
    points = {i: (-field.performance[i], field.gap[i]) for i in range(len(field.gap)) if not field.is_constant[i]}
    points = {i: point for i, point in points.items() if point[1] == point[1]}
    for i, (loss, gap) in points.items():
        beaten = any(
            other[0] <= loss and other[1] <= gap and (other != (loss, gap) or j < i)
            for j, other in points.items()
            if j != i
        )
        assert (i in front) == (not beaten)


@given(standings())
def test_replications_are_chosen_as_one_by_one(field):
    both = CandidateScores(
        field.loss_ratio,
        np.stack([field.performance, field.performance[::-1]]),
        np.stack([field.gap, field.gap[::-1]]),
        field.is_constant,
    )
    second = CandidateScores(field.loss_ratio, field.performance[::-1], field.gap[::-1], field.is_constant)
    expected = [int(field.fairest(Tolerances())), int(second.fairest(Tolerances()))]
    np.testing.assert_array_equal(both.fairest(Tolerances()), expected)
