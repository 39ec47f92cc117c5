"""Which solver is fastest here, and against the paper's algorithm: a race on given data, growth on random data.

Everything runs in one process with one BLAS thread. `bench` returns a `BenchResult`; its `record` is the JSON
document that ``fairenum bench --json`` saves::

    format        1
    data          name, rows, features, cost, seed, fingerprint
    k             number of models asked for
    seconds       time after which a contestant is stopped; null for never
    svc_fit       tol, seconds: the fit that everything is measured by
    first_calls   seconds of one tiny call each: imports, and loading (or compiling, if that was never done) the
                  inner loop of the paths
    standings     one for each solver and one for "Algorithm 1", the paper's (see `Standing`):
                  name, models, in_place, nodes, seconds, fits, basis, laps, error
    growth        one for each contestant and axis, n examples, d features or k models (see `Series`):
                  name, axis, sizes, seconds, slope
    environment   python, machine, processors, packages and their versions

All seconds are CPU seconds of this process. The figures to quote are ratios: ``fits`` is a contestant's time in
SVC fits made beside it, and the ``fits`` of "Algorithm 1" over those of a solver say how many times faster it is.
"""

from fairenum.bench.baseline import AlgorithmOne
from fairenum.bench.benchmark import BenchResult, bench, draw_problem
from fairenum.bench.contest import (
    BASELINE,
    Contestant,
    Run,
    Standing,
    baseline,
    enumerate_timed,
    race,
    solver,
    svc_fit_seconds,
)
from fairenum.bench.growth import Series, measure_growth, random_problem
from fairenum.bench.plot import draw

__all__ = [
    "BASELINE",
    "AlgorithmOne",
    "BenchResult",
    "Contestant",
    "Run",
    "Series",
    "Standing",
    "baseline",
    "bench",
    "draw",
    "draw_problem",
    "enumerate_timed",
    "measure_growth",
    "race",
    "random_problem",
    "solver",
    "svc_fit_seconds",
]
