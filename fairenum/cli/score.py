"""fairenum score: decisions of an exported model about the rows of a new table."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import rich_click as click

from fairenum.cli.delivery import Delivery
from fairenum.cli.outputs import STDOUT, check_target, output_options
from fairenum.cli.shared_options import added, click_option, column, complete_data
from fairenum.cli.streams import Exit
from fairenum.document.options import declared
from fairenum.document.reading import Reading

HELP = """Decide about the rows of a new table DATA with MODEL, a skops file that --export of an audit wrote.

\b
fairenum score model.skops new.csv > decided.csv
fairenum score model.skops new.csv --out decided.parquet --keep id

Cells are read as the audit read them: "$57,051" is a number if it was one there. Decisions have the words of the label,
and a score, favourable from 0 on. Rates by group follow if the sensitive columns are in DATA. Named are missing values,
values and ranges that training did not have, and columns that are distributed otherwise.
"""
SUFFIXES = (".csv", ".parquet", ".pq")


def check_out(context: click.Context, parameter: click.Parameter, target: str) -> str:
    """Return the place of the decisions; refuse what cannot be written, or is neither CSV nor Parquet."""
    if target == STDOUT:
        return target
    if Path(target).suffix.lower() not in SUFFIXES:
        raise click.BadParameter(
            f"{target!r} is neither CSV nor Parquet by its name; end it in .csv or .parquet", context, parameter
        )
    return str(check_target(context, parameter, target))


@click.command(help=HELP)
@click.argument("model", type=click.Path(dir_okay=False))
@click.argument("data", shell_complete=complete_data)
@added(
    (
        click_option("delimiter", declared(Reading)["delimiter"]),
        click_option("sheet", declared(Reading)["sheet"]),
        column(
            "--keep", multiple=True, help="Column of DATA to write beside the decisions, such as an id; repeatable."
        ),
    )
)
@click.option(
    "--out",
    panel="Output",
    metavar="PATH|-",
    default=STDOUT,
    callback=check_out,
    help="Write the decisions as CSV or Parquet, by suffix; - prints them as CSV, and the report on stderr.  "
    "[default: -]",
)
@output_options
def score(model: str, data: str, keep: tuple[str, ...], **options: object) -> Exit:
    """Decide about the rows of a table, write and print the decisions, and return the exit code."""
    delivery = Delivery.taken_from(options, inputs=(model, data))
    from fairenum.api import score as run_score
    from fairenum.document.files import to_json
    from fairenum.report.scored_page import scored_page

    result = run_score(model, data, keep=keep, **options)  # type: ignore[arg-type]  # click has converted them
    return delivery.deliver_page(
        scored_page(result.summary, brief=True),
        partial(scored_page, result.summary),
        json=partial(to_json, result.summary),
        table=result.content,
    )
