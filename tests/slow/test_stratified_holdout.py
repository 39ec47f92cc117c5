"""Gaps on a holdout that has the labels and groups of its table in their shares: what intervals hold there."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.svm import LinearSVC
from support.simulation.populations import FAVOURABLE, MANY, PLAN, POPULATIONS

from fairenum.metrics import Decisions, Groups, gap_intervals, score
from fairenum.tables import Dataset, split

PARITY = "demographic_parity_difference"
ROWS, RUNS, LEARNED = 4000, 600, 3000
KEPT = ("sex", "region", "approved")


def decided(frame: pd.DataFrame, plane: np.ndarray, bias: float) -> np.ndarray:
    return frame[[name for name in frame if name not in KEPT]].to_numpy() @ plane + bias >= 0.0


def is_held(name: str, everybody: pd.DataFrame, plane: np.ndarray, bias: float, seed: int) -> tuple[bool, bool]:
    """Tell whether the interval holds the gap: on a holdout as audits draw it, and on one drawn at random."""
    choices, men = decided(everybody, plane, bias), everybody["sex"] == "m"
    truth = abs(choices[men].mean() - choices[~men].mean())
    frame = POPULATIONS[name](ROWS, seed)
    drawn = split(Dataset.from_frame(frame, **PLAN), (0.6, 0.2, 0.2), seed).holdout
    found = []
    for rows, share in ((drawn, len(drawn) / ROWS), (np.random.default_rng(seed).permutation(ROWS)[: len(drawn)], 1.0)):
        part = frame.iloc[rows]
        groups = Groups((part["sex"] == "m").to_numpy().astype(int), ("f", "m"))
        labels = (part["approved"] == FAVOURABLE).to_numpy().astype(np.uint8)
        decisions = Decisions(decided(part, plane, bias)[None], labels, groups, drawn=share)
        interval = gap_intervals(score(decisions), PARITY)
        found.append(bool(interval.lower[0] <= truth <= interval.upper[0]))
    return found[0], found[1]


def held(name: str) -> np.ndarray:
    """Try many planes on as many samples of a population, shape (runs, 2); no plane has seen the rows of its sample."""
    everybody = POPULATIONS[name](MANY, 10**6)
    features = [column for column in everybody if column not in KEPT]
    svm = LinearSVC(dual=False).fit(everybody[features][:LEARNED], everybody["approved"][:LEARNED] == FAVOURABLE)
    bias, noise = float(svm.intercept_[0]), np.random.default_rng(1).normal(size=(RUNS, len(features)))
    planes = svm.coef_[0] * (1.0 + 0.3 * noise)
    found = np.array([is_held(name, everybody, planes[seed], bias, seed) for seed in range(RUNS)])
    print(f"{name}: {found[:, 0].mean():.3f} as audits draw the holdout, {found[:, 1].mean():.3f} at random")
    return found


def test_the_gap_of_a_plane_is_held_as_often_as_stated():
    drawn, random = np.vstack([held(name) for name in POPULATIONS]).mean(0)
    print(f"all: {drawn:.3f} and {random:.3f}")
    assert 0.94 <= drawn <= 0.96
    assert 0.94 <= random <= 0.96
