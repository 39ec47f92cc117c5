"""Fixtures for explorations: rows, a fixed clock, and servers to read or to change."""

import numpy as np
import pytest
from support.explorations import Visitor, entered, open_applicants, served

from fairenum import Exploration


@pytest.fixture
def training_rows():
    """Return the numbers of the training rows of an exploration."""

    def numbers(exploration: Exploration) -> list[int]:
        division = exploration._engine.division
        return np.sort(division.dataset.numbered(division.split.train)).tolist()

    return numbers


@pytest.fixture(scope="session")
def clock():
    """A constant time, so that records of the same steps have the same bytes."""
    return lambda: "2024-05-01T12:00:00+00:00"


@pytest.fixture(scope="package")
def shared():
    """A server with a few models, whose exploration no test changes."""

    def opening(progress):
        exploration = open_applicants(progress=progress)
        exploration.next()
        exploration.next()
        return exploration

    with served(opening) as found:
        found.owner = found.visitor()
        assert found.owner.enter(found.address).status == 200
        found.owner.wait()
        yield found


@pytest.fixture
def stranger(shared) -> Visitor:
    """A client without token or cookie."""
    return Visitor(shared.port)


@pytest.fixture
def owner(shared) -> Visitor:
    """A client with the cookie that takes no step."""
    return shared.owner


@pytest.fixture
def visitor(tmp_path):
    """A client with the cookie of its own exploration."""
    with entered(lambda progress: open_applicants(progress=progress, record=tmp_path / "record.jsonl")) as found:
        yield found
