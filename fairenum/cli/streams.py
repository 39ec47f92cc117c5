"""Standard output, which is for what was asked for and nothing else, and which may end before the program does."""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import TYPE_CHECKING

import rich_click as click

from fairenum.cli.exit import Exit
from fairenum.foreign import is_foreign

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

NAME = "standard output"
# How each of the three streams is opened if whoever started the program had closed it: what is written to standard
# output would be lost, and so is refused.
CLOSED = (os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)


class _Raw(io.FileIO):
    """Says in words what cannot be written; a pipe that nobody reads ends the program as it ends every filter.

    Other pipes and connections may break while there is something left to do.
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
    """Standard output without what plugins print, which goes to standard error."""

    def write(self, text: str, /) -> int:
        return sys.stderr.write(text) if is_foreign() else super().write(text)


def prepare_streams() -> None:
    """Have all three streams, so that no file takes the place of one, and keep standard output clean.

    Where it is something else already, whoever has put that there knows why.
    """
    for number, mode in enumerate(CLOSED):
        if not _is_open(number):
            os.open(os.devnull, mode)  # which takes the lowest number that is free
    encoding = getattr(sys.stdout, "encoding", "utf-8")
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding=encoding, closefd=False)  # noqa: SIM115 - as long as the program
    if sys.stdout is None or (sys.stdout is sys.__stdout__ and not os.isatty(1)):
        raw = _Raw(os.dup(1), "w")
        os.dup2(2, 1)  # for compiled code and other processes that print
        sys.stdout = _Stdout(io.BufferedWriter(raw), encoding)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def flushed(code: int) -> int:
    """Write what is left to be written, and return how the program ends, which depends on whether that can be done."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody is to try once more
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
