"""The first run on a machine: the paths' loop is compiled in a process of its own while a table is being read.

The interior point, which is needed first, is compiled here meanwhile. Little is imported, so that both begin early. The
walks across rows, which are needed last, are compiled in another one, which gives way to these two.
"""

from __future__ import annotations

import numpy as np

from fairenum.compiling import compile_aside
from fairenum.problem import SvmProblem
from fairenum.qp import hurry, kernel
from fairenum.qp.activeset import ActiveSet, constant_data
from fairenum.qp.gram import LinearGram
from fairenum.qp.hurrying import Hurry


def begin() -> None:
    """Begin to compile the paths' loop and the walks across rows, unless that is done."""
    compile_aside(kernel.run, f"from {__name__} import call_loop; call_loop()")
    compile_aside(hurry.walk, f"import os; getattr(os, 'nice', int)(10); from {__name__} import call_walk; call_walk()")


def call_loop() -> None:
    """Call the paths' loop with arrays of the kinds that it knows, and nothing else that is compiled."""
    _smallest()[2].recompute()


def call_walk() -> None:
    """Call the walks across rows with arrays of the kinds that they know, and nothing else that is compiled."""
    problem, gram, state = _smallest()
    Hurry(problem, gram, state, 0.0).pulled(np.ones(1), 1.0, 1.0, np.inf)  # nobody is on the margin: it ends at once


def _smallest() -> tuple[SvmProblem, LinearGram, ActiveSet]:
    """Return a problem of two examples, with a state that is not yet one of its answers."""
    problem = SvmProblem([[0.0], [1.0]], [-1.0, 1.0])
    gram, nothing, nobody = LinearGram(np.array([[0.0], [1.0]]), 0.0), np.zeros(2), np.empty(0, np.intp)
    data = constant_data(gram, problem)
    return problem, gram, ActiveSet(gram, data, problem.linear, problem.upper, nothing, 0.0, nothing.copy(), nobody)
