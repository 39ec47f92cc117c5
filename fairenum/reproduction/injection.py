"""One draw of the injected COMPAS experiment: parity and error of the best models, and of the clean reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from fairenum.attack.scene import Scene
from fairenum.attack.simulate import draws, resolved
from fairenum.attack.strategies import paper
from fairenum.dataset import Dataset, load_dataset
from fairenum.document.attack_config import AttackConfig
from fairenum.document.machine import Machine
from fairenum.document.paper import FLIPPED, MODELS, TESTED, TIED, TRAINED
from fairenum.document.reading import NONE
from fairenum.document.reproduction import Refusal
from fairenum.enumeration.model import Model
from fairenum.errors import FairenumError
from fairenum.estimator import EnumSVC
from fairenum.experiment import EncodedRows
from fairenum.matrices import Matrix
from fairenum.problem import FloatArray
from fairenum.reproduction.printed import printed_values
from fairenum.reproduction.tuning import choose_cost
from fairenum.scoring import score
from fairenum.scoring.counts import BoolArray
from fairenum.selection import ROUNDING_DIGITS

# The paper says neither how columns are scaled nor what C is here: whether to standardise, and C (None: by folds).
VARIANTS: Mapping[str, tuple[bool, float | None]] = {
    "standardised, C = 1": (True, 1.0),
    "raw, C = 1": (False, 1.0),
    "standardised, C by folds": (True, None),
    "raw, C by folds": (False, None),
}


@dataclass(frozen=True, slots=True, eq=False)
class ModelScores:
    """Parity gap and error of models on some rows; NaN where they are undefined.

    Attributes
    ----------
    gaps, errors
        Of the listed models.
    clean_gap, clean_error
        Of the model of the clean labels.
    untouched_gap
        Of the model of the rows that were not flipped.
    """

    gaps: FloatArray
    errors: FloatArray
    clean_gap: float
    clean_error: float
    untouched_gap: float

    @classmethod
    def of(cls, rows: EncodedRows, values: FloatArray) -> ModelScores:
        """Score the decision values of the clean model, of that of the untouched rows, and of the listed models."""
        scores = score(rows.decisions(values))
        gaps, errors = scores.gaps.demographic_parity_difference, scores.overall.error
        return cls(gaps[2:], errors[2:], float(gaps[0]), float(errors[0]), float(gaps[1]))

    @property
    def fairer(self) -> BoolArray:
        """Marks the listed models with a smaller gap than the clean model and less error than listed model 1."""
        return self._fairer_than(self.clean_gap)

    @property
    def fairer_than_untouched(self) -> BoolArray:
        """Marks the same against the model of the rows that were not flipped."""
        return self._fairer_than(self.untouched_gap)

    def _fairer_than(self, reference: float) -> BoolArray:
        gap = np.round(self.gaps - reference, ROUNDING_DIGITS)
        error = np.round(self.errors - self.errors[0], ROUNDING_DIGITS)
        return np.asarray((gap < 0.0) & (error < 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class PrintedMeasures:
    """What the paper's own algorithm finds in a draw, in the words of the document's `PrintedDraw`."""

    shortfall: float
    is_descending: bool
    predictors: int
    test: ModelScores


@dataclass(frozen=True, slots=True, eq=False)
class DrawMeasures:
    """What is found in a draw, in the words of the document's `DrawLine`.

    Attributes
    ----------
    test, rest
        Scores on the paper's 50 test rows, and on all remaining rows of the table.
    printed
        What the paper's own algorithm finds; None where it did not run.
    """

    C: float
    shortfall: float
    tied: int
    predictors: int
    tied_predictors: int
    open_rows: float
    test: ModelScores
    rest: ModelScores
    printed: PrintedMeasures | None


@dataclass(frozen=True, slots=True, eq=False)
class DrawRecord:
    """One draw, by variant; what could not be proven says why."""

    seed: int
    variants: Mapping[str, DrawMeasures | Refusal]


@cache
def compas() -> Dataset:
    """Load COMPAS as the paper does: the sensitive columns are features, too."""
    return load_dataset("compas", use_sensitive=True, incumbent=NONE)


def run_draw(seed: int, with_printed: bool) -> DrawRecord:
    """Run one draw in every variant; the first one also by the paper's own algorithm, if asked for."""
    main = next(iter(VARIANTS))
    variants = {
        name: _variant(seed, standardise, cost, with_printed and name == main)
        for name, (standardise, cost) in VARIANTS.items()
    }
    return DrawRecord(seed, variants)


