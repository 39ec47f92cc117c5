"""The model in use (incumbent): its decisions about the rows of an audit, and the options that depend on them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fairenum.document.audit_config import AuditConfig
from fairenum.document.reading import Cutoff
from fairenum.document.training import Decide
from fairenum.enumeration.division import Division
from fairenum.errors import ConfigError
from fairenum.metrics.counts import BitArray
from fairenum.metrics.operating_point import cut_score
from fairenum.svm.problem import FloatArray
from fairenum.tables import Dataset
from fairenum.tables.incumbent import IncumbentAnswers


@dataclass(frozen=True, slots=True, eq=False)
class IncumbentDecisions:
    """The model in use with its decisions about all rows of the table."""

    answers: IncumbentAnswers
    bits: BitArray = field(repr=False)  # 1 favourable, 0 unfavourable
    cutoff: float | None = None  # threshold on the given scores; None where decisions were given

    @property
    def values(self) -> FloatArray:
        """Values that rank the rows, higher being favourable: scores or, if there are none, decisions as -1 and 1."""
        return np.where(self.bits > 0, 1.0, -1.0) if self.answers.scores is None else self.answers.scores


def decided_incumbent(dataset: Dataset, config: AuditConfig) -> IncumbentDecisions | None:
    """Return the decisions of the model in use, as given or by a threshold on its scores; None if there is no model."""
    answers = dataset.incumbent
    if answers is None:
        return None
    if config.performance == "auc" and answers.scores is None:
        raise ConfigError(
            f"the model in use, {answers.name!r}, has decisions alone, and performance 'auc' (--performance) is about "
            "scores; name its score with incumbent_score=... (--incumbent-score), choose another measure, or leave it "
            "out with incumbent='none' (--incumbent none)"
        )
    if answers.bits is not None:
        return IncumbentDecisions(answers, answers.bits)
    cutoff = Cutoff.of(answers.cutoff)
    weights = dataset.weights.values if dataset.weights else None
    if cutoff.rule == "base-rate":
        cutoff = Cutoff("rate", float(np.average(dataset.y, weights=weights)))
    cut = cut_score(np.asarray(answers.scores), cutoff, -1.0 if answers.is_lower_better else 1.0, weights)
    return IncumbentDecisions(answers, cut.bits, cut.value)


def with_incumbent(config: AuditConfig, incumbent: IncumbentDecisions | None, division: Division) -> AuditConfig:
    """Return the options with `against` and `decide` resolved as far as they depend on the model in use.

    `against` is the model that others are compared with, `decide` the rule that sets decision thresholds: where models
    are compared with the model in use, "auto" is "like-incumbent", unless the model in use decides all rows alike.
    """
    if incumbent is None and config.against == "incumbent":
        raise ConfigError(
            "models cannot be compared with the model in use (against, --against incumbent): none was given; name its "
            "decisions with incumbent=... (--incumbent COLUMN)"
        )
    against = config.against or ("best" if incumbent is None else "incumbent")
    rule = Decide.of(config.decide).rule
    is_auto = rule == "auto" and against == "incumbent"
    if rule != "like-incumbent" and not is_auto:
        return config.but(against=against)
    if incumbent is None:
        raise ConfigError(
            "models cannot be cut like the model in use (decide, --decide like-incumbent): none was given; name its "
            "decisions with incumbent=... (--incumbent COLUMN), or give the share that it selects, such as rate=0.7"
        )
    share = float(np.average(incumbent.bits[division.rows["selection"]], weights=division.selection.weights))
    if is_auto and not 0.0 < share < 1.0:
        return config.but(against=against)
    if not 0.0 < share < 1.0:
        raise ConfigError(
            f"models cannot be cut like the model in use (decide, --decide like-incumbent): it selects {share:.0%} of "
            "the selection split; choose base-rate or sign"
        )
    return config.but(against=against, decide=str(Decide("rate", share)))
