"""Guardrails over many splits: proposed models on the holdout, and on fresh rows that no stage of an audit has seen.

What is guarded is measured here by means of its own, from what exported models decide. A proposed model is within every
guardrail on the holdout by the rule, so that a proposed model beyond one shows a defect. On fresh rows nothing is
promised: there the limits are those of a population that the holdout is a sample of.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from scipy import stats
from support.oracles.guardrails import beyond, guarded_names, rows_of, shown

from fairenum import audit
from fairenum.document.audit_document import AuditDocument
from fairenum.tables import load_dataset

SPLITS = 20
SIZES = {"compas": (1000, 1500, 1500), "german": (300, 200, 200), "adult": (2000, 4000, 8000)}
ROUNDING = 1e-9


@dataclass(frozen=True)
class Trial:
    """One split: with the default guardrails, and without any.

    Attributes
    ----------
    proposal
        Null if no other model was selected.
    says_kept
        Whether the run says that every guardrail is kept on the holdout.
    guarded
        How many quantities the guardrails are about.
    holdout, fresh
        How far the selected model is beyond a guardrail, in what is worst; negative within.
    shown
        How many quantities of a proposed model the fresh rows show to be beyond a guardrail.
    gap_ratio, free_gap_ratio
        Gap of the selected model as a share of that of model 1 on the holdout, with guardrails and without.
    """

    proposal: str | None
    says_kept: bool
    guarded: int
    holdout: float
    fresh: float
    shown: int
    gap_ratio: float
    free_gap_ratio: float


def one_trial(table: str, seed: int) -> Trial:
    told = {"seed": seed, "sizes": SIZES[table], "incumbent": "none"}  # a tool in use decides by no model of ours
    result, free = audit(table, **told), audit(table, **told, guards="none").document
    selection = result.document.selection
    parts = rows_of(result, load_dataset(table, incumbent="none"), selection.rank)
    claim = (selection.tolerances.metric, selection.column)
    names = guarded_names([parts["selection"], parts["holdout"]], claim)
    is_proposed = selection.answer == "proposed"
    return Trial(
        selection.answer,
        all(check.is_kept for check in selection.guards),
        len(names),
        beyond(parts["holdout"], names).max(),
        beyond(parts["fresh"], names).max(),
        int(shown(parts["fresh"], names, seed).sum()) if is_proposed else 0,
        gap_ratio(result.document),
        gap_ratio(free),
    )


def gap_ratio(document: AuditDocument) -> float:
    metric = document.selection.tolerances.metric
    chosen = document.selected or document.first
    return chosen.scores.holdout.gap(metric).value / document.first.scores.holdout.gap(metric).value


@pytest.fixture(scope="module")
def trials() -> dict[str, list[Trial]]:
    with ProcessPoolExecutor(2) as pool:
        return {table: [*pool.map(partial(one_trial, table), range(SPLITS))] for table in SIZES}


@pytest.fixture(scope="module")
def proposed(trials) -> list[Trial]:
    return [trial for some in trials.values() for trial in some if trial.proposal == "proposed"]


def test_a_proposed_model_rarely_is_beyond_a_guardrail_on_the_holdout(proposed):
    broken = sum(trial.holdout > ROUNDING for trial in proposed)
    print(f"{broken} of {len(proposed)} proposed models are beyond a guardrail on the holdout")
    assert proposed
    assert broken <= 0.05 * len(proposed)


def test_a_run_says_of_its_guardrails_what_its_models_do(trials):
    for table, some in trials.items():
        assert [trial.says_kept for trial in some] == [trial.holdout <= ROUNDING for trial in some], table


def test_fresh_rows_rarely_show_a_proposed_model_beyond_a_guardrail(proposed):
    broken = sum(trial.shown > 0 for trial in proposed)
    print(
        f"on fresh rows, {sum(trial.fresh > ROUNDING for trial in proposed)} of {len(proposed)} proposed models are "
        f"beyond a guardrail, by {', '.join(f'{trial.fresh:.3f}' for trial in proposed if trial.fresh > ROUNDING)}; "
        f"{broken} are shown to be"
    )
    assert broken <= stats.binom.ppf(0.95, len(proposed), 0.05)


@pytest.mark.parametrize("table", SIZES)
def test_what_guardrails_cost_is_known(trials, table):
    some = trials[table]
    guarded, free = ([getattr(trial, name) for trial in some] for name in ("gap_ratio", "free_gap_ratio"))
    words = [trial.proposal or "model 1 kept" for trial in some]
    print(
        f"{table}: median gap ratio {np.median(guarded):.2f} with guardrails, {np.median(free):.2f} without; "
        + ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
        + f"; {np.median([trial.guarded for trial in some]):.0f} quantities are guarded; selected models beyond a "
        f"guardrail: {sum(trial.holdout > ROUNDING for trial in some)} on the holdout, "
        f"{sum(trial.fresh > ROUNDING for trial in some)} on fresh rows"
    )
    # a guarded search is a narrower one: on average it cannot be expected to find less than the free one
    assert np.median(guarded) <= 1.0
    assert stats.wilcoxon(np.subtract(guarded, free), alternative="less").pvalue > 0.001
