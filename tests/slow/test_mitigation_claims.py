"""What the guided search promises over many splits; `make mitigation` writes the same figures to reports/."""

from __future__ import annotations

import pytest

from fairenum.document.research_documents import Case, CaseSummary, MethodSummary
from fairenum.research.mitigation_study import CASES, run

# At equal selection rates a table is shown; nothing is promised there but what holds everywhere.
COMPAS = [case for case in CASES if case.data == "compas" and case.decide == "sign"]


def title(case: Case) -> str:
    return f"{case.data}, {case.rows}, {'with' if case.use_sensitive else 'without'} sensitive columns, {case.decide}"


@pytest.fixture(scope="module")
def found() -> dict[Case, CaseSummary]:
    return {summary.case: summary for summary in run(jobs=2).cases}


def guided(summary: CaseSummary) -> MethodSummary:
    return next(method for method in summary.methods if method.method == "guided")


@pytest.mark.parametrize("case", [case for case in CASES if case.decide == "sign"], ids=title)
def test_no_other_method_dominates_guided_search_in_most_splits(found, case):
    print(f"{title(case)}: not dominated in {found[case].not_dominated:.2f} of the splits")
    assert found[case].not_dominated >= 0.8


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
