"""One trial: a draw of a table, its clean model, and what each attack makes of it.

A trial is a function of what it is given, whoever runs it: in this process, in another, or on another machine. Its
record is plain values. What goes wrong in it is part of the record.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairenum.attack.config import AttackConfig, budget
from fairenum.attack.defence import DEFENCES, Aftermath
from fairenum.attack.harm import detection, recovery
from fairenum.attack.scene import Part, Scene
from fairenum.attack.strategies import STRATEGIES, rows_to_flip
from fairenum.dataset import Dataset, Encoding
from fairenum.dataset.groups import named_groups
from fairenum.enumeration.model import Model
from fairenum.errors import AttackError, FairenumError
from fairenum.estimator import EnumSVC
from fairenum.problem import FloatArray
from fairenum.scoring import Groups, score
from fairenum.threads import one_thread

Record = dict[str, Any]

TIED = 1e-9  # objectives that differ by less are equal as far as is proven


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


@one_thread()
def run_trial(trial: Trial) -> Record:
    """Run one trial; its numbers are the same everywhere."""
    try:
        draw = _Draw.of(trial)
    except Exception as error:  # noqa: BLE001 - one bad draw must not lose the others
        return failed(trial, error)
    record: Record = {"trial": trial.number, "seed": trial.seed, "clean": draw.clean, "attacks": [], "failures": []}
    for name in trial.config.strategies:
        for flips in trial.config.flips:
            try:
                record["attacks"].append(draw.attacked(name, flips))
            except Exception as error:  # noqa: BLE001 - nor one bad attack, which may be anybody's code
                record["failures"].append(_failure(error, name, flips))
    return record


def failed(trial: Trial, error: BaseException) -> Record:
    """Return the record of a trial of which nothing came back."""
    failures = [_failure(error, None, None)]
    return {"trial": trial.number, "seed": trial.seed, "clean": None, "attacks": [], "failures": failures}


def _failure(error: BaseException, strategy: str | None, flips: float | None) -> Record:
    message = str(error) if isinstance(error, FairenumError) else f"{type(error).__name__}: {error}"
    return {"strategy": strategy, "flips": flips, "message": message}


@dataclass(frozen=True, slots=True, eq=False)
class _Draw:
    """A draw, divided and encoded, with its clean model scored."""

    scene: Scene
    selection: Part | None
    holdout: Part
    config: AttackConfig
    clean: Record

    @classmethod
    def of(cls, trial: Trial) -> _Draw:
        config = trial.config
        train, selection, holdout = parts(trial)
        if train is None or holdout is None:
            raise AttackError("a draw needs rows to train on and rows to hold out")
        scene = Scene(
            train=train,
            watched=holdout if config.sees == "audit" else train,
            target=train.groups.names.index(str(config.group)),
            direction={"unfavourable": -1, "favourable": 1, None: 0}[config.direction],
            metric=config.metric,
            machine=machine(config),
            seed=trial.seed,
        )
        clean = _measured(scene.fit(), train, holdout, config)
        return cls(scene, selection, holdout, config, clean)

    def attacked(self, name: str, flips: float) -> Record:
        """Flip labels, list the best models of what is left, and measure what that has done."""
        scene, config, train = self.scene, self.config, self.scene.train
        rows = rows_to_flip(name, STRATEGIES.load(name), scene, budget(flips, len(train.y)))
        y = train.y.copy()
        y[rows] *= -1.0
        poisoned = Part(train.X, y, train.groups)
        audited = np.unique(self.holdout.X, axis=0)
        models = tuple(machine(config).fit(train.X, y, audited).models_)
        values = np.array([model.decision_function(self.holdout.X) for model in models])
        scores = score(self.holdout.decisions(values))
        gaps, errors = getattr(scores.gaps, config.metric), scores.overall.error
        after = Aftermath(
            poisoned, self.selection, self.holdout, models, len(rows), scene.machine, config.metric, scene.seed
        )
        return {
            "strategy": name,
            "flips": flips,
            "rows": sorted(rows.tolist()),
            **_measured(models[0], train, self.holdout, config),
            "models": len(models),
            "predictors": len(np.unique(values >= 0.0, axis=0)),
            "tied": sum(model.objective >= (1.0 - TIED) * models[0].objective for model in models),
            "recovery": recovery(gaps, errors, scores.is_constant, self.clean["gap"]),
            "detection": detection(models, gaps, scores.is_constant, poisoned, rows),
            "defences": {defence: self._defended(defence, after) for defence in config.defences},
        }

    def _defended(self, name: str, after: Aftermath) -> Record:
        try:
            decided = DEFENCES[name](after)
        except Exception as error:  # noqa: BLE001 - a defence that fails is a row of its own
            return {"gap": None, "error": None, "failure": _failure(error, None, None)["message"]}
        return {**_scored(np.where(decided, 1.0, -1.0), self.holdout, self.config), "failure": None}


def machine(config: AttackConfig) -> EnumSVC:
    """Build the machine whose best models are listed."""
    return EnumSVC(
        C=config.C,
        kernel=config.kernel,
        gamma=config.gamma,
        degree=config.degree,
        coef0=config.coef0,
        solver=config.solver,
        n_models=config.k,
        distinct=config.distinct,
        min_difference=config.min_difference,
        patience=config.patience,
        merge_copies=not config.rows,
    )


def parts(trial: Trial) -> list[Part | None]:
    """Divide the rows of a draw and encode them; the encoding sees the training rows alone. An empty part is None."""
    table, config = trial.table, trial.config
    ends = np.cumsum(config.sizes_for(len(table))).astype(int)
    encoding = Encoding.fit(table, np.arange(ends[0]), standardise=config.standardise)
    X, groups = encoding.transform(table), named_groups(table.columns, config.primary)
    rows = np.split(np.arange(len(table)), ends[:-1])
    return [
        Part(X[part], table.signs[part], Groups(groups.codes[part], groups.names)) if part.size else None
        for part in rows
    ]


def _measured(model: Model, train: Part, holdout: Part, config: AttackConfig) -> Record:
    """Measure a model on the holdout, and its gap on the training rows, which is what an attacker sees."""
    seen = train.gaps(model.decision_function(train.X)[None], config.metric)[0]
    return {**_scored(model.decision_function(holdout.X), holdout, config), "train_gap": _plain(seen)}


def _scored(values: FloatArray, holdout: Part, config: AttackConfig) -> Record:
    scores = score(holdout.decisions(values[None]))
    gap, error = getattr(scores.gaps, config.metric)[0], scores.overall.error[0]
    return {"gap": _plain(gap), "error": _plain(error)}


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def measured(record: Mapping[str, Any], name: str) -> float:
    """Read a number of a record; one that is undefined is NaN."""
    return math.nan if record[name] is None else float(record[name])
