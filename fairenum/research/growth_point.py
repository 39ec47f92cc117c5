"""One measurement of the growth study: ``python -m fairenum.research.growth_point POINT``, with POINT as JSON.

The process prints CPU time and peak memory of the task; the operating system ends it when its CPU time exceeds the
limit. Imports, compilation and the making of the data count in the memory, but not in the time.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from scipy import sparse

from fairenum.document.audit_config import AuditConfig
from fairenum.document.research_documents import GrowthTable, GrowthTask
from fairenum.document.split_power import powerful_shares
from fairenum.document.terms import KernelName
from fairenum.document.training import SvmSettings
from fairenum.enumeration.division import kernel_for, pose
from fairenum.enumeration.search import Limits
from fairenum.research.race import Contestant, enumerate_timed, solver_contestant
from fairenum.runtime.budget import silent
from fairenum.runtime.parallel import one_thread
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import SvmProblem
from fairenum.svm.sparse_or_dense import FloatArray, Matrix, compact, dense

if TYPE_CHECKING:
    import pandas as pd

VARIABLES = 5  # categorical variables of a one-hot table, whatever the number of its columns
GROUPS = ("a", "b")
GRID_SIZE = 20  # Lagrange multipliers that GridSearch tries
SOLVER = "path"


@dataclass(frozen=True, slots=True)
class Point:
    """What to measure: a task, the program that does it (`name`), and its data of n rows and d columns.

    `k` is the number of models to list, and `seconds` the limit of CPU time.
    """

    task: GrowthTask
    name: str
    table: GrowthTable
    kernel: KernelName
    n: int
    d: int
    k: int
    seed: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Taken:
    """A measurement: CPU seconds until the task is done, or until each listed model is found; peak memory in bytes."""

    seconds: tuple[float, ...]
    memory: float


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A random table: features, labels of +1 and -1, and the group of each row.

    `codes` holds the categories (row x variable) that a one-hot table encodes; None for a table of numbers.
    """

    X: Matrix
    y: FloatArray
    groups: np.ndarray
    codes: np.ndarray | None = None

    @property
    def frame(self) -> pd.DataFrame:
        """The table as a pandas frame, with columns of numbers or of texts, a group and a label."""
        import pandas as pd

        cells = dense(self.X) if self.codes is None else np.char.add("v", self.codes.astype(str))
        frame = pd.DataFrame({f"x{place}": column for place, column in enumerate(cells.T)})
        return frame.assign(group=np.array(GROUPS)[self.groups], label=np.where(self.y > 0.0, "yes", "no"))


