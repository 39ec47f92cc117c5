"""Cross-fitted decisions: what models of the same kind decide about training rows that they did not learn from.

The selection split is small, and the best of many models on it is best partly by luck. A tilted model is one price
against one difference, so the same model can be trained on three quarters of the training rows and decide the fourth:
then all training rows say, too, what that price does to gap and performance on rows that the model has not seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from fairenum.auditing.listing import Listing, opened
from fairenum.auditing.model_training import Fold, Training, folds
from fairenum.document.audit_config import AuditConfig
from fairenum.enumeration.division import Division, EncodedRows, encode, pose
from fairenum.enumeration.model import Model, PlaneTilt, model_of
from fairenum.enumeration.tilted import axis_between, tilted_problem
from fairenum.errors import FairenumError
from fairenum.runtime.budget import Progress, checkpoint
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import FloatArray, IntArray, Solution

PARTS_OF_TRAINING = 4  # each decided by models that were trained on the others
WORK = 3e8  # numbers that all trainings together may read


def with_cross_fitting(
    listing: Listing, division: Division, training: Training, config: AuditConfig, progress: Progress
) -> Listing:
    """Return the listing with decision values of model 1 and of its tilted models about the training rows.

    The listing is returned as it is if it has no tilted models, if a label has too few training rows, or if the table
    is so large that the selection split is enough by itself.
    """
    places = np.flatnonzero([place == 0 or model.tilt is not None for place, model in enumerate(listing.models)])
    work = len(places) * PARTS_OF_TRAINING * training.problem.numbers
    if len(places) < 2 or work > WORK:
        return listing
    members = division.dataset.members
    owners = None if members is None else members[division.split.train]
    parts = folds(division.train.y, config.seed, owners, PARTS_OF_TRAINING)
    values = np.full((len(listing.models), len(division.train)), np.nan)
    models = [listing.models[place] for place in places]
    try:
        for done, fold in enumerate(parts):
            progress("cross", done, len(parts))
            values[np.ix_(places, fold[1])] = list(_decided(models, fold, division, training, listing, config))
    except FairenumError:  # a part that cannot be learned from: the selection split has to do
        return listing
    is_whole = len(parts) > 1 and not np.isnan(values[places]).any()
    return replace(listing, crossed=values) if is_whole else listing


def _decided(
    models: Sequence[Model], fold: Fold, division: Division, training: Training, listing: Listing, config: AuditConfig
) -> Iterator[FloatArray]:
    """Yield for each model the decision values, minus its cutoff, about the held-out rows of one fold."""
    ours, others = _encoded(fold, division, config)
    posed = pose(ours.X, ours.y, training.svm, weights=ours.weights).problem
    best = open_workspace(training.svm.solver, posed).solve()
    point = replace(listing.point, weights=others.weights)
    share = float(posed.upper.sum() / training.problem.upper.sum())
    start: Solution = best
    for model in models:
        checkpoint()
        trained = model_of(posed, best, 1, best.certificate.objective)
        if model.tilt:
            axis = axis_between(ours, posed.kernel, model.tilt.axis.rate, model.tilt.axis.groups)
            if axis is None:
                raise FairenumError("a fold has no rows of a group")
            price = share * model.tilt.price
            problem = tilted_problem(posed, price * posed.y * axis.direction.along(posed.kernel, posed.X))
            start = opened(problem, training.svm.solver).solve(problem.upper, start)
            trained = replace(trained, problem=problem, alpha=start.alpha, certificate=start.certificate)
            trained = replace(trained, tilt=PlaneTilt(price, axis))
        values = trained.decision_function(others.X)
        yield point.cut(values).centred(values)


def _encoded(fold: Fold, division: Division, config: AuditConfig) -> tuple[EncodedRows, EncodedRows]:
    """Return the training rows of a fold and its held-out rows, encoded as the training rows alone say."""
    rows: list[IntArray] = [division.split.train[part] for part in fold]
    _, (ours, others) = encode(
        division.dataset, rows, division.primary, standardise=config.standardise, features=division.features
    )
    return ours, others
