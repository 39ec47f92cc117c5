"""Run the program on one hostile case after the other, and count what must not happen."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hostile import steers

from fairenum import cli

CODES = (0, 1, 2, 3)  # how a command may end that nobody interrupts


class OutOfTime(BaseException):
    """A case that takes longer than its limit; no handler of the program's own catches it."""


@dataclass(frozen=True)
class Ended:
    """How a case ended.

    Attributes
    ----------
    faults
        What must not happen: an internal error, an answer in many lines, a warning, a file left behind, too long a run.
    """

    code: int | None
    out: str
    err: str
    seconds: float
    faults: tuple[str, ...]


def run(arguments: list[str], folder: Path, allowed: Iterable[str] = (), seconds: float = 20.0) -> Ended:
    """Run a command line in a folder; `allowed` are the files that it may write if it ends well."""
    before, started = listing(folder), time.monotonic()
    out, err, code = Printed(), Printed(), None
    with _within(seconds), _working_in(folder), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)  # processes that compile beforehand, which nobody waits for
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = int(cli.run(arguments))
        except OutOfTime:
            pass
    taken = time.monotonic() - started
    faults = [*_faults(code, err.text(), heard), *_left(code, listing(folder) - before, set(allowed))]
    return Ended(code, out.text(), err.text(), taken, tuple(faults))


class Printed(io.TextIOWrapper):
    """What is printed, as a stream that the program may write text or bytes to, and in UTF-8 alone."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True)

    def text(self) -> str:
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined]


def listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _faults(code: int | None, err: str, heard: list[warnings.WarningMessage]) -> Iterator[str]:
    if code is None:
        yield "out of time"
    elif code not in CODES:
        yield f"code {code}: {err.strip().splitlines()[0][:120] if err.strip() else ''}"
    if code == 2 and (not err.startswith("error: ") or err.count("\n") != 1):
        yield f"no single line: {err[:120]!r}"
    if any(steers(sign) for sign in err if sign != "\n"):
        yield f"raw signs on stderr: {err[:120]!r}"
    for one in heard:
        yield f"warning: {one.category.__name__}: {str(one.message)[:80]} ({Path(one.filename).name})"


def _left(code: int | None, new: set[str], allowed: set[str]) -> Iterator[str]:
    """Tell of files that nobody asked for, and of any that an error leaves behind."""
    # a rule that is violated or left open is judged when all is written
    for name in sorted(new if code in (None, 2, 70) else new - allowed):
        yield f"left behind: {name[:60]!r}"


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    def interrupt(*_: object) -> None:
        raise OutOfTime

    earlier = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)


@contextlib.contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def counted(cases: Iterable[Callable[[], Ended]]) -> Counter[str]:
    """Run cases, and count their faults."""
    return Counter(fault for case in cases for fault in case().faults)


def peak_memory() -> int:
    """Return the most bytes that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
