"""One split of a table: guided search, exact listing and other mitigations on one machine, with one rule of choice.

Some rows are trained on, and the others are halved: one half to choose by, one to report on. Methods that decide by
chance are scored by their expected rates, which favours them: what a single draw adds is left out.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from fairenum.bench.contest import svc_fit_seconds
from fairenum.dataset import load_dataset
from fairenum.document.deciding import Decide
from fairenum.document.machine import Machine, Tolerances
from fairenum.document.mitigation import Case, MethodScore, SplitTrial
from fairenum.document.reading import NONE
from fairenum.enumeration.search import Enumeration, Limits
from fairenum.experiment import Division, EncodedRows, divide, operating_point, pose
from fairenum.mitigation.methods import MitigationOutcome, MitigationTask, try_mitigations
from fairenum.problem import FloatArray
from fairenum.selection import fairest, search_fairest
from fairenum.solvers.registry import open_workspace
from fairenum.threads import one_thread

MACHINE = Machine()
LISTED = 50
FIRST, EXACT, GUIDED = "model_1", "exact", "guided"
Z = 1.96


@one_thread()
def run_trial(case: Case, seed: int) -> SplitTrial:
    """Try all methods on one split."""
    division = _divided(case, seed)
    train, selection, holdout = division.train, division.selection, division.holdout
    problem = pose(train.X, train.y, MACHINE).problem
    listed = list(Enumeration(open_workspace(MACHINE.solver, problem), Limits(LISTED)))
    svc_seconds = svc_fit_seconds(pose(train.X, train.y, replace(MACHINE, rows=True)).problem)
    point = operating_point(Decide.of(case.decide), train)
    tolerances, started = Tolerances(guards=case.guards), time.process_time()
    found, _ = search_fairest(problem, selection, tolerances, point=point)
    guided, guided_seconds = found.model, time.process_time() - started
    task = MitigationTask(MACHINE, listed[0], train, selection, holdout, tolerances, point)
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
    """Score our own models, then what else was tried."""
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
    """Tell whether the chances of one method beat those of another beyond noise on the same rows.

    It is at least as accurate and has at most the same gap, and one of the two differences is beyond its paired 95 %
    interval.
    """
    (accuracy, gap), (rival_accuracy, rival_gap) = (_accuracy_and_gap(chance, rows) for chance in (method, rival))
    if accuracy < rival_accuracy or gap > rival_gap:
        return False
    right = _rightness(method, rows) - _rightness(rival, rows)
    accuracy_error = float(right.std() / np.sqrt(len(right)))
    gap_error = float(np.sqrt(np.sum((_gap_parts(method, rows) - _gap_parts(rival, rows)) ** 2)))
    return accuracy - rival_accuracy > Z * accuracy_error or rival_gap - gap > Z * gap_error


def _gap_parts(chance: FloatArray, rows: EncodedRows) -> FloatArray:
    """Return what each row adds to the deviation of the gap, linearised."""
    codes, sizes = rows.groups.codes, rows.groups.sizes
    rates = np.bincount(codes, chance, len(sizes)) / np.maximum(sizes, 1)
    present = np.flatnonzero(sizes)
    high, low = present[rates[present].argmax()], present[rates[present].argmin()]
    sign = (codes == high).astype(float) - (codes == low).astype(float)
    return np.asarray(sign * (chance - rates[codes]) / sizes[codes])
