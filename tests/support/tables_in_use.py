"""Tables of people whom a model in use decides about: one that approves nearly everybody, and weak ones."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

Rule = Literal["noisy", "one column", "good"]
LENT = {"label": "repaid", "favourable": "yes", "sensitive": "race"}
HIRED = {"label": "good", "favourable": "yes", "sensitive": "sex", "incumbent": "hired"}


def lending(rows: int = 3000, seed: int = 0) -> pd.DataFrame:
    """Borrowers with a vendor's score that tells races apart; its highest 92 % would be approved."""
    rng = np.random.default_rng(seed)
    is_black = rng.random(rows) < 0.35
    income, debt = rng.normal(size=rows) - 0.5 * is_black, rng.normal(size=rows)
    years = rng.normal(size=rows) - 0.3 * is_black
    chance = 1.0 / (1.0 + np.exp(-(1.1 + 1.3 * income - 0.8 * debt + 0.3 * years)))
    repaid = rng.random(rows) < chance
    vendor = 0.5 * income - 0.2 * debt - 1.5 * is_black + rng.normal(size=rows)
    return pd.DataFrame(
        {
            "income": income,
            "debt": debt,
            "years": years,
            "race": np.where(is_black, "Black", "White"),
            "repaid": np.where(repaid, "yes", "no"),
            "vendor": vendor,
        }
    )


def rated(rows: int = 1200, seed: int = 0) -> pd.DataFrame:
    """Borrowers with a vendor's score that knows more than the columns do, and that tells races apart."""
    rng = np.random.default_rng(seed)
    frame = lending(rows, seed)
    is_black, known = (frame["race"] == "Black").to_numpy(), rng.normal(size=rows)
    chance = 1.0 / (1.0 + np.exp(-(0.3 + 1.3 * frame["income"] - 0.8 * frame["debt"] + 1.5 * known)))
    vendor = 1.3 * frame["income"] + 1.5 * known - 0.5 * is_black + 0.3 * rng.normal(size=rows)
    return frame.assign(repaid=np.where(rng.random(rows) < chance, "yes", "no"), vendor=vendor)


def hiring(rule: Rule, rows: int = 2000, seed: int = 0) -> pd.DataFrame:
    """Applicants whom a noisy rule, a rule of one column, or one as good as a model can be, decides about."""
    rng = np.random.default_rng(seed)
    is_woman = rng.random(rows) < 0.4
    skill, years = rng.normal(size=rows) - 0.5 * is_woman, rng.normal(size=rows)
    proxy = rng.normal(size=rows) + 0.9 * is_woman
    worth = 0.9 * skill + 0.5 * years - 0.35 * proxy
    good = rng.random(rows) < 1.0 / (1.0 + np.exp(-1.6 * worth))
    noise = rng.normal(size=rows)
    hired = {"noisy": skill - 0.3 * proxy + 1.3 * noise > -0.4, "one column": proxy < 0.6, "good": worth > 0.0}[rule]
    return pd.DataFrame(
        {
            "skill": skill,
            "years": years,
            "proxy": proxy,
            "sex": np.where(is_woman, "woman", "man"),
            "good": np.where(good, "yes", "no"),
            "hired": np.where(hired, "yes", "no"),
        }
    )
