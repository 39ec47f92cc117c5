"""Whether guardrails steer the guided search to smaller gaps than a search that is filtered by them afterwards."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from support.guided_search import KINDS, Reached, reached

SEEDS = range(20)


@pytest.fixture(scope="module")
def found() -> dict[str, list[Reached]]:
    return {
        f"{make.__name__}, {' '.join(guards)}": [reached(make, guards, seed) for seed in SEEDS]
        for make, guards in KINDS
    }


def differences(found: list[Reached]) -> np.ndarray:
    return np.array([one.steered - one.filtered for one in found])


def test_steering_is_better_on_average(found):
    for kind, some in found.items():
        means = {name: np.mean([getattr(one, name) for one in some]) for name in Reached.__dataclass_fields__}
        apart = differences(some)
        print(kind, {name: f"{mean:.3f}" for name, mean in means.items()}, end=" ")
        print(f"better {(apart < -1e-9).sum()}, worse {(apart > 1e-9).sum()}, mean {apart.mean():+.4f}")
    everything = np.concatenate([differences(some) for some in found.values()])
    assert stats.ttest_1samp(everything, 0.0, alternative="less").pvalue < 0.001


def test_steering_is_worse_on_no_kind_of_table(found):
    worse = {
        kind: stats.ttest_1samp(differences(some), 0.0, alternative="greater").pvalue for kind, some in found.items()
    }
    assert min(worse.values()) > 0.05 / len(worse), worse
