"""The paper's COMPAS experiment: in a random sample of rows, labels are flipped, and the best models are scored.

One such sample is called a draw. The models trained on flipped labels are compared with the clean model, which is
trained on the true labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from fairenum.attack.scene import Scene
from fairenum.attack.simulation import draws, resolved
from fairenum.attack.strategies import paper
from fairenum.document.attack_document import AttackConfig
from fairenum.document.choice import ROUNDING_DIGITS
from fairenum.document.reading import NONE
from fairenum.document.research_documents import FLIPPED, MODELS, TESTED, TIED, TRAINED, Refusal
from fairenum.document.training import SvmSettings
from fairenum.enumeration.division import EncodedRows
from fairenum.enumeration.model import Model
from fairenum.enumeration.search import Limits
from fairenum.errors import FairenumError
from fairenum.estimator import EnumSVC
from fairenum.metrics import score
from fairenum.metrics.counts import BoolArray
from fairenum.research.paper_splits import choose_cost, plain_problem
from fairenum.research.race import TOL, AlgorithmOne
from fairenum.svm.problem import FloatArray, IntArray
from fairenum.svm.sparse_or_dense import Matrix
from fairenum.tables import Dataset, load_dataset

SECONDS = 20.0  # time limit of the paper's algorithm in one draw


def printed_values(
    train: EncodedRows, y: FloatArray, untouched: BoolArray, cost: float, test: Matrix
) -> tuple[FloatArray, FloatArray]:
    """Return the objectives of the models that the paper's algorithm lists, and decision values on the test rows.

    The algorithm runs on scikit-learn's SVC, with the flipped labels `y`. The decision values (model x row) are those
    of the model of the true labels, of the model of the rows that were not flipped, and of the listed models.
    """
    fits = list(AlgorithmOne(plain_problem(train.X, y, cost), Limits(models=MODELS, seconds=SECONDS)))
    everybody = np.arange(len(y))
    values = [_decide(train.X, train.y, everybody, cost, test)]
    values.append(_decide(train.X, y, np.flatnonzero(untouched), cost, test))
    # SVC is deterministic, so that training on the same rows again gives the listed model
    values += [_decide(train.X, y, np.delete(everybody, list(fit.left_out)), cost, test) for fit in fits]
    return np.array([fit.objective for fit in fits]), np.array(values)


def _decide(X: Matrix, y: FloatArray, rows: IntArray, cost: float, test: Matrix) -> FloatArray:
    from sklearn.svm import SVC

    return np.asarray(SVC(kernel="linear", C=cost, tol=TOL).fit(X[rows], y[rows]).decision_function(test))


# Whether columns are standardised, and C (None: by cross-validation). The paper says neither for this experiment, so
# all combinations are run.
VARIANTS: Mapping[str, tuple[bool, float | None]] = {
    "standardised, C = 1": (True, 1.0),
    "raw, C = 1": (False, 1.0),
    "standardised, C by folds": (True, None),
    "raw, C by folds": (False, None),
}


@dataclass(frozen=True, slots=True, eq=False)
class ModelScores:
    """Demographic parity gap and error of the listed models, and of two others, on some rows; NaN if undefined.

    The two others are the clean model, trained on the true labels, and the untouched model, trained on those rows only
    whose labels were not flipped.
    """

    gaps: FloatArray
    errors: FloatArray
    clean_gap: float
    clean_error: float
    untouched_gap: float

    @classmethod
    def of(cls, rows: EncodedRows, values: FloatArray) -> ModelScores:
        """Return the scores, given decision values of the clean model, the untouched model and the listed models."""
        scores = score(rows.decisions(values))
        gaps, errors = scores.gaps.demographic_parity_difference, scores.overall.error
        return cls(gaps[2:], errors[2:], float(gaps[0]), float(errors[0]), float(gaps[1]))

    @property
    def fairer(self) -> BoolArray:
        """For each listed model, whether its gap is below the clean model's and its error below the first model's."""
        return self._fairer_than(self.clean_gap)

    @property
    def fairer_than_untouched(self) -> BoolArray:
        """For each listed model, whether its gap is below the untouched model's, its error below the first model's."""
        return self._fairer_than(self.untouched_gap)

    def _fairer_than(self, reference: float) -> BoolArray:
        gap = np.round(self.gaps - reference, ROUNDING_DIGITS)
        error = np.round(self.errors - self.errors[0], ROUNDING_DIGITS)
        return np.asarray((gap < 0.0) & (error < 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class PrintedMeasures:
    """Results of the algorithm that the paper prints, in one draw, a random sample of rows.

    `shortfall` is the relative difference between the last objective and the first; `is_descending` tells whether no
    model has a larger objective than the one before it; `predictors` counts different decision patterns on the test
    rows.
    """

    shortfall: float
    is_descending: bool
    predictors: int
    test: ModelScores


@dataclass(frozen=True, slots=True, eq=False)
class DrawMeasures:
    """Results of one draw, a random sample of rows, with one choice of scaling and C.

    `test` holds the scores on the 50 test rows, as in the paper, `rest` those on all remaining rows of the table.
    `printed` holds the results of the algorithm that the paper prints; None if it was not run. The other fields are as
    in `DrawLine`.
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
    """Results of one draw (random sample of rows) for each name in `VARIANTS`, or the message if the solver failed."""

    seed: int
    variants: Mapping[str, DrawMeasures | Refusal]


