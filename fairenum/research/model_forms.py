"""Performance of several forms of model on the same rows, without any regard to groups.

Model 1 of an audit, linear and, where audits offer it, additive, is compared with boosted trees and with an explainable
boosting machine (package interpret). Logistic regression is the usual linear model. Each form is cut, on the selection
split, where it selects the share of favourable labels of the training rows, so that accuracies can be compared.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

from fairenum.auditing.pipeline import run_audit
from fairenum.document.audit_config import AuditConfig
from fairenum.document.scoreboard_cells import FormCell, FormScore
from fairenum.document.terms import Part
from fairenum.enumeration.division import PARTS
from fairenum.metrics.operating_point import OperatingPoint
from fairenum.research.contest import Contest, contest
from fairenum.research.rivals import NOT_INSTALLED, logistic_regression
from fairenum.research.study_tables import StudyTable
from fairenum.runtime.budget import silent
from fairenum.runtime.parallel import one_thread
from fairenum.svm.problem import FloatArray

Values = Mapping[Part, FloatArray]  # by split, values that rank its rows, higher ones being favourable


def model_one(one: Contest, features: str) -> Values:
    """Return the decision values of model 1 of a default audit, with features of one form."""
    config = AuditConfig().but(
        k=1, search="exact", prices=False, range=False, explanation=False, against="best", seed=one.seed
    )
    if has_features():
        config = config.but(features=features)
    _, state = run_audit(one.dataset, None, None, None, config, silent)
    return {part: state.listing.values[part][0] for part in PARTS}


def has_features() -> bool:
    """Tell whether audits have the option `features`, the form in which features enter a model."""
    return "features" in AuditConfig().options


def boosted(one: Contest) -> Values:
    """Return the probabilities of scikit-learn's boosted trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return _classified(HistGradientBoostingClassifier(random_state=one.seed), one)


def explainable(one: Contest) -> Values:
    """Return the probabilities of an explainable boosting machine: an additive model with some pairs of features."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return _classified(ExplainableBoostingClassifier(random_state=one.seed, n_jobs=1, outer_bags=8), one)


def _classified(model: Any, one: Contest) -> Values:
    model.fit(one.X(), one.rows().labels)
    return {part: model.predict_proba(one.X(part))[:, 1] for part in PARTS}


FORMS: Mapping[str, Callable[[Contest], Values]] = {
    "logistic": lambda one: _classified(logistic_regression(), one),
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
    return form_score(name, found, one, seconds)


def form_score(name: str, values: Values, one: Contest, seconds: float) -> FormScore:
    """Return accuracy and AUC on the holdout; all forms select as many rows as have a favourable label in training."""
    from sklearn.metrics import roc_auc_score

    share, labels = float(one.rows().labels.mean()), one.rows("holdout").labels
    cut = OperatingPoint(share).cut(values["selection"])
    accuracy = float(((cut.centred(values["holdout"]) >= 0.0) == labels).mean())
    return FormScore(name, accuracy, float(roc_auc_score(labels, values["holdout"])), seconds)
