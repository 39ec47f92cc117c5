"""Models that correct the score of the model in use: the score as a feature, and how far models shift it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairenum.auditing.leak_checks import leak_checks
from fairenum.auditing.model_training import stratified_folds
from fairenum.document.audit_config import AuditConfig
from fairenum.document.correction_facts import Correction, ScoreShift
from fairenum.document.feature_facts import spans
from fairenum.document.options import Sizes
from fairenum.document.reading import NONE, spelled
from fairenum.enumeration.division import Division
from fairenum.errors import ConfigError
from fairenum.svm.problem import FloatArray, IntArray
from fairenum.svm.sparse_or_dense import Matrix, dense
from fairenum.tables import Dataset, split
from fairenum.tables.columns import Column, read_only
from fairenum.tables.fitted_rows import Refitting
from fairenum.tables.incumbent import UNNAMED, IncumbentAnswers
from fairenum.tables.naming import unlike
from fairenum.tables.score_feature import EASE, ScoreFeature

if TYPE_CHECKING:
    from fairenum.auditing.run_state import RunState

TITLE = "score of the model in use"
ASKED = "around='incumbent' (--around incumbent)"


def require_correctable(dataset: Dataset, config: AuditConfig) -> None:
    """Refuse to correct the model in use if it has no score, if its rows are unknown, or with a nonlinear kernel."""
    if config.around != "incumbent":
        return
    answers = dataset.incumbent
    if answers is None or answers.scores is None:
        has = "none was given" if answers is None else f"{answers.name!r} gives decisions alone"
        raise ConfigError(
            f"{ASKED} corrects the score of the model in use, and {has}; name the column of its score with "
            "incumbent_score=... (--incumbent-score COLUMN), or give a model that has scores"
        )
    if config.svm.kernel != "linear":
        raise ConfigError(
            f"{ASKED} adds a weighted sum of the other columns to a score, for which kernel={config.svm.kernel!r} "
            "(--kernel) has no weights; use kernel='linear' (--kernel linear)"
        )
    if answers.trained_on is None and answers.refitting is None:
        raise ConfigError(
            f"{ASKED} needs to know which rows the model in use was fitted on: on these its score is too good, and a "
            "correction would trust it too much; name the column that marks them with incumbent_trained_on=... "
            f"(--incumbent-trained-on COLUMN), or say incumbent_trained_on={NONE!r} (--incumbent-trained-on {NONE}) if "
            "it saw none of the rows"
        )


def with_score(dataset: Dataset, sizes: Sizes, config: AuditConfig) -> Dataset:
    """Return a dataset with the score of the model in use as its last feature, if models are to correct it.

    Unless it is stated which rows the model was fitted on, the training rows get the scores of models of the same kind
    that were fitted on other training rows.
    """
    require_correctable(dataset, config)
    answers = dataset.incumbent
    if config.around != "incumbent" or dataset.score is not None or answers is None or answers.scores is None:
        return dataset
    scores = answers.scores.copy()
    if answers.refitting and is_cross_fitted(answers):
        rows = split(dataset, sizes, config.seed).train
        again = _out_of_fold(answers.refitting, dataset, rows, config.seed, is_turned=answers.is_lower_better)
        scores[rows] = -again if answers.is_lower_better else again
    values = read_only((-1.0 if answers.is_lower_better else 1.0) * scores)  # as in the table
    feature = _feature(answers, [column.name for column in dataset.features])
    column = Column(feature.name, values, answers.cells)
    return replace(dataset, features=(*dataset.features, column), score=feature)


def is_cross_fitted(answers: IncumbentAnswers) -> bool:
    """Tell whether the training rows get scores of models that were fitted again."""
    return answers.refitting is not None and answers.trained_on is None


def _feature(answers: IncumbentAnswers, names: Sequence[str]) -> ScoreFeature:
    source = answers.score_column or answers.name
    name = unlike(TITLE if source == UNNAMED else f"{TITLE} ({source})", names)
    return ScoreFeature(name, answers.score_column or name, answers.is_lower_better)


def _out_of_fold(refitting: Refitting, dataset: Dataset, rows: IntArray, seed: int, *, is_turned: bool) -> FloatArray:
    """Return the scores of training rows, each by a model that was fitted on other folds of the training rows.

    `is_turned` tells whether the second class of the model is the unfavourable one.
    """
    members = None if dataset.members is None else dataset.members[rows]
    folds = stratified_folds(dataset.signs[rows], seed, members)
    covered = np.sort(np.concatenate([tried for _, tried in folds])) if folds else np.empty(0)
    if not np.array_equal(covered, np.arange(len(rows))):
        raise ConfigError(
            f"{ASKED} fits the model in use again on parts of the {len(rows)} training rows, which have too few of a "
            f"label for that; say which rows it was fitted on with {spelled('incumbent_trained_on')}"
        )
    found = np.empty(len(rows))
    for learnt, tried in folds:
        is_second = (dataset.y[rows[learnt]] == 1) != is_turned
        found[tried] = refitting.scores(rows[learnt], is_second, rows[tried], seed)
    return found


def correction(division: Division, config: AuditConfig) -> Correction | None:
    """Return how models came to learn from the score of the model in use; None unless they correct it."""
    feature, answers = division.dataset.score, division.dataset.incumbent
    if feature is None or answers is None:
        return None
    described = division.encoding.described()
    encoded, place = next(one for one in described if one.name == feature.name), spans(described)[feature.name].start
    return Correction(
        feature=feature.name,
        column=feature.column,
        is_probability=encoded.clip is not None,
        unit=1.0 / encoded.scale,
        alone=1.0 / EASE,
        deviation=float(_column(division.train.X, place).std()),
        is_cross_fitted=is_cross_fitted(answers),
        trained_on=answers.trained_on,
        checks=leak_checks(division, config, is_cross_fitted=is_cross_fitted(answers)),
    )


def with_shifts(found: Correction | None, state: RunState) -> Correction | None:
    """Return the facts about a correction with how every model shifts the score."""
    if found is None:
        return None
    place = spans(state.division.encoding.described())[found.feature].start
    ranks = range(1, len(state.listing.models) + 1)
    return found.but(shifts=tuple(_shift(found, state, rank, place) for rank in ranks))


def _shift(found: Correction, state: RunState, rank: int, place: int) -> ScoreShift:
    model, rows = state.listing.models[rank - 1], state.division.selection
    weight = float(model.plane[place])
    if not weight > 0.0:
        return ScoreShift(rank, weight / found.alone)
    shifts = (model.decision_function(rows.X) - weight * _column(rows.X, place)) / (weight * abs(found.unit))
    mean = np.average(shifts, weights=rows.weights)
    return ScoreShift(rank, weight / found.alone, float(np.average(np.abs(shifts - mean), weights=rows.weights)))


def _column(X: Matrix, place: int) -> FloatArray:
    return dense(X[:, place : place + 1])[:, 0]
