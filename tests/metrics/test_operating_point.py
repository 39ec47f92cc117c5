"""Cuts: the nearest share that ties allow, and nothing decided by rounding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairenum.document.feature_facts import ROUNDING
from fairenum.document.training import Decide
from fairenum.errors import ConfigError
from fairenum.metrics.operating_point import Cut, Operating, OperatingPoint

SHARES = st.floats(0.001, 0.999)


class Line:
    """A model whose decision values are those of a column."""

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return X[:, 0]


@given(values=st.lists(st.integers(-5, 5) | st.floats(-10, 10), min_size=1, max_size=40), share=SHARES)
def test_the_nearest_share_that_ties_allow_is_selected(values, share):
    array = np.round(np.array(values, dtype=float), 6)
    cut = OperatingPoint(share).cut(array)
    selected = np.count_nonzero(cut.centred(array) >= 0.0) / len(array)
    possible = [np.count_nonzero(array >= value) / len(array) for value in array] + [0.0]
    assert abs(selected - share) <= min(abs(one - share) for one in possible) + 1e-12


@given(values=st.lists(st.integers(-5, 5), min_size=1, max_size=40), share=SHARES)
def test_equal_values_are_decided_alike_and_counted_where_the_share_divides_them(values, share):
    array, wanted = np.array(values, dtype=float), share * len(values)
    cut = OperatingPoint(share).cut(array)
    decisions = cut.centred(array) >= 0.0
    assert all(len(set(decisions[array == value])) == 1 for value in array)
    divided = [
        value for value in set(values) if np.count_nonzero(array > value) < wanted < np.count_nonzero(array >= value)
    ]
    if abs(wanted - round(wanted)) > 1e-6:
        assert cut.tied == (np.count_nonzero(array == divided[0]) if divided else 0)


@given(values=st.lists(st.floats(-10, 10), min_size=1, max_size=30), share=SHARES, seed=st.integers(0, 99))
def test_noise_of_rounding_decides_nothing(values, share, seed):
    array = np.round(np.array(values), 6)
    noise = np.random.default_rng(seed).uniform(-ROUNDING, ROUNDING, len(array)) / 1000
    first, second = (OperatingPoint(share).cut(one) for one in (array, array + noise))
    np.testing.assert_array_equal(first.centred(array) >= 0.0, second.centred(array + noise) >= 0.0)
    np.testing.assert_array_equal(first.centred(array) >= 0.0, first.centred(array + noise) >= 0.0)


def test_a_share_that_can_be_had_exactly_divides_no_tie():
    values = np.array([1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
    assert OperatingPoint(0.7).cut(values) == Cut(2.5, 0)
    assert OperatingPoint(0.8).cut(values).tied == 2
    assert OperatingPoint(0.8).cut(values).value == 1.5


@pytest.mark.parametrize(("share", "selected"), [(0.3, 0), (0.5, 4), (0.7, 4)])
def test_constant_values_select_all_or_none(share, selected):
    values = np.full(4, -3.0)
    cut = OperatingPoint(share).cut(values)
    assert np.count_nonzero(cut.centred(values) >= 0.0) == selected
    assert cut.tied == 4


def test_the_sign_changes_no_bit_and_a_threshold_is_the_same_for_all():
    values = np.array([-1.0, 0.0, 3e-10, 0.25, 2.0])
    assert OperatingPoint().is_sign
    assert OperatingPoint().cut(values) == Cut(0.0, 1)
    np.testing.assert_array_equal(OperatingPoint().cut(values).centred(values), values)
    cut = OperatingPoint(threshold=0.25).cut(values)
    assert cut == Cut(0.25, 1)
    np.testing.assert_array_equal(cut.centred(values) >= 0.0, [False, False, False, True, True])


def test_a_model_is_cut_by_some_rows_and_decides_others():
    chosen_by, others = np.arange(10.0)[:, None], np.array([[6.4], [6.6], [100.0]])
    operating = Operating(OperatingPoint(0.3), chosen_by)
    assert operating.cut(Line()).value == 6.5
    np.testing.assert_allclose(operating.values(Line(), others), [-0.1, 0.1, 93.5])


@pytest.mark.parametrize("text", ["sign", "base-rate", "rate=0.7", "rate=0.125", "threshold=-0.5", "threshold=2"])
def test_rules_are_written_as_they_are_read(text):
    assert str(Decide.of(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rate=0", "selects a share between 0 and 1, such as rate=0.7, not 'rate=0'"),
        ("rate=1", "selects a share between 0 and 1"),
        ("rate=70", "selects a share between 0 and 1"),
        ("rate=-0.5", "selects a share between 0 and 1"),
        ("threshold=1e999", "needs a finite number"),
        ("rate", "must be auto, sign, base-rate, like-incumbent, rate=SHARE or threshold=VALUE, not 'rate'"),
        ("rate=nan", "must be auto, sign, base-rate"),
        (0.7, "must be auto, sign, base-rate"),
    ],
)
def test_unusable_rules_are_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        Decide.of(text)
