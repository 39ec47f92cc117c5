"""Decisions about training rows by models that did not learn from them: by a convex solver, and what they change."""

import cvxpy as cp
import numpy as np
import pytest
from support.audits import METRIC, applicants, audit_applicants, of_origin

from fairenum import AuditResult, audit
from fairenum.auditing import cross_fitting
from fairenum.auditing.candidates import Candidates
from fairenum.auditing.choosing import choose
from fairenum.auditing.cross_fitting import PARTS_OF_TRAINING
from fairenum.auditing.model_training import folds
from fairenum.auditing.prospects import _agree
from fairenum.document.models import Prospect


@pytest.fixture(scope="module")
def parts(guided_run: AuditResult):
    live = guided_run.live
    return live, live.listing, folds(live.division.train.y, live.config.seed, None, PARTS_OF_TRAINING)


def test_model_1_and_every_tilted_model_have_values_for_all_training_rows(parts):
    live, listing, folds = parts
    known = ~np.isnan(listing.crossed).any(1)
    assert known.tolist() == [place == 0 or model.tilt is not None for place, model in enumerate(listing.models)]
    assert listing.crossed.shape == (len(listing.models), len(live.division.train))
    assert sorted(np.concatenate([held for _, held in folds])) == list(range(len(live.division.train)))


