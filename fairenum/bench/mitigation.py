"""Guided search against what else a user would pick, over many splits.

``python -m fairenum.bench.mitigation FOLDER JOBS`` writes the document to a folder.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fairenum.bench.environment import timed_environment
from fairenum.bench.split_trial import FIRST, MACHINE, run_trial
from fairenum.document.files import save
from fairenum.document.mitigation import (
    Case,
    CaseSummary,
    MethodScore,
    MethodSummary,
    MitigationDocument,
    SplitTrial,
)
from fairenum.document.value import Estimate
from fairenum.parallel import mapped
from fairenum.solvers.registry import solver_version

SPLITS = 20
CASES = (
    Case("compas", 300, use_sensitive=True),
    Case("compas", 2000, use_sensitive=True),
    Case("compas", 300),
    Case("compas", 2000),
    Case("german", 600),
    Case("adult", 2000),
    # the same at equal selection rates: every method selects the share that is favourable in training
    Case("compas", 2000, use_sensitive=True, decide="base-rate"),
    Case("compas", 2000, decide="base-rate"),
    Case("german", 600, decide="base-rate"),
    Case("adult", 2000, decide="base-rate"),
)
REPLICATIONS = 2000  # of the bootstrap over splits


def run(cases: Sequence[Case] = CASES, splits: int = SPLITS, jobs: int = 1) -> MitigationDocument:
    """Run all splits of all cases, in so many processes, and sum them up."""
    started = time.perf_counter()
    calls = [(case, seed) for case in cases for seed in range(splits)]
    trials = sorted(mapped(_tried, calls, jobs=jobs), key=lambda trial: (cases.index(trial.case), trial.seed))
    return MitigationDocument(
        environment=timed_environment(solver=solver_version(MACHINE.solver)),
        timings={"total": time.perf_counter() - started},
        cases=summary(trials),
        trials=tuple(trials),
    )


def _tried(call: tuple[Case, int]) -> SplitTrial:
    return run_trial(*call)


def summary(trials: Sequence[SplitTrial]) -> tuple[CaseSummary, ...]:
    """Sum up the splits of each case: every method's accuracy and gap, and how guided search compares."""
    cases = dict.fromkeys(trial.case for trial in trials)
    return tuple(_case_summary(case, [trial for trial in trials if trial.case == case]) for case in cases)


def _case_summary(case: Case, trials: Sequence[SplitTrial]) -> CaseSummary:
    methods = dict.fromkeys(score.method for trial in trials for score in trial.scores)
    by_method = {method: [_score_of(method, trial) for trial in trials] for method in methods}
    return CaseSummary(
        case=case,
        splits=len(trials),
        methods=tuple(_method_summary(scores, by_method[FIRST]) for scores in by_method.values()),
        not_dominated=float(np.mean([not any(s.dominates_guided for s in trial.scores) for trial in trials])),
        guided_fits=_median([trial.guided_fits for trial in trials]),
        left_out=_median([trial.left_out for trial in trials]),
        objective_ratio=_median([trial.objective_ratio for trial in trials]),
    )


def _score_of(method: str, trial: SplitTrial) -> MethodScore | None:
    """Return what a method did in one split; None if it failed there."""
    return next((score for score in trial.scores if score.method == method), None)


def _method_summary(scores: Sequence[MethodScore | None], first: Sequence[MethodScore | None]) -> MethodSummary:
    pairs = [(score, base) for score, base in zip(scores, first, strict=True) if score and base]
    some = pairs[0][0]
    return MethodSummary(
        method=some.method,
        is_randomised=some.is_randomised,
        needs_groups=some.needs_groups,
        splits=len(pairs),
        accuracy=_median([score.accuracy for score, _ in pairs]),
        gap=_median([score.gap for score, _ in pairs]),
        accuracy_change=_median([score.accuracy - base.accuracy for score, base in pairs]),
        gap_ratio=_median([score.gap / base.gap if base.gap else 1.0 for score, base in pairs]),
        dominates_guided=float(np.mean([score.dominates_guided for score, _ in pairs])),
        selection_rate=_median([score.selection_rate for score, _ in pairs if score.selection_rate is not None]),
    )


def _median(values: Sequence[float]) -> Estimate:
    """Return the median over splits with a bootstrap 95 % interval; nothing of no splits."""
    if not values:
        return Estimate()
    array, rng = np.asarray(values, dtype=np.float64), np.random.default_rng(0)
    draws = np.median(rng.choice(array, (REPLICATIONS, len(array))), axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return Estimate(float(np.median(array)), float(low), float(high))


def main(arguments: Sequence[str]) -> None:
    """Write mitigation.json to a folder."""
    folder = Path(arguments[0] if arguments else "reports")
    jobs = int(arguments[1]) if len(arguments) > 1 else 2
    folder.mkdir(exist_ok=True)
    save(run(jobs=jobs), folder / "mitigation.json")


if __name__ == "__main__":
    main(sys.argv[1:])
