"""The comparison over splits: who dominates whom, and what the table says."""

from __future__ import annotations

import numpy as np
import pytest

from fairenum.bench.mitigation import markdown, run, summary
from fairenum.bench.split_trial import Case, Score, Trial, dominates
from fairenum.enumeration.unfairness import Watched
from fairenum.scoring import Groups


def rows(n: int = 400) -> Watched:
    codes = np.arange(n) % 2
    return Watched(np.zeros((n, 1)), (np.arange(n) // 2 % 2).astype(np.uint8), Groups(codes, ("a", "b")))


def test_a_method_dominates_only_beyond_noise():
    holdout = rows()
    truth, codes = holdout.labels.astype(float), holdout.groups.codes
    biased = np.where(codes == 0, truth, 0.0)  # right about one group, favours nobody of the other
    assert dominates(truth, biased, holdout)
    assert not dominates(biased, truth, holdout)
    assert not dominates(truth, truth, holdout)
    nearly = truth.copy()
    nearly[0] = 1.0 - nearly[0]  # one row of 400 is noise
    assert not dominates(truth, nearly, holdout)
    fair_but_wrong = np.ones(400)
    assert not dominates(fair_but_wrong, biased, holdout)  # fairer, and less accurate than half of 400 rows allow
    assert not dominates(biased, fair_but_wrong, holdout)


def trial(seed: int, gap: float, accuracy: float, beaten: bool) -> Trial:
    scores = (
        Score("model_1", "model 1", 0.8, 0.2),
        Score("guided", "guided search", accuracy, gap),
        Score("threshold_optimizer", "thresholds", 0.7, 0.0, True, True, beaten),
    )
    return Trial(Case("some", 100), seed, scores, 10.0 + seed, 5, 0.97, ())


def test_the_summary_counts_and_takes_medians():
    trials = [trial(0, 0.1, 0.79, False), trial(1, 0.05, 0.8, True), trial(2, 0.15, 0.78, False)]
    (case,) = summary(trials)
    guided = next(method for method in case["methods"] if method["method"] == "guided")
    assert guided["gap_ratio"]["value"] == pytest.approx(0.5)
    assert guided["accuracy_change"]["value"] == pytest.approx(-0.01)
    assert guided["gap_ratio"]["low"] == pytest.approx(0.25)
    assert case["not_dominated"] == pytest.approx(2 / 3)
    assert case["guided_fits"]["value"] == 11.0
    text = markdown([case])
    assert "| guided search | always alike | 0.790 [0.780, 0.800] |" in text
    assert "| thresholds | by chance, told the group |" in text
    assert "in 67 % of the splits" in text


@pytest.mark.parametrize("case", [Case("german", 150), Case("compas", 100, use_sensitive=True)])
def test_one_split_through_all_methods(case):
    (found,) = run([case], splits=1)
    names = [score.method for score in found.scores]
    assert names[:3] == ["model_1", "exact", "guided"]
    assert set(names[3:]) == {"reweighing", "grid_search", "exponentiated_gradient", "threshold_optimizer"}
    assert found.case == case
    assert found.errors == ()
    assert found.guided_fits > 0.0
    assert found.objective_ratio >= 0.95
    assert case.title in markdown(summary([found]))
