"""Evidence files: zip archives with reproducible bytes, strict reading, and a manifest in the format of `sha256sum`."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from fairenum.errors import EvidenceRefused

FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest date of the zip format
ORDINARY_FILE = 0o100644 << 16
UNIX = 3
MOST_FILES, LARGEST = 100, 512 * 2**20
PLAIN_NAME = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}/)?[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", re.ASCII)
# Signatures of the last records of a zip file, and the sizes of its records.
END, LOCATOR = b"PK\x05\x06", b"PK\x06\x07"
END_SIZE, LOCATOR_SIZE, ENTRY_SIZE, HEADER_SIZE = 22, 20, 46, 30
LONGEST_ENTRY = ENTRY_SIZE + 2 * 100 + 1


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return an uncompressed zip archive of files, given by name; equal files give equal bytes."""
    content = io.BytesIO()
    with ZipFile(content, "w", ZIP_STORED) as archive:
        for name in sorted(files):
            entry = ZipInfo(name, FIRST_DATE)
            entry.create_system, entry.external_attr = UNIX, ORDINARY_FILE
            archive.writestr(entry, files[name])
    return content.getvalue()


def digest(content: bytes) -> str:
    """Return the SHA-256 digest of some bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def received(path: str | Path) -> bytes:
    """Return the bytes of an evidence file; refuse a path that is no file, and a file above `LARGEST` bytes."""
    place = Path(path)
    try:
        if not place.is_file():
            raise EvidenceRefused(f"{str(path)!r} is no file")
        if place.stat().st_size > LARGEST:
            raise EvidenceRefused(f"{str(path)!r} is larger than {LARGEST} bytes; no evidence file is")
        return place.read_bytes()
    except OSError as error:
        raise EvidenceRefused(f"cannot read {str(path)!r}: {error.strerror}") from error


def unpacked(content: bytes, name: str) -> dict[str, bytes]:
    """Return the files of an archive by name; refuse an archive that `packed` would not have written.

    `name` is the name of the archive in error messages.
    """
    try:
        _check_end(content)
        with ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            _check_entries(entries, content)
            return {entry.filename: archive.read(entry) for entry in entries}
    except (BadZipFile, ValueError, NotImplementedError, EOFError, RuntimeError) as error:
        raise EvidenceRefused(f"{name!r} is no evidence file: {error!s:.200}") from error


def _check_end(content: bytes) -> None:
    """Refuse an archive whose end record claims too many files, or sizes that do not add up to its length."""
    end = content[-END_SIZE:]
    if len(end) < END_SIZE or not end.startswith(END):
        raise BadZipFile("it is no zip file, is cut short, or goes on behind its end")
    size, start = (int.from_bytes(end[place : place + 4], "little") for place in (12, 16))
    is_larger_format = content[-END_SIZE - LOCATOR_SIZE :].startswith(LOCATOR)
    if is_larger_format or _claimed(content) > MOST_FILES or size > MOST_FILES * LONGEST_ENTRY:
        raise BadZipFile(f"it claims to hold more than {MOST_FILES} files")
    if start + size + END_SIZE != len(content):
        raise BadZipFile("there is something before, between or behind its files")


def _claimed(content: bytes) -> int:
    return int.from_bytes(content[-END_SIZE:][10:12], "little")


def _check_entries(entries: list[ZipInfo], content: bytes) -> None:
    """Refuse entries with unsafe or repeated names, entries that are no plain files, and bytes outside the entries."""
    seen: set[str] = set()
    place = 0
    for entry in entries:
        _check_entry(entry)
        if entry.filename.casefold() in seen:
            raise BadZipFile(f"it holds two files of the name {entry.filename!r}")
        seen.add(entry.filename.casefold())
        if entry.header_offset != place:
            raise BadZipFile(f"there is something before {entry.filename!r}")
        place += HEADER_SIZE + len(entry.filename) + entry.file_size
    records = sum(ENTRY_SIZE + len(entry.filename) for entry in entries)
    if place + records + END_SIZE != len(content) or _claimed(content) != len(entries):
        raise BadZipFile("there is something behind its files, or one more or less than it claims")


def _check_entry(entry: ZipInfo) -> None:
    name = entry.orig_filename
    if name != entry.filename or not PLAIN_NAME.fullmatch(name):
        raise BadZipFile(f"{name[:100]!r} is no plain name of a file in it")
    if entry.external_attr != ORDINARY_FILE:
        raise BadZipFile(f"{name!r} is no ordinary file but a link, a folder or a device")
    if entry.compress_type != ZIP_STORED or entry.file_size != entry.compress_size:
        raise BadZipFile(f"{name!r} is compressed, or claims another size than it has; evidence is stored as it is")
    if entry.flag_bits or entry.extra or entry.comment:
        raise BadZipFile(f"{name!r} is encrypted or carries something beside its content")


MANIFEST = "SHA256SUMS"
RUN, PAGE, SUMMARY, CARD, MODEL = "run.json", "report.html", "summary.md", "model-card.md", "model.skops"
VERSIONS, READ_ME, TABLES = "environment.json", "README.md", "tables"
REQUIRED = (RUN, PAGE, SUMMARY, VERSIONS, READ_ME, f"{TABLES}/index.csv")  # an audit also needs a card
LINE = re.compile(r"([0-9a-f]{64})  ([A-Za-z0-9_./-]{1,250})", re.ASCII)


def to_manifest(files: Mapping[str, bytes]) -> bytes:
    """Return the manifest of files: one line with digest and name for each file, sorted by name."""
    return "".join(f"{digest(files[name])}  {name}\n" for name in sorted(files)).encode()


def read_manifest(content: bytes) -> dict[str, str]:
    """Return the digests of a manifest by file name; refuse a malformed line and a repeated name."""
    listed: dict[str, str] = {}
    for number, line in enumerate(content.decode("ascii", "replace").splitlines(), 1):
        found = LINE.fullmatch(line)
        if not found or found[2] in listed:
            raise EvidenceRefused(f"line {number} of {MANIFEST} is no digest and name, or names a file again")
        listed[found[2]] = found[1]
    return listed
