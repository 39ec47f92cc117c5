"""Results depend neither on the number of processors nor on how they round."""

import os
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from fairenum import audit
from fairenum.document.files import to_json
from fairenum.runtime.parallel import one_thread


def test_blas_keeps_to_one_thread_and_is_set_free_again():
    assert (np.ones((2, 2)) @ np.ones((2, 2)) == 2.0).all()  # loads BLAS
    with threadpool_limits(limits=2):
        with one_thread():
            assert {library["num_threads"] for library in threadpool_info()} == {1}
        assert 2 in {library["num_threads"] for library in threadpool_info()}


@pytest.mark.slow
def test_an_audit_gives_the_same_bytes_with_one_thread_and_with_two():
    texts = set()
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            document = audit("german", search="guided", k=10).document
        texts.add(to_json(document.but(timings={})))
    assert len(texts) == 1


SEARCH = """
from fairenum import load_dataset, search_fairest
from fairenum.document.training import SvmSettings
from fairenum.enumeration.division import divide, pose
division = divide(load_dataset("compas", use_sensitive=True, incumbent="none"), (300, 2000, 2000), 0)
problem = pose(division.train.X, division.train.y, SvmSettings()).problem
chosen, front = search_fairest(problem, division.selection, solves=150)
print([sorted(one.model.left_out.items()) for one in (chosen, *front)])
"""


@pytest.mark.slow
def test_the_guided_search_goes_the_same_way_however_a_processor_rounds():
    """OpenBLAS has a kernel for each family of processors, and these round differently."""
    found = set()
    for family in ("", "Nehalem"):
        environment = {**os.environ, "OPENBLAS_CORETYPE": family} if family else dict(os.environ)
        done = subprocess.run(
            [sys.executable, "-c", SEARCH], env=environment, capture_output=True, text=True, check=True
        )
        found.add(done.stdout)
    assert len(found) == 1
