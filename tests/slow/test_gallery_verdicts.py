"""The strips of the gallery beside a paired bootstrap that shares no code with them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fairenum import audit
from fairenum.api import AuditResult
from fairenum.document.terms import Verdict
from fairenum.report import page
from fairenum.tables.table_files import read_card

TABLES = {"compas": {}, "german": {}, "adult": {"sizes": (2000, 4000, 8000)}}
DRAWS = 4000


@pytest.fixture(scope="module", params=TABLES)
def result(request) -> AuditResult:
    return audit(request.param, **TABLES[request.param])


def rates(decided: np.ndarray, label: np.ndarray, weights: np.ndarray, metric: str) -> list[np.ndarray]:
    """Shares of one group by draw: the rates whose widest distance is the gap."""

    def rate(outcome, trial):
        return (weights @ (outcome & trial)) / np.maximum(weights @ trial, 1e-12)

    everyone = np.ones_like(label)
    return {
        "demographic_parity_difference": [rate(decided, everyone)],
        "equal_opportunity_difference": [rate(decided, label)],
        "equalized_odds_difference": [rate(decided, label), rate(decided, ~label)],
        "predictive_parity_difference": [rate(label, decided)],
    }[metric]


def in_use(result: AuditResult, rows: np.ndarray) -> np.ndarray:
    """Read from the bundled file what its tool decides: 0 is favourable."""
    cells = pd.read_csv(read_card(result.document.dataset.name).path)[result.document.incumbent.name]
    return cells.to_numpy()[rows] == 0


def bootstrapped(result: AuditResult, column: str, metric: str) -> tuple[float, float]:
    """Draw the holdout again, row by row, and return the change of a gap with its standard error."""
    live, rank = result.live, result.document.selection.rank
    rows = live.division.rows["holdout"]
    groups = next(one for one in live.division.columns if one.column == column).take(rows)
    names = [
        group.name for group in next(one for one in result.document.dataset.sensitive if one.column == column).compared
    ]
    label = live.division.part("holdout").labels.astype(bool)
    first = in_use(result, rows) if result.document.incumbent else live.listing.values["holdout"][0] >= 0.0
    decided = [first, live.listing.values["holdout"][rank - 1] >= 0.0]
    codes = [groups.names.index(name) for name in names]
    rng = np.random.default_rng(1)
    drawn = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), DRAWS).astype(np.float64)
    weights = np.vstack([np.ones(len(rows)), drawn])
    gaps = []
    for one in decided:
        by_group = [
            rates(one[own], label[own], weights[:, own], metric) for own in (groups.codes == code for code in codes)
        ]
        spreads = [np.max(rate, axis=0) - np.min(rate, axis=0) for rate in zip(*by_group, strict=True)]
        gaps.append(np.max(spreads, axis=0))
    change = gaps[1] - gaps[0]
    return float(change[0]), float(change[1:].std())


def test_the_strip_agrees_with_a_paired_bootstrap(result):
    selection = result.document.selection
    assert selection.outcome == "selected"
    for cell in selection.strip:
        change, error = bootstrapped(result, cell.column, cell.metric)
        print(f"{cell.column}, {cell.metric}: {cell.change}, {cell.verdict}; z of a bootstrap {change / error:+.1f}")
        assert cell.change.value == pytest.approx(change, abs=1e-12)
        if cell.verdict in (Verdict.FAIRER, Verdict.LESS_FAIR):
            assert (change < 0) == (cell.verdict is Verdict.FAIRER)
            assert abs(change) > 1.9 * error
        if cell.verdict is Verdict.SAME:
            assert abs(change) < result.document.config.same_within


def test_what_is_less_fair_stands_in_the_headline(result):
    selection = result.document.selection
    worse = [cell for cell in selection.strip if cell.verdict is Verdict.LESS_FAIR]
    headline = page(result.document).headline
    print(headline)
    assert ("less fair" in headline) == bool(worse)
