"""Compile the numba loops in separate processes while a table is read, the first time that the program runs.

The main process compiles the interior point method, which is needed first. A second process compiles `path_loop`; a
third one, of lower priority, compiles `fast_walk_loop`, which is needed last. This module imports little, so that the
other two processes start early.
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
    """Start background processes that compile `path_loop.run` and `fast_walk_loop.walk`, unless these are cached."""
    compile_aside(path_loop.run, f"from {__name__} import call_loop; call_loop()")
    compile_aside(
        fast_walk_loop.walk, f"import os; getattr(os, 'nice', int)(10); from {__name__} import call_walk; call_walk()"
    )


def call_loop() -> None:
    """Call `path_loop.run` once with its usual argument types, only to have it compiled."""
    _smallest()[2].recompute()


def call_walk() -> None:
    """Call `fast_walk_loop.walk` once with its usual argument types, only to have it compiled."""
    problem, gram, state = _smallest()
    FastWalk(problem, gram, state, 0.0).across(np.ones(1), 1.0, 1.0, np.inf)  # ends at once, as the margin is empty


def _smallest() -> tuple[SvmProblem, LinearGram, ActiveSet]:
    problem = SvmProblem([[0.0], [1.0]], [-1.0, 1.0])
    gram, nothing, nobody = LinearGram(np.array([[0.0], [1.0]]), 0.0), np.zeros(2), np.empty(0, np.intp)
    data = constant_data(gram, problem)
    return problem, gram, ActiveSet(gram, data, problem.linear, problem.upper, nothing, 0.0, nothing.copy(), nobody)
