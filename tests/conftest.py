"""Settings shared by all tests."""

import asyncio
import os

import pytest
from hypothesis import HealthCheck, settings

from fairenum.auditing import ambiguity_stage

# No deadline: the machine may be busy, and the first example may compile the inner loop.
settings.register_profile(
    "new", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
# The same commit passes or fails whenever it is tested; `make coverage` and `make test-slow` look for new examples.
settings.register_profile("repeatable", settings.get_profile("new"), derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(autouse=True, scope="session")
def little_work():
    """Tighten the bounds of the gap less in most tests: they stay as true, and audits take half the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ambiguity_stage, "RANGE_WORK", 4e6)
        yield


@pytest.fixture
def own_loop():
    """Let a test run event loops in a process where a browser, which has one of its own, has been started before."""
    other = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(other)
