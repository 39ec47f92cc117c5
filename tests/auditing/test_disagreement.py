"""Who is decided otherwise by another near-optimal model."""

import numpy as np
import pytest
from support.audits import people


def test_multiplicity_counts_who_is_decided_otherwise(exact):
    whole = exact.multiplicity
    assert whole.flipped == sum(group.flipped for group in whole.by_column["sex"])
    assert whole.ambiguity == pytest.approx(whole.flipped / whole.rows)
    shares = [model.predictions_changed.holdout.share for model in exact.models]
    assert whole.discrepancy == pytest.approx(max(shares))
    assert 0 < whole.capacity < whole.viable_range < 0.5
    assert (whole.rows, whole.models) == (60, 12)


def test_flips_are_those_of_the_exported_pipelines(exact_run, exact):
    rows = exact_run.live.division.rows["holdout"]
    shown = people().iloc[rows]
    decided = np.array([exact_run.estimator(rank).predict(shown) for rank in range(1, 13)])
    is_flipped = (decided != decided[0]).any(axis=0)
    for column in ("sex", "race"):
        for group in exact.multiplicity.by_column[column]:
            inside = (shown[column] == group.group).to_numpy()
            assert (group.rows, group.flipped) == (inside.sum(), is_flipped[inside].sum())
            assert group.ambiguity == pytest.approx(is_flipped[inside].mean())
