"""One trial: a random sample of rows, the best model before an attack, and models and defences after each attack.

The record of a trial depends only on its input, whether it runs in this process, in another, or on another computer.
Failures are part of the record.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from fairenum.attack.defences import DEFENCES, Aftermath
from fairenum.attack.scene import Scene
from fairenum.attack.strategies import STRATEGIES, rows_to_flip
from fairenum.document.attack_document import (
    AttackConfig,
    Attacked,
    Defended,
    Failure,
    Measured,
    RecoveryRanks,
    TrialDetection,
    TrialRecord,
    budget,
)
from fairenum.document.choice import ROUNDING_DIGITS
from fairenum.document.terms import Gap
from fairenum.document.training import Tolerances
from fairenum.enumeration.division import EncodedRows, encode
from fairenum.enumeration.model import Model
from fairenum.errors import FairenumError
from fairenum.estimator import EnumSVC
from fairenum.metrics import score
from fairenum.metrics.counts import BoolArray
from fairenum.metrics.intervals import plain
from fairenum.runtime.budget import OutOfTime
from fairenum.runtime.parallel import one_thread
from fairenum.solvers.isolation import solver_run
from fairenum.svm.problem import FloatArray, IntArray
from fairenum.svm.sparse_or_dense import distinct
from fairenum.tables import Dataset, merge_identical
from fairenum.tables.groups import named_groups


def recovery(gaps: FloatArray, errors: FloatArray, is_constant: BoolArray, clean_gap: float | None) -> RecoveryRanks:
    """Return the rank of the first model listed after an attack that is as fair as the model before the attack.

    Its gap must be no larger than `clean_gap`, the gap of the model before the attack, and its error no larger than
    that of the first listed model; for the result's `paper_rank`, gap and error must be smaller. A rank is None if
    there is no such model. Models that decide all rows alike do not count. `gaps` and `errors` are those of the listed
    models on the holdout.
    """
    if clean_gap is None:
        return RecoveryRanks()
    gap, error = np.round(gaps - clean_gap, ROUNDING_DIGITS), np.round(errors - errors[0], ROUNDING_DIGITS)
    return RecoveryRanks(
        rank=_first(~is_constant & (gap <= 0.0) & (error <= 0.0)),
        paper_rank=_first(~is_constant & (gap < 0.0) & (error < 0.0)),
    )


def _first(marks: BoolArray) -> int | None:
    return int(marks.argmax()) + 1 if marks.any() else None


def detection(
    models: tuple[Model, ...], gaps: FloatArray, is_constant: BoolArray, train: EncodedRows, flipped: IntArray
) -> TrialDetection | None:
    """Return how well the rows that fairer models leave out match the flipped rows: precision and recall.

    Fairer models are those with a smaller gap than the first; the result is None if they leave out no rows. Which of
    several identical rows is left out is arbitrary, so a left-out row counts as the share of flipped rows among all
    rows identical to it. `train` has the labels after the attack.
    """
    is_fairer = ~is_constant & (np.round(gaps - gaps[0], ROUNDING_DIGITS) < 0.0)
    left_out = sorted({row for place in np.flatnonzero(is_fairer) for row in models[place].left_out})
    if not left_out or not len(flipped):
        return None
    guilt = _shares(train, flipped)
    hits = float(guilt[left_out].sum())
    return TrialDetection(
        left_out=len(left_out),
        precision=hits / len(left_out),
        recall=hits / len(flipped),
        chance=len(flipped) / len(train),
        support_chance=float(guilt[models[0].support].mean()),
    )


def _shares(train: EncodedRows, flipped: IntArray) -> FloatArray:
    """Return for each row the share of flipped rows among all rows that are identical to it, itself included."""
    merged = merge_identical(train.X, train.y)
    counts = np.bincount(merged.inverse[flipped], minlength=len(merged))
    return np.asarray((counts / merged.copies)[merged.inverse])


TIED = 1e-9  # relative difference of objectives up to which they count as equal
DIRECTIONS = {"unfavourable": -1, "favourable": 1, None: 0}


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """The input of one trial, a simulated attack on a random sample of rows: number, seed, rows and options."""

    number: int
    seed: int
    # the rows that were drawn: training, selection and holdout rows, in this order
    table: Dataset = field(repr=False)
    config: AttackConfig  # the options, with sizes in rows, and with the sensitive column and the target group named

    def encoded(self) -> tuple[EncodedRows, EncodedRows | None, EncodedRows]:
        """Return the training, selection and holdout rows, encoded; None for selection rows if there are none."""
        ends = np.cumsum(self.config.sizes_for(len(self.table))).astype(int)
        train, selection, holdout = np.split(np.arange(len(self.table)), ends[:-1])
        parts = (train, holdout, selection) if selection.size else (train, holdout)
        groups = named_groups(self.table.columns, self.config.primary)
        _, encoded = encode(self.table, parts, groups, standardise=self.config.standardise)
        return encoded[0], encoded[2] if selection.size else None, encoded[1]


@one_thread()
def run_trial(trial: Trial) -> TrialRecord:
    """Run one trial and return its record; it uses one thread, so that results are the same wherever it runs."""
    with solver_run(trial.config.svm) as run:
        return _run(trial).but(lapse=run.lapse)


def _run(trial: Trial) -> TrialRecord:
    try:
        draw = _Draw.of(trial)
    except OutOfTime:
        raise
    except Exception as error:  # noqa: BLE001 - one bad draw must not lose the others
        return failed(trial, error)
    attacks, failures = [], []
    for name, flips in product(trial.config.strategies, trial.config.flips):
        try:
            attacks.append(draw.attacked(name, flips))
        except OutOfTime:  # an unfinished trial is not recorded
            raise
        except Exception as error:  # noqa: BLE001 - nor one bad attack, which may be a plugin's
            failures.append(Failure(name, flips, _message(error)))
    return TrialRecord(trial.number, trial.seed, draw.clean, tuple(attacks), tuple(failures))


def failed(trial: Trial, error: BaseException) -> TrialRecord:
    """Return the record of a trial that failed as a whole."""
    return TrialRecord(trial.number, trial.seed, None, (), (Failure(None, None, _message(error)),))


def _message(error: BaseException) -> str:
    return str(error) if isinstance(error, FairenumError) else f"{type(error).__name__}: {error}"


@dataclass(frozen=True, slots=True, eq=False)
class _Draw:
    """The encoded rows of a trial, and as `clean` the gap and the error of the best model before any attack."""

    scene: Scene
    selection: EncodedRows | None
    holdout: EncodedRows
    config: AttackConfig
    clean: Measured

    @classmethod
    def of(cls, trial: Trial) -> _Draw:
        config = trial.config
        train, selection, holdout = trial.encoded()
        scene = Scene(
            train=train,
            watched=holdout if config.sees == "audit" else train,
            target=train.groups.names.index(str(config.group)),
            direction=DIRECTIONS[config.direction],
            metric=config.metric,
            svm=config.svm,
            seed=trial.seed,
        )
        model = scene.fit()
        measures = _gap_and_error(model.decision_function(holdout.X), holdout, config.metric)
        return cls(scene, selection, holdout, config, Measured(*measures, _train_gap(model, scene)))

    def attacked(self, name: str, flips: float) -> Attacked:
        """Flip labels by the named strategy, list the best models of the flipped labels, and return their scores."""
        scene, holdout = self.scene, self.holdout
        rows = rows_to_flip(name, STRATEGIES.load(name), scene, budget(flips, len(scene.train)))
        poisoned = _flipped(scene.train, rows)
        models = self._listed(poisoned)
        values = np.array([model.decision_function(holdout.X) for model in models])
        scores = score(holdout.decisions(values))
        gaps, is_constant = getattr(scores.gaps, scene.metric), scores.is_constant
        tolerances = Tolerances(scene.metric)  # without an audit's guardrails, which an attacked model 1 would set
        after = Aftermath(poisoned, self.selection, holdout, models, len(rows), scene.svm, tolerances, scene.seed)
        return Attacked(
            *_gap_and_error(values[0], holdout, scene.metric),
            _train_gap(models[0], scene),
            strategy=name,
            flips=flips,
            rows=tuple(sorted(rows.tolist())),
            models=len(models),
            predictors=len(np.unique(values >= 0.0, axis=0)),
            tied=sum(model.objective >= (1.0 - TIED) * models[0].objective for model in models),
            recovery=recovery(gaps, scores.overall.error, is_constant, self.clean.gap),
            detection=detection(models, gaps, is_constant, poisoned, rows),
            defences={defence: self._defended(defence, after) for defence in self.config.defences},
        )

    def _listed(self, poisoned: EncodedRows) -> tuple[Model, ...]:
        config, audited = self.config, distinct(self.holdout.X)
        svm = EnumSVC.of(config.svm, config.k, config.distinct, config.min_difference, config.patience)
        return tuple(svm.fit(poisoned.X, poisoned.y, audited=audited).models_)

    def _defended(self, name: str, after: Aftermath) -> Defended:
        try:
            decided = DEFENCES[name](after)
        except OutOfTime:
            raise
        except Exception as error:  # noqa: BLE001 - a defence that fails is recorded as such
            return Defended(failure=_message(error))
        return Defended(*_gap_and_error(np.where(decided, 1.0, -1.0), self.holdout, self.config.metric))


def _flipped(train: EncodedRows, rows: IntArray) -> EncodedRows:
    y = train.y.copy()
    y[rows] *= -1.0
    return replace(train, y=y)


def _train_gap(model: Model, scene: Scene) -> float | None:
    """Return the gap of a model on the training rows, with the labels before the attack."""
    return plain(scene.train.gaps(model.decision_function(scene.train.X)[None], scene.metric)[0])


def _gap_and_error(values: FloatArray, rows: EncodedRows, metric: Gap) -> tuple[float | None, float | None]:
    scores = score(rows.decisions(values[None]))
    return plain(getattr(scores.gaps, metric)[0]), plain(scores.overall.error[0])
