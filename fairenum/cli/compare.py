"""fairenum compare: a verdict on the change of every gap between two saved runs about different people."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from fairenum.cli.delivery import Delivery
from fairenum.cli.outputs import output_options
from fairenum.cli.shared_options import added, options_of
from fairenum.cli.streams import Exit
from fairenum.document.comparison_document import CompareConfig

HELP = """Say for every gap whether it widened or narrowed from the saved run OLD to NEW, about other people.

\b
fairenum measure january.csv --decision hired --sensitive sex --json january.json
fairenum measure july.csv --decision hired --sensitive sex --json july.json
fairenum compare january.json july.json

A run is a measurement or an audit, of which the holdout counts. Decisions, columns and groups are matched by name.
"""


@click.command(help=HELP)
@click.argument("old", type=click.Path(dir_okay=False))
@click.argument("new", type=click.Path(dir_okay=False))
@added(options_of({}, CompareConfig, order="metric confidence same_within").values())
@output_options
@click.option(
    "--fail-on",
    panel="Output",
    type=click.Choice(["widened"]),
    help="Exit code 1 if a gap widened, 3 if the data leave open whether the main one did.",
)
def compare(old: str, new: str, fail_on: str | None, **options: object) -> Exit:
    """Compare two saved runs, write and print the result, and return the exit code."""
    delivery = Delivery.taken_from(options, inputs=(old, new))
    from fairenum.api import compare as run_compare

    document = run_compare(old, new, names=_names(old, new), config=CompareConfig().but(**options)).document
    code = delivery.deliver(document)
    if fail_on is None or code is not Exit.DONE:
        return code
    if document.of_verdict("widened"):
        return Exit.VIOLATED
    is_open = any(gap.is_main for gap in document.of_verdict("open"))
    return Exit.INCONCLUSIVE if is_open else Exit.DONE


def _names(old: str, new: str) -> tuple[str, str]:
    """Return the names of the files without extension, or their paths if these are equal."""
    stems = Path(old).stem, Path(new).stem
    return stems if stems[0] != stems[1] else (old, new)
