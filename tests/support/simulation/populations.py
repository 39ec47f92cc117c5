"""Populations that are known: rows to audit, and as many more as it takes to know what is true of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from fairenum import audit
from fairenum.api import AuditResult
from fairenum.document.terms import Gap

MANY = 200_000
PLAN = {"label": "approved", "favourable": "yes", "sensitive": ["sex", "region"]}
FAVOURABLE = "yes"


def lenders(rows: int, seed: int) -> pd.DataFrame:
    """A proxy of sex that carries part of the merit: less of it is fairer, and costs a little."""
    rng = np.random.default_rng(seed)
    sex, region = rng.choice(["f", "m"], rows, p=[0.4, 0.6]), rng.choice(["n", "s", "w"], rows, p=[0.5, 0.3, 0.2])
    skill, debt, noise = rng.normal(size=(3, rows))
    proxy = 1.2 * (sex == "m") + rng.normal(size=rows)
    years = rng.normal(size=rows) + 0.3 * (region == "n")
    merit = 1.2 * skill + 0.5 * proxy - 0.6 * debt + 0.3 * years + 1.5 * noise
    return _frame(sex, region, {"skill": skill, "proxy": proxy, "debt": debt, "years": years}, merit > 0.4)


def alike(rows: int, seed: int) -> pd.DataFrame:
    """One feature carries merit and sex alike, so that hardly anything is fairer: where false claims would be made."""
    rng = np.random.default_rng(seed)
    sex, region = rng.choice(["f", "m"], rows), rng.choice(["n", "s", "w"], rows, p=[0.4, 0.4, 0.2])
    skill = rng.normal(size=rows) + 0.5 * (sex == "m")
    x, noise = rng.normal(size=rows), rng.normal(size=rows)
    return _frame(sex, region, {"skill": skill, "x": x}, skill + 0.1 * x + 1.2 * noise > 0.2)


def rare(rows: int, seed: int) -> pd.DataFrame:
    """One in five approved, and groups of uneven sizes."""
    rng = np.random.default_rng(seed)
    sex, region = rng.choice(["f", "m"], rows, p=[0.25, 0.75]), rng.choice(["n", "s", "w"], rows, p=[0.6, 0.25, 0.15])
    a, b, c, noise = rng.normal(size=(4, rows))
    shifted = b + 0.8 * (sex == "m") - 0.4 * (region == "w")
    merit = a + 0.7 * shifted + 0.3 * c + 1.2 * noise
    return _frame(sex, region, {"a": a, "b": shifted, "c": c}, merit > 2.0)


def _frame(
    sex: np.ndarray, region: np.ndarray, features: Mapping[str, np.ndarray], approved: np.ndarray
) -> pd.DataFrame:
    return pd.DataFrame({"sex": sex, "region": region, **features, "approved": np.where(approved, FAVOURABLE, "no")})


POPULATIONS: Mapping[str, Callable[[int, int], pd.DataFrame]] = {"lenders": lenders, "alike": alike, "rare": rare}


@dataclass(frozen=True)
class Truth:
    """What two models do to the whole population."""

    gaps: Mapping[tuple[str, Gap], tuple[float, float]]
    accuracy: tuple[float, float]
    balanced_accuracy: tuple[float, float]

    def change(self, column: str, metric: Gap) -> float:
        first, other = self.gaps[column, metric]
        return other - first


def audited(name: str, rows: int, seed: int, **options: object) -> AuditResult:
    """Audit a sample of a population."""
    return audit(POPULATIONS[name](rows, seed), **PLAN, seed=seed, k=20, replications=200, **options)


def truth(name: str, result: AuditResult, rank: int) -> Truth:
    """Measure model 1 and another one on far more rows, by plain means of pandas."""
    everybody = _everybody(name)
    label = (everybody["approved"] == FAVOURABLE).to_numpy()
    both = [result.estimator(one).predict(everybody) == FAVOURABLE for one in (1, rank)]
    columns = {
        column.column: _groups(everybody, column.column, [group.name for group in column.compared])
        for column in result.document.dataset.sensitive
    }
    gaps = [_gaps(decided, label, columns) for decided in both]
    rights = [(decided == label) for decided in both]
    balanced = [0.5 * (right[label].mean() + right[~label].mean()) for right in rights]
    return Truth(
        {cell: (gaps[0][cell], gaps[1][cell]) for cell in gaps[0]},
        (float(rights[0].mean()), float(rights[1].mean())),
        (float(balanced[0]), float(balanced[1])),
    )


@lru_cache(maxsize=1)
def _everybody(name: str) -> pd.DataFrame:
    return POPULATIONS[name](MANY, 10**6)


def _groups(frame: pd.DataFrame, column: str, compared: list[str]) -> pd.Series:
    """Return the group of each row, as an audit names it; none where it is not compared."""
    names = frame[column] if column in frame else _crossed(frame)
    return names.where(names.isin(compared))


def _crossed(frame: pd.DataFrame) -> pd.Series:
    return "sex: " + frame["sex"] + " & region: " + frame["region"]


def _gaps(decided: np.ndarray, label: np.ndarray, columns: Mapping[str, pd.Series]) -> dict[tuple[str, Gap], float]:
    found: dict[tuple[str, Gap], float] = {}
    for column, groups in columns.items():
        selection, opportunity, alarm, precision = (
            _spread(what, groups[mask])
            for what, mask in (
                (decided, np.ones(len(label), dtype=bool)),
                (decided[label], label),
                (decided[~label], ~label),
                (label[decided], decided),
            )
        )
        found[column, "demographic_parity_difference"] = selection
        found[column, "equal_opportunity_difference"] = opportunity
        found[column, "equalized_odds_difference"] = max(opportunity, alarm)
        found[column, "predictive_parity_difference"] = precision
    return found


def _spread(what: np.ndarray, groups: pd.Series) -> float:
    means = pd.Series(what.astype(float), index=groups.index).groupby(groups).mean()
    return float(means.max() - means.min())
