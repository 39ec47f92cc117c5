"""What splits and draws add up to: growth, bands, and lines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairenum.document.research_documents import CLOCKED, Refusal
from fairenum.research.injected_draws import DrawMeasures, DrawRecord, ModelScores
from fairenum.research.paper_splits import SplitMeasures, SplitRecord
from fairenum.research.reproduction import bands, draw_variants, growth, known, rounded, split_variants


@given(st.floats(0.3, 3.0), st.floats(0.0, 5.0))
def test_the_power_of_growth_is_found(power, start):
    assert growth([start + 1e-3 * (k - 1) ** power for k in CLOCKED]) == pytest.approx(power, rel=1e-6)


@given(st.lists(st.lists(st.floats(-5, 5), min_size=3, max_size=3), min_size=1, max_size=9))
def test_bands_are_quantiles_and_skip_what_is_undefined(rows):
    found = bands([*rows, [np.nan, np.nan]], 3)
    assert found.q50 == pytest.approx(np.quantile(rows, 0.5, axis=0), rel=1e-5, abs=1e-5)
    assert found.q95 == pytest.approx(np.quantile(rows, 0.95, axis=0), rel=1e-5, abs=1e-5)


def test_where_nothing_is_defined_there_is_no_number():
    assert bands([[1.0]], 2).q50 == (1.0, None)
    assert known(np.nan) is None
    assert (rounded(1.23456789), rounded(1e-13)) == (1.23457, 0.0)


def measures(losses, errors=(0.25, 0.25, 0.1)):
    shortfalls = np.array([0.0, 1e-5, 2e-5])
    return SplitMeasures(1.0, shortfalls, np.array(losses), np.array(errors), 0.9, None, 0.0)


def test_a_refused_split_is_named_and_not_counted():
    refusal = Refusal(1, "too few digits", 1000.0)
    records = [
        SplitRecord("german", 0, {"raw": measures([1.0, 0.8, 1.0 - 1e-12])}),
        SplitRecord("german", 1, {"raw": refusal}),
    ]
    found = split_variants(records)["raw"]
    (line,) = found.splits
    assert (line.seed, line.best_rank, line.best_loss, line.lower, line.fewer_errors) == (0, 2, 0.8, 1, 1)
    assert (line.spread, line.growth) == (2e-5, None)
    assert found.refused == (refusal,)
    assert found.loss.q50[:4] == (1.0, 0.8, 1.0, None)
    assert found.time is None


def scores(gaps, errors, clean_gap):
    return ModelScores(np.array(gaps), np.array(errors), clean_gap, 0.3, 0.0)


def test_a_model_holds_that_is_fairer_on_the_test_rows_and_on_all_others():
    test = scores([0.3, 0.1, 0.1], [0.4, 0.3, 0.3], clean_gap=0.2)
    rest = scores([0.3, 0.1, 0.3], [0.4, 0.3, 0.3], clean_gap=0.25)
    draw = DrawMeasures(1.0, 0.0, 3, 2, 2, 0.0, test, rest, None)
    undefined = DrawMeasures(1.0, 0.0, 3, 2, 2, 0.0, scores([np.nan], [0.5], np.nan), rest, None)
    found = draw_variants([DrawRecord(0, {"main": draw}), DrawRecord(1, {"main": undefined})])["main"]
    first, second = found.draws
    assert (first.fairer, first.holding, first.fairer_than_untouched, first.models) == (2, 1, 0, 3)
    assert (second.gap, second.clean_gap, second.fairer) == (None, None, 0)
    assert found.sampling_error == 0.05
    assert found.clean_gap.q50 == 0.2
    assert found.printed is None
