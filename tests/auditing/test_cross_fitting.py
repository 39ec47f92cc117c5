"""Decisions about training rows by models that did not learn from them: by a convex solver, and what they change."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from support.audits import applicants, audit_applicants, of_origin

from fairenum import AuditResult, audit
from fairenum.auditing import cross_fitting
from fairenum.auditing.cross_fitting import PARTS_OF_TRAINING
from fairenum.auditing.model_training import folds_of
from fairenum.document.training import Tolerances
from fairenum.enumeration.fairest import CandidateScores


@pytest.fixture(scope="module")
def parts(guided_run: AuditResult):
    live = guided_run.live
    return live, live.listing, folds_of(live.division.train, live.config.seed, None, PARTS_OF_TRAINING)


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
    for model in of_origin(guided, "guided"):
        assert (model.prospect.is_crossed, model.prospect.whole_gap_change) == (False, None)


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


def test_rows_that_a_search_fitted_are_evidence_only_if_there_is_no_other():
    scores = CandidateScores(
        objective_ratio=np.ones(4),
        performance=np.full(4, 0.8),
        gap=np.array([0.2, 0.05, 0.1, 0.15]),
        is_constant=np.zeros(4, bool),
        chance=np.array([0.0, 0.99, 0.9, 0.3]),
        is_fitted=np.array([False, True, False, False]),
    )
    tolerances = Tolerances()
    assert scores.fairest(tolerances) == 2
    assert replace(scores, is_fitted=None).fairest(tolerances) == 1
    worse = replace(scores, gap=np.array([0.2, 0.05, 0.25, 0.3]))
    assert worse.fairest(tolerances) == 1


def test_a_large_table_has_selection_rows_enough(monkeypatch):
    monkeypatch.setattr(cross_fitting, "WORK", 0.0)
    result = audit_applicants(prices=False)
    assert result.live.listing.crossed is None
    assert not any(model.prospect.is_crossed for model in result.document.models if model.prospect)
    assert of_origin(result.document, "tilted")
