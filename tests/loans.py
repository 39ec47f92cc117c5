"""A small table with a gap, and how the command line audits it."""

from pathlib import Path

import numpy as np
import pandas as pd

# Few models and replications: such tests are about the program, not about the numbers.
OPTIONS = ["--label", "approved", "--favourable", "yes", "--sensitive", "sex", "-k", "6", "--replications", "50"]
OPTIONS += ["--search", "exact"]


def write_loans(path: Path, rows: int = 400, gap: float = 1.0) -> Path:
    """Write a table in which women with equal income are approved less often."""
    rng = np.random.default_rng(0)
    is_woman = rng.random(rows) < 0.5
    income, debt = rng.normal(size=rows) - 0.5 * gap * is_woman, rng.normal(size=rows)
    approved = income - 0.5 * debt - 0.5 * gap * is_woman + 0.7 * rng.normal(size=rows) > 0
    frame = pd.DataFrame(
        {
            "income": income.round(3),
            "debt": debt.round(3),
            "town": rng.choice(["Ayr", "Bath", "Cork"], rows),
            "sex": np.where(is_woman, "woman", "man"),
            "approved": np.where(approved, "yes", "no"),
        }
    )
    frame.to_csv(path, index=False)
    return path
