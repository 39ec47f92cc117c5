"""The conformance suite at eight more seeds, every kernel and cost with every problem; 18 minutes of processor time."""

import pytest

from fairenum.solvers.conformance import check_case, conformance_cases
from fairenum.solvers.registry import load_solver

SOLVERS = ("libsvm", "osqp", "path", "piqp")
SIZES = (40, 150, 400)
SEEDS = range(1, 9)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_bundled_solver_conforms_at_more_seeds(seed, size):
    failures = []
    for case in conformance_cases(sizes=(size,), seed=seed, thorough=True):
        for name in SOLVERS:
            try:
                check_case(load_solver(name), case)
            except AssertionError as failure:
                failures.append(str(failure))
    assert failures == []
