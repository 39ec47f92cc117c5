"""The list of what an evidence file holds, as `sha256sum` writes and checks it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fairenum.errors import EvidenceRefused
from fairenum.evidence.archive import digest

MANIFEST = "SHA256SUMS"
RUN, PAGE, SUMMARY, CARD, MODEL = "run.json", "report.html", "summary.md", "model-card.md", "model.skops"
VERSIONS, READ_ME, TABLES = "environment.json", "README.md", "tables"
REQUIRED = (RUN, PAGE, SUMMARY, VERSIONS, READ_ME, f"{TABLES}/index.csv")  # and of an audit, a card
LINE = re.compile(r"([0-9a-f]{64})  ([A-Za-z0-9_./-]{1,250})", re.ASCII)


def to_manifest(files: Mapping[str, bytes]) -> bytes:
    """List files with their digests, in the order of their names."""
    return "".join(f"{digest(files[name])}  {name}\n" for name in sorted(files)).encode()


def read_manifest(content: bytes) -> dict[str, str]:
    """Return the digests by name; refuse what is no such list."""
    listed: dict[str, str] = {}
    for number, line in enumerate(content.decode("ascii", "replace").splitlines(), 1):
        found = LINE.fullmatch(line)
        if not found or found[2] in listed:
            raise EvidenceRefused(f"line {number} of {MANIFEST} is no digest and name, or names a file again")
        listed[found[2]] = found[1]
    return listed
