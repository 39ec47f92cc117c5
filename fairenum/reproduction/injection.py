"""One draw of the injected COMPAS experiment: parity and error of the best models, and of the clean reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from fairenum.attack import AttackConfig
from fairenum.attack.scene import BoolArray, Part, Scene
from fairenum.attack.simulate import draws, resolved
from fairenum.attack.strategies import paper
from fairenum.attack.trial import machine, parts
from fairenum.dataset import Dataset, load_dataset
from fairenum.enumeration.model import Model
from fairenum.errors import AttackError, FairenumError
from fairenum.problem import FloatArray
from fairenum.reproduction.plan import FLIPPED, MODELS, TESTED, TIED, TRAINED
from fairenum.reproduction.printed import printed_values
from fairenum.reproduction.tuning import choose_cost
from fairenum.scoring import Groups, score
from fairenum.selection import ROUNDING_DIGITS

Record = dict[str, Any]

# The paper says neither how columns are scaled nor what C is here: whether to standardise, and C (None: by folds).
VARIANTS: Mapping[str, tuple[bool, float | None]] = {
    "standardised, C = 1": (True, 1.0),
    "raw, C = 1": (False, 1.0),
    "standardised, C by folds": (True, None),
    "raw, C by folds": (False, None),
}


@cache
def compas() -> Dataset:
    """Load COMPAS as the paper does: the sensitive columns are features, too."""
    return load_dataset("compas", use_sensitive=True)


def run_draw(seed: int, with_printed: bool) -> Record:
    """Run one draw in every variant; the first one also by the paper's own algorithm, if asked for."""
    main, *others = VARIANTS
    variants = {main: _variant(seed, *VARIANTS[main], with_printed)}
    variants |= {name: _variant(seed, *VARIANTS[name], False) for name in others}
    return {"experiment": "compas", "seed": seed, "variants": variants}


def _variant(seed: int, standardise: bool, cost: float | None, with_printed: bool) -> Record:
    try:
        draw = Draw.of(seed, standardise, cost)
        return {"refused": None, **draw.measured(), "printed": draw.printed() if with_printed else None}
    except FairenumError as error:
        return {"refused": str(error)}


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """A draw: 100 rows to train on, as they were and with ten labels flipped, 50 to test, and all others.

    Attributes
    ----------
    scene
        The training rows with their true labels.
    y
        Their labels after the injection.
    untouched
        Marks the rows whose labels were not flipped.
    test, rest
        The paper's 50 test rows, and all remaining rows of the table, which it does not look at.
    """

    config: AttackConfig
    scene: Scene
    y: FloatArray
    untouched: BoolArray
    test: Part
    rest: Part

    @classmethod
    def of(cls, seed: int, standardise: bool, cost: float | None) -> Draw:
        """Draw rows and flip labels, as `fairenum attack` does with the same seed; choose C if none is given."""
        sizes = (TRAINED, 0, len(compas()) - TRAINED)
        config = AttackConfig(sizes=sizes, trials=1, k=MODELS, rows=True, seed=seed, standardise=standardise)
        config = resolved(config, compas())
        train, _, others = parts(next(draws(compas(), config)))
        if train is None or others is None:
            raise AttackError("COMPAS has too few rows for a draw")
        target = train.groups.names.index(str(config.group))
        scene = Scene(train, train, target, 0, config.metric, machine(config), seed)
        untouched = np.ones(TRAINED, dtype=np.bool_)
        untouched[paper(scene, FLIPPED)] = False
        y = np.where(untouched, train.y, -train.y)
        config = config.but(C=choose_cost(train.X, y, seed) if cost is None else cost)
        scene = replace(scene, machine=machine(config))
        return cls(config, scene, y, untouched, _rows(others, slice(TESTED)), _rows(others, slice(TESTED, None)))

    def measured(self) -> Record:
        """Enumerate the injected rows, and measure every model on the test rows and on the rest."""
        train = self.scene.train
        models = tuple(machine(self.config).fit(train.X, self.y).models_)
        clean = self.scene.fit()
        fewer = machine(self.config).fit(train.X[self.untouched], self.y[self.untouched]).models_[0]
        on_test, on_rest = (_values((clean, fewer, *models), part.X) for part in (self.test, self.rest))
        objectives = np.array([model.objective for model in models])
        is_tied = objectives >= (1.0 - TIED) * objectives[0]
        return {
            "C": self.config.C,
            "shortfall": float(1.0 - objectives[-1] / objectives[0]),
            "tied": int(is_tied.sum()),
            "predictors": predictors(on_test[2:]),
            "tied_predictors": predictors(np.vstack([on_test[2:], on_test[2:3]])[np.append(is_tied, True)]),
            "open_rows": float(np.mean([model.undetermined(self.test.X).mean() for model in models])),
            "test": compared(self.test, on_test),
            "rest": compared(self.rest, on_rest, only_first=True),
            "holding": holding(self.test, on_test, self.rest, on_rest),
        }

    def printed(self) -> Record:
        """Measure what the paper's own algorithm, on scikit-learn's SVC, finds in the same rows."""
        train = self.scene.train
        objectives, values = printed_values(train.X, train.y, self.y, self.untouched, self.config.C, self.test.X)
        return {
            "models": len(objectives),
            "shortfall": float(1.0 - objectives[-1] / objectives[0]),
            "is_descending": bool((np.diff(objectives) <= TIED * objectives[0]).all()),
            "predictors": predictors(values[2:]),
            "test": compared(self.test, values),
        }


