"""Groups: which of them are compared, and what they become when others are forgotten."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fairenum.errors import DataError
from fairenum.tables.groups import Groups, intersect, read_groups


def sized(*sizes: int, unknown: tuple[int, ...] = ()) -> Groups:
    """Groups a, b, ... of so many rows, one after the other."""
    return Groups(np.repeat(np.arange(len(sizes)), sizes), tuple("abcdefgh"[: len(sizes)]), "g", unknown)


def set_aside(groups: Groups, fewest: int, *parts: np.ndarray) -> list[str]:
    found = groups.setting_aside(fewest, parts or (np.arange(len(groups.codes)),))
    return [groups.names[code] for code in found.aside]


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (sized(40, 30, 29), ["c"]),
        (sized(40, 30, 31), []),
        (sized(40, 30, 50, unknown=(2,)), ["c"]),
        (sized(40, 30, 5, 50, unknown=(3,)), ["c", "d"]),
        (sized(40, 5, 6), []),  # one large group has nothing to be compared with
        (sized(5, 6), []),
        (sized(40, 5, 50, unknown=(2,)), ["c"]),  # all that have a value
        (sized(40, 50, unknown=(1,)), []),  # one group and the rest
    ],
)
def test_groups_that_are_small_or_without_a_value_are_set_aside_while_two_remain(groups, expected):
    assert set_aside(groups, 30) == expected


def test_a_group_is_small_if_one_part_has_too_few_of_its_rows():
    groups = sized(40, 40, 40)
    first = np.r_[0:20, 40:60, 80:110]
    second = np.setdiff1d(np.arange(120), first)
    assert set_aside(groups, 15, first, second) == ["c"]
    assert set_aside(groups, 10, first, second) == []


def test_a_group_without_rows_is_no_partner():
    assert set_aside(Groups(np.array([0, 0, 1, 1, 3]), tuple("abcd"), unknown=(3,)), 0) == ["d"]
    assert set_aside(Groups(np.array([0, 0, 3]), tuple("abcd"), unknown=(3,)), 0) == []


def test_missing_values_are_known_by_place_not_by_name():
    groups = read_groups(pd.Series(["(missing)", "x", None], name="g"))
    assert groups.names == ("(missing)", "x", "((missing))")
    assert groups.unknown == (2,)
    banded = read_groups(pd.Series([1.0, np.nan, 70.0], name="age"), [25])
    assert (banded.names, banded.unknown) == (("<= 25", "> 25", "(missing)"), (2,))


def test_an_intersection_is_without_a_value_where_one_of_its_parts_is():
    sex = read_groups(pd.Series(["f", "m", None, "f"], name="sex"))
    race = read_groups(pd.Series(["a", None, "b", "b"], name="race"))
    both = intersect([sex, race])
    assert [both.names[code] for code in both.unknown] == ["sex: m & race: (missing)", "sex: (missing) & race: b"]


def test_the_reference_is_the_largest_that_is_compared():
    groups = sized(5, 9, 40, unknown=(2,))
    assert groups.reference() == 2
    assert groups.setting_aside(1, [np.arange(54)]).reference() == 1
    assert groups.setting_aside(1, [np.arange(54)]).reference("c") == 2  # who asks for it gets it


def test_places_must_be_those_of_groups():
    with pytest.raises(DataError, match=r"positions in 0\.\.1"):
        Groups(np.array([0, 1]), ("a", "b"), aside=(2,))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=7), st.data())
def test_folding_keeps_compared_groups_and_all_rows(sizes, data):
    sizes[0] += 1
    aside = tuple(sorted(data.draw(st.sets(st.integers(0, len(sizes) - 1), max_size=len(sizes) - 1))))
    groups = Groups(np.repeat(np.arange(len(sizes)), sizes), tuple("abcdefgh"[: len(sizes)]), "g", aside=aside)
    folded = groups.folded()
    assert len(folded.aside) == min(1, len(aside))
    assert len(folded.codes) == len(groups.codes)
    compared = groups.compared[groups.codes]
    np.testing.assert_array_equal(folded.compared[folded.codes], compared)
    np.testing.assert_array_equal(folded.values[compared], groups.values[compared])
    assume(compared.any())
    taken = groups.take(np.flatnonzero(compared))
    narrowed = taken.narrowed(groups.compared)
    assert (narrowed.aside, len(narrowed.names)) == ((), int(groups.compared.sum()))
    np.testing.assert_array_equal(narrowed.values, taken.values)
