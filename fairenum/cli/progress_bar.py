"""Progress on stderr: a bar if stderr is a terminal, and a message when a step takes long."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from threading import Timer

from fairenum.runtime.budget import Budget, Forecast, Progress, silent

STAGES = {
    "load": "reading the table",
    "divide": "splitting and encoding",
    "tune": "choosing C",
    "enumerate": "listing models",
    "guide": "searching for fairer models",
    "tilt": "tilting planes towards parity",
    "cross": "trying tilted models on training rows that they did not learn from",
    "baselines": "trying other mitigations",
    "screen": "looking at what single features give away",
    "score": "scoring",
    "disagree": "comparing decisions",
    "prices": "finding whose decision depends on the choice of model",
    "range": "bounding the parity gap of all near-optimal models",
    "choose": "selecting",
    "state": "putting the document together",
    "explain": "looking for the examples that matter",
    "weigh": "estimating the selection bias",
    "attack": "simulating attacks",
    "reproduce": "running splits and draws",
}
LONG = 5.0
FIRST_MODEL = "still at the first model: large tables take long (--split trains on fewer rows)"
COMPILING = "compiling the solver for this machine, once: this takes some seconds"
LONG_RUN = 20.0  # seconds; shorter estimates are not printed
MINUTE, HOUR = 60.0, 3600.0
SHORTER = "--time-limit ends it sooner, Ctrl-C now"
ENDING = "interrupted: the models so far are being scored and saved; Ctrl-C again gives up"


class Shown:
    """A progress callback: shows the current stage, and prints a message if the first model or the run takes long."""

    def __init__(self, show: Progress, say: Callable[[str], None], budget: Budget | None) -> None:
        self._show, self._say, self._budget = show, say, budget
        self._patience = Timer(LONG, say, [FIRST_MODEL])
        self._patience.daemon = True

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Show a stage with its steps done and in all; start or cancel the timer of the message about a long wait."""
        self._show(stage, done, total)
        has_started, is_waiting = self._patience.ident is not None, stage == "enumerate" and not done
        if is_waiting and not has_started:
            self._patience.start()
        elif has_started and not is_waiting:
            self._patience.cancel()

    def expect(self, estimate: Forecast) -> None:
        """Print the expected duration and memory if the duration is above `LONG_RUN` seconds."""
        limit = self._budget.seconds if self._budget else None
        if estimate.seconds > LONG_RUN:
            cut = SHORTER if limit is None else f"the limit of {limit:g} s cuts it" if limit < estimate.seconds else ""
            self._say(f"this will take about {expected(estimate)}{f'; {cut}' if cut else ''}")

    def close(self) -> None:
        """Cancel the message about a long wait if it was not printed yet."""
        self._patience.cancel()


class ShownWithNotes(Shown):
    """A progress callback that also prints what is known before the search."""

    def note(self, text: str) -> None:
        """Print a sentence for the user."""
        self._say(text)


def expected(estimate: Forecast) -> str:
    """Return expected time and memory in words, with the time in seconds, minutes or hours."""
    seconds = estimate.seconds
    time = f"{seconds / HOUR:.0f} h"
    if seconds < 2.0 * MINUTE:
        time = f"{round(seconds, -1):.0f} s"
    elif seconds < 2.0 * HOUR:
        time = f"{seconds / MINUTE:.0f} min"
    return f"{time} of one processor and {estimate.memory / 1e9:.1f} GB of memory"


@contextmanager
def shown_progress(quiet: bool, budget: Budget | None = None, *, has_notes: bool = False) -> Iterator[Progress]:
    """Yield a function that shows progress; with a budget, Ctrl-C also prints that the run is ending.

    `has_notes` tells whether to print what is known before the search.
    """
    if quiet:
        yield silent
        return
    with _bar() as (show, say):
        shown = (ShownWithNotes if has_notes else Shown)(show, say, budget)
        if budget:
            budget.heard = partial(say, ENDING)
        try:
            with _compiling_said(say):
                yield shown
        finally:
            shown.close()


@contextmanager
def _compiling_said(say: Callable[[str], None]) -> Iterator[None]:
    """Print one message when the first part of the solver is compiled inside this with block."""
    log, handler = logging.getLogger("fairenum.runtime.compiling"), _Once(say)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


class _Once(logging.Handler):
    """Log handler that prints the message about compiling at the first log record, and nothing afterwards."""

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__()
        self._say, self._is_said = say, False

    def emit(self, _record: logging.LogRecord) -> None:
        if not self._is_said:
            self._is_said = True
            self._say(COMPILING)


@contextmanager
def _bar() -> Iterator[tuple[Progress, Callable[[str], None]]]:
    """Show a progress bar; yield a function that updates the bar, and one that prints a line above it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True, markup=False, highlight=False)
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), *times)
    bars = Bars(*columns, console=console, transient=True)
    task = bars.add_task("", total=None)

    def show(stage: str, done: int, total: int | None) -> None:
        bars.update(task, description=STAGES.get(stage, stage), completed=done, total=total)

    with bars if console.is_terminal else nullcontext():  # a bar that is turned off leaves an empty line (rich < 14.3)
        yield show, partial(console.print, soft_wrap=True)