def _rows(part: Part, rows: slice) -> Part:
    return Part(part.X[rows], part.y[rows], Groups(part.groups.codes[rows], part.groups.names))


def _values(models: tuple[Model, ...], X: FloatArray) -> FloatArray:
    return np.array([model.decision_function(X) for model in models])


def predictors(values: FloatArray) -> int:
    """Count the models that decide the rows differently."""
    return len(np.unique(values >= 0.0, axis=0))


def compared(part: Part, values: FloatArray, *, only_first: bool = False) -> Record:
    """Measure models on some rows.

    Parameters
    ----------
    part
        The rows.
    values
        Decision values of the clean model, of the one trained on the untouched rows, and of the listed models.
    only_first
        Keep of the listed models the first alone.

    Returns
    -------
    dict
        Parity and error; ``fairer``: how many listed models have a smaller gap than the clean model and less error
        than listed model 1; ``fairer_than_untouched``: the same against the model trained on the untouched rows.
    """
    scores = score(part.decisions(values))
    gaps, errors = scores.gaps.demographic_parity_difference, scores.overall.error
    shown = slice(2, 3 if only_first else None)
    return {
        "clean_gap": plain(gaps[0]),
        "untouched_gap": plain(gaps[1]),
        "clean_error": plain(errors[0]),
        "gaps": [plain(gap) for gap in gaps[shown]],
        "errors": [plain(error) for error in errors[shown]],
        "fairer": int(fairer(gaps, errors, gaps[0]).sum()),
        "fairer_than_untouched": int(fairer(gaps, errors, gaps[1]).sum()),
    }


def fairer(gaps: FloatArray, errors: FloatArray, reference: float) -> BoolArray:
    """Mark the listed models with a smaller gap than a reference and less error than listed model 1."""
    gap, error = np.round(gaps[2:] - reference, ROUNDING_DIGITS), np.round(errors[2:] - errors[2], ROUNDING_DIGITS)
    return np.asarray((gap < 0.0) & (error < 0.0))


def holding(test: Part, on_test: FloatArray, rest: Part, on_rest: FloatArray) -> int:
    """Count the models that are fairer on the test rows and are so on all other rows, too."""
    marks = []
    for part, values in ((test, on_test), (rest, on_rest)):
        scores = score(part.decisions(values))
        gaps = scores.gaps.demographic_parity_difference
        marks.append(fairer(gaps, scores.overall.error, gaps[0]))
    return int((marks[0] & marks[1]).sum())


def plain(value: float) -> float | None:
    """Turn what is undefined into None."""
    return None if np.isnan(value) else float(value)
