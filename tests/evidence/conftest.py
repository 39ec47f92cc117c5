"""Evidence of saved runs, and what is in it."""

import io
import zipfile
from datetime import date

import pytest
from support.documents import audit

from fairenum.evidence.bundle import evidence


@pytest.fixture(scope="session")
def packed_evidence() -> bytes:
    """Evidence of a saved run, with a page for a certain reader."""
    return evidence(audit(), profile="lda", day=date(2026, 2, 3))


@pytest.fixture
def files(packed_evidence) -> dict[str, bytes]:
    """The files in it, read by Python's own library."""
    with zipfile.ZipFile(io.BytesIO(packed_evidence)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture
def place(tmp_path):
    return tmp_path / "audit.zip"
