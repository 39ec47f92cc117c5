"""Settings shared by all tests."""

import pytest
from hypothesis import HealthCheck, settings

from fairenum.auditing import reachable

# No deadline: the machine may be busy, and the first example may compile the inner loop.
settings.register_profile(
    "fairenum", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("fairenum")


@pytest.fixture(autouse=True, scope="session")
def little_work():
    """Tighten the bounds of the gap less in most tests: they stay as true, and audits take half the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reachable, "RANGE_WORK", 4e6)
        yield
