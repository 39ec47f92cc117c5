"""Growth over examples, features and models."""

import pytest
from support.stand_ins import broken, listed

from fairenum.research import growth
from fairenum.research.growth import measure_growth
from fairenum.research.race import solver_contestant


@pytest.fixture
def small_sizes(monkeypatch):
    monkeypatch.setattr(growth, "EXAMPLES", (20, 30, 40))
    monkeypatch.setattr(growth, "FEATURES", (2, 3, 4))
    monkeypatch.setattr(growth, "RANDOM_MODELS", (2, 3, 4))
    monkeypatch.setattr(growth, "FIXED", {"n": 20, "d": 2, "k": 2})


@pytest.mark.usefixtures("small_sizes")
def test_growth_has_a_series_for_everybody_on_every_axis():
    series = measure_growth([solver_contestant("path"), broken()], seed=0, seconds=9.0)
    sizes = {(line.name, line.axis): line.sizes for line in series}
    assert sizes == {
        ("path", "n"): (20, 30, 40),
        ("path", "d"): (2, 3, 4),
        ("path", "k"): (2, 3, 4),
        ("SVC fit", "n"): (20, 30, 40),
        ("SVC fit", "d"): (2, 3, 4),
        ("broken", "n"): (),
        ("broken", "d"): (),
        ("broken", "k"): (),
    }
    assert all((line.slope is None) == (line.name == "broken") for line in series)


@pytest.mark.usefixtures("small_sizes")
def test_who_needs_too_long_goes_no_further():
    series = measure_growth([listed("slow", [[0]], stopped="time")], seed=0, seconds=9.0)
    assert [line.sizes for line in series if line.name == "slow"] == [(), (), ()]


def test_the_slope_is_that_of_the_larger_half():
    line = growth._random_series("cubic", "n", {n: 1.0 + 1e-9 * n**3 for n in (10, 20, 10_000, 20_000, 40_000)})
    assert line.slope == pytest.approx(3.0, abs=0.01)
