"""fairenum attack: how fair the models of a table stay when labels are flipped."""

from __future__ import annotations

import json
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import rich_click as click
from click.shell_completion import CompletionItem

from fairenum.cli.exit import Exit
from fairenum.cli.options import (
    METRIC_HELP,
    METRICS,
    Budgets,
    Sizes,
    complete_data,
    merged_bands,
    model_options,
    table_options,
)
from fairenum.cli.outputs import STDOUT, check_target
from fairenum.cli.progress import shown_progress
from fairenum.report.text import file_name

if TYPE_CHECKING:
    from fairenum.attack import Simulation
    from fairenum.dataset import Dataset

HELP = """Flip labels in many draws of DATA, a bundled name or a file, and see how the gap between groups fares.

\b
fairenum attack compas --flips 10 --trials 100
fairenum attack loans.csv --label approved --favourable yes --sensitive sex \\
    --strategy greedy_parity --flips 0.01,0.05,0.1 --defence all --jobs 4

Each draw has its clean model, its models under attack, whether those make good for it, and which rows they leave out.
"""
READING = ("drop", "use_sensitive", "categorical", "delimiter")
ALL = "all"


def complete_strategy(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the names of strategies."""
    from fairenum.attack import list_strategies

    return [CompletionItem(name) for name in list_strategies() if name.startswith(begun)]


lie = partial(click.option, panel="Attack", show_default=True)
statistic = partial(click.option, panel="Trials and statistics", show_default=True)
output = partial(click.option, panel="Output")


@click.command(help=HELP)
@click.argument("data", shell_complete=complete_data)
@table_options
@lie(
    "--strategy",
    "strategies",
    multiple=True,
    metavar="NAME",
    default=("paper",),
    shell_complete=complete_strategy,
    help="How rows are chosen; repeatable. paper, random, group, margin_near, margin_far, support, greedy_parity, "
    "alfa, or one that is installed.",
)
@lie("--flips", type=Budgets(), default="10", metavar="N,..", help="Budgets: rows, or shares such as 0.05.")
@lie("--group", metavar="GROUP", help="Group to harm.  [default: the least favoured]")
@lie("--direction", type=click.Choice(["unfavourable", "favourable"]), help="Label that flips lead to.")
@lie("--sees", type=click.Choice(["train", "audit"]), default="train", help="What the attacker sees.")
@lie(
    "--defence",
    "defences",
    multiple=True,
    metavar="NAME|all",
    help="Defence to measure beside; repeatable. knn_relabelling, loss_removal, fairest_listed, "
    "fairest_guided, reweighing, grid_search, exponentiated_gradient, threshold_optimizer.",
)
@model_options("support", click.FLOAT, "NUMBER")
@statistic("--trials", type=int, default=100, help="Draws of the table.")
@statistic("--metric", type=click.Choice(METRICS), default=METRICS[0], metavar="GAP", help=METRIC_HELP)
@statistic(
    "--split",
    "sizes",
    type=Sizes(),
    metavar="A,B,C",
    show_default=False,
    help="Rows of a draw: train, selection and holdout.  [default: up to 300,0,1000]",
)
@statistic("--seed", type=int, default=0, help="Of the first draw; each further one has the next.")
@statistic("--confidence", type=float, default=0.95, help="Of intervals over draws.")
@statistic("--jobs", type=int, default=1, help="Processes; -1 for all processors.")
@statistic("--dask", "cluster", metavar="ADDRESS", help="Dask scheduler to run on, such as tcp://127.0.0.1:8786.")
@output("--json", "target", metavar="PATH|-", callback=check_target, help="Where to save; - prints JSON alone.")
@output("--markdown", metavar="PATH|-", callback=check_target, help="Write Markdown; - prints it alone.")
@output("--quiet", "-q", is_flag=True, help="Print neither report nor progress.")
def attack(
    data: str,
    label: str | None,
    favourable: str | None,
    sensitive: tuple[str, ...],
    target: str | None,
    markdown: str | None,
    quiet: bool,
    jobs: int,
    cluster: str | None,
    **options: Any,
) -> Exit:
    """Simulate attacks and deliver what they do."""
    _check_places(data, target, markdown)
    if cluster is not None and jobs != 1:
        raise click.UsageError("--jobs and --dask exclude each other: the cluster has workers of its own")
    from fairenum.attack import AttackConfig, simulate
    from fairenum.attack.defence import DEFENCES
    from fairenum.dataset import load_dataset

    reading = {name: options.pop(name) for name in READING}
    bands = merged_bands(options.pop("bands"))
    if ALL in options["defences"]:
        options["defences"] = tuple(DEFENCES)
    config = AttackConfig(**options)
    dataset = load_dataset(data, label, favourable, sensitive or None, bands=bands, **reading)
    started = time.perf_counter()
    with shown_progress(quiet) as progress:
        simulation = simulate(dataset, config, jobs=jobs, cluster=cluster, progress=progress)
    _deliver(dataset, simulation, time.perf_counter() - started, target, markdown, quiet)
    return Exit.PARTIAL if simulation.is_partial else Exit.DONE


def _check_places(data: str, target: str | None, markdown: str | None) -> None:
    for place in (target, markdown):
        if place is not None and place == data:
            raise click.UsageError(f"{place!r} is the input; give the output another name")
    if target is not None and target == markdown:
        raise click.UsageError(f"two outputs go to {target!r}; give each a place of its own")


def _deliver(
    dataset: Dataset, simulation: Simulation, seconds: float, target: str | None, markdown: str | None, quiet: bool
) -> None:
    """Save the run, and print one thing on stdout."""
    from fairenum.audit.result import write_atomically
    from fairenum.audit.robustness import document
    from fairenum.report.attack import attack_view, subject, title
    from fairenum.report.markdown import attack_to_markdown

    run = document(dataset, simulation, seconds)
    saved = json.dumps(run, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    view = attack_view(run["attack"])
    written = attack_to_markdown(view, title(run), subject(run))
    files = {"run": (target or file_name(f"attack-{dataset.name}", "json"), saved), "markdown": (markdown, written)}
    for place, text in files.values():
        if place not in (None, STDOUT):
            write_atomically(str(place), text.encode())
    printed = [text for place, text in files.values() if place == STDOUT]
    if printed:
        click.echo(printed[0], nl=False)
    elif not quiet:
        from rich.console import Console

        from fairenum.report.terminal import print_attack

        places = [(kind, str(place)) for kind, (place, _) in files.items() if place is not None]
        print_attack(view, subject(run), places, Console())
