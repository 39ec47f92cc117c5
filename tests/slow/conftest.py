from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """Mark whatever lives here as slow, so that nobody can forget to."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.slow)
