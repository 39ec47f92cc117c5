"""fairenum verify: check that an evidence file is unchanged and consistent."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from fairenum.cli.streams import Exit
from fairenum.runtime.formatting import plain

HELP = """Check the evidence FILE: every file in it as listed, a valid run, and pages that show this run.

\b
fairenum audit compas --evidence audit.zip
fairenum verify audit.zip

Nothing in FILE is run or written to disk. Exit code 1 if it is not verified, 2 if it is no evidence file.
"""


@click.command(help=HELP)
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--quiet", "-q", is_flag=True, help="Print nothing; the exit code says it.")
def verify(file: str, quiet: bool) -> Exit:
    """Verify an evidence file, print the faults found, and return the exit code."""
    from fairenum.evidence.verification import verify as check
    from fairenum.report.evidence_words import outcome

    found = check(file)
    if not quiet:
        for line in outcome(found, Path(file).name):
            click.echo(plain(line))
    return Exit.DONE if found.is_verified else Exit.VIOLATED
