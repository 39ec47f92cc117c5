"""The words of several audits side by side."""

from __future__ import annotations

from collections.abc import Iterable

from fairenum.document.terms import Gap
from fairenum.document.value import Estimate
from fairenum.rendering.numbers import estimate
from fairenum.rendering.text import sentence_list
from fairenum.report.wording import GAPS

SIDE_BY_SIDE = "Model 1 and the selected model of each run, on its holdout"
IN_USE_BESIDE = "The model in use, model 1 and the selected model of each run, on its holdout"
RUNS_CAPTION = "Every model of each run on its holdout, with intervals; all plots have the same axes."
DIFFERENT_ROWS = (
    "table, seed or splits differ, so the runs may judge different rows; where two intervals overlap, this page alone "
    "does not tell the gaps apart"
)
SAME_ROWS = (
    "the runs judge the same rows, which their intervals make no use of: where two overlap, a paired comparison might "
    "still tell the gaps apart"
)
DIFFERENT_GAPS = "The runs reduce different gaps; they are shown side by side and not ranked."
NO_GAPS = "No run has a gap to show."
ALIKE = "Data, options and versions are the same."
MISSING_GAPS = "Not every run has a gap; they are shown side by side and not ranked."


def different_columns(columns: Iterable[str]) -> str:
    """Say that several runs compare different groups."""
    return f"the runs compare groups by different columns: {sentence_list(columns)}"


def without_columns(run: str) -> str:
    """Say that one of several runs compares no groups."""
    return f"{run} names no sensitive column."


def equal_gaps(metric: Gap, gap: Estimate) -> str:
    """Say that several runs end alike."""
    return f"All runs end with the same {GAPS[metric]} gap, {estimate(gap)}."


def smallest_gap(run: str, metric: Gap, gap: Estimate, *, is_certain: bool) -> str:
    """Say which of several runs ends with the smallest gap, and whether the intervals carry that."""
    sure = "its interval lies below all others" if is_certain else "the intervals overlap, so this may be chance"
    return f"{run} ends with the smallest {GAPS[metric]} gap, {estimate(gap)}; {sure}."
