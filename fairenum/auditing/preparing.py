"""Preparation of an audit, or again of a saved one: load and split the table, train the SVM, resolve options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairenum.auditing import model_facts
from fairenum.auditing.auto_options import with_slack
from fairenum.auditing.feature_choice import chosen_features
from fairenum.auditing.incumbent_rows import IncumbentDecisions, decided_incumbent, with_incumbent
from fairenum.auditing.model_training import Fold, Training, load, trained, tune
from fairenum.auditing.schedule import Schedule, expected
from fairenum.document.audit_config import AuditConfig
from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import ROUNDING_DIGITS
from fairenum.document.feature_facts import EncodingComparison
from fairenum.document.guards import refuse_unknown_columns, resolved_guards
from fairenum.document.split_power import confirmable_words
from fairenum.document.table_facts import TableFacts
from fairenum.document.terms import AUTO, Features
from fairenum.document.training import NEAR_OPTIMAL, Tuning
from fairenum.enumeration.division import PARTS, Division, encode_split
from fairenum.enumeration.model import model_of
from fairenum.errors import ResultError, TableTooLarge
from fairenum.runtime.budget import Expects, Notes, Progress, silent
from fairenum.runtime.parallel import one_thread
from fairenum.svm.problem import FloatArray
from fairenum.svm.sparse_or_dense import Matrix
from fairenum.tables import Dataset, Encoding, split
from fairenum.tables.groups import comparable
from fairenum.tables.naming import Names
from fairenum.tables.splitting import default_sizes

if TYPE_CHECKING:
    import pandas as pd


def divided(dataset: Dataset, config: AuditConfig) -> Division:
    """Return a table split and encoded, with groups too small to be compared marked as such.

    Refuse a sensitive column with more groups than can be compared, and a guardrail on a column that does not exist. An
    intersection of columns with too many groups is left out, unless it was asked for.
    """
    fewest = None if config.small_groups == "keep" else config.min_group_size
    sizes = default_sizes(dataset, config.svm.kernel) if config.sizes == AUTO else config.sizes
    parts = split(dataset, sizes, config.seed)
    division = _encoded(
        config,
        partial(encode_split, dataset, parts, primary=config.primary, standardise=config.standardise, fewest=fewest),
        *chosen_features(dataset, parts.train, config),
    )
    asked_for = {one.column for one in dataset.sensitive}
    if division.primary:
        asked_for.add(division.primary.column)
    columns = comparable(division.columns, asked_for, fewest, [division.rows[part] for part in PARTS])
    names = [one.column for one in columns]
    refuse_unknown_columns(resolved_guards(config.guards), names)
    train, selection, holdout = (
        replace(rows, others=tuple(one for one in rows.others if one.column in names))
        for rows in (division.train, division.selection, division.holdout)
    )
    return replace(division, columns=columns, train=train, selection=selection, holdout=holdout)


def _encoded(
    config: AuditConfig,
    encode: Callable[..., Division],
    features: Features,
    comparison: EncodingComparison | None,
) -> Division:
    """Return the division with the chosen encoding; the linear one if the audit chose an additive one too large."""
    try:
        return replace(encode(features=features), comparison=comparison)
    except TableTooLarge:
        if comparison is None or features == config.features:
            raise
    return replace(encode(features="linear"), comparison=comparison.but(is_too_large=True))


FEW = 0.05  # largest share of the selection split with the rarer decision of a model that neglects a label
NEGLECTED = 0.5  # that share relative to the share of the label among the training rows


def train_svm(division: Division, config: AuditConfig, progress: Progress) -> tuple[Training, Tuning | None]:
    """Return the trained SVM, with C and class weights resolved, and the cross-validation results if C was chosen.

    With class weights "auto" the SVM is first trained without weights and, if it neglects a label, again with weights
    inversely proportional to label frequency. A C of "auto" is chosen separately for each of the two trainings.
    """
    if config.svm.class_weight != "auto":
        return _tuned(division, config, progress)
    training, tuning = _tuned(division, config.but(class_weight="none"), progress)
    rate = _selection_rate(training, division)
    if neglects_a_label(rate, division.train.y, division.train.weights):
        training, tuning = _tuned(division, config.but(class_weight="balanced"), progress)
    return replace(training, class_weights=training.class_weights.but(plain_selection_rate=rate)), tuning


def _tuned(division: Division, config: AuditConfig, progress: Progress) -> tuple[Training, Tuning | None]:
    members, rows = division.dataset.members, division.split.train
    of_rows = None if members is None else members[rows]
    encode_fold = partial(_fold_encoded, division, config) if division.features == "additive" else None
    svm, tuning = tune(division.train, config, progress, of_rows, encode_fold)
    return trained(division, svm, config), tuning


def _fold_encoded(division: Division, config: AuditConfig, fold: Fold) -> tuple[Matrix, Matrix]:
    """Return the rows of a fold of the training rows, encoded by what its rows to learn from show."""
    dataset, (learnt, tried) = division.dataset, (division.split.train[part] for part in fold)
    encoding = Encoding.fit(dataset, learnt, standardise=config.standardise, features=division.features)
    return encoding.transform(dataset, learnt), encoding.transform(dataset, tried)


def _selection_rate(training: Training, division: Division) -> float:
    best = training.best
    model = model_of(training.problem, best, 1, best.certificate.objective)
    decided = model.decision_function(division.selection.X) >= 0.0
    return float(np.average(decided, weights=division.selection.weights))


def neglects_a_label(rate: float, y: FloatArray, weights: FloatArray | None = None) -> bool:
    """Tell whether a model neglects a label: it hardly ever decides for it, given how frequent the label is.

    `rate` is the model's selection rate, `y` are the training labels. Equally frequent labels are never neglected, as
    weights inversely proportional to label frequency would change nothing.
    """
    favourable = float(np.average(y > 0.0, weights=weights))
    given, label = (rate, favourable) if rate <= 0.5 else (1.0 - rate, 1.0 - favourable)
    return round(given, ROUNDING_DIGITS) <= FEW and given < NEGLECTED * label and favourable != 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A divided table, the SVM trained on it, and the options as given (`asked`) and as resolved (`config`)."""

    asked: AuditConfig
    config: AuditConfig
    division: Division
    training: Training
    tuning: Tuning | None
    incumbent: IncumbentDecisions | None
    table: TableFacts

    @property
    def near_optimal(self) -> float:
        """The relative loss up to which a model counts as near-optimal: eps, unless the run itself widened that."""
        eps = self.config.tolerances.eps
        return min(eps, NEAR_OPTIMAL) if self.asked.eps == "auto" else eps


