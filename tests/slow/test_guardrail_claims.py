"""Guardrails over many splits: how often a proposed model breaks one on the holdout, and what they cost in gap."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from scipy import stats

from fairenum import audit
from fairenum.document.audit import AuditDocument

pytestmark = pytest.mark.slow

SPLITS = 20
TABLES = {"compas": {}, "german": {}, "adult": {"sizes": (2000, 4000, 8000)}}
UNGUARDED = ("none",)


@dataclass(frozen=True)
class Trial:
    """One split: with the default guardrails, and without any.

    Attributes
    ----------
    proposal
        Null if no other model was selected.
    broken
        Guardrails beyond whose limit the selected model is on the holdout.
    gap_ratio, free_gap_ratio
        Gap of the selected model as a share of that of model 1 on the holdout, with guardrails and without.
    """

    proposal: str | None
    broken: int
    gap_ratio: float
    free_gap_ratio: float


def one_trial(table: str, seed: int) -> Trial:
    guarded, free = (
        audit(table, seed=seed, **TABLES[table], **options).document for options in ({}, {"guards": UNGUARDED})
    )
    return Trial(
        guarded.selection.proposal,
        sum(is_beyond(check) for check in guarded.selection.guards),
        gap_ratio(guarded),
        gap_ratio(free),
    )


def is_beyond(check) -> bool:
    value = check.holdout.value
    if value is None:
        return False
    return (check.low is not None and value < check.low) or (check.high is not None and value > check.high)


def gap_ratio(document: AuditDocument) -> float:
    metric = document.selection.tolerances.metric
    chosen = document.selected or document.first
    return chosen.scores.holdout.gap(metric).value / document.first.scores.holdout.gap(metric).value


@pytest.fixture(scope="module")
def trials() -> dict[str, list[Trial]]:
    with ProcessPoolExecutor(2) as pool:
        return {table: [*pool.map(partial(one_trial, table), range(SPLITS))] for table in TABLES}


def test_a_proposed_model_rarely_breaks_a_guardrail(trials):
    proposed = [trial for some in trials.values() for trial in some if trial.proposal == "proposed"]
    broken = sum(trial.broken > 0 for trial in proposed)
    print(f"{broken} of {len(proposed)} proposed models are beyond a guardrail on the holdout")
    assert proposed
    assert broken <= 0.05 * len(proposed)


@pytest.mark.parametrize("table", TABLES)
def test_what_guardrails_cost_is_known(trials, table):
    some = trials[table]
    guarded, free = ([getattr(trial, name) for trial in some] for name in ("gap_ratio", "free_gap_ratio"))
    words = [trial.proposal or "model 1 kept" for trial in some]
    print(
        f"{table}: median gap ratio {np.median(guarded):.2f} with guardrails, {np.median(free):.2f} without; "
        + ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
        + f"; selected models beyond a guardrail: {sum(trial.broken > 0 for trial in some)}"
    )
    # a guarded search is a narrower one: on average it cannot be expected to find less than the free one
    assert np.median(guarded) <= 1.0
    assert stats.wilcoxon(np.subtract(guarded, free), alternative="less").pvalue > 0.001
