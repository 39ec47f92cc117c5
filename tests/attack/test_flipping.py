"""One more flip, with and without paths."""

from dataclasses import replace

import numpy as np
import pytest
from support.problems import scene

from fairenum.attack.scene import FlippableSvm
from fairenum.document.training import SvmSettings
from fairenum.errors import AnswerRefused

NOTHING = np.zeros(24, dtype=bool)


def flipped(row):
    return np.arange(24) == row


def test_without_paths_a_flip_is_trained_anew():
    one = scene(3)
    svm = FlippableSvm(replace(one, svm=SvmSettings(solver="libsvm", class_weight=(4.0, 0.5))))
    first = svm.solve(NOTHING)
    for row in range(0, 24, 5):
        assert svm.flip(first, row).alpha.tobytes() == svm.solve(flipped(row)).alpha.tobytes()


@pytest.mark.parametrize("method", ["admit", "remove"])
def test_a_flip_whose_paths_are_not_proven_is_trained_anew(monkeypatch, method):
    svm = FlippableSvm(scene(3))
    first, anew = svm.solve(NOTHING), svm.solve(flipped(4))

    def refused(*_):
        raise AnswerRefused("not proven")

    monkeypatch.setattr(svm._workspace, method, refused)
    assert svm.flip(first, 4).alpha.tobytes() == anew.alpha.tobytes()


def test_a_flipped_row_costs_what_its_new_label_costs():
    one = scene(3, class_weight=(4.0, 0.5))
    svm, y = FlippableSvm(one), one.train.y
    np.testing.assert_array_equal(svm.problem.cost, np.where(np.r_[y, -y] > 0, 4.0, 0.5))
    balanced = FlippableSvm(scene(3, class_weight="balanced"))
    totals = [balanced.problem.cost[:24][y == sign].sum() for sign in (1.0, -1.0)]
    assert totals == pytest.approx([12.0, 12.0])  # of the labels before any flip


def test_a_flip_stands_in_the_box_of_the_flipped_table():
    svm = FlippableSvm(scene(5, kind="grid"))
    first = svm.solve(NOTHING)
    second = svm.flip(first, 7)
    upper = np.concatenate([~flipped(7), flipped(7)]) * svm.problem.upper
    np.testing.assert_array_equal(second.upper, upper)
    assert second.certificate.objective == pytest.approx(svm.solve(flipped(7)).certificate.objective, rel=1e-11)
