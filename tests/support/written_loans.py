"""A table as people write it: money, percentages, codes, truth values, missing cells and words for counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

LABELLED = {"label": "approved", "favourable": "yes"}
CODED = ["zip"]


def written_loans(rows: int = 500, seed: int = 0) -> pd.DataFrame:
    """Make up loans, every cell a text as in a CSV file."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["m", "f"], rows)
    pay, rate = rng.normal(50_000, 15_000, rows) + 8_000 * (sex == "m"), rng.uniform(0, 100, rows)
    debt, age = rng.normal(0, 4_000, rows), rng.integers(18, 80, rows)
    good = pay + 200 * rate + rng.normal(0, 12_000, rows) > 62_000
    frame = pd.DataFrame(
        {
            "pay": [f"${value:,.0f}" if value >= 0 else f"-${-value:,.0f}" for value in pay],
            "rate": [f"{value:.1f} %" for value in rate],
            "debt": [f"({-value:,.2f})" if value < 0 else f"{value:,.2f}" for value in debt],
            "town": rng.choice(["Ayr", "Bath", "Cork"], rows),
            "code": rng.choice(["01", "02", "3A"], rows),
            "member": rng.choice(["True", "False"], rows),
            "children": rng.choice(["0", "1", "2", "3 or more"], rows),
            "zip": rng.choice(["00701", "00702", "00803"], rows),
            "age": age.astype(str),
            "sex": sex,
            "weight": rng.integers(0, 4, rows).astype(str),
            "approved": np.where(good, "yes", "no"),
        }
    )
    for name, mark in (("pay", ""), ("rate", "NA"), ("town", "?"), ("sex", "")):
        frame.loc[rng.random(rows) < 0.05, name] = mark
    return frame


def write_csv(frame: pd.DataFrame, path: Path) -> str:
    """Write a frame of texts as CSV, and return the path as a text."""
    frame.to_csv(path, index=False)
    return str(path)
