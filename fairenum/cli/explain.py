"""fairenum explain: decisions of a saved run's models about one person, and the features that contribute most."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import rich_click as click

from fairenum.cli.delivery import Delivery
from fairenum.cli.outputs import output_options
from fairenum.cli.shared_options import Whole, complete_data, gathered
from fairenum.cli.streams import Exit
from fairenum.document.options import all_names
from fairenum.document.received import LARGEST_WHOLE
from fairenum.errors import ResultError

if TYPE_CHECKING:
    from fairenum.document.audit_document import AuditDocument
    from fairenum.document.person import Person
    from fairenum.tables import Dataset

HELP = """Show the decision of each model of the saved audit RUN about one person, and the features that weigh most.

\b
fairenum explain run.json --values "income=1200,town=Bath"
fairenum explain run.json --row 17 --data loans.csv

RUN holds the weights, so that --values needs no data; features that are not given are missing. Linear kernels only.
With --data, the answer also covers all near-optimal models, listed or not.
"""

person = partial(click.option, panel="Person")


def read_values(texts: tuple[str, ...]) -> dict[str, str] | None:
    """Return values by name from texts of the form NAME=VALUE,...; None if there are none.

    A value that contains a comma needs double quotes.
    """
    values: dict[str, str] = {}
    for cell in all_names(texts):
        name, is_there, value = cell.partition("=")
        if not is_there or not name.strip():
            advice = "a part that holds a comma stands in double quotes: --values '\"pay=1,5\",town=Ayr'"
            raise ValueError(f"{cell!r} is no NAME=VALUE; {advice}")
        if name.strip() in values:
            raise ValueError(f"{name.strip()!r} is given twice")
        values[name.strip()] = value
    return values or None


@click.command(help=HELP)
@click.argument("run", type=click.Path(dir_okay=False))
@person("--row", type=Whole(0, LARGEST_WHOLE), metavar="NUMBER", help="Row of the table, counted from 0.")
@person(
    "--values",
    multiple=True,
    metavar="NAME=VALUE,..",
    callback=gathered(read_values),
    help="Values by feature; repeatable. Missing ones are imputed as in training.",
)
@person("--data", shell_complete=complete_data, help="Data of RUN: for --row, and for models that are not listed.")
@output_options
def explain(run: str, row: int | None, values: dict[str, str] | None, data: str | None, **options: object) -> Exit:
    """Compute the decisions about one person, write and print them, and return the exit code."""
    delivery = Delivery.taken_from(options, inputs=(run,) if data is None else (run, data))
    if (row is None) == (values is None):
        raise click.UsageError("say which person it is, either by --row or by --values")
    from fairenum.document.audit_document import AuditDocument
    from fairenum.document.files import load_as, to_json
    from fairenum.document.person import decide_about
    from fairenum.report.person_page import person_page

    document = load_as(AuditDocument, run)
    dataset = None if data is None else _loaded(document, data)
    found = decide_about(document, (values or {}) if row is None else _values_of(document, row, data, dataset), row)
    found = _with_flip_price(document, found, dataset)
    return delivery.deliver_page(
        person_page(found, brief=True), partial(person_page, found), json=partial(to_json, found)
    )


def _loaded(document: AuditDocument, data: str) -> Dataset:
    """Return the data of a saved run; refuse data whose hash differs from the one in the run."""
    from fairenum.auditing.preparing import divided, reading_of_saved
    from fairenum.tables import load_dataset

    table, reading = document.dataset, reading_of_saved(document)
    dataset = load_dataset(data, table.label, table.favourable, table.sensitive_columns, reading=reading)
    if dataset.fingerprint != table.fingerprint:
        raise ResultError(f"{data!r} is not the data of this run: the content differs")
    return dataset if document.correction is None else divided(dataset, document.config).dataset


def _values_of(document: AuditDocument, row: int, data: str | None, dataset: Dataset | None) -> dict[str, object]:
    """Return the feature values of a row, from the data or, without data, from the training examples in the run."""
    if dataset is not None:
        return _cells(row, data, dataset)
    example = next((one for one in document.examples if row in one.rows), None)
    if example is None:
        raise ResultError(
            f"the run does not hold the values of row {row}, only those of {len(document.examples)} training examples "
            "that a model leaves out; name its data, too: --data DATA"
        )
    return dict(example.values)


def _cells(row: int, data: str | None, dataset: Dataset) -> dict[str, object]:
    place = dataset.placed(row)
    if place is None and dataset.numbers is not None:
        raise ResultError(f"the audit left row {row} of {data!r} out, or there is none; {len(dataset)} rows took part")
    if place is None:
        raise ResultError(f"{data!r} has no row {row}; its rows are 0 to {len(dataset) - 1}")
    return {column.name: column.values[place] for column in dataset.features}


def _with_flip_price(document: AuditDocument, found: Person, dataset: Dataset | None) -> Person:
    """Return the person with the flip price, for which the SVM is trained again; unchanged without data.

    The flip price is the least relative rise of training loss at which some model decides differently.
    """
    if dataset is None:
        return found
    from fairenum.auditing.ambiguity_stage import with_flip_price
    from fairenum.auditing.preparing import retrained

    return with_flip_price(document, found, *retrained(document, dataset))
