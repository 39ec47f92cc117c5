"""fairenum solvers: list the solvers, whether each is available, and how to install missing packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

if TYPE_CHECKING:
    from rich.table import Table

    from fairenum.solvers.registry import SolverInfo


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def solvers(as_json: bool) -> None:
    """List the solvers: their provider, version and state, and how to install what is missing."""
    from fairenum.solvers.registry import list_solvers

    found = list_solvers()
    if as_json:
        import json

        click.echo(json.dumps([_record(info) for info in found], indent=2))
        return
    from rich.console import Console

    # Text of a plugin is never markup; install commands are not broken into lines.
    console = Console(markup=False, highlight=False)
    console.print(_table(found))
    for info in found:
        if info.reason:
            console.print(info.reason, soft_wrap=True)


def _record(info: SolverInfo) -> dict[str, object]:
    return {
        "name": info.name,
        "provider": info.provider,
        "version": info.version,
        "backends": dict(info.backends),
        "available": info.is_available,
        "missing": list(info.missing),
        "install": info.install,
        "error": info.error or None,
    }


def _table(found: tuple[SolverInfo, ...]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("name", "provider", "version", "backend", "status"):
        table.add_column(heading, overflow="fold")
    for info in found:
        backend = ", ".join(f"{name} {version}" for name, version in info.backends) or "none"
        style = None if info.is_available else "yellow"
        table.add_row(info.name, info.provider, info.version, backend, _status(info), style=style)
    return table


def _status(info: SolverInfo) -> str:
    if info.error:
        return "broken"
    return f"needs {', '.join(info.missing)}" if info.missing else "available"
