"""The model in use: its decisions about the rows of an audit, and what depends on them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fairenum.dataset import Dataset
from fairenum.dataset.incumbent import InUse
from fairenum.document.audit_config import AuditConfig
from fairenum.document.cutoff import Cutoff
from fairenum.document.deciding import Decide
from fairenum.errors import ConfigError
from fairenum.experiment import Division
from fairenum.problem import FloatArray
from fairenum.scoring.counts import BitArray
from fairenum.scoring.cutting import cut_score


@dataclass(frozen=True, slots=True, eq=False)
class InPlace:
    """The model in use with its decisions about all rows of the table, its score cut.

    Attributes
    ----------
    bits
        1 favourable, 0 unfavourable.
    cutoff
        Where its score was cut, as its owner counts; None where decisions were given.
    """

    told: InUse
    bits: BitArray = field(repr=False)
    cutoff: float | None = None

    @property
    def values(self) -> FloatArray:
        """What ranks rows: its scores, else its decisions as -1 and 1."""
        return np.where(self.bits > 0, 1.0, -1.0) if self.told.scores is None else self.told.scores


def in_place(dataset: Dataset, config: AuditConfig) -> InPlace | None:
    """Return the model in use with its decisions; None if there is none."""
    told = dataset.incumbent
    if told is None:
        return None
    if config.performance == "auc" and told.scores is None:
        raise ConfigError(
            f"the model in use, {told.name!r}, has decisions alone, and performance 'auc' (--performance) is about "
            "scores; name its score with incumbent_score=... (--incumbent-score), choose another measure, or leave it "
            "out with incumbent='none' (--incumbent none)"
        )
    if told.bits is not None:
        return InPlace(told, told.bits)
    cutoff = Cutoff.of(told.cutoff)
    weights = dataset.weights.values if dataset.weights else None
    if cutoff.rule == "base-rate":
        cutoff = Cutoff("rate", float(np.average(dataset.y, weights=weights)))
    cut = cut_score(np.asarray(told.scores), cutoff, -1.0 if told.is_lower_better else 1.0, weights)
    return InPlace(told, cut.bits, cut.value)


def with_incumbent(config: AuditConfig, incumbent: InPlace | None, division: Division) -> AuditConfig:
    """Resolve what depends on the model in use: whom models are compared with, and where they are cut."""
    if incumbent is None and config.against == "incumbent":
        raise ConfigError(
            "models cannot be compared with the model in use (against, --against incumbent): none was given; name its "
            "decisions with incumbent=... (--incumbent COLUMN)"
        )
    against = config.against or ("best" if incumbent is None else "incumbent")
    if Decide.of(config.decide).rule != "like-incumbent":
        return config.but(against=against)
    if incumbent is None:
        raise ConfigError(
            "models cannot be cut like the model in use (decide, --decide like-incumbent): none was given; name its "
            "decisions with incumbent=... (--incumbent COLUMN), or give the share that it selects, such as rate=0.7"
        )
    share = float(np.average(incumbent.bits[division.rows["selection"]], weights=division.selection.weights))
    if not 0.0 < share < 1.0:
        raise ConfigError(
            f"models cannot be cut like the model in use (decide, --decide like-incumbent): it selects {share:.0%} of "
            "the selection split; choose base-rate or sign"
        )
    return config.but(against=against, decide=str(Decide("rate", share)))