def _variant(seed: int, standardise: bool, cost: float | None, with_printed: bool) -> DrawMeasures | Refusal:
    try:
        return InjectedDraw.of(seed, standardise, cost).measured(with_printed)
    except FairenumError as error:
        return Refusal(seed, str(error))


@dataclass(frozen=True, slots=True, eq=False)
class InjectedDraw:
    """A draw: 100 rows to train on, as they were and with ten labels flipped, 50 to test, and all others.

    Attributes
    ----------
    scene
        The training rows with their true labels, and the machine.
    y
        Their labels after the injection.
    untouched
        Marks the rows whose labels were not flipped.
    test, rest
        The paper's 50 test rows, and all remaining rows of the table, which it does not look at.
    """

    scene: Scene
    y: FloatArray
    untouched: BoolArray
    test: EncodedRows
    rest: EncodedRows

    @classmethod
    def of(cls, seed: int, standardise: bool, cost: float | None) -> InjectedDraw:
        """Draw rows and flip labels, as `fairenum attack` does with the same seed; choose C if none is given."""
        sizes = (TRAINED, 0, len(compas()) - TRAINED)
        asked = AttackConfig(machine=Machine(rows=True), sizes=sizes, trials=1, seed=seed, standardise=standardise)
        config = resolved(asked, compas())
        train, _, others = next(draws(compas(), config)).encoded()
        target = train.groups.names.index(str(config.group))
        scene = Scene(train, train, target, 0, config.metric, config.machine, seed)
        untouched = np.ones(TRAINED, dtype=np.bool_)
        untouched[paper(scene, FLIPPED)] = False
        y = np.where(untouched, train.y, -train.y)
        chosen = choose_cost(train.X, y, seed) if cost is None else cost
        scene = replace(scene, machine=replace(config.machine, C=chosen))
        return cls(scene, y, untouched, others.take(slice(TESTED)), others.take(slice(TESTED, None)))

    def measured(self, with_printed: bool = False) -> DrawMeasures:
        """Enumerate the injected rows, and measure every model on the test rows and on the rest."""
        X, machine = self.scene.train.X, self.scene.machine
        models = EnumSVC.of(machine, MODELS).fit(X, self.y).models_
        fewer = EnumSVC.of(machine).fit(X[self.untouched], self.y[self.untouched]).models_[0]
        compared = (self.scene.fit(), fewer, *models)
        on_test, on_rest = (_values(compared, part.X) for part in (self.test, self.rest))
        objectives = np.array([model.objective for model in models])
        is_tied = objectives >= (1.0 - TIED) * objectives[0]
        return DrawMeasures(
            C=machine.cost,
            shortfall=float(1.0 - objectives[-1] / objectives[0]),
            tied=int(is_tied.sum()),
            predictors=predictors(on_test[2:]),
            tied_predictors=predictors(on_test[2:][is_tied]),
            open_rows=float(np.mean([model.undetermined(self.test.X).mean() for model in models])),
            test=ModelScores.of(self.test, on_test),
            rest=ModelScores.of(self.rest, on_rest),
            printed=self._printed() if with_printed else None,
        )

    def _printed(self) -> PrintedMeasures:
        """Measure what the paper's own algorithm, on scikit-learn's SVC, finds in the same rows."""
        objectives, values = printed_values(
            self.scene.train, self.y, self.untouched, self.scene.machine.cost, self.test.X
        )
        return PrintedMeasures(
            shortfall=float(1.0 - objectives[-1] / objectives[0]),
            is_descending=bool((np.diff(objectives) <= TIED * objectives[0]).all()),
            predictors=predictors(values[2:]),
            test=ModelScores.of(self.test, values),
        )


def _values(models: tuple[Model, ...], X: Matrix) -> FloatArray:
    return np.array([model.decision_function(X) for model in models])


def predictors(values: FloatArray) -> int:
    """Count the models that decide the rows differently."""
    return len(np.unique(values >= 0.0, axis=0))
