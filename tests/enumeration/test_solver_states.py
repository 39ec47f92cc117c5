"""How many solver states are kept: few of large ones, many of small ones, and never more memory than is stated."""

import numpy as np
import pytest

from fairenum.enumeration.search import FEW, FEWEST, MEMORY_LIMIT, STRETCHED, ready_states, size_of
from fairenum.svm.problem import Certificate, Solution


def answer(size: int, inside: int = 0) -> Solution:
    alpha = np.zeros(size)
    alpha[:inside] = 0.5
    return Solution(alpha, np.ones(size), Certificate(0.0, 0.0, 0.0, 0.0), np.zeros(size))


def test_a_state_holds_vectors_of_all_examples_and_a_matrix_of_those_inside():
    assert size_of(answer(1000)) == 8 * (8 * 1000 + 1)
    assert size_of(answer(1000, 99)) == 8 * (8 * 1000 + 100**2)


@pytest.mark.parametrize(
    ("size", "inside"), [(100, 3), (10_000, 20), (200_000, 30), (1_000_000, 50), (20_000, 3000), (50_000, 6000)]
)
def test_memory_is_bounded_unless_the_fewest_states_need_more(size, inside):
    one = answer(size, inside)
    states = ready_states(size_of(one))
    assert states >= FEWEST
    taken = states * size_of(one)
    assert taken <= STRETCHED * MEMORY_LIMIT or states == FEWEST
    assert taken <= MEMORY_LIMIT or states <= FEW
