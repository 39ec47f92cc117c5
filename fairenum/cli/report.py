"""fairenum report: show a saved run again, or several saved audits side by side, without their data."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import rich_click as click

from fairenum.cli.delivery import OF_AUDITS, Delivery
from fairenum.cli.outputs import audit_output_options
from fairenum.cli.streams import Exit

# Options for a single run only; --redact also works for several.
OF_ONE = {"json": "json", **{name: spelling for name, spelling in OF_AUDITS.items() if name != "redact"}}
HELP = """Show the saved RUN again, in any form; judge it by rules; compare several audits side by side.

A run is what any command saved with --json: an audit, a measurement, a simulated attack, a benchmark, a reproduction.
"""


@click.command(help=HELP)
@click.argument("runs", type=click.Path(dir_okay=False), nargs=-1, required=True)
@audit_output_options
def report(runs: tuple[str, ...], **options: object) -> Exit:
    """Show one saved run, or compare several, and return the exit code."""
    delivery = Delivery.taken_from(options, inputs=runs)
    if len(runs) == 1:
        from fairenum.document.files import load

        return delivery.deliver(load(runs[0]))
    delivery.refuse(OF_ONE, "is for one run; give one, or --html or --markdown")
    return _compare(_names(runs), delivery)


def _names(runs: tuple[str, ...]) -> dict[str, str]:
    """Return the paths of runs by name: the file name, or the path if two file names are equal."""
    if len(set(map(os.path.realpath, runs))) < len(runs):
        raise click.UsageError("a run is given twice; give different ones")
    stems = [Path(run).stem for run in runs]
    return dict(zip(stems if len(set(stems)) == len(runs) else runs, runs, strict=True))


def _compare(paths: dict[str, str], delivery: Delivery) -> Exit:
    from fairenum.document.audit_document import AuditDocument
    from fairenum.document.files import load_as
    from fairenum.report import compare

    documents = {name: load_as(AuditDocument, path) for name, path in paths.items()}
    if delivery.redact:
        documents = {name: document.redacted() for name, document in documents.items()}
    return delivery.deliver_page(compare(documents, brief=True), partial(compare, documents))
