"""Performance of several forms of model on the same rows, without any regard to groups.

Model 1 of an audit, linear and, where audits offer it, additive, is compared with boosted trees and with an explainable
boosting machine (package interpret).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from fairenum.auditing.pipeline import run_audit
from fairenum.document.audit_config import AuditConfig
from fairenum.document.scoreboard_cells import FormCell, FormScore
from fairenum.enumeration.division import EncodedRows
from fairenum.research.contest import Contest, contest
from fairenum.research.rivals import NOT_INSTALLED
from fairenum.research.study_tables import StudyTable
from fairenum.runtime.budget import silent
from fairenum.runtime.parallel import one_thread
from fairenum.svm.problem import FloatArray


class Ranked(NamedTuple):
    """What a model says of the holdout: values that rank its rows, and decisions."""

    values: FloatArray
    decided: FloatArray


def model_one(one: Contest, features: str) -> Ranked:
    """Return what model 1 of an audit says, with features of one form; by the sign, with unweighted classes."""
    config = AuditConfig().but(
        k=1,
        search="exact",
        prices=False,
        range=False,
        explanation=False,
        against="best",
        decide="sign",
        class_weight="none",
        seed=one.seed,
    )
    if has_features():
        config = config.but(features=features)
    _, state = run_audit(one.dataset, None, None, None, config, silent)
    values = state.listing.values["holdout"][0]
    return Ranked(values, (values >= 0.0).astype(np.float64))


def has_features() -> bool:
    """Tell whether audits have the option `features`, the form in which features enter a model."""
    return "features" in AuditConfig().options


def boosted(one: Contest) -> Ranked:
    """Return what scikit-learn's boosted trees say."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return _classified(HistGradientBoostingClassifier(random_state=one.seed), one)


def explainable(one: Contest) -> Ranked:
    """Return what an explainable boosting machine says, an additive model with some interactions of two features."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return _classified(ExplainableBoostingClassifier(random_state=one.seed, n_jobs=1, outer_bags=8), one)


def _classified(model: Any, one: Contest) -> Ranked:
    chances = model.fit(one.X(), one.rows().labels).predict_proba(one.X("holdout"))[:, 1]
    return Ranked(chances, (chances >= 0.5).astype(np.float64))


FORMS: Mapping[str, Callable[[Contest], Ranked]] = {
    "linear": lambda one: model_one(one, "linear"),
    "additive": lambda one: model_one(one, "additive"),
    "boosting": boosted,
    "explainable_boosting": explainable,
}


@one_thread()
def run_forms(table: StudyTable, seed: int) -> FormCell:
    """Return the performance of all forms on the training and holdout rows of a cell with this seed."""
    one = contest(table, "logistic", seed)
    rows = len(one.division.train), len(one.division.holdout)
    return FormCell(table.name, seed, rows, tuple(_scored(name, one) for name in FORMS))


def _scored(name: str, one: Contest) -> FormScore:
    """Return the scores of a form; of one that is not there, or that fails, the reason."""
    if name == "additive" and not has_features():
        return FormScore(name, error="audits have no option features yet")
    if name == "explainable_boosting" and find_spec("interpret") is None:
        return FormScore(name, error=f"{NOT_INSTALLED}: the package interpret")
    started = time.process_time()
    try:
        with warnings.catch_warnings(action="ignore"):  # of foreign libraries while they train
            found = FORMS[name](one)
    except Exception as error:  # noqa: BLE001 - a library failed: that is a result, not the end
        return FormScore(name, error=f"{type(error).__name__}: {error}"[:200])
    seconds = round(time.process_time() - started, 3)
    return form_score(name, found, one.rows("holdout"), seconds)


def form_score(name: str, found: Ranked, rows: EncodedRows, seconds: float) -> FormScore:
    """Return accuracy and AUC of what a model says of rows."""
    from sklearn.metrics import roc_auc_score

    accuracy = float((found.decided == rows.labels).mean())
    return FormScore(name, accuracy, float(roc_auc_score(rows.labels, found.values)), seconds)
