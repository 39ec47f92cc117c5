"""What the default guardrails guard, measured by plain means and apart from the package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from fairenum.api import AuditResult
from fairenum.tables import Dataset

GAPS = {  # by rates: which rows are tried
    "demographic_parity_difference": ("all",),
    "equal_opportunity_difference": ("positive",),
    "equalized_odds_difference": ("positive", "negative"),
    "predictive_parity_difference": ("selected",),
}
OTHER_GAPS, OVERALL, GROUPS = 0.05, 0.1, 0.1
"""What an audit guards by default: other gaps may widen, the selection rate may change, those of groups may fall."""
FEWEST = 30
DRAWS = 200

Name = tuple[str, ...]


@dataclass(frozen=True)
class Rows:
    """Some rows with what two models decide: labels, groups by column (missing where not compared), decisions."""

    label: pd.Series
    groups: Mapping[str, pd.Series]
    first: pd.Series
    other: pd.Series

    def drawn(self, rng: np.random.Generator) -> Rows:
        """Draw as many of the rows again."""
        places = rng.integers(0, len(self.label), len(self.label))
        return Rows(
            self.label.iloc[places],
            {column: groups.iloc[places] for column, groups in self.groups.items()},
            self.first.iloc[places],
            self.other.iloc[places],
        )


def rows_of(result: AuditResult, dataset: Dataset, rank: int) -> dict[str, Rows]:
    """Let model 1 and another one decide the selection split, the holdout and all rows that are in no split."""
    document = result.document
    split = pd.Series("fresh", range(len(dataset)))
    for part in ("train", "selection", "holdout"):
        split[document.dataset.split_rows.of_split(part)] = part
    table = dataset.frame()
    decided = [result.estimator(one).predict(table) == dataset.label.favourable for one in (1, rank)]
    single = {one.column: pd.Series(np.array(one.names)[one.codes]) for one in dataset.sensitive}
    crossed = None
    for column, values in single.items():
        text = column + ": " + values
        crossed = text if crossed is None else crossed + " & " + text
    groups = {}
    for column in document.dataset.sensitive:
        names = single.get(column.column, crossed)
        groups[column.column] = names.where(names.isin([group.name for group in column.compared]))
    whole = Rows(pd.Series(dataset.y == 1), groups, *map(pd.Series, decided))
    return {part: taken(whole, split == part) for part in ("selection", "holdout", "fresh")}


def taken(rows: Rows, kept: pd.Series) -> Rows:
    return Rows(
        rows.label[kept], {name: one[kept] for name, one in rows.groups.items()}, rows.first[kept], rows.other[kept]
    )


def tried(kind: str, decided: pd.Series, label: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return which rows a rate is about, and which of all rows it counts."""
    match kind:
        case "all":
            return pd.Series(True, label.index), decided
        case "positive":
            return label, decided
        case "negative":
            return ~label, decided
    return decided, label


def gap(name: str, decided: pd.Series, label: pd.Series, groups: pd.Series) -> float:
    widths = []
    for kind in GAPS[name]:
        inside, outcome = tried(kind, decided, label)
        rates = outcome[inside].astype(float).groupby(groups[inside]).mean()
        widths.append(rates.max() - rates.min())
    return max(widths)


def is_coarse(name: str, rows: Rows, groups: pd.Series) -> bool:
    """Whether a rate of model 1 in a compared group has too few rows to be guarded."""
    compared = groups.dropna().unique()
    behind = [groups[tried(kind, rows.first, rows.label)[0]].value_counts() for kind in GAPS[name]]
    return any(counts.reindex(compared).fillna(0).min() < FEWEST for counts in behind)


def guarded_names(parts: list[Rows], claim: Name) -> list[Name]:
    """List what is guarded: gaps that enough rows stand behind on all parts, and selection rates."""
    first = parts[0]
    gaps = [
        (name, column)
        for column in first.groups
        for name in GAPS
        if (name, column) != claim and not any(is_coarse(name, one, one.groups[column]) for one in parts)
    ]
    rates = [("rate", column, group) for column, groups in first.groups.items() for group in groups.dropna().unique()]
    return [*gaps, ("rate",), *rates]


def beyond(rows: Rows, names: list[Name]) -> np.ndarray:
    """Return how far the change from model 1 to the other one is beyond each limit; negative within."""
    return np.array([_beyond(rows, name) for name in names])


def _beyond(rows: Rows, name: Name) -> float:
    if name[0] in GAPS:
        widths = [gap(name[0], decided, rows.label, rows.groups[name[1]]) for decided in (rows.first, rows.other)]
        return widths[1] - widths[0] - OTHER_GAPS
    if name == ("rate",):
        return abs(rows.other.mean() - rows.first.mean()) - OVERALL
    own = rows.groups[name[1]] == name[2]
    return rows.first[own].mean() - rows.other[own].mean() - GROUPS


def shown(rows: Rows, names: list[Name], seed: int) -> np.ndarray:
    """Mark the limits that these rows show to be broken: one-sidedly, with 95 % for all of them together."""
    rng = np.random.default_rng(seed)
    errors = np.std([beyond(rows.drawn(rng), names) for _ in range(DRAWS)], axis=0)
    return beyond(rows, names) > stats.norm.ppf(1.0 - 0.05 / len(names)) * errors
