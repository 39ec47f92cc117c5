"""Numbers as people write them: read in the one convention that a column follows, or asked about."""

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairenum.tables.columns import understand

AMOUNTS = st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=30)
UNITS = [("", ""), ("$", ""), ("", " €"), ("€ ", ""), ("", " %"), ("", "%"), ("USD ", ""), ("£", "")]


def written(cents: int, decimal: str, thousands: str, unit: tuple[str, str], brackets: bool) -> str:
    """Write hundredths as numbers of two decimals, in a convention: an oracle that goes the other way."""
    whole = f"{abs(cents) // 100:,}".replace(",", thousands)
    text = f"{unit[0]}{whole}{decimal}{abs(cents) % 100:02d}{unit[1]}"
    if cents >= 0:
        return text
    return f"({text})" if brackets else f"-{text}"


@settings(deadline=None, max_examples=150)
@given(AMOUNTS, st.sampled_from([".,", ",.", ". ", ", ", ".'", ",\u00a0"]), st.sampled_from(UNITS), st.booleans())
def test_numbers_written_in_a_convention_are_read_back(amounts, signs, unit, brackets):
    decimal, thousands = signs
    texts = [written(cents, decimal, thousands, unit, brackets) for cents in amounts]
    found = understand(Counter(texts))
    assert found.rivals is None  # two decimals leave nothing open
    assert [found.values[text] for text in texts] == [cents / 100 for cents in amounts]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1000, 999_999), min_size=1, max_size=10), st.sampled_from([",", "."]))
def test_thousands_alone_are_open_until_somebody_says(numbers, sign):
    texts = Counter(f"{one:,}".replace(",", sign) for one in numbers)
    if sign == ",":
        text, one, other = understand(texts).rivals
        assert {one, other} == {float(text.replace(",", "")), float(text.replace(",", "."))}
    else:
        assert [understand(texts).values[text] for text in texts] == [float(text) for text in texts]  # plain numbers
    by_group, by_decimal = ("point", "comma") if sign == "," else ("comma", "point")
    assert sorted(understand(texts, by_group).values.values()) == sorted(set(map(float, numbers)))
    assert sorted(understand(texts, by_decimal).values.values()) == sorted(one / 1000 for one in set(numbers))


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1,234", "0,5"], [1.234, 0.5]),
        (["1,234", "0,123"], [1.234, 0.123]),  # no thousands begin with 0
        (["1,234", "1,234,567"], [1234, 1_234_567]),
        (["1,234", "99.5"], [1234, 99.5]),
        (["1.234", "1,5"], [1234, 1.5]),
        (["$45,000", "$900"], [45_000, 900]),
        (["$1,234", "12"], [1234, 12]),
        (["12 %", "7%"], [12, 7]),
        (["(1,234.5)", "2"], [-1234.5, 2]),
        (["1’234", "5"], [1234, 5]),
        (["−3,5", "+2"], [-3.5, 2]),
        ([",5", "1,25"], [0.5, 1.25]),
        (["-$5.00", "$-6.00", "$7"], [-5, -6, 7]),
        (["1e3", "2"], [1000, 2]),
        (["True", "false"], [1, 0]),
    ],
)
def test_the_rest_of_the_column_decides(texts, numbers):
    found = understand(Counter(texts))
    assert found.rivals is None
    assert [found.values[text] for text in texts] == numbers


@pytest.mark.parametrize(
    "texts",
    [
        ["$5", "€6", "$7"],  # other money
        ["12%", "0.5"],
        ["1,23,4", "x"],
        ["12 34", "1 234"],
        ["1.234.5", "2.000"],
        ["2024-01-31", "31.01.2024"],
        ["5 kg", "6 kg"],
        ["$5 €", "1"],
        ["25-34", "35-44"],
        ["(5", "6)"],
        ["1_000", "2_000"],
        ["--5", "-$-5"],
    ],
)
def test_cells_that_follow_no_one_convention_are_no_numbers(texts):
    assert any(math.isnan(value) for value in understand(Counter(texts)).values.values())


@pytest.mark.parametrize(
    ("texts", "sample"),
    [
        (["$1,234.50"], "$1,234.5"),
        (["1.234,50", "3"], "1.234,5"),
        (["12 %"], "12 %"),
        (["(12)", "5"], "(12)"),
        (["5,5 €"], "12,5 €"),
        (["5", "6.5"], ""),
    ],
)
def test_a_sample_shows_the_way_and_no_cell(texts, sample):
    assert understand(Counter(texts)).sample == sample


@settings(deadline=None)
@given(st.lists(st.text(alphabet="0123456789.,'%$€()- x", max_size=8), min_size=1, max_size=6))
def test_any_texts_are_read_or_not_but_never_fail(texts):
    found = understand(Counter(texts))
    assert set(found.values) == set(texts)
    for text in texts:
        if not any(sign.isdigit() for sign in text):
            assert math.isnan(found.values[text])
