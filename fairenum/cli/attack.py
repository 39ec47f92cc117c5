"""fairenum attack: simulate label flips and measure the gap between groups."""

from __future__ import annotations

import time
from functools import partial

import rich_click as click
from click.shell_completion import CompletionItem

from fairenum.cli.delivery import Delivery
from fairenum.cli.outputs import output_options
from fairenum.cli.progress_bar import shown_progress
from fairenum.cli.shared_options import (
    METRIC_HELP,
    METRICS,
    Bands,
    Budgets,
    CheckedWhole,
    Number,
    Sizes,
    Whole,
    check_jobs,
    complete_data,
    model_options,
    read_defences,
    table_options,
    taken_reading,
)
from fairenum.cli.streams import Exit

HELP = """Flip labels in many draws of DATA, a bundled name or a file, and measure the gap between groups.

\b
fairenum attack compas --flips 10 --trials 100
fairenum attack loans.csv --label approved --favourable yes --sensitive sex \\
    --strategy greedy_parity --flips 0.01,0.05,0.1 --defence all --jobs 4

For each draw this compares the model of clean labels with the models under attack: whether they undo the harm, and
which rows they leave out.
"""


def complete_strategy(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the names of attack strategies."""
    from fairenum.attack import list_strategies

    return [CompletionItem(name) for name in list_strategies() if name.startswith(begun)]


flips = partial(click.option, panel="Attack", show_default=True)
statistic = partial(click.option, panel="Trials and statistics", show_default=True)


@click.command(help=HELP)
@click.argument("data", shell_complete=complete_data)
@table_options
@flips(
    "--strategy",
    "strategies",
    multiple=True,
    metavar="NAME",
    default=("paper",),
    shell_complete=complete_strategy,
    help="How rows are chosen; repeatable. paper, random, group, margin_near, margin_far, support, greedy_parity, "
    "alfa, or one that is installed.",
)
@flips("--flips", type=Budgets(), default="10", metavar="N,..", help="Budgets: rows, or shares such as 0.05.")
@flips("--group", metavar="GROUP", help="Group to harm.  [default: the least favoured]")
@flips("--direction", type=click.Choice(["unfavourable", "favourable"]), help="Label that flips lead to.")
@flips("--sees", type=click.Choice(["train", "audit"]), default="train", help="What the attacker sees.")
@flips(
    "--defence",
    "defences",
    multiple=True,
    metavar="NAME|all",
    callback=read_defences,
    help="Defence to compare; repeatable. knn_relabelling, loss_removal, fairest_listed, "
    "fairest_guided, reweighing, grid_search, exponentiated_gradient, threshold_optimizer.",
)
@model_options("support", click.FLOAT, "NUMBER", ("none", "balanced"))
@statistic("--trials", type=Whole("trials"), default=100, help="Draws of the table.")
@statistic("--metric", type=click.Choice(METRICS), default=METRICS[0], metavar="GAP", help=METRIC_HELP)
@statistic(
    "--split",
    "sizes",
    type=Sizes(),
    metavar="A,B,C",
    show_default=False,
    help="Rows of a draw: train, selection and holdout.  [default: up to 300,0,1000]",
)
@statistic("--seed", type=Whole("seed"), default=0, help="Seed of the first draw; each further draw has the next.")
@statistic("--confidence", type=Number("confidence"), default=0.95, help="Confidence of intervals over draws.")
@statistic(
    "--jobs", type=CheckedWhole("jobs"), default=1, callback=check_jobs, help="Processes; -1 for all processors."
)
@statistic("--dask", "cluster", metavar="ADDRESS", help="Dask scheduler to run on, such as tcp://127.0.0.1:8786.")
@output_options
def attack(
    data: str,
    label: str | None,
    favourable: str | None,
    sensitive: tuple[str, ...],
    bands: Bands,
    jobs: int,
    cluster: str | None,
    **options: object,
) -> Exit:
    """Simulate attacks and deliver the results."""
    delivery = Delivery.taken_from(options, inputs=(data,))
    if cluster is not None and jobs != 1:
        raise click.UsageError("--jobs and --dask exclude each other: the cluster has workers of its own")
    from fairenum.attack.simulation import check_names, simulate
    from fairenum.document.attack_document import AttackConfig
    from fairenum.tables import load_dataset

    # flips are simulated on all columns, decisions of the model in use included
    reading = taken_reading(options, bands).without_incumbent()
    config = AttackConfig().but(**options)
    check_names(config)
    dataset = load_dataset(data, label, favourable, sensitive or None, reading=reading)
    started = time.perf_counter()
    with shown_progress(delivery.quiet) as progress:
        simulation = simulate(dataset, config, jobs=jobs, cluster=cluster, progress=progress)
    return delivery.deliver(simulation.document(dataset, time.perf_counter() - started), is_fresh=True)