def prepare(
    data: str | Path | pd.DataFrame | Dataset,
    label: str | None,
    favourable: object,
    sensitive: Names | None,
    config: AuditConfig,
    schedule: Schedule,
    incumbent_object: object = None,
) -> Prepared:
    """Load and split a table, train its SVM, and return both with the options as resolved."""
    dataset, incumbent = schedule.begun(
        "load", partial(_loaded, data, label, favourable, sensitive, config, incumbent_object)
    )
    division = schedule.begun("divide", partial(divided, dataset, config))
    asked, config = config, with_incumbent(config, incumbent, division)
    if isinstance(schedule.progress, Expects):
        schedule.progress.expect(expected(division, config))
    training, tuning = schedule.begun("tune", partial(train_svm, division, config, schedule.progress))
    config = with_slack(model_facts.resolved(config, division, training), division, training, incumbent)
    # done while there is nothing to keep, so that Ctrl-C need not wait for it: a large table takes a while
    table = schedule.begun("tune", partial(model_facts.table_facts, config, division, training))
    if isinstance(schedule.progress, Notes):
        schedule.progress.note(_split_note(table, division, config))
    return Prepared(asked, config, division, training, tuning, incumbent, table)


def _split_note(table: TableFacts, division: Division, config: AuditConfig) -> str:
    """Return how many rows each part of the table has, and which change of the gap the holdout can confirm."""
    primary = None if division.is_exploratory else table.primary
    power = confirmable_words(primary, config.against) if primary else ""
    rows = " / ".join(str(len(part)) for part in (division.train, division.selection, division.holdout))
    return f"{rows} rows train / select / confirm{f'; {power}' if power else ''}"


def _loaded(
    data: str | Path | pd.DataFrame | Dataset,
    label: str | None,
    favourable: object,
    sensitive: Names | None,
    config: AuditConfig,
    incumbent_object: object,
) -> tuple[Dataset, IncumbentDecisions | None]:
    dataset = load(data, label, favourable, sensitive, config, incumbent_object)
    return dataset, decided_incumbent(dataset, config)


@one_thread()
def retrained(saved: AuditDocument, dataset: Dataset) -> tuple[Division, Training]:
    """Return the table of a saved run, split as in that run, and its SVM trained again."""
    config = saved.config.but(guards=("none",), features=_features(saved))
    division = divided(dataset, config)
    return division, train_svm(division, config, silent)[0]


def _features(saved: AuditDocument) -> Features:
    """Return how a saved run encoded numbers; a run that does not say was made before there was a choice."""
    return "linear" if saved.config.features == AUTO else saved.config.features


def config_of(saved: AuditDocument) -> AuditConfig:
    """Return the options for auditing the table of a saved run again.

    Refuse a run whose model in use was given as a Python object, which is not saved.
    """
    # a run that names no guardrail was made before there were any; an eps of "auto" is resolved again to the same
    eps = "auto" if saved.requested.eps == "auto" else saved.config.eps
    config = saved.config.but(guards=saved.config.guards or ("none",), eps=eps, features=_features(saved))
    if saved.incumbent is None:  # the card of a bundled table may have come to name one since
        return config.but(reading=config.reading.without_incumbent())
    if saved.incumbent.source == "model" and config.reading.incumbent_model is None:
        raise ResultError(
            "the model in use was given to this run in Python, and a saved run does not hold it; make a new run with "
            "export() there"
        )
    return config
