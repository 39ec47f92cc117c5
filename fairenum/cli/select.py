"""fairenum select: select a model of a saved run again, under other tolerances."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import rich_click as click

from fairenum.cli.delivery import Delivery
from fairenum.cli.outputs import audit_output_options, check_target
from fairenum.cli.progress_bar import shown_progress
from fairenum.cli.shared_options import Added, Whole, click_option, complete_data
from fairenum.cli.streams import Exit
from fairenum.document.options import MOST_ROWS, declared
from fairenum.document.training import Tolerances
from fairenum.errors import ResultError

if TYPE_CHECKING:
    from fairenum.api import AuditResult
    from fairenum.document.audit_document import AuditDocument

HELP = """Choose the fairest near-optimal model of the saved audit RUN again, under other tolerances.

Options not given stay as in RUN, and the file RUN is not changed. A run holds scores, not models: --export needs the
data once more, and lists the models again. It writes a model that is proposed: confirmed by the holdout, within every
guardrail there. Any other takes --rank N --unconfirmed, and ends with code 3 without it.
"""

GUARD_HELP = (
    "What a fairer model must not make worse, as for fairenum audit, in the place of the run's guardrail about the "
    "same. Repeatable; none first turns off those of the run."
)
SELECTION = "Selection"
output = partial(click.option, panel="Output", callback=check_target)


def _tolerance(name: str, **settings: str) -> Added[Any]:
    """Return the command-line option of a tolerance; if the user does not give it, the tolerance of the run stays."""
    return click_option(name, replace(declared(Tolerances)[name], unset=""), panel=SELECTION, **settings)


@click.command(help=HELP)
@click.argument("run", type=click.Path(dir_okay=False))
@_tolerance("metric")
@_tolerance("eps")
@_tolerance("max_performance_drop")
@_tolerance("guards", help=GUARD_HELP)
@click.option(
    "--rank",
    panel=SELECTION,
    type=Whole(1, MOST_ROWS, is_checked=False),
    help="Take this model instead of the fairest.",
)
@click.option(
    "--in-advance",
    is_flag=True,
    panel=SELECTION,
    help="These limits were fixed before anybody saw the holdout: the choice is one more claim, judged alone.",
)
@output("--output", metavar="DIR|PATH", help="Save the new choice as a run of its own.")
@output("--export", metavar="PATH", help="Write the selected model, if it is proposed, as a skops file.")
@click.option(
    "--unconfirmed", is_flag=True, panel="Output", help="Export the model of --rank though it is not proposed."
)
@click.option("--data", panel="Output", shell_complete=complete_data, help="Data of RUN, for --export.")
@audit_output_options
def select(run: str, data: str | None, unconfirmed: bool, **options: object) -> Exit:
    """Select a model again, write and print the result, and return the exit code."""
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
    # an unchanged selection was made without a look at the holdout, and stays confirmatory
    is_unasked = all(value is None or value is False or value == () for value in options.values())
    is_kept = result.document.selection.answer is not None and is_unasked
    chosen = result if is_kept else choose(result, **options)  # type: ignore[arg-type]  # click has converted them
    return delivery.deliver(chosen.document, export=partial(chosen.export, unconfirmed=unconfirmed))


def _revived(saved: AuditDocument, data: str, quiet: bool) -> AuditResult:
    """Return a saved run with its models, trained again; refuse data or models that differ from those of the run."""
    from fairenum.api import AuditResult, audit
    from fairenum.auditing.preparing import config_of

    table = saved.dataset
    config = config_of(saved)
    with shown_progress(quiet) as progress:
        fresh = audit(data, table.label, table.favourable, table.sensitive_columns, config=config, progress=progress)
    if fresh.is_partial:
        raise KeyboardInterrupt  # an incomplete list cannot be exported from
    if fresh.document.dataset.fingerprint != table.fingerprint:
        raise ResultError(f"{data!r} is not the data of this run: the content differs")
    if _sizes(fresh.document) != _sizes(saved):
        raise ResultError("listing the models of this run again gives other models; make a new run with --export")
    return AuditResult(saved, fresh.live)


def _sizes(document: AuditDocument) -> list[tuple[int, int]]:
    """Return the numbers of support vectors and left-out rows of each model, which are the same on every machine."""
    return [(model.support_size, model.records_left_out) for model in document.models]