def draw(table: GrowthTable, n: int, d: int, seed: int) -> Drawn:
    """Return a random table: features, groups that depend on them slightly, and labels by a noisy linear function.

    The function without noise misclassifies about a seventh of the n rows.
    """
    random = np.random.default_rng(seed)
    codes = None
    if table == "numbers":
        X: Matrix = random.standard_normal((n, d))
        score = X.sum(axis=1) / np.sqrt(d)
    else:
        levels = max(2, d // VARIABLES)
        codes = random.integers(0, levels, (n, VARIABLES))
        places = (codes + levels * np.arange(VARIABLES)).ravel()
        rows = np.arange(0, n * VARIABLES + 1, VARIABLES)
        X = compact(sparse.csr_array((np.ones(n * VARIABLES), places, rows), shape=(n, levels * VARIABLES)))
        worth = random.standard_normal((VARIABLES, levels)) / np.sqrt(VARIABLES)
        score = worth[np.arange(VARIABLES), codes].sum(axis=1)
    groups = (score + 2.0 * random.standard_normal(n) > 0.0).astype(np.intp)
    score += 0.5 * random.standard_normal(n)
    return Drawn(X, np.where(score >= np.median(score), 1.0, -1.0), groups, codes)


def problem_of(drawn: Drawn, kernel: KernelName) -> SvmProblem:
    """Return the SVM problem of a table; identical rows are not merged."""
    return pose(drawn.X, drawn.y, SvmSettings(C=1.0, kernel=kernel, rows=True)).problem


def optimum(point: Point, drawn: Drawn) -> None:
    """Solve the SVM problem of the table with the path solver, which certifies the optimum."""
    open_workspace(SOLVER, problem_of(drawn, point.kernel)).solve()


def svc(point: Point, drawn: Drawn) -> None:
    """Fit scikit-learn's SVC to the table."""
    from sklearn.svm import SVC

    gamma = kernel_for(SvmSettings(C=1.0, kernel=point.kernel), drawn.X).gamma
    SVC(C=1.0, kernel=point.kernel, gamma=gamma, cache_size=1000).fit(drawn.X, drawn.y)


def linear_svc(_point: Point, drawn: Drawn) -> None:
    """Fit scikit-learn's LinearSVC to the table, with hinge loss and at most a thousand iterations."""
    from sklearn.svm import LinearSVC

    LinearSVC(C=1.0, loss="hinge").fit(drawn.X, drawn.y)


def audited(point: Point, drawn: Drawn) -> None:
    """Run an audit of the table with default options, but for the kernel and the number of models."""
    from fairenum.auditing.pipeline import run_audit

    config = AuditConfig().but(kernel=point.kernel, k=point.k, features="linear")
    run_audit(drawn.frame, "label", "yes", "group", config, silent)


def exponentiated_gradient(_point: Point, drawn: Drawn) -> None:
    """Fit fairlearn's ExponentiatedGradient, with logistic regression, to as many rows as an audit trains on."""
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient
    from sklearn.linear_model import LogisticRegression

    _reduced(ExponentiatedGradient(LogisticRegression(max_iter=1000), DemographicParity()), drawn)


def grid_search(_point: Point, drawn: Drawn) -> None:
    """Fit fairlearn's GridSearch, with logistic regression, to as many rows as an audit trains on."""
    from fairlearn.reductions import DemographicParity, GridSearch
    from sklearn.linear_model import LogisticRegression

    _reduced(GridSearch(LogisticRegression(max_iter=1000), DemographicParity(), grid_size=GRID_SIZE), drawn)


def _reduced(method: object, drawn: Drawn) -> None:
    rarer = min(int(np.count_nonzero(drawn.y == label)) for label in (1.0, -1.0))
    trained = slice(0, round(powerful_shares(rarer, drawn.X.shape[1])[0] * len(drawn.y)))
    method.fit(dense(drawn.X)[trained], drawn.y[trained] > 0.0, sensitive_features=drawn.groups[trained])  # type: ignore[attr-defined]


CONTESTANTS: Mapping[tuple[GrowthTask, str], Callable[[Point, Drawn], None]] = {
    ("fit", "fairenum"): optimum,
    ("fit", "SVC"): svc,
    ("fit", "LinearSVC"): linear_svc,
    ("audit", "fairenum"): audited,
    ("audit", "ExponentiatedGradient"): exponentiated_gradient,
    ("audit", "GridSearch"): grid_search,
}
TINY = 60, 10  # rows and columns
QUICK = 0.1  # seconds; a quicker task is repeated, and the mean counts


def take(point: Point, limit: Callable[[float], None] = lambda _: None) -> Taken:
    """Return time and memory of a task, after a first run on tiny data that takes care of imports and compilation.

    `limit` is called with the limit of CPU seconds before the task is measured.
    """
    with one_thread(), warnings.catch_warnings(action="ignore"):  # warnings of other packages
        if point.task == "models":
            return _models(point, solver_contestant(SOLVER))
        work = CONTESTANTS[point.task, point.name]
        work(replace(point, k=2), draw(point.table, *TINY, point.seed))
        drawn = draw(point.table, point.n, point.d, point.seed)
        limit(point.seconds)
        spent, times, started = 0.0, 0, time.process_time()
        while spent < QUICK:
            work(point, drawn)
            spent, times = time.process_time() - started, times + 1
        return Taken((spent / times,), peak_memory())


def _models(point: Point, contestant: Contestant) -> Taken:
    enumerate_timed(contestant, problem_of(draw(point.table, *TINY, point.seed), point.kernel), Limits(2))
    problem = problem_of(draw(point.table, point.n, point.d, point.seed), point.kernel)
    run = enumerate_timed(contestant, problem, Limits(point.k, seconds=point.seconds))
    return Taken(run.seconds, peak_memory())


def end_after(seconds: float) -> None:
    """Have the operating system end this process after the given number of further CPU seconds."""
    try:
        import resource
    except ImportError:  # the caller's timeout applies
        return
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + seconds) + 1, resource.RLIM_INFINITY))


def peak_memory() -> float:
    """Return the peak memory of this process in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # the value of getrusage is inherited from the process that started this one
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024.0 * float(line.split()[1])
    import resource

    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * (1.0 if sys.platform == "darwin" else 1024.0)


def main() -> None:
    """Make the measurement given as JSON on the command line, and print its result as JSON."""
    taken = take(msgspec.json.decode(sys.argv[1], type=Point), end_after)
    print(msgspec.json.encode(taken).decode())


if __name__ == "__main__":
    main()
