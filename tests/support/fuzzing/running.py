"""Run the program on one hostile case after the other, and count what must not happen."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fairenum import cli
from support.fuzzing.hostile import steers

CODES = (0, 1, 2, 3)  # how a command may end that nobody interrupts
FAILED = (None, 2, 70)  # how it ends without a result
KINDS = ("internal error", "out of time", "left behind", "half-written", "warning", "raw signs", "no single line")
PATIENCE = 15  # seconds by the clock for each of the processor, which others may need as well
ENDS = {".html": b"</html>", ".json": b"}", ".jsonl": b"}"}  # of a file that is whole

Files = dict[str, bytes | None]
Warnings = list[warnings.WarningMessage]


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
    """Run a command line in a folder; `allowed` are the files that it may write if it ends well.

    The seconds are those of the processor: other work on the machine counts for nothing.
    """
    before, started = contents(folder), time.process_time()
    out, err, code = Printed(), Printed(), None
    with _within(seconds), _working_in(folder), _listening() as heard:
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = int(cli.run(arguments))
        except OutOfTime:
            pass
    taken = time.process_time() - started
    shown = out.text() if "-" not in arguments else ""  # what is asked for as a file is no text for people
    faults = [*_faults(code, shown, err.text()), *_warned(heard), *_left(code, before, contents(folder), set(allowed))]
    return Ended(code, out.text(), err.text(), taken, tuple(faults))


def called(work: Callable[[], Iterable[str]], seconds: float = 20.0) -> Ended:
    """Call what tells its faults itself; whatever it raises is one, and so are warnings and too long a time."""
    started = time.process_time()
    with _within(seconds), _listening() as heard:
        try:
            faults = [*work()]
        except OutOfTime:
            faults = ["out of time"]
        except Exception as error:  # noqa: BLE001  # whatever it is, it counts
            faults = [f"internal error: {type(error).__name__}: {error!s:.120}"]
    return Ended(0, "", "", time.process_time() - started, (*faults, *_warned(heard)))


@contextlib.contextmanager
def _listening() -> Iterator[Warnings]:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)  # processes that compile beforehand, which nobody waits for
        yield heard


class Printed(io.TextIOWrapper):
    """What is printed, as a stream that the program may write text or bytes to, and in UTF-8 alone."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True)

    def text(self) -> str:
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined]


def listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def contents(folder: Path) -> Files:
    """Read all files of a folder; a folder in it holds nothing itself."""
    paths = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in paths}


def _faults(code: int | None, out: str, err: str) -> Iterator[str]:
    if code is None:
        yield "out of time"
    elif code not in CODES:
        yield f"internal error: code {code}: {err.strip().splitlines()[0][:120] if err.strip() else ''}"
    if code == 2 and (not err.startswith("error: ") or err.count("\n") != 1):
        yield f"no single line: {err[:120]!r}"
    for name, text in (("stdout", out), ("stderr", err)):
        if any(steers(sign) for sign in text if sign != "\n"):
            yield f"raw signs: on {name}: {text[:120]!r}"


def _warned(heard: Warnings) -> Iterator[str]:
    for one in heard:
        yield f"warning: {one.category.__name__}: {str(one.message)[:80]} ({Path(one.filename).name})"


def _left(code: int | None, before: Files, after: Files, allowed: set[str]) -> Iterator[str]:
    """Tell of files that nobody asked for, of any that an error leaves behind or changes, and of any not whole."""
    # a rule that is violated or left open is judged when all is written
    may_change = set() if code in FAILED else allowed
    for name in sorted({name for name in {*before, *after} if before.get(name, b"") != after.get(name, b"")}):
        if name not in may_change:
            yield f"left behind: {name[:60]!r}{' changed' if name in before else ''}"
        elif not (after.get(name) or b"").rstrip().endswith(ENDS.get(Path(name).suffix, b"")):
            yield f"half-written: {name!r}"


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Interrupt what takes so long of the processor, or far longer by the clock, as it waits for something."""

    def interrupt(*_: object) -> None:
        raise OutOfTime

    timers = ((signal.SIGPROF, signal.ITIMER_PROF, seconds), (signal.SIGALRM, signal.ITIMER_REAL, PATIENCE * seconds))
    earlier = [signal.signal(told, interrupt) for told, _, _ in timers]
    for _, timer, limit in timers:
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for (told, timer, _), handler in zip(timers, earlier, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(told, handler)


@contextlib.contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def kind_of(fault: str) -> str:
    """Say which of the kinds a fault is of; what no kind names is an internal error."""
    return next((kind for kind in KINDS if fault.startswith(kind)), KINDS[0])
