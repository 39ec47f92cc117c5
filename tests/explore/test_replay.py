"""Random explorations, replayed: the same record, models and documents, bit for bit."""

import itertools

import msgspec
import numpy as np
import pytest
from support.audits import applicants, people
from support.explorations import open_applicants, open_people

from fairenum import Exploration
from fairenum.document.files import to_json
from fairenum.errors import ExplorationError


def wander(exploration: Exploration, rng: np.random.Generator, steps: int) -> None:
    """Take random steps; steps that are refused change nothing."""
    division = exploration._engine.division
    rows = division.dataset.numbered(division.split.train)

    def some() -> list[int]:
        return rng.choice(rows, rng.integers(1, 9), replace=False).tolist()

    actions = (
        exploration.next,
        lambda: exploration.next(3),
        lambda: exploration.fairer(int(rng.integers(1, 6))),
        lambda: exploration.leave_out(some()),
        lambda: exploration.pin(some()),
        exploration.undo,
        lambda: exploration.tolerate(eps=float(rng.choice([0.02, 0.1])), guards=["none"]),
        lambda: exploration.leave_out((exploration.view.clusters or [some()])[0]),
    )
    for _ in range(steps):
        try:
            actions[rng.integers(len(actions))]()
        except ExplorationError:
            continue


def recorded(seed: int, path, clock) -> Exploration:
    opened = open_people if seed % 2 else open_applicants
    exploration = opened(record=path, now=clock)
    wander(exploration, np.random.default_rng(seed), 8)
    return exploration


@pytest.mark.parametrize("seed", range(20))
def test_a_random_exploration_gives_the_same_record_and_models(seed, tmp_path, clock):
    path, again = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    with recorded(seed, path, clock) as exploration, recorded(seed, again, clock):
        assert path.read_bytes() == again.read_bytes(), "the same steps leave the same record"
        content, view = path.read_bytes(), exploration.view
    table = people(240) if seed % 2 else applicants(420)
    with Exploration.resume(path, table, now=clock) as replayed:
        assert path.read_bytes() == content
        assert msgspec.json.encode(replayed.view) == msgspec.json.encode(view)
        for one, other in zip(exploration.state.listed, replayed.state.listed, strict=True):
            np.testing.assert_array_equal(one.shown.model.alpha, other.shown.model.alpha)
            np.testing.assert_array_equal(one.shown.values, other.shown.values)
            assert one.supports == other.supports


@pytest.mark.parametrize("seed", range(2))
def test_a_decision_gives_the_same_documents(seed, tmp_path, clock):
    """Committed at once, and committed after the process was killed and resumed."""
    path, other = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    with recorded(seed, path, clock) as exploration:
        other.write_bytes(path.read_bytes())
        number = exploration.view.models[-1].number
        first = exploration.commit(number, "why", "who")
    with Exploration.resume(other, people(240) if seed % 2 else applicants(420), now=clock) as resumed:
        second = resumed.commit(number, "why", "who")
    assert to_json(first.document.but(timings={})) == to_json(second.document.but(timings={}))
    assert path.read_bytes() == other.read_bytes()
    assert first.to_html() == second.to_html()
    pairs = itertools.zip_longest(first.live.listing.models, second.live.listing.models)
    assert all((one.alpha == another.alpha).all() for one, another in pairs)
