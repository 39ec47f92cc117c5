"""The runs that are saved in the repository: those of the gallery, and one of version 0.1."""

from pathlib import Path

TESTS = Path(__file__).parent
REPORTS = TESTS.parent / "reports"
OLD = TESTS / "data" / "cli-audit-0.1.json"  # an audit with an attack
RUNS = (*sorted(REPORTS.glob("*.json")), OLD)
NAMES = tuple(path.stem for path in RUNS)
