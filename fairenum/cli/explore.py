"""fairenum explore: look at near-optimal models one by one on a local web page, and decide for one."""

from __future__ import annotations

import threading
import warnings
import webbrowser
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click
from click.core import ParameterSource

from fairenum.cli.audit import OPTIONS, audit
from fairenum.cli.config_file import config_options, named_options_file
from fairenum.cli.outputs import check_target
from fairenum.cli.shared_options import LABELLED, Number, added, complete_data
from fairenum.cli.streams import Exit
from fairenum.document.audit_config import AuditConfig
from fairenum.errors import RecordRefused, ResultError
from fairenum.runtime.formatting import file_name, plain

if TYPE_CHECKING:
    from fairenum.document.decision_record import RecordHeader
    from fairenum.explore.exploration import Exploration
    from fairenum.runtime.budget import Progress

HELP = """Look at the near-optimal models of DATA one after the other, say which rows stay or go, and decide.

\b
fairenum explore german
fairenum explore loans.csv --label approved --favourable yes --sensitive sex
fairenum explore run.json --data loans.csv

This opens a page that only this computer can reach. Every step goes to the decision record, a file of JSON lines, from
which the same command goes on. A saved RUN brings its options, and a decision about it is exploratory: its holdout has
been seen.
"""


# Options of an audit that do not apply to an exploration, where the user decides how many models to list.
AUDIT_ONLY = {"k", "patience", "max_nodes", "max_seconds", "search", "baselines"}
RUN = ".json"
page = partial(click.option, panel="Page")


@click.command(help=HELP)
@click.argument("data", metavar="DATA|RUN", shell_complete=complete_data)
@page("--data", "table", metavar="DATA", shell_complete=complete_data, help="Data of RUN, if they are not bundled.")
@page(
    "--record",
    metavar="PATH",
    callback=check_target,
    help="The decision record, to begin or to go on with.  [default: fairenum-NAME-decision.jsonl]",
)
@page("--port", type=click.IntRange(0, 65535), default=0, help="Port of this computer.  [default: any that is free]")
@page("--no-browser", "browser", flag_value=False, is_flag=True, default=True, help="Print the address, and no more.")
@page(
    "--idle",
    type=Number(0.0, 1e6),
    default=30.0,
    metavar="MINUTES",
    show_default=True,
    help="End after this time without an open page; 0 for never.",
)
@added(one for name, one in OPTIONS.items() if name not in AUDIT_ONLY)
@config_options(other=audit)
def explore(
    data: str, table: str | None, record: str | None, port: int, browser: bool, idle: float, **options: object
) -> Exit:
    """Serve the page of an exploration until the user or the idle time ends it, and return the exit code."""
    beginning = _beginning(data, table, record, options)
    from fairenum.explore.server import serve

    announce = partial(_announce, beginning, [*named_options_file()], is_opened=browser)
    ended = serve(beginning, announce, port=port, idle=60 * idle)
    if ended.failure is not None:
        raise ended.failure
    if not ended.is_saved:
        raise click.Abort
    why = f" as no page was open for {idle:g} minutes" if ended.is_idle else ""
    click.echo(plain(f"ended{why}; every step is in {beginning.record}, and the same command goes on from there"))
    return Exit.DONE


@dataclass(frozen=True, slots=True)
class Beginning:
    """A callable that opens an exploration: a new one, or one resumed from its decision record.

    `record` is the path of the decision record, the file of all steps. `run` is a saved run whose options are used. If
    `is_asked`, the user gave options, and an existing record must agree with them.
    """

    table: str
    record: str
    run: str | None = None
    label: str | None = None
    favourable: str | None = None
    sensitive: tuple[str, ...] = ()
    config: AuditConfig | None = None
    is_asked: bool = False

    @property
    def is_on_record(self) -> bool:
        """Whether the decision record exists and is not empty."""
        path = Path(self.record)
        return path.is_file() and path.stat().st_size > 0

    def __call__(self, progress: Progress) -> Exploration:
        """Return the exploration resumed from the decision record or, without a record, a new one."""
        from fairenum.explore.exploration import Exploration

        if self.is_on_record:
            with warnings.catch_warnings():  # the page reports the dropped line
                warnings.filterwarnings("ignore", "the last line of the record")
                return Exploration.resume(self.record, self.table, progress=progress, agrees=self._refuse_others)
        if self.run is not None:
            return Exploration(self.table, run=self.run, record=self.record, progress=progress)
        named = self.label, self.favourable, self.sensitive or None
        return Exploration(self.table, *named, config=self.config, record=self.record, progress=progress)

    def _refuse_others(self, header: RecordHeader) -> None:
        """Refuse to resume a decision record if the options given now differ from those in its header."""
        if not self.is_asked:
            return
        names = ("label", "favourable", "sensitive")
        others = [name for name in names if getattr(self, name) not in (None, (), getattr(header, name))]
        if self.config is not None:
            given, begun = self.config, header.config
            others += [one.name for one in fields(given) if getattr(given, one.name) != getattr(begun, one.name)]
        if others:
            raise RecordRefused(
                f"{self.record!r} was begun with other options ({', '.join(others)}); leave them out to go on with "
                "it, or name another record (--record)"
            )


def _beginning(data: str, table: str | None, record: str | None, options: dict[str, object]) -> Beginning:
    """Check the options, and return the callable that opens the exploration."""
    source = click.get_current_context().get_parameter_source  # type: ignore[union-attr]  # a command runs
    given = [name for name in options if source(name) is not ParameterSource.DEFAULT]
    if data.endswith(RUN):
        if given:
            raise click.UsageError("a run has its options; leave out others, or explore its table anew")
        return _beginning_of_run(data, table, record)
    if table is not None:
        raise click.UsageError(f"--data names the data of a run, and {data!r} is none")
    label, favourable, sensitive = (options.pop(name) for name in LABELLED)
    config = AuditConfig().but(**options)
    return Beginning(data, record or _place(data), None, label, favourable, sensitive, config, bool(given))  # type: ignore[arg-type]


def _beginning_of_run(run: str, table: str | None, record: str | None) -> Beginning:
    from fairenum.document.audit_document import AuditDocument
    from fairenum.document.files import load_as
    from fairenum.tables.table_files import list_datasets

    name = load_as(AuditDocument, run).dataset.name
    if table is None and name not in {card.name for card in list_datasets()}:
        raise ResultError(f"the run does not hold its table, {name!r}; name the data, too: --data DATA")
    return Beginning(table or name, record or _place(run), run)


def _place(data: str) -> str:
    return file_name(f"{Path(data).stem.removeprefix('fairenum-')}-decision", "jsonl")


def _announce(beginning: Beginning, files: list[tuple[str, str]], address: str, *, is_opened: bool) -> None:
    """Print the address of the page, the path of the decision record and other files; open a browser if `is_opened`."""
    record = f"{'going on with' if beginning.is_on_record else 'steps go to'} {beginning.record}; Ctrl-C ends"
    lines = (record, *(f"{kind}: {name}" for kind, name in files))
    click.echo("\n".join((address, *map(plain, lines))))
    if is_opened:  # opening some browsers blocks
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
