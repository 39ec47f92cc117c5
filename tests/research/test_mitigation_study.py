"""The comparison over splits: who dominates whom, and what the splits add up to."""

from __future__ import annotations

import numpy as np
import pytest

from fairenum.document.files import load, save
from fairenum.document.research_documents import Case, MethodScore, SplitTrial
from fairenum.enumeration.division import EncodedRows
from fairenum.metrics import Groups
from fairenum.research.mitigation_study import dominates, run, summary


def rows(n: int = 400) -> EncodedRows:
    codes = np.arange(n) % 2
    return EncodedRows(np.zeros((n, 1)), np.where(np.arange(n) // 2 % 2, 1.0, -1.0), Groups(codes, ("a", "b")))


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


def trial(seed: int, gap: float, accuracy: float, beaten: bool) -> SplitTrial:
    scores = (
        MethodScore("model_1", 0.8, 0.2),
        MethodScore("guided", accuracy, gap),
        MethodScore("threshold_optimizer", 0.7, 0.0, True, True, beaten),
    )
    return SplitTrial(Case("some", 100), seed, scores, 10.0 + seed, 5, 0.97, ())


def test_the_summary_counts_and_takes_medians():
    trials = [trial(0, 0.1, 0.79, False), trial(1, 0.05, 0.8, True), trial(2, 0.15, 0.78, False)]
    (case,) = summary(trials)
    guided = next(method for method in case.methods if method.method == "guided")
    assert guided.gap_ratio.value == pytest.approx(0.5)
    assert guided.gap_ratio.low == pytest.approx(0.25)
    assert guided.accuracy_change.value == pytest.approx(-0.01)
    assert case.not_dominated == pytest.approx(2 / 3)
    assert case.guided_fits.value == 11.0


def test_a_method_that_failed_in_a_split_is_summed_up_over_the_others():
    failed = trial(1, 0.05, 0.8, False)
    (case,) = summary([trial(0, 0.1, 0.79, False), failed.but(scores=failed.scores[:2])])
    assert {method.method: method.splits for method in case.methods} == {
        "model_1": 2,
        "guided": 2,
        "threshold_optimizer": 1,
    }


@pytest.mark.parametrize("case", [Case("german", 150), Case("compas", 100, use_sensitive=True)])
def test_one_split_through_all_methods(case, tmp_path):
    document = run([case], splits=1)
    (found,) = document.trials
    names = [score.method for score in found.scores]
    assert names[:3] == ["model_1", "exact", "guided"]
    assert set(names[3:]) == {"reweighing", "grid_search", "exponentiated_gradient", "threshold_optimizer"}
    assert found.case == case
    assert found.errors == ()
    assert found.guided_fits > 0.0
    # the search is bounded by the loss on all rows, which bounds no objective of fewer rows
    assert 0.0 < found.objective_ratio <= 1.0
    assert document.cases == summary([found])
    assert document.environment.solver.name == "path"
    save(document, tmp_path / "mitigation.json")
    assert load(tmp_path / "mitigation.json") == document
