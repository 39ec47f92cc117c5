"""Twenty long random explorations of bundled tables, decided and replayed: the same record, models and documents."""

import msgspec
import numpy as np
import pytest

from fairenum import Exploration
from fairenum.document.files import to_json
from fairenum.errors import ExplorationError

TABLES = {
    "german": {},
    "compas": {"sizes": (2000, 1000, 1000)},
    "adult": {"sizes": (800, 800, 800)},
    "ionosphere": {"kernel": "rbf"},
}


def wander(exploration: Exploration, seed: int, steps: int = 40) -> None:
    rng = np.random.default_rng(seed)
    division = exploration._engine.division
    rows = division.dataset.numbered(division.split.train)

    def some() -> list[int]:
        return rng.choice(rows, rng.integers(1, 60), replace=False).tolist()

    actions = (
        exploration.next,
        exploration.next,
        lambda: exploration.fairer(int(rng.integers(1, 15))),
        lambda: exploration.leave_out(some()),
        lambda: exploration.leave_out((exploration.view.clusters or [some()])[0]),
        lambda: exploration.pin(some()),
        exploration.undo,
        lambda: exploration.tolerate(eps=float(rng.choice([0.01, 0.05, 0.2]))),
    )
    for _ in range(steps):
        try:
            actions[rng.integers(len(actions))]()
        except ExplorationError:
            continue


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", TABLES)
def test_a_long_exploration_is_replayed_bit_for_bit(name, seed, tmp_path):
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    clock = lambda: "2024-05-01T12:00:00+00:00"  # noqa: E731 - so that the records have the same bytes
    with Exploration(name, record=paths[0], now=clock, replications=100, **TABLES[name]) as exploration:
        wander(exploration, seed)
        paths[1].write_bytes(paths[0].read_bytes())
        view = exploration.view
        number = view.models[-1].number
        first = exploration.commit(number, "why", "who")
    with Exploration.resume(paths[1], name, now=clock) as resumed:
        assert msgspec.json.encode(resumed.view) == msgspec.json.encode(view)
        second = resumed.commit(number, "why", "who")
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert to_json(first.document.but(timings={})) == to_json(second.document.but(timings={}))
