"""One search, every solver: the same models in the same order, whichever plugin solved them."""

import pytest

from fairenum.enumeration.search import Enumeration, Limits
from fairenum.research.benchmark import draw_problem
from fairenum.research.growth import random_problem
from fairenum.solvers.registry import list_solvers, open_workspace
from fairenum.tables import load_dataset

MODELS = 20
OTHERS = [info.name for info in list_solvers() if info.is_available and info.name != "path"]


def german():
    return draw_problem(load_dataset("german", use_sensitive=True, categorical="ordinal"), 300)


def continuous():
    return random_problem(300, 20)


def models(name, problem):
    return list(Enumeration(open_workspace(name, problem), Limits(models=MODELS)))


@pytest.fixture(scope="module", params=[german, continuous], ids=lambda pose: pose.__name__)
def expected(request):
    problem = request.param()
    return problem, models("path", problem)


@pytest.mark.parametrize("name", OTHERS)
def test_the_first_models_are_the_same_in_the_same_order(expected, name):
    problem, by_path = expected
    by_other = models(name, problem)
    assert len(by_path) == MODELS
    assert [model.support.tolist() for model in by_other] == [model.support.tolist() for model in by_path]
    for one, other in zip(by_path, by_other, strict=True):
        assert one.left_out == other.left_out
        assert one.objective == pytest.approx(other.objective, rel=1e-12)
        assert max(one.certificate.relative_gap, other.certificate.relative_gap) <= 1e-9
