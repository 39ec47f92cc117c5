"""Guardrails as texts: read, written, refused, and resolved with the defaults."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairenum.document.audit_config import AuditConfig
from fairenum.document.guards import (
    DEFAULT_GUARDS,
    OVERALL,
    QUANTITIES,
    Guard,
    canonical_guards,
    kept_guards,
    refuse_unknown_columns,
    resolved_guards,
)
from fairenum.document.training import Tolerances
from fairenum.errors import ConfigError

LIMITS = st.floats(0.0, 1.0)


@st.composite
def guards(draw) -> Guard:
    quantity = draw(st.sampled_from(QUANTITIES))
    column = None if quantity in OVERALL else draw(st.none() | st.text())
    limit, side = draw(LIMITS), draw(st.sampled_from(["low", "high", "both"]))
    if side == "both":
        return Guard(quantity, column, -limit, limit, True)
    is_relative = draw(st.booleans())
    signed = draw(st.sampled_from([1.0, -1.0])) * limit if is_relative else limit
    return Guard(quantity, column, **{side: signed}, is_relative=is_relative)


@given(guards())
def test_a_guard_is_read_as_it_was_written(guard):
    assert Guard.of(str(guard)) == guard
    assert canonical_guards([str(guard)]) == (str(guard),)


@pytest.mark.parametrize(
    ("text", "guard", "written"),
    [
        (
            "equal_opportunity_difference<=+0.02",
            Guard("equal_opportunity_difference", None, None, 0.02, True),
            "equal_opportunity_difference<=+0.02",
        ),
        ("selection_rate=+-0.05", Guard("selection_rate", None, -0.05, 0.05, True), "selection_rate=+-0.05"),
        ("selection_rate = ±0.05", Guard("selection_rate", None, -0.05, 0.05, True), "selection_rate=+-0.05"),
        (
            " balanced_accuracy >= - 0.01 ",
            Guard("balanced_accuracy", None, -0.01, None, True),
            "balanced_accuracy>=-0.01",
        ),
        ("accuracy>=.70", Guard("accuracy", None, 0.7), "accuracy>=0.7"),
        (
            "other_gaps@sex & race<=+0.1",
            Guard("other_gaps", "sex & race", None, 0.1, True),
            "other_gaps@sex & race<=+0.1",
        ),
        ('other_gaps@"a<=1 "<=0.1', Guard("other_gaps", "a<=1 ", None, 0.1), 'other_gaps@"a<=1 "<=0.1'),
        ("other_gaps@a<=1<=0.1", Guard("other_gaps", "a<=1", None, 0.1), "other_gaps@a<=1<=0.1"),
    ],
)
def test_what_a_text_says(text, guard, written):
    assert Guard.of(text) == guard
    assert str(guard) == written


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("equal_oportunity_difference<=+0.02", "did you mean 'equal_opportunity_difference'"),
        ("tpr<=+0.02", "there are demographic_parity_difference, "),
        ("selection_rate", "after the quantity comes <=, >= or =\\+- and a number, such as "),
        ("selection_rate=0.1", "such as equal_opportunity_difference<=\\+0.02 or selection_rate=\\+-0.05"),
        ("selection_rate<=+-0.1", "after the quantity comes"),
        ("accuracy<0.1", "after the quantity comes"),
        ("accuracy@sex>=-0.01", "accuracy is about all rows; leave out @sex"),
        ("accuracy>=-2", "a limit lies between 0 and 1"),
        ("accuracy>=1e999", "a limit lies between 0 and 1"),
        ("", "QUANTITY\\[@COLUMN\\]"),
        (0.1, "QUANTITY\\[@COLUMN\\]"),
    ],
)
def test_what_is_no_guard_is_refused_with_what_to_write(text, why):
    with pytest.raises(ConfigError, match=rf"option 'guards' cannot hold .* \(--guard\): .*{why}"):
        Guard.of(text)
    with pytest.raises(ConfigError, match="--guard"):
        AuditConfig(guards=(text,))
    with pytest.raises(ConfigError, match="--guard"):
        Tolerances(guards=(text,))


def test_a_guard_takes_the_place_of_the_default_about_the_same():
    assert resolved_guards(()) == DEFAULT_GUARDS
    others = tuple(text for text in DEFAULT_GUARDS if not text.startswith("selection_rate"))
    assert resolved_guards(("selection_rate>=-0.02",)) == (*others, "selection_rate>=-0.02")
    both = ("selection_rate>=-0.02", "selection_rate<=+0.3")
    assert resolved_guards(both) == (*others, *both)
    assert resolved_guards(("other_gaps@race<=+0.2",)) == (*DEFAULT_GUARDS, "other_gaps@race<=+0.2")
    assert resolved_guards(("none",)) == ()
    assert resolved_guards(("None ", "accuracy>=-0.01")) == ("accuracy>=-0.01",)
    assert resolved_guards(("accuracy>=-0.01", "accuracy>=-0.010"), ()) == ("accuracy>=-0.01",)
    with pytest.raises(ConfigError, match="none turns off the default guardrails and stands first"):
        resolved_guards(("accuracy>=-0.01", "none"))


@given(st.lists(guards(), max_size=4), st.booleans())
def test_what_a_run_keeps_means_the_same_when_it_is_given_again(given_guards, is_off):
    texts = (*(["none"] if is_off else []), *map(str, given_guards))
    kept = kept_guards(texts)
    assert resolved_guards(kept) == resolved_guards(texts)
    assert kept_guards(kept) == kept
    assert AuditConfig(guards=kept).tolerances.guards == resolved_guards(texts)


def test_columns_that_are_not_there_are_named():
    refuse_unknown_columns(("other_gaps@race<=+0.1", "accuracy>=-0.1"), ("sex", "race"))
    with pytest.raises(ConfigError, match="no sensitive column is called 'rcae'; did you mean 'race'"):
        refuse_unknown_columns(("other_gaps@rcae<=+0.1",), ("sex", "race"))
    with pytest.raises(ConfigError, match="there are none"):
        refuse_unknown_columns(("other_gaps@sex<=+0.1",), ())


def test_an_option_may_be_a_single_text():
    assert AuditConfig(guards="accuracy>=-0.01").guards == ("accuracy>=-0.01",)
    assert Tolerances(guards="none").guards == ()
