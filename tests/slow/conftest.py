import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """Mark whatever lives here as slow, so that nobody can forget to."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True, scope="session")
def compiled():
    """Compile all that audits need before any is measured: only the first run on a machine does that."""
    subprocess.run([sys.executable, "-c", "from fairenum import audit; audit('sonar', k=5)"], check=True)
