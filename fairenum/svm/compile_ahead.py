"""Compilation of the inner loops in separate processes while a table is read, on the first run on a computer.

This process compiles the interior point, which is needed first; a second one compiles the paths' loop. Few modules are
imported, so that both begin early. A third process, of lower priority, compiles the walks across rows, needed last.
"""

from __future__ import annotations

import numpy as np

from fairenum.runtime.compiling import compile_aside
from fairenum.svm import fast_walk_loop, path_loop
from fairenum.svm.gram import LinearGram
from fairenum.svm.path import ActiveSet, constant_data
from fairenum.svm.problem import SvmProblem
from fairenum.svm.walks import FastWalk


def begin() -> None:
    """Begin to compile the loops of paths and walks in the background, unless they are cached."""
    compile_aside(path_loop.run, f"from {__name__} import call_loop; call_loop()")
    compile_aside(
        fast_walk_loop.walk, f"import os; getattr(os, 'nice', int)(10); from {__name__} import call_walk; call_walk()"
    )


def call_loop() -> None:
    """Call the paths' loop with its argument types, so that only it is compiled."""
    _smallest()[2].recompute()


def call_walk() -> None:
    """Call the walks' loop with its argument types, so that only it is compiled."""
    problem, gram, state = _smallest()
    FastWalk(problem, gram, state, 0.0).across(np.ones(1), 1.0, 1.0, np.inf)  # ends at once, as the margin is empty


def _smallest() -> tuple[SvmProblem, LinearGram, ActiveSet]:
    """Return a problem of two examples, its Gram, and a state that need not be optimal."""
    problem = SvmProblem([[0.0], [1.0]], [-1.0, 1.0])
    gram, nothing, nobody = LinearGram(np.array([[0.0], [1.0]]), 0.0), np.zeros(2), np.empty(0, np.intp)
    data = constant_data(gram, problem)
    return problem, gram, ActiveSet(gram, data, problem.linear, problem.upper, nothing, 0.0, nothing.copy(), nobody)
