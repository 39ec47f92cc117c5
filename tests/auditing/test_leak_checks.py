"""Whether the score of the model in use is that of rows that it was fitted on; `tests/slow/test_leak_claims.py` too."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from support.simulation.scored_rows import CASES, FOREST, ROLES, Case, correction_of, linear

from fairenum import audit
from fairenum.auditing.leak_checks import CRITICAL, SHARE, compared, ranked_rows

FEW = {**ROLES, "k": 2, "search": "exact", "replications": 50, "C": 1.0, "prices": False, "around": "incumbent"}
SCORED = {"incumbent_score": "points", "incumbent_cutoff": "0.5"}


def delong(one: np.ndarray, other: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the difference of two AUCs on the same rows, and its variance, from all pairs (DeLong et al. 1988)."""
    parts = []
    for scores in (one, other):
        pairs = np.sign(scores[y == 1][:, None] - scores[y == 0][None]) / 2.0 + 0.5
        parts.append((pairs.mean(), pairs.mean(1), pairs.mean(0)))
    (first, over, under), (second, over_2, under_2) = parts
    variance = np.var(over - over_2, ddof=1) / y.sum() + np.var(under - under_2, ddof=1) / (1 - y).sum()
    return first - second, float(variance)


def test_a_paired_comparison_is_delongs():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    one, other = (np.round(y + scale * rng.normal(size=300), 1) for scale in (0.8, 1.5))
    lead, variance = delong(one, other, y)
    found = compared("features", ranked_rows(one, y), ranked_rows(other, y), is_paired=True)
    assert (found.auc, found.expected) == pytest.approx((roc_auc_score(y, one), roc_auc_score(y, other)))
    assert found.lead.value == pytest.approx(lead, rel=1e-9)
    assert found.lead.low == pytest.approx(lead - CRITICAL * variance**0.5, rel=1e-9)
    assert found.is_far == (found.lead.low > 0.0 and lead >= SHARE * (1.0 - found.expected))
    assert stats.norm.sf(CRITICAL) == pytest.approx(0.0005, rel=0.01)


def test_too_few_rows_of_a_label_are_not_compared():
    assert ranked_rows(np.arange(100.0), np.arange(100) < 19) is None
    assert ranked_rows(np.arange(100.0), np.arange(100) < 20) is not None
    assert ranked_rows(np.empty(0), np.empty(0, dtype=int)) is None


@pytest.mark.parametrize("case", CASES[::6], ids=lambda case: case.name)
def test_a_score_of_own_rows_is_found_and_one_of_other_rows_is_not(case):
    assert correction_of(case.leaked(1)).leak.kind == "features"
    assert correction_of(case.honest(1)).leak is None


def test_a_score_of_the_training_rows_is_better_there_than_on_the_others():
    case = Case(linear, 1500, FOREST)
    frame = case.make(1500, np.random.default_rng(4))
    frame["part"] = np.where(np.arange(1500) < 900, "train", np.where(np.arange(1500) < 1200, "selection", "test"))
    scored = case.scored(frame, frame[frame["part"] == "train"])
    found = correction_of(scored, split_column="part")
    assert found.leak.kind == "training"
    assert (found.leak.rows, found.leak.expected_rows) == (900, 600)
    assert found.leak.auc == pytest.approx(roc_auc_score(frame["good"][:900], scored["points"][:900]))


def test_marks_the_wrong_way_round_are_found():
    case = Case(linear, 1500, FOREST)
    frame = case.make(1500, np.random.default_rng(5)).assign(seen=np.arange(1500) % 2)
    scored = case.scored(frame, frame[frame["seen"] == 1])
    assert correction_of(scored, incumbent_trained_on="seen").leak is None
    wrong = correction_of(scored.assign(seen=1 - scored["seen"]), incumbent_trained_on="seen")
    assert wrong.leak.kind == "marked"


def test_a_model_that_has_seen_the_other_rows_is_better_there_than_when_fitted_again():
    case = Case(linear, 900, FOREST)
    frame = case.make(900, np.random.default_rng(6))
    names = [name for name in frame if name.startswith("x")]
    leaked = audit(frame, incumbent=clone(FOREST).fit(frame[names], frame["good"]), **FEW)
    assert [check.kind for check in leaked.document.correction.checks] == ["refitted", "features"]
    assert leaked.document.correction.leak.kind == "refitted"
    (words,) = leaked.warnings["leaked_score"]
    assert words.startswith("the score of the model in use ranks 540 rows much better (AUC 1.000) than the same kind")
    other = case.make(900, np.random.default_rng(7))
    honest = audit(frame, incumbent=clone(FOREST).fit(other[names], other["good"]), **FEW)
    assert honest.document.correction.leak is None
    assert "leaked_score" not in honest.warnings


def test_texts_missing_cells_and_persons_are_compared_with():
    frame = Case(linear, 600, FOREST).honest(8)
    frame["town"] = pd.Series(np.resize(["a", None, "b"], 600), dtype=object)
    frame.loc[::7, "x1"] = np.nan
    frame["person"] = np.arange(600) // 2
    found = correction_of(frame, group_column="person")
    assert [check.kind for check in found.checks] == ["training", "features"]
    assert found.leak is None


def test_the_same_table_gives_the_same_checks():
    frame = Case(linear, 700, FOREST).honest(9)
    assert correction_of(frame) == correction_of(frame)


def test_the_report_warns_of_a_score_that_knows_too_much():
    document = audit(Case(linear, 700, FOREST).leaked(10), **FEW, **SCORED, incumbent_trained_on="none").document
    assert "leaked_score" in {caution.code for caution in document.warnings}
