"""The default split confirms fairer models more often than one that trains on 60 %, and loses little accuracy."""

import numpy as np
import pytest
from support.documentation import ROOT
from support.simulation.splits import KINDS, RUNS, compared, split_row


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_more_is_confirmed_at_nearly_the_same_accuracy(kind):
    _, former, ours = compared(kind)
    noise = 3.0 * np.sqrt(0.25 / RUNS)
    assert ours.fairer >= former.fairer
    assert ours.fairer >= min(former.fairer + 0.15, 1.0) - noise
    assert ours.accuracy >= former.accuracy - 0.005
    assert ours.wrong <= 0.02


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_page_shows_what_comes_of_it(kind):
    assert split_row(kind) in (ROOT / "docs/statistics.md").read_text("utf-8")
