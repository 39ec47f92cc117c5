import pytest

from fairenum.research import race


@pytest.fixture(autouse=True)
def rough_yardstick(monkeypatch):
    """Nothing here depends on how long anything takes."""
    monkeypatch.setattr(race, "YARDSTICK_SECONDS", 1e-9)
