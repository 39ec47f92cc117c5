"""Decisions out of a score: where it is cut, and whom that selects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from fairenum.dataset.decided import DecidedTable
from fairenum.document.cutoff import Cutoff
from fairenum.document.measure_config import MeasureConfig
from fairenum.errors import ConfigError
from fairenum.scoring.counts import BitArray, FloatArray
from fairenum.scoring.cutting import cut_score

MOST_DECISIONS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Decisions to measure, and where they come from.

    Attributes
    ----------
    how, cutoff, tied
        As in `fairenum.document.measure.MeasuredDecisions`.
    """

    name: str
    bits: BitArray = field(repr=False)
    how: Literal["column", "cutoff", "median"] = "column"
    favourable: str | None = None
    unfavourable: str | None = None
    cutoff: float | None = None
    tied: int = 0


def oriented(table: DecidedTable, config: MeasureConfig) -> FloatArray | None:
    """Return the scores of all rows so that higher is favourable; None without a score."""
    return None if table.score is None else np.asarray(sign(config) * table.score.values)


def sign(config: MeasureConfig) -> float:
    """Return what scores are multiplied by so that higher is favourable."""
    return -1.0 if config.lower_is_better else 1.0


def resolved_cutoff(table: DecidedTable, config: MeasureConfig) -> Cutoff | None:
    """Say where the score is cut; None if it is not."""
    if table.score is None:
        if config.cutoff is not None or config.lower_is_better:
            given = "cutoff (--cutoff)" if config.cutoff is not None else "lower_is_better (--lower-is-better)"
            raise ConfigError(f"{given} is about a score, and there is none; name its column with score=... (--score)")
        return None
    if config.cutoff is None:
        return None if table.decisions else Cutoff("median")
    cutoff = Cutoff.of(config.cutoff)
    if cutoff.rule != "base-rate":
        return cutoff
    if table.label is None:
        raise ConfigError(
            "cutoff 'base-rate' (--cutoff) selects as many as have a favourable label, and there is no label; name it "
            "with label=... (--label COLUMN), or give a share, such as rate=0.3"
        )
    return Cutoff("rate", float(table.label.y.mean()))


def choices(table: DecidedTable, config: MeasureConfig) -> tuple[Choice, ...]:
    """List the decisions of the table, those that its score makes last."""
    if len(table.decisions) > MOST_DECISIONS:
        raise ConfigError(f"{len(table.decisions)} columns of decisions are too many; name at most {MOST_DECISIONS}")
    found = [
        Choice(one.column, one.bits, favourable=one.favourable, unfavourable=one.unfavourable)
        for one in table.decisions
    ]
    values, cutoff = oriented(table, config), resolved_cutoff(table, config)
    if table.score is not None and values is not None and cutoff is not None:
        found.append(_cut(table.score.column, values, cutoff, sign(config)))
    return tuple(found)


def _cut(name: str, values: FloatArray, cutoff: Cutoff, direction: float) -> Choice:
    cut = cut_score(values, cutoff, direction)
    how: Literal["median", "cutoff"] = "median" if cutoff.rule == "median" else "cutoff"
    return Choice(name, cut.bits, how, cutoff=cut.value, tied=cut.tied)
