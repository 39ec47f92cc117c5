"""What tests of explorations share."""

import numpy as np
import pytest

from fairenum import Exploration


@pytest.fixture
def training_rows():
    """Return the numbers of the training rows of an exploration."""

    def numbers(exploration: Exploration) -> list[int]:
        division = exploration._session.bench.division
        return np.sort(division.dataset.numbered(division.split.train)).tolist()

    return numbers


@pytest.fixture(scope="session")
def clock():
    """Say the same time always, so that records of the same steps have the same bytes."""
    return lambda: "2024-05-01T12:00:00+00:00"
