"""Small tables that are odd in every way that a generator of chance thinks of, by a seed."""

from __future__ import annotations

from random import Random

import hostile
import numpy as np
import pandas as pd

SCALES = (1e-300, 1e-30, 1e-8, 1.0, 1.0, 1.0, 1e8, 1e30, 1e90, 1e150)


def odd_table(rng: Random) -> pd.DataFrame:
    """Make a table with a label "y", a sensitive column "g", and features that are odd."""
    rows = rng.choice((2, 3, 8, 20, 40, 60, 60, 120))
    source = np.random.default_rng(rng.randrange(2**32))
    frame = pd.DataFrame({"y": _label(rng, source, rows), "g": _groups(rng, source, rows)})
    for place in range(rng.randint(1, 4)):
        frame[_name(rng, place)] = _feature(rng, source, rows)
    return frame


def odd_options(rng: Random) -> list[str]:
    """Choose how such a table is audited."""
    found = ["--label", "y", "--favourable", "yes", "--sensitive", "g", "-k", "3", "--replications", "10"]
    found += ["--C", rng.choice(("1", "1", "1", "1e-9", "1e-6", "1e6", "1e9", "auto", "1e-300"))]
    found += ["--kernel", rng.choice(("linear", "linear", "rbf", "poly"))]
    found += rng.choice(([], [], ["--raw"], ["--gamma", rng.choice(("1e-30", "1e-12", "1e12", "1e30", "1e300"))]))
    found += rng.choice(([], [], ["--search", "exact"], ["--degree", "9"], ["--use-sensitive"]))
    return found


def _label(rng: Random, source: np.random.Generator, rows: int) -> np.ndarray:
    is_yes = source.random(rows) < rng.choice((0.5, 0.5, 0.9, 0.05))
    if rng.random() < 0.9:
        is_yes[:2] = (True, False)
    return np.where(is_yes, "yes", "no")


def _groups(rng: Random, source: np.random.Generator, rows: int) -> np.ndarray:
    names = [_text(rng) or "x" for _ in range(rng.choice((1, 2, 2, 3, 30)))]
    return source.choice(np.array(names, dtype=object), rows)


def _text(rng: Random) -> str:
    return hostile.text(rng).replace("\0", "")  # which no file of text holds


def _name(rng: Random, place: int) -> str:
    return f"x{place}" if rng.random() < 0.6 else f"{_text(rng)[:200]}{place}"


def _feature(rng: Random, source: np.random.Generator, rows: int) -> np.ndarray:
    kind, scale = rng.randrange(7), rng.choice(SCALES)
    if kind == 0:
        return np.full(rows, rng.choice((0.0, scale)))
    if kind == 1:
        return source.choice(np.array([_text(rng) for _ in range(rng.choice((1, 2, 5)))], dtype=object), rows)
    if kind == 2:
        return source.integers(0, 2, rows)
    numbers = source.normal(size=rows) * scale
    if kind == 3:
        numbers[source.random(rows) < 0.3] = np.nan
    if kind == 4:
        numbers += 1e6 * scale
    if kind == 5:
        numbers[0] = rng.choice((1e308, np.inf, 1e99, -1e99, 1e50, -1e20))
    return numbers
