"""How many groups are compared and shown, and advice that helps."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairenum.errors import ColumnUnusable
from fairenum.tables.groups import MOST_GROUPS, MOST_SHOWN, Groups, comparable, intersect


def grouped(sizes: list[int]) -> Groups:
    return Groups(np.repeat(np.arange(len(sizes)), sizes), tuple(f"g{place}" for place in range(len(sizes))), "zone")


@given(st.lists(st.integers(1, 9), min_size=61, max_size=90), st.integers(0, 12))
def test_a_size_that_is_advised_leaves_groups_to_compare_but_not_too_many(sizes, fewest):
    groups = grouped(sizes).setting_aside(fewest, (slice(None),))
    if np.count_nonzero(groups.compared) <= MOST_GROUPS:
        assert comparable([groups], {"zone"}, fewest) == (groups,)
        return
    with pytest.raises(ColumnUnusable, match=r"'zone' has .* groups to compare") as refused:
        comparable([groups], {"zone"}, fewest)
    advised = re.search(r"--min-group-size (\d+)", str(refused.value))
    if advised:
        groups = groups.setting_aside(int(advised[1]), (slice(None),))
        assert 2 <= np.count_nonzero(groups.compared) <= MOST_GROUPS
        comparable([groups], {"zone"}, int(advised[1]))
    else:
        larger = [sum(size >= least for size in sizes) for least in range(1, 12)]
        assert not any(2 <= one <= MOST_GROUPS for one in larger)
        assert "none is large; join some with merge (--merge)" in str(refused.value)


def test_groups_that_nobody_can_read_are_refused_or_left_out():
    many = grouped([100, 100] + [1] * MOST_SHOWN).setting_aside(30, (slice(None),))
    assert np.count_nonzero(many.compared) == 2
    assert comparable([many], set(), 30) == ()
    with pytest.raises(ColumnUnusable, match=rf"'zone' has {MOST_SHOWN + 2} groups, more than {MOST_SHOWN}; join"):
        comparable([many], {"zone"}, 30)


@given(st.integers(2, 25), st.integers(2, 40), st.integers(0, 2**31))
def test_columns_are_crossed_whatever_their_number(columns, levels, seed):
    codes = np.random.default_rng(seed).integers(0, levels, (60, columns))
    names = tuple(map(str, range(levels)))
    crossed = intersect([Groups(column, names, f"c{place}") for place, column in enumerate(codes.T)])
    found, inverse = np.unique(codes, axis=0, return_inverse=True)
    assert crossed.codes.tolist() == inverse.ravel().tolist()
    assert crossed.names[0] == " & ".join(f"c{place}: {code}" for place, code in enumerate(found[0]))
