"""A rough answer to a kernel machine of many examples, from libsvm.

An interior point factorises a matrix of all examples; libsvm's coordinate steps never see one, and three digits are
enough to tell who is near the margin. What is proven does not depend on it: it is where the exact solver starts.
"""

from __future__ import annotations

import warnings

import numpy as np

from fairenum.problem import FloatArray, SvmProblem

MANY = 1024  # examples from which on libsvm is quicker than an interior point
CACHE = 500.0  # megabytes for libsvm's columns of the kernel matrix
MOST_STEPS = 1000  # per example: it may creep


def rough_answer(problem: SvmProblem, upper: FloatArray) -> FloatArray | None:
    """Return an answer of about three digits; None where libsvm cannot solve it, or is not worth its while.

    It knows a linear term of ones only. Any other constant one is a matter of scale: with ``alpha = p beta`` the
    objective is ``p^2 (1'beta - 1/2 beta'Q beta)`` within the box ``upper / p``.
    """
    allowed, scale = np.flatnonzero(upper > 0.0), float(problem.linear[0])
    if len(allowed) <= MANY or scale <= 0.0 or (problem.linear != scale).any():
        return None
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC  # only here: most machines are linear or small

    kernel = problem.kernel
    machine = SVC(
        C=1.0, kernel=kernel.name, gamma=kernel.gamma, degree=kernel.degree, coef0=kernel.coef0, cache_size=CACHE,
        max_iter=MOST_STEPS * len(allowed),
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            machine.fit(problem.X[allowed], problem.y[allowed], sample_weight=upper[allowed] / scale)
        except ValueError:  # its single precision overflows
            return None
    alpha = np.zeros(problem.size)
    alpha[allowed[machine.support_]] = scale * np.abs(machine.dual_coef_[0])
    return np.minimum(alpha, upper)
