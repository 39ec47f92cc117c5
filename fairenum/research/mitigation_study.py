"""A comparison of fairenum's guided search with other mitigations, over many random splits of tables.

``python -m fairenum.research.mitigation_study FOLDER JOBS`` writes mitigation.json to a folder.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np

from fairenum.auditing.mitigations import MitigationOutcome, MitigationTask, try_mitigations
from fairenum.document.files import save
from fairenum.document.reading import NONE
from fairenum.document.research_documents import (
    Case,
    CaseSummary,
    MethodScore,
    MethodSummary,
    MitigationDocument,
    SplitTrial,
)
from fairenum.document.training import REACH, Decide, SvmSettings, Tolerances
from fairenum.document.value import Estimate
from fairenum.enumeration.division import Division, EncodedRows, divide, operating_point, pose
from fairenum.enumeration.fairest import fairest, search_fairest
from fairenum.enumeration.search import Enumeration, Limits
from fairenum.research.benchmark import timed_environment
from fairenum.research.race import svc_fit_seconds
from fairenum.runtime.parallel import mapped, one_thread
from fairenum.solvers.registry import open_workspace, solver_version
from fairenum.svm.problem import FloatArray
from fairenum.tables import load_dataset

SVM = SvmSettings()
LISTED = 50
FIRST, EXACT, GUIDED = "model_1", "exact", "guided"
Z = 1.96


@one_thread()
def run_trial(case: Case, seed: int) -> SplitTrial:
    """Return the scores of all methods on one random split of the table that a case names."""
    division = _divided(case, seed)
    train, selection, holdout = division.train, division.selection, division.holdout
    problem = pose(train.X, train.y, SVM).problem
    listed = list(Enumeration(open_workspace(SVM.solver, problem), Limits(LISTED)))
    svc_seconds = svc_fit_seconds(pose(train.X, train.y, replace(SVM, rows=True)).problem)
    point = operating_point(Decide.of(case.decide), train)
    tolerances, started = Tolerances(eps=REACH, guards=case.guards), time.process_time()
    found, _ = search_fairest(problem, selection, tolerances, point=point)
    guided, guided_seconds = found.model, time.process_time() - started
    task = MitigationTask(SVM, listed[0], train, selection, holdout, tolerances, point)
    outcomes = try_mitigations(task)
    own = {FIRST: listed[0], EXACT: fairest(listed, selection, tolerances, point), GUIDED: guided}
    return SplitTrial(
        case=case,
        seed=seed,
        scores=_scores({name: task.decided(model).chances for name, model in own.items()}, outcomes, holdout),
        guided_fits=guided_seconds / svc_seconds,
        left_out=sum(guided.left_out.values()),
        objective_ratio=guided.objective / listed[0].objective,
        errors=tuple(f"{outcome.name}: {outcome.error}" for outcome in outcomes if outcome.error),
    )


def _divided(case: Case, seed: int) -> Division:
    dataset = load_dataset(case.data, use_sensitive=case.use_sensitive, incumbent=NONE)
    rest = (len(dataset) - case.rows) // 2
    return divide(dataset, (case.rows, rest, rest), seed)


def _scores(
    own: Mapping[str, FloatArray], outcomes: Sequence[MitigationOutcome], holdout: EncodedRows
) -> tuple[MethodScore, ...]:
    """Return the scores of fairenum's models, then of the other mitigations that did not fail.

    `own` holds, by method, the probability of a favourable decision for each holdout row.
    """
    scores = [_score(name, chance, holdout) for name, chance in own.items()]
    for outcome in outcomes:
        if outcome.decided:
            chances = outcome.decided.chances
            found = _score(outcome.name, chances, holdout).but(
                is_randomised=outcome.is_randomised,
                needs_groups=outcome.mitigation.needs_groups,
                dominates_guided=dominates(chances, own[GUIDED], holdout),
            )
            scores.append(found)
    return tuple(scores)


def _score(name: str, chance: FloatArray, holdout: EncodedRows) -> MethodScore:
    return MethodScore(name, *_accuracy_and_gap(chance, holdout), selection_rate=float(chance.mean()))


def _accuracy_and_gap(chance: FloatArray, rows: EncodedRows) -> tuple[float, float]:
    rates = _rates(chance, rows)
    return float(_rightness(chance, rows).mean()), float(rates.max() - rates.min())


def _rightness(chance: FloatArray, rows: EncodedRows) -> FloatArray:
    return np.where(rows.labels == 1, chance, 1.0 - chance)


def _rates(chance: FloatArray, rows: EncodedRows) -> FloatArray:
    sums = np.bincount(rows.groups.codes, chance, len(rows.groups.names))
    return np.asarray(sums[rows.groups.sizes > 0] / rows.groups.sizes[rows.groups.sizes > 0])


def dominates(method: FloatArray, rival: FloatArray, rows: EncodedRows) -> bool:
    """Tell whether a method is no worse than its rival in accuracy and gap, and significantly better in one of them.

    A difference is significant if it exceeds the half-width of its paired 95 % interval. `method` and `rival` hold the
    probability of a favourable decision for each row.
    """
    (accuracy, gap), (rival_accuracy, rival_gap) = (_accuracy_and_gap(chance, rows) for chance in (method, rival))
    if accuracy < rival_accuracy or gap > rival_gap:
        return False
    right = _rightness(method, rows) - _rightness(rival, rows)
    accuracy_error = float(right.std() / np.sqrt(len(right)))
    gap_error = float(np.sqrt(np.sum((_gap_parts(method, rows) - _gap_parts(rival, rows)) ** 2)))
    return accuracy - rival_accuracy > Z * accuracy_error or rival_gap - gap > Z * gap_error


def _gap_parts(chance: FloatArray, rows: EncodedRows) -> FloatArray:
    """Return each row's contribution to the sampling error of the gap, to first order."""
    codes, sizes = rows.groups.codes, rows.groups.sizes
    rates = np.bincount(codes, chance, len(sizes)) / np.maximum(sizes, 1)
    present = np.flatnonzero(sizes)
    high, low = present[rates[present].argmax()], present[rates[present].argmin()]
    sign = (codes == high).astype(float) - (codes == low).astype(float)
    return np.asarray(sign * (chance - rates[codes]) / sizes[codes])


