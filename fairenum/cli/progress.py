"""Progress on stderr: a bar if that is a terminal, and one line if the first model takes long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Timer

from fairenum.progress import Progress, silent

STAGES = {
    "load": "reading the table",
    "divide": "splitting and encoding",
    "tune": "choosing C",
    "enumerate": "listing models",
    "guide": "searching for fairer models",
    "tilt": "tilting planes towards parity",
    "baselines": "trying other mitigations",
    "screen": "looking at what single features give away",
    "score": "scoring",
    "disagree": "comparing decisions",
    "range": "bounding what any machine could do",
    "choose": "selecting",
    "explain": "looking for the examples that matter",
    "weigh": "weighing how much choosing flatters",
    "attack": "simulating attacks",
    "reproduce": "running splits and draws",
}
LONG = 5.0
FIRST_RUN = (
    "still at the first model: a first run compiles the inner loop, once; large tables take long (--split trains on "
    "fewer rows)"
)


@contextmanager
def shown_progress(quiet: bool) -> Iterator[Progress]:
    """Show what is under way."""
    if quiet:
        yield silent
        return
    with _bar() as (show, say):
        patience = Timer(LONG, say, [FIRST_RUN])
        patience.daemon = True

        def report(stage: str, done: int, total: int | None) -> None:
            show(stage, done, total)
            has_started, is_waiting = patience.ident is not None, stage == "enumerate" and not done
            if is_waiting and not has_started:
                patience.start()
            elif has_started and not is_waiting:
                patience.cancel()

        try:
            yield report
        finally:
            patience.cancel()


@contextmanager
def _bar() -> Iterator[tuple[Progress, Callable[[str], None]]]:
    """Open a bar, and give what moves it and what prints a line above it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True, markup=False, highlight=False)
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), *times)
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("", total=None)

        def show(stage: str, done: int, total: int | None) -> None:
            bars.update(task, description=STAGES.get(stage, stage), completed=done, total=total)

        yield show, partial(console.print, soft_wrap=True)
