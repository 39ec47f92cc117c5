"""fairenum select: choose again in a saved run, under other tolerances."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import rich_click as click

from fairenum.cli.exit import Exit
from fairenum.cli.options import METRIC_HELP, METRICS, complete_data
from fairenum.cli.outputs import Outputs, check_target, output_options
from fairenum.cli.progress import shown_progress
from fairenum.errors import ResultError

if TYPE_CHECKING:
    from fairenum.audit import AuditResult

HELP = """Choose the fairest near-optimal model of the saved audit RUN again, under other tolerances.

What is not given stays as it was in RUN, which is left unchanged. A run holds scores, not models: --export needs the
data once more, and lists the models again.
"""

tolerance = partial(click.option, panel="Selection")
output = partial(click.option, panel="Output", callback=check_target)


@click.command(help=HELP)
@click.argument("run", type=click.Path(dir_okay=False))
@tolerance("--metric", type=click.Choice(METRICS), metavar="GAP", help=METRIC_HELP)
@tolerance("--eps", type=float, help="Largest relative loss of objective.")
@tolerance("--max-accuracy-drop", type=float, help="Largest loss of accuracy.")
@output("--output", metavar="DIR|PATH", help="Save the new choice as a run of its own.")
@output("--export", metavar="PATH", help="Write the selected model, with its preprocessing, as a skops file.")
@click.option("--data", panel="Output", shell_complete=complete_data, help="Data of RUN, for --export.")
@output_options
def select(run: str, data: str | None, **options: Any) -> Exit:
    """Choose again and deliver the result."""
    outputs = Outputs.taken_from(options, inputs=(run,) if data is None else (run, data))
    if outputs.export and data is None:
        raise click.UsageError("a saved run holds no models; name its data, too: --data DATA")
    from fairenum.audit import AuditResult
    from fairenum.audit import select as choose

    result = AuditResult.load(run)
    if data is not None:
        result = _repeated(result, data, outputs.quiet)
    return outputs.deliver(choose(result, **options), saves=False)


def _repeated(saved: AuditResult, data: str, quiet: bool) -> AuditResult:
    """List the models of a saved run again; refuse data that is not the run's."""
    from fairenum.audit import AuditConfig, audit

    settings = dict(saved.document["config"])
    label, favourable, sensitive = (settings.pop(name) for name in ("label", "favourable", "sensitive"))
    del settings["requested"]
    with shown_progress(quiet) as progress:
        fresh = audit(data, label, favourable, sensitive, config=AuditConfig(**settings), progress=progress)
    if fresh.document["environment"]["fingerprint"] != saved.document["environment"]["fingerprint"]:
        raise ResultError(f"{data!r} is not the data of this run: the content differs")
    return fresh
