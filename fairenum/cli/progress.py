"""Progress on stderr: a bar if that is a terminal, and one line if the first model takes long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

import rich_click as click

Progress = Callable[[str, int, int | None], None]

STAGES = {
    "load": "reading the table",
    "prepare": "encoding and splitting",
    "tune": "choosing C",
    "enumerate": "listing models",
    "score": "scoring",
    "select": "selecting",
}
LONG = 5.0
FIRST_RUN = "still at work on the first model; the first run of an installation compiles its inner loop, once"


@contextmanager
def shown_progress(quiet: bool) -> Iterator[Progress]:
    """Show what is under way."""
    if quiet:
        yield lambda *_: None
        return
    with _bar() as show, _patience() as arrived:

        def report(stage: str, done: int, total: int | None) -> None:
            show(stage, done, total)
            arrived(stage, done)

        yield report


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("", total=None)
        yield lambda stage, done, total: bars.update(
            task, description=STAGES.get(stage, stage), completed=done, total=total
        )


@contextmanager
def _patience() -> Iterator[Callable[[str, int], None]]:
    """Say why it takes long, unless the first model arrives soon."""
    timer = Timer(LONG, click.echo, [FIRST_RUN], {"err": True})
    timer.daemon = True

    def arrived(stage: str, done: int) -> None:
        if stage == "enumerate" and not done and not timer.is_alive() and not timer.finished.is_set():
            timer.start()
        elif stage not in ("load", "prepare", "tune") and (done or stage != "enumerate"):
            timer.cancel()

    try:
        yield arrived
    finally:
        timer.cancel()
