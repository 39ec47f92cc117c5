"""Made-up tables with a rare label, as lending and hiring have them."""

import numpy as np
import pandas as pd


def imbalanced(
    share: float, n: int = 600, kind: str = "numeric", signal: float = 1.0, noise: float = 1.0, seed: int = 0
) -> pd.DataFrame:
    """Draw rows of which a share gets the favourable outcome, by two features, some chance and, a little, their sex."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    if kind == "numeric":
        features = {"a": rng.normal(size=n), "b": rng.normal(size=n) + 0.5 * (sex == "m")}
        score = features["a"] + 0.7 * features["b"]
    else:
        features = {"a": rng.choice(list("wxyz"), n), "b": rng.choice(["north", "south", "west"], n)}
        score = 1.0 * (features["a"] == "w") - 0.8 * (features["a"] == "z") + 0.7 * (features["b"] == "north")
        score = score + 0.3 * (sex == "m")
    order = np.argsort(signal * score + noise * rng.normal(size=n))
    ok = np.full(n, "no")
    ok[order[n - round(share * n) :]] = "ok"
    return pd.DataFrame({**features, "sex": sex, "outcome": ok})


def undecidable(n: int = 300) -> pd.DataFrame:
    """Draw rows whose one feature is the same for all but three of them."""
    rng = np.random.default_rng(0)
    feature = np.zeros(n)
    feature[:3] = 1.0
    return pd.DataFrame(
        {"a": rng.permutation(feature), "sex": rng.choice(["f", "m"], n), "outcome": rng.choice(["no", "ok"], n)}
    )
