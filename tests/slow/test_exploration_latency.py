"""How long the steps of an exploration take: the time of the processor, so that a busy machine does not count."""

import time
from functools import partial

import numpy as np
import pytest

from fairenum import Exploration

ACTIONS = 100
LIMIT = 0.150  # seconds, for 95 of 100 actions
TABLES = {"german": (0.6, 0.2, 0.2), "compas": (2000, 1000, 1000), "adult": (2000, 1000, 1000)}


def spent(act) -> float:
    started = time.process_time()
    act()
    return time.process_time() - started


def measured(name: str) -> dict[str, list[float]]:
    """Take many steps as somebody would: look at models, leave rows out, keep others, take steps back."""
    rng, seconds = np.random.default_rng(0), {}
    exploration = Exploration(name, sizes=TABLES[name])
    rows = [row for example in exploration._engine.training.records for row in example]
    rows = exploration._engine.division.dataset.numbered(np.array(rows))
    exploration.next(), exploration.view

    def note(action, act):
        seconds.setdefault(action, []).append(spent(lambda: (act(), exploration.view)))

    for _ in range(ACTIONS):
        state = exploration.state
        free = rows[~np.isin(rows, [*state.left_out, *state.pinned])]
        gone = rng.choice(free, rng.integers(1, 40), replace=False).tolist()
        note("next", exploration.next)
        note("leave out", partial(exploration.leave_out, gone))
        note("person", partial(exploration.person, int(rng.choice(rows))))
        note("next", exploration.next)
        note("pin", partial(exploration.pin, [*gone[:5], *free[:1].tolist()]))
        for _ in range(3 if rng.random() < 0.8 else 1):
            note("undo", exploration.undo)
    return seconds


@pytest.mark.parametrize("name", TABLES)
def test_steps_are_answered_at_once(name, capsys):
    seconds = measured(name)
    with capsys.disabled():
        for action, taken in seconds.items():
            median, late = (1000 * np.percentile(taken, [50, 95])).round(1)
            print(f"{name:7s} {action:10s} {len(taken):4d} actions, median {median:6.1f} ms, p95 {late:6.1f} ms")
    assert all(np.percentile(taken, 95) < LIMIT for taken in seconds.values())
