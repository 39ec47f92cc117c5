"""The table of the comparison over splits."""

from __future__ import annotations

from fairenum.bench.mitigation import markdown, summary
from fairenum.document.mitigation import Case, MethodScore, SplitTrial


def trial(seed: int, gap: float, accuracy: float, beaten: bool) -> SplitTrial:
    scores = (
        MethodScore("model_1", 0.8, 0.2),
        MethodScore("guided", accuracy, gap),
        MethodScore("threshold_optimizer", 0.7, 0.0, True, True, beaten),
    )
    return SplitTrial(Case("some", 100), seed, scores, 10.0 + seed, 5, 0.97, ())


def test_the_table_shows_medians_and_what_each_method_needs():
    text = markdown(summary([trial(0, 0.1, 0.79, False), trial(1, 0.05, 0.8, True), trial(2, 0.15, 0.78, False)]))
    assert "some, 100 training rows, without the sensitive columns" in text
    assert "| guided search | always alike | 0.790 [0.780, 0.800] |" in text
    assert "| thresholds | by chance, told the group |" in text
    assert "in 67 % of the splits" in text
