"""Drawings: scales, ticks, and well-formed SVG whatever the numbers are."""

import math
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fairenum.render.svg import Bar, Bars, Curve, Mark, Marks, Rule, draw, grid, standalone, unlinked
from fairenum.render.svg_plot import SHAPES, Axis, Key, Plot, Scale, aligned, labels, reach, round_numbers, scientific

numbers = st.floats(-1e9, 1e9)
SVG = "{http://www.w3.org/2000/svg}"


@given(numbers, st.floats(1e-9, 1e9), st.integers(2, 9))
def test_ticks_are_round_within_the_ends_and_about_as_many_as_asked(low, spread, count):
    high = low + spread
    assume(low < high and spread >= 1e-6 * abs(low))
    ticks = round_numbers(low, high, count)
    slack = 1e-6 * spread
    assert all(low - slack <= tick <= high + slack for tick in ticks)
    assert count / 2.6 - 1 <= len(ticks) <= count + 1
    steps = [b - a for a, b in pairwise(ticks)]
    for step in steps:
        digits = step / 10 ** math.floor(math.log10(step) + 1e-9)
        assert min(abs(digits - known) for known in (1, 2, 2.5, 5, 10)) < 1e-2


@given(st.floats(-1e5, 1e5), st.floats(1e-7, 1e9), st.integers(2, 9))
def test_labels_of_ticks_can_be_read_back(low, spread, count):
    assume(spread >= 1e-6 * abs(low))
    ticks = round_numbers(low, low + spread, count)
    written = labels(ticks)
    assert len(set(written)) == len(ticks)
    for tick, text in zip(ticks, written, strict=True):
        assert math.isclose(read(text), tick, rel_tol=1e-9, abs_tol=1e-6 * spread)
        assert len(text) <= 17


def read(text: str) -> float:
    plain = text.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-"))
    if (
        "10" in plain
        and ("×" in plain or plain.lstrip("-").startswith("10"))
        and any(sign in text for sign in "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    ):
        mantissa, _, power = plain.rpartition("10")
        return float(mantissa.rstrip("×") or 1) * 10.0 ** int(power)
    return float(plain)


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (2.5e-5, "2.5×10⁻⁵"), (1e-7, "10⁻⁷"), (-3e-5, "−3×10⁻⁵"), (1e8, "10⁸")]
)
def test_small_and_large_numbers_have_a_power_of_ten(value, text):
    assert scientific(value) == text


@given(st.lists(numbers | st.none(), max_size=6), st.floats(0, 10))
def test_an_axis_reaches_all_numbers_and_is_never_empty(values, least):
    low, high = reach(values, least=least)
    assert low < high
    assert high - low >= least
    assert all(low <= value <= high for value in values if value is not None)


@pytest.mark.parametrize("is_log", [True, False])
def test_a_scale_keeps_order_and_stops_at_its_ends(is_log):
    scale = Scale(1.0, 1000.0, 0.0, 300.0, is_log)
    assert (scale(1.0), scale(1000.0), scale(5000.0), scale(0.0)) == (0.0, 300.0, 300.0, 0.0)
    assert scale(10.0) == pytest.approx(100.0 if is_log else 300 * 9 / 999)
    assert scale.ticks() == ((1.0, 10.0, 100.0, 1000.0) if is_log else (200.0, 400.0, 600.0, 800.0, 1000.0))


rate = st.none() | st.floats(0, 1)


@given(
    st.lists(st.tuples(st.floats(0, 1), rate, rate, rate), min_size=1, max_size=5), st.sampled_from(SHAPES), st.text()
)
def test_a_drawing_is_well_formed_and_stays_within_its_frame(points, shape, text):
    xs = tuple(float(place) for place in range(len(points)))
    values, low, high = (tuple(point[part] for point in points) for part in (1, 2, 3))
    marks = tuple(
        Mark(x, point[0], text, (None, None), (low_, high_), shape=shape, label=text, link="#a", data=text)
        for x, point, low_, high_ in zip(xs, points, low, high, strict=True)
    )
    layers = (Marks(marks), Curve(xs, values, low, high, name=text), Rule(0.5, text), Rule(0.5, text, is_upright=True))
    plot = Plot(text, text, Axis(text), Axis(text, is_log=text == ""), layers, (Key(text, "tone-1", shape),) * 7)
    root = ElementTree.fromstring(standalone(plot))
    assert root.tag == f"{SVG}svg"
    assert ElementTree.fromstring(draw(plot)).get("class") == "plot"
    for line in root.iter(f"{SVG}path"):
        assert "nan" not in line.get("d", "")


def test_bars_begin_at_zero_and_are_as_long_as_their_values():
    bars = Bars((Bar(0, 0.25, (0.2, 0.3), name="a"), Bar(1, 0.5), Bar(2, None)))
    root = ElementTree.fromstring(
        draw(Plot("p", "d", Axis("rate", low=0.0, high=1.0), Axis("", names=("a", "b", "c")), (bars,)))
    )
    first, second = root.iter("rect")
    assert float(second.get("width")) == pytest.approx(2 * float(first.get("width")), abs=0.2)
    assert first.get("x") == second.get("x")


def test_small_multiples_stand_in_rows():
    plot = Plot("p", "d", Axis("x"), Axis("y"), (Curve((0.0, 1.0), (0.0, 1.0)),))
    root = ElementTree.fromstring(grid([plot] * 3, columns=2))
    assert (root.get("width"), root.get("height")) == ("920", "640")
    moves = [part.get("transform") for part in root.findall(f"{SVG}g")]
    assert moves == ["translate(0 0)", "translate(460 0)", "translate(0 320)"]


def test_a_curve_has_a_hole_where_it_is_undefined():
    root = ElementTree.fromstring(
        draw(Plot("p", "d", Axis("x"), Axis("y"), (Curve((0.0, 1.0, 2.0, 3.0), (0.0, None, 1.0, 2.0)),)))
    )
    (line,) = [path.get("d") for path in root.iter("path") if path.get("class") == "curve"]
    assert line.count("M") == 2
    assert line.count("L") == 1


def test_aligned_plots_have_the_same_axes_and_show_what_they_showed():
    curves = [Curve((0.0, 1.0), (0.0, 1.0)), Curve((5.0, 9.0), (-2.0, 0.5))]
    plots = aligned(Plot("p", "d", Axis("x"), Axis("y"), (curve,)) for curve in curves)
    assert plots[0].frame == plots[1].frame
    assert [plot.layers for plot in plots] == [(curve,) for curve in curves]
    (left, right), (bottom, top) = plots[0].ends
    assert left < 0.0 < 9.0 < right
    assert bottom < -2.0 < 1.0 < top
    assert aligned([]) == ()


def test_a_frame_is_fitted_once():
    plot = Plot("p", "d", Axis("x"), Axis("y"), (Curve((0.0, 1.0), (0.0, 1.0)),))
    assert plot.frame is plot.frame


def test_an_unlinked_plot_has_neither_links_nor_a_name_to_link_to():
    mark = Mark(0.5, 0.5, "a", link="#a", data="1 2")
    plot = Plot("p", "d", Axis("x"), Axis("y"), (Marks((mark,)), Rule(0.5)), identity="one")
    assert 'href="#a"' in draw(plot)
    (other,) = unlinked([plot])
    assert "href" not in draw(other)
    assert " id=" not in draw(other)
    assert "<title>a</title>" in draw(other)
