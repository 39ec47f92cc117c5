"""Tables of people whom a tool decides about, with scores and labels, and how they are measured and audited."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairenum import AuditResult, audit
from support.audits import MOSTLY_TRAINED


def decided_frame(rows: int = 400, seed: int = 0, gap: float = 0.6) -> pd.DataFrame:
    """Make up applicants who were scored and decided about, with a label, two group columns and two tools."""
    rng = np.random.default_rng(seed)
    sex, race = rng.choice(["man", "woman"], rows), rng.choice(["a", "b", "c"], rows, p=[0.5, 0.3, 0.2])
    points = np.round(50 + 10 * rng.normal(size=rows) - 10 * gap * (sex == "woman"), 1)
    good = points + 10 * rng.normal(size=rows) > 48
    return pd.DataFrame(
        {
            "sex": sex,
            "race": race,
            "points": points,
            "good": np.where(good, "yes", "no"),
            "hired": (points > 50).astype(int),
            "rival": np.where(points + 4 * gap * (sex == "woman") > 50, "yes", "no"),
        }
    )


# Admissions to the six largest departments of the University of California, Berkeley, in autumn 1973 (Bickel, Hammel
# and O'Connell, Science 187, 1975): applicants and admitted, men and women.
BERKELEY = {
    "A": ((825, 512), (108, 89)),
    "B": ((560, 353), (25, 17)),
    "C": ((325, 120), (593, 202)),
    "D": ((417, 138), (375, 131)),
    "E": ((191, 53), (393, 94)),
    "F": ((373, 22), (341, 24)),
}


def berkeley_counts() -> pd.DataFrame:
    """Return the admissions as counts: a line for each department and gender."""
    lines = [
        (department, gender, *counts)
        for department, both in BERKELEY.items()
        for gender, counts in zip(("man", "woman"), both, strict=True)
    ]
    return pd.DataFrame(lines, columns=["department", "gender", "n", "selected"])


def berkeley_rows() -> pd.DataFrame:
    """Return the admissions as rows, one for each applicant."""
    counts = berkeley_counts()
    rows = counts.loc[counts.index.repeat(counts["n"])].reset_index(drop=True)
    place = rows.groupby(["department", "gender"]).cumcount()
    return rows[["department", "gender"]].assign(admitted=(place < rows["selected"]).astype(int))


# --- audits of a tool that is in use ---

PLAN = {"label": "good", "favourable": "yes", "sensitive": "sex"}
QUICK = {"k": 4, "search": "exact", "replications": 50, "C": 1.0, "sizes": MOSTLY_TRAINED}


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