@cache
def compas() -> Dataset:
    """Return the COMPAS dataset as in the paper, with the sensitive columns as features."""
    return load_dataset("compas", use_sensitive=True, incumbent=NONE)


def run_draw(seed: int, with_printed: bool) -> DrawRecord:
    """Run one draw of rows with each choice in `VARIANTS`; `with_printed` adds the paper's algorithm with the first."""
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
    """The rows of one draw: 100 training rows, of which ten labels are flipped, 50 test rows, and all other rows.

    `scene` holds the training rows with their true labels, `y` the labels after the flips; `untouched` is True for the
    training rows that were not flipped. `rest` holds the other rows, which the paper does not use.
    """

    scene: Scene
    y: FloatArray
    untouched: BoolArray
    test: EncodedRows
    rest: EncodedRows

    @classmethod
    def of(cls, seed: int, standardise: bool, cost: float | None) -> InjectedDraw:
        """Draw rows and flip labels, as `fairenum attack` does with this seed; a `cost` of None is cross-validated."""
        sizes = (TRAINED, 0, len(compas()) - TRAINED)
        asked = AttackConfig(svm=SvmSettings(rows=True), sizes=sizes, trials=1, seed=seed, standardise=standardise)
        config = resolved(asked, compas())
        train, _, others = next(draws(compas(), config)).encoded()
        target = train.groups.names.index(str(config.group))
        scene = Scene(train, train, target, 0, config.metric, config.svm, seed)
        untouched = np.ones(TRAINED, dtype=np.bool_)
        untouched[paper(scene, FLIPPED)] = False
        y = np.where(untouched, train.y, -train.y)
        chosen = choose_cost(train.X, y, seed) if cost is None else cost
        scene = replace(scene, svm=replace(config.svm, C=chosen))
        return cls(scene, y, untouched, others.take(slice(TESTED)), others.take(slice(TESTED, None)))

    def measured(self, with_printed: bool = False) -> DrawMeasures:
        """List the best models of the flipped labels, and return their scores on test rows and on all other rows."""
        X, svm = self.scene.train.X, self.scene.svm
        models = EnumSVC.of(svm, MODELS).fit(X, self.y).models_
        fewer = EnumSVC.of(svm).fit(X[self.untouched], self.y[self.untouched]).models_[0]
        compared = (self.scene.fit(), fewer, *models)
        on_test, on_rest = (_values(compared, part.X) for part in (self.test, self.rest))
        objectives = np.array([model.objective for model in models])
        is_tied = objectives >= (1.0 - TIED) * objectives[0]
        return DrawMeasures(
            C=svm.cost,
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
        objectives, values = printed_values(self.scene.train, self.y, self.untouched, self.scene.svm.cost, self.test.X)
        return PrintedMeasures(
            shortfall=float(1.0 - objectives[-1] / objectives[0]),
            is_descending=bool((np.diff(objectives) <= TIED * objectives[0]).all()),
            predictors=predictors(values[2:]),
            test=ModelScores.of(self.test, values),
        )


def _values(models: tuple[Model, ...], X: Matrix) -> FloatArray:
    return np.array([model.decision_function(X) for model in models])


def predictors(values: FloatArray) -> int:
    """Count the distinct vectors of decisions among models, given their decision values (model x row)."""
    return len(np.unique(values >= 0.0, axis=0))
