"""Settings shared by all tests."""

from hypothesis import HealthCheck, settings

# No deadline: the machine may be busy, and the first example may compile the inner loop.
settings.register_profile(
    "fairenum", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("fairenum")
