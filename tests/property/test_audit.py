"""What holds for every audit, whatever the table."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from support.audits import METRIC, checked

from fairenum import AuditResult, audit, select
from fairenum.document.cautions import cautions


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, levels = draw(st.integers(30, 80)), draw(st.integers(2, 4))
    group = rng.choice(list("abcd")[:levels], n)
    group[:levels] = list("abcd")[:levels]
    x = rng.integers(0, 3, n) if draw(st.booleans()) else rng.normal(size=n)
    x[:2] = 0, 1
    label = np.where(x + rng.normal(size=n) > draw(st.sampled_from([0.0, 1.0, 2.5])), "in", "out")
    label[:10] = ["in", "out"] * 5
    return pd.DataFrame({"x": x, "z": rng.normal(size=n), "g": group, "y": label})


@settings(max_examples=8)
@given(tables(), st.sampled_from(["predictions", "support", "diverse"]), st.integers(0, 5))
def test_every_document_is_valid_and_consistent(frame, distinct, seed):
    result = audit(frame, "y", "in", "g", k=4, distinct=distinct, seed=seed, replications=50)
    document = checked(result)
    selection, models = document.selection, document.models
    for model in models:
        for part in ("selection", "holdout"):
            scores = model.scores.of(part)
            counts = scores.by_column["g"]
            assert sum(counts.selected) == round(scores.selection_rate.value * scores.rows)
            assert all(right <= all_ for right, all_ in zip(counts.true_positives, counts.selected, strict=True))
            for name in ("accuracy", "balanced_accuracy", "selection_rate", METRIC):
                found = scores.measure(name)
                assert found.value is None or found.low - 1e-12 <= found.value <= found.high + 1e-12
    assert document.first.scores.holdout.gap(METRIC).verdict in ("same", None)  # None if it decides all alike
    if document.selected and not document.first.is_constant:
        gaps = [model.scores.selection.gap(METRIC).value for model in (document.selected, document.first)]
        assert gaps[0] <= gaps[1]
    assert selection.is_fairer == (selection.verdict == "fairer")
    assert document.warnings == cautions(document)
    again = select(AuditResult(document)).document.selection
    assert again.is_in_sight == (selection.is_in_sight or selection.outcome != "selected")
    if not again.is_in_sight:
        assert again == selection
    for name in ("rank", "outcome", "reason", "tolerances", "candidates", "pareto_front"):
        assert getattr(again, name) == getattr(selection, name)
