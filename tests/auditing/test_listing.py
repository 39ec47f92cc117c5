"""The listed models: when the listing ends, and that an end loses nothing."""

import numpy as np
import pytest
from support.audits import audit_people, checked, codes, people

from fairenum.auditing import listing
from fairenum.enumeration import distinct
from fairenum.errors import SolverBroken


def interrupting(monkeypatch, after: int, error: BaseException) -> None:
    """Let the enumeration break off after some models."""

    class Breaking(distinct.DistinctModels):
        def __next__(self):
            if len(self.sizes) >= after:
                raise error
            return super().__next__()

    monkeypatch.setattr(listing, "DistinctModels", Breaking)


def test_an_interrupt_keeps_what_there_is(monkeypatch):
    interrupting(monkeypatch, 3, KeyboardInterrupt())
    result = audit_people(people(), k=12)
    document = checked(result)
    assert result.is_partial
    assert document.status == document.enumeration.stopped == "interrupted"
    assert len(document.models) == 3
    assert result.warnings["interrupted"] == ["the run was interrupted after 3 of 12 models"]
    assert document.guided.obstacle == "cut_short"
    interrupting(monkeypatch, 0, KeyboardInterrupt())
    document = checked(audit_people(people(), k=12))  # the best model was trained before
    assert (len(document.models), document.status) == (1, "interrupted")


def test_a_solver_that_fails_late_costs_the_later_models_only(monkeypatch):
    interrupting(monkeypatch, 2, SolverBroken("lost"))
    document = checked(audit_people(people(), k=12))
    assert document.enumeration.stopped == "solver"
    assert document.status == "complete"
    assert {"solver_failed", "guided_skipped"} <= codes(document)
    interrupting(monkeypatch, 0, SolverBroken("lost"))
    with pytest.raises(SolverBroken, match="lost"):
        audit_people(people(), k=12)


def test_budgets_stop_the_enumeration():
    document = checked(audit_people(people(), max_nodes=5))
    assert document.enumeration.stopped == "nodes"
    assert "budget_spent" in codes(document)
    assert document.config.max_nodes == 5
    assert audit_people(people(), eps=0.0).document.enumeration.stopped == "objective"


def test_models_are_told_apart_by_what_they_decide(exact_run):
    division, listing = exact_run.live.division, exact_run.live.listing
    rows = np.vstack([division.selection.X, division.holdout.X])
    decided = {(model.decision_function(rows) >= 0).tobytes() for model in listing.models}
    assert len(decided) == len(listing.models) == 12
    assert listing.objective_ratio[0] == 1.0


def test_decisions_come_with_the_groups_of_a_column(exact_run):
    division, listing = exact_run.live.division, exact_run.live.listing
    decisions = listing.decisions(division, "holdout", "race")
    assert decisions.groups.names == ("a", "b", "c")
    assert decisions.predictions.shape == (12, 60)
    assert (decisions.labels == division.holdout.labels).all()
    assert len(listing.decisions(division, "selection", None).groups.names) == 1
