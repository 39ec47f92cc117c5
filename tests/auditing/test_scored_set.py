"""What is scored when the user does not want to wait: fewer models, those of least gap, and that is said."""

import os
import signal
import threading

import numpy as np
import pytest
from support.audits import audit_applicants, checked

from fairenum.auditing import run_state, scored_set
from fairenum.auditing.run_state import few_of
from fairenum.document.header import CutStage
from fairenum.report import page

signals = pytest.mark.skipif(os.name == "nt", reason="signals")
GAP = "demographic_parity_difference"


def test_model_1_and_those_of_least_gap_are_kept_in_their_order(guided_run):
    division, listing = guided_run.live.division, guided_run.live.listing
    gaps = [model.scores.selection.demographic_parity_difference.value for model in guided_run.document.models]
    assert len(gaps) > 6
    few = few_of(listing, division, GAP, 4)
    wanted = [0, *sorted(sorted(range(1, len(gaps)), key=lambda place: gaps[place])[:3])]
    assert [listing.models.index(model) for model in few.models] == wanted
    assert few.origins == tuple(listing.origins[place] for place in wanted)
    for part, values in few.values.items():
        np.testing.assert_array_equal(values, listing.values[part][wanted])
    assert few_of(listing, division, GAP, 1).models == listing.models[:1]
    assert few_of(listing, division, GAP, len(gaps)) is listing


@signals
@pytest.mark.parametrize("stage", ["guide", "score"])
def test_once_interrupted_no_more_models_are_scored_than_a_moment_allows(stage, monkeypatch):
    monkeypatch.setattr(run_state, "HASTE", 0.0)
    is_pressed = []

    def press(at: str, done: int, _total: int | None) -> None:
        if at == stage and not is_pressed and (done >= 20 or at == "score"):
            is_pressed.append(True)
            os.kill(os.getpid(), signal.SIGINT)

    document = checked(audit_applicants(progress=press))
    assert document.status == "interrupted"
    assert [model.rank for model in document.models] == [1]
    assert CutStage("score", "interrupt", False) in document.spending.cut
    told = " ".join(page(document).warnings)
    assert "the scores (of the models found, those of least gap on the selection split were kept)" in told


@signals
def test_scores_that_are_under_way_are_not_waited_for(monkeypatch):
    """The first scoring never ends by itself; Ctrl-C leaves it behind and has a model scored anew."""
    begun, score_part = [], scored_set.score_part

    def stuck(scored, part, config):
        begun.append(len(scored.listing.models))
        if len(begun) == 1:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            threading.Event().wait(60.0)
        return score_part(scored, part, config)

    monkeypatch.setattr(run_state, "score_part", stuck)
    monkeypatch.setattr(run_state, "HASTE", 0.0)
    document = checked(audit_applicants(search="exact", range=False))
    assert begun == [5, 1, 1]
    assert (document.status, len(document.models)) == ("interrupted", 1)
    assert document.timings["score"] < 30.0
