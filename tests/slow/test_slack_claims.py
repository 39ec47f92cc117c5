"""What the slack of a weak model in use is worth: the gap that is left over ten made tables."""

from __future__ import annotations

import numpy as np
import pytest
from support.audits import METRIC
from support.tables_in_use import HIRED, Rule, hiring

from fairenum import audit
from fairenum.document.audit_document import AuditDocument

SEEDS = 10
QUICK = {"k": 5, "prices": False, "explanation": False, "replications": 50}


def audited(rule: Rule, seed: int, **options: object) -> AuditDocument:
    return audit(hiring(rule, seed=seed), **HIRED, **QUICK, seed=seed, **options).document


def left(document: AuditDocument) -> float:
    """Return the gap on the holdout of the selected model, or of the model in use if that is kept."""
    return (document.selected or document.incumbent).scores.holdout.gap(METRIC).value


@pytest.mark.parametrize("rule", ["noisy", "one column"])
def test_the_slack_of_a_weak_model_leaves_a_smaller_gap(rule):
    before, after = (
        [audited(rule, seed, **options) for seed in range(SEEDS)] for options in ({"eps": 0.05}, {"eps": "auto"})
    )
    for document in after:
        if chosen := document.selected:
            used = document.incumbent.scores.selection.performance.value
            assert chosen.scores.selection.performance.value >= used - 0.01 - 1e-12
    assert min(document.config.eps for document in after) > 0.2
    means = [float(np.mean([*map(left, documents)])) for documents in (before, after)]
    assert means[1] < 0.8 * means[0], means


def test_nothing_changes_with_a_model_as_good_as_model_1():
    for seed in range(SEEDS):
        document = audited("good", seed, search="exact")
        assert document.config.eps == 0.1
