"""Numbers, texts from outside, and plots in plain characters."""

from typing import NamedTuple

import pytest
from rich.cells import cell_len
from support.documents import near

from fairenum.document.value import Estimate, Quantiles
from fairenum.render import plain_plots
from fairenum.runtime.formatting import (
    capitalised,
    counted,
    difference,
    estimate,
    file_name,
    p_value,
    percent,
    plain,
    rate,
    sentence_list,
    share,
    shortened,
    signed,
    three_digits,
)
from fairenum.runtime.hints import quoted


def test_numbers_have_few_digits():
    assert (share(0.12345), share(None)) == ("0.123", "–")
    assert (signed(0.01), signed(-0.0001), signed(None)) == ("+0.010", "0.000", "–")
    assert (percent(0.1234), percent(0.1234, 0), percent(None)) == ("12.3 %", "12 %", "–")
    assert (p_value(0.0001), p_value(0.25), p_value(None)) == ("<0.001", "0.250", "–")
    assert (three_digits(0.012345), three_digits(5706.02)) == ("0.0123", "5706")
    assert (counted(1, "row"), counted(0, "row")) == ("1 row", "0 rows")
    assert (difference(1.0, 3.0), difference(None, 3.0), difference(1.0, None)) == (2.0, None, None)


class Interval(NamedTuple):
    value: float | None
    low: float | None
    high: float | None


def test_estimates_are_anything_with_a_value_and_limits():
    assert estimate(Interval(0.5, None, 0.6)) == "0.500"
    assert estimate(Interval(-0.5, -0.6, 0.6), signed) == "-0.500 [-0.600, +0.600]"
    assert estimate(near(0.5)) == "0.500 [0.460, 0.540]"
    assert (rate(Interval(0.5, 0.25, 1.0)), rate(Interval(0.5, None, None))) == ("50.0 % [25.0, 100.0]", "50.0 %")


def test_text_from_outside_is_made_visible_and_fits():
    assert plain("a\x1b[31m\n\u202eb\ud800") == "a\\x1b[31m\\n\\u202eb\\ud800"
    assert shortened("short", 10) == "short"
    assert shortened("a" * 5000 + "end", 12) == "aaaaaaaa…end"
    assert shortened("女" * 50, 12) == "女女女女…女"
    assert cell_len(shortened("女" * 50, 12)) <= 12
    assert len(shortened("a" + "\u0301" * 5000, 12)) <= 50
    assert sentence_list(["a"]) == "a"
    assert sentence_list(["a", "b", "c"]) == "a, b and c"
    assert quoted("abcdefgh") == "'a', 'b', 'c', 'd', 'e', 'f' and 2 more"
    assert capitalised("as COMPAS is") == "As COMPAS is"
    assert file_name("../a b\x07", "json") == "fairenum-..-a-b-.json"


def test_a_curve_marks_mean_interval_and_middle_half():
    bars = [
        plain_plots.Bar("0", near(0.25, 0.05), Quantiles(0.0, 0.1, 0.25, 0.4, 0.5)),
        plain_plots.Bar("10", Estimate(), None),
    ]
    title, legend, name, first, second, *_axis = plain_plots.draw_curve([("paper", bars)], "the gap").splitlines()
    assert (title, name) == ("the gap", "paper")
    assert "o mean" in legend
    line = first.split("|")[1]
    assert [line.index(sign) for sign in ".[o]"] == [12, 24, 30, 36]  # 60 columns to 0.5
    assert line.rindex(".") == 48
    assert second.strip() == "10 |"


@pytest.mark.parametrize(("top", "last"), [(0.05, "0.1"), (0.15, "0.2"), (0.9, "1"), (3.0, "3")])
def test_a_curve_ends_at_a_round_number(top, last):
    text = plain_plots.draw_curve(
        [("a", [plain_plots.Bar("0", Estimate(top, top, top), Quantiles(0, 0, 0, top, top))])], "t"
    )
    assert text.split()[-1] == last
    assert max(map(len, text.splitlines())) <= 80


def lines():
    sizes = (10, 100, 1000)
    return [
        plain_plots.Line("path", sizes, (1e-3, 1e-2, 1e-1), "fast"),
        plain_plots.Line("piqp", sizes, (1e-3, 1.0, 1e3), "slow"),
    ]


def test_the_plot_fits_80_columns_and_names_its_lines():
    text = plain_plots.draw_loglog(lines(), "Time")
    rows = text.splitlines()
    assert rows[0] == "Time (* where several meet)"
    assert max(map(len, rows)) <= 80
    assert rows[-2].strip() == "p path: fast"
    assert rows[-1].strip() == "i piqp: slow"
    assert rows[15].endswith("|*")
    assert rows[1].rstrip().endswith("i")
    assert rows[-3].split() == ["10", "100", "1000"]


def test_a_flat_plot_and_an_empty_one_are_no_failure():
    assert "a path: one" in plain_plots.draw_loglog([plain_plots.Line("path", (10,), (1.0,), "one")], "t").replace(
        " p ", " a "
    )
    assert (
        plain_plots.draw_loglog([plain_plots.Line("path", (), (), "")], "t") == "nothing was measured in the time given"
    )


@pytest.mark.parametrize(
    ("seconds", "text"), [(1234.0, "1234 s"), (0.5, "500 ms"), (2e-5, "20 us"), (1e-9, "0.001 us")]
)
def test_a_time_has_a_unit_that_suits_it(seconds, text):
    assert plain_plots.duration(seconds) == text
