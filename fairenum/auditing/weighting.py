"""Whether classes are weighted: the machine, with C and class weights chosen together, and trained.

The rule of ``class_weight="auto"``: the machine is trained without weights first. Of its two outcomes it gives one to
fewer rows of the selection split. If these are at most 5 % of the rows, and less than half the share that the same
label has among the training rows, it neglects that label, and the balanced machine is audited instead. So a machine
that decides everybody alike is never kept, while one that finds a rare label as often as it occurs is. No label of the
selection split or the holdout has a say, and no row of the holdout.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fairenum.auditing.training import Training, trained, tune
from fairenum.document.audit_config import AuditConfig
from fairenum.document.training import Tuning
from fairenum.enumeration.model import model_of
from fairenum.experiment import Division
from fairenum.problem import FloatArray
from fairenum.progress import Progress
from fairenum.selection import ROUNDING_DIGITS

FEW = 0.05  # rows of the selection split that get the rarer outcome
NEGLECTED = 0.5  # of the share that the label has among the training rows


def train_machine(division: Division, config: AuditConfig, progress: Progress) -> tuple[Training, Tuning | None]:
    """Resolve C and the class weights of the machine, and train it; where "auto" asks for it, without weights first.

    A C that is to be chosen, too, is chosen for the machine without weights and, if it turns out to neglect a label,
    once more for the balanced one: each is judged at its own best.
    """
    if config.machine.class_weight != "auto":
        return _tuned(division, config, progress)
    training, tuning = _tuned(division, config.but(class_weight="none"), progress)
    rate = _selection_rate(training, division)
    if neglects_a_label(rate, division.train.y, division.train.weights):
        training, tuning = _tuned(division, config.but(class_weight="balanced"), progress)
    return replace(training, class_weights=training.class_weights.but(plain_selection_rate=rate)), tuning


def _tuned(division: Division, config: AuditConfig, progress: Progress) -> tuple[Training, Tuning | None]:
    members = division.dataset.members
    machine, tuning = tune(division.train, config, progress, None if members is None else members[division.split.train])
    return trained(division, machine, config), tuning


def _selection_rate(training: Training, division: Division) -> float:
    """Return the share of the selection split that the trained machine selects."""
    best = training.best
    model = model_of(training.problem, best, 1, best.certificate.objective)
    decided = model.decision_function(division.selection.X) >= 0.0
    return float(np.average(decided, weights=division.selection.weights))


def neglects_a_label(rate: float, y: FloatArray, weights: FloatArray | None = None) -> bool:
    """Tell by the rule whether a machine neglects a label, given the share that it selects and the training labels.

    Labels that are equally frequent are balanced as they are: no weight would help.
    """
    favourable = float(np.average(y > 0.0, weights=weights))
    given, label = (rate, favourable) if rate <= 0.5 else (1.0 - rate, 1.0 - favourable)
    return round(given, ROUNDING_DIGITS) <= FEW and given < NEGLECTED * label and favourable != 0.5
