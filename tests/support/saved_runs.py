"""Saved runs: those of the gallery, and a small one of every kind; measurements are made where they are tested."""

from functools import cache
from pathlib import Path

from fairenum.document.files import AnyDocument, load

TESTS = Path(__file__).parents[1]
REPORTS = TESTS.parent / "reports"
SMALL = TESTS / "data" / "loans.json"  # an audit with an attack
RUNS = (*sorted(REPORTS.glob("*.json")), SMALL)
NAMES = tuple(path.stem for path in RUNS)
KINDS = ("audit", "attack", "bench", "mitigation", "reproduction")


def path(kind: str) -> Path:
    return TESTS / "data" / f"{kind}.json"


@cache
def read(kind: str) -> AnyDocument:
    return load(path(kind))
