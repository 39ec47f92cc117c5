"""The plot of growth in plain characters."""

import pytest
from fairenum.bench.plot import duration

from fairenum.bench import Series, draw


def test_the_plot_fits_80_columns_and_gives_slopes():
    lines = [
        Series("path", "n", (50, 400, 3200), (0.001, 0.01, 0.1), 1.1),
        Series("piqp", "n", (50, 400), (0.001, 2.0), None),
    ]
    text = draw(lines)
    assert max(map(len, text.splitlines())) <= 80
    assert text.isascii()
    assert "p path: 100 ms at n = 3200, grows like n^1.1" in text
    assert "i piqp: 2 s at n = 400\n" in text + "\n"
    rows = [row.partition("|")[2] for row in text.splitlines() if "|" in row]
    assert sum(row.count("p") for row in rows) == 2
    assert sum(row.count("i") for row in rows) == 1
    assert sum(row.count("*") for row in rows) == 1
    assert "50" in text
    assert "3200" in text


def test_a_flat_plot_and_an_empty_one_are_no_failure():
    assert "1 s at k = 10" in draw([Series("path", "k", (10,), (1.0,), None)])
    assert draw([Series("path", "k", (), (), None)]) == "nothing was measured in the time given"


@pytest.mark.parametrize(
    ("seconds", "text"), [(123.4, "123 s"), (1.0, "1 s"), (0.0123, "12.3 ms"), (4.5e-6, "4.5 us"), (1e-8, "0.01 us")]
)
def test_durations_are_short(seconds, text):
    assert duration(seconds) == text
