"""Solvers that misbehave, each in its own way; `honest` is the same solver without a fault."""

import os
import re
import sys
import time

import numpy as np
from sklearn.svm import SVC

from fairenum.svm.problem import Claim
from fairenum.svm.sparse_or_dense import dense

print("printed when it is imported")


class Rascal:
    """A plugin and its workspace in one: libsvm, and a lapse at some call."""

    requires = ()
    install = "nothing"
    at = 1  # the call that goes wrong

    def open(self, problem, tolerance):
        self.problem, self.calls = problem, 0
        return self

    def solve(self, upper, start=None):
        self.calls += 1
        alpha = self.solved(upper)
        return self.lapse(alpha, upper) if self.calls >= self.at else Claim(alpha)

    def solved(self, upper):
        alpha, kept = np.zeros(len(upper)), upper > 0.0
        X, y = dense(self.problem.X)[kept], self.problem.y[kept]
        if len(set(y)) < 2:
            return alpha
        svm = SVC(C=1.0, kernel="linear", tol=1e-6).fit(X, y, sample_weight=upper[kept])
        alpha[np.flatnonzero(kept)[svm.support_]] = np.abs(svm.dual_coef_[0])
        return alpha


class Honest(Rascal):
    name = "honest"

    def lapse(self, alpha, upper):
        return Claim(alpha)


class Raises(Rascal):
    name = "raises"

    def lapse(self, alpha, upper):
        raise KeyboardInterrupt("as if somebody had pressed Ctrl-C")


class Prints(Rascal):
    name = "prints"

    def lapse(self, alpha, upper):
        print("printed by Python")
        sys.stdout.flush()
        os.write(1, b"printed by compiled code\n")
        return Claim(alpha)


class Hangs(Rascal):
    name = "hangs"

    def lapse(self, alpha, upper):
        time.sleep(1000.0)


class Clings(Rascal):
    """Hangs while holding the GIL."""

    name = "clings"

    def lapse(self, alpha, upper):
        return re.match(r"(a+)+$", "a" * 60 + "b")


class Crashes(Rascal):
    name = "crashes"

    def lapse(self, alpha, upper):
        os._exit(3)


class NotANumber(Rascal):
    name = "nan"

    def lapse(self, alpha, upper):
        return Claim(np.full_like(alpha, np.nan))


class Misshapen(Rascal):
    name = "misshapen"

    def lapse(self, alpha, upper):
        return Claim(np.outer(alpha, alpha))


class Changes(Rascal):
    """Writes to the problem, although it is read-only."""

    name = "changes"

    def lapse(self, alpha, upper):
        y = self.problem.y
        y.flags.writeable = True
        y *= -1.0
        return Claim(alpha)


class Wavers(Rascal):
    """Answers correctly once, then with half of that answer."""

    name, at = "wavers", 2

    def lapse(self, alpha, upper):
        return Claim(alpha / 2)


class Almost(Rascal):
    """Is always slightly wrong: near enough to be polished by the core."""

    name = "almost"

    def lapse(self, alpha, upper):
        return Claim(0.999 * alpha)
