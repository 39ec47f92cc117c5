"""fairenum attack: simulate label flips and measure the gap between groups."""

from __future__ import annotations

import time
from functools import partial

import rich_click as click

from fairenum.cli.delivery import Delivery
from fairenum.cli.outputs import output_options
from fairenum.cli.progress_bar import shown_progress
from fairenum.cli.shared_options import (
    JOBS,
    LABELLED,
    LISTED,
    TABLE,
    Whole,
    added,
    check_jobs,
    complete_data,
    options_of,
)
from fairenum.cli.streams import Exit
from fairenum.document.attack_document import AttackConfig
from fairenum.document.options import DATA, TRIALS, declared
from fairenum.document.reading import Reading

HELP = """Flip labels in many draws of DATA, a bundled name or a file, and measure the gap between groups.

\b
fairenum attack compas --flips 10 --trials 100
fairenum attack loans.csv --label approved --favourable yes --sensitive sex \\
    --strategy greedy_parity --flips 0.01,0.05,0.1 --defence all --jobs 4

For each draw this compares the model of clean labels with the models under attack: whether they undo the harm, and
which rows they leave out.
"""

OPTIONS = options_of(
    LABELLED,
    AttackConfig,
    Reading,
    order=f"{TABLE} strategies {LISTED} trials metric sizes",
    without=[name for name, option in declared(Reading).items() if option.panel != DATA],
)
statistic = partial(click.option, panel=TRIALS, show_default=True)


@click.command(help=HELP)
@click.argument("data", shell_complete=complete_data)
@added(OPTIONS.values())
@statistic("--jobs", type=Whole(*JOBS), default=1, callback=check_jobs, help="Processes; -1 for all processors.")
@statistic("--dask", "cluster", metavar="ADDRESS", help="Dask scheduler to run on, such as tcp://127.0.0.1:8786.")
@output_options
def attack(
    data: str,
    label: str | None,
    favourable: str | None,
    sensitive: tuple[str, ...],
    jobs: int,
    cluster: str | None,
    **options: object,
) -> Exit:
    """Simulate attacks, write and print the results, and return the exit code."""
    delivery = Delivery.taken_from(options, inputs=(data,))
    if cluster is not None and jobs != 1:
        raise click.UsageError("--jobs and --dask exclude each other: the cluster has workers of its own")
    from fairenum.attack.simulation import check_names, simulate
    from fairenum.tables import load_dataset

    # flips are simulated on all columns, decisions of the model in use included
    read = {name: options.pop(name) for name in declared(Reading) if name in options}
    reading = Reading().but(**read).without_incumbent()
    config = AttackConfig().but(**options)
    check_names(config)
    dataset = load_dataset(data, label, favourable, sensitive or None, reading=reading)
    started = time.perf_counter()
    with shown_progress(delivery.quiet) as progress:
        simulation = simulate(dataset, config, jobs=jobs, cluster=cluster, progress=progress)
    return delivery.deliver(simulation.document(dataset, time.perf_counter() - started), is_fresh=True)