SPLITS = 20
CASES = (
    Case("compas", 300, use_sensitive=True),
    Case("compas", 2000, use_sensitive=True),
    Case("compas", 300),
    Case("compas", 2000),
    Case("german", 600),
    Case("adult", 2000),
    # the same with equal selection rates: every method selects the share of favourable labels in the training rows
    Case("compas", 2000, use_sensitive=True, decide="base-rate"),
    Case("compas", 2000, decide="base-rate"),
    Case("german", 600, decide="base-rate"),
    Case("adult", 2000, decide="base-rate"),
)
REPLICATIONS = 2000  # bootstrap samples of the splits


def run(cases: Sequence[Case] = CASES, splits: int = SPLITS, jobs: int = 1) -> MitigationDocument:
    """Run all splits of all cases, in `jobs` processes, and return their results with a summary of each case."""
    started = time.perf_counter()
    calls = [(case, seed) for case in cases for seed in range(splits)]
    trials = sorted(mapped(_tried, calls, jobs=jobs), key=lambda trial: (cases.index(trial.case), trial.seed))
    return MitigationDocument(
        environment=timed_environment(solver=solver_version(SVM.solver)),
        timings={"total": time.perf_counter() - started},
        cases=summary(trials),
        trials=tuple(trials),
    )


def _tried(call: tuple[Case, int]) -> SplitTrial:
    return run_trial(*call)


def summary(trials: Sequence[SplitTrial]) -> tuple[CaseSummary, ...]:
    """Return a summary of each case: accuracy and gap of every method, and how often it dominates guided search."""
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
    """Return the median with a bootstrap 95 % interval; an empty estimate if there are no values."""
    if not values:
        return Estimate()
    array, rng = np.asarray(values, dtype=np.float64), np.random.default_rng(0)
    draws = np.median(rng.choice(array, (REPLICATIONS, len(array))), axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return Estimate(float(np.median(array)), float(low), float(high))


def main(arguments: Sequence[str]) -> None:
    """Run the study, and write mitigation.json; the arguments are the folder and the number of processes."""
    folder = Path(arguments[0] if arguments else "reports")
    jobs = int(arguments[1]) if len(arguments) > 1 else 2
    folder.mkdir(exist_ok=True)
    save(run(jobs=jobs), folder / "mitigation.json")


if __name__ == "__main__":
    # what the module `__main__` holds cannot be sent to other processes
    import_module("fairenum.research.mitigation_study").main(sys.argv[1:])
