"""The file of a decision record: one line a step, on the disk before it counts, and one writer at a time."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Protocol, TypeVar

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


class Lines(Protocol):
    """Where lines are kept."""

    def append(self, line: bytes) -> None:
        """Keep one more line, which ends with a line feed."""

    @property
    def close(self) -> Callable[[], object]:
        """Lets others write."""


class InMemory:
    """Lines that nobody asked to keep on a disk."""

    def append(self, line: bytes) -> None:
        """Keep nothing: the record itself holds its lines."""

    def close(self) -> None:
        """Nothing is held."""


class LockedFile:
    """A file that one process writes; the system lets go of it when the process ends, however that happens."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise RecordRefused(f"cannot open the record {str(path)!r}: {error.strerror}") from error
        self.close = weakref.finalize(self, os.close, self._handle)  # a file that is forgotten is free again
        try:
            _lock(self._handle)
        except OSError as error:
            self.close()
            raise RecordRefused(
                f"the record {str(path)!r} is in use by another exploration; close that one, or name another record"
            ) from error

    def read(self) -> bytes:
        """Return all that the file holds."""
        with os.fdopen(os.dup(self._handle), "rb") as file:
            file.seek(0)
            return file.read()

    def append(self, line: bytes) -> None:
        """Write a line and wait until it is on the disk; a line that cannot be written whole is taken back."""
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
        """Drop what comes after so many bytes."""
        os.ftruncate(self._handle, size)
        os.fsync(self._handle)


class Record:
    """A decision record: its header, its entries, and where they are kept.

    Attributes
    ----------
    header, entries
        What it holds.
    was_torn
        Whether the last line was cut short by the end of its process, and dropped.
    """

    def __init__(self, lines: Lines, now: Callable[[], str]) -> None:
        self._lines, self._now = lines, now
        self._last = b""
        self.header: RecordHeader | None = None
        self.entries: list[Entry | Judged] = []
        self.was_torn = False
        self._torn: Callable[[], None] | None = None

    @classmethod
    def begin(cls, path: Path | None, now: Callable[[], str] | None = None) -> Record:
        """Open a new record; refuse a file that holds something."""
        if path is None:
            return cls(InMemory(), now or _now)
        file = LockedFile(path)
        if file.read():
            file.close()
            raise RecordRefused(
                f"{str(path)!r} holds something already; go on with it by Exploration.resume(record, data), or name "
                "another record"
            )
        return cls(file, now or _now)

    @classmethod
    def reopen(cls, path: Path, now: Callable[[], str] | None = None) -> Record:
        """Open a record to go on with it; a last line that was cut short is left aside, see `drop_torn`."""
        if not path.is_file():
            raise RecordRefused(f"there is no record {str(path)!r}; begin one by Exploration(data, record=...)")
        file = LockedFile(path)
        record = cls(file, now or _now)
        try:
            record._read(file)
        except BaseException:
            file.close()
            raise
        return record

    @property
    def path(self) -> Path | None:
        """The file; None if there is none."""
        return self._lines.path if isinstance(self._lines, LockedFile) else None

    @property
    def told(self) -> RecordHeader:
        """The header of a record that was reopened."""
        if self.header is None:
            raise RecordRefused(
                f"{str(self.path)!r} holds no step; remove it, and begin by Exploration(data, record=...)"
            )
        return self.header

    @property
    def tip(self) -> str:
        """The sha256 of the last line, to which all lines before it are bound."""
        return sha256(self._last).hexdigest()

    def head(self, header: Callable[[str], RecordHeader]) -> None:
        """Write the first line."""
        self.header = header(self._now())
        self._write(self.header)

    def add(self, made: Callable[[int, str, str], L]) -> L:
        """Write one more line, given its number, the time, and the line before."""
        line = made(len(self.entries) + 1, self._now(), self.tip)
        self._write(line)
        self.entries.append(line)
        return line

    def close(self) -> None:
        """Let others write."""
        self._lines.close()

    def drop_torn(self) -> None:
        """Drop a last line that was cut short: not before it is sure that this is the record to go on with."""
        if self._torn is not None:
            self._torn()
            self._torn = None

    def _write(self, line: RecordLine) -> None:
        text = msgspec.json.encode(line)
        self.drop_torn()
        self._lines.append(text + b"\n")
        self._last = text

    def _read(self, file: LockedFile) -> None:
        content = file.read()
        whole, feed, torn = content.rpartition(b"\n")
        for number, text in enumerate(whole.split(b"\n") if whole else ()):
            self._take(_decoded(text, number, file.path), text, number, file.path)
        if torn and self.header is not None:  # nothing is cut off what may be no record at all
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
            f"line {number + 1} of {str(path)!r} is none of a decision record: {shortened(error)}"
        ) from error
    return line


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
