"""fairenum bench: compare the speed of the solvers and of the paper's algorithm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import rich_click as click

from fairenum.cli.delivery import Delivery
from fairenum.cli.outputs import output_options
from fairenum.cli.shared_options import Whole, checked
from fairenum.cli.streams import Exit
from fairenum.document.audit_config import AuditConfig
from fairenum.document.options import MOST_ROWS
from fairenum.document.training import SvmSettings

if TYPE_CHECKING:
    from fairenum.document.terms import Categorical

HELP = """Race the solvers and the paper's algorithm for the best models of DATA, a bundled name or a file.

Times are CPU times in one process with one BLAS thread, given in fits of scikit-learn's SVC made beside them.
Sensitive columns are ordinary features here.
"""


@click.command(help=HELP)
@click.argument("data", default="german")
@click.option("--solver", "solvers", multiple=True, help="Solver to race; repeatable.  [default: all available]")
@click.option("-k", "k", type=checked(AuditConfig, "k"), default=50, show_default=True, help="Number of models.")
@click.option("--rows", type=Whole(2, MOST_ROWS), help="Rows to draw.  [default: 70 %, at most 1000]")
@click.option("--cost", type=checked(SvmSettings, "C"), default=1.0, show_default=True, help="The SVM's C.")
@click.option("--seed", type=checked(AuditConfig, "seed"), default=0, show_default=True, help="Seed of the draw.")
@click.option("--label", help="Column to predict; a file needs it.")
@click.option("--favourable", help="Favourable value of the label; a file needs it.")
@click.option("--drop", multiple=True, help="Column to leave out; repeatable.")
@click.option(
    "--categorical",
    type=click.Choice(["ordinal", "onehot"]),
    default="ordinal",
    show_default=True,
    help="How to turn texts into numbers.",
)
@click.option("--standardise/--raw", default=True, show_default=True, help="Whether to scale numbers.")
@click.option("--full", is_flag=True, help="No limit of half a minute; Algorithm 1 may take hours.")
@click.option("--growth/--no-growth", default=True, show_default=True, help="Measure growth on random data.")
@click.option(
    "--scale",
    is_flag=True,
    help="Measure growth to a million rows, 3000 columns and 10,000 models, too: half an hour.",
)
@output_options
def bench(
    data: str,
    label: str | None,
    favourable: str | None,
    drop: tuple[str, ...],
    categorical: Categorical,
    **options: object,
) -> Exit:
    """Run the benchmark, write and print its result, and return the exit code."""
    delivery = Delivery.taken_from(options, inputs=(data,))
    from fairenum.document.reading import NONE
    from fairenum.research.benchmark import bench as run_bench
    from fairenum.tables import load_dataset

    dataset = load_dataset(
        data, label, favourable, drop=drop, use_sensitive=True, categorical=categorical, incumbent=NONE
    )
    with _shown_status(delivery.quiet) as progress:
        document = run_bench(dataset, progress=progress, **options)  # type: ignore[arg-type]  # click has converted them
    return delivery.deliver(document)


@contextmanager
def _shown_status(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the current step on stderr; it does nothing if quiet or if stderr is no terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _: None
        return
    with console.status("starting") as status:
        yield status.update
