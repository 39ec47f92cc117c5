"""Guided search against what else a user would pick, over many splits: ``python -m fairenum.bench.mitigation FOLDER``.

Every split trains on some rows of a bundled table and halves the others: one half to choose by, one to report on. All
methods use the same machine, rows and rule of choice. Those that decide by chance are scored by their expected rates,
which favours them: what a single draw adds is left out.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairenum.audit.config import AuditConfig
from fairenum.audit.listing import rows_of, watched_rows
from fairenum.audit.preparation import Prepared, load, pose, prepare
from fairenum.audit.result import write_atomically
from fairenum.baselines import Stage, WeightedSvm, try_mitigations
from fairenum.bench.contest import svc_fit_seconds
from fairenum.enumeration.model import Model
from fairenum.enumeration.search import Enumeration, Limits
from fairenum.enumeration.unfairness import Watched
from fairenum.problem import FloatArray, SvmProblem
from fairenum.scoring import Decisions
from fairenum.selection import Tolerances, search_fairest, standing
from fairenum.solvers.registry import open_workspace

Block = dict[str, Any]

CASES = (("compas", 300), ("compas", 2000), ("german", 600), ("adult", 2000))
SPLITS = 20
LISTED = 50
Z = 1.96
TITLES = {"model_1": "model 1", "exact": f"exact top-{LISTED}", "guided": "guided search"}


@dataclass(frozen=True, slots=True)
class Score:
    """What a method does to the holdout of one split."""

    method: str
    title: str
    accuracy: float
    gap: float
    is_randomised: bool
    needs_groups: bool
    dominates_guided: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """One split."""

    data: str
    rows: int
    seed: int
    scores: tuple[Score, ...]
    guided_fits: float  # time of the guided search in SVC fits on the same rows
    left_out: int
    objective_ratio: float
    errors: tuple[str, ...]


def run_trial(data: str, rows: int, seed: int) -> Trial:
    """Try all methods on one split."""
    dataset = load(data, None, None, None, AuditConfig())
    rest = (len(dataset) - rows) // 2
    config = AuditConfig(sizes=(rows, rest, rest), seed=seed)
    prepared = prepare(dataset, config)
    training = pose(prepared, config, lambda *_: None)
    selection, holdout = (watched_rows(prepared, part, config.metric) for part in ("selection", "holdout"))
    tolerances = Tolerances()
    svc_seconds = svc_fit_seconds(_unmerged(prepared, training.C))
    started = time.process_time()
    guided, _ = search_fairest(training.problem, selection, tolerances)
    guided_fits = (time.process_time() - started) / svc_seconds
    listed = list(Enumeration(open_workspace("path", training.problem), Limits(LISTED)))
    first = listed[0]
    stage = Stage(
        WeightedSvm(training.C, training.problem.kernel),
        first,
        rows_of(prepared, prepared.train, prepared.split.train, config.metric),
        selection,
        holdout,
        tolerances,
    )
    outcomes = try_mitigations(stage)
    chances = {
        "model_1": _bits(first, holdout),
        "exact": _bits(_fairest(listed, selection, tolerances), holdout),
        "guided": _bits(guided.model, holdout),
        **{outcome.name: outcome.chances for outcome in outcomes if outcome.chances is not None},
    }
    traits = {outcome.name: outcome.mitigation for outcome in outcomes}
    return Trial(
        data,
        rows,
        seed,
        tuple(
            Score(
                name,
                TITLES.get(name) or traits[name].title,
                *_accuracy_and_gap(chance, holdout),
                name in traits and traits[name].is_randomised,
                name in traits and traits[name].needs_groups,
                name in traits and dominates(chance, chances["guided"], holdout),
            )
            for name, chance in chances.items()
        ),
        guided_fits,
        sum(guided.model.left_out.values()),
        guided.model.objective / first.objective,
        tuple(f"{outcome.name}: {outcome.error}" for outcome in outcomes if outcome.error),
    )


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


def _median(values: Sequence[float]) -> dict[str, float]:
    """Return the median over splits with a bootstrap 95 % interval."""
    array, rng = np.asarray(values, dtype=np.float64), np.random.default_rng(0)
    draws = np.median(rng.choice(array, (2000, len(array))), axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return {"value": float(np.median(array)), "low": float(low), "high": float(high)}


def summary(trials: Sequence[Trial]) -> list[Block]:
    """Summarise the splits of each case: every method's accuracy and gap, and how guided search compares."""
    result: list[Block] = []
    for data, rows in dict.fromkeys((trial.data, trial.rows) for trial in trials):
        case = [trial for trial in trials if (trial.data, trial.rows) == (data, rows)]
        by_method = {
            method: [next((s for s in trial.scores if s.method == method), None) for trial in case]
            for method in dict.fromkeys(score.method for trial in case for score in trial.scores)
        }
        first = by_method["model_1"]
        result.append(
            {
                "data": data,
                "rows": rows,
                "splits": len(case),
                "methods": [_method(scores, first) for scores in by_method.values()],
                "not_dominated": float(np.mean([not any(s.dominates_guided for s in t.scores) for t in case])),
                "guided_fits": _median([trial.guided_fits for trial in case]),
                "left_out": _median([trial.left_out for trial in case]),
                "objective_ratio": _median([trial.objective_ratio for trial in case]),
            }
        )
    return result


