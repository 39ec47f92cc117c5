"""Setup of stdout, which carries results only, with error messages if it is closed or cannot be written."""

from __future__ import annotations

import io
import os
import signal
import sys
from enum import IntEnum
from typing import TYPE_CHECKING

import rich_click as click

from fairenum.runtime.plugins import is_in_plugin

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Exit(IntEnum):
    """Exit codes, as documented in ``fairenum --help``."""

    DONE = 0
    VIOLATED = 1
    BAD_INPUT = 2
    INCONCLUSIVE = 3
    PARTIAL = 4
    INTERNAL = 70
    INTERRUPTED = 130


NAME = "standard output"

# Modes in which closed standard streams are opened. Standard output is read-only, so that a write fails instead of
# losing the result.
CLOSED = (os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)


class _Raw(io.FileIO):
    """Unbuffered stdout: write errors name "standard output", and a closed pipe ends the program by SIGPIPE.

    The default action of SIGPIPE is restored only when stdout is closed, as other pipes and connections may break
    without ending the program.
    """

    def write(self, content: ReadableBuffer, /) -> int:
        try:
            return super().write(content)
        except BrokenPipeError:
            if hasattr(signal, "SIGPIPE"):
                signal.signal(signal.SIGPIPE, signal.SIG_DFL)
                os.kill(os.getpid(), signal.SIGPIPE)
            raise
        except OSError as error:
            raise OSError(error.errno, error.strerror, NAME) from error


class _Stdout(io.TextIOWrapper):
    """Text stdout that writes to stderr instead while code of a plugin runs."""

    def write(self, text: str, /) -> int:
        return sys.stderr.write(text) if is_in_plugin() else super().write(text)


def prepare_streams() -> None:
    """Open closed standard streams, and send the output of plugins and compiled code to stderr.

    If a standard stream stayed closed, a file opened later could take its file descriptor. A `sys.stdout` that was
    replaced before is left as it is.
    """
    for number, mode in enumerate(CLOSED):
        if not _is_open(number):
            os.open(os.devnull, mode)  # takes the lowest free number
    encoding = getattr(sys.stdout, "encoding", "utf-8")
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding=encoding, closefd=False)  # noqa: SIM115 - as long as the program
    if sys.stdout is None or (sys.stdout is sys.__stdout__ and not os.isatty(1)):
        raw = _Raw(os.dup(1), "w")
        os.dup2(2, 1)  # output of compiled code and child processes goes to stderr
        sys.stdout = _Stdout(io.BufferedWriter(raw), encoding)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def flushed(code: int) -> int:
    """Flush stdout and return the exit code, which becomes BAD_INPUT if stdout cannot be written."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # no second attempt at exit
        if code != Exit.BAD_INPUT:
            click.echo(f"error: {NAME!r}: {error.strerror}", err=True)
        return Exit.BAD_INPUT
    return code


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
