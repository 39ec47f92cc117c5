"""Tables and options beyond what is usual: an answer within a minute of one processor, or a refusal beforehand."""

import numpy as np
import pandas as pd
import pytest
from support.large_tables import numbers, ran

from fairenum import AuditResult

SECONDS = 60.0
PAGE = 1e6  # bytes of a page that a browser shows without trouble
OPTIONS = ("--label", "label", "--favourable", "yes", "--quiet", "--no-config", "--json", "run.json")
SEVERAL = tuple(option for place in range(20) for option in ("--sensitive", f"s{place}"))


def several(rows: int, draw) -> pd.DataFrame:
    """A table with twenty sensitive columns, each drawn by its place."""
    drawn = {f"s{place}": draw(np.random.default_rng(place), place) for place in range(20)}
    return pd.concat([numbers(rows, 10).drop(columns="group"), pd.DataFrame(drawn)], axis=1)


def answered(tmp_path, frame, gigabytes, *options):
    """Audit a table within the limits, draw the saved run again, and return its document."""
    frame.to_csv(tmp_path / "table.csv", index=False)
    run = ran(tmp_path, "audit", "table.csv", *OPTIONS, "--tables", "tables", *options)
    assert run.code == 0, run.said
    assert run.seconds <= SECONDS
    assert run.gigabytes <= gigabytes
    drawn = ran(tmp_path, "report", "run.json", "--html", "page.html", "--quiet")
    assert drawn.code == 0, drawn.said
    assert drawn.seconds <= SECONDS
    assert drawn.gigabytes <= gigabytes
    assert (tmp_path / "page.html").stat().st_size <= PAGE
    return AuditResult.load(tmp_path / "run.json").document


def refused(tmp_path, frame, *options):
    """Be refused before anything is computed or written, and return what was said."""
    frame.to_csv(tmp_path / "table.csv", index=False)
    run = ran(tmp_path, "audit", "table.csv", *OPTIONS, *options)
    assert run.code == 2
    assert run.seconds <= 0.5 * SECONDS
    assert run.said.startswith("error: ")
    assert run.said.count("\n") == 1
    assert not (tmp_path / "run.json").exists()
    return run.said


@pytest.mark.parametrize(("rows", "gigabytes"), [(20_000, 1.5), (50_000, 2.0), (200_000, 2.5)])
def test_rows_by_twenty_columns(tmp_path, rows, gigabytes):
    document = answered(tmp_path, numbers(rows, 20), gigabytes, "--sensitive", "group")
    assert document.models[0].relative_gap <= 1e-9


def test_a_hundred_megabytes(tmp_path):
    document = answered(tmp_path, numbers(560_000, 24), 4.0, "--sensitive", "group")
    assert (tmp_path / "table.csv").stat().st_size >= 1e8
    assert document.dataset.rows == 560_000


def test_five_thousand_columns(tmp_path):
    document = answered(tmp_path, numbers(500, 5000), 1.5, "--sensitive", "group")
    assert len(document.dataset.encoded) == 5000
    assert document.guided is not None
    assert document.guided.solves > 0


def test_five_thousand_models(tmp_path):
    document = answered(tmp_path, numbers(2000, 10), 1.5, "--sensitive", "group", "-k", "5000")
    assert len(document.models) > 50


def test_two_thousand_groups_are_refused_with_advice_that_helps(tmp_path):
    said = refused(tmp_path, numbers(20_000, 10, groups=2000), "--sensitive", "group")
    assert "'group' has 2000 groups to compare two by two, more than 60; none is large; join some with merge" in said


def test_two_thousand_groups_most_of_them_small(tmp_path):
    frame = numbers(50_000, 10, groups=1998)
    large = np.random.default_rng(0).random((2, 50_000)) < [[0.6], [0.5]]
    frame["group"] = np.where(large[0], np.where(large[1], "north", "south"), frame["group"])
    document = answered(tmp_path, frame, 2.5, "--sensitive", "group")
    (column,) = document.dataset.sensitive
    assert (len(column.compared), len(column.groups)) == (2, 2000)


def test_as_many_groups_as_are_compared(tmp_path):
    document = answered(tmp_path, numbers(100_000, 10, groups=60), 2.5, "--sensitive", "group")
    (column,) = document.dataset.sensitive
    assert len(column.compared) == 60
    assert document.parity_range is not None


@pytest.mark.parametrize("levels", [2, 12])
def test_twenty_sensitive_columns_whose_intersection_is_left_out(tmp_path, levels):
    frame = several(
        5000, lambda rng, _: np.array([f"v{level}" for level in range(levels)])[rng.integers(levels, size=5000)]
    )
    document = answered(tmp_path, frame, 1.5, *SEVERAL)
    assert len(document.dataset.sensitive) == 20
    assert "no_intersection" in {caution.code for caution in document.warnings}


def test_an_intersection_of_two_large_groups_and_tens_of_thousands_of_small_ones_is_left_out(tmp_path):
    def skewed(rng, place):
        return rng.choice(list("abcd"), 50_000, p=[0.8, 0.1, 0.05, 0.05] if place else [0.5, 0.5, 0.0, 0.0])

    document = answered(tmp_path, several(50_000, skewed), 2.5, *SEVERAL)
    assert len(document.dataset.sensitive) == 20
    assert "no_intersection" in {caution.code for caution in document.warnings}


def test_an_intersection_that_is_asked_for_is_refused_where_nobody_can_read_it(tmp_path):
    frame = several(20_000, lambda rng, _: rng.choice(list("abc"), 20_000))
    primary = " & ".join(f"s{place}" for place in range(20))
    assert "groups, more than 5000; join some with merge" in refused(tmp_path, frame, *SEVERAL, "--primary", primary)


def test_decisions_about_two_thousand_groups_are_refused(tmp_path):
    frame = numbers(200_000, 1, groups=2000).rename(columns={"label": "decision"})
    frame.to_csv(tmp_path / "table.csv", index=False)
    options = ("--decision", "decision", "--favourable", "yes", "--sensitive", "group", "--quiet")
    run = ran(tmp_path, "measure", "table.csv", *options)
    assert run.code == 2
    assert "'group' has 2000 groups to compare two by two, more than 60" in run.said
    assert run.seconds <= SECONDS