def _method(scores: Sequence[Score | None], first: Sequence[Score | None]) -> Block:
    pairs = [(score, base) for score, base in zip(scores, first, strict=True) if score and base]
    some = pairs[0][0]
    return {
        "method": some.method,
        "title": some.title,
        "is_randomised": some.is_randomised,
        "needs_groups": some.needs_groups,
        "splits": len(pairs),
        "accuracy": _median([score.accuracy for score, _ in pairs]),
        "gap": _median([score.gap for score, _ in pairs]),
        "accuracy_change": _median([score.accuracy - base.accuracy for score, base in pairs]),
        "gap_ratio": _median([score.gap / base.gap if base.gap else 1.0 for score, base in pairs]),
        "dominates_guided": float(np.mean([score.dominates_guided for score, _ in pairs])),
    }


INTRODUCTION = """# Guided search against other mitigations

Medians over seeded splits with bootstrap 95 % intervals over the splits, all on the holdout. The gap is the demographic
parity difference. Every method learns on the same rows with the same linear SVM (C = 1), and what is to be chosen is
chosen on the selection split, at an accuracy loss of at most 1 point there. The rows that are not trained on are halved
into selection and holdout. Methods that decide by chance are scored by their expected rates. A method dominates guided
search in a split if it is as good in both and better in one beyond the paired 95 % interval. Regenerate with
`make mitigation`.
"""
HEADINGS = ("method", "decides", "accuracy", "gap", "change of accuracy", "gap / that of model 1", "dominates guided")


def markdown(cases: Sequence[Block]) -> str:
    """Write the table."""
    return "\n".join([INTRODUCTION, *(line for case in cases for line in _section(case))]) + "\n"


def _section(case: Block) -> Iterator[str]:
    yield f"## {case['data']}, {case['rows']} training rows, {case['splits']} splits\n"
    yield _line(HEADINGS)
    yield _line(["---"] * len(HEADINGS))
    for method in case["methods"]:
        kind = "by chance" if method["is_randomised"] else "always alike"
        cells = [method["title"], kind + (", told the group" if method["needs_groups"] else "")]
        cells += [_shown(method[key]) for key in ("accuracy", "gap")]
        cells += [_shown(method["accuracy_change"], "+.3f"), _shown(method["gap_ratio"], ".2f")]
        yield _line([*cells, _percent(method["dominates_guided"])])
    yield ""
    fits, out, ratio = (
        _shown(case[key], form)
        for key, form in (("guided_fits", ".1f"), ("left_out", ".0f"), ("objective_ratio", ".3f"))
    )
    yield f"Guided search is dominated by none of the others in {_percent(case['not_dominated'])} of the splits."
    yield f"It takes {fits} SVC fits' time and leaves out {out} training rows; its objective is {ratio} of model 1's.\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _shown(numbers: Block, form: str = ".3f") -> str:
    return f"{numbers['value']:{form}} [{numbers['low']:{form}}, {numbers['high']:{form}}]"


def run(cases: Sequence[tuple[str, int]] = CASES, splits: int = SPLITS, jobs: int = 1) -> list[Trial]:
    """Run all splits of all cases."""
    from joblib import Parallel, delayed

    tasks = [(data, rows, seed) for data, rows in cases for seed in range(splits)]
    return list(Parallel(n_jobs=jobs, verbose=0)(delayed(run_trial)(*task) for task in tasks))


def main(arguments: Sequence[str]) -> None:
    """Write mitigation.md and mitigation.json to a folder."""
    folder = Path(arguments[0] if arguments else "reports")
    jobs = int(arguments[1]) if len(arguments) > 1 else 2
    folder.mkdir(exist_ok=True)
    trials = run(jobs=jobs)
    cases = summary(trials)
    record = {"cases": cases, "trials": [asdict(trial) for trial in trials]}
    write_atomically(folder / "mitigation.json", (json.dumps(record, indent=1) + "\n").encode())
    write_atomically(folder / "mitigation.md", markdown(cases).encode())


if __name__ == "__main__":
    main(sys.argv[1:])
