"""The smoothed SVM on systems that are nearly singular."""

import numpy as np

from fairenum.svm import smoothing


def test_an_ill_conditioned_system_is_solved_without_a_warning():
    """Warnings are errors here; scipy warns where the condition number exceeds what its digits allow."""
    matrix = np.diag([1.0, 1e-18])
    np.testing.assert_allclose(smoothing._solved(matrix, np.array([2.0, 3e-18])), [2.0, 3.0])
