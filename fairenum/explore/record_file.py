"""The file of a decision record: one JSON line for each step, synced to disk; one process writes at a time."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import msgspec

from fairenum.document.decision_record import Entry, Judged, RecordHeader, RecordLine
from fairenum.document.received import refuse_unwritable, shortened
from fairenum.errors import FairenumError, RecordRefused

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


L = TypeVar("L", Entry, Judged)
DECODER = msgspec.json.Decoder(RecordLine)


class LockedFile:
    """A file locked by the process that writes it; the operating system unlocks it when the process ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise RecordRefused(f"cannot open the record {str(path)!r}: {error.strerror}") from error
        self.close = weakref.finalize(self, os.close, self._handle)  # garbage collection releases the lock, too
        try:
            _lock(self._handle)
        except OSError as error:
            self.close()
            raise RecordRefused(
                f"the record {str(path)!r} is in use by another exploration; close that one, or name another record"
            ) from error

    def read(self) -> bytes:
        """Return the content of the file."""
        with os.fdopen(os.dup(self._handle), "rb") as file:
            file.seek(0)
            return file.read()

    def append(self, line: bytes) -> None:
        """Append a line and sync it to disk; if that fails, remove the part written, and raise `RecordRefused`."""
        size = os.fstat(self._handle).st_size
        try:
            written = os.write(self._handle, line)
            if written < len(line):
                raise OSError(0, "the disk is full")
            os.fsync(self._handle)
        except OSError as error:
            os.ftruncate(self._handle, size)
            raise RecordRefused(
                f"cannot write to the record {str(self.path)!r}: {error.strerror}; the step was not taken"
            ) from error

    def cut(self, size: int) -> None:
        """Truncate the file to a size in bytes."""
        os.ftruncate(self._handle, size)
        os.fsync(self._handle)


class Record:
    """The decision record of an exploration: a header and an entry for each step, in a file or in memory only.

    `was_torn` says whether the last line of the file was dropped because it was incomplete, as after a killed process.
    """

    def __init__(self, file: LockedFile | None, now: Callable[[], str] | None) -> None:
        self._file, self._now = file, now or _now
        self._last = b""
        self.header: RecordHeader | None = None
        self.entries: list[Entry | Judged] = []
        self.was_torn = False
        self._torn: Callable[[], None] | None = None

    @classmethod
    def begin(cls, path: Path | None, now: Callable[[], str] | None = None) -> Record:
        """Return a new record, in memory only if `path` is None; refuse a file that is not empty."""
        if path is None:
            return cls(None, now)
        file = LockedFile(path)
        if file.read():
            file.close()
            raise RecordRefused(
                f"{str(path)!r} is not empty; go on with it by Exploration.resume(record, data), or name another record"
            )
        return cls(file, now)

    @classmethod
    def reopen(cls, path: Path, now: Callable[[], str] | None = None) -> Record:
        """Return an existing record; an incomplete last line is ignored, and removed from the file by `drop_torn`."""
        if not path.is_file():
            raise RecordRefused(f"there is no record {str(path)!r}; begin one by Exploration(data, record=...)")
        file = LockedFile(path)
        record = cls(file, now)
        try:
            record._read(file)
        except BaseException:
            file.close()
            raise
        return record

    @property
    def path(self) -> Path | None:
        """Path of the file; None if the record is in memory only."""
        return None if self._file is None else self._file.path

    @property
    def known_header(self) -> RecordHeader:
        """The header of a reopened record; refuse a record without a header."""
        if self.header is None:
            raise RecordRefused(
                f"{str(self.path)!r} holds no step; remove it, and begin by Exploration(data, record=...)"
            )
        return self.header

    @property
    def tip(self) -> str:
        """The SHA-256 of the last line; it depends on all lines, as each line contains the hash of the line before."""
        return sha256(self._last).hexdigest()

    def begin_with(self, header: Callable[[str], RecordHeader]) -> None:
        """Write the first line; `header` makes it from the current time."""
        self.header = header(self._now())
        self._write(self.header)

    def add(self, made: Callable[[int, str, str], L]) -> L:
        """Write and return a line; `made` builds it from its number, the time, and the hash of the line before."""
        line = made(len(self.entries) + 1, self._now(), self.tip)
        self._write(line)
        self.entries.append(line)
        return line

    def close(self) -> None:
        """Close the file, so that another process may write to it."""
        if self._file is not None:
            self._file.close()

    def drop_torn(self) -> None:
        """Remove an incomplete last line from the file; `reopen` keeps it there, in case the record is refused."""
        if self._torn is not None:
            self._torn()
            self._torn = None

    def _write(self, line: RecordLine) -> None:
        text = msgspec.json.encode(line)
        self.drop_torn()
        if self._file is not None:
            self._file.append(text + b"\n")
        self._last = text

    def _read(self, file: LockedFile) -> None:
        content = file.read()
        whole, feed, torn = content.rpartition(b"\n")
        for number, text in enumerate(whole.split(b"\n") if whole else ()):
            self._take(_decoded(text, number, file.path), text, number, file.path)
        if torn and self.header is not None:  # a file without a header may be no record: leave it alone
            self.was_torn = True
            self._torn = partial(file.cut, len(whole) + len(feed))

    def _take(self, line: RecordLine, text: bytes, number: int, path: Path) -> None:
        if isinstance(line, RecordHeader):
            is_right, self.header = number == 0, line
        else:
            is_right = line.number == number and line.previous == self.tip
            self.entries.append(line)
        if not is_right:
            raise RecordRefused(f"line {number + 1} of {str(path)!r} does not follow the one before it: it was changed")
        self._last = text


def _decoded(text: bytes, number: int, path: Path) -> RecordLine:
    try:
        line: RecordLine = DECODER.decode(text)
        refuse_unwritable(line)
    except (msgspec.MsgspecError, FairenumError, ValueError, RecursionError) as error:
        raise RecordRefused(
            f"line {number + 1} of {str(path)!r} is no line of a decision record: {shortened(error)}"
        ) from error
    return line


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