def encoded_again(live, learnt: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Encode rows by hand: numbers standardised by the learnt rows, texts as one column each, in their order."""
    table = applicants().iloc[live.division.split.train]
    columns = []
    for name in ("skill", "proxy", "town"):
        own = table[name].to_numpy()
        if own.dtype.kind == "f":
            columns.append((own[rows] - own[learnt].mean()) / own[learnt].std())
        else:
            columns += [(own[rows] == level).astype(float) for level in sorted(set(own[learnt]))]
    return np.column_stack(columns)


@pytest.mark.parametrize("which", [0, -1])
def test_the_values_are_those_of_the_tilted_problem_on_the_other_rows(parts, which):
    live, listing, folds = parts
    tilted = [place for place, model in enumerate(listing.models) if model.tilt][which]
    train, model = live.division.train, listing.models[tilted]
    codes = [train.groups.names.index(name) for name in model.tilt.axis.groups]
    for learnt, held in folds[:2]:
        X, y, C = encoded_again(live, learnt, learnt), train.y[learnt], live.config.svm.C
        first, second = (X[train.groups.codes[learnt] == code].mean(0) for code in codes)
        w, b = cp.Variable(X.shape[1]), cp.Variable()
        price = model.tilt.price * len(learnt) / len(train)
        loss = 0.5 * cp.sum_squares(w) + C * cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
        cp.Problem(cp.Minimize(loss + price * (w @ (first - second)))).solve(solver="CLARABEL")
        values = encoded_again(live, learnt, held) @ w.value
        # the bias may be open: differences between rows are not
        np.testing.assert_allclose(np.diff(listing.crossed[tilted, held]), np.diff(values), atol=2e-4)


def test_a_prospect_is_about_all_rows_at_hand(parts, guided):
    live, listing, _ = parts
    division, table = live.division, applicants()
    rows = np.concatenate([division.rows["selection"], division.split.train])
    sex, label = table["sex"].to_numpy()[rows], table["hired"].to_numpy()[rows] == "y"
    for model in of_origin(guided, "tilted"):
        place = model.rank - 1
        both = [np.append(listing.values["selection"][one], listing.crossed[one]) >= 0.0 for one in (0, place)]
        gaps = [abs(one[sex == "m"].mean() - one[sex == "f"].mean()) for one in both]
        accuracy = [(one == label).mean() for one in both]
        assert model.prospect.is_crossed
        assert model.prospect.whole_gap_change == pytest.approx(gaps[1] - gaps[0])
        assert model.prospect.performance_change == pytest.approx(accuracy[1] - accuracy[0])
        assert model.prospect.holdout == pytest.approx(len(division.rows["holdout"]) / len(rows))


def test_models_that_were_fitted_to_the_selection_split_are_expected_to_be_worse(guided):
    """By a standard error of the gap, and half of one of the performance."""
    first = guided.first.scores.selection
    for model in of_origin(guided, "guided"):
        own, prospect = model.scores.selection, model.prospect
        gap = own.gap(METRIC).value - first.gap(METRIC).value
        assert not prospect.is_crossed
        assert prospect.gap_change == pytest.approx(gap + prospect.gap_error)
        assert prospect.whole_gap_change == pytest.approx(gap + prospect.gap_error)
        change = own.performance.value - first.performance.value
        assert prospect.performance_change == pytest.approx(change - 0.5 * prospect.performance_error)
    assert all(one.prospect.whole_gap_change is None for one in guided.models[1:] if one.origin == "exact")


def test_the_model_in_use_is_compared_on_the_same_rows():
    table = applicants()
    table["used"] = np.where(table["skill"] + table["proxy"] > 0, "y", "n")
    options = {"sizes": (300, 300, 400), "guards": "none", "range": False, "prices": False}
    found = audit(table, "hired", "y", "sex", incumbent="used", k=2, **options)
    live, document = found.live, found.document
    rows = np.concatenate([live.division.rows["selection"], live.division.split.train])
    sex, used = table["sex"].to_numpy()[rows], (table["used"] == "y").to_numpy()[rows]
    for model in of_origin(document, "tilted"):
        place = model.rank - 1
        own = np.append(live.listing.values["selection"][place], live.listing.crossed[place]) >= 0.0
        gaps = [abs(one[sex == "m"].mean() - one[sex == "f"].mean()) for one in (used, own)]
        assert model.prospect.whole_gap_change == pytest.approx(gaps[1] - gaps[0])
    assert of_origin(document, "tilted")


def test_training_rows_that_disagree_with_the_selection_split_are_no_evidence():
    own = Prospect(
        gap_change=-0.05, gap_error=0.02, performance_error=0.01, guards=1.0, holdout=1.0, performance_change=0.0
    )
    near = own.but(gap_change=-0.08, gap_error=0.012)  # the training rows alone say -0.095, with an error of .0147
    assert _agree(near, own, 1 / 3)
    assert not _agree(near.but(gap_change=-0.12), own, 1 / 3)  # -0.155: more than three errors of .0248 apart
    assert not _agree(near.but(performance_change=0.05), own, 1 / 3)
    assert not _agree(near.but(gap_change=None), own, 1 / 3)
    alike = own.but(gap_change=0.0, gap_error=0.0, performance_error=0.0)
    assert _agree(alike, alike, 1 / 3)
    assert not _agree(alike.but(gap_change=-0.1, gap_error=0.01), alike, 1 / 3)


def test_the_expected_change_decides():
    """Of two models alike on the selection split, the one whose gap is expected to be smaller is chosen."""
    result = audit_applicants(prices=False)
    document, chosen = result.document, result.document.selected
    others = [one for one in document.models if one.rank != chosen.rank and one.rank > 1]
    raised = [one.but(prospect=one.prospect and one.prospect.but(whole_gap_change=0.5)) for one in others]
    kept = [document.first, *sorted([chosen, *raised], key=lambda one: one.rank)]
    candidates = Candidates(tuple(kept), document.dataset.sensitive)
    again = choose(candidates, document.column, document.selection.tolerances, 0.95)
    assert again.rank == chosen.rank
    away = [one.but(prospect=one.prospect.but(whole_gap_change=0.5)) if one is chosen else one for one in kept]
    found = choose(
        Candidates(tuple(away), document.dataset.sensitive), document.column, document.selection.tolerances, 0.95
    )
    assert found.rank != chosen.rank


def test_a_large_table_has_selection_rows_enough(monkeypatch):
    monkeypatch.setattr(cross_fitting, "WORK", 0.0)
    result = audit_applicants(prices=False)
    assert result.live.listing.crossed is None
    assert not any(model.prospect.is_crossed for model in result.document.models if model.prospect)
    assert of_origin(result.document, "tilted")
