"""Guided models among the listed ones: where they stand, when there are none, and that an end loses nothing."""

from itertools import pairwise

import pytest
from support.audits import audit_applicants, checked, codes, of_origin

from fairenum.auditing import listing
from fairenum.document.files import to_json
from fairenum.enumeration.guided import GuidedSearch
from fairenum.errors import ConfigError, SolverBroken


def test_guided_models_stand_among_the_others_by_loss(guided):
    assert len(of_origin(guided, "exact")) == guided.enumeration.models == 5
    assert len(of_origin(guided, "guided")) == guided.guided.models > 0
    assert [model.rank for model in guided.models] == list(range(1, len(guided.models) + 1))
    assert all(before.loss_ratio <= after.loss_ratio + 1e-9 for before, after in pairwise(guided.models))
    assert all(model.is_order_certified and model.loss_ratio <= 0.1 for model in of_origin(guided, "guided"))
    assert guided.first.loss_ratio == pytest.approx(0.0, abs=1e-9)
    assert set(guided.selection.candidates) <= {one.rank for one in guided.models if one.loss_ratio <= 0.1}
    assert all((model.support_rank is None) == model.is_searched for model in guided.models)


def test_a_guided_model_is_something_new(guided_run):
    listing = guided_run.live.listing
    decided = [(*selection, *holdout) for selection, holdout in zip(*listing.values.values(), strict=True)]
    assert len({tuple(value >= 0 for value in values) for values in decided}) == len(listing.models)


def test_same_seed_same_bytes(guided):
    again = audit_applicants(baselines=True, range=True).document
    assert to_json(again.but(timings={})) == to_json(guided.but(timings={}))


def test_each_search_alone():
    exact = audit_applicants(search="exact").document
    assert exact.guided is None
    assert not of_origin(exact, "guided")
    guided = audit_applicants(search="guided").document
    assert len(of_origin(guided, "exact")) == 1
    assert of_origin(guided, "guided")


@pytest.mark.parametrize(
    ("options", "obstacle", "words"),
    [
        ({"sizes": (300, 300, 0)}, "no_holdout", "a separate holdout"),
        ({"sensitive": None}, "no_sensitive_column", "no sensitive column"),
    ],
)
def test_without_something_to_guide_it_the_search_is_skipped(options, obstacle, words):
    document = checked(audit_applicants(**options))
    assert (document.guided.stopped, document.guided.obstacle) == ("skipped", obstacle)
    assert ("guided_skipped" if document.column else "no_sensitive") in codes(document)
    assert not of_origin(document, "guided")
    with pytest.raises(ConfigError, match=f"search='guided' is not possible: .*{words}"):
        audit_applicants(**options, search="guided")


@pytest.mark.parametrize(
    ("error", "stopped", "status"),
    [(KeyboardInterrupt(), "interrupted", "interrupted"), (SolverBroken("no"), "solver", "complete")],
)
def test_what_was_found_before_an_end_is_kept(monkeypatch, error, stopped, status):
    class Breaking(GuidedSearch):
        def __next__(self):
            if self.solves >= 20:
                raise error
            return super().__next__()

    monkeypatch.setattr(listing, "GuidedSearch", Breaking)
    document = checked(audit_applicants())
    assert document.guided.stopped == stopped
    assert document.status == status
    assert of_origin(document, "guided")
