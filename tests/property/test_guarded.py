"""How far models are beyond guardrails, against plain sums, and the rule that keeps within them."""

from __future__ import annotations

import warnings
from typing import get_args

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from fairenum.document.guards import QUANTITIES, Guard
from fairenum.document.terms import Gap
from fairenum.document.training import Tolerances
from fairenum.enumeration.division import EncodedRows
from fairenum.enumeration.fairest import candidate_scores, guard_excess
from fairenum.metrics import Groups

GAPS = get_args(Gap)
COLUMNS = ("sex", "race", "sex & race")


@st.composite
def tables(draw) -> tuple[EncodedRows, np.ndarray]:
    n, k = draw(st.integers(4, 24)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sex, race = rng.integers(0, 2, n), rng.integers(0, 3, n)
    aside = (2,) if draw(st.booleans()) else ()
    columns = [
        Groups(sex, ("f", "m"), "sex"),
        Groups(race, tuple("abc"), "race", aside=aside),
        Groups(3 * sex + race, tuple("uvwxyz"), "sex & race"),
    ]
    # few rows, and so many that gaps are not coarse
    copies = np.repeat(np.arange(n), draw(st.sampled_from([1, 25])))
    columns = [groups.take(copies) for groups in columns]
    weights = rng.integers(1, 4, n).astype(float)[copies] if draw(st.booleans()) else None
    y, values = np.where(rng.random(n) < 0.5, 1.0, -1.0)[copies], rng.normal(size=(k, n))[:, copies]
    return EncodedRows(np.zeros((len(y), 1)), y, columns[0], weights, tuple(columns[1:])), values


@st.composite
def guards(draw) -> Guard:
    quantity = draw(st.sampled_from(QUANTITIES))
    is_grouped = quantity in GAPS or "group" in quantity or quantity == "other_gaps"
    column = draw(st.none() | st.sampled_from(COLUMNS)) if is_grouped else None
    limit, is_relative = draw(st.integers(0, 10)) / 20, draw(st.booleans())
    side = draw(st.sampled_from(["low", "high"]))
    return Guard(
        quantity, column, **{side: -limit if is_relative and side == "low" else limit}, is_relative=is_relative
    )


KINDS = dict(zip(GAPS, (("selection",), ("positive",), ("positive", "negative"), ("precision",)), strict=True))


def trials_of(decided: np.ndarray, truth: np.ndarray) -> dict[str, np.ndarray]:
    return {"selection": np.ones_like(truth), "positive": truth, "negative": ~truth, "precision": decided}


def plain_gap(name: str, decided: np.ndarray, truth: np.ndarray, groups: Groups, counting: np.ndarray) -> float:
    """The widest distance between two groups whose rate is defined; NaN if one of several has a rate."""
    compared = [groups.codes == code for code in np.flatnonzero(groups.compared) if (groups.codes == code).any()]
    outcomes = {"precision": truth}
    trials, widest = trials_of(decided, truth), []
    for kind in KINDS[name]:
        inside = [group & trials[kind].astype(bool) for group in compared]
        own = outcomes.get(kind, decided)
        rates = [np.average(own[rows], weights=counting[rows]) for rows in inside if rows.any()]
        widest.append(max(rates) - min(rates) if len(rates) >= min(2, len(compared)) and rates else np.nan)
    return np.nan if np.isnan(widest).any() else max(widest)


def is_coarse(name: str, groups: Groups, rows: EncodedRows, first: np.ndarray) -> bool:
    """Whether fewer than thirty rows stand behind a rate of model 1 in a compared group."""
    compared = [groups.codes == code for code in np.flatnonzero(groups.compared) if (groups.codes == code).any()]
    trials = trials_of(first, rows.y > 0)
    return any(rows.counting[own & trials[kind]].sum() < 30 for kind in KINDS[name] for own in compared)


def guarded_values(guard: Guard, rows: EncodedRows, decided: np.ndarray, first: np.ndarray) -> list[float]:
    """All that a guard is about, for one model, by definition."""
    counting, columns = rows.counting, {groups.column: groups for groups in (rows.groups, *rows.others)}
    wanted = list(columns) if guard.column is None else [guard.column]

    def rates(column: str) -> list[float]:
        groups = columns[column]
        return [
            np.average(decided[groups.codes == code], weights=counting[groups.codes == code])
            for code in np.flatnonzero(groups.compared)
            if (groups.codes == code).any()
        ]

    def gap(name: str, column: str) -> float:
        return plain_gap(name, decided, rows.y > 0, columns[column], counting)

    if guard.quantity in GAPS:
        return [gap(guard.quantity, guard.column or "sex")]
    match guard.quantity:
        case "other_gaps":
            others = [(name, column) for column in wanted for name in GAPS if (name, column) != (GAPS[0], "sex")]
            return [gap(*one) for one in others if not is_coarse(one[0], columns[one[1]], rows, first)]
        case "group_selection_rates":
            return [rate for column in wanted for rate in rates(column)]
        case "worst_group_selection_rate":
            return [min(rates(guard.column or "sex"))]
        case "selection_rate":
            return [np.average(decided, weights=counting)]
        case "balanced_accuracy" if len(np.unique(rows.y)) < 2:
            return [np.nan]
        case "balanced_accuracy":
            return [balanced_accuracy_score(rows.y > 0, decided, sample_weight=counting)]
    return [accuracy_score(rows.y > 0, decided, sample_weight=counting)]


def plain_excess(guard: Guard, rows: EncodedRows, values: np.ndarray) -> list[float]:
    decided = values >= 0.0
    first = guarded_values(guard, rows, decided[0], decided[0])
    is_alike = decided[0].all() or not decided[0].any()
    found = []
    for model in decided:
        own = np.array(guarded_values(guard, rows, model, decided[0]))
        if guard.is_relative:
            own = own - (np.full(len(own), np.nan) if is_alike else first)
        over = own - guard.high if guard.high is not None else guard.low - own
        found.append(max([0.0, *(one for one in over if one == one)]))
    return found


@given(tables(), guards())
def test_the_excess_is_what_plain_sums_say(table, guard):
    rows, values = table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn about labels that are not predicted
        expected = plain_excess(guard, rows, values)
    found = guard_excess(rows, values, Tolerances(guards=(str(guard),)))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(tables(), st.lists(guards(), min_size=1, max_size=3))
def test_a_chosen_model_never_breaks_a_guard_on_the_rows_it_is_chosen_by(table, chosen_guards):
    rows, values = table
    tolerances = Tolerances(eps=1.0, max_performance_drop=1.0, guards=tuple(map(str, chosen_guards)))
    excess = guard_excess(rows, values, tolerances)
    decisions = rows.decisions(values)
    stands = candidate_scores(decisions, values, np.zeros(len(values)), tolerances, excess=excess)
    place = int(stands.fairest(tolerances))
    assert place <= 0 or excess[place] <= 1e-12
    free = candidate_scores(decisions, values, np.zeros(len(values)), tolerances)
    allowed = [i for i in np.flatnonzero(free.candidates(tolerances)) if i == 0 or excess[i] <= 1e-12]
    assert np.flatnonzero(stands.candidates(tolerances)).tolist() == allowed
