"""Made-up tables of people who are approved or not: a small one for the command line, rare labels, odd traits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

# --- a small table with a gap, and how the command line audits it ---

# Few models and replications: such tests are about the program, not about the numbers.
OPTIONS = ["--label", "approved", "--favourable", "yes", "--sensitive", "sex", "-k", "6", "--replications", "50"]
OPTIONS += ["--search", "exact"]
# what an audit of `write_loans` says on stderr before it lists models


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


# --- a rare label, as lending and hiring have it ---


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


# --- tables as strangers bring them: each with a trait that the bundled ones lack ---

PLAN = {"label": "approved", "favourable": "yes", "sensitive": ["sex"]}


def applicants(rows: int, share: float = 0.5, seed: int = 0, noise: float = 1.0) -> pd.DataFrame:
    """People who are approved or not, a given share of them, by skills that differ a little between the sexes."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], rows, p=[0.45, 0.55])
    income = np.exp(rng.normal(10.0, 0.5, rows) + 0.15 * (sex == "m"))
    debt = rng.gamma(2.0, 0.15, rows)
    years = rng.integers(0, 30, rows)
    town = rng.choice(["north", "south", "east", "west"], rows, p=[0.4, 0.3, 0.2, 0.1])
    merit = np.log(income) - 2.0 * debt + 0.03 * years + 0.3 * (town == "north") + noise * rng.normal(size=rows)
    approved = np.where(merit >= np.quantile(merit, 1.0 - share), "yes", "no")
    columns = {"sex": sex, "income": income.round(2), "debt": debt.round(4), "years": years, "town": town}
    return pd.DataFrame({**columns, "approved": approved})


def approving(share: float) -> Callable[[int], pd.DataFrame]:
    """A share of approvals at which the plain machine decides everybody alike."""
    return lambda rows: applicants(rows, share, noise=3.0)


def leaking(rows: int) -> pd.DataFrame:
    """A column that is written down after the decision."""
    frame, rng = applicants(rows, 0.7), np.random.default_rng(1)
    granted = np.where(frame["approved"] == "yes", 1000.0, 0.0)
    return frame.assign(amount_granted=np.where(rng.random(rows) < 0.01, 500.0, granted))


def numbered(rows: int) -> pd.DataFrame:
    """Identifiers as numbers and as texts, and a date."""
    frame = applicants(rows, 0.6)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(rows) % 700, unit="D")
    names = [f"A-{number:07d}" for number in range(rows)]
    return frame.assign(case=np.arange(100_000, 100_000 + rows), file=names, day=days.strftime("%Y-%m-%d"))


def with_proxy(rows: int) -> pd.DataFrame:
    """A copy of the sensitive column under another name."""
    frame = applicants(rows, 0.6)
    return frame.assign(title=np.where(frame["sex"] == "f", "Ms", "Mr"))


def with_missing_groups(rows: int) -> pd.DataFrame:
    """A third of the sexes unknown, and a handful of a third value."""
    frame, rng = applicants(rows, 0.6), np.random.default_rng(2)
    sex = frame["sex"].astype(object).to_numpy(copy=True)
    sex[rng.random(rows) < 0.3] = None
    sex[:7] = "x"
    return frame.assign(sex=sex)


def soiled(rows: int) -> pd.DataFrame:
    """Numbers as people write them, constant and empty columns, free text."""
    frame = applicants(rows, 0.6)
    rng = np.random.default_rng(3)
    words = np.array(["late", "paid", "asks", "again", "called", "wrote", "no", "answer", "moved", "new", "job"])
    notes = [" ".join(rng.choice(words, 6)) + f" {row}" for row in range(rows)]
    return frame.assign(income=[f"${value:,.2f}" for value in frame["income"]], country="AT", fax=np.nan, notes=notes)


def with_weights(rows: int) -> pd.DataFrame:
    """What each row stands for in a survey."""
    frame, rng = applicants(rows, 0.6), np.random.default_rng(4)
    return frame.assign(weight=rng.lognormal(0.0, 0.5, rows).round(3))


def with_towns(rows: int) -> pd.DataFrame:
    """A column of three thousand codes."""
    frame, rng = applicants(rows, 0.6), np.random.default_rng(5)
    return frame.assign(zip=[f"Z{number:05d}" for number in 10_000 + rng.zipf(1.3, rows) % 3000])


def tied(rows: int) -> pd.DataFrame:
    """Most pass, and the few features have few values: half of the rows repeat another."""
    rng = np.random.default_rng(6)
    sex, race = rng.choice(["f", "m"], rows), rng.choice(["a", "b", "c"], rows, p=[0.84, 0.1, 0.06])
    grade = np.clip(rng.normal(3.2, 0.4, rows) - 0.2 * (race != "a"), 1.5, 4.0).round(1)
    score = np.clip(rng.normal(36, 5, rows) - 4 * (race != "a"), 11, 48).round(0)
    tier, parttime = rng.integers(1, 7, rows), rng.choice(["no", "yes"], rows, p=[0.9, 0.1])
    merit = 2.0 * grade + 0.2 * score + 0.2 * tier + rng.normal(0, 2.0, rows)
    approved = np.where(merit >= np.quantile(merit, 0.11), "yes", "no")
    columns = {"sex": sex, "race": race, "grade": grade, "score": score, "tier": tier, "parttime": parttime}
    return pd.DataFrame({**columns, "approved": approved})


def wide(rows: int, columns: int = 20, share: float = 0.78) -> pd.DataFrame:
    """Many numbers, none of them decisive."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(rows, columns))
    sex = np.where(X[:, 0] + rng.normal(size=rows) > 0, "f", "m")
    merit = X @ rng.normal(size=columns) / np.sqrt(columns) + 1.5 * rng.normal(size=rows)
    frame = pd.DataFrame(X.round(6), columns=[f"x{place}" for place in range(columns)])
    return frame.assign(sex=sex, approved=np.where(merit >= np.quantile(merit, 1.0 - share), "yes", "no"))


TABLES: dict[str, Callable[[int], pd.DataFrame]] = {
    "80 % approved": approving(0.8),
    "90 % approved": approving(0.9),
    "5 % approved": approving(0.05),
    "99 % approved": approving(0.99),
    "a leak": leaking,
    "identifiers": numbered,
    "a proxy": with_proxy,
    "missing groups": with_missing_groups,
    "soiled": soiled,
    "weights": with_weights,
    "3000 codes": with_towns,
    "ties": tied,
    "many numbers": wide,
}
