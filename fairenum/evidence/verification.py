"""Verification of an evidence file: every file matches the manifest, the run is valid, and the pages show this run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

import msgspec

from fairenum.document.audit_document import AuditDocument
from fairenum.document.files import AnyDocument, parse
from fairenum.document.header import Fault, Verification, Versions
from fairenum.errors import EvidenceRefused, ResultError
from fairenum.evidence.archive import CARD, MANIFEST, REQUIRED, RUN, VERSIONS, digest, read_manifest, received, unpacked
from fairenum.render.html import carried_copy
from fairenum.report.embedded_copy import is_copy

Files = Mapping[str, bytes]


def verify(path: str | Path) -> Verification:
    """Return the digest and the faults of an evidence file; nothing in it is run or written to disk.

    Faults are missing, unlisted or changed files, an invalid run, and pages of another run. Pages written by another
    version of fairenum that differ from the run are listed as unchecked. Raises `EvidenceRefused` for a file that is no
    evidence file or is built to do harm.
    """
    content = received(path)
    files = unpacked(content, str(path))
    if MANIFEST not in files:
        raise EvidenceRefused(f"{str(path)!r} is no evidence file: it holds no {MANIFEST}")
    listed = read_manifest(files.pop(MANIFEST))
    unreadable: list[Fault] = []
    run = _run(files, unreadable)
    needed = (*REQUIRED, CARD) if isinstance(run, AuditDocument) else REQUIRED
    faults, unchecked = [*_listing_faults(files, listed, needed), *unreadable], []
    if run:
        for fault in _page_faults(files, run):
            if fault.kind == "other_copy" and _writer(files) not in (None, version("fairenum")):
                unchecked.append(fault.name)
            else:
                faults.append(fault)
    return Verification(len(files), digest(content), tuple(faults), tuple(unchecked))


def _listing_faults(files: Files, listed: Mapping[str, str], needed: Iterable[str]) -> Iterator[Fault]:
    """Yield a fault for each file that is missing, not in the manifest, or different from its digest there."""
    for name in sorted({*files, *listed, *needed}):
        if name not in files:
            yield Fault("missing", name)
        elif name not in listed:
            yield Fault("extra", name)
        elif digest(files[name]) != listed[name]:
            yield Fault("changed", name)


def _run(files: Files, faults: list[Fault]) -> AnyDocument | None:
    """Return the run in an evidence file; None if it is missing or, with an entry in `faults`, unreadable."""
    try:
        return parse(files[RUN], RUN) if RUN in files else None
    except ResultError as error:
        faults.append(Fault("no_document", RUN, str(error)))
        return None


def _page_faults(files: Files, run: AnyDocument) -> Iterator[Fault]:
    for name, content in files.items():
        if name.endswith(".html"):
            copy = carried_copy(content.decode(errors="replace"))
            if copy is None:
                yield Fault("no_copy", name)
            elif not is_copy(copy, run):
                yield Fault("other_copy", name)


def _writer(files: Files) -> str | None:
    """Return the version of fairenum that wrote the evidence file; None if the file does not say."""
    try:
        versions = msgspec.json.decode(files.get(VERSIONS, b""), type=Versions)
    except ValueError:
        return None
    return versions.evidence.packages.get("fairenum")
