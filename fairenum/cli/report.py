"""fairenum report: show saved runs again, one or several side by side; no data is needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from fairenum.cli.exit import Exit
from fairenum.cli.outputs import STDOUT, Outputs, output_options

if TYPE_CHECKING:
    from fairenum.audit import AuditResult

ALONE = ("rules", "json", "markdown", "junit", "profile")


@click.command()
@click.argument("runs", type=click.Path(dir_okay=False), nargs=-1, required=True)
@output_options
def report(runs: tuple[str, ...], **options: Any) -> Exit:
    """Show the saved audit RUN again, in any form, and judge it by rules; several RUNS are compared side by side."""
    outputs = Outputs.taken_from(options, inputs=runs)
    from fairenum.audit import AuditResult

    if len(runs) == 1:
        return outputs.deliver(AuditResult.load(runs[0]), saves=False)
    for name in ALONE:
        if getattr(outputs, name):
            raise click.UsageError(f"--{'fail-on' if name == 'rules' else name} is for one run; give one, or --html")
    results = {name: AuditResult.load(path) for name, path in _names(runs).items()}
    return _compare(results, outputs)


def _names(runs: tuple[str, ...]) -> dict[str, str]:
    """Call runs by their files' names, or by their paths where those are not all different."""
    if len(set(runs)) < len(runs):
        raise click.UsageError("a run is given twice; give different ones")
    stems = [Path(run).stem for run in runs]
    return dict(zip(stems if len(set(stems)) == len(runs) else runs, runs, strict=True))


def _compare(results: dict[str, AuditResult], outputs: Outputs) -> Exit:
    from rich.console import Console

    from fairenum.audit.result import write_atomically
    from fairenum.report.comparison import compare, runs, summary
    from fairenum.report.html import render
    from fairenum.report.terminal import print_table

    documents = {name: (one.redacted() if outputs.redact else one).document for name, one in results.items()}
    page = compare(documents)
    if outputs.html == STDOUT:
        click.echo(render(page), nl=False)
        return Exit.DONE
    if outputs.html:
        write_atomically(outputs.html, render(page).encode())
    if not outputs.quiet:
        files = [("html", outputs.html)] if outputs.html else []
        print_table(page.headline, page.findings, summary(runs(documents)), files, Console())
    return Exit.DONE
