"""One split of a table: guided search, exact listing and other mitigations on one machine, with one rule of choice.

Some rows are trained on, and the others are halved: one half to choose by, one to report on. Methods that decide by
chance are scored by their expected rates, which favours them: what a single draw adds is left out.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairenum.audit.config import AuditConfig
from fairenum.audit.listing import rows_of, watched_rows
from fairenum.audit.preparation import Prepared, load, pose, prepare
from fairenum.baselines import Outcome, Stage, WeightedSvm, try_mitigations
from fairenum.bench.contest import svc_fit_seconds
from fairenum.enumeration.model import Model
from fairenum.enumeration.search import Enumeration, Limits
from fairenum.enumeration.unfairness import Watched
from fairenum.problem import FloatArray, SvmProblem
from fairenum.scoring import Decisions
from fairenum.selection import Tolerances, search_fairest, standing
from fairenum.solvers.registry import open_workspace
from fairenum.threads import one_thread

LISTED = 50
Z = 1.96
TITLES = {"model_1": "model 1", "exact": f"exact top-{LISTED}", "guided": "guided search"}


@dataclass(frozen=True, slots=True)
class Case:
    """A bundled table, how many of its rows are trained on, and whether the sensitive columns are features, too."""

    data: str
    rows: int
    use_sensitive: bool = False

    @property
    def title(self) -> str:
        """Name it in a heading."""
        columns = "with" if self.use_sensitive else "without"
        return f"{self.data}, {self.rows} training rows, {columns} the sensitive columns"


@dataclass(frozen=True, slots=True)
class Score:
    """What a method does to the holdout of one split."""

    method: str
    title: str
    accuracy: float
    gap: float
    is_randomised: bool = False
    needs_groups: bool = False
    dominates_guided: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """One split."""

    case: Case
    seed: int
    scores: tuple[Score, ...]
    guided_fits: float  # time of the guided search in SVC fits on the same rows
    left_out: int
    objective_ratio: float
    errors: tuple[str, ...]


@one_thread()
def run_trial(case: Case, seed: int) -> Trial:
    """Try all methods on one split."""
    config = AuditConfig(seed=seed, use_sensitive=case.use_sensitive)
    dataset = load(case.data, None, None, None, config)
    rest = (len(dataset) - case.rows) // 2
    config = config.but(sizes=(case.rows, rest, rest))
    prepared = prepare(dataset, config)
    training = pose(prepared, config, lambda *_: None)
    selection, holdout = (watched_rows(prepared, part, config.metric) for part in ("selection", "holdout"))
    tolerances = Tolerances()
    listed = list(Enumeration(open_workspace("path", training.problem), Limits(LISTED)))
    svc_seconds = svc_fit_seconds(_unmerged(prepared, training.C))
    started = time.process_time()
    guided, _ = search_fairest(training.problem, selection, tolerances)
    guided_fits = (time.process_time() - started) / svc_seconds
    train = rows_of(prepared, prepared.train, prepared.split.train, config.metric)
    machine = WeightedSvm(training.C, training.problem.kernel)
    outcomes = try_mitigations(Stage(machine, listed[0], train, selection, holdout, tolerances))
    own = {"model_1": listed[0], "exact": _fairest(listed, selection, tolerances), "guided": guided.model}
    return Trial(
        case,
        seed,
        _scores({name: _bits(model, holdout) for name, model in own.items()}, outcomes, holdout),
        guided_fits,
        sum(guided.model.left_out.values()),
        guided.model.objective / listed[0].objective,
        tuple(f"{outcome.name}: {outcome.error}" for outcome in outcomes if outcome.error),
    )


def _scores(own: Mapping[str, FloatArray], outcomes: Sequence[Outcome], holdout: Watched) -> tuple[Score, ...]:
    """Score our own models, then what else was tried."""
    scores = [Score(name, TITLES[name], *_accuracy_and_gap(bits, holdout)) for name, bits in own.items()]
    for outcome in outcomes:
        if outcome.chances is not None:
            traits, numbers = outcome.mitigation, _accuracy_and_gap(outcome.chances, holdout)
            is_better = dominates(outcome.chances, own["guided"], holdout)
            scores.append(
                Score(outcome.name, traits.title, *numbers, traits.is_randomised, traits.needs_groups, is_better)
            )
    return tuple(scores)


def _unmerged(prepared: Prepared, cost: float) -> SvmProblem:
    return SvmProblem(prepared.train, prepared.dataset.signs[prepared.split.train], cost)


def _bits(model: Model, rows: Watched) -> FloatArray:
    return (model.decision_function(rows.X) >= 0.0).astype(np.float64)


def _fairest(models: Sequence[Model], rows: Watched, tolerances: Tolerances) -> Model:
    """Choose among listed models by the rule."""
    values = np.array([model.decision_function(rows.X) for model in models])
    decisions = Decisions((values >= 0.0).astype(np.uint8), rows.labels, rows.groups)
    ratios = np.array([model.objective / models[0].objective for model in models])
    return models[max(int(standing(decisions, ratios, rows.metric).fairest(tolerances)), 0)]


def _accuracy_and_gap(chance: FloatArray, rows: Watched) -> tuple[float, float]:
    rates = _rates(chance, rows)
    return float(_rightness(chance, rows).mean()), float(rates.max() - rates.min())


def _rightness(chance: FloatArray, rows: Watched) -> FloatArray:
    return np.where(rows.labels == 1, chance, 1.0 - chance)


def _rates(chance: FloatArray, rows: Watched) -> FloatArray:
    sums = np.bincount(rows.groups.codes, chance, len(rows.groups.names))
    return np.asarray(sums[rows.groups.sizes > 0] / rows.groups.sizes[rows.groups.sizes > 0])


def dominates(one: FloatArray, other: FloatArray, rows: Watched) -> bool:
    """Tell whether one method beats another beyond noise on the same rows.

    It is at least as accurate and has at most the same gap, and one of the two differences is beyond its paired 95 %
    interval.
    """
    (accuracy, gap), (other_accuracy, other_gap) = (_accuracy_and_gap(chance, rows) for chance in (one, other))
    if accuracy < other_accuracy or gap > other_gap:
        return False
    right = _rightness(one, rows) - _rightness(other, rows)
    accuracy_error = float(right.std() / np.sqrt(len(right)))
    gap_error = float(np.sqrt(np.sum((_gap_parts(one, rows) - _gap_parts(other, rows)) ** 2)))
    return accuracy - other_accuracy > Z * accuracy_error or other_gap - gap > Z * gap_error


def _gap_parts(chance: FloatArray, rows: Watched) -> FloatArray:
    """Return what each row adds to the deviation of the gap, linearised."""
    codes, sizes = rows.groups.codes, rows.groups.sizes
    rates = np.bincount(codes, chance, len(sizes)) / np.maximum(sizes, 1)
    present = np.flatnonzero(sizes)
    high, low = present[rates[present].argmax()], present[rates[present].argmin()]
    sign = (codes == high).astype(float) - (codes == low).astype(float)
    return np.asarray(sign * (chance - rates[codes]) / sizes[codes])
