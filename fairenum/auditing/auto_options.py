"""Options of "auto" that depend on the trained model: where models are cut, and how far their loss may rise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fairenum.auditing.incumbent_rows import IncumbentDecisions
from fairenum.auditing.listing import watched_rows
from fairenum.auditing.model_training import Training
from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import ROUNDING_DIGITS
from fairenum.document.training import REACH, Decide, SvmSettings
from fairenum.enumeration.division import Division, EncodedRows, operating_point
from fairenum.enumeration.model import model_of
from fairenum.metrics.guardrails import Subject

RARE = 0.2  # a label of a smaller share of the training rows is rare
FINENESS = 2  # decimals of a resolved eps, so that reports can state it in full


def resolved_rule(config: AuditConfig, svm: SvmSettings, train: EncodedRows) -> Decide:
    """Return the rule by which models are cut, with "auto" resolved and a base rate as a share.

    Without weights, a model of a rare label selects too few of that label, and the fewer it selects the smaller any
    gap; so models are compared at the base rate. Weights by class say already what the rare label is worth.
    """
    rule = Decide.of(config.decide)
    if rule.rule == "auto":
        favourable = float(np.average(train.labels, weights=train.weights))
        rarer = round(min(favourable, 1.0 - favourable), ROUNDING_DIGITS)
        is_rare = rarer < RARE and svm.class_weight == "none"
        rule = Decide("base-rate" if is_rare else "sign")
    point = operating_point(rule, train)
    return rule if point.share is None else Decide("rate", point.share)


def with_slack(
    config: AuditConfig, division: Division, training: Training, incumbent: IncumbentDecisions | None
) -> AuditConfig:
    """Return the options with an `eps` of "auto" resolved, given all other options as resolved.

    It is `REACH`, measured from the loss of model 1. Where the model in use is weaker than model 1 by more than
    the performance that a fairer model may lose, it is measured from the loss at which model 1 would make as many
    mistakes as the model in use, if each of them cost the same: `REACH` above ``mistakes in use / mistakes of
    model 1`` times the least loss. What then limits a fairer model is its performance against the model in use.
    """
    if config.eps != "auto":
        return config
    config = config.but(eps=REACH)
    if incumbent is None or config.against != "incumbent":
        return config
    point = replace(operating_point(Decide.of(config.decide), division.train), weights=division.selection.weights)
    watched = watched_rows(division, point, config, incumbent)
    if watched.against is None:
        return config
    first = model_of(training.problem, training.best, 1, training.best.certificate.objective)
    best = watched.standing(watched.values_of(first))[1]
    used = float(watched.against.values[Subject("performance")][0])
    return config.but(eps=widened_eps(best, used, config.max_performance_drop))


def widened_eps(best: float, used: float, drop: float) -> float:
    """Return the relative loss up to which models are listed, given the performances of model 1 and the model in use.

    `drop` is the performance that a fairer model may lose: models whose performances differ by no more are equally
    good. An undefined performance widens nothing.
    """
    if not round(best - used - drop, ROUNDING_DIGITS) > 0.0:
        return REACH
    if best >= 1.0:
        return 1.0
    return min(1.0, round((1.0 + REACH) * (1.0 - used) / (1.0 - best) - 1.0, FINENESS))
