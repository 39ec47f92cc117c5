"""What the guided search promises over many splits; `make mitigation` writes the same figures to reports/."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from fairenum.document.research_documents import Case, CaseSummary, MethodSummary, MitigationDocument, SplitTrial
from fairenum.research.mitigation_study import CASES, run

# At equal selection rates a table is shown; nothing is promised there but what holds everywhere.
COMPAS = [case for case in CASES if case.data == "compas" and case.decide == "sign"]


def title(case: Case) -> str:
    return f"{case.data}, {case.rows}, {'with' if case.use_sensitive else 'without'} sensitive columns, {case.decide}"


@pytest.fixture(scope="module")
def document() -> MitigationDocument:
    return run(jobs=2)


@pytest.fixture(scope="module")
def found(document) -> dict[Case, CaseSummary]:
    return {summary.case: summary for summary in document.cases}


def guided(summary: CaseSummary) -> MethodSummary:
    return next(method for method in summary.methods if method.method == "guided")


@pytest.mark.parametrize("case", [case for case in CASES if case.decide == "sign"], ids=title)
def test_no_other_method_dominates_guided_search_in_most_splits(found, case):
    print(f"{title(case)}: not dominated in {found[case].not_dominated:.2f} of the splits")
    assert found[case].not_dominated >= 0.8


def pooled(trials: Sequence[SplitTrial], method: str) -> list[tuple[float, float]]:
    """Return a method's mean advantage over guided search in accuracy and in gap, each with half its 95 % interval."""
    scores = [{score.method: score for score in trial.scores} for trial in trials]
    pairs = [(one[method], one["guided"]) for one in scores if method in one]
    ahead = np.array([(own.accuracy - rival.accuracy, rival.gap - own.gap) for own, rival in pairs])
    half = stats.t.ppf(0.975, len(ahead) - 1) * ahead.std(axis=0, ddof=1) / np.sqrt(len(ahead))
    return list(zip(ahead.mean(axis=0).tolist(), half.tolist(), strict=True))


@pytest.mark.parametrize("case", CASES, ids=title)
def test_no_method_dominates_guided_search_over_all_splits_of_a_case(document, case):
    trials = [trial for trial in document.trials if trial.case == case]
    for method in {score.method for trial in trials for score in trial.scores} - {"guided"}:
        found = pooled(trials, method)
        is_no_worse = all(ahead >= 0.0 for ahead, _ in found)
        assert not (is_no_worse and any(ahead > half for ahead, half in found)), (method, found)


UNREACHED = pytest.mark.xfail(reason="0.68 and 0.69: without the group, the rows to choose by tell too little")


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=() if case.use_sensitive else UNREACHED, id=title(case)) for case in COMPAS],
)
def test_the_gap_of_compas_falls_by_a_third_for_a_point_of_accuracy(found, case):
    numbers = guided(found[case])
    print(f"{title(case)}: gap {numbers.gap_ratio}, accuracy {numbers.accuracy_change}")
    assert numbers.accuracy_change.value >= -0.01
    assert numbers.gap_ratio.value <= 2 / 3


@pytest.mark.parametrize("case", COMPAS, ids=title)
def test_the_gap_of_compas_falls_by_a_quarter_at_least(found, case):
    numbers = guided(found[case])
    assert numbers.accuracy_change.value >= -0.01
    assert numbers.gap_ratio.value <= 3 / 4


@pytest.mark.parametrize("case", [case for case in CASES if case.rows == 2000], ids=title)
def test_a_search_takes_at_most_fifty_fits(found, case):
    print(f"{title(case)}: {found[case].guided_fits} SVC fits")
    assert found[case].guided_fits.value <= 50
