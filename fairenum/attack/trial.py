"""One trial: a draw of a table, its clean model, and what each attack makes of it.

A trial is a function of what it is given, whoever runs it: in this process, in another, or on another machine. What
goes wrong in it is part of its record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from fairenum.attack.harm import detection, recovery
from fairenum.attack.scene import Scene
from fairenum.attack.strategies import STRATEGIES, rows_to_flip
from fairenum.budget import OutOfTime
from fairenum.dataset import Dataset
from fairenum.dataset.groups import named_groups
from fairenum.document.attack_config import AttackConfig, budget
from fairenum.document.machine import Tolerances
from fairenum.document.terms import Gap
from fairenum.document.trial import Attacked, Defended, Failure, Measured, TrialRecord
from fairenum.enumeration.model import Model
from fairenum.errors import FairenumError
from fairenum.estimator import EnumSVC
from fairenum.experiment import EncodedRows, encode
from fairenum.matrices import distinct
from fairenum.mitigation.defences import DEFENCES, Aftermath
from fairenum.problem import FloatArray, IntArray
from fairenum.scoring import score
from fairenum.solvers.guarding import watching
from fairenum.threads import one_thread

TIED = 1e-9  # objectives that differ by less are equal as far as is proven
DIRECTIONS = {"unfavourable": -1, "favourable": 1, None: 0}


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What one trial is about.

    Attributes
    ----------
    number, seed
        Its place among the trials, and its seed.
    table
        The rows of the draw: those to train on, to select by, and to hold out, in this order.
    config
        What is simulated, with sizes in rows, and with column and group named.
    """

    number: int
    seed: int
    table: Dataset = field(repr=False)
    config: AttackConfig

    def encoded(self) -> tuple[EncodedRows, EncodedRows | None, EncodedRows]:
        """Return the rows to train on, to select by if there are any, and to hold out, encoded without a leak."""
        ends = np.cumsum(self.config.sizes_for(len(self.table))).astype(int)
        train, selection, holdout = np.split(np.arange(len(self.table)), ends[:-1])
        parts = (train, holdout, selection) if selection.size else (train, holdout)
        groups = named_groups(self.table.columns, self.config.primary)
        _, encoded = encode(self.table, parts, groups, standardise=self.config.standardise)
        return encoded[0], encoded[2] if selection.size else None, encoded[1]


@one_thread()
def run_trial(trial: Trial) -> TrialRecord:
    """Run one trial; its numbers are the same everywhere."""
    with watching(trial.config.machine) as watch:
        return _run(trial).but(lapse=watch.lapse)


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
        except OutOfTime:  # half a trial is none
            raise
        except Exception as error:  # noqa: BLE001 - nor one bad attack, which may be anybody's code
            failures.append(Failure(name, flips, _message(error)))
    return TrialRecord(trial.number, trial.seed, draw.clean, tuple(attacks), tuple(failures))


def failed(trial: Trial, error: BaseException) -> TrialRecord:
    """Return the record of a trial of which nothing came back."""
    return TrialRecord(trial.number, trial.seed, None, (), (Failure(None, None, _message(error)),))


def _message(error: BaseException) -> str:
    return str(error) if isinstance(error, FairenumError) else f"{type(error).__name__}: {error}"


@dataclass(frozen=True, slots=True, eq=False)
class _Draw:
    """The rows of a trial, encoded, and the model that they give before any flip."""

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
            machine=config.machine,
            seed=trial.seed,
        )
        model = scene.fit()
        measures = _gap_and_error(model.decision_function(holdout.X), holdout, config.metric)
        return cls(scene, selection, holdout, config, Measured(*measures, _train_gap(model, scene)))

    def attacked(self, name: str, flips: float) -> Attacked:
        """Flip labels, list the best models of what is left, and measure what that has done."""
        scene, holdout = self.scene, self.holdout
        rows = rows_to_flip(name, STRATEGIES.load(name), scene, budget(flips, len(scene.train)))
        poisoned = _flipped(scene.train, rows)
        models = self._listed(poisoned)
        values = np.array([model.decision_function(holdout.X) for model in models])
        scores = score(holdout.decisions(values))
        gaps, is_constant = getattr(scores.gaps, scene.metric), scores.is_constant
        tolerances = Tolerances(scene.metric)  # an audit's, but nothing is guarded against a model 1 that is poisoned
        after = Aftermath(poisoned, self.selection, holdout, models, len(rows), scene.machine, tolerances, scene.seed)
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
        """List the best models of the rows that the attack left."""
        config, audited = self.config, distinct(self.holdout.X)
        svm = EnumSVC.of(config.machine, config.k, config.distinct, config.min_difference, config.patience)
        return tuple(svm.fit(poisoned.X, poisoned.y, audited=audited).models_)

    def _defended(self, name: str, after: Aftermath) -> Defended:
        try:
            decided = DEFENCES[name](after)
        except OutOfTime:
            raise
        except Exception as error:  # noqa: BLE001 - a defence that fails is a row of its own
            return Defended(failure=_message(error))
        return Defended(*_gap_and_error(np.where(decided, 1.0, -1.0), self.holdout, self.config.metric))


def _flipped(train: EncodedRows, rows: IntArray) -> EncodedRows:
    y = train.y.copy()
    y[rows] *= -1.0
    return replace(train, y=y)


def _train_gap(model: Model, scene: Scene) -> float | None:
    """Measure the gap on the training rows, which is what an attacker sees."""
    return _defined(scene.train.gaps(model.decision_function(scene.train.X)[None], scene.metric)[0])


def _gap_and_error(values: FloatArray, rows: EncodedRows, metric: Gap) -> tuple[float | None, float | None]:
    """Measure one model, given its decision values, or signs, on some rows."""
    scores = score(rows.decisions(values[None]))
    return _defined(getattr(scores.gaps, metric)[0]), _defined(scores.overall.error[0])


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
