"""Tilted models among the listed ones: what is told of them, when there are none, and that they can be used."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from skops.io import get_untrusted_types
from skops.io import load as load_skops
from support.audits import METRIC, applicants, audit_applicants, checked, of_origin

from fairenum import AuditResult, audit, select
from fairenum.auditing import listing
from fairenum.document.person import decide_about
from fairenum.enumeration.tilted import TiltedSearch


def test_tilted_models_are_among_the_others_by_their_loss(guided):
    tilted = of_origin(guided, "tilted")
    assert len(tilted) == guided.tilted.models > 0
    assert (guided.tilted.rise, guided.tilted.stopped) == (guided.config.eps, "exhausted")
    assert guided.tilted.solves >= guided.tilted.models
    assert all(before.loss_ratio <= after.loss_ratio + 1e-9 for before, after in pairwise(guided.models))
    assert all(0.0 <= one.loss_ratio <= guided.config.eps for one in guided.models if one.origin != "exact")
    assert all(one.is_order_certified for one in guided.models)


def test_a_tilted_model_has_a_price_and_no_objective_and_leaves_nobody_out(guided):
    for one in of_origin(guided, "tilted"):
        assert (
            one.objective is one.objective_bound is one.objective_ratio is one.relative_gap is one.support_rank is None
        )
        assert one.left_out == ()
        assert (one.tilt.column, one.tilt.groups, one.tilt.rate) == ("sex", ("m", "f"), "selection_rate")
        assert one.tilt.price > 0.0
    assert all(one.tilt is None and one.objective for one in guided.models if one.origin != "tilted")
    prices = [one.tilt.price for one in of_origin(guided, "tilted")]
    assert prices == sorted(prices)


def test_its_loss_is_that_of_its_weights_on_all_training_rows(guided_run):
    """Against the weights that the document tells, on rows that nobody merged."""
    division, document = guided_run.live.division, guided_run.document
    losses = {}
    for one in document.anatomy.weights:
        model, weights = document.models[one.rank - 1], np.array(one.weights)
        slack = np.maximum(0.0, 1.0 - division.train.y * (division.train.X @ weights + model.bias))
        losses[one.rank] = 0.5 * weights @ weights + document.config.svm.C * slack.sum()
    for model in of_origin(document, "tilted"):
        assert losses[model.rank] / losses[1] - 1.0 == pytest.approx(model.loss_ratio, abs=1e-8)


def test_a_tilted_model_is_something_new(guided_run):
    listing = guided_run.live.listing
    decided = np.hstack([values >= 0 for values in listing.values.values()])
    assert len(np.unique(decided, axis=0)) == len(listing.models)


@pytest.fixture(scope="module")
def unabridged() -> AuditResult:
    """An audit in which no record may be left out, so that only tilting can help."""
    return audit_applicants(search="guided", max_left_out=0.0, max_performance_drop=0.1, eps=0.2, guards=["none"])


def test_where_nobody_may_be_left_out_a_tilted_model_is_selected(unabridged):
    document = checked(unabridged)
    chosen = document.selected
    assert (chosen.origin, document.explanation) == ("tilted", None)
    assert document.tilted.rise == 0.2
    assert 0.05 < max(one.loss_ratio for one in document.models) <= 0.2
    assert chosen.scores.holdout.gap(METRIC).value < 0.8 * document.first.scores.holdout.gap(METRIC).value
    assert chosen.scores.selection.gap(METRIC).verdict is None
    assert document.selection.optimism.expected is None
    assert {flip.becomes for flip in document.flips.flipped} == {"favourable", "unfavourable"}


def test_near_optimal_is_meant_of_its_loss(unabridged):
    document = unabridged.document
    losses = [document.models[rank - 1].loss_ratio for rank in document.selection.candidates]
    assert 0.05 < max(losses) <= 0.2
    stricter = audit_applicants(
        search="guided", max_left_out=0.0, max_performance_drop=0.1, eps=0.02, guards=["none"]
    ).document
    losses = [stricter.models[rank - 1].loss_ratio for rank in stricter.selection.candidates]
    assert 0.01 < max(losses) <= 0.02
    assert select(unabridged, rank=len(document.models)).document.selected.origin == "tilted"


def test_a_person_is_decided_about_as_the_model_decides(unabridged):
    document, live = unabridged.document, unabridged.live
    frame, place = applicants(), len(document.models)
    rows = live.division.rows["holdout"][:20]
    for at, row in enumerate(rows):
        values = frame.iloc[row][["skill", "proxy", "town"]].to_dict()
        decision = decide_about(document, values).decisions[place - 1]
        assert decision.value == pytest.approx(live.listing.values["holdout"][place - 1][at], abs=1e-9)


def exported(result: AuditResult, rank: int, path, frame: pd.DataFrame) -> tuple[NDArray, NDArray]:
    """What the exported pipeline decides about the holdout, and what the model does."""
    result.export(path, rank, unconfirmed=True)
    pipeline = load_skops(path, trusted=get_untrusted_types(file=path))
    rows = result.live.division.rows["holdout"]
    return pipeline.predict(frame.iloc[rows]) == "y", result.live.listing.values["holdout"][rank - 1] >= 0.0


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf"}, {"decide": "rate=0.4"}])
def test_it_can_be_exported(tmp_path, options):
    plan = {"search": "guided", "max_left_out": 0.0, "eps": 0.2, "guards": ["none"], "replications": 50}
    frame = applicants(400)
    result = audit(frame, "hired", "y", "sex", **plan, **options)
    document = checked(result)
    last = document.models[-1]
    assert last.origin == "tilted"
    pipeline, model = exported(result, last.rank, tmp_path / "model.skops", frame)
    np.testing.assert_array_equal(pipeline, model)


def test_an_exact_search_has_none():
    document = audit_applicants(search="exact", k=2).document
    assert document.tilted is None
    assert not of_origin(document, "tilted")


def test_there_is_nothing_to_tilt_for_predictive_parity():
    document = checked(audit_applicants(metric="predictive_parity_difference", k=2, max_left_out=0.01))
    assert (document.tilted.stopped, document.tilted.solves, document.tilted.models) == ("no_direction", 0, 0)


def test_a_solver_that_knows_one_margin_leaves_it_to_the_native_one():
    options = {"search": "guided", "max_left_out": 0.0, "sizes": (100, 100, 100)}
    native, other = (audit_applicants(solver=solver, **options).document for solver in ("path", "libsvm"))
    losses = [[one.loss_ratio for one in of_origin(document, "tilted")] for document in (native, other)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-7)
    assert losses[0]


def test_rows_may_count_differently():
    frame = applicants(300)
    frame["count"] = 1 + np.arange(300) % 3
    options = {"k": 2, "replications": 50, "search": "guided", "max_left_out": 0.0, "sizes": (100, 100, 100)}
    document = checked(audit(frame, "hired", "y", "sex", weight="count", **options))
    tilted = of_origin(document, "tilted")
    assert tilted
    assert all(0.0 <= one.loss_ratio <= document.config.eps for one in tilted)


def test_an_interruption_keeps_what_was_found(monkeypatch):
    class Breaking(TiltedSearch):
        def __next__(self):
            if self.solves >= 6:
                raise KeyboardInterrupt
            return super().__next__()

    monkeypatch.setattr(listing, "TiltedSearch", Breaking)
    document = checked(audit_applicants(k=2, max_left_out=0.0))
    assert (document.tilted.stopped, document.status) == ("interrupted", "interrupted")
    assert of_origin(document, "tilted")
