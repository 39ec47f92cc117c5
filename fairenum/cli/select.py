"""fairenum select: choose again in a saved run, under other tolerances."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import rich_click as click

from fairenum.cli.delivery import Delivery
from fairenum.cli.exit import Exit
from fairenum.cli.options import EPS_HELP, MAX_DROP_HELP, METRIC_HELP, METRICS, complete_data
from fairenum.cli.outputs import audit_output_options, check_target
from fairenum.cli.progress import shown_progress
from fairenum.cli.values import Number, Whole
from fairenum.errors import ResultError

if TYPE_CHECKING:
    from fairenum.api import AuditResult
    from fairenum.document.audit import AuditDocument

HELP = """Choose the fairest near-optimal model of the saved audit RUN again, under other tolerances.

What is not given stays as it was in RUN, which is left unchanged. A run holds scores, not models: --export needs the
data once more, and lists the models again. It writes a model that is proposed: confirmed by the holdout, within every
guardrail there. Any other takes --rank N --unconfirmed, and ends with code 3 without it.
"""

tolerance = partial(click.option, panel="Selection")
output = partial(click.option, panel="Output", callback=check_target)


@click.command(help=HELP)
@click.argument("run", type=click.Path(dir_okay=False))
@tolerance("--metric", type=click.Choice(METRICS), metavar="GAP", help=METRIC_HELP)
@tolerance("--eps", type=Number("eps"), help=EPS_HELP)
@tolerance(
    "--max-loss",
    type=Number("max_loss"),
    help="Largest relative rise of the loss on all training rows, left out or not.",
)
@tolerance("--max-performance-drop", "--max-accuracy-drop", type=Number("max_performance_drop"), help=MAX_DROP_HELP)
@tolerance(
    "--guard",
    "guards",
    multiple=True,
    metavar="QUANTITY[@COLUMN]<=LIMIT",
    help="What a fairer model must not make worse, as for fairenum audit, in the place of the run's guardrail about "
    "the same. Repeatable; none first turns off those of the run.",
)
@tolerance("--rank", type=Whole("rank"), help="Take this model instead of the fairest.")
@output("--output", metavar="DIR|PATH", help="Save the new choice as a run of its own.")
@output(
    "--export",
    metavar="PATH",
    help="Write the selected model, if it is proposed, as a skops file.",
)
@click.option(
    "--unconfirmed", is_flag=True, panel="Output", help="Export the model of --rank though it is a candidate."
)
@click.option("--data", panel="Output", shell_complete=complete_data, help="Data of RUN, for --export.")
@audit_output_options
def select(run: str, data: str | None, unconfirmed: bool, **options: object) -> Exit:
    """Choose again and deliver the result."""
    delivery = Delivery.taken_from(options, inputs=(run,) if data is None else (run, data))
    if delivery.export and data is None:
        raise click.UsageError("a saved run holds no models; name its data, too: --data DATA")
    if unconfirmed and not (delivery.export and options["rank"]):
        raise click.UsageError("--unconfirmed exports the model that is named: --rank N --unconfirmed --export PATH")
    from fairenum.api import AuditResult
    from fairenum.api import select as choose

    result = AuditResult.load(run)
    if data is not None:
        result = _revived(result.document, data, delivery.quiet)
    # a choice that nobody changes was made without a look at the holdout, and stays what it is
    is_kept = result.document.selection.proposal is not None and all(value in (None, ()) for value in options.values())
    chosen = result if is_kept else choose(result, **options)  # type: ignore[arg-type]  # click has converted them
    return delivery.deliver(chosen.document, export=partial(chosen.export, unconfirmed=unconfirmed))


def _revived(saved: AuditDocument, data: str, quiet: bool) -> AuditResult:
    """List the models of a saved run again, and lay them beside it; refuse models or data that are not the run's."""
    from fairenum.api import AuditResult, audit
    from fairenum.auditing.reopening import config_of

    table = saved.dataset
    config = config_of(saved)
    with shown_progress(quiet) as progress:
        fresh = audit(data, table.label, table.favourable, table.sensitive_columns, config=config, progress=progress)
    if fresh.is_partial:
        raise KeyboardInterrupt  # a part of the list will not do
    if fresh.document.dataset.fingerprint != table.fingerprint:
        raise ResultError(f"{data!r} is not the data of this run: the content differs")
    if _sizes(fresh.document) != _sizes(saved):
        raise ResultError(
            "the models of this run come out otherwise when they are listed again; make a new run with --export"
        )
    return AuditResult(saved, fresh.live)


def _sizes(document: AuditDocument) -> list[tuple[int, int]]:
    """Tell models apart by whole numbers, which no processor rounds."""
    return [(model.support_size, model.records_left_out) for model in document.models]
