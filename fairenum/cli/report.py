"""fairenum report: show a saved run again; no data is needed."""

from __future__ import annotations

from typing import Any

import rich_click as click

from fairenum.cli.exit import Exit
from fairenum.cli.outputs import Outputs, output_options


@click.command()
@click.argument("run", type=click.Path(dir_okay=False))
@output_options
def report(run: str, **options: Any) -> Exit:
    """Show the saved audit RUN again, in any form, and judge it by rules; no data is needed."""
    outputs = Outputs.taken_from(options, inputs=(run,))
    from fairenum.audit import AuditResult

    return outputs.deliver(AuditResult.load(run), saves=False)
