"""Groups known by probability, as columns of a table: what is read, shown and refused."""

import numpy as np
import pandas as pd
import pytest
from support.pages import printed

from fairenum import measure
from fairenum.document.files import parse, to_json
from fairenum.errors import ColumnConflict, ColumnMissing, ColumnUnusable, ConfigError
from fairenum.report import page

COLUMNS = {"white": "p_white", "black": "p_black"}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 0.5, 40)[rng.integers(0, 40, 3000)].round(3)
    hired = (rng.random(3000) < 0.3 + 0.3 * p).astype(int)
    return pd.DataFrame({"hired": hired, "p_white": p, "p_black": (1 - p).round(3)})


@pytest.fixture(scope="module")
def result(frame):
    return measure(frame, "hired", group_probabilities=COLUMNS)


def test_weighted_rates_are_weighted_means(frame, result):
    found = result.decisions().probable
    for one, column in zip(found.groups, COLUMNS.values(), strict=True):
        assert one.rate.value == pytest.approx(np.average(frame["hired"], weights=frame[column]))
        assert one.rows == pytest.approx(frame[column].sum())
        assert one.bounds.low <= one.rate.low < one.rate.value < one.rate.high <= one.bounds.high
    assert result.document.dataset.sensitive_columns == ["most likely group"]
    assert "guessed_groups" in result.warnings


def test_the_reference_group_is_not_compared_with_itself(result):
    first, second = result.decisions().probable.groups
    assert (first.difference.value, first.difference.low) == (None, None)
    assert second.difference.low < second.difference.value < second.difference.high


def test_a_rest_is_a_group_of_its_own(frame):
    found = measure(frame, "hired", group_probabilities={"white": "p_white"}).decisions().probable
    assert [one.group for one in found.groups] == ["white", "(other)"]


def test_true_groups_can_be_measured_beside(frame):
    both = measure(frame.assign(sex=np.resize(["m", "w"], 3000)), "hired", "sex", group_probabilities=COLUMNS)
    assert both.document.dataset.sensitive_columns == ["sex"]
    assert both.decisions().probable is not None


def test_every_medium_shows_them(result):
    assert parse(to_json(result.document).encode(), "run") == result.document
    for text in (result.to_html(), result.to_markdown(), printed(page(result.document, brief=True))):
        assert "without further assumptions its rate lies between" in " ".join(text.split())
    assert "groups by probability" in page(result.document).headline
    assert result.tables()["probable"]["group"].tolist() == ["white", "black"]


@pytest.mark.parametrize(
    ("columns", "change", "error", "words"),
    [
        ({"white": "p_wite"}, {}, ColumnMissing, "did you mean 'p_white'"),
        (COLUMNS, {"p_black": 1.2}, ColumnUnusable, "holds 1.2 in row .*a probability is from 0 to 1; 3000 such rows"),
        (COLUMNS, {"p_black": 1.0}, ColumnUnusable, "add up to at most 1"),
        (
            COLUMNS,
            {"p_black": "high"},
            ColumnUnusable,
            "^probability column 'p_black' holds texts, and a probability is",
        ),
        (
            {"white": "p_white", "black": "p_white"},
            {},
            ColumnConflict,
            "'p_white' is named twice, as group_probabilities; name it once",
        ),
        ({"white": 3}, {}, ConfigError, "names of groups, each with the column"),
    ],
)
def test_mistakes_are_explained(frame, columns, change, error, words):
    with pytest.raises(error, match=words):
        measure(frame.assign(**change), "hired", group_probabilities=columns)


def test_counts_have_no_probabilities(frame):
    with pytest.raises(ConfigError, match="are about single rows"):
        measure(frame.assign(n=1, selected=1), counts=True, group_probabilities=COLUMNS)
