"""Tables of decisions with scores and labels, to measure."""

import numpy as np
import pandas as pd


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
