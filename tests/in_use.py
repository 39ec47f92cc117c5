"""A table with a tool that decides, and how it is audited."""

from __future__ import annotations

import numpy as np
import pandas as pd
from decided import decided_frame

from fairenum import AuditResult, audit

PLAN = {"label": "good", "favourable": "yes", "sensitive": "sex"}
QUICK = {"k": 4, "search": "exact", "replications": 50, "C": 1.0}


def table(rows: int = 600, seed: int = 1) -> pd.DataFrame:
    """People with two features that a tool has not seen alone, its decisions, and its score."""
    frame = decided_frame(rows, seed)
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(2, rows))
    frame["skill"] = (frame["points"] / 10 + noise[0]).round(2)
    frame["years"] = (noise[1] + 0.3 * (frame["good"] == "yes")).round(2)
    return frame.drop(columns="race")


def audited(frame: pd.DataFrame, **options: object) -> AuditResult:
    return audit(frame, **{**PLAN, **QUICK, "drop": ["points", "rival"], **options})


def holdout(result: AuditResult, frame: pd.DataFrame) -> pd.DataFrame:
    live = result.live
    return frame.iloc[live.division.dataset.numbered(live.division.rows["holdout"])]
